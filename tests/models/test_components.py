"""Learning from answers that share points: chains, stars, trees, cycles."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, log_expit
from sklearn.linear_model import LogisticRegression

from pairlearn import MCLClassifier, PairClassifier, Pairs, clustering_error
from pairlearn.engine.coefficients import pair_coefficients
from pairlearn.engine.components.likelihood import Answers, Components
from pairlearn.engine.components.risk_sum import CERTAIN, ComponentRiskSum
from pairlearn.engine.links import BinaryLink, SoftmaxLink
from pairlearn.engine.points import as_points
from pairlearn.engine.risks import LikelihoodRisk
from pairlearn.models.auto import choose
from pairlearn.models.auto.folds import deal_folds
from pairlearn.models.auto.problem import Problem
from pairlearn.models.auto.wrong_answers import find_wrong_answers


def blobs(n, seed=0, spread=1.0):
    rng = np.random.default_rng(seed)
    y = rng.choice([-1, 1], n)
    return rng.normal(size=(n, 2)) + spread * y[:, None], y


def connected(shape, n, rng):
    """Return the pairs of a graph of n points."""
    if shape == "chain":
        return np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    if shape == "star":
        return np.stack([np.zeros(n - 1, dtype=int), np.arange(1, n)], axis=1)
    return np.array([[rng.integers(k), k] for k in range(1, n)])


@pytest.fixture
def quick(monkeypatch):
    kernels = {"standard": choose.KERNELS["standard"], "power": ()}
    monkeypatch.setattr(choose, "KERNELS", kernels)


@pytest.mark.parametrize("shape", ["chain", "star", "tree"])
def test_a_tree_of_answers_is_worth_labels(shape):
    X, y = blobs(120)
    pairs = Pairs(X, connected(shape, 120, np.random.default_rng(0)))
    alpha = 1e-3
    clf = MCLClassifier(alpha=alpha, tol=1e-8).fit(pairs, pairs.answers(y))
    # The same penalty for a mean over labels; answers are one fewer.
    labels = LogisticRegression(C=1 / (alpha * 119), tol=1e-10).fit(X, y)
    sign = np.sign(clf.coef_ @ labels.coef_.T)
    np.testing.assert_allclose(sign * clf.coef_, labels.coef_, atol=0.01)
    np.testing.assert_allclose(sign[0] * clf.intercept_, labels.intercept_, atol=0.01)


@pytest.mark.parametrize("noise", ["auto", None])
@pytest.mark.usefixtures("quick")
def test_chain_star_and_tree_give_the_same_classifier(noise):
    X, y = blobs(400, spread=0.8)
    rng = np.random.default_rng(0)
    scores = []
    for shape in ("chain", "star", "tree"):
        pairs = Pairs(X[:80], connected(shape, 80, rng))
        clf = PairClassifier(noise=noise, random_state=0)
        clf.fit(pairs, pairs.answers(y[:80]))
        scores.append(clf.predict_proba(X)[:, 1])
        assert clf.certificate_.n_points == 80
        assert clustering_error(y, clf.predict(X)) < 0.2
    for other in scores[1:]:
        np.testing.assert_allclose(scores[0], other, atol=0.01)


@pytest.mark.parametrize("model", [MCLClassifier(), PairClassifier(random_state=0)])
@pytest.mark.usefixtures("quick")
def test_nothing_changes_where_no_point_is_shared(model):
    X, y = blobs(80)
    pairs = Pairs(X, np.arange(80).reshape(-1, 2))
    t = pairs.answers(y)
    scores = [
        model.set_params(likelihood=kind).fit(pairs, t).decision_function(X)
        for kind in ("pair", "component")
    ]
    np.testing.assert_array_equal(*scores)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_objective_of_mcl(n_classes):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(12, 3))
    index = np.array([[0, 1], [1, 2], [2, 0], [3, 4], [5, 6], [6, 7], [7, 8], [9, 9]])
    t = rng.choice([-1.0, 1.0, 0.5], len(index))
    weight = rng.choice([1.0, 2.0, 0.5], len(index))
    sums = ComponentRiskSum(
        as_points(X), index, pair_coefficients(t, weight), weight.sum(), n_classes
    )
    link = BinaryLink() if n_classes == 2 else SoftmaxLink()
    risk = LikelihoodRisk(link, (0.9, 0.2))
    shape = (3,) if n_classes == 2 else (3, n_classes)
    w, b = rng.normal(size=shape), 0.3 * np.ones(shape[1:])

    def value(w, b, rates=(0.9, 0.2)):
        return sums.value_and_gradient(LikelihoodRisk(link, rates), w, b)[0]

    _, d_w, d_b = sums.value_and_gradient(risk, w, b)
    step = 1e-6
    for k in range(w.size):
        move = step * np.eye(w.size)[k].reshape(shape)
        slope = (value(w + move, b) - value(w - move, b)) / (2 * step)
        assert d_w.ravel()[k] == pytest.approx(slope, abs=1e-7)
    slope = (value(w, b + step) - value(w, b - step)) / (2 * step)
    assert d_b.sum() == pytest.approx(slope, abs=1e-7)
    by_rates = sums.rate_gradient(risk, w, b)
    for k, move in enumerate(([step, 0], [0, step])):
        up, down = (tuple(np.add((0.9, 0.2), s * np.array(move))) for s in (1, -1))
        slope = (value(w, b, up) - value(w, b, down)) / (2 * step)
        assert by_rates[k] == pytest.approx(slope, abs=1e-7)


def test_mcl_against_a_likelihood_written_out():
    X, y = blobs(30, seed=3)
    pairs = Pairs(X, connected("chain", 30, None))
    t = pairs.answers(y)
    signs = np.concatenate([[1.0], np.cumprod(t)])

    def written(v):
        f = signs * (X @ v[:2] + v[2])
        both = np.logaddexp(log_expit(f).sum(), log_expit(-f).sum())
        return -both / 29 + 0.005 * v[:2] @ v[:2]

    expected = min(
        (minimize(written, s * np.ones(3), tol=1e-10) for s in (-1, 1)),
        key=lambda found: found.fun,
    )
    clf = MCLClassifier(alpha=0.01, tol=1e-9).fit(pairs, t)
    assert clf.objective_ == pytest.approx(expected.fun, abs=2e-3)
    np.testing.assert_allclose(np.abs(clf.coef_[0]), np.abs(expected.x[:2]), atol=0.02)


def test_wrong_answers_are_found_by_cycles_alone():
    rng = np.random.default_rng(0)
    y = rng.choice([-1, 1], 200)
    index = np.concatenate([rng.permutation(200) for _ in range(8)]).reshape(-1, 2)
    index = index[index[:, 0] != index[:, 1]]
    right = y[index].prod(axis=1) > 0
    same = np.where(rng.random(len(index)) < 0.12, ~right, right).astype(float)
    found = find_wrong_answers(index, same, 1 - same, np.full((200, 2), 0.5))
    assert found.symmetric == pytest.approx(np.mean(same != right), abs=0.03)
    assert found.interval[0] < np.mean(same != right) < found.interval[1]
    assert found.gain > 50
    # A tree has no cycle: it says nothing about itself.
    tree = connected("tree", 200, rng)
    some = same[: len(tree)]
    nothing = find_wrong_answers(tree, some, 1 - some, np.full((200, 2), 0.5))
    assert nothing.gain < 2
    assert nothing.interval[0] == 0


@pytest.mark.usefixtures("quick")
def test_wrong_answers_about_shared_points():
    X, y = blobs(150, spread=1.5)
    rng = np.random.default_rng(1)
    index = np.concatenate([rng.permutation(150) for _ in range(4)]).reshape(-1, 2)
    pairs = Pairs(X, index[index[:, 0] != index[:, 1]])
    t = pairs.answers(y)
    t = np.where(rng.random(len(t)) < 0.15, -t, t)
    clf = PairClassifier(random_state=0).fit(pairs, t)
    r1, r0 = clf.flip_rates_
    assert 1 - r1 == pytest.approx(0.15, abs=0.08)
    assert r0 == pytest.approx(0.15, abs=0.08)
    low, high = clf.flip_rate_interval_
    assert low < np.mean(t != pairs.answers(y)) < high
    assert clustering_error(y, clf.predict(X)) < 0.1
    # Answers about a point may be wrong: nothing is claimed from below.
    assert clf.certificate_.clustering_interval[0] == 0


def test_folds_hide_points_of_large_components():
    X, _ = blobs(60)
    index = np.concatenate([connected("star", 40, None), [[40, 41], [42, 43]]])
    pairs = Pairs(X, index)
    ones = np.ones(len(index))
    problem = Problem(X, index, ones, 0 * ones, None, 2, joint=True)
    folds = deal_folds(pairs, 5, 2, np.random.RandomState(0), problem)
    assert folds.honest
    assert folds.n_first_points == 40
    assert sorted(folds.points[:40]) == list(range(40))
    # Each point is hidden from the model that judges it.
    assert folds.hidden[folds.points, folds.point_model].all()
    assert (folds.hidden[:40].sum(axis=1) == 2).all()
    # Pairs that share nothing are dealt out as ever.
    assert set(folds.tested.tolist()) == {39, 40}
    assert not folds.hidden[40:].any()


def test_pairs_of_small_components_are_judged_by_models_that_see_neither_point():
    corners = np.arange(30).reshape(-1, 3)
    index = corners[:, [0, 1, 1, 2, 0, 2]].reshape(-1, 2)
    X, _ = blobs(30)
    ones = np.ones(len(index))
    problem = Problem(X, index, ones, 0 * ones, None, 2, joint=True)
    folds = deal_folds(Pairs(X, index), 5, 2, np.random.RandomState(0), problem)
    assert len(folds.tested) == 2 * len(index)
    assert not len(folds.points)
    assert folds.hidden[index[folds.tested], folds.model[:, None]].all()
    assert not folds.trained_on[folds.tested, folds.model].any()


@pytest.mark.parametrize("certain", [False, True])
def test_a_hidden_point_has_no_say(certain):
    # What a model of a fold learns does not depend on the features of its points.
    X, y = blobs(40)
    pairs = Pairs(X, connected("chain", 40, None))
    t = pairs.answers(y)
    ones = np.ones(39)
    made = []
    for shift in (0.0, 5.0):
        moved = X.copy()
        moved[7] += shift
        problem = Problem(
            moved, pairs.index, ones * (t > 0), ones * (t < 0), None, 2, True,
            certain=certain,
        )  # fmt: skip
        hidden = np.zeros((40, 1), dtype=bool)
        hidden[7] = True
        seen = ~(pairs.index == 7).any(axis=1)[:, None]
        likelihood = problem.likelihood(CERTAIN, seen, hidden)
        value, slope = likelihood((moved @ [1.0, 0.5])[:, None], np.zeros(1, int))
        made.append((value, slope))
        assert slope[7, 0] == 0
    np.testing.assert_allclose(made[0][0], made[1][0], atol=1e-12)
    np.testing.assert_allclose(made[0][1], made[1][1], atol=1e-12)


def test_what_answers_say_of_a_hidden_point():
    index = np.array([[0, 1], [1, 2]])
    graph = Components(index, 3, 2)
    same = np.array([[1.0], [0.0]])
    tables = graph.tables(Answers(same, 1 - same), CERTAIN)
    f = np.array([3.0, 0.0, -2.0])
    log_p = np.stack([log_expit(-f), log_expit(f)])[:, :, None]
    said = graph(log_p, tables).points[1, 1, 0]
    # 1 is like 0 and unlike 2: the log-odds add up.
    assert said == pytest.approx(expit(5.0), abs=1e-3)


@pytest.mark.usefixtures("quick")
def test_the_certificate_of_a_star_counts_points():
    true, claimed, covered = [], [], 0
    for seed in range(8):
        X, y = blobs(2000, seed=seed, spread=0.8)
        pairs = Pairs(X[:100], connected("star", 100, None))
        clf = PairClassifier(noise=None, random_state=0).fit(
            pairs, pairs.answers(y[:100])
        )
        true.append(clustering_error(y[100:], clf.predict(X[100:])))
        claimed.append(clf.certificate_.clustering_error)
        low, high = clf.certificate_.clustering_interval
        covered += low <= true[-1] <= high
    assert np.mean(claimed) == pytest.approx(np.mean(true), abs=0.03)
    assert covered >= 6


@pytest.mark.usefixtures("quick")
def test_three_kinds_in_a_chain():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=300)
    X = rng.normal(size=(300, 2)) + 5 * np.eye(3)[y][:, :2]
    index = np.concatenate([connected("chain", 150, rng), connected("tree", 150, rng)])
    pairs = Pairs(X[:150], index)
    clf = PairClassifier(n_classes=3, random_state=0).fit(pairs, pairs.answers(y[:150]))
    assert clustering_error(y, clf.predict(X)) < 0.05


@pytest.mark.parametrize("model", [MCLClassifier, PairClassifier])
def test_an_unknown_likelihood(model):
    X, y = blobs(20)
    pairs = Pairs(X, np.arange(20).reshape(-1, 2))
    with pytest.raises(ValueError, match="likelihood"):
        model(likelihood="triple").fit(pairs, pairs.answers(y))


def test_starts_count_pairs_of_a_component_and_no_point_with_itself():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(9, 4)), rng.choice([-1, 1], 9)
    # A triangle, a chain of four, a pair that shares no point.
    index = np.array([[0, 1], [1, 2], [0, 2], [3, 4], [4, 5], [5, 6], [7, 8]])
    t = np.where(y[index[:, 0]] == y[index[:, 1]], 1.0, -1.0)
    same, different = (1 + t) / 2, (1 - t) / 2
    problem = Problem(X, index, same, different, None, 2, True)
    hidden = np.zeros((9, 2), dtype=bool)
    hidden[4, 1] = True
    likelihood = problem.likelihood(CERTAIN, np.ones((7, 2), dtype=bool), hidden)
    for model in range(2):
        expected = np.zeros((4, 4))
        for points in ([0, 1, 2], [3, 4, 5, 6], [7, 8]):
            seen = [i for i in points if not hidden[i, model]]
            for i, j in itertools.combinations(seen, 2):
                one = y[i] * y[j] * np.outer(X[i], X[j])
                expected += 2 / len(seen) * (one + one.T)
        moment = likelihood.moment(X, model)
        # Certain answers count as wrong once in ten thousand.
        np.testing.assert_allclose(moment, expected, atol=0.01)


@pytest.mark.parametrize("case", ["right", "contradictory", "unsure", "itself"])
def test_answers_that_are_said_to_be_right(case):
    """They are taken as that where they can be: to the digits of 1 - 1e-4."""
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(8, 3)), rng.choice([-1, 1], 8)
    index = np.array([[0, 1], [1, 2], [0, 2], [2, 3], [4, 5], [5, 5], [6, 7]])
    t = (y[index[:, 0]] * y[index[:, 1]]).astype(float)
    if case == "contradictory":
        t[2] *= -1
    if case == "unsure":
        t[3] = 0.4
    if case == "itself":
        t[5] = -1
    problem = Problem(X, index, (1 + t) / 2, (1 - t) / 2, None, 2, True)
    hidden = np.zeros((8, 2), dtype=bool)
    hidden[2, 1] = True
    given = CERTAIN, np.ones((7, 2), dtype=bool), hidden
    scores, models = rng.normal(size=(8, 2)), np.array([0, 1])
    plain = problem.likelihood(*given)
    certain = replace(problem, certain=True).likelihood(*given)
    found, expected = certain(scores, models), plain(scores, models)
    exact = {"rtol": 0.0, "atol": 2e-3 if case == "right" else 1e-12}
    np.testing.assert_allclose(found[0], expected[0], **exact)
    np.testing.assert_allclose(found[1], expected[1], **exact)
    np.testing.assert_allclose(
        certain.marginals(scores, models), plain.marginals(scores, models), **exact
    )
    assert (np.abs(found[0] - expected[0]).max() > 0) == (case == "right")


@pytest.mark.usefixtures("quick")
def test_one_wrong_answer_does_not_turn_a_chain():
    """Answers that nobody called right may each be wrong, if all else says so."""
    X, y = blobs(400, spread=0.8)
    pairs = Pairs(X[:80], connected("chain", 80, None))
    t = pairs.answers(y[:80])
    t[40] *= -1
    wrong = [
        clustering_error(
            y, PairClassifier(noise=noise, random_state=0).fit(pairs, t).predict(X)
        )
        for noise in ("auto", None)
    ]
    assert wrong[0] < 0.2
    # Who says that all are right is believed.
    assert wrong[1] > 0.3
