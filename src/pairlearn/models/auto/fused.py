r"""An average of models in one reading of the points.

A model on the features z(x) = T^T k(x) - c of a kernel, with k(x) the similarities of x
to the landmarks and T the whitening, turned to principal axes, has the scores

.. math:: f(x) = w^T z(x) + b = (T w)^T k(x) + (b - w^T c) ,

so T w is computed once, and no features: a product of n x 300 x 300 numbers becomes one
of n x 300. A linear kernel has the columns themselves for k(x). The squared distances
of the RBF kernel are one product, too:

.. math:: -\gamma |x - z|^2 = (2 \gamma z, -\gamma |z|^2, -\gamma)^T (x, 1, |x|^2) .

All of it is float64. The coefficients T w are large and of both signs where a kernel is
wide, some ten thousand for scores of about one, so that similarities in float32 would
leave four digits of a score; and blocks of points that stay in the cache bring more
than shorter numbers do.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.engine.backends.numpy.distances import (
    COMPILED,
    block_size,
    city_block,
    exponentials,
    padded,
)
from pairlearn.models.auto.columns import chunks
from pairlearn.system.threads import block_bounds, map_threads, own_threads
from pairlearn.trust.probabilities import probabilities

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pairlearn.data.types import Floats, PointsLike
    from pairlearn.models.auto.columns import View
    from pairlearn.models.auto.ensemble import Member
    from pairlearn.models.auto.kernels import FeatureMap

__all__ = ["MANY_POINTS", "FusedAverage"]

# Points that are put into a view at a time; memory does not grow with the table.
_CHUNK = 2048
# So many points at once, or more, are scored by compiled loops where numba is there.
MANY_POINTS = COMPILED


class FusedAverage:
    """The average of the models of an ensemble, without the constant one.

    Parameters
    ----------
    members : sequence of Member
        The models, by features.
    n_classes : int
        How many classes there are. Models of two have one score, or one per class.
    """

    def __init__(self, members: Sequence[Member], n_classes: int) -> None:
        self.n_outputs = members[0].weights.shape[1] if members else n_classes
        shares = [member.shares for member in members]
        self.shares = np.concatenate(shares) if shares else np.zeros(0)
        views: dict[int, _View] = {}
        first = 0
        for member in members:
            rows = slice(first, first + len(member.shares) * self.n_outputs)
            view = views.setdefault(id(member.view), _View(member.view))
            view.add(member, rows)
            first = rows.stop
        self.n_scores = first
        self.views = list(views.values())

    def __call__(self, X: PointsLike) -> Floats:
        """Return the members' part of the average, (n_points, n_classes)."""
        compiled = X.shape[0] >= MANY_POINTS

        def part(rows: slice) -> Floats:
            return self._average(X[rows], compiled=compiled)

        parts = chunks(X, _CHUNK)
        if len(parts) == 1:
            return part(parts[0])
        with own_threads():
            return np.concatenate(map_threads(part, parts))

    def _average(self, X: PointsLike, *, compiled: bool) -> Floats:
        scores = np.empty((self.n_scores, X.shape[0]))
        for view in self.views:
            view.score(X, scores, compiled=compiled)
        if self.n_outputs == 1:
            # 1 / (1 + exp(-f)) = (1 + tanh(f / 2)) / 2, in vector instructions.
            scores *= 0.5
            half = self.shares @ np.tanh(scores, out=scores) / 2
            total = self.shares.sum() / 2
            return np.column_stack([total - half, total + half])
        each = scores.reshape(-1, self.n_outputs, X.shape[0]).transpose(2, 0, 1)
        return np.asarray(np.einsum("nmc,m->nc", probabilities(each), self.shares))


@dataclass
class _View:
    """What is computed of the points in one view of the columns."""

    view: View
    maps: list[tuple[_Readout, slice]] = field(default_factory=list)

    def add(self, member: Member, rows: slice) -> None:
        """Add a member whose scores go to these rows."""
        self.maps.append((_Readout(member), rows))

    def score(self, X: PointsLike, out: Floats, *, compiled: bool) -> None:
        """Write the scores of points, each in a column, to the rows of the members."""
        points = self.view.transform(X)
        if self.view.stays_sparse:
            for readout, rows in self.maps:
                out[rows] = readout.of_sparse(points)
            return
        n_points, size = len(points), block_size(points.shape[1])
        room = {n: np.empty((n, size)) for n in {readout.n for readout, _ in self.maps}}
        for begin, end in block_bounds(n_points, size):
            block = _laid_out(points[begin:end])
            for readout, rows in self.maps:
                values = room[readout.n].ravel()[: readout.n * (end - begin)]
                values = values.reshape(readout.n, end - begin)
                out[rows, begin:end] = readout(block, values, compiled=compiled)


class _Readout:
    """The scores of one member, from the points in its view."""

    def __init__(self, member: Member) -> None:
        self.map: FeatureMap = member.feature_map
        weights = member.weights * member.slopes[:, None, None]
        flat = weights.reshape(-1, weights.shape[-1])
        self.coefficients = flat[:, :-1] @ self.map.turn.T
        self.constant = flat[:, -1] - flat[:, :-1] @ self.map.centre
        self.kind = "linear" if self.map.landmarks is None else self.map.kernel.name
        # How many similarities of a point there are.
        self.n = 0 if self.map.landmarks is None else self.map.landmarks.shape[0]
        if not member.view.stays_sparse:
            self.matrix = self._matrix()

    def _matrix(self) -> Floats:
        """Return what is multiplied with points that have been laid out."""
        if self.kind == "linear":
            return np.column_stack([padded(self.coefficients), self.constant])
        landmarks = padded(np.asarray(self.map.landmarks))
        if self.kind != "rbf":
            return landmarks
        square = np.einsum("ij,ij->i", landmarks, landmarks)
        gamma = self.map.gamma
        last = np.full(len(landmarks), -gamma)
        return np.column_stack([2 * gamma * landmarks, -gamma * square, last])

    def __call__(self, block: Floats, room: Floats, *, compiled: bool) -> Floats:
        """Return the scores (n_scores, n_points) of points that have been laid out."""
        if self.kind == "linear":
            return np.asarray(self.matrix @ block[:-1])
        if self.kind == "rbf":
            np.dot(self.matrix, block, out=room)
            # Rounding would let a landmark far out be nearer to itself than nothing.
            np.minimum(room, 0.0, out=room)
        else:
            gamma = self.map.gamma
            city_block(self.matrix, block[:-2], -gamma, room, compiled=compiled)
        exponentials(room, compiled=compiled)
        return np.asarray(self.coefficients @ room + self.constant[:, None])

    def of_sparse(self, X: Any) -> Floats:
        """Return the scores (n_scores, n_points) of a sparse table of points."""
        scores = self.map.similarities(X) @ self.coefficients.T
        return np.asarray(scores + self.constant).T


def _laid_out(points: Floats) -> Floats:
    """Return points one per column: x, zeros up to the width of landmarks, 1, |x|^2."""
    wide = padded(points)
    n_points, width = wide.shape
    block = np.empty((width + 2, n_points))
    block[:width] = wide.T
    block[width] = 1.0
    block[width + 1] = np.einsum("ij,ij->i", points, points)
    return block
