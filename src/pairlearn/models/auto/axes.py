r"""The leading axes of the columns, where many points show which of them are real.

Where columns are noisy measurements of few things, distances between rows are mostly
noise, and kernels of all columns need many answers to see through it. The principal
axes of many points, whether anybody was asked about them or not, tell: with S the
covariance of the columns in a view and S_0 that of the same columns, each shuffled by
itself, the axes

.. math:: v_1, \ldots, v_k , \qquad
          \lambda_j(S) > \lambda_j(S_0) \text{ for all } j \le k ,

have more variance than columns that know nothing of each other would have by chance
(Horn's parallel analysis [1]_). Of points x the view shows V^T (x - mean), in the units
of the columns: an axis of little variance counts little.

References
----------
.. [1] J. L. Horn (1965). A rationale and test for the number of factors in factor
   analysis. Psychometrika 30.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np
from scipy.linalg import eigh

if TYPE_CHECKING:
    from numpy.random import RandomState

    from pairlearn.data.types import Floats, PointsLike
    from pairlearn.models.auto.columns import ColumnView

__all__ = ["AxesView"]

# Points from which axes are found, and the most columns that are looked at.
_SAMPLE, _MOST_COLUMNS = 4000, 1000
# By so much an eigenvalue must be larger than that of shuffled columns.
_CLEARLY = 1.02


class AxesView:
    """The leading axes of the columns, as a view shows these.

    Parameters
    ----------
    view : ColumnView
        A view that was fitted to the points.

    Attributes
    ----------
    n_axes : int
        How many axes there are; 0 if none stands out, or if all do.

    Examples
    --------
    Ten columns that measure two things, and noise:

    >>> from pairlearn.models.auto.columns import ColumnView
    >>> rng = np.random.RandomState(0)
    >>> things = rng.normal(size=(500, 2))
    >>> X = things @ rng.normal(size=(2, 10)) + rng.normal(size=(500, 10))
    >>> view = ColumnView("power").fit(X, rng)
    >>> axes = AxesView(view).fit(view.transform(X), rng)
    >>> axes.n_axes, axes.transform(X).shape
    (2, (500, 2))

    Columns that know nothing of each other have none:

    >>> X = rng.normal(size=(500, 10))
    >>> view = ColumnView("power").fit(X, rng)
    >>> AxesView(view).fit(view.transform(X), rng).n_axes
    0
    """

    kind = "axes"
    # As other views say of themselves.
    stays_sparse, bends = False, True

    def __init__(self, view: ColumnView) -> None:
        self.view = view

    def fit(self, shown: PointsLike, rng: RandomState) -> Self:
        """Find the axes of points, as the view shows them."""
        n_points, n_columns = shown.shape
        self.centre: Floats = np.zeros(n_columns)
        self.turn: Floats = np.zeros((n_columns, 0))
        if self.view.stays_sparse or not 1 < n_columns <= _MOST_COLUMNS:
            return self
        rows = np.sort(rng.permutation(n_points)[:_SAMPLE])
        some = np.asarray(shown)[rows]
        self.centre = some.mean(axis=0)
        some = some - self.centre
        variance, axes = eigh(some.T @ some)
        order = rng.rand(*some.shape).argsort(axis=0, kind="stable")
        shuffled = np.take_along_axis(some, order, axis=0)
        by_chance = eigh(shuffled.T @ shuffled, eigvals_only=True)
        stands_out = variance[::-1] > _CLEARLY * by_chance[::-1]
        n_axes = int(np.argmin(np.append(stands_out, False)))
        if n_axes < n_columns:
            self.turn = np.ascontiguousarray(axes[:, ::-1][:, :n_axes])
        return self

    @property
    def n_axes(self) -> int:
        """How many axes there are."""
        return int(self.turn.shape[1])

    def transform(self, X: PointsLike) -> Floats:
        """Return the points along the axes."""
        return np.asarray((self.view.transform(X) - self.centre) @ self.turn)
