"""Strategies of asking, against small independent computations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pairlearn import PairClassifier, Pairs
from pairlearn.ask import outlook, strategies
from pairlearn.ask.question import AT_RANDOM, TO_LEARN
from pairlearn.ask.scores import Scores, embed, score_candidates
from pairlearn.ask.strategies import (
    STRATEGIES,
    Explore,
    Informative,
    Mixed,
    NoCandidateLeftError,
    Random,
    Uncertain,
    View,
)

NOTHING = np.zeros(0, dtype=np.intp)


def make_view(n=60, d=4, n_classes=2, asked=(3, 8, 20, 41), learned=2, seed=0):
    """Return a view with random features and probabilities."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, d))
    proba = rng.dirichlet(np.ones(n_classes), size=n)
    asked = np.array(asked, dtype=np.intp)
    scores = Scores.of(proba, Z, asked[:learned])
    return View(Z, scores, asked, learned, learned, n_classes, np.random.default_rng(1))


def afresh(view, seed=1):
    """Return the view with a new generator."""
    return replace(view, rng=np.random.default_rng(seed))


def variances(Z, points, noise):
    """Return the posterior covariance of scores by the textbook formula of a GP."""
    K = Z @ Z.T
    if not len(points):
        return K
    middle = K[np.ix_(points, points)] + np.diag(noise)
    return K - K[:, points] @ np.linalg.solve(middle, K[points])


def slow_gains(view):
    """Return by how much each answer lowers the variance of all probabilities."""
    proba, Z = view.scores.proba, view.Z
    w = (1 - (proba**2).sum(axis=1)) / 2
    points = list(view.asked)
    learned = set(view.scores.answered)
    noise = [1 / (max(w[i], 0.02) if i in learned else w[i]) for i in points]
    total = (w**2) @ np.diag(variances(Z, points, noise))
    gains = []
    for x in range(len(Z)):
        after = variances(Z, [*points, x], [*noise, 1 / w[x]])
        gains.append(total - (w**2) @ np.diag(after))
    return np.array(gains)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("learned", [0, 2, 4])
def test_gains_are_what_an_answer_takes_from_the_variance(n_classes, learned):
    view = make_view(n_classes=n_classes, learned=learned)
    slow = slow_gains(view)
    fast = view.scores.gains(view.Z, np.arange(60), view.out)
    np.testing.assert_allclose(fast, slow, rtol=1e-8)


def test_informative_takes_the_largest_gain():
    view = make_view()
    gains = slow_gains(view)
    gains[view.asked] = -np.inf
    assert Informative().choose(view) == gains.argmax()


@pytest.mark.parametrize("early", [2, 30])
def test_late_questions_prefer_points_that_the_model_doubts(monkeypatch, early):
    view = make_view()
    monkeypatch.setattr("pairlearn.ask.scores.LATE", 2)
    monkeypatch.setattr(outlook, "_ONE_BY_ONE", early)
    w = (1 - (view.scores.proba**2).sum(axis=1)) / 2
    tilted = slow_gains(view) * w
    found = view.scores.gains(view.Z, np.arange(60), view.out)
    np.testing.assert_allclose(found, tilted, rtol=1e-8)
    tilted[view.asked] = -np.inf
    assert Informative().choose(view) == tilted.argmax()


def test_questions_are_late_once_a_hundred_points_are_known():
    rng = np.random.default_rng(0)
    Z, proba = rng.normal(size=(120, 4)), rng.dirichlet(np.ones(2), size=120)
    early = Scores.of(proba, Z, np.arange(99))
    late = Scores.of(proba, Z, np.arange(100))
    one = np.ones(120)
    expected = early.gain(one, one, np.arange(120)) * late.weight
    np.testing.assert_allclose(late.gain(one, one, np.arange(120)), expected)


def test_informative_avoids_what_is_out():
    # Two copies of everything: while one is out, its copy is not asked about.
    Z = np.tile(5 * np.random.default_rng(0).normal(size=(20, 3)), (2, 1))
    view = View(Z, None, NOTHING, 0, 0, 2, np.random.default_rng(0))
    first = Informative().choose(view)
    second = Informative().choose(replace(view, asked=np.array([first])))
    assert second % 20 != first % 20


def test_questions_out_are_counted_whenever_they_were_asked():
    # The second question was out already when the model learned from the others.
    view = make_view(learned=4)
    scores = Scores.of(view.scores.proba, view.Z, view.asked[[0, 2, 3]])
    view = replace(view, scores=scores)
    np.testing.assert_array_equal(view.out, view.asked[[1]])


def test_no_model_is_like_every_class_as_likely():
    view = make_view()
    bare = replace(view, scores=None)
    prior = replace(view, scores=Scores.before(view.Z, 2))
    assert Informative().choose(bare) == Informative().choose(prior)
    np.testing.assert_array_equal(bare.out, view.asked)


def test_informative_with_a_shortlist(monkeypatch):
    view = make_view()
    whole = Informative().choose(view)
    monkeypatch.setattr(outlook, "_SHORTLIST", 20)
    monkeypatch.setattr(outlook, "_ONE_BY_ONE", 10)
    assert Informative().choose(view) == whole


@pytest.mark.parametrize("n_classes", [2, 3])
def test_uncertain_takes_the_smallest_margin(n_classes):
    view = make_view(n_classes=n_classes)
    ordered = np.sort(view.scores.proba, axis=1)
    margin = ordered[:, -1] - ordered[:, -2]
    margin[view.asked] = np.inf
    assert Uncertain().choose(view) == margin.argmin()


def test_uncertain_explores_before_there_is_a_model():
    view = make_view()
    chosen = Explore().choose(afresh(view))
    for scores in (None, Scores.before(view.Z, 2)):
        assert Uncertain().choose(replace(afresh(view), scores=scores)) == chosen


def test_explore_lowers_the_sum_of_squared_distances_most():
    view = make_view()
    sums = []
    for x in range(60):
        centres = view.Z[[*view.asked, x]]
        distance = ((view.Z[:, None] - centres) ** 2).sum(axis=2)
        sums.append(distance.min(axis=1).sum())
    free = np.setdiff1d(np.arange(60), view.asked)
    assert Explore().choose(view) == free[np.argmin(np.array(sums)[free])]


def test_explore_visits_every_cluster_first():
    rng = np.random.default_rng(0)
    centres = 20 * np.eye(6)
    Z = np.repeat(centres, 30, axis=0) + rng.normal(size=(180, 6))
    asked = NOTHING
    for _ in range(6):
        chosen = Explore().choose(View(Z, None, asked, 0, 0, 2, rng))
        asked = np.append(asked, chosen)
    assert len(set(asked // 30)) == 6


def test_mixed_is_random_as_often_as_it_says():
    view = make_view()
    informative = Informative().choose(view)
    others = [Mixed(0.25).choose(afresh(view, seed)) for seed in range(400)]
    assert 0.17 < np.mean(np.array(others) != informative) < 0.33
    assert Mixed(0.0).choose(view) == informative


@pytest.mark.parametrize(("n_asked", "reason"), [(99, AT_RANDOM), (100, TO_LEARN)])
def test_after_a_hundred_points_nothing_is_asked_at_random(n_asked, reason):
    view = make_view(n=120, asked=range(n_asked), learned=n_asked)
    assert Mixed(1.0).pick(view)[1] == reason


@pytest.mark.parametrize("name", STRATEGIES)
def test_same_view_same_choice(name):
    view, strategy = make_view(n=3000), STRATEGIES[name]()
    chosen = strategy.choose(afresh(view))
    strategy.choose(make_view(seed=5))
    assert strategy.choose(afresh(view)) == chosen
    assert isinstance(chosen, int)


@pytest.mark.parametrize("name", ["uncertain", "informative"])
def test_order_and_names_do_not_matter(name):
    view, strategy = make_view(n_classes=3), STRATEGIES[name]()
    chosen = strategy.choose(view)
    # Candidates in another order, and features turned.
    order = np.random.default_rng(2).permutation(60)
    place = np.argsort(order)
    turn = np.linalg.qr(np.random.default_rng(3).normal(size=(4, 4)))[0]
    proba = view.scores.proba[order][:, [2, 0, 1]]
    Z, asked = view.Z[order] @ turn, place[view.asked]
    other = replace(view, Z=Z, asked=asked, scores=Scores.of(proba, Z, asked[:2]))
    assert order[strategy.choose(other)] == chosen


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("modelled", [False, True])
def test_nothing_is_asked_twice_until_all_is(name, modelled):
    view, strategy = make_view(n=25, asked=(3, 8)), STRATEGIES[name]()
    view = view if modelled else replace(view, scores=None)
    while len(view.asked) < 25:
        chosen = strategy.choose(afresh(view, len(view.asked)))
        assert chosen not in view.asked
        view = replace(view, asked=np.append(view.asked, chosen))
    with pytest.raises(NoCandidateLeftError, match="all 25 candidates"):
        strategy.choose(view)


def test_random_is_uniform():
    view = make_view(n=6, asked=(1, 4))
    chosen = [Random().choose(afresh(view, seed)) for seed in range(400)]
    counts = np.bincount(chosen, minlength=6)
    assert counts[[1, 4]].sum() == 0
    assert counts[[0, 2, 3, 5]].min() > 60


@pytest.mark.parametrize("name", STRATEGIES)
def test_many_candidates_cost_no_more_than_their_features(name, monkeypatch):
    """With 100,000 candidates, products with the questions out are of few rows."""
    n = 100_000
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(n, 3))
    scores = Scores.of(rng.dirichlet([1.0, 1.0], size=n), Z, np.arange(5))
    asked = np.arange(40)
    view = View(Z, scores, asked, 5, 5, 2, np.random.default_rng(1))
    sizes = []

    def let(self, place, real=outlook.Outlook._let):
        sizes.append(len(self._near))
        return real(self, place)

    def distances(X, Y, *, squared, real=strategies.euclidean_distances):
        sizes.append(len(X) * len(Y))
        return real(X, Y, squared=squared)

    monkeypatch.setattr(outlook.Outlook, "_let", let)
    monkeypatch.setattr(strategies, "euclidean_distances", distances)
    assert STRATEGIES[name]().choose(view) >= 40
    assert sum(sizes) <= 1_000_000


def test_extreme_probabilities_give_finite_gains():
    view = make_view()
    proba = np.zeros((60, 2))
    proba[:, 0] = 1.0
    scores = Scores.of(proba, view.Z, view.asked[:2])
    gains = scores.gains(view.Z, np.arange(60), view.asked[2:])
    assert np.all(np.isfinite(gains))
    assert np.all(gains >= 0)


def test_embed_gives_covariances_of_a_kernel():
    X = np.random.default_rng(0).normal(size=(80, 3))
    K = embed(X) @ embed(X).T
    # All points are landmarks, so the kernel is exact but for its centre.
    distance = np.diag(K)[:, None] + np.diag(K) - 2 * K
    taxi = np.abs(X[:, None] - X).sum(axis=2)
    assert np.corrcoef(distance.ravel(), taxi.ravel())[0, 1] > 0.9
    np.testing.assert_allclose(np.diag(K).mean(), 9 + 1)
    np.testing.assert_array_equal(embed(X), embed(X))


def test_embed_of_one_point_again_and_again():
    np.testing.assert_array_equal(embed(np.ones((5, 2))), np.ones((5, 1)))


def test_embed_uses_a_sample_of_many(monkeypatch):
    monkeypatch.setattr("pairlearn.ask.scores._SAMPLE", 50)
    X = np.random.default_rng(0).normal(size=(200, 3))
    Z = embed(X, 20)
    assert Z.shape == (200, 21)


def test_an_interview_in_short():
    """Chosen questions teach more than random ones do."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1300, 2))
    y = np.where(np.hypot(*X.T) < 1.2, 1, -1)
    X_test, y_test, X, y = X[300:], y[300:], X[:300], y[:300]
    errors = {}
    for strategy in (Informative(), Random()):
        Z, rows, scores = embed(X), [], None
        while len(rows) < 41:
            asked = np.array(rows, dtype=np.intp)
            known = NOTHING if scores is None else scores.answered
            number = np.random.default_rng([0, len(rows)])
            view = View(Z, scores, asked, len(known), len(rows), 2, number)
            rows.append(strategy.choose(view))
            if len(rows) in (11, 21, 31, 41):
                star = np.column_stack(
                    [np.zeros(len(rows) - 1, int), range(1, len(rows))]
                )
                pairs = Pairs(X[rows], star)
                model = PairClassifier(noise=None, random_state=0)
                model.fit(pairs, pairs.answers(y[rows]))
                scores = score_candidates(model, X, Z, np.array(rows))
        wrong = np.mean(model.predict(X_test) != y_test)
        errors[strategy.name] = min(wrong, 1 - wrong)
    assert errors["informative"] < 0.8 * errors["random"]


def test_where_nothing_is_left_no_candidate_is_weighed(monkeypatch):
    ahead = outlook.Outlook(Scores.before(np.eye(3), 2), np.eye(3))
    weighed = []
    monkeypatch.setattr(ahead, "_fold", weighed.append)
    for choose in (ahead.best, lambda asked: ahead.some(asked, None)):
        with pytest.raises(outlook.NoCandidateLeftError, match="all 3 candidates"):
            choose(np.arange(3))
    assert not weighed
