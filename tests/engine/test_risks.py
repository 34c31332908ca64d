"""Risks of scores: gradients, stability, and unbiasedness by Monte Carlo."""

from functools import cache

import numpy as np
import pytest
from scipy.optimize import check_grad
from scipy.special import logsumexp

from pairlearn import Pairs
from pairlearn.engine.coefficients import Coefficients, answer_coefficients
from pairlearn.engine.links import BinaryLink, ProductLink, SoftmaxLink
from pairlearn.engine.losses import get_loss
from pairlearn.engine.noisy_objective import NoisyObjective
from pairlearn.engine.objective import PairObjective
from pairlearn.engine.points import as_points
from pairlearn.engine.risks import LikelihoodRisk, PointRisk, ProductRisk
from pairlearn.engine.scaling import Scaling
from pairlearn.models.linear.unlabeled import (
    add_unlabeled_couples,
    point_coefficients,
    product_coefficients,
)

LINKS = {"product": ProductLink(), "binary": BinaryLink(), "softmax": SoftmaxLink()}
RATES = [(1.0, 0.0), (0.9, 0.2), (1.0, 0.3), (0.7, 0.0)]


def scores_for(link, rng, n=12, scale=2.0):
    shape = (n, 4) if link == "softmax" else (n,)
    return scale * rng.normal(size=shape), scale * rng.normal(size=shape)


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("rates", RATES)
def test_likelihood_gradient_agrees_with_finite_differences(link, rates):
    rng = np.random.default_rng(0)
    left, right = scores_for(link, rng)
    same, different = rng.random((2, 12))
    risk = LikelihoodRisk(LINKS[link], rates)

    def value(v, k=0):
        parts = v.reshape(2, *left.shape)
        out = risk.value_and_gradient(parts[0], parts[1], same, different)
        return out[0] if k == 0 else np.concatenate([out[1].ravel(), out[2].ravel()])

    v = np.concatenate([left.ravel(), right.ravel()])
    assert check_grad(value, lambda v: value(v, 1), v) < 1e-5


@pytest.mark.parametrize("symmetric", [True, False])
def test_noisy_objective_gradient(symmetric):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3))
    index = rng.integers(20, size=(30, 2))
    risk_sum = as_points(X).coupled(index, Coefficients(*rng.random((2, 30))))
    scaling = Scaling.identity(3, True)
    objective = PairObjective(risk_sum, LikelihoodRisk(BinaryLink()), 0.1, scaling)
    noisy = NoisyObjective(objective, symmetric=symmetric)
    v = noisy.join(rng.normal(size=4), (0.8, 0.2))
    _, rates = noisy.split(v)
    np.testing.assert_allclose(rates, (0.8, 0.2))
    assert check_grad(lambda v: noisy(v)[0], lambda v: noisy(v)[1], v) < 1e-5


@pytest.mark.parametrize("link", LINKS)
def test_probabilities_sum_to_one_and_survive_large_scores(link):
    rng = np.random.default_rng(0)
    for scale in (1.0, 30.0, 1e4):
        left, right = scores_for(link, rng, 200, scale)
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            same, different, pull = LINKS[link].log_probabilities(left, right)
            gradient = pull(np.ones(200), np.ones(200))
        assert np.isfinite(same).all()
        assert np.isfinite(different).all()
        assert np.isfinite(np.concatenate([g.ravel() for g in gradient])).all()
        np.testing.assert_allclose(np.logaddexp(same, different), 0.0, atol=1e-12)


def test_softmax_link_agrees_with_the_definition():
    rng = np.random.default_rng(0)
    left, right = scores_for("softmax", rng, 50, 3.0)
    p = np.exp(left - logsumexp(left, axis=1, keepdims=True))
    q = np.exp(right - logsumexp(right, axis=1, keepdims=True))
    same, different, _ = SoftmaxLink().log_probabilities(left, right)
    np.testing.assert_allclose(np.exp(same), (p * q).sum(axis=1))
    np.testing.assert_allclose(np.exp(different), 1 - (p * q).sum(axis=1))


def test_two_class_softmax_is_the_binary_link():
    rng = np.random.default_rng(0)
    f, g = rng.normal(size=(2, 40))
    two = SoftmaxLink().log_probabilities(
        np.stack([-f / 2, f / 2], axis=1), np.stack([-g / 2, g / 2], axis=1)
    )
    one = BinaryLink().log_probabilities(f, g)
    np.testing.assert_allclose(two[0], one[0])
    np.testing.assert_allclose(two[1], one[1])
    np.testing.assert_allclose(
        np.exp(one[0]), (1 + np.tanh(f / 2) * np.tanh(g / 2)) / 2
    )


def test_logistic_product_risk_is_a_likelihood():
    rng = np.random.default_rng(0)
    f, g = rng.normal(size=(2, 40))
    coefficients = answer_coefficients(rng.uniform(-1, 1, 40), rng.random(40))
    a = ProductRisk("logistic").value_and_gradient(f, g, *coefficients)
    b = LikelihoodRisk(ProductLink()).value_and_gradient(f, g, *coefficients)
    for left, right in zip(a, b, strict=True):
        np.testing.assert_allclose(left, right, atol=1e-12)


LOSSES = ["logistic", "squared", "double_hinge"]
PRIORS = [0.3, 0.8]


def population(prior, n, rng):
    y = np.where(rng.random(n) < prior, 1, -1)
    return (1.2 * y + rng.normal(size=n))[:, None], y


def f_of(X):
    return 0.7 * X[:, 0] + 0.2


@cache
def truth(loss, prior, *, of_pairs):
    """The risk of points, or of pairs, from the labels of very many."""
    X, y = population(prior, 2_000_000, np.random.default_rng(1))
    margins = f_of(X) * y
    if of_pairs:
        margins = margins[::2] * margins[1::2]
    return get_loss(loss).value(margins).mean()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize(
    "gammas", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0.5, 0.3, 0.2)], ids=str
)
def test_sd_risks_are_unbiased(loss, prior, gammas):
    """SD, SU, DU and their mixture against the supervised risk, by Monte Carlo."""
    rng = np.random.default_rng(0)
    estimates = []
    for _ in range(200):
        X, y = population(prior, 400, rng)
        index = np.arange(400).reshape(200, 2)
        pairs = Pairs(X, index)
        X_u, _ = population(prior, 200, rng)
        positive, negative = point_coefficients(
            pairs, pairs.answers(y), np.ones(200), gammas, prior, 200
        )
        scores = f_of(np.concatenate([X, X_u]))
        estimates.append(
            PointRisk(loss).value_and_gradient(scores, positive, negative)[0]
        )
    error = np.std(estimates) / np.sqrt(len(estimates))
    off = np.mean(estimates) - truth(loss, prior, of_pairs=False)
    assert abs(off) < 3 * error + 2e-3


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize(
    "gammas", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0.5, 0.3, 0.2)], ids=str
)
def test_semi_supervised_risk_is_unbiased(loss, prior, gammas):
    """The risk of Appendix C against R_pair computed from labels, by Monte Carlo."""
    rng = np.random.default_rng(0)
    state = np.random.RandomState(0)
    estimates = []
    for _ in range(200):
        X, y = population(prior, 400, rng)
        pairs = Pairs(X, np.arange(400).reshape(200, 2))
        same_rate = prior**2 + (1 - prior) ** 2
        coefficients = product_coefficients(
            pairs.answers(y), np.ones(200), gammas, same_rate
        )
        X_u, _ = population(prior, 200, rng)
        pairs, coefficients = add_unlabeled_couples(
            pairs, coefficients, X_u, gammas, state
        )
        f = f_of(pairs.X)
        estimates.append(
            ProductRisk(loss).value_and_gradient(
                f[pairs.left], f[pairs.right], *coefficients
            )[0]
        )
    error = np.std(estimates) / np.sqrt(len(estimates))
    off = np.mean(estimates) - truth(loss, prior, of_pairs=True)
    assert abs(off) < 3 * error + 2e-3


def test_nonnegative_correction_clips_each_part():
    risk = PointRisk("hinge", nonnegative=True)
    scores = np.array([0.0, 0.0, 0.5])
    value, slope = risk.value_and_gradient(
        scores, np.array([1.0, -2.0, 0.0]), np.array([0.5, 0.0, 0.0])
    )
    assert value == 0.5  # the positive part, 1 - 2 < 0, is clipped
    np.testing.assert_allclose(slope, [0.5, 0.0, 0.0])
