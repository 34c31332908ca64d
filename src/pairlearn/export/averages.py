r"""PairClassifier and PoolClassifier in the classes of scikit-learn.

Such a model scores a point x by members m, each with features z_m(x) of landmarks and
several weights w_mk, and averages what these make of it,

.. math:: p(x) = v_0 p_0 + \sum_m \sum_k v_{mk} \,
          \mathrm{softmax}\bigl(a_{mk} (w_{mk}^T z_m(x) + b_{mk})\bigr) ,

and calibrates the average: the logits are a log max(p, floor) + bias. With
z_m(x) = turn^T [k(x, z_1), ..., k(x, z_l)] - centre the scores of a member are linear
in its kernel's values: a :class:`~sklearn.kernel_approximation.Nystroem` whose matrix
is a_mk turn w_mk. A :class:`~sklearn.ensemble.VotingClassifier` of logistic
regressions turns them to probabilities, :class:`~sklearn.decomposition.TruncatedSVD`,
which multiplies by a matrix, averages, and a last logistic regression on the logarithms
calibrates.

A column that is bent by a power has the value g(x) = g(max(x, 0)) - h(max(-x, 0)), with
g(x) = expm1(a log1p(x)) / a and the same with b in h: two branches, each a chain of
functions of NumPy, and a matrix that puts them together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from pairlearn.export import pieces
from pairlearn.models.auto.columns import FAR, FARTHEST, LEAST_EXPONENT
from pairlearn.models.auto.stack import FLOOR

if TYPE_CHECKING:
    from pairlearn.data.types import Floats, Ints
    from pairlearn.export.parts import Step
    from pairlearn.models.auto.averaged import AveragedClassifier
    from pairlearn.models.auto.columns import ColumnView
    from pairlearn.models.auto.ensemble import Member

__all__ = ["averaged_steps"]


def averaged_steps(clf: AveragedClassifier) -> tuple[list[Step], Floats, Floats]:
    """Return steps from points to log-probabilities, and what is linear in these.

    Parameters
    ----------
    clf : AveragedClassifier
        A fitted one.

    Returns
    -------
    steps : list of (name, transformer)
    coef : ndarray of shape (1, n_classes) or (n_classes, n_classes)
    intercept : ndarray of shape (1,) or (n_classes,)
    """
    ensemble, order = clf._ensemble, clf._order
    n_features, n_classes = clf.n_features_in_, len(order)
    names = getattr(clf, "feature_names_in_", None)
    sparse = any(member.view.stays_sparse for member in ensemble.members)
    steps = pieces.checked(n_features, names)
    steps = steps[:1] if sparse else steps
    if ensemble.members:
        parts = [
            (f"member {k}", _member(member, n_features, n_classes))
            for k, member in enumerate(ensemble.members, start=1)
        ]
        steps.append(("members", pieces.joined(parts)))
        shares = np.concatenate([member.shares for member in ensemble.members])
        matrix = np.kron(shares, np.eye(n_classes))
    else:
        matrix = np.zeros((n_classes, n_features))
    constant = ensemble.constant_share * ensemble.constant
    one = np.ones(n_classes)
    steps += [
        ("average", pieces.linear_map(matrix)),
        ("constant", pieces.add_and_clip(one, constant, FLOOR, 1.0)),
        ("logarithm", pieces.function(np.log, n_classes)),
    ]
    coef = ensemble.calibration.slope * np.eye(n_classes)[order]
    intercept = ensemble.calibration.bias[order]
    if n_classes == 2:
        coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
    return steps, coef, intercept


def _member(member: Member, n_features: int, n_classes: int) -> Pipeline:
    """Return a transformer from points to the class probabilities of a member."""
    features = member.feature_map
    n_models, n_outputs, _ = member.weights.shape
    weights = (member.weights * member.slopes[:, None, None]).reshape(
        n_models * n_outputs, -1
    )
    if n_outputs == n_classes == 2:
        # The softmax of two scores is the logistic function of their difference.
        weights = weights[1::2] - weights[::2]
        n_outputs = 1
    intercept = weights[:, -1] - weights[:, :-1] @ features.centre
    matrix = weights[:, :-1] @ features.turn.T
    steps, order = _view(member.view, n_features)
    if features.landmarks is None:
        matrix = matrix[:, order] if len(order) else np.zeros((len(matrix), n_features))
        steps.append(("scores", pieces.linear_map(matrix)))
    else:
        name, landmarks = features.kernel.name, features.landmarks[:, order]
        scores = pieces.kernel_map(name, landmarks, matrix, float(features.gamma))
        steps.append(("scores", scores))
    each = np.eye(n_models * n_outputs).reshape(n_models, n_outputs, -1)
    models = [
        pieces.linear_classifier(pick, b, np.arange(n_classes), probabilities=True)
        for pick, b in zip(each, intercept.reshape(n_models, n_outputs), strict=True)
    ]
    steps.append(("models", pieces.voters(models, n_classes)))
    return Pipeline(steps)


def _view(view: ColumnView, n_features: int) -> tuple[list[Step], Ints]:
    """Return the steps of a view, and which of its columns is where afterwards."""
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
        steps = [
            ("part", pieces.add_and_clip(size, nothing, 0.0, float(np.expm1(FARTHEST)))),
            ("logarithm", pieces.function(np.log1p, n_bent)),
            ("exponent", pieces.scaled(1 / exponent)),
            ("power", pieces.function(np.expm1, n_bent)),
        ]  # fmt: skip
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


