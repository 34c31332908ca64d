"""How LinkClassifier chooses alpha: the grid, the folds, the rule of one error."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.special import expit

from pairlearn import LinkClassifier
from pairlearn.models.base import Answered
from pairlearn.models.linear.links import ALPHAS, N_FOLDS
from tests.support.link_worlds import same_links


def test_alpha_is_one_of_the_grid(link_task):
    X, _, pairs, t = link_task
    clf = LinkClassifier(random_state=0).fit(pairs, t)
    mean_variance = X[np.unique(pairs.index)].var(axis=0).mean()
    assert np.isclose(clf.alpha_, mean_variance * np.array(ALPHAS)).sum() == 1
    assert list(ALPHAS) == sorted(ALPHAS, reverse=True)
    # The fit is that of a given strength.
    given = LinkClassifier(alpha=clf.alpha_, random_state=0).fit(pairs, t)
    same_links(clf, given, tol=1e-12)


def crafted(losses, monkeypatch, link_task):
    """Return the place in the grid that these losses, fold by strength, lead to."""
    _, _, pairs, t = link_task
    rows = iter(losses)

    def solve(self, given, similarity, alphas):  # noqa: ARG001
        row = next(rows)
        return [(SimpleNamespace(u=value), None) for value in row]

    monkeypatch.setattr(LinkClassifier, "_solve", solve)
    monkeypatch.setattr(LinkClassifier, "_loss", lambda *given: given[4])
    given = Answered(pairs, t, np.ones(len(t)))
    similarity = np.zeros(len(t))
    rng = np.random.RandomState(0)
    return LinkClassifier()._choose(given, similarity, list(range(8)), rng)


def test_the_strongest_within_one_standard_error_is_chosen(monkeypatch, link_task):
    mean = np.array([0.9, 0.8, 0.7, 0.55, 0.5335, 0.5, 0.51, 0.52])
    losses = np.tile(mean, (N_FOLDS, 1))
    losses[:, :5] += np.outer([-3, 3, 0, 2, -2], np.ones(5))  # of no matter
    assert crafted(losses, monkeypatch, link_task) == 5
    # One standard error of the best is 0.05 * 1.58 / sqrt(5) = 0.0354.
    losses[:, 5] += 0.05 * np.arange(-2, 3)
    assert crafted(losses, monkeypatch, link_task) == 4
    losses[:, 4] += 0.003
    assert crafted(losses, monkeypatch, link_task) == 5
    assert crafted(np.ones((N_FOLDS, 8)), monkeypatch, link_task) == 0


def spy(monkeypatch):
    """Record the pairs that strengths are judged by, and trained on."""
    trained, judged = [], []
    solve, loss = LinkClassifier._solve, LinkClassifier._loss

    def spied_solve(self, given, *rest):
        trained.append(given.pairs.index)
        return solve(self, given, *rest)

    def spied_loss(self, given, similarity, test, *rest):
        judged.append(given.pairs.index[test])
        return loss(self, given, similarity, test, *rest)

    monkeypatch.setattr(LinkClassifier, "_solve", spied_solve)
    monkeypatch.setattr(LinkClassifier, "_loss", spied_loss)
    return trained, judged


def test_the_folds_share_no_point(monkeypatch, link_task):
    _, _, pairs, t = link_task
    trained, judged = spy(monkeypatch)
    LinkClassifier(random_state=0).fit(pairs, t)
    assert len(trained) == N_FOLDS + 1
    assert len(judged) == N_FOLDS * len(ALPHAS)
    assert len(trained[-1]) == len(t)
    folds = judged[:: len(ALPHAS)]
    for one, other in zip(trained[:-1], folds, strict=True):
        assert len(other) >= 10
        assert len(one) > len(t) / 3
        assert not np.intersect1d(one, other).size
    every = np.concatenate([np.unique(fold) for fold in folds])
    assert len(every) == len(np.unique(every))


@pytest.mark.usefixtures("short_grid")
def test_the_seed_decides_the_folds(monkeypatch, link_task):
    _, _, pairs, t = link_task
    _, judged = spy(monkeypatch)
    models = [LinkClassifier(random_state=seed).fit(pairs, t) for seed in (3, 3, 4)]
    first, again, other = np.split(np.arange(len(judged)), 3)
    for a, b in zip(first, again, strict=True):
        assert_array_equal(judged[a], judged[b])
    assert not np.array_equal(judged[first[0]], judged[other[0]])
    assert_array_equal(models[0].coef_, models[1].coef_)
    assert models[0].link_odds_ == models[1].link_odds_


@pytest.mark.filterwarnings("ignore:the weights are almost zero")
def test_with_few_pairs_a_middling_strength(link_task):
    X, _, pairs, t = link_task
    few = np.r_[:20, 400:420]
    clf = LinkClassifier(random_state=0).fit(pairs[few], t[few])
    used = X[np.unique(pairs.index[few])]
    assert clf.alpha_ == pytest.approx(0.04 * used.var(axis=0).mean())
    # Also where only one kind is rare.
    rare = np.r_[:3, 400:800]
    clf = LinkClassifier(random_state=0).fit(pairs[rare], t[rare])
    used = X[np.unique(pairs.index[rare])]
    assert clf.alpha_ == pytest.approx(0.04 * used.var(axis=0).mean())


def test_held_out_links_and_couples_count_the_same(link_task):
    """Each kind by half, whatever their numbers; the penalty does not count."""
    _, _, pairs, t = link_task
    clf = LinkClassifier(similarity=None)
    given = Answered(pairs, t, np.ones(len(t)))
    none = np.zeros(len(t))
    ((solution, objective),) = clf._solve(given, none, [0.01])
    w, b = objective.weights(solution.u[:-3])
    p = expit(pairs.X @ w + b)
    p, q = p[pairs.left], p[pairs.right]
    g, h, _ = solution.u[-3:]
    same = p * q + (1 - p) * (1 - q)
    odds = np.exp(g) * same + np.exp(h) * (1 - same)
    each = np.where(t > 0, np.log1p(1 / odds), np.log1p(odds))
    test = np.r_[:30, 400:500]
    expected = each[:30].mean() / 2 + each[400:500].mean() / 2
    found = clf._loss(given, none, test, solution.u, objective)
    assert found == pytest.approx(expected)
