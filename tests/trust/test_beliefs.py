"""Beliefs: what answers say, against sums over all classes of all points."""

from itertools import product

import numpy as np
import pytest

from pairlearn.trust.beliefs import believe, likeliest_noise


def enumerate_all(index, t, prior, e):
    """Sum over the classes of all points, one assignment after another."""
    n_points, n_classes = prior.shape
    marginal, same, total = np.zeros(prior.shape), np.zeros(len(index)), 0.0
    for classes in product(range(n_classes), repeat=n_points):
        c = np.array(classes)
        alike = c[index[:, 0]] == c[index[:, 1]]
        right = np.where(alike, (1 + t) / 2, (1 - t) / 2)
        weight = np.prod(right * (1 - e) + (1 - right) * e)
        weight *= np.prod(prior[np.arange(n_points), c])
        marginal[np.arange(n_points), c] += weight
        same += weight * alike
        total += weight
    return marginal / total, same / total, np.log(total)


def random_answers(rng, n_points, n_answers):
    index = np.array([rng.choice(n_points, 2, replace=False) for _ in range(n_answers)])
    # Each point is in some pair.
    index[:, 0][: n_points // 2] = np.arange(n_points // 2)
    rest = np.arange(n_points // 2, n_points)[:n_answers]
    index[:, 1][: len(rest)] = rest
    return index, rng.choice([-1.0, 1.0], n_answers)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_equals_enumeration_with_a_prior(n_classes, seed):
    rng = np.random.default_rng(seed)
    index, t = random_answers(rng, 6, 7)
    prior = rng.dirichlet(np.ones(n_classes), 6)
    found = believe(index, t, n_classes=n_classes, noise=0.2, prior=prior)
    assert found.points.tolist() == list(range(6))
    marginal, same, log_z = enumerate_all(index, t, prior, 0.2)
    np.testing.assert_allclose(found.probability, marginal, atol=1e-9)
    wrong = np.where(t > 0, 1 - same, same)
    np.testing.assert_allclose(found.suspicion, wrong, atol=1e-9)
    assert found.log_likelihood == pytest.approx(log_z)


@pytest.mark.parametrize("seed", range(6))
def test_two_classes_need_no_prior_for_suspicion(seed):
    rng = np.random.default_rng(seed)
    index, t = random_answers(rng, 6, 8)
    found = believe(index, t, n_classes=2, noise=0.1)
    _, same, _ = enumerate_all(index, t, np.full((6, 2), 0.5), 0.1)
    wrong = np.where(t > 0, 1 - same, same)
    np.testing.assert_allclose(found.suspicion, wrong, atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_right_answers_are_followed_wherever_they_lead(n_classes):
    rng = np.random.default_rng(n_classes)
    y = np.arange(30) % n_classes
    # Every point against one representative of each class.
    among = [(a, b) for a in range(n_classes) for b in range(a)]
    others = [(i, c) for i in range(n_classes, 30) for c in range(n_classes)]
    index = np.array(among + others)
    rng.shuffle(index[n_classes:])
    t = np.where(y[index[:, 0]] == y[index[:, 1]], 1.0, -1.0)
    for known in (n_classes, None):
        found = believe(index, t, n_classes=known)
        assert found.n_established == n_classes
        assert found.confidence.min() > 0.999
        assert len({(a, b) for a, b in zip(found.classes, y, strict=True)}) == n_classes
        assert found.suspicion.max() < 1e-3
        names = y[found.representatives]
        assert sorted(names) == list(range(n_classes))


def test_noes_rule_classes_out_and_the_last_is_implied():
    index, t = [(0, 1), (0, 2), (1, 2), (3, 0)], [-1, -1, -1, -1]
    found = believe(index, t, n_classes=3)
    np.testing.assert_allclose(found.of(3), [0, 0.5, 0.5], atol=1e-4)
    found = believe([*index, (3, 1)], [*t, -1], n_classes=3)
    np.testing.assert_allclose(found.of(3), [0, 0, 1], atol=1e-4)
    assert found.of(9) is None


def test_a_new_class_is_opened_when_none_fits():
    index, t = [(0, 1), (2, 0), (2, 1)], [-1, -1, -1]
    found = believe(index, t)
    assert found.n_established == 3
    assert found.probability.shape == (3, 4)
    assert believe(index[:1], [1]).n_established == 1


def test_points_that_nothing_links_stay_open():
    found = believe([(0, 1), (5, 6)], [1, 1], n_classes=2)
    np.testing.assert_allclose(found.of(5), [0.5, 0.5])
    assert found.n_established == 1
    assert [a.tolist() for a in found.anchors()] == [[0, 1]]


def test_one_wrong_answer_about_a_hub_turns_nothing():
    y = np.arange(20) % 2
    index = np.array([(i, j) for i in range(2, 20) for j in (0, 1)])
    t = np.where(y[index[:, 0]] == y[index[:, 1]], 1.0, -1.0)
    t[4] *= -1
    found = believe(index, t, n_classes=2, noise=0.1)
    # With one answer each way, either about point 4 may be wrong, and no other.
    assert set(np.argsort(found.suspicion)[-2:]) == {4, 5}
    wrong = found.classes != found.classes[0] ^ y
    assert set(found.points[wrong]) <= {4}
    assert all(4 not in a for a in found.anchors())


def test_names_follow_the_order_of_questions():
    found = believe([(7, 3), (7, 5), (5, 1)], [-1, 1, 1], n_classes=2)
    assert found.of(7).argmax() == 0
    assert found.of(3).argmax() == 1


def test_no_answers():
    found = believe(np.empty((0, 2)), [], n_classes=2)
    assert found.n_established == 0
    assert len(found.points) == 0
    assert found.anchors() == []
    assert likeliest_noise(np.empty((0, 2)), [], n_classes=2) < 0.01


def test_weights_of_zero_leave_answers_out():
    index, t = np.array([(0, 1), (0, 1), (1, 2)]), np.array([1, -1, 1.0])
    found = believe(index, t, n_classes=2, noise=0.1, weight=np.array([1, 0, 1.0]))
    alone = believe(index[[0, 2]], t[[0, 2]], n_classes=2, noise=0.1)
    np.testing.assert_allclose(found.probability, alone.probability)


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.25])
def test_the_rate_of_wrong_answers_is_found(rate):
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=40)
    index = np.array([rng.choice(40, 2, replace=False) for _ in range(400)])
    t = np.where(y[index[:, 0]] == y[index[:, 1]], 1.0, -1.0)
    t[rng.random(400) < rate] *= -1
    prior = 0.9 * np.eye(3)[y] + 0.1 / 3
    found = likeliest_noise(index, t, n_classes=3, prior=prior)
    assert found == pytest.approx(rate, abs=0.06)
