r"""Groups of points to begin with, for more than two classes.

With C classes the objective J of :mod:`pairlearn.models.auto.path` has many minima: two
classes share one output, and another class is cut in two. A start with more outputs
than classes seldom lacks one, and too many are easy to repair. So each model

* begins with K groups, K > C: k-means along the leading eigenvectors of
  sum of u (z z'^T + z' z^T), with u = 1 / n_same for answers "same" and
  -1 / n_different for the others, which is how much either tells;
* minimises J for a few steps;
* merges the two groups a, b for which the answers are likeliest once P(same) is

  .. math:: S + p_a(x) \, p_b(x') + p_b(x) \, p_a(x') ,

  regresses its scores on the probabilities that result, and goes on with K - 1,

until C are left. On the way there is a model for every number of groups, from which
:mod:`pairlearn.models.auto.kinds` finds how many there are. A model of a fold sees the
answers of its own training only, here too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import softmax

from pairlearn.engine.solvers import (
    cluster_embedding,
    cluster_groups,
    leading_eigenvectors,
    minimise_together,
)
from pairlearn.models.auto.path import PathObjective, score

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.random import RandomState

    from pairlearn.data.types import Floats, Ints
    from pairlearn.models.auto.likelihood import PairLikelihood

__all__ = ["Regression", "SoftmaxObjective", "find_groups"]

# The prior's standard deviation while groups are looked for.
SCALE = 4.0
# Starts of each model.
N_STARTS = 2
# Steps with all groups, after a merger, and at the end.
_FIRST, _BETWEEN, _LAST = 20, 8, 40
# The start looks at the leading features only: it need not be exact.
_LEADING = 100
# Scores of a start.
_SPREAD = 1.5
_TOL = 0.05


class SoftmaxObjective(PathObjective):
    """J and its gradient for more than two classes, in single precision.

    The features must be of single precision; values and gradients are double.
    """

    def __call__(self, u: Floats, rows: Ints) -> tuple[Floats, Floats]:
        """Return J and its gradient for some of the rows."""
        n_models, n_outputs = len(u), self.n_outputs
        penalty, stretch = self.of_rows(rows)
        weights = (u / stretch).reshape(n_models, n_outputs, -1)
        # Outputs before models, as the risk wants them.
        flat = weights.swapaxes(0, 1).reshape(n_outputs * n_models, -1)
        flat = flat.astype(np.float32)
        scores = self.features @ flat[:, :-1].T + flat[:, -1]
        scores = scores.reshape(-1, n_outputs, n_models).swapaxes(1, 2)
        value, r = self.evaluate(scores, rows)
        value = value + (penalty * weights**2).sum(axis=(1, 2)) / 2
        r = r.swapaxes(1, 2).reshape(len(r), -1)
        by_weights = np.column_stack([r.T @ self.features, r.sum(axis=0)])
        by_weights = by_weights.reshape(n_outputs, n_models, -1).swapaxes(0, 1)
        gradient = by_weights + penalty * weights
        return value, gradient.reshape(u.shape) / stretch


class Regression:
    """Ridge regression of scores on class probabilities, for a start.

    Parameters
    ----------
    features : ndarray of shape (n_points, n_features)
        z of all points.
    """

    def __init__(self, features: Floats) -> None:
        ones = np.ones((len(features), 1), dtype=features.dtype)
        self._Z = np.concatenate([features, ones], axis=1)
        gram = (self._Z.T @ self._Z).astype(float)
        self._factor = cho_factor(gram + 0.005 * len(features) * np.eye(len(gram)))

    def __call__(self, p: Floats) -> Floats:
        """Return weights (n_models, n_outputs, n_features + 1) for such p.

        `p` has shape (n_points, n_models, n_outputs).
        """
        target = (p - p.mean(axis=0)).reshape(len(p), -1).astype(self._Z.dtype)
        flat = cho_solve(self._factor, (self._Z.T @ target).astype(float)).T
        scores = (self._Z @ flat.T.astype(self._Z.dtype)).reshape(p.shape)
        spread = np.sqrt(np.mean(scores.astype(float) ** 2, axis=(0, 2)))
        weights = flat.reshape(*p.shape[1:], -1)
        return np.asarray(_SPREAD * weights / np.maximum(spread, 1e-12)[:, None, None])


def find_groups(
    features: Floats,
    likelihood: PairLikelihood,
    most: int,
    least: int,
    rng: RandomState,
) -> Iterator[tuple[int, Floats, Floats]]:
    """Yield weights and J of each model for each number of groups.

    Parameters
    ----------
    features : ndarray of shape (n_points, n_features)
        z of all points, in single precision.
    likelihood : PairLikelihood
        R for each model.
    most, least : int
        With how many groups to begin and to end.
    rng : RandomState
        Source of the starts.

    Yields
    ------
    n_groups : int
        The number of groups, from `most` down to `least`.
    weights : ndarray of shape (n_models, n_groups, n_features + 1)
        The weights.
    value : ndarray of shape (n_models,)
        J; exact for `least` only, since the others are left after a few steps.
    """
    n_models = likelihood.same.shape[1]
    regression = Regression(features)
    p = _first_groups(features, likelihood, most, rng)
    w = regression(p)
    models = np.tile(np.arange(n_models), N_STARTS)
    for n_groups in range(most, least - 1, -1):
        if n_groups < most:
            p = softmax(score(features, w.astype(np.float32)), axis=2)
            w = regression(_merged(p, likelihood, models))
        objective = SoftmaxObjective(features, likelihood, n_groups, SCALE, models)
        n_iter = _FIRST if n_groups == most else _BETWEEN
        u = w.reshape(len(w), -1) * objective.stretch
        u, value, _ = minimise_together(
            objective, u, max_iter=_LAST if n_groups == least else n_iter, tol=_TOL
        )
        w = (u / objective.stretch).reshape(w.shape)
        start = value.reshape(-1, n_models).argmin(axis=0)
        best = start * n_models + np.arange(n_models)
        yield n_groups, w[best], value[best]


def _first_groups(
    features: Floats, likelihood: PairLikelihood, n_groups: int, rng: RandomState
) -> Floats:
    """Return memberships (n_points, n_starts * n_models, n_groups)."""
    Z = features[:, :_LEADING]
    left, right = Z[likelihood.index[:, 0]], Z[likelihood.index[:, 1]]
    found = []
    for seed in rng.randint(2**31 - 1, size=N_STARTS):
        for same, different in zip(
            likelihood.same.T, likelihood.different.T, strict=True
        ):
            counts = max(same.sum(), 1e-12), max(different.sum(), 1e-12)
            u = (same / counts[0] - different / counts[1]).astype(np.float32)
            moment = ((left * u[:, None]).T @ right).astype(float)
            n_leading = min(n_groups, len(moment))
            leading = leading_eigenvectors(moment + moment.T, n_leading)
            embedding = cluster_embedding(Z @ leading, n_groups)
            if embedding is None:
                # Too few different points to cluster: any groups will do.
                groups = np.random.RandomState(seed).randint(n_groups, size=len(Z))
            else:
                groups = cluster_groups(embedding, n_groups, seed)
            found.append(np.eye(n_groups, dtype=np.float32)[groups])
    return np.stack(found, axis=1)


def _merged(p: Floats, likelihood: PairLikelihood, models: Ints) -> Floats:
    """Merge two groups of each model, those whose union explains the answers best."""
    rates: tuple[Any, Any] = likelihood.rates
    n_points, n_models, n_groups = p.shape
    first, second = np.triu_indices(n_groups, 1)
    merged = np.empty((n_points, n_models, n_groups - 1), dtype=p.dtype)
    for k, model in enumerate(models):
        own = p[:, k]
        seen = (likelihood.same[:, model] + likelihood.different[:, model]) > 0
        left, right = own[likelihood.index[seen, 0]], own[likelihood.index[seen, 1]]
        cross = left[:, first] * right[:, second] + left[:, second] * right[:, first]
        chance = (left * right).sum(axis=1, keepdims=True) + cross
        r1, r0 = (rate[seen] if np.ndim(rate) else rate for rate in rates)
        q = np.minimum(r0 + (r1 - r0) * chance, np.float32(r1))
        same = likelihood.same[seen, model].astype(np.float32)
        different = likelihood.different[seen, model].astype(np.float32)
        fit = same @ np.log(q) + different @ np.log1p(-q)
        a, b = first[fit.argmax()], second[fit.argmax()]
        kept = np.delete(np.arange(n_groups), b)
        merged[:, k] = own[:, kept]
        merged[:, k, a] += own[:, b]
    return merged
