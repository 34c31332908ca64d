r"""Features of a kernel, in their principal coordinates.

A kernel k has features z(x) with z(x)^T z(x') close to k(x, x'): from the eigenvectors
of its matrix on some of the points, the landmarks (Nystroem's method). They are
centred, turned to their principal axes and scaled such that E|z|^2 = 1. Then weights
from a Gaussian prior with standard deviation s give scores f(x) = w^T z(x) + b that
spread by about s, whatever the kernel: one scale for all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from sklearn.metrics.pairwise import (
    euclidean_distances,
    laplacian_kernel,
    manhattan_distances,
    rbf_kernel,
)
from sklearn.utils.extmath import randomized_svd

from pairlearn.engine.backends.numpy.distances import (
    COMPILED,
    block_size,
    city_block,
    exponentials,
    padded,
)
from pairlearn.system.threads import block_bounds

if TYPE_CHECKING:
    from numpy.random import RandomState

    from pairlearn.data.types import Floats, PointsLike

__all__ = ["FeatureMap", "Kernel", "principal_axes"]

# Points from which the typical distance is taken.
_SAMPLE = 300
# Directions with less than this share of the leading variance are rounding noise.
_NOISE = 1e-8
# And so is all variance below this share of the size of the features.
_ROUNDING = 1e-24
# Up to so many columns the principal axes of a linear kernel are computed exactly.
_EXACT = 1500


@dataclass(frozen=True)
class Kernel:
    """A kernel, with its width in units of the typical distance between points.

    "linear": x^T x'. "rbf": exp(-|x - x'|^2 / (width * median of |x - x'|^2)).
    "laplacian": exp(-|x - x'|_1 / (width * median of |x - x'|_1)), whose rougher
    functions suit tables in which single columns matter. With a `strength` it is
    deformed to be smooth over neighbours (:mod:`pairlearn.models.auto.smooth`).
    """

    name: str
    width: float | None = None
    strength: float | None = None

    def __str__(self) -> str:
        plain = self.name if self.width is None else f"{self.name} {self.width:g}"
        return plain if self.strength is None else f"smooth {plain}"


class FeatureMap:
    """The features of a kernel.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    n_components : int
        The most features, and the number of landmarks.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.RandomState(0)
    >>> X = rng.normal(size=(50, 2))
    >>> Z = FeatureMap(Kernel("rbf", 1.0), 300).fit(X, rng).transform(X)
    >>> Z.shape[0], round(float((Z**2).sum(axis=1).mean()), 6)
    (50, 1.0)
    """

    def __init__(self, kernel: Kernel, n_components: int) -> None:
        self.kernel = kernel
        self.n_components = n_components

    def fit(self, X: PointsLike, rng: RandomState) -> Self:
        """Choose landmarks, and find the principal axes of these points' features."""
        self.fit_transform(X, rng)
        return self

    def fit_transform(
        self, X: PointsLike, rng: RandomState, n_preferred: int = 0
    ) -> Floats:
        """Fit to these points, and return their features.

        The first `n_preferred` points are landmarks before any other is.
        """
        self.landmarks: Any = None
        if self.kernel.name == "linear":
            first = self._axes(X, rng)
        else:
            rows = rng.permutation(X.shape[0])
            rows = rows[np.argsort(rows >= n_preferred, kind="stable")]
            self.landmarks = X[np.sort(rows[: self.n_components])]
            sample = X[rows[:_SAMPLE]]
            self.gamma = 1 / (
                float(self.kernel.width or 1) * _typical(self.kernel, sample)
            )
            values, vectors = eigh(self._kernel(self.landmarks))
            kept = values > _NOISE * max(values[-1], 1e-300)
            first = vectors[:, kept] / np.sqrt(values[kept])
        Z = np.asarray(self.similarities(X) @ first)
        # Of points that are all the same, centring leaves the rounding.
        least = _ROUNDING * max(float(np.mean(Z**2)), 1e-300)
        self.centre = Z.mean(axis=0)
        Z -= self.centre
        axes = principal_axes(Z, least)
        self.turn: Floats = first @ axes
        self.centre = self.centre @ axes
        return np.asarray(Z @ axes)

    def transform(self, X: PointsLike) -> Floats:
        """Return the features of points, the leading ones first."""
        return np.asarray(np.asarray(self.similarities(X) @ self.turn) - self.centre)

    @property
    def n_features(self) -> int:
        """Number of features; none if all points are the same."""
        return int(self.turn.shape[1])

    def similarities(self, X: PointsLike) -> Any:
        """Return k(x, z) for all landmarks z; of a linear kernel the points."""
        return X if self.landmarks is None else self._kernel(X)

    def _kernel(self, X: PointsLike) -> Floats:
        if self.kernel.name == "linear":
            product = X @ self.landmarks.T
            return np.asarray(
                product.toarray() if sparse.issparse(product) else product
            )
        if self.kernel.name == "rbf":
            return np.asarray(rbf_kernel(X, self.landmarks, gamma=self.gamma))
        if sparse.issparse(X) or sparse.issparse(self.landmarks):
            return np.asarray(laplacian_kernel(X, self.landmarks, gamma=self.gamma))
        return laplacian(np.asarray(X), self.landmarks, self.gamma)

    def _axes(self, X: PointsLike, rng: RandomState) -> Floats:
        """Return the leading principal axes of the columns."""
        n_features = X.shape[1]
        if n_features <= self.n_components:
            return np.eye(n_features)
        if n_features <= _EXACT and not sparse.issparse(X):
            centred = X - X.mean(axis=0)
            first = n_features - self.n_components
            axes: Floats = eigh(
                centred.T @ centred, subset_by_index=(first, n_features - 1)
            )[1]
            return axes
        k = min(self.n_components, *X.shape)
        rows = randomized_svd(X, k, random_state=rng)[2]
        return np.asarray(rows.T)


def laplacian(X: Floats, landmarks: Floats, gamma: float) -> Floats:
    """Return exp(-gamma |x - z|_1) of all points and landmarks, (n_points, ...).

    As `laplacian_kernel` does, which takes each difference by itself.
    """
    n_points, width = X.shape
    out = np.empty((n_points, len(landmarks)))
    wide, size = padded(landmarks), block_size(width)
    compiled = n_points >= COMPILED
    for begin, end in block_bounds(n_points, size):
        part = np.ascontiguousarray(padded(X[begin:end]).T)
        values = np.empty((len(landmarks), end - begin))
        city_block(wide, part, -gamma, values, compiled=compiled)
        exponentials(values, compiled=compiled)
        out[begin:end] = values.T
    return out


def principal_axes(Z: Floats, least: float = 0.0) -> Floats:
    """Return the principal axes of centred features, scaled such that E|z|^2 = 1.

    Directions with no more variance than `least` are left out.
    """
    values, axes = eigh(Z.T @ Z / len(Z))
    kept = values > max(_NOISE * float(values.max(initial=0)), least)
    return np.asarray(axes[:, kept][:, ::-1] / np.sqrt(values[kept].sum() or 1.0))


def _typical(kernel: Kernel, sample: PointsLike) -> float:
    """Return the median distance (squared, for "rbf") between different points."""
    if kernel.name == "rbf":
        distance = euclidean_distances(sample, squared=True)
    else:
        distance = manhattan_distances(sample)
    distance = distance[distance > 1e-12]
    return float(np.median(distance)) if len(distance) else 1.0
