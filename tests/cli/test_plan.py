"""How many pairs to collect: the numbers of `pairlearn plan` come true."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from pairlearn import Pairs, certify
from pairlearn.cli.app import app
from pairlearn.cli.fit import FitOptions, fit_tables
from pairlearn.cli.plan import advice
from pairlearn.cli.sizes import (
    SURE,
    assignment_chance,
    make_plan,
)
from pairlearn.trust.assignment import assign_from_pairs
from pairlearn.trust.certificate import certificate_from_counts
from pairlearn.trust.planning import chance_of_width, pairs_for_certificate
from pairlearn.trust.theory import assignment_error_bound, pairs_for_assignment


def plan(*arguments):
    return CliRunner().invoke(app, ["plan", *arguments])


class Fixed:
    """A classifier that says what the only column says."""

    def predict(self, X):
        return np.asarray(X)[:, 0]


def draw(rng, n_pairs, prior, error, flip_rate=0.0):
    """Draw points, what a classifier of this error says of them, and answers."""
    y = np.where(rng.random(2 * n_pairs) < prior, 1, -1)
    says = np.where(rng.random(len(y)) < error, -y, y)
    pairs = Pairs(says[:, None].astype(float), np.arange(len(y)).reshape(-1, 2))
    t = pairs.answers(y)
    return pairs, np.where(rng.random(n_pairs) < flip_rate, -t, t)


@pytest.mark.filterwarnings("ignore:the pairs do not look random")
@pytest.mark.parametrize(
    ("error", "width", "confidence", "flip_rate"),
    [(0.1, 0.08, 0.95, 0.0), (0.02, 0.05, 0.9, 0.0), (0.15, 0.15, 0.95, 0.1)],
)
def test_width_and_coverage_by_simulation(error, width, confidence, flip_rate):
    rng = np.random.default_rng(0)
    assumed = {"confidence": confidence, "flip_rate": flip_rate}
    n_pairs = pairs_for_certificate(error, width, **assumed)
    intervals = []
    for _ in range(400):
        pairs, t = draw(rng, n_pairs, 0.3, error, flip_rate)
        found = certify(Fixed(), pairs, t, confidence=confidence, flip_rates=flip_rate)
        intervals.append(found.clustering_interval)
    low, high = np.array(intervals).T
    expected = chance_of_width(n_pairs, error, width, **assumed)
    assert expected >= SURE
    # Four standard errors of 400 draws.
    assert np.mean(high - low <= width) == pytest.approx(expected, abs=0.06)
    assert np.mean((low <= error) & (error <= high)) >= confidence - 0.045
    # With the typical number it is a toss-up.
    typical = pairs_for_certificate(error, width, probability=0.5, **assumed)
    chance = chance_of_width(typical, error, width, **assumed)
    assert 0.3 < chance < SURE


@pytest.mark.parametrize("error", [0.0, 0.05, 0.3, 0.48])
@pytest.mark.parametrize("n_pairs", [1, 7, 60])
@pytest.mark.parametrize("width", [0.02, 0.2, 0.49])
@pytest.mark.parametrize("flip_rate", [0.0, 0.2])
def test_chance_of_width_is_the_sum_over_all_counts(error, n_pairs, width, flip_rate):
    from scipy.stats import binom

    counts = np.arange(n_pairs + 1)
    ends = [
        certificate_from_counts(int(k), n_pairs, 0.95, flip_rate).clustering_interval
        for k in counts
    ]
    narrow = np.array([high - low <= width for low, high in ends])
    rate = flip_rate + (1 - 2 * flip_rate) * 2 * error * (1 - error)
    expected = binom.pmf(counts, n_pairs, rate)[narrow].sum()
    found = chance_of_width(n_pairs, error, width, flip_rate=flip_rate)
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.filterwarnings("ignore:the .* pairs for class assignment do not show")
@pytest.mark.parametrize(
    ("prior", "error", "flip_rate", "n_pairs"),
    [(0.3, 0.1, 0.0, 20), (0.6, 0.2, 0.0, 101), (0.8, 0.05, 0.2, 9)],
)
def test_class_assignment_by_simulation(prior, error, flip_rate, n_pairs):
    rng = np.random.default_rng(1)
    majority = 1 if prior > 0.5 else -1
    right = 0
    for _ in range(1500):
        pairs, t = draw(rng, n_pairs, prior, error, flip_rate)
        left, other = pairs.X[pairs.left, 0], pairs.X[pairs.right, 0]
        votes = t @ (left + other) * majority
        if votes == 0:  # a tie, which the plan counts as wrong
            continue
        right += assign_from_pairs(left, other, t, majority=majority).sign == 1
    expected = assignment_chance(n_pairs, prior, error, flip_rate)
    assert right / 1500 == pytest.approx(expected, abs=0.045)


def test_bound_is_a_bound():
    for prior in (0.2, 0.45, 0.7):
        for error in (0.0, 0.1, 0.4):
            found = make_plan(prior, error, 0.1)
            assert found.assignment.n_pairs == pairs_for_assignment(prior, error, 0.05)
            assert found.assignment.chance >= 0.95
            chance = assignment_chance(50, prior, error)
            assert 1 - chance <= assignment_error_bound(50, prior, error) + 1e-12


def test_wrong_answers_cost_pairs():
    clean = make_plan(0.3, 0.1, 0.25)
    noisy = make_plan(0.3, 0.1, 0.25, flip_rate=0.1)
    assert noisy.wanted.sure > clean.wanted.sure
    # Hard pairs may have more of them: that is in doubt however many pairs there are.
    hopeless = make_plan(0.3, 0.1, 0.05, flip_rate=0.1)
    assert hopeless.wanted.sure is None
    assert "no number of pairs makes the interval 5% wide" in advice(hopeless)
    assert noisy.assignment.n_pairs == pytest.approx(
        clean.assignment.n_pairs / 0.8**2, abs=1.6
    )
    assert noisy.assignment.chance >= 0.95


def test_very_many_pairs_are_counted():
    found = make_plan(0.5001, 0.499, 0.001, n_pairs=10**13)
    assert found.wanted.sure > 10**10
    assert found.assignment.chance >= 0.95
    assert found.budget.chance_of_width > 0.999


def test_output():
    result = plan("--prior", "0.3", "--error", "0.1", "--width", "0.05")
    assert result.exit_code == 0
    said = " ".join(result.stdout.split())
    assert "with 380 pairs to test with, the interval of the error is 5% wide" in said
    assert "probability 50%, and with 448 with probability 90%" in said
    assert "59 pairs tell which class is which" in result.stdout
    assert "5% *" in result.stdout
    assert "Your" not in result.stdout
    assert "collect 2,240 pairs" in result.stdout
    assert "keeps 448 of them aside" in result.stdout


def test_budget():
    result = plan("--prior", "0.3", "--pairs", "2240")
    said = " ".join(result.stdout.split())
    told = "Your 2,240 rows of pairs.csv: 448 to test with, so a certificate of about"
    assert f"{told} 7.9% to 12.6%" in said
    assert "5% or narrower with probability 90." in said
    assert "right with probability above 99.9%" in said
    few = plan("--prior", "0.3", "--pairs", "60").stdout
    assert "too few pairs that share no point to keep some aside" in few


@pytest.mark.parametrize("n_points", [None, 600])
def test_a_budget_is_what_fit_makes_of_it(n_points, tmp_path):
    """Rows of pairs.csv, with what fit keeps aside and what pairs share."""
    n_rows = 250
    promised = make_plan(0.5, 0.1, 0.1, n_pairs=n_rows, n_points=n_points).budget
    rng = np.random.default_rng(0)
    n = n_points or 2 * n_rows
    y = rng.integers(2, size=n)
    X = rng.normal(size=(n, 2)) + 1.3 * np.where(y, 1, -1)[:, None]
    index = rng.permutation(n).reshape(-1, 2)
    if n_points is not None:
        left = rng.integers(n, size=n_rows)
        index = np.stack([left, (left + rng.integers(1, n, n_rows)) % n], axis=1)
    points = pd.DataFrame({"id": np.arange(n), "a": X[:, 0], "b": X[:, 1]})
    points.to_csv(tmp_path / "points.csv", index=False)
    answer = np.where(y[index[:, 0]] == y[index[:, 1]], "same", "different")
    pairs = pd.DataFrame({"left": index[:, 0], "right": index[:, 1], "answer": answer})
    pairs.to_csv(tmp_path / "pairs.csv", index=False)
    tables = tmp_path / "points.csv", tmp_path / "pairs.csv"
    summary, _ = fit_tables(*tables, {}, FitOptions())
    assert summary.certificate.n_pairs == pytest.approx(
        promised.expected.n_pairs, rel=0.25
    )


def test_few_points_cannot_be_tested_with():
    few = make_plan(0.5, 0.1, 0.05, n_points=300)
    assert few.wanted.rows is None
    assert "300 points are too few" in advice(few)
    many = make_plan(0.5, 0.1, 0.2, n_points=1000)
    assert many.wanted.rows >= 5 * many.wanted.sure


def test_prior_one_half():
    result = plan("--prior", "0.5", "--pairs", "1000")
    assert result.exit_code == 0
    assert "no number of pairs can tell which class is which" in result.stdout
    assert "10 labelled points can" in result.stdout
    assert "label 10 points" in result.stdout
    assert "Class assignment is impossible" in result.stdout


def test_near_one_half_labels_are_cheaper():
    assert "label 10 points" in advice(make_plan(0.51, 0.1, 0.05))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--prior", "1.5"], "--prior must lie strictly between 0 and 1"),
        (["--prior", "30"], "For 30% write 0.3"),
        (["--prior", "nan"], "--prior must lie strictly between 0 and 1"),
        (["--prior", "0.3", "--error", "0.6"], "--error must be at least 0 and below"),
        (["--prior", "0.3", "--error", "-0.1"], "--error must be at least 0"),
        (["--prior", "0.3", "--width", "0"], "--width must be at least 0.0001"),
        (["--prior", "0.3", "--width", "0.5"], "--width must be at least 0.0001"),
        (["--prior", "0.3", "--confidence", "95"], "For 95% write 0.95"),
        (["--prior", "0.3", "--flip-rate", "0.5"], "--flip-rate must be"),
        (["--prior", "0.3", "--pairs", "0"], "--pairs must be 1 or more; got 0"),
        ([], "--prior"),
    ],
)
def test_wrong_values(arguments, message):
    result = plan(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""
