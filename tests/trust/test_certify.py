"""Pairs kept aside for a certificate share no point with those that train."""

import numpy as np
import pytest

import pairlearn
from pairlearn.data.pairs import as_pairs
from pairlearn.trust.kept_pairs import keep_aside
from pairlearn.trust.known_points import equal_rows_once


class TestKeepAside:
    def pairs(self, index, n_points=400):
        return pairlearn.Pairs(np.zeros((n_points, 1)), index)

    def test_no_point_is_on_both_sides(self):
        rng = np.random.RandomState(0)
        index = rng.randint(400, size=(300, 2))
        index = index[index[:, 0] != index[:, 1]]
        pairs = self.pairs(index)
        t = rng.choice([-1.0, 1.0], len(index))
        trained, kept = keep_aside(pairs, t, 0.2, rng)
        assert 40 <= len(kept) <= 60
        assert len(trained) >= 0.7 * len(pairs)
        assert pairs[kept].is_disjoint()
        assert not set(pairs[kept].used_points()) & set(pairs[trained].used_points())

    def test_pairs_that_share_no_point_are_all_used(self):
        rng = np.random.RandomState(0)
        pairs = self.pairs(rng.permutation(400).reshape(-1, 2))
        t = rng.choice([-1.0, 1.0], 200)
        trained, kept = keep_aside(pairs, t, 0.25, rng)
        assert (len(trained), len(kept)) == (150, 50)

    def test_dense_pairs_still_leave_a_certificate(self):
        rng = np.random.RandomState(0)
        index = rng.randint(570, size=(1000, 2))
        pairs = self.pairs(index[index[:, 0] != index[:, 1]], 570)
        t = rng.choice([-1.0, 1.0], len(pairs))
        trained, kept = keep_aside(pairs, t, 0.2, rng)
        assert len(kept) >= 50
        assert len(trained) >= 0.7 * len(pairs)
        assert not set(pairs[kept].used_points()) & set(pairs[trained].used_points())

    @pytest.mark.parametrize("share", [0.0, 0.2])
    def test_where_none_can_be_kept_all_train(self, share):
        rng = np.random.RandomState(0)
        star = np.stack([np.zeros(200, int), np.arange(1, 201)], axis=1)
        t = rng.choice([-1.0, 1.0], 200)
        trained, kept = keep_aside(self.pairs(star), t, share, rng)
        assert (len(trained), len(kept)) == (200, 0)

    def test_groups_are_kept_whatever_their_size(self):
        """Half of the rows are of things with ten rows: they are tested, too."""
        rng = np.random.RandomState(0)
        group = np.concatenate([np.arange(2000), 2000 + np.arange(2000) // 10])
        pairs = self.pairs(rng.permutation(4000).reshape(-1, 2), 4000)
        t = rng.choice([-1.0, 1.0], 2000)
        _, kept = keep_aside(pairs, t, 0.2, rng, group)
        share = np.mean(group[pairs.index[kept]] >= 2000)
        assert len(kept) >= 20
        assert share > 0.25


class FirstColumn:
    def predict(self, X):
        return np.asarray(X)[:, 0]


class TestPairsThatSharePoints:
    """What all pairs say counts, too."""

    def points(self, *says):
        return np.stack([says, np.arange(len(says))], axis=1).astype(float)

    def test_shares_that_are_rounded_up(self):
        pairs = pairlearn.Pairs(self.points(*[0] * 6), [[0, 1], [2, 3], [4, 5]] * 2)
        with pytest.warns(UserWarning, match="share a point"):
            found = pairlearn.certify(FirstColumn(), pairs, [-1, -1, -1, 0, 0, 0])
        assert found.n_pairs == 3

    def test_pairs_within_a_group_say_nothing(self):
        """However many there are: they are always of one kind."""
        n = 100
        thing = np.concatenate([np.arange(2 * n), np.zeros(600, dtype=int)])
        pairs = pairlearn.Pairs(
            self.points(*[0.0] * len(thing)), np.arange(len(thing)).reshape(-1, 2)
        )
        t = np.append(np.tile([-1, -1, 1, 1, 1], n // 5), np.ones(300))
        with pytest.warns(UserWarning, match="share a group"):
            found = pairlearn.certify(FirstColumn(), pairs, t, groups=thing)
        alone = pairlearn.certify(FirstColumn(), pairs[:n], t[:n])
        assert found.clustering_interval == alone.clustering_interval

    def test_frequent_things_count_at_all_looks_too(self):
        """A thing in half of the pairs, and wrong: nearly all pairs are left out."""
        hub = np.stack([np.zeros(60, dtype=int), np.arange(1, 61)], axis=1)
        others = np.arange(61, 181).reshape(-1, 2)
        pairs = pairlearn.Pairs(
            self.points(1.0, *[0.0] * 180), np.concatenate([hub, others])
        )
        with pytest.warns(UserWarning, match="share a point"):
            found = pairlearn.certify(FirstColumn(), pairs, np.ones(120), anytime=True)
        # A quarter of all points drawn is the hub, about which the classifier is wrong.
        assert found.anytime
        assert found.clustering_interval[1] > 0.25

    def test_equal_rows_keep_their_order_at_all_looks(self):
        """What counts as new at an early look still does at a later one."""
        rng = np.random.default_rng(0)
        X = np.round(rng.normal(size=(200, 2, 1)), 1)
        kept = [
            equal_rows_once(as_pairs(X[:n]).compact(), in_order=True) for n in (50, 200)
        ]
        np.testing.assert_array_equal(kept[0], kept[1][:50])

    def test_equal_texts_are_noticed(self):
        words = np.array([["a", "x"], ["a", "z"], ["a", "y"], ["c", "x"]], dtype=object)

        class First:
            def predict(self, X):
                return np.asarray(X)[:, 0] == "a"

        pairs = np.tile(words.reshape(2, 2, 2), (10, 1, 1))
        with pytest.warns(UserWarning, match="or one of another pair"):
            found = pairlearn.certify(First(), pairs, np.tile([1, -1], 10))
        assert (found.n_pairs, found.n_doubtful) == (2, 18)
