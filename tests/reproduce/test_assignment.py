"""How often class assignment fails: exactly, by simulation, and by the bound."""

import itertools
import warnings

import numpy as np
import pytest

from pairlearn.reproduce.assignment import (
    PRIORS,
    SIZES,
    THRESHOLDS,
    bound,
    exact_failure,
    threshold_error,
    vote_law,
)
from pairlearn.reproduce.experiment import Options
from pairlearn.reproduce.runner import execute, plan
from pairlearn.trust.assignment import assign_from_pairs
from pairlearn.trust.metrics import q_statistic


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_the_exact_failure_is_below_the_bound(prior, threshold):
    assert vote_law(prior, threshold).sum() == pytest.approx(1)
    for m in SIZES:
        exact = exact_failure(prior, threshold, m)
        assert 0 <= exact <= bound(prior, threshold, m) + 1e-12


def test_the_exact_failure_by_enumeration():
    """All ways in which two pairs can vote, from the definition of Q."""
    prior, threshold = 0.7, 1
    law = vote_law(prior, threshold)
    best = 1 if threshold_error(prior, threshold) < 0.5 else -1
    failure = 0.0
    for votes in itertools.product((-1, 0, 1), repeat=2):
        q = 0.5 - sum(votes) / (2 * len(votes))
        sign = (1 if prior > 0.5 else -1) * (1 if 1 - 2 * q > 0 else -1)
        failure += (sign != best) * np.prod([law[1 + v] for v in votes])
    assert exact_failure(prior, threshold, 2) == pytest.approx(failure, rel=1e-12)


def test_simulated_assignments_agree_with_the_exact_failure():
    for trial in plan(["fig-assignment"], Options(trials=500)):
        if trial.m in (8, 128) and trial.settings["threshold"] in (-1, 2):
            p = exact_failure(
                trial.settings["prior"], trial.settings["threshold"], trial.m
            )
            wrong = execute(trial).results["wrong"]
            assert abs(wrong - 500 * p) <= 4 * np.sqrt(500 * p * (1 - p)) + 1


def test_the_simulation_follows_the_rule_of_the_library():
    rng = np.random.default_rng(0)
    for _ in range(200):
        left, right, t = rng.choice([-1.0, 1.0], size=(3, rng.integers(1, 9)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # so few pairs hardly tell, it says
            found = assign_from_pairs(left, right, t, majority=1)
        votes = np.sum(t * (left + right))
        assert found.sign == (1 if votes > 0 else -1)
        assert (q_statistic(t, left, right) < 0.5) == (votes > 0)
