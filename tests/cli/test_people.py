"""Those who answered, on the command line and on the page."""

import re

import numpy as np
import pytest

from pairlearn.files.tables.people_columns import RANDOM_CHECK
from tests.support.commands import call, make_tables
from tests.support.pages import section, words

pytestmark = pytest.mark.usefixtures("quick")


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Answers of three people, of whom bob checks some and eve guesses."""
    folder = tmp_path_factory.mktemp("people")
    _, pairs, _ = make_tables(folder)
    rng = np.random.default_rng(0)
    rows = ["left,right,answer,annotator,time,comment,why"]
    for k, (left, right, answer) in enumerate(pairs.itertuples(index=False)):
        moment = f"2026-05-01T10:{k // 6 % 60:02}:{k % 6 * 10:02}Z"
        rows.append(f"{left},{right},{answer},ann,{moment},,to learn most")
        if k % 3 == 0 and answer != "unsure":
            rows.append(f"{right},{left},{answer},bob,{moment},,{RANDOM_CHECK}")
        if k % 4 == 0:
            guess = "same" if rng.random() < 0.5 else "different"
            comment = "no idea" if k == 0 else ""
            rows.append(f"{left},{right},{guess},eve,{moment},{comment},{RANDOM_CHECK}")
    (folder / "pairs.csv").write_text("\n".join(rows) + "\n")
    return folder / "points.csv", folder / "pairs.csv"


def test_check_tells_who_agrees_and_what_to_settle(tables):
    result = call("check", *tables, "--most", 2)
    assert result.exit_code == 0, result.output
    text = " ".join(result.stdout.split())
    assert (
        "People: 3 people gave 269 answers about 170 pairs; 1 answer is unsure." in text
    )
    assert "drawn at random for a second opinion" in text
    assert "Krippendorff's alpha is 0." in text
    assert "ann, bob 56 100% 1.00" in text
    assert "eve agrees with others hardly more often than by chance" in text
    assert "pairs to settle, evenly divided ones first:" in text
    lines = result.stdout.splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("Disagreements"))
    first = lines[start + 2]
    assert first.strip().startswith("line ")
    assert "ann says " in first
    assert sum(" and p" in line for line in lines[start + 1 : start + 9]) == 2


def test_check_tells_how_often_each_person_is_right(tables):
    text = call("check", *tables).stdout
    assert "How often each is right, by answers of others that must agree" in text
    rates = {}
    for name in ("ann", "bob", "eve"):
        found = re.search(rf"{name} +\d+ +(\d+)% \((\d+) - (\d+)\) +(\d+)%", text)
        same, low, high, different = map(int, found.groups())
        assert low <= same <= high
        rates[name] = (same + different) / 2
    assert min(rates["ann"], rates["bob"]) > 85
    assert 30 < rates["eve"] < 70


def test_the_page_has_a_section(tables, tmp_path):
    page = tmp_path / "page.html"
    done = call("fit", *tables, "-o", tmp_path / "m.skops", "--report", page)
    assert done.exit_code == 0, done.output
    text = words(section(page.read_text(), "people"))
    assert "3 people gave 269 answers about 170 pairs" in text
    assert re.search(r"ann\s*bob\s*56\s*100%\s*1.00", text)
    rate = r"\s*\d+% \(\d+ to \d+\)"
    for name in ("ann", "bob", "eve"):
        assert re.search(name + 2 * rate, text)
    assert "eve agrees with others hardly more often than by chance" in text
    assert "That people agree does not mean that they are right." in text


def test_nobody_is_named(tmp_path):
    make_tables(tmp_path)
    result = call("check", tmp_path / "points.csv", tmp_path / "pairs.csv")
    assert "People:" not in result.stdout


def test_one_person_and_a_column_that_is_not_understood(tmp_path):
    (tmp_path / "points.csv").write_text("id,x\na,1\nb,2\nc,3\nd,4\n")
    rows = "left,right,answer,who,time\na,b,same,ann,morning\nc,d,no,ann,noon\n"
    (tmp_path / "pairs.csv").write_text(rows)
    result = call("check", tmp_path / "points.csv", tmp_path / "pairs.csv")
    text = " ".join(result.stdout.split())
    assert "1 person gave 2 answers about 2 pairs" in text
    assert "column 'time', with 'morning', is not understood" in text
    assert "nan" not in text


def test_names_cannot_steer_the_terminal(tmp_path):
    (tmp_path / "points.csv").write_text("id,x\na,1\nb,2\nc,3\nd,4\n")
    rows = "left,right,answer,who\na,b,same,\x1b[31mann\na,b,no,[bold]bob\nc,d,no,x\n"
    (tmp_path / "pairs.csv").write_text(rows)
    result = call("check", tmp_path / "points.csv", tmp_path / "pairs.csv")
    assert result.exit_code == 0, result.output
    assert "\x1b[31m" not in result.stdout
    assert "[bold]bob says different" in result.stdout
