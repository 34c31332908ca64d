r"""A smoothness term over neighbours, for points that nobody was asked about.

Let x_1, ..., x_n be all points, those of the pairs and the unlabelled ones, and join
two by an edge where one is among the k nearest of the other. With W the matrix of the
edges, D the diagonal of their numbers at each point and |E| their number in all,

.. math:: L = (D - W) / |E| , \qquad
   f^T L f = \frac{1}{|E|} \sum_{(i, j) \in E} (f_i - f_j)^2 ,

the mean square of how far scores f differ along an edge. A boundary through a gap
between points crosses few edges. So unlabelled points, which show where the gaps are,
say something about the boundary, if classes lie in clumps. Held-out answers tell
whether they do.

The objective of :mod:`pairlearn.models.auto.path` with this term is

.. math:: J(w, b) = R(f) + \frac{|w|^2 + \lambda f^T L f}{2 s^2}
   + \frac{b^2}{2 \cdot 10^2} , \qquad f = Z w + b 1 .

L 1 = 0, so the intercept costs nothing, and the two terms in w are one quadratic form:

.. math:: |w|^2 + \lambda f^T L f = w^T M w , \qquad M = I + \lambda Z^T L Z .

With v = M^{1/2} w they are |v|^2, and f(x) = v^T M^{-1/2} z(x) + b. So J is the old
objective in v on the features M^{-1/2} z: a linear map after the feature map, which
deforms the kernel k(x, x') = z(x)^T z(x') to z(x)^T M^{-1} z(x') [1]_. Afterwards the
features are turned to their principal axes and scaled such that E|z|^2 = 1, as those of
any kernel; that changes s by a factor, and nothing else.

References
----------
.. [1] V. Sindhwani, P. Niyogi and M. Belkin (2005). Beyond the point cloud: from
   transductive to semi-supervised learning. ICML.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from sklearn.neighbors import kneighbors_graph

from pairlearn.models.auto.kernels import FeatureMap, Kernel, principal_axes

if TYPE_CHECKING:
    from pairlearn.data.types import Floats, PointsLike

__all__ = ["SMOOTH_KERNELS", "neighbour_laplacian", "smooth_features", "smoothed"]

# What is tried: a narrow kernel bends with any clump, and is held by the strength.
SMOOTH_KERNELS = (Kernel("rbf", 0.06, 1e5), Kernel("rbf", 0.25, 50.0))
N_NEIGHBOURS = 10


def neighbour_laplacian(X: PointsLike, n_neighbours: int = N_NEIGHBOURS) -> Any:
    """Return L of the graph of nearest neighbours.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_points, n_features)
        All points.
    n_neighbours : int
        k.

    Returns
    -------
    CSR array of shape (n_points, n_points)

    Examples
    --------
    Three points in a row have two edges.

    >>> import numpy as np
    >>> L = neighbour_laplacian(np.array([[0.0], [1.0], [3.0]]), 1)
    >>> L.toarray()
    array([[ 0.5, -0.5,  0. ],
           [-0.5,  1. , -0.5],
           [ 0. , -0.5,  0.5]])
    """
    n_neighbours = min(n_neighbours, X.shape[0] - 1)
    near = sparse.csr_array(kneighbors_graph(X, n_neighbours))
    edges = near.maximum(near.T)
    degree = np.asarray(edges.sum(axis=1)).ravel()
    return sparse.csr_array(sparse.diags_array(degree) - edges) / (degree.sum() / 2)


def smoothed(
    feature_map: FeatureMap, features: Floats, laplacian: Any, strength: float
) -> tuple[FeatureMap, Floats]:
    """Return a feature map whose prior prefers scores that are smooth over neighbours.

    Parameters
    ----------
    feature_map : FeatureMap
        Fitted to all points.
    features : ndarray of shape (n_points, n_features)
        Z, the features of all points.
    laplacian : CSR array of shape (n_points, n_points)
        L, as from `neighbour_laplacian`.
    strength : float
        lambda.

    Returns
    -------
    feature_map : FeatureMap
        The features deformed.
    features : ndarray
        Those of all points.

    Examples
    --------
    >>> import numpy as np
    >>> from pairlearn.models.auto.kernels import FeatureMap, Kernel
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> plain = FeatureMap(Kernel("rbf", 1.0), 40)
    >>> Z = plain.fit_transform(X, np.random.RandomState(0))
    >>> smooth, Z = smoothed(plain, Z, neighbour_laplacian(X), 100.0)
    >>> print(smooth.kernel, np.allclose(smooth.transform(X), Z))
    smooth rbf 1 True
    """
    form = features.T @ np.asarray(laplacian @ features)
    values, vectors = eigh((form + form.T) / 2)
    root = vectors / np.sqrt(1 + strength * np.maximum(values, 0.0)) @ vectors.T
    changed = features @ root
    root = root @ principal_axes(changed)
    smooth = copy(feature_map)
    smooth.kernel = replace(feature_map.kernel, strength=strength)
    smooth.turn = feature_map.turn @ root
    smooth.centre = feature_map.centre @ root
    return smooth, features @ root


def smooth_features(
    X: PointsLike,
    n_asked: int,
    laplacian: Any,
    kernel: Kernel,
    n_components: int,
    seed: int,
) -> tuple[FeatureMap, Floats]:
    """Return the feature map of a kernel with a strength, and some points' features.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_points, n_features)
        All points, those of the pairs first.
    n_asked : int
        How many these are. They are landmarks before others are, so that answers about
        them can be followed exactly.
    laplacian : CSR array of shape (n_points, n_points)
        L, as from `neighbour_laplacian`.
    kernel : Kernel
        The kernel, with lambda as its strength.
    n_components : int
        The most features.
    seed : int
        Seed of the landmarks.

    Returns
    -------
    feature_map : FeatureMap
        Without features if all points are the same.
    features : ndarray of shape (n_asked, n_features)
        Those of the points of the pairs.
    """
    plain = FeatureMap(replace(kernel, strength=None), n_components)
    features = plain.fit_transform(X, np.random.RandomState(seed), n_asked)
    if not plain.n_features:
        return plain, features[:n_asked]
    smooth, features = smoothed(plain, features, laplacian, kernel.strength or 0.0)
    return smooth, features[:n_asked].copy()
