"""Data made by formulas, and pairs made of data."""

import os

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import kstest, norm

from pairlearn.datasets import (
    even_odd,
    link_pairs,
    load_waveform,
    make_gaussians,
    make_waveform,
    with_prior,
)


class TestWaveform:
    def test_moments_by_the_formula(self):
        X, y = make_waveform(60_000, positive=None, random_state=0)
        waves = {
            peak: np.maximum(6 - np.abs(np.arange(1, 22) - peak), 0)
            for peak in (7, 11, 15)
        }
        for label, (p, q) in enumerate([(7, 15), (7, 11), (11, 15)]):
            points = X[y == label]
            assert len(points) == pytest.approx(20_000, abs=500)
            mean = (waves[p] + waves[q]) / 2
            # u (w_p - w_q) has the variance (w_p - w_q)^2 / 12; the noise has 1.
            variance = (waves[p] - waves[q]) ** 2 / 12 + 1
            error = np.sqrt(variance / len(points))
            assert np.all(np.abs(points.mean(axis=0) - mean) < 5 * error)
            np.testing.assert_allclose(points.var(axis=0), variance, rtol=0.06)

    @pytest.mark.skipif(
        not os.environ.get("PAIRLEARN_DATA"),
        reason="needs the data files: set PAIRLEARN_DATA to their folder",
    )
    def test_moments_of_the_real_file(self):
        real = load_waveform(positive=None)
        X, y = make_waveform(60_000, positive=None, random_state=1)
        for label in range(3):
            drawn, kept = X[y == label], real.data[real.target == label]
            error = np.sqrt(kept.var(axis=0) / len(kept))
            difference = np.abs(drawn.mean(axis=0) - kept.mean(axis=0))
            assert np.all(difference < 5 * error)
            # A sample variance of n normal points has the relative error sqrt(2 / n).
            np.testing.assert_allclose(
                drawn.var(axis=0), kept.var(axis=0), rtol=5 * np.sqrt(2 / len(kept))
            )

    def test_binary_and_reproducible(self):
        X, classes = make_waveform(50, positive=None, random_state=3)
        for positive in range(3):
            again, y = make_waveform(50, positive=positive, random_state=3)
            np.testing.assert_array_equal(X, again)
            np.testing.assert_array_equal(y == 1, classes == positive)
            assert set(y) == {-1, 1}

    def test_refusals(self):
        with pytest.raises(ValueError, match="n_points"):
            make_waveform(0)
        with pytest.raises(ValueError, match="positive"):
            make_waveform(5, positive=3)


class TestGaussians:
    def test_the_paper_s(self):
        X, y = make_gaussians(40_000, 0.4, random_state=0)
        assert X.shape == (40_000, 1)
        assert np.mean(y == 1) == pytest.approx(0.4, abs=0.01)
        assert kstest(X[y == 1, 0], norm(1, 1).cdf).pvalue > 0.001
        assert kstest(X[y == -1, 0], norm(-1, 2).cdf).pvalue > 0.001

    def test_others(self):
        X, y = make_gaussians(
            20_000, 0.9, means=(5, 0), scales=(0.5, 3), random_state=0
        )
        assert kstest(X[y == 1, 0], norm(5, 0.5).cdf).pvalue > 0.001
        assert kstest(X[y == -1, 0], norm(0, 3).cdf).pvalue > 0.001

    def test_refusals(self):
        with pytest.raises(ValueError, match="n_points"):
            make_gaussians(-1, 0.5)
        with pytest.raises(ValueError, match="prior"):
            make_gaussians(5, 1.5)
        with pytest.raises(ValueError, match="scales"):
            make_gaussians(5, 0.5, scales=(1, 0))


class TestEvenOdd:
    def test_sign(self):
        assert even_odd(np.arange(10, dtype=np.uint8)).tolist() == [1, -1] * 5

    def test_only_whole_numbers(self):
        with pytest.raises(ValueError, match="integers"):
            even_odd([0.5])


class TestWithPrior:
    @pytest.mark.parametrize("prior", [1 / 7, 2 / 7, 0.5, 6 / 7])
    def test_exact_shares_of_distinct_points(self, prior):
        y = np.repeat([1, -1], [500, 700])
        rows = with_prior(y, 400, prior, random_state=0)
        assert len(np.unique(rows)) == 400
        assert (y[rows] == 1).sum() == round(prior * 400)
        np.testing.assert_array_equal(rows, with_prior(y, 400, prior, random_state=0))

    def test_order_is_random(self):
        y = np.repeat([1, -1], 500)
        rows = with_prior(y, 400, 0.5, random_state=0)
        assert 60 < (y[rows[:200]] == 1).sum() < 140

    def test_too_few(self):
        y = np.repeat([1, -1], [10, 700])
        with pytest.raises(ValueError, match=r"need 50 of class \+1, but there are 10"):
            with_prior(y, 100, 0.5)
        with pytest.raises(ValueError, match=r"90 of class -1, but there are 10"):
            with_prior(-y, 100, 0.1)

    def test_refusals(self):
        with pytest.raises(ValueError, match="even_odd"):
            with_prior(np.arange(10), 4, 0.5)
        with pytest.raises(ValueError, match="prior"):
            with_prior([1, -1], 2, 1.0)


class TestLinkPairs:
    rng = np.random.default_rng(0)
    links = rng.integers(200, size=(600, 2))
    X = sparse.random(200, 5, density=0.5, format="csr", random_state=0)

    @pytest.mark.parametrize(
        "nodes", [None, np.arange(50, 200), np.arange(200) % 3 > 0]
    )
    def test_links_are_similar_and_as_many_others_dissimilar(self, nodes):
        pairs, t = link_pairs(self.X, self.links, nodes=nodes, random_state=0)
        known = np.arange(200) if nodes is None else np.arange(200)[nodes]
        linked = {
            tuple(sorted(link))
            for link in self.links.tolist()
            if link[0] != link[1] and set(link) <= set(known.tolist())
        }
        similar = set(map(tuple, pairs[t == 1].index.tolist()))
        different = set(map(tuple, pairs[t == -1].index.tolist()))
        assert similar == linked
        assert len(different) == (t == -1).sum() == len(linked)
        assert not different & linked
        assert all(i < j for i, j in different)
        assert np.isin(pairs.index, known).all()
        assert pairs.X is self.X

    def test_couples_without_a_link_are_uniform(self):
        links = [[0, 1], [2, 3], [4, 5]]
        counts = np.zeros((6, 6))
        for seed in range(600):
            pairs, t = link_pairs(np.zeros((6, 1)), links, random_state=seed)
            left, right = pairs[t == -1].index.T
            counts[left, right] += 1
        free = counts[counts > 0]
        assert len(free) == 12  # all 15 couples but the linked three
        np.testing.assert_allclose(free, 150, atol=60)

    def test_random_order_and_seed(self):
        pairs, t = link_pairs(self.X, self.links, random_state=0)
        again, t_again = link_pairs(self.X, self.links, random_state=0)
        np.testing.assert_array_equal(pairs.index, again.index)
        np.testing.assert_array_equal(t, t_again)
        half = len(t) // 2
        assert abs(t[:half].sum()) < 0.2 * half

    def test_refusals(self):
        X = np.zeros((4, 1))
        with pytest.raises(ValueError, match="no link joins"):
            link_pairs(X, [[1, 1], [0, 3]], nodes=[0, 1, 2])
        with pytest.raises(ValueError, match="choose more nodes"):
            link_pairs(X, [[0, 1], [0, 2], [1, 2], [0, 3]])
        with pytest.raises(ValueError, match="0 to 3"):
            link_pairs(X, [[0, 4]])
        with pytest.raises(ValueError, match="between 0 and 3"):
            link_pairs(X, [[0, 1]], nodes=[0, 4])
        with pytest.raises(ValueError, match="one entry per point"):
            link_pairs(X, [[0, 1]], nodes=[True, False])
        with pytest.raises(ValueError, match="row numbers, or a mask"):
            link_pairs(X, [[0, 1]], nodes=[0.5, 1])


@pytest.mark.parametrize("wrong", [-3, 0, 2.5, "a"])
def test_a_number_of_points_that_is_none(wrong):
    with pytest.raises(ValueError, match="n_points must be a whole number"):
        with_prior([1, -1, 1, -1], wrong, prior=0.5)


def test_no_digits_are_no_classes():
    assert even_odd([]).shape == (0,)
