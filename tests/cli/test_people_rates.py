"""How often each person is right, told by `pairlearn fit`."""

import numpy as np
import pytest

from pairlearn import load
from pairlearn.cli.people_rates import notes_on_people, told_anew
from pairlearn.files.tables.answered_pairs import EACH_ONCE, TEACH_NOTHING
from pairlearn.people.rates import PeopleRates, PersonRates
from tests.support.commands import call

pytestmark = pytest.mark.usefixtures("quick")

RIGHT = {"ann": 0.97, "bob": 0.9, "eve": 0.05}


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Answers of three people, of whom eve has it the wrong way round."""
    folder = tmp_path_factory.mktemp("rates")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2))
    side = X[:, 0] > 0
    points = [f"p{k},{a:.4f},{b:.4f}" for k, (a, b) in enumerate(X)]
    (folder / "points.csv").write_text("\n".join(["id,a,b", *points]) + "\n")
    order = rng.permutation(500).reshape(250, 2)
    rows = ["left,right,answer,Worker"]
    for k, (i, j) in enumerate(order.tolist()):
        for name in rng.permutation(list(RIGHT))[: 1 + (k < 50)]:
            same = (side[i] == side[j]) == (rng.random() < RIGHT[name])
            rows.append(f"p{i},p{j},{'same' if same else 'different'},{name}")
    (folder / "pairs.csv").write_text("\n".join(rows) + "\n")
    return folder / "points.csv", folder / "pairs.csv"


def test_fit_tells_how_often_each_person_is_right(tables, tmp_path):
    done = call("fit", *tables, "-o", tmp_path / "m.skops")
    assert done.exit_code == 0, done.output
    text = " ".join(done.stdout.split())
    assert "3 people answered, and each answer counts for what it is worth" in text
    assert "ann is right about" in text
    assert "eve says the opposite of what is right more often than not" in text
    assert "teach nothing" not in text
    people = load(tmp_path / "m.skops")[-1].people_
    assert people.named("eve").is_adversary
    assert people.named("ann").r1 > 0.85


def test_the_certificate_counts_eve_turned_round(tables, tmp_path):
    done = call("fit", *tables, "-o", tmp_path / "m.skops", "--holdout", 0.3)
    assert done.exit_code == 0, done.output
    text = " ".join(done.stdout.split())
    assert "from pairs that the model has not seen" in text
    assert "some answers may be wrong" in text
    at_most = float(text.partition("at most ")[2].partition("%")[0])
    assert at_most < 35


def test_rates_that_are_given_are_used_for_everybody(tables, tmp_path):
    done = call("fit", *tables, "-o", tmp_path / "m.skops", "--noise", "0.1")
    assert done.exit_code == 0, done.output
    assert "people answered" not in done.stdout
    assert load(tmp_path / "m.skops")[-1].people_ is None


def test_one_person_is_no_crowd(tables, tmp_path):
    points, pairs = tables
    text = pairs.read_text()
    for name in RIGHT:
        text = text.replace(f",{name}\n", ",ann\n")
    (tmp_path / "pairs.csv").write_text(text)
    done = call("fit", points, tmp_path / "pairs.csv", "-o", tmp_path / "m.skops")
    assert done.exit_code == 0, done.output
    assert load(tmp_path / "m.skops")[-1].people_ is None


def test_many_people_are_not_all_told_one_by_one():
    rows = [
        PersonRates(f"n{k:02}", 9, 1, 0.9, 0.1, (0.8, 1.0), (0.0, 0.2), k / 20, verdict)
        for k, verdict in enumerate(["at chance", "at chance", *[""] * 12])
    ]
    notes = notes_on_people(PeopleRates(tuple(rows)))
    assert notes[0].count("is right about") == 10
    assert notes[0].endswith("; 4 more tell more than these")
    assert notes[1].startswith("n00 and n01 seem to answer at random")
    assert len(notes) == 2


def test_notes_that_are_not_true_of_people_are_told_anew():
    given = ["2 pair(s)" + EACH_ONCE, "1 pair(s) " + TEACH_NOTHING, "other"]
    assert told_anew(given) == ["2 pair(s)", "other"]
