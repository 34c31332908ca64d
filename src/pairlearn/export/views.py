r"""Views of the columns, and kernels of them, in the classes of scikit-learn.

A column that is bent by a power has the value g(x) = u(max(x, 0)) - v(max(-x, 0)), with
u(x) = expm1(a log1p(x)) / a and the same with b in v: two branches, each a chain of
functions of NumPy, and a matrix that puts them together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from pairlearn.export import pieces
from pairlearn.models.auto.axes import AxesView
from pairlearn.models.auto.blocks import BlockView
from pairlearn.models.auto.columns import FAR, FARTHEST, LEAST_EXPONENT

if TYPE_CHECKING:
    from pairlearn.data.types import Floats, Ints
    from pairlearn.export.parts import Step
    from pairlearn.models.auto.columns import ColumnView, View
    from pairlearn.models.auto.kernels import FeatureMap

__all__ = ["score_steps", "stays_sparse"]


def stays_sparse(view: View) -> bool:
    """Tell whether a view takes a sparse table as it is."""
    return isinstance(view, BlockView) or bool(view.stays_sparse)


def score_steps(
    view: View, features: FeatureMap, matrix: Floats, n_features: int
) -> list[Step]:
    """Return steps from points to scores that are linear in a kernel's values.

    Parameters
    ----------
    view, features
        From a point to its features, of a member.
    matrix : ndarray of shape (n_scores, n_values)
        What the values k(x, z) of the kernel, or the columns of the view, are
        multiplied by.
    n_features : int
        How many columns the points have.

    Returns
    -------
    list of (name, transformer)
    """
    landmarks = features.landmarks
    if landmarks is not None and features.kernel.name == "linear":
        matrix, landmarks = np.asarray((landmarks.T @ matrix.T).T), None
    if isinstance(view, BlockView) and view.spans:
        return _block_scores(view, matrix, n_features)
    steps, order = _view(view, n_features)
    if landmarks is not None:
        kernel, gamma = features.kernel.name, float(features.gamma)
        scores = pieces.kernel_map(kernel, landmarks[:, order], matrix, gamma)
        return [*steps, ("scores", scores)]
    if not len(order):
        matrix = np.zeros((len(matrix), n_features))
        return [("scores", pieces.linear_map(matrix))]
    return [*steps, ("scores", pieces.linear_map(matrix[:, order]))]


def _block_scores(view: BlockView, matrix: Floats, n_features: int) -> list[Step]:
    """Return scores that are linear in blocks of columns, and in others in a view."""
    words = np.zeros((len(matrix), n_features))
    place = 0
    for begin, end in view.spans:
        part = matrix[:, place : place + end - begin]
        words[:, begin:end] += view.factor * part
        place += end - begin
    in_blocks = pieces.linear_map(words)
    if view.view is None or not len(view.view.kept):
        return [("scores", in_blocks)]
    steps, order = _others(view, n_features)
    rest = matrix[:, place:][:, order]
    steps.append(("scores", pieces.linear_map(rest)))
    both = [("blocks", in_blocks), ("others", Pipeline(steps))]
    together = np.hstack([np.eye(len(matrix))] * 2)
    return [("parts", pieces.joined(both)), ("scores", pieces.linear_map(together))]


def _others(view: BlockView, n_features: int) -> tuple[list[Step], Ints]:
    """Return the steps of the columns that are in no block."""
    n_others = len(view.others)
    take = ColumnTransformer(
        [("others", "passthrough", view.others)], sparse_threshold=0
    )
    take.fit(np.zeros((1, n_features)))
    double = pieces.function(np.positive, n_others, dtype="float64")
    steps, order = _view(view.view, n_others)
    steps = [("take", take), ("double", double), *steps]
    if view.other_factor != 1:
        # One that is zero leaves nothing of the columns.
        factor = np.full(len(order), view.other_factor)
        small = pieces.linear_map(np.diag(factor))
        steps.append(("factor", small))
    return steps, order


def _view(view: Any, n_features: int) -> tuple[list[Step], Ints]:
    """Return the steps of a view, and which of its columns is where afterwards."""
    if isinstance(view, BlockView):
        return _others(view, n_features)
    if isinstance(view, AxesView):
        return _axes(view, n_features)
    kept = view.kept
    order = np.arange(len(kept))
    if not len(kept):
        return [], order
    steps: list[Step] = []
    if len(kept) < n_features:
        steps.append(("columns", pieces.selected(kept, n_features)))
    if view.stays_sparse:
        return [*steps, ("scale", pieces.scaled(view.scale))], order
    steps.append(("scale", pieces.scaled(view.scale, view.centre)))
    if view.kind == "standard":
        return steps, order
    if len(view.bent):
        rest = np.setdiff1d(order, view.bent)
        order = np.concatenate([view.bent, rest])
        bend = ColumnTransformer(
            [("bent", "passthrough", view.bent), ("others", "passthrough", rest)],
            sparse_threshold=0,
        ).fit(np.zeros((1, len(kept))))
        bend.transformers_[0] = ("bent", _bend(view), view.bent)
        steps.append(("bend", bend))
    return [*steps, ("weigh", pieces.scaled(1 / view.factor[order]))], order


def _axes(view: AxesView, n_features: int) -> tuple[list[Step], Ints]:
    """Return the steps of the columns, and what is left along the axes."""
    steps, order = _view(view.view, n_features)
    along = pieces.linear_map(view.turn.T[:, order])
    middle = pieces.scaled(np.ones(view.n_axes), view.centre @ view.turn)
    return [*steps, ("axes", along), ("middle", middle)], np.arange(view.n_axes)


def _bend(view: ColumnView) -> Pipeline:
    """Return the power, what centres and scales it, and its limits."""
    n_bent = len(view.bent)
    branches, halves = [], []
    for name, sign, power in (
        ("above zero", 1.0, view.power),
        ("below zero", -1.0, 2 - view.power),
    ):
        exponent = np.where(np.abs(power) < LEAST_EXPONENT, LEAST_EXPONENT, power)
        size, nothing = np.full(n_bent, sign), np.zeros(n_bent)
        most = float(np.expm1(FARTHEST))
        steps = [
            ("part", pieces.add_and_clip(size, nothing, 0.0, most)),
            ("logarithm", pieces.function(np.log1p, n_bent)),
            ("exponent", pieces.scaled(1 / exponent)),
            ("power", pieces.function(np.expm1, n_bent)),
        ]
        branches.append((name, Pipeline(steps)))
        halves.append(np.diag(sign / exponent / view.spread))
    shift = -view.middle / view.spread
    return Pipeline(
        [
            ("branches", pieces.joined(branches)),
            ("together", pieces.linear_map(np.hstack(halves))),
            ("limits", pieces.add_and_clip(np.ones(n_bent), shift, -FAR, FAR)),
        ]
    )
