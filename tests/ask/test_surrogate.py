"""The quick model by which questions are chosen."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit, log_expit
from sklearn.datasets import make_moons

from pairlearn.ask import Interview, surrogate
from pairlearn.ask.lessons import _last_step
from pairlearn.ask.surrogate import Surrogate


def problem(n=40, scale=3.0, seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 3)) / np.sqrt(3)
    y = (Z[:, 0] + 0.5 * rng.normal(size=n) > 0).astype(float)
    return scale**2 * Z @ Z.T + 9.0, y


@pytest.mark.parametrize("scale", [1.0, 4.0, 16.0])
def test_scores_are_at_the_maximum(scale):
    G, y = problem(scale=scale)
    G = G + 1e-6 * np.eye(len(y))
    a, _ = surrogate._fit(G, y)
    sign = 2 * y - 1

    def cost(a):
        f = G @ a
        value = -log_expit(sign * f).sum() + a @ f / 2
        return value, G @ (a - (y - expit(f)))

    best = minimize(cost, a, jac=True, method="BFGS", options={"maxiter": 2000})
    assert cost(a)[0] - best.fun < 0.02
    np.testing.assert_allclose(expit(G @ a), expit(G @ best.x), atol=0.03)


def test_left_out_scores_are_those_of_a_process_without_the_point():
    G, y = problem(n=60)
    _, left_out = surrogate._fit(G, y)
    by_hand = np.empty(len(y))
    for i in range(len(y)):
        others = np.delete(np.arange(len(y)), i)
        a, _ = surrogate._fit(G[np.ix_(others, others)], y[others])
        by_hand[i] = G[i, others] @ a
    assert np.corrcoef(left_out, by_hand)[0, 1] > 0.995
    np.testing.assert_allclose(expit(left_out), expit(by_hand), atol=0.08)


def test_sides_may_be_swapped():
    X, y = make_moons(200, noise=0.2, random_state=0)
    side, asked = 2 * y - 1, np.arange(0, 200, 4)
    model = Surrogate(X, 0)
    p, q = (model.probability(asked, s * side[asked]) for s in (1, -1))
    np.testing.assert_allclose(p, q[:, ::-1], atol=1e-6)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert np.mean((p[:, 1] > 0.5) == (y == 1)) > 0.9


def test_sparse_points_and_constant_columns():
    X, y = make_moons(120, noise=0.2, random_state=0)
    X = np.c_[np.where(np.abs(X) < 0.2, 0, X), np.ones(120)]
    asked, side = np.arange(40), 2 * y[:40] - 1
    p = Surrogate(X, 0).probability(asked, side)
    q = Surrogate(sparse.csr_array(X), 0).probability(asked, side)
    np.testing.assert_allclose(p, q, atol=1e-4)
    flat = Surrogate(np.ones((30, 2)), 0).probability(
        asked[:4], np.array([1, 1, 1, -1])
    )
    assert np.ptp(flat[:, 1]) == 0
    assert 0.5 < flat[0, 1] < 0.9


def test_more_points_of_one_side_are_believed_more():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 2))
    side = np.where(rng.random(60) < 0.8, 1, -1)  # nothing to do with the points
    p = Surrogate(X, 0).probability(np.arange(60), side)[:, 1]
    assert 0.65 < p.mean() < 0.9
    assert p.std() < 0.1


def test_when_scores_are_made_depends_on_the_number_of_answers_alone():
    steps = sorted({_last_step(n) for n in range(400)})
    assert steps[:4] == [0, 10, 15, 20]
    assert all(b - a <= max(5, 0.1 * a) for a, b in zip(steps[1:], steps[2:]))  # noqa: B905, RUF007
    X, y = make_moons(150, noise=0.1, random_state=0)
    one, two = (Interview(X, audits=0, noise=None, random_state=0) for _ in range(2))
    for number in range(30):
        questions = [interview.next_question() for interview in (one, two)]
        assert questions[0] == questions[1]
        for question, interview in zip(questions, (one, two), strict=True):
            interview.answer(question, bool(y[question.left] == y[question.right]))
        if number == 21:
            one.learn()  # a version more changes no question
    assert len(one.ledger.learned) == len(two.ledger.learned) + 1
