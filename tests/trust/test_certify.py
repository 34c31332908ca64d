"""Pairs kept aside for a certificate share no point with those that train."""

import numpy as np
import pytest

import pairlearn
from pairlearn.trust.certify import keep_aside


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
