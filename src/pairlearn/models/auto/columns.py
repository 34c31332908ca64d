"""Views of the columns: how a table is put before a kernel measures distances in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
from scipy import sparse

from pairlearn.system.threads import block_bounds

if TYPE_CHECKING:
    from numpy.random import RandomState

    from pairlearn.data.types import Floats, Ints, PointsLike

__all__ = ["VIEWS", "ColumnView", "View", "chunks"]

VIEWS = ("standard", "power")
# A sparse table with more entries than this stays sparse.
DENSE_ENTRIES = 20_000_000
# Points from which the exponents of the power view are estimated.
_SAMPLE = 500
# Points at a time, so that memory does not grow with the table.
_CHUNK = 4096
# No transformed value of a new point lies further out, in standard deviations.
FAR = 10.0
# Exponents and logarithms of sizes beyond these are cut off.
LEAST_EXPONENT, FARTHEST = 1e-6, 20.0


class View(Protocol):
    """How points are put before a kernel.

    Attributes
    ----------
    kind : str
        What it is called.
    """

    kind: str

    @property
    def stays_sparse(self) -> bool:
        """Whether the points in this view are sparse."""
        ...

    @property
    def bends(self) -> bool:
        """Whether any column is bent."""
        ...

    def transform(self, X: PointsLike) -> PointsLike:
        """Return the points in this view."""
        ...


class ColumnView:
    """Columns that have been centred and scaled, and perhaps bent.

    * "standard": every column has variance one. A rare indicator then weighs as much
      as a common one.
    * "power": a column of more than two values is bent by the Yeo-Johnson power that
      makes it most nearly normal, which tames heavy tails, and has a standard
      deviation of one half; a column of two values has them at distance one, so that
      a rare indicator weighs little.

    Both are the same whatever the units of a column. Constant columns are left out. A
    sparse table too large to be filled in stays sparse: its columns are scaled but not
    centred ("standard"), or left as they are ("power").

    Parameters
    ----------
    kind : {"standard", "power"}
        Which view.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.c_[np.exp(np.linspace(-3, 3, 201)), np.arange(201) % 2]
    >>> rng = np.random.RandomState(0)
    >>> bent = ColumnView("power").fit(X, rng).transform(X)
    >>> bent.std(axis=0).round(2), np.ptp(bent, axis=0).round(1)
    (array([0.5, 0.5]), array([1.5, 1. ]))
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def fit(self, X: PointsLike, rng: RandomState) -> Self:
        """Learn how to scale and bend the columns of these points."""
        n_points, n_features = X.shape
        self.stays_sparse = sparse.issparse(X) and n_points * n_features > DENSE_ENTRIES
        if self.stays_sparse:
            return self._fit_sparse(X)
        X = _filled(X)
        with np.errstate(over="ignore", invalid="ignore"):
            mean, spread = X.mean(axis=0), X.std(axis=0)
        if not np.isfinite(spread).all():
            raise ValueError(
                "the points hold numbers too large to be squared; scale the features"
            )
        # Below this the spread is rounding noise of the mean.
        self.kept = np.flatnonzero(spread > 1e-9 * np.abs(mean))
        self.centre, self.scale = mean[self.kept], spread[self.kept]
        self.bent: Ints = np.arange(0)
        if self.kind == "power" and len(self.kept):
            self._fit_power((X[:, self.kept] - self.centre) / self.scale, rng)
        return self

    def _fit_power(self, X: Floats, rng: RandomState) -> None:
        low, high = X.min(axis=0), X.max(axis=0)
        two_valued = np.all((low == X) | (high == X), axis=0)
        self.bent = np.flatnonzero(~two_valued)
        self.factor = np.where(two_valued, 1 / (high - low), 0.5)
        if not len(self.bent):
            return
        rows = rng.permutation(len(X))[:_SAMPLE]
        self.power = _powers(X[np.ix_(rows, self.bent)])
        bent = _bend(X[:, self.bent], self.power)
        self.middle = bent.mean(axis=0)
        # A column that is constant but for points outside the sample may vanish.
        self.spread = np.maximum(bent.std(axis=0), 1e-6)

    def _fit_sparse(self, X: Any) -> Self:
        square = np.asarray(X.multiply(X).mean(axis=0)).ravel()
        self.kept = np.flatnonzero(square > 0)
        root = np.sqrt(square[self.kept])
        self.scale = root if self.kind == "standard" else np.ones(len(root))
        return self

    @property
    def bends(self) -> bool:
        """Whether any column is bent: a column of more than two values, in "power"."""
        return not self.stays_sparse and len(self.bent) > 0

    def transform(self, X: PointsLike) -> PointsLike:
        """Return the points in this view."""
        if self.stays_sparse:
            return sparse.csr_array(
                X[:, self.kept] @ sparse.diags_array(1 / self.scale)
            )
        X = (_filled(X)[:, self.kept] - self.centre) / self.scale
        if self.kind == "standard" or not len(self.kept):
            return X
        if len(self.bent):
            bent = (_bend(X[:, self.bent], self.power) - self.middle) / self.spread
            X[:, self.bent] = np.clip(bent, -FAR, FAR)
        return X * self.factor


def chunks(X: PointsLike, most: int = _CHUNK) -> list[slice]:
    """Return slices of at most so many rows, small enough to be filled in."""
    n_points, n_features = X.shape
    size = max(1, min(most, DENSE_ENTRIES // max(1, n_features)))
    return [slice(begin, end) for begin, end in block_bounds(max(n_points, 1), size)]


def _bend(X: Floats, power: Floats) -> Floats:
    """Return the Yeo-Johnson transform: a power of 1 + x, and of 1 - x below zero.

    g(x) = ((1 + x)^a - 1) / a for x >= 0 and -((1 - x)^b - 1) / b below, with a the
    power and b = 2 - a; the logarithm where the exponent is zero. It is increasing, and
    smooth at zero.
    """
    exponent = np.where(X >= 0, power, 2 - power)
    tiny = np.abs(exponent) < LEAST_EXPONENT
    exponent = np.where(tiny, LEAST_EXPONENT, exponent)
    # Values of a standardised column beyond e^20 are clipped afterwards in any case.
    log_size = np.minimum(np.log1p(np.abs(X)), FARTHEST)
    return np.asarray(np.sign(X) * np.expm1(exponent * log_size) / exponent)


def _powers(X: Floats) -> Floats:
    """Return for each column the power that makes it most nearly normal.

    It maximises the likelihood of a normal law for the bent column,
    -(n/2) log var g(x) + (a - 1) sum of sign(x) log(1 + |x|), on a grid.
    """
    size = (np.sign(X) * np.log1p(np.abs(X))).sum(axis=0)

    def fit(power: Floats) -> Floats:
        variance = _bend(X, power).var(axis=0)
        normal = -len(X) / 2 * np.log(np.maximum(variance, 1e-300))
        return np.asarray(normal + (power - 1) * size)

    best = np.ones(X.shape[1])
    # Whole steps first, then eighths around the best of them.
    for steps in (np.arange(-7.0, 6.0), np.arange(-7, 8) / 8):
        tried = best + steps[:, None]
        best = tried[np.argmax([fit(p) for p in tried], axis=0), np.arange(len(best))]
    return best


def _filled(X: PointsLike) -> Floats:
    """Return points as a dense array of float64."""
    dense = X.toarray() if sparse.issparse(X) else X
    return np.asarray(dense, dtype=np.float64)
