r"""Points, who is near whom, and how what is known of some spreads to the others.

Points are joined to their ten nearest neighbours with the weights

.. math:: W_{ij} = \exp(-|z_i - z_j|^2 / (\sigma_i \sigma_j)) ,

sigma the distance to the tenth. With D the diagonal of their sums and
S = D^{-1/2} W D^{-1/2}, what is known of a point spreads to others by

.. math:: K_a = (I - a S)^{-1} = I + a S + a^2 S^2 + \ldots ,

the sum over all paths of neighbours, long ones counting less [1]_.

With k_j(x) = K(x, j) / sum of K(x', j) over all points x', each asked
point j is a density over the points. If T_jc is the belief that it is of class c, and
n_c the sum of these,

.. math:: g_c(x) = \frac{\sum_j T_{jc} k_j(x) + \kappa / n}{n_c + \kappa} , \qquad
          p(c | x) = \frac{g_c(x)}{\sum_d g_d(x)} :

a density of each class, begun by kappa points of a flat one, and Bayes' rule with
classes that are equally likely: how many points of a class were asked about says
nothing about how frequent it is, since they were chosen. Without the term of j = x
itself, p says what the others think of an asked point; kappa is then larger, so that
the only point of a class is not given to another too easily.

References
----------
.. [1] D. Zhou, O. Bousquet, T. N. Lal, J. Weston and B. Schoelkopf (2003). Learning
   with local and global consistency. NeurIPS.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import inv
from sklearn.neighbors import NearestNeighbors

from pairlearn.models.auto.columns import ColumnView
from pairlearn.models.auto.kernels import FeatureMap, Kernel

if TYPE_CHECKING:
    from pairlearn.data.types import Floats, Ints, PointsLike

__all__ = ["Pool", "Space", "common_view"]

N_NEIGHBOURS = 10
# a.
_SPREADING = 0.9
# kappa, for all points and for those asked about.
_FLAT, _FLAT_ASKED = 0.05, 0.5
# Columns have one unit if no spread is larger than this many times the median spread.
_ONE_UNIT = 4.0
# Landmarks and features of a kernel.
_LANDMARKS, _FEATURES = 300, 100
# Standard deviation of the prior on the weights of linear kernels.
_LINEAR_SCALE = 8.0


class Space(NamedTuple):
    """Features of a pool, and how they are made."""

    view: ColumnView
    feature_map: FeatureMap
    features: Floats
    scale: float

    @property
    def is_straight(self) -> bool:
        """Whether scores are linear in the columns, as the view shows them."""
        return self.feature_map.kernel.name == "linear"


def common_view(X: PointsLike, seed: int = 0) -> ColumnView:
    """Return a view of columns in which distances make sense.

    Columns that seem to have one unit, as pixels do, are divided by one number; others
    are bent and scaled one by one, as by ``ColumnView("power")``.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_points, n_features)
        Points.
    seed : int
        Seed of the points from which powers are estimated.

    Returns
    -------
    ColumnView

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> common_view(X * [1, 2, 3]).kind, common_view(X * [1, 2, 30]).kind
    ('standard', 'power')
    """
    view = ColumnView("standard").fit(X, np.random.RandomState(seed))
    scale = view.scale
    if not len(scale) or scale.max() > _ONE_UNIT * np.median(scale):
        return ColumnView("power").fit(X, np.random.RandomState(seed))
    view.scale = np.full(len(scale), np.sqrt(np.mean(scale**2)))
    return view


class Pool:
    """Points, their neighbours, and features of several kernels.

    It takes time and memory that grow with the square of the number of points and
    more: some two thousand are enough.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_points, n_features)
        The points, without NaN.
    seed : int
        Seed of the landmarks of the kernels.

    Attributes
    ----------
    Z : ndarray of shape (n_points, n_columns)
        The points as they are compared.
    n_points : int
        Their number.

    Examples
    --------
    Two points are asked about in two clumps; the others follow.

    >>> import numpy as np
    >>> X = np.repeat([[0.0, 0.0], [9.0, 0.0]], 20, axis=0)
    >>> X += np.random.default_rng(0).normal(size=X.shape)
    >>> pool = Pool(X)
    >>> p = pool.spread(np.array([0, 20]), np.eye(2))
    >>> p.argmax(axis=1)
    array([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1,
           1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1])
    """

    def __init__(self, X: PointsLike, seed: int = 0) -> None:
        self.X, self.seed = X, seed
        self.n_points = int(X.shape[0])
        self.view = common_view(X, seed)
        self.Z: PointsLike = self.view.transform(X)
        self._similar = _similarity(self.Z, N_NEIGHBOURS)
        self._kernel = _inverse(self._similar, _SPREADING)
        self._total = self._kernel.sum(axis=0)
        self._spaces: list[Space] | None = None

    @property
    def spaces(self) -> list[Space]:
        """Features of the kernels that the learner averages over."""
        if self._spaces is None:
            self._spaces = self._make_spaces()
        return self._spaces

    def _make_spaces(self) -> list[Space]:
        rng = np.random.RandomState(self.seed)
        standard = ColumnView("standard").fit(self.X, rng)
        power = ColumnView("power").fit(self.X, rng)
        wanted = (
            (self.view, Kernel("rbf", 4.0), 16.0),
            (self.view, Kernel("rbf", 1.0), 16.0),
            (standard, Kernel("linear"), _LINEAR_SCALE),
            (power, Kernel("linear"), _LINEAR_SCALE),
        )
        made = []
        for view, kernel, scale in wanted:
            X = view.transform(self.X)
            if not X.shape[1]:
                continue
            feature_map = FeatureMap(kernel, _LANDMARKS)
            features = feature_map.fit_transform(X, rng)[:, :_FEATURES]
            feature_map.turn = feature_map.turn[:, :_FEATURES]
            feature_map.centre = feature_map.centre[:_FEATURES]
            if feature_map.n_features:
                made.append(Space(view, feature_map, features, scale))
        return made

    def spread(self, asked: Ints, belief: Floats) -> Floats:
        """Return class probabilities of all points, from beliefs about some.

        Parameters
        ----------
        asked : ndarray of int, shape (n_asked,)
            The points that something is believed about.
        belief : ndarray of shape (n_asked, n_classes)
            T; rows may add up to less than one.

        Returns
        -------
        ndarray of shape (n_points, n_classes)
        """
        density = (self._kernel[:, asked] / self._total[asked]) @ belief
        density = (density + _FLAT / self.n_points) / (belief.sum(axis=0) + _FLAT)
        return np.asarray(density / density.sum(axis=1, keepdims=True))

    def spread_to_asked(self, asked: Ints, belief: Floats) -> Floats:
        """Return what the other asked points say about each of them.

        Parameters
        ----------
        asked, belief
            As for `spread`.

        Returns
        -------
        ndarray of shape (n_asked, n_classes)
        """
        near = self._kernel[np.ix_(asked, asked)] / self._total[asked]
        np.fill_diagonal(near, 0.0)
        counts = belief.sum(axis=0) - belief + _FLAT_ASKED
        density = (near @ belief + _FLAT_ASKED / self.n_points) / counts
        return np.asarray(density / density.sum(axis=1, keepdims=True))


def _similarity(Z: PointsLike, n_neighbours: int) -> Floats:
    """Return S."""
    n_points = int(Z.shape[0])
    k = min(n_neighbours, n_points - 1)
    if k < 1 or not Z.shape[1]:
        return np.zeros((n_points, n_points))
    distance, near = NearestNeighbors(n_neighbors=k).fit(Z).kneighbors()
    sigma = np.maximum(distance[:, -1], 1e-12)
    weight = np.exp(-(distance**2) / (sigma[:, None] * sigma[near]))
    rows = np.repeat(np.arange(n_points), k)
    shape = (n_points, n_points)
    W = sparse.csr_array((weight.ravel(), (rows, near.ravel())), shape=shape)
    W = W.maximum(W.T).toarray()
    root = np.sqrt(np.maximum(W.sum(axis=1), 1e-300))
    return np.asarray(W / root[:, None] / root)


def _inverse(similar: Floats, a: float) -> Floats:
    return np.asarray(inv(np.eye(len(similar)) - a * similar))
