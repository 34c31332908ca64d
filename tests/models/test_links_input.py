"""LinkClassifier: weights of pairs, uneven numbers of links and couples, odd points."""

import numpy as np
import pytest

from pairlearn import LinkClassifier, Pairs


@pytest.fixture(scope="module")
def graph():
    """Points of two classes, a third of them positive, and links that favour one."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(1500) < 0.3, 1, -1)
    X = rng.normal(size=(1500, 3)) + np.outer(y > 0, [2.5, 0, 0])
    couples = rng.integers(1500, size=(12000, 2))
    couples = couples[couples[:, 0] != couples[:, 1]]
    same = y[couples[:, 0]] == y[couples[:, 1]]
    links = couples[rng.random(len(couples)) < np.where(same, 0.3, 0.03)]
    return X, y, links


def with_couples(graph, times):
    """Return the links with so many times as many random couples, and answers."""
    X, _, links = graph
    rng = np.random.default_rng(1)
    n = int(times * len(links))
    first = rng.integers(len(X), size=n)
    second = (first + rng.integers(1, len(X), size=n)) % len(X)
    index = np.concatenate([links, np.stack([first, second], axis=1)])
    return Pairs(X, index), np.repeat([1.0, -1.0], [len(links), n])


def test_a_pair_of_weight_zero_changes_nothing(graph):
    pairs, t = with_couples(graph, 1)
    far = np.array([[1e3, 0, 0], [-1e3, 0, 0]])
    n = pairs.n_points
    more = Pairs(np.concatenate([pairs.X, far]), [*pairs.index, (n, n + 1)])
    weight = np.append(np.ones(len(t)), 0.0)
    plain = LinkClassifier(random_state=0).fit(pairs, t)
    weighted = LinkClassifier(random_state=0).fit(more, [*t, 1], sample_weight=weight)
    assert weighted.alpha_ == plain.alpha_
    np.testing.assert_allclose(weighted.coef_, plain.coef_)
    np.testing.assert_allclose(weighted.link_odds_, plain.link_odds_)


def test_a_weight_of_two_is_a_pair_twice(graph):
    pairs, t = with_couples(graph, 1)
    weight = np.random.default_rng(2).integers(1, 4, len(t))
    twice = np.repeat(np.arange(len(t)), weight)
    clf = LinkClassifier(alpha=0.02, tol=1e-8)
    once = clf.fit(pairs, t, sample_weight=weight).similarity_weight_, clf.link_odds_[0]
    clf.fit(pairs[twice], t[twice])
    np.testing.assert_allclose(
        once, (clf.similarity_weight_, clf.link_odds_[0]), rtol=1e-5
    )


@pytest.mark.filterwarnings("ignore:the .* pairs for class assignment do not")
@pytest.mark.parametrize("times", [0.3, 1, 4])
def test_the_majority_is_found_whatever_the_share_of_couples(graph, times):
    X, y, _ = graph
    pairs, t = with_couples(graph, times)
    clf = LinkClassifier(similarity=None, alpha=0.01, majority=-1, random_state=0)
    clf.set_params(assignment_size=0.4).fit(pairs, t)
    assert np.mean(clf.predict(X) != y) < 0.25
    turned = LinkClassifier(similarity=None, alpha=0.01).fit(pairs, t)
    turned.assign_from_pairs(pairs, t, majority=-1)
    assert np.mean(turned.predict(X) != y) < 0.25


def test_couples_alone_do_not_tell_the_majority(graph):
    pairs, t = with_couples(graph, 1)
    clf = LinkClassifier(similarity=None, alpha=0.01).fit(pairs, t)
    with pytest.raises(ValueError, match="0 links"):
        clf.assign_from_pairs(pairs[t < 0], t[t < 0], majority=-1)


def test_a_penalty_that_leaves_nothing_is_told(graph):
    pairs, t = with_couples(graph, 1)
    with pytest.warns(UserWarning, match="almost zero"):
        LinkClassifier(alpha=1e3).fit(pairs, t)


def halves(n_features):
    """Return points of two equal classes, parted at zero, links and couples."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, n_features))
    drawn = rng.integers(600, size=(6000, 2))
    drawn = drawn[drawn[:, 0] != drawn[:, 1]]
    couples, drawn = drawn[:1000], drawn[1000:]
    alike = np.ptp((X[drawn, 0] > 0).astype(int), axis=1) == 0
    index = np.concatenate([drawn[alike][:1000], couples])
    return Pairs(X, index), np.repeat([1.0, -1.0], 1000)


@pytest.mark.parametrize("n_features", [1, 3])
def test_the_strength_is_chosen_though_the_strongest_leaves_nothing(n_features):
    # With classes of one size no weights at all are stationary; weaker penalties
    # must not begin there.
    pairs, t = halves(n_features)
    clf = LinkClassifier(random_state=0).fit(pairs, t)
    wrong = np.mean((clf.predict(pairs.X) > 0) != (pairs.X[:, 0] > 0))
    assert min(wrong, 1 - wrong) < 0.05
    assert clf.link_odds_[0] > clf.link_odds_[1]
