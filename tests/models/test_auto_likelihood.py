"""The likelihood of answers given scores, and what it says of probabilities."""

import numpy as np
import pytest
from scipy.special import expit, softmax

from pairlearn.models.auto.likelihood import (
    CERTAIN,
    Labels,
    PairLikelihood,
    says_same,
)
from pairlearn.trust.probabilities import probabilities
from tests.support.auto_tasks import risk_by_loops

N_POINTS, N_PAIRS, N_MODELS = 12, 25, 3


def likelihood_of(n_classes, rates=CERTAIN, labelled=True, seed=0):
    """Soft answers with weights, shared points, and a test fold for each model."""
    rng = np.random.default_rng(seed)
    index = rng.integers(N_POINTS, size=(N_PAIRS, 2))
    trained_on = np.arange(N_PAIRS)[:, None] % N_MODELS != np.arange(N_MODELS)
    share, weight = rng.random(N_PAIRS), rng.uniform(0.2, 2, N_PAIRS)
    labels = None
    if labelled:
        rows = np.array([0, 3, 3, 7])  # a point may be labelled twice
        weights = rng.uniform(0, 2, size=(4, N_MODELS))
        labels = Labels(rows, rng.integers(n_classes, size=4), weights)
    return PairLikelihood(
        index,
        (weight * share)[:, None] * trained_on,
        (weight * (1 - share))[:, None] * trained_on,
        N_POINTS,
        rates,
        labels,
    )


def scores_of(n_classes, seed=1):
    shape = (N_POINTS, N_MODELS) if n_classes == 2 else (N_POINTS, N_MODELS, n_classes)
    return 2 * np.random.default_rng(seed).normal(size=shape)


# -- the likelihood --------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("rates", [CERTAIN, (0.85, 0.3)], ids=["certain", "noisy"])
@pytest.mark.parametrize("labelled", [False, True])
def test_likelihood_is_its_formula_and_has_its_gradient(n_classes, rates, labelled):
    likelihood = likelihood_of(n_classes, rates, labelled)
    scores = scores_of(n_classes)
    everyone = np.arange(N_MODELS)
    risk, slope = likelihood(scores, everyone)
    expected = [risk_by_loops(likelihood, scores, model) for model in everyone]
    np.testing.assert_allclose(risk, expected, rtol=1e-12)
    # The risks are of different scores, so the derivative of their sum has all.
    flat, step = scores.ravel(), 1e-6
    numeric = np.array(
        [
            likelihood((flat + step * e).reshape(scores.shape), everyone)[0].sum()
            - likelihood((flat - step * e).reshape(scores.shape), everyone)[0].sum()
            for e in np.eye(flat.size)
        ]
    ) / (2 * step)
    np.testing.assert_allclose(slope.ravel(), numeric, atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_likelihood_of_some_models(n_classes):
    """Rows may be any models in any order, as the solver asks for them."""
    likelihood, scores = likelihood_of(n_classes), scores_of(n_classes)
    risk, slope = likelihood(scores, np.arange(N_MODELS))
    some = np.array([2, 0])
    risk_some, slope_some = likelihood(scores[:, some], some)
    np.testing.assert_allclose(risk_some, risk[some], rtol=1e-12)
    np.testing.assert_allclose(slope_some, slope[:, some], rtol=1e-12)


def test_a_model_does_not_see_its_test_fold():
    likelihood, scores = likelihood_of(2, labelled=False), scores_of(2)
    before = likelihood(scores, np.arange(N_MODELS))[0]
    index = likelihood.index.copy()
    index[::N_MODELS] = 0  # the test fold of model 0
    changed = PairLikelihood(index, likelihood.same, likelihood.different, N_POINTS)
    after = changed(scores, np.arange(N_MODELS))[0]
    assert after[0] == pytest.approx(before[0], rel=1e-12)
    assert (np.abs(after[1:] - before[1:]) > 1e-3).all()


def test_two_classes_are_a_softmax_with_one_score_at_zero():
    two = likelihood_of(2)
    f = scores_of(2)
    both = np.stack([np.zeros_like(f), f], axis=2)
    risk, slope = two(f, np.arange(N_MODELS))
    risk_of_both, slope_of_both = two(both, np.arange(N_MODELS))
    np.testing.assert_allclose(risk_of_both, risk, rtol=1e-10)
    np.testing.assert_allclose(slope_of_both[..., 1], slope, rtol=1e-9, atol=1e-12)


def test_an_answer_of_zero_is_half_of_each():
    index = np.array([[0, 1], [2, 3]])
    scores = scores_of(2)[:4, :1]
    only = np.array([0])

    def risk(same):
        same = np.array(same)[:, None]
        return PairLikelihood(index, same, 1 - same, 4)(scores, only)[0][0]

    assert risk([0.5, 1]) == pytest.approx((risk([1.0, 1]) + risk([0.0, 1])) / 2)


def test_certain_scores_leave_finite_risks():
    index = np.array([[0, 1], [1, 2]])
    ones = np.ones((2, 1))
    f = np.array([[800.0], [-800.0], [-800.0]])
    risk, slope = PairLikelihood(index, ones, ones, 3)(f, np.array([0]))
    # For each pair one of the two answers is wrong.
    assert risk[0] == pytest.approx(-2 * (np.log(1e-4) + np.log1p(-1e-4)))
    assert np.isfinite(slope).all()


def test_probabilities_and_says_same():
    f = np.array([[0.3], [-2.0]])
    np.testing.assert_allclose(probabilities(f)[:, 1], expit(f[:, 0]))
    np.testing.assert_allclose(probabilities(f).sum(axis=1), 1)
    three = np.random.default_rng(0).normal(size=(5, 3))
    np.testing.assert_allclose(probabilities(three), softmax(three, axis=1))
    q = says_same(np.array([0.2, 0.8]), np.array([0.5, 0.5]), (0.9, 0.3))
    assert q == pytest.approx(0.3 + 0.6 * 0.5)
