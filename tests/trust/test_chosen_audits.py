"""Audits chosen by doubt: no bias, coverage, and what goes wrong without care."""

import json
import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

from pairlearn import PairClassifier, Pairs
from pairlearn.trust.audit_needs import (
    audit_needs,
    audits_needed,
    best_floor,
    doubts_of_pairs,
)
from pairlearn.trust.betting import (
    GRID,
    Draws,
    betting_interval,
    estimate,
    relative_chances,
)
from pairlearn.trust.certificate import certificate_from_counts
from pairlearn.trust.chosen_audits import (
    AuditPlan,
    certify_audits,
    plan_audits,
)
from pairlearn.trust.sample_checks import MoreKindsError
from pairlearn.trust.theory import pair_error_from_error

worlds = pytest.importorskip("benchmarks.audit_worlds", reason="only in the repository")


class Told:
    """A classifier that says, and doubts, what the first two columns say."""

    classes_ = np.array([0, 1])

    def predict(self, X):
        return np.asarray(X)[:, 0].astype(int)

    def predict_proba(self, X):
        says, doubt = np.asarray(X)[:, :2].T
        one = np.where(says > 0, 1 - doubt, doubt)
        return np.stack([1 - one, one], axis=1)


def world(n, rng, error=0.05, doubts="gaussian"):
    """Return points for `Told`, and their true classes."""
    e = worlds.gaussian(error, n, rng)
    y = rng.integers(2, size=n)
    says = y ^ (rng.random(n) < e)
    doubt = {"gaussian": e, "certain": np.full(n, 1e-4)}[doubts]
    return np.stack([says, doubt, rng.random(n)], axis=1), y


def answered(plan, y):
    left, right = y[plan.pairs.index].T
    return np.where(left == right, 1, -1)


# --- chances and the estimate --------------------------------------------------------


def test_chances_have_mean_one_and_a_floor():
    h = np.random.default_rng(0).random((5, 45)) / 2
    for floor in (0.1, 0.5, 1.0):
        chances = relative_chances(h, floor)
        assert np.allclose(chances.mean(axis=1), 1)
        assert chances.min() >= floor
        assert np.all(h / chances <= 0.5 + 1e-12)  # on which the lower bets rely
    assert np.all(relative_chances(np.zeros((2, 3)), 0.2) == 1)


def test_doubts_of_pairs_are_those_of_one_wrong_point():
    e = np.array([0.1, 0.3, 0.5])
    expected = [0.1 * 0.7 + 0.9 * 0.3, 0.5, 0.5]
    assert np.allclose(doubts_of_pairs(e), expected)


@pytest.mark.parametrize("model", worlds.MODELS)
def test_no_bias_whatever_the_doubts_are_worth(model):
    draws, wrong = worlds.draw("two normal laws", model, 0.05, 40, 8, 1000)
    found = estimate(draws, wrong)
    truth = float(pair_error_from_error(0.05))
    assert abs(found.mean() - truth) < 3.5 * found.std() / math.sqrt(len(found))


def test_chosen_pairs_vary_less_than_uniform_ones():
    draws, wrong = worlds.draw("toss-ups", "calibrated", 0.05, 200, 20, 300)
    truth = float(pair_error_from_error(0.05))
    uniform = truth * (1 - truth) / 200
    assert estimate(draws, wrong).var() < 0.5 * uniform


# --- the interval --------------------------------------------------------------------


def one_by_one(draws, wrong, m, tail, upper):
    """Tell whether m is rejected: the formulas of the docstring, in plain Python."""
    wealth, goal = 1.0, 1 / tail
    xs, hw, hh = [], 0.0, 0.0
    squares, spreads, doubts = 0.0, [draws.first_spread], [draws.first_doubt]
    for k in range(len(wrong)):
        h, r, w = draws.doubt[k], draws.chance[k], float(wrong[k])
        spread, doubt = np.mean(spreads), np.mean(doubts)
        cap = min(2 * doubt + 0.01, 0.5)
        c = (50 * spread + hw) / (50 * spread + hh)
        c = min(max(0, min(1, c)), cap / draws.mean_doubt[k])
        x = c * draws.mean_doubt[k] + (w - c * h) / r
        variance = (10 * (spread + (0.06 if upper else 0.01)) + squares) / (10 + k)
        share = wealth / goal
        z = norm.ppf(share)
        to_come = (0.85 if upper else 0.55) * (draws.horizon - k) * variance
        bet = norm.pdf(z) / (share * math.sqrt(to_come))
        lost = cap + 1 / draws.floor - m if upper else m + 0.5
        bet = min(bet, 0.99 / lost)
        wealth *= 1 + bet * ((m - x) if upper else (x - m))
        if wealth >= goal:
            return True
        centre = np.mean(xs) if xs else draws.mean_doubt[k]
        squares += (x - centre) ** 2
        xs.append(x)
        hw, hh = hw + h * w / r**2, hh + h * h / r**2
        spreads.append(draws.spread[k])
        doubts.append(draws.mean_doubt[k])
    return False


@pytest.mark.parametrize("model", ["calibrated", "too unsure (root of odds)"])
def test_interval_against_plain_python(model):
    draws, wrong = worlds.draw("two normal laws", model, 0.1, 60, 6, 1)
    draws = Draws(
        *(a[:, 0] for a in draws[:4]), *(a[0] for a in draws[4:6]), *draws[6:]
    )
    wrong = wrong[:, 0]
    grid = np.linspace(0, 0.5, 51)[1:]
    low, high = betting_interval(draws, wrong, grid=grid)
    ups = [one_by_one(draws, wrong, m, 0.025, upper=True) for m in grid]
    downs = [one_by_one(draws, wrong, m, 0.025, upper=False) for m in grid]
    assert high == next(
        (m for k, m in enumerate(grid) if all(ups[k:])), 0.5
    )  # the smallest from which on all are rejected
    assert low == max([m for k, m in enumerate(grid) if all(downs[: k + 1])], default=0)
    assert 0 < low < high < 0.5


@pytest.mark.parametrize("model", worlds.MODELS)
@pytest.mark.parametrize("error", [0.01, 0.05, 0.2])
def test_coverage(model, error):
    n_runs = 400
    draws, wrong = worlds.draw("two normal laws", model, error, 100, 8, n_runs)
    lowest = 0.95 - 3 * math.sqrt(0.95 * 0.05 / n_runs)
    assert worlds.held(draws, wrong, error) >= lowest


def test_coverage_at_a_stop_that_likes_what_it_sees():
    n_runs, error = 300, 0.1
    draws, wrong = worlds.draw("a hard region", "calibrated", error, 120, 8, n_runs)
    truth = float(pair_error_from_error(error))
    grid = np.linspace(0, 0.5, 101)[1:]
    held, stopped = np.ones(n_runs, bool), np.zeros(n_runs, bool)
    for n in range(20, 121, 20):
        low, high = betting_interval(draws.up_to(n), wrong[:n], grid=grid)
        stops = ~stopped & ((high < 0.25) | (n == 120))
        held[stops] = ((low <= truth) & (truth <= high))[stops]
        stopped |= stops
    assert stopped.all()
    assert held.mean() >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / n_runs)


def test_without_doubts_it_is_about_the_exact_interval():
    # All chances are 1: the number of wrong ones is binomial.
    n = 400
    even = np.ones(n)
    draws = Draws(0 * even, even, 0 * even, 0.05 * even, 0.0, 0.05, 1.0, n)
    rng = np.random.default_rng(0)
    for k in (10, 20, 40, 100):
        wrong = rng.permutation(n) < k
        assert estimate(draws, wrong) == pytest.approx(k / n)
        low, high = betting_interval(draws, wrong)
        exact = certificate_from_counts(k, n).pair_interval
        assert low < k / n < high
        assert high - low < 1.25 * (exact[1] - exact[0])


def test_more_answers_never_widen_it():
    draws, wrong = worlds.draw("two normal laws", "calibrated", 0.1, 80, 6, 20)
    grid = np.linspace(0, 0.5, 101)[1:]
    looks = [
        betting_interval(draws.up_to(n), wrong[:n], grid=grid) for n in (20, 40, 60, 80)
    ]
    for (low, high), (later_low, later_high) in pairwise(looks):
        assert np.all(later_low >= low)
        assert np.all(later_high <= high)


def test_confidence_and_unsure_answers_widen_it():
    draws, wrong = worlds.draw("two normal laws", "calibrated", 0.1, 100, 6, 1)
    low, high = betting_interval(draws, wrong)
    lower, higher = betting_interval(draws, wrong, confidence=0.99)
    assert lower < low < high < higher
    unsure = np.zeros(wrong.shape)
    unsure[::10] = 1 - wrong[::10]
    lower, higher = betting_interval(draws, wrong, unsure)
    assert lower == low
    assert higher > high


def test_the_grid_is_fine_where_errors_are_small():
    assert GRID[-1] == 0.5
    assert np.all(np.diff(GRID) > 0)
    assert np.diff(GRID[GRID < 0.1]).max() < 1e-3


# --- plans and certificates ----------------------------------------------------------


def test_plan_of_a_model():
    rng = np.random.default_rng(0)
    X, y = world(5000, rng)
    plan = plan_audits(Told(), X, 150, random_state=0)
    assert len(plan) == len(plan.pairs) == 150
    assert len(np.unique(plan.pairs.index)) == 300  # no point twice
    left, right = X[plan.pairs.index, 0].T
    assert np.array_equal(plan.says > 0, left == right)
    found = certify_audits(Told(), plan, answered(plan, y))
    low, high = found.clustering_interval
    assert low < 0.05 < high
    assert found.anytime
    assert found.n_pairs == 150
    ends = pair_error_from_error(np.array([low, high]))
    assert np.allclose(found.pair_interval, ends)
    assert "at all looks" in str(found)
    again = plan_audits(Told(), X, 150, random_state=0)
    assert np.array_equal(again.pairs.index, plan.pairs.index)
    other = plan_audits(Told(), X, 150, random_state=1)
    assert not np.array_equal(other.pairs.index, plan.pairs.index)


def test_certain_and_wrong_models_are_found_out():
    rng = np.random.default_rng(0)
    X, y = world(4000, rng, error=0.2, doubts="certain")
    plan = plan_audits(Told(), X, 200, random_state=0)
    low, high = certify_audits(Told(), plan, answered(plan, y)).clustering_interval
    assert 0.1 < low < 0.2 < high


def test_first_answers_alone():
    X, y = world(3000, np.random.default_rng(0))
    plan = plan_audits(Told(), X, 100, random_state=0)
    t = answered(plan, y)
    few, all_ = (certify_audits(Told(), plan, t[:n]) for n in (40, 100))
    assert few.n_pairs == 40
    assert few.clustering_interval[0] <= all_.clustering_interval[0]
    assert few.clustering_interval[1] >= all_.clustering_interval[1]


def test_unsure_answers_are_wrong_and_right():
    X, y = world(3000, np.random.default_rng(0))
    plan = plan_audits(Told(), X, 100, random_state=0)
    t = answered(plan, y)
    some = np.where(np.arange(100) % 5 == 0, 0, t)
    found, sure = (certify_audits(Told(), plan, each) for each in (some, t))
    assert found.n_unsure == 20
    assert found.pair_interval[1] > sure.pair_interval[1]
    assert found.pair_interval[0] <= sure.pair_interval[0]


def test_a_plan_can_be_stored():
    X, y = world(3000, np.random.default_rng(0))
    plan = plan_audits(Told(), X, 60, random_state=0)
    kept = AuditPlan.from_state(json.loads(json.dumps(plan.state())), X)
    t = answered(plan, y)
    assert certify_audits(Told(), kept, t) == certify_audits(Told(), plan, t)
    assert repr(kept) == repr(plan)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"says": None}, "not the state"),
        ({"says": [1, 1]}, "lengths"),
        ({"floor": 0.0}, "lengths"),
        ({"chance": [0.01] * 30}, "lengths"),
        ({"doubt": [0.7] * 30}, "lengths"),
        ({"index": [[0, 10**6]] * 30}, "numbered 0 to 599"),
        ({"spread": "x"}, "not the state"),
    ],
)
def test_damaged_states(change, message):
    X, _ = world(600, np.random.default_rng(0))
    state = plan_audits(Told(), X, 30, random_state=0).state() | change
    with pytest.raises(ValueError, match=message):
        AuditPlan.from_state(state, X)
    with pytest.raises(ValueError, match="not the state"):
        AuditPlan.from_state({}, X)


def test_another_model_is_refused():
    X, y = world(600, np.random.default_rng(0))
    plan = plan_audits(Told(), X, 30, random_state=0)
    t = answered(plan, y)
    other = LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match="not those for which the plan was made"):
        certify_audits(other, plan, t)
    shuffled = AuditPlan.from_state(plan.state(), X[::-1].copy())
    with pytest.raises(ValueError, match="not those for which the plan was made"):
        certify_audits(Told(), shuffled, t)


def test_bad_input():
    X, y = world(600, np.random.default_rng(0))
    clf = Told()
    plan = plan_audits(clf, X, 30, random_state=0)
    t = answered(plan, y)
    with pytest.raises(TypeError, match="must be a plan"):
        certify_audits(clf, plan.pairs, t)
    for wrong in (np.ones(31), []):
        with pytest.raises(ValueError, match="30 pairs"):
            certify_audits(clf, plan, wrong)
    with pytest.raises(ValueError, match="-1 or \\+1"):
        certify_audits(clf, plan, np.full(30, 0.5))
    with pytest.raises(ValueError, match="confidence"):
        certify_audits(clf, plan, t, confidence=1.0)
    with pytest.raises(ValueError, match="points"):
        plan_audits(clf, X, 400)
    with pytest.raises(ValueError, match="n_audits"):
        plan_audits(clf, X, 0)
    with pytest.raises(ValueError, match="floor"):
        plan_audits(clf, X, 10, floor=0.0)
    with pytest.raises(TypeError, match="predict_proba"):
        plan_audits(worlds, X, 10)
    three = LogisticRegression().fit(X, np.arange(600) % 3)
    with pytest.raises(ValueError, match="two classes"):
        plan_audits(three, X, 10)
    with pytest.raises(ValueError, match="width"):
        audits_needed(clf, X, 0.7)
    with pytest.raises(ValueError, match="two points"):
        audit_needs(np.array([0.1]), 0.02)


def test_more_than_two_kinds_are_refused():
    X, y = world(2000, np.random.default_rng(0))
    plan = plan_audits(Told(), X, 100, random_state=0)
    with pytest.raises(MoreKindsError, match="more than half"):
        certify_audits(Told(), plan, -answered(plan, y))


def test_points_of_the_training_are_left_out():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=700)
    X = rng.normal(size=(700, 2)) + 3 * y[:, None]
    pairs, t = Pairs.sample(X[:100], 50, y[:100], random_state=0)
    clf = PairClassifier(random_state=0).fit(pairs, t)
    with pytest.warns(UserWarning, match="100 of 700 points equal"):
        plan = plan_audits(clf, X, 40, random_state=0)
    assert plan.pairs.index.min() >= 100
    assert certify_audits(clf, plan, answered(plan, y)).unseen


# --- how many ------------------------------------------------------------------------


def test_uniform_where_there_is_nothing_to_choose_by():
    assert audit_needs(np.full(500, 0.05), 0.03).better == "uniform"
    X, _ = world(3000, np.random.default_rng(0))
    few, many = (audits_needed(Told(), X, width) for width in (0.1, 0.01))
    assert few.better == "uniform"
    assert many.better == "chosen"
    assert many.floor < few.floor
    assert many.chosen > few.chosen


def test_half_of_the_audits_where_the_model_knows_what_it_does_not_know():
    error, n = 0.05, 400
    draws, wrong = worlds.draw("toss-ups", "calibrated", error, n, 40, 30)
    width = worlds.widths(draws, wrong, error).mean()
    uniform = worlds.uniform_needed(error, width)
    assert n <= 0.5 * uniform
    e = worlds.toss_ups(error, 4000, np.random.default_rng(1))
    forecast = audit_needs(e, width)
    assert forecast.chosen == pytest.approx(n, rel=0.15)
    assert forecast.uniform == pytest.approx(uniform, rel=0.15)


def test_best_floor_falls_with_the_number_of_audits():
    e = worlds.gaussian(0.05, 400, np.random.default_rng(0))
    floors = [best_floor(e, n, 20) for n in (50, 500, 5000, 50000)]
    assert floors == sorted(floors, reverse=True)
    assert floors[-1] < floors[0]


def test_a_plan_is_immutable():
    X, _ = world(600, np.random.default_rng(0))
    plan = plan_audits(Told(), X, 30, random_state=0)
    with pytest.raises(AttributeError):
        plan.says = -plan.says
    assert len(replace(plan, says=-plan.says)) == 30
