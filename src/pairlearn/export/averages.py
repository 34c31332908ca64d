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
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.pipeline import Pipeline

from pairlearn.export import pieces
from pairlearn.export.views import score_steps, stays_sparse
from pairlearn.models.auto.stack import FLOOR

if TYPE_CHECKING:
    from pairlearn.data.types import Floats
    from pairlearn.export.parts import Step
    from pairlearn.models.auto.averaged import AveragedClassifier
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
    steps = pieces.checked(n_features, names)
    if any(stays_sparse(member.view) for member in ensemble.members):
        steps = steps[:1]
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
    steps = score_steps(member.view, features, matrix, n_features)
    each = np.eye(n_models * n_outputs).reshape(n_models, n_outputs, -1)
    models = [
        pieces.linear_classifier(pick, b, np.arange(n_classes), probabilities=True)
        for pick, b in zip(each, intercept.reshape(n_models, n_outputs), strict=True)
    ]
    steps.append(("models", pieces.voters(models, n_classes)))
    return Pipeline(steps)
