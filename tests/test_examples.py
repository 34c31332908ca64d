"""Every script in examples/ runs, draws, and what it prints is true."""

import ast
import operator
import re
import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

FOLDER = Path(__file__).parent.parent / "examples"
EXAMPLES = sorted(FOLDER.glob("*.py"))
# They take something smaller where their files are missing.
WITH_FILES = ("citations_of_pubmed", "digits_of_mnist", "kernels_on_banana")

NUMBER = r"(\d+(?:\.\d+)?)"
# What each example claims: in words of its output, where # stands for a number, and as
# a relation between these numbers, in order.
CLAIMS = {
    "boundary_step_by_step": [
        ("after 10 answers: #", lambda e: e > 0.2),
        ("after 400 answers: #\nwith 2,000 labels: #", lambda e, best: e < best + 0.01),
    ],
    "certificate_against_truth": [
        ("Theorem 1 and 100,200 pairs: #", lambda gap: gap < 0.005),
        ("contain the true error: # of #", lambda hits, n: hits > 0.94 * n),
    ],
    "citations_of_pubmed": [
        ("random couples that do, too: #%", lambda percent: 40 < percent < 60),
        ("couples are different: #\n.*couples are random: #", operator.gt),
        ("couples are random: #", lambda e: e < 0.1),
    ],
    "class_assignment": [
        ("at prior 0.5, 500 pairs: #", lambda wrong: 0.4 < wrong < 0.6),
        ("at prior 0.7, 500 pairs: #", lambda wrong: wrong < 0.01),
        ("naive rule, 3000 points: #", lambda wrong: wrong > 0.9),
        ("by 3000 pairs: #", lambda wrong: wrong < 0.01),
        ("the two may be swapped\nright with ten labels: #", lambda right: right > 0.7),
    ],
    "digits_of_mnist": [
        (f"{name}: certified between # and #\nclustering error, {name}: #", within)
        for within in [lambda low, high, e: low <= e <= high]
        for name in ("linear", "RBF kernel")
    ]
    + [("error, RBF kernel: #", lambda e: e < 0.1)],
    "how_many_pairs": [
        ("best line: #", lambda e: 0.07 < e < 0.075),
        ("excess error, 100 pairs: #", lambda e: 0 < e < 0.04),
        ("error, 800 pairs: #, at most #", lambda e, bound: 0 < e < 0.005 < bound),
        ("certify within #: #, which gave #", lambda w, _, got: abs(got / w - 1) < 0.2),
    ],
    "images_with_a_network": [("on 597 new images: #", lambda e: e < 0.1)],
    "kernels_on_banana": [
        ("linear model: #\n.*that pairs chose: #", operator.gt),
        ("that pairs chose: #", lambda e: e < 0.12),
    ],
    "kinds_of_digits": [
        ("kinds that the answers speak for: #", lambda kinds: kinds == 10),
        (
            "error: between # and #\n.* of their group: #",
            lambda low, high, e: low <= e <= high < 0.15,
        ),
        ("contain the true purity: # of #", operator.eq),
    ],
    "priors": [
        ("prior 0.5, 100 answers: between # and #", lambda a, b: b - a > 0.1),
        ("prior 0.9, 2000 answers: between # and #", lambda a, b: b - a < 0.04),
        ("contain the true prior: # of 1000", lambda hits: hits > 935),
        ("estimated prior: #; in truth #", lambda p, q: abs(p - q) < 0.04),
        ("the estimated prior: #\n.*true prior: #", lambda e, best: e < best + 0.02),
    ],
    "rings_without_tuning": [
        ("estimate: error #%", lambda percent: percent < 5),
        ("on 1000 new points: #", lambda e: e < 0.05),
        ("linear: #% of held-out answers wrong", lambda percent: percent > 40),
        ("rbf 0.25: #% of held-out answers wrong", lambda percent: percent < 10),
    ],
    "sets_with_landmarks": [
        ("on 1000 new baskets: #", lambda e: e < 0.05),
        ("customers named rightly: #", lambda right: right > 0.95),
    ],
    "strings_with_landmarks": [("on 1000 new words: #", lambda e: e < 0.06)],
    "which_pairs_to_ask": [
        ("60 answers: chosen #, random #", operator.lt),
        ("looks at which the interval holds: #%", lambda percent: percent == 100),
    ],
    "wrong_answers": [
        ("most suspicious: #", lambda hits: hits >= 27),
        ("estimated share of wrong answers: #", lambda share: abs(share - 0.11) < 0.03),
        ("as told: #\n.*\n.*60 asked again: #", operator.ge),
    ],
}


def check(claim, output):
    words, holds = claim
    found = re.search(words.replace("#", NUMBER), output)
    assert found, f"no line like {words!r} in:\n{output}"
    assert holds(*map(float, found.groups())), f"{found[0]!r} does not hold"


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run an example as a script; return what it prints, and leave its figures."""
    plt.switch_backend("agg")
    plt.close("all")  # what other tests have left
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(plt, "show", lambda: None)  # an "agg" cannot, and would warn

    def run(name):
        runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
        captured = capsys.readouterr()
        assert captured.err == ""
        assert not list(tmp_path.iterdir()), "an example leaves files behind"
        return captured.out

    yield run
    plt.close("all")


@pytest.mark.parametrize("name", [path.stem for path in EXAMPLES])
def test_example_keeps_its_claims(name, run):
    output = run(name)
    for claim in CLAIMS[name]:
        check(claim, output)
    assert plt.get_fignums(), "an example without a figure"
    for axes in [axes for n in plt.get_fignums() for axes in plt.figure(n).axes]:
        if axes.get_xticks().size:
            assert axes.get_xlabel() or axes.get_label() == "<colorbar>"
            # Ticks that are words need no label.
            words = axes.get_yticklabels()[0].get_text()
            assert axes.get_ylabel() or re.match("[A-Za-z]", words)


@pytest.mark.parametrize("name", WITH_FILES)
def test_example_makes_do_without_its_files(name, run, tmp_path_factory, monkeypatch):
    nothing = tmp_path_factory.mktemp("nothing")
    monkeypatch.setenv("PAIRLEARN_DATA", str(nothing))
    monkeypatch.setattr("pairlearn.datasets.files.cache_folder", lambda: nothing)
    output = run(name)
    assert re.match(r"no files? of \w+ \(load_\w+\(\) fetches", output)
    for claim in CLAIMS[name]:
        check(claim, output)


def test_claims_are_about_the_examples():
    assert set(CLAIMS) == {path.stem for path in EXAMPLES}


def test_a_false_claim_is_noticed():
    with pytest.raises(AssertionError, match="does not hold"):
        check(("error: #", lambda e: e < 0.1), "clustering error: 0.300\n")
    with pytest.raises(AssertionError, match="no line like"):
        check(("error: #", lambda e: e < 0.1), "clustering is fun\n")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_is_fit_for_the_gallery(path):
    title, line, _, *text = ast.get_docstring(ast.parse(path.read_text())).split("\n")
    assert line == "=" * len(title)
    assert text
    assert len(path.read_text().splitlines()) <= 110
