"""The likelihood of answers that share points, against sums over all classes."""

import numpy as np
import pytest
from scipy.special import log_expit, logsumexp

from pairlearn.engine.components.certain import CertainSides
from pairlearn.engine.components.likelihood import (
    Answers,
    Components,
    class_log_probabilities,
    shares_points,
)
from pairlearn.engine.components.propagation import Memory

RATES = (0.9, 0.2)


def by_sum(log_p, index, answers, model):
    """Return log Z, marginals and P(same) of each pair, from all states."""
    n_classes, n_points = log_p.shape
    states = np.indices((n_classes,) * n_points).reshape(n_points, -1)
    log_w = sum(log_p[:, i][states[i]] for i in range(n_points))
    for k, (i, j) in enumerate(index):
        if i == j:
            continue
        same, different = answers.same[k, model], answers.different[k, model]
        weight = same + different
        share = same / weight if weight else 0.0
        psi = [share * r + (1 - share) * (1 - r) for r in RATES]
        log_w = log_w + weight * np.log(np.where(states[i] == states[j], *psi))
    log_z = logsumexp(log_w)
    w = np.exp(log_w - log_z)
    points = [
        [w[states[i] == c].sum() for i in range(n_points)] for c in range(n_classes)
    ]
    alike = [w[states[i] == states[j]].sum() for i, j in index]
    return log_z, np.array(points), np.array(alike)


def random_task(rng, n_classes, n_points, n_pairs, n_models=3):
    index = rng.integers(n_points, size=(n_pairs, 2))
    t = rng.choice([-1, 1, 0.3], (n_pairs, n_models))
    weight = rng.choice([1, 1, 0, 0.5, 2], (n_pairs, n_models))
    p = rng.dirichlet(np.ones(n_classes), (n_points, n_models))
    answers = Answers(weight * (1 + t) / 2, weight * (1 - t) / 2)
    return index, answers, np.log(np.moveaxis(p, 2, 0))


@pytest.mark.parametrize(("n_classes", "most"), [(2, 12), (3, 10), (4, 8)])
def test_sums_over_all_classes(n_classes, most):
    rng = np.random.default_rng(n_classes)
    for _ in range(25):
        n_points = int(rng.integers(2, most + 1))
        n_pairs = int(rng.integers(1, 2 * n_points + 1))
        index, answers, log_p = random_task(rng, n_classes, n_points, n_pairs)
        graph = Components(index, n_points, n_classes)
        assert graph.exact
        found = graph(log_p, graph.tables(answers, RATES))
        alike = graph.at_pairs(found.links)
        for model in range(3):
            log_z, points, same = by_sum(log_p[:, :, model], index, answers, model)
            assert found.log_z[model] == pytest.approx(log_z, abs=1e-10)
            np.testing.assert_allclose(found.points[:, :, model], points, atol=1e-10)
            proper = index[:, 0] != index[:, 1]
            np.testing.assert_allclose(alike[proper, model], same[proper], atol=1e-10)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_the_largest_component_of_the_promise(n_classes):
    rng = np.random.default_rng(0)
    index, answers, log_p = random_task(rng, n_classes, 12, 18, n_models=1)
    if n_classes == 4:
        # All states of 12 points are 16 million; a third of the points is enough to
        # tell a mistake in the tables from none.
        index = index % 9
    graph = Components(index, 12, n_classes)
    found = graph(log_p, graph.tables(answers, RATES))
    used = 9 if n_classes == 4 else 12
    log_z, points, _ = by_sum(log_p[:, :used, 0], index, answers, 0)
    assert found.log_z[0] == pytest.approx(log_z, abs=1e-10)
    np.testing.assert_allclose(found.points[:, :used, 0], points, atol=1e-10)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_gradient_is_marginal_less_probability(n_classes):
    rng = np.random.default_rng(1)
    index, answers, _ = random_task(rng, n_classes, 9, 14, n_models=1)
    graph = Components(index, 9, n_classes)
    tables = graph.tables(answers, RATES)
    scores = rng.normal(size=(9, 1) if n_classes == 2 else (9, 1, n_classes))
    log_p = class_log_probabilities(scores)
    pull = (graph(log_p, tables).points - np.exp(log_p))[:, :, 0]
    pull = pull[1] if n_classes == 2 else pull.T.ravel()
    step = 1e-6
    for k in range(scores.size):
        up, down = scores.copy(), scores.copy()
        up.flat[k] += step
        down.flat[k] -= step
        rise = graph(class_log_probabilities(up), tables).log_z
        fall = graph(class_log_probabilities(down), tables).log_z
        assert pull[k] == pytest.approx(float((rise - fall)[0]) / (2 * step), abs=1e-7)


@pytest.mark.parametrize("shape", ["chain", "star", "tree"])
def test_large_trees_of_right_answers_have_two_states(shape):
    rng = np.random.default_rng(2)
    n = 10_000
    parent = {
        "chain": np.arange(n - 1),
        "star": np.zeros(n - 1, dtype=int),
        "tree": (rng.random(n - 1) * np.arange(1, n)).astype(int),
    }[shape]
    index = np.stack([parent, np.arange(1, n)], axis=1)
    sign = rng.choice([-1, 1], n)
    same = (sign[index].prod(axis=1) > 0).astype(float)[:, None]
    graph = Components(index, n, 2)
    scores = 0.02 * rng.normal(size=n)
    log_p = class_log_probabilities(scores[:, None])
    found = graph(log_p, graph.tables(Answers(same, 1 - same), (1 - 1e-15, 1e-15)))
    both = [log_expit(side * sign * scores).sum() for side in (1, -1)]
    assert found.log_z[0] == pytest.approx(logsumexp(both), abs=1e-7)
    chance = np.exp(both[0] - logsumexp(both))
    expected = np.where(sign > 0, chance, 1 - chance)
    np.testing.assert_allclose(found.points[1, :, 0], expected, atol=1e-8)


def test_trees_with_wrong_answers_agree_with_belief_propagation():
    # The same tree as one with a cycle that says nothing, which goes another way.
    rng = np.random.default_rng(3)
    n = 10_000
    index = np.stack(
        [(rng.random(n - 1) * np.arange(1, n)).astype(int), np.arange(1, n)], 1
    )
    t = rng.choice([-1.0, 1.0], (n - 1, 1))
    answers = Answers((1 + t) / 2, (1 - t) / 2)
    log_p = class_log_probabilities(rng.normal(size=(n, 1)))
    graph = Components(index, n, 2)
    found = graph(log_p, graph.tables(answers, RATES))
    # Ten extra answers without weight make cycles, and change nothing.
    more = np.concatenate([index, rng.integers(n, size=(10, 2))])
    padded = Answers(*(np.concatenate([x, np.zeros((10, 1))]) for x in answers))
    other = Components(more, n, 2)
    again = other(log_p, other.tables(padded, RATES))
    np.testing.assert_allclose(found.log_z, again.log_z, atol=1e-7)
    np.testing.assert_allclose(found.points, again.points, atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_belief_propagation_is_close_on_many_cycles(n_classes):
    rng = np.random.default_rng(4)
    # Every point has four neighbours.
    n = 12 if n_classes == 2 else 10
    index = np.array([[i, (i + step) % n] for step in (1, 4) for i in range(n)])
    y = rng.integers(n_classes, size=n)
    right = y[index[:, 0]] == y[index[:, 1]]
    same = np.where(rng.random(len(index)) < 0.2, ~right, right)[:, None].astype(float)
    p = rng.dirichlet(np.full(n_classes, 2.0), (n, 1))
    log_p = np.log(np.moveaxis(p, 2, 0))
    exact = Components(index, n, n_classes, max_states=2**20)
    rough = Components(index, n, n_classes, max_states=16)
    assert exact.exact
    assert not rough.exact
    rates = (0.8, 0.3)
    answers = Answers(same, 1 - same)
    truth = exact(log_p, exact.tables(answers, rates))
    memory = Memory(1, tolerance=1e-8)
    found = rough(log_p, rough.tables(answers, rates), memory)
    assert found.log_z[0] == pytest.approx(truth.log_z[0], abs=0.5)
    assert np.abs(found.points - truth.points).max() < 0.1
    # Going on from where it ended changes nothing.
    again = rough(log_p, rough.tables(answers, rates), memory)
    np.testing.assert_allclose(again.log_z, found.log_z, atol=1e-6)


def test_which_pairs_share_points():
    index = np.array([[0, 1], [2, 3], [3, 4], [5, 5], [6, 7], [7, 6]])
    assert shares_points(index, 8).tolist() == [False, True, True, True, True, True]


def test_nothing_to_sum_over():
    graph = Components(np.array([[1, 1]]), 3, 2)
    log_p = class_log_probabilities(np.zeros((3, 1)))
    found = graph(
        log_p, graph.tables(Answers(np.ones((1, 1)), np.zeros((1, 1))), RATES)
    )
    assert found.log_z[0] == 0
    np.testing.assert_allclose(found.points, 0.5)


def test_very_many_answers_about_few_points():
    # The other case gets a probability below what numbers can hold.
    index = np.tile([[0, 1], [1, 2], [2, 0], [2, 3]], (2000, 1))
    same = np.tile([[1.0], [0.0], [0.0], [1.0]], (2000, 1))
    graph = Components(index, 4, 2)
    log_p = class_log_probabilities(np.array([[1.0], [0.0], [0.5], [-800.0]]))
    found = graph(log_p, graph.tables(Answers(same, 1 - same), (1 - 1e-4, 1e-4)))
    assert np.isfinite(found.log_z).all()
    # Right answers: 0 and 1 are on one side, 2 and 3 on the other; 3 is known.
    np.testing.assert_allclose(found.points[1, :, 0], [1, 1, 0, 0], atol=1e-6)


class TestCertainSides:
    def task(self, seed):
        """Return scores, and two trees of right answers with their components."""
        rng = np.random.default_rng(seed)
        y = rng.choice([-1, 1], 9)
        index = np.array([[0, 1], [1, 2], [1, 3], [3, 4], [5, 6], [7, 6]])
        t = (y[index[:, 0]] * y[index[:, 1]])[:, None]
        group = np.array([0, 0, 0, 0, 0, 1, 1, 1, 2])
        sign = np.where(group < 2, y, 0).astype(float)
        return rng.normal(0, 3, (9, 4)), index, t, group, sign

    def test_is_the_sum_over_all_classes_where_no_answer_is_wrong(self):
        scores, index, t, group, sign = self.task(0)
        components = Components(index, 9, 2)
        both = [np.repeat(each, 4, axis=1) for each in ((1 + t) / 2, (1 - t) / 2)]
        tables = components.tables(Answers(*both), (1 - 1e-15, 1e-15))
        expected = components(class_log_probabilities(scores), tables)
        sides = CertainSides(group, sign)
        np.testing.assert_allclose(sides(scores)[0], -expected.log_z, atol=1e-9)
        np.testing.assert_allclose(sides.marginals(scores), expected.points, atol=1e-9)

    def test_slopes_are_derivatives(self):
        scores, _, _, group, sign = self.task(1)
        sides = CertainSides(group, sign)
        slopes = sides(scores)[1]
        for i in range(9):
            step = np.zeros_like(scores)
            step[i] = 1e-6
            rise = (sides(scores + step)[0] - sides(scores - step)[0]) / 2e-6
            np.testing.assert_allclose(slopes[i], rise, atol=1e-7)
        assert not slopes[8].any()

    def test_large_scores_overflow_nowhere(self):
        _, _, _, group, sign = self.task(2)
        scores = 1e5 * np.ones((9, 1))
        with np.errstate(all="raise", under="ignore"):
            value, slopes = CertainSides(group, sign)(scores)
        assert np.isfinite(value).all()
        assert np.isfinite(slopes).all()


def test_kernels_whose_sum_takes_long_are_left_to_belief_propagation():
    """As of 100 answers, each point in several; the sum would be exact, and slow."""
    rng = np.random.default_rng(2)
    index = np.array([(i, (i + k) % 36) for i in range(36) for k in (1, 2, 7)])
    graph = Components(index, 36, 2)
    slow = Components(index, 36, 2, max_states=2**20)
    assert (graph.exact, slow.exact) == (False, True)
    y = rng.choice([-1.0, 1.0], (36, 1))
    t = y[index[:, 0]] * y[index[:, 1]] * np.where(rng.random((108, 1)) < 0.1, -1, 1)
    log_p = class_log_probabilities(y + rng.normal(0, 1, (36, 1)))
    tables = graph.tables(Answers((1 + t) / 2, (1 - t) / 2), RATES)
    near, right = graph(log_p, tables), slow(log_p, tables)
    np.testing.assert_allclose(near.points, right.points, atol=0.05)
    assert near.log_z == pytest.approx(right.log_z, abs=0.3)
