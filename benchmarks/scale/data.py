r"""The task of all parts: two Gaussian classes whose best error is known.

.. math:: x = y \mu + L z + \tfrac{1}{2} g 1, \qquad (L z)_j = z_j + z_{j-1} / 2,

with z and g standard normal and P(y = +1) = 0.6. The length of mu is such that the best
classifier errs at 10 %. Points come in blocks, each drawn by its own generator into an
array that is already there: any part of any size can be made again, without a copy.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from pairlearn import Pairs

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

PRIOR, BAYES_ERROR = 0.6, 0.1
NEIGHBOUR = COMMON = 0.5
BLOCK = 4096
# Far from any training block, so that no test point is a training point.
TEST_BLOCK = 10_000_000
N_TEST = 200_000
# Points of a fit that comes before one whose memory is measured.
WARM = 8_000


def error_at(half: float) -> float:
    """Return the best error when the means lie 2 `half` standard deviations apart."""
    shift = np.log(PRIOR / (1 - PRIOR)) / (2 * half)
    missed = PRIOR * norm.cdf(-half - shift), (1 - PRIOR) * norm.cdf(-half + shift)
    return float(sum(missed))


class Task:
    """Points, labels and pairs of one number of features.

    Parameters
    ----------
    n_features : int
        Number of features.
    """

    def __init__(self, n_features: int) -> None:
        self.n_features = n_features
        direction = np.random.default_rng(n_features).normal(size=n_features)
        mixing = np.eye(n_features) + NEIGHBOUR * np.eye(n_features, k=-1)
        covariance = mixing @ mixing.T + COMMON**2
        length = np.sqrt(direction @ np.linalg.solve(covariance, direction))
        half = brentq(lambda h: error_at(h) - BAYES_ERROR, 0.1, 10)
        self.mean = direction * half / length

    def fill(self, X: np.ndarray, y: np.ndarray, block: int) -> None:
        """Draw a block of points and labels into arrays."""
        rng = np.random.default_rng([self.n_features, block])
        y[:] = np.where(rng.random(len(y)) < PRIOR, 1, -1)
        common = rng.standard_normal((len(y), 1), dtype=X.dtype)
        rng.standard_normal(out=X, dtype=X.dtype)
        X[:, 1:] += X.dtype.type(NEIGHBOUR) * X[:, :-1]
        X += X.dtype.type(COMMON) * common
        mean = self.mean.astype(X.dtype)
        X[y > 0] += mean
        X[y < 0] -= mean

    def points(
        self, n: int, dtype: DTypeLike = np.float64, first: int = 0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return n points and their labels, from the block of number `first` on."""
        X, y = np.empty((n, self.n_features), dtype), np.empty(n, np.int8)

        def fill(start: int) -> None:
            rows = slice(start, start + BLOCK)
            self.fill(X[rows], y[rows], first + start // BLOCK)

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(fill, range(0, n, BLOCK)))
        return X, y

    def test_points(
        self, n: int = N_TEST, dtype: DTypeLike = np.float64
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return points that no training block holds."""
        return self.points(n, dtype, first=TEST_BLOCK)


def fresh(n_pairs: int) -> np.ndarray:
    """Pair neighbours: every point is in one pair."""
    return np.arange(2 * n_pairs).reshape(n_pairs, 2)


def indexed(n_points: int, n_pairs: int) -> np.ndarray:
    """Pair points at random, each point with as many others as the next one."""
    rng = np.random.default_rng(n_points)
    index = np.empty((n_pairs, 2), np.intp)
    for start in range(0, n_pairs, n_points):
        rows = index[start : start + n_points]
        rows[:, 0] = rng.permutation(n_points)[: len(rows)]
    index[:, 1] = (index[:, 0] + rng.integers(1, n_points, n_pairs)) % n_points
    return index


def answered(X: np.ndarray, y: np.ndarray, index: np.ndarray) -> tuple[Pairs, ...]:
    """Return the pairs and the answers that the labels imply."""
    t = np.empty(len(index))
    np.multiply(y[index[:, 0]], y[index[:, 1]], out=t)
    return Pairs(X, index), t
