r"""The path of a model of two classes through ever weaker priors, for all folds.

A model on features z(x) has the scores f(x) = w^T z(x) + b and minimises

.. math:: J(w, b) = R(f) + \frac{|w|^2}{2 s^2} + \frac{b^2}{2 \cdot 10^2} ,

R the negative log-likelihood of the answers: a Gaussian prior of standard deviation s
on w. Its gradient is Z^T r + w / s^2 and sum of r + b / 100, with r = dR/df. All folds
share Z, so one matrix product serves all of them, and the solver sees each as one row.

s runs from small to large, and each solution is where the next begins. Where s is small
the leading eigenvector of sum of t (z z'^T + z' z^T) decides. Further eigenvectors are
followed too for the first steps, since J is not convex; then the lowest goes on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pairlearn.engine.components.propagation import Memory
from pairlearn.engine.solvers import (
    leading_eigenvectors,
    minimise_together,
)
from pairlearn.trust.assignment import match_classes

if TYPE_CHECKING:
    from pairlearn.data.types import Floats, Ints
    from pairlearn.models.auto.joint import JointLikelihood
    from pairlearn.models.auto.likelihood import PairLikelihood

    Likelihood = PairLikelihood | JointLikelihood

__all__ = ["PathObjective", "follow", "named_by_labels", "refine", "score"]

# Starts that are followed, and for how many scales.
N_STARTS, N_COMPARED = 4, 2
# The start looks at the leading features only: it need not be exact.
_LEADING = 100
# About the second derivative of -log Q in a score.
_CURVATURE = 0.15
_INTERCEPT_SCALE = 10.0
# Scores of a start, and of a solution that has collapsed to a constant.
_SPREAD, _COLLAPSED = 1.5, 0.3


class PathObjective:
    """J and its gradient for several models, in coordinates that make it round.

    A row holds the weights of one model, output after output, each with its intercept
    last. Coordinates are weights times the root of the curvature, which the principal
    coordinates of the features make nearly diagonal.

    Parameters
    ----------
    features : ndarray of shape (n_points, n_features)
        z of all points.
    likelihood : PairLikelihood or JointLikelihood
        R.
    n_outputs : int
        Scores a point.
    scale : float or ndarray of shape (n_rows,)
        s, of all rows or of each.
    models : ndarray of int
        The model of the likelihood that each row is of.
    memory : Memory, optional
        What evaluations of the same rows leave for each other.
    """

    def __init__(
        self,
        features: Floats,
        likelihood: Likelihood,
        n_outputs: int,
        scale: float | Floats,
        models: Ints,
        memory: Memory | None = None,
    ) -> None:
        self.features = features
        self.evaluate = likelihood.evaluator(models, memory)
        self.n_outputs = n_outputs
        n_points, n_features = features.shape
        # One prior for all rows, or one for each.
        spread = np.asarray(scale, dtype=float)[..., None]
        own = np.broadcast_to(spread**-2, (*spread.shape[:-1], n_features))
        shared = np.full((*spread.shape[:-1], 1), _INTERCEPT_SCALE**-2)
        self.penalty = np.concatenate([own, shared], axis=-1)
        square = np.append(np.einsum("ij,ij->j", features, features), n_points)
        root = np.sqrt(_CURVATURE * square + self.penalty)
        self.stretch = np.concatenate([root] * n_outputs, axis=-1)

    def of_rows(self, rows: Ints) -> tuple[Floats, Floats]:
        """Return the penalties and the stretch of some rows."""
        if self.penalty.ndim == 1:
            return self.penalty, self.stretch
        return self.penalty[rows][:, None], self.stretch[rows]

    def __call__(self, u: Floats, rows: Ints) -> tuple[Floats, Floats]:
        """Return J and its gradient for some of the rows."""
        penalty, stretch = self.of_rows(rows)
        weights = (u / stretch).reshape(len(u), self.n_outputs, -1)
        scores = score(self.features, weights)
        if self.n_outputs == 1:
            scores = scores[..., 0]
        value, r = self.evaluate(scores, rows)
        value = value + (penalty * weights**2).sum(axis=(1, 2)) / 2
        r = r.reshape(len(r), -1)
        # Not (Z^T r)^T, for which BLAS takes twice as long where r has few columns.
        by_weights = np.column_stack([r.T @ self.features, r.sum(axis=0)])
        gradient = by_weights.reshape(weights.shape) + penalty * weights
        return value, gradient.reshape(u.shape) / stretch


def score(features: Floats, weights: Floats) -> Floats:
    """Return scores (n_points, n_models, n_outputs) of weights (n_models, ...)."""
    n_models, n_outputs, size = weights.shape
    flat = weights.reshape(n_models * n_outputs, size)
    # Few rows on the left: the same for BLAS as few columns on the right, but faster.
    product = np.add((flat[:, :-1] @ features.T).T, flat[:, -1], order="C")
    return np.asarray(product.reshape(len(features), n_models, n_outputs))


def follow(
    features: Floats,
    likelihood: Likelihood,
    scales: tuple[float, ...],
    *,
    max_iter: int = 60,
    tol: float = 0.05,
) -> tuple[Floats, int]:
    """Return the weights of every model at every scale, and the iterations it took.

    Parameters
    ----------
    features : ndarray of shape (n_points, n_features)
        z of all points.
    likelihood : PairLikelihood or JointLikelihood
        R for each model.
    scales : tuple of float
        s, from small to large.
    max_iter : int
        Iterations for each scale.
    tol : float
        A scale ends when no J falls by more than this in an iteration.

    Returns
    -------
    weights : ndarray of shape (n_scales, n_models, n_outputs, n_features + 1)
    n_iter : int
    """
    n_models = likelihood.n_models
    first = _starts(features, likelihood)
    n_starts = len(first) // n_models
    w, models = first, np.tile(np.arange(n_models), n_starts)
    path, n_iter = [], 0
    memory = Memory(len(models))
    for step, scale in enumerate(scales):
        objective = PathObjective(features, likelihood, 1, scale, models, memory)
        # A prior that was too narrow leaves a constant, from where nothing moves.
        spread = score(features, w).std(axis=0).max(axis=1)
        w = np.where((spread < _COLLAPSED)[:, None, None], first[: len(w)], w)
        u = w.reshape(len(w), -1) * objective.stretch
        u, value, n = minimise_together(objective, u, max_iter=max_iter, tol=tol)
        w, n_iter = (u / objective.stretch).reshape(w.shape), n_iter + n
        best = value.reshape(-1, n_models).argmin(axis=0) * n_models + np.arange(
            n_models
        )
        path.append(w[best])
        if step + 1 == N_COMPARED:
            w, first, models = w[best], first[best], models[best]
            memory = memory.of(best)
    return np.array(path), n_iter


def refine(
    features: Floats, likelihood: Likelihood, weights: Floats, scales: Floats
) -> Floats:
    """Return weights (n_scales, n_outputs, ...) trained further on other pairs."""
    # All at once: that reads the features once for all, and not once for each.
    models = np.zeros(len(weights), dtype=np.intp)
    objective = PathObjective(features, likelihood, weights.shape[1], scales, models)
    u = weights.reshape(len(weights), -1) * objective.stretch
    # The tolerance is relative to what there is to explain.
    tol = 1e-5 * len(likelihood.index)
    u, _, _ = minimise_together(objective, u, max_iter=100, tol=tol, alone=True)
    return np.asarray((u / objective.stretch).reshape(weights.shape))


def _starts(features: Floats, likelihood: Likelihood) -> Floats:
    """Return starting weights: the first start of every model, then the second, ..."""
    starts = [
        _starts_of(features, likelihood, model) for model in range(likelihood.n_models)
    ]
    return np.array(starts).swapaxes(0, 1).reshape(-1, *starts[0].shape[1:])


def _starts_of(features: Floats, likelihood: Likelihood, model: int) -> Floats:
    """Return the starts of one model, (n_starts, 1, n_features + 1)."""
    Z = np.column_stack([features[:, :_LEADING], np.ones(len(features))])
    size = Z.shape[1]
    n_leading = min(size, N_STARTS)
    leading = leading_eigenvectors(likelihood.moment(Z, model), n_leading)
    weights = np.array([[v] for v in leading.T[:N_STARTS]])
    spread = np.sqrt(np.mean((weights @ Z.T) ** 2, axis=(1, 2), keepdims=True))
    weights *= _SPREAD / np.maximum(spread, 1e-12)
    full = np.zeros((*weights.shape[:2], features.shape[1] + 1))
    full[..., : size - 1], full[..., -1] = weights[..., :-1], weights[..., -1]
    return named_by_labels(full, features, likelihood, model)


def named_by_labels(
    weights: Floats, features: Floats, likelihood: Likelihood, model: int
) -> Floats:
    """Give the classes of each start the names that the labelled points suggest."""
    if likelihood.labels is None:
        return weights
    rows, classes, weights_of = likelihood.labels
    weight = weights_of[:, model]
    scores = score(features[rows], weights)
    if weights.shape[1] == 1:
        sign = np.where(classes == 1, 1.0, -1.0) * weight
        turn = np.where(sign @ np.tanh(scores[..., 0]) < 0, -1.0, 1.0)
        return weights * turn[:, None, None]
    member = np.eye(weights.shape[1])[classes] * weight[:, None]
    return np.array(
        [w[match_classes(member.T @ scores[:, k])] for k, w in enumerate(weights)]
    )
