"""Solvers: they see a function of a vector, and start where it is not flat.

u = 0 is a stationary point of every product risk, so a start matters. The
leading eigenvector of the moment matrix (the exact minimiser for the unhinged
loss) is a good direction; its best length is a search along a line.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import minimize, minimize_scalar
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh
from sklearn.cluster import KMeans

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.random import RandomState

    from pairlearn.data.types import Floats, Ints
    from pairlearn.engine.objective import (
        LinearObjective,
        PairObjective,
        PointObjective,
    )

__all__ = [
    "Solution",
    "best_length",
    "cluster_embedding",
    "cluster_groups",
    "cluster_weights",
    "directions",
    "eigenvectors",
    "exact_solution",
    "leading_eigenvectors",
    "minimise_lbfgs",
    "minimise_rounded",
    "minimise_sgd",
    "minimise_together",
    "rounding",
    "sgd_epoch",
    "starts",
]

# Up to this size the moment matrix is built; beyond, it is only multiplied.
DENSE_FEATURES = 256
DENSE_ENTRIES = 20_000_000
# Iterations after which a start is compared with the minima found so far.
RACE = 15
# No objective of a model worth having is as large as this.
_DIVERGED = 1e9
# The steps of the smoothing of a loss with a kink, from coarse to fine.
SMOOTHING = (0.5, 0.1, 0.02, 0.004, 0.0008)


@dataclass(frozen=True)
class Solution:
    """What a solver returns.

    Attributes
    ----------
    u : ndarray
        The minimiser found.
    value : float
        The objective there.
    history : list of float
        The objective after each iteration (L-BFGS), or its mean over the batches of
        each epoch (SGD).
    n_evaluations : int
        How often the objective was evaluated, over all starts and samples.
    converged : bool
        Whether the tolerance was met.
    passes : float
        The same, but an evaluation on a sample counts by its share of the terms.
    samples : tuple of int
        Terms of each sample, the last being all; empty if there were none.
    """

    u: Floats
    value: float
    history: list[float]
    n_evaluations: int
    converged: bool
    passes: float = math.nan
    samples: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if math.isnan(self.passes):
            object.__setattr__(self, "passes", float(self.n_evaluations))


def exact_solution(objective: LinearObjective, u: Floats) -> Solution:
    """Return a minimiser that was computed, not searched for."""
    value = objective(u)[0]
    return Solution(u, value, [value], 1, converged=True)


def eigenvectors(objective: PairObjective, k: int) -> Floats:
    """Return the k leading unit eigenvectors of the moment matrix, as columns."""
    size = objective.scaling.size
    k = min(k, size)
    small = size <= DENSE_FEATURES and size * objective.points.n_points <= DENSE_ENTRIES
    if small or k >= size - 1:
        matrix = objective.moment(np.eye(size))
        return leading_eigenvectors((matrix + matrix.T) / 2, k)
    operator = LinearOperator(
        (size, size), matvec=lambda u: objective.moment(u.ravel()), dtype=float
    )
    try:
        vectors = eigsh(operator, k=k, which="LA", v0=directions(size, 1)[0])[1]
    except ArpackError:
        # Answers that cancel out leave nothing to multiply: any direction will do.
        vectors = np.linalg.qr(directions(size, k).T)[0]
    return np.asarray(vectors[:, ::-1])


def leading_eigenvectors(matrix: Floats, k: int) -> Floats:
    """Return the k leading unit eigenvectors of a symmetric matrix, as columns."""
    size = len(matrix)
    vectors = eigh(matrix, subset_by_index=(size - k, size - 1))[1]
    return np.asarray(vectors[:, ::-1])


def cluster_embedding(scores: Floats, n_classes: int) -> Floats | None:
    """Return scores of unit variance, to be clustered; None if too few are different.

    Parameters
    ----------
    scores : ndarray of shape (n_points, n_classes)
        The points along leading eigenvectors, which span the directions that tell
        classes apart.
    n_classes : int
        How many clusters there are to be.
    """
    embedding = scores / (scores.std(axis=0) + 1e-12)
    n_places = len(np.unique(embedding.round(9), axis=0))
    return embedding if n_places >= n_classes else None


def cluster_weights(Z: Floats, embedding: Floats, n_classes: int, seed: int) -> Floats:
    """Return linear scores of Z, one per cluster: a ridge fit to k-means++ clusters.

    Parameters
    ----------
    Z : ndarray of shape (n_points, size)
        What the scores are linear in.
    embedding : ndarray of shape (n_points, n_classes)
        As from `cluster_embedding`.
    n_classes : int
        Number of clusters.
    seed : int
        Seed of k-means++.

    Returns
    -------
    ndarray of shape (size, n_classes)
    """
    groups = cluster_groups(embedding, n_classes, seed)
    member = np.eye(n_classes)[groups]
    ridge = Z.T @ Z + 0.1 * len(Z) * np.eye(Z.shape[1])
    return np.asarray(np.linalg.solve(ridge, Z.T @ (member - member.mean(axis=0))))


def cluster_groups(embedding: Floats, n_classes: int, seed: int) -> Ints:
    """Return the k-means++ cluster of each point of an embedding."""
    return np.asarray(
        KMeans(n_classes, n_init=1, random_state=seed).fit(embedding).labels_
    )


def starts(objective: PairObjective, n_init: int) -> list[Floats]:
    """Return starting points: two leading eigenvectors, then mixed directions.

    That choice misses fewer minima than eigenvectors alone or directions alone
    (benchmarks/results/core.md). Each is scaled to the length at which the objective
    is smallest along it.
    """
    spectral = list(eigenvectors(objective, min(n_init, 2)).T)
    mixed = directions(objective.scaling.size, n_init - len(spectral))
    return [best_length(objective, u) * u for u in (*spectral, *mixed)]


def minimise_lbfgs(
    objective: Any,
    starts: Sequence[Floats],
    *,
    max_iter: int,
    tol: float,
    n_finish: int | None = None,
) -> Solution:
    """Minimise by L-BFGS from every start and return the best minimiser.

    Starts tend to lead to few minima. After a few iterations, those on the way to a
    minimum that another start has reached already are dropped, and so are all but the
    `n_finish` lowest, if that is given. A risk with a kink is minimised through ever
    closer smooth ones.
    """
    stages = [objective]
    if not objective.smooth:
        stages = [objective.smoothed(width) for width in SMOOTHING]
    # A single start has no rivals to be compared with.
    sprint = min(RACE, max_iter) if len(starts) > 1 else max_iter
    races = []
    for start in starts:
        history = [] if objective.smooth else [objective(start)[0]]
        first = _lbfgs(stages[0], objective, start, history, sprint, tol)
        races.append((first, history))
    races.sort(key=lambda race: float(race[0].fun))
    solutions: list[Solution] = []
    for result, history in races[:n_finish]:
        u = result.x
        if any(_is_parallel(u, known.u) for known in solutions):
            continue
        for stage in stages:
            left = max_iter - len(history) + 1 if objective.smooth else max_iter
            if left > 0 and (result.status == 1 or stage is not stages[0]):
                result = _lbfgs(stage, objective, u, history, left, tol)
                u = result.x
        value = float(result.fun) if objective.smooth else objective(u)[0]
        solutions.append(Solution(u, value, history, 0, result.status != 1))
    best = min(solutions, key=lambda solution: solution.value)
    evaluations = sum({id(o): o.n_evaluations for o in (objective, *stages)}.values())
    return replace(best, n_evaluations=evaluations, passes=float(evaluations))


def rounding(objective: Any, u: Floats) -> Floats:
    r"""Return T such that v -> J(T v) is round near u: T^T H T is the identity.

    H is the Hessian; where the objective does not know it, by differences of the
    gradient, one evaluation a parameter. Directions that it bends little or the wrong
    way are treated as bent a little.
    """
    if objective.knows_curvature:
        H = objective.curvature(u)
    else:
        step = 1e-4 * max(1.0, float(np.abs(u).max()))
        here = objective(u)[1]
        H = np.array([objective(u + step * e)[1] - here for e in np.eye(len(u))]) / step
    values, vectors = eigh((H + H.T) / 2)
    values = np.maximum(np.abs(values), 1e-4 * np.abs(values).max() + 1e-300)
    return np.asarray(vectors / np.sqrt(values))


def minimise_rounded(
    objective: Any, start: Floats, T: Floats, *, max_iter: int, tol: float
) -> Solution:
    """Minimise a smooth objective by L-BFGS in coordinates v that make it round.

    u = T v; the gradient in v is T^T times that in u. The tolerance is on the largest
    entry of the gradient in u, as everywhere.
    """
    gradients: dict[bytes, float] = {}
    history: list[float] = []

    def evaluate(v: Floats) -> tuple[float, Floats]:
        value, gradient = objective(start + T @ v)
        gradients.clear()
        gradients[v.tobytes()] = float(np.abs(gradient).max())
        if not history:
            history.append(value)
        return value, T.T @ gradient

    def record(intermediate_result: Any) -> None:
        history.append(float(intermediate_result.fun))
        if gradients.get(intermediate_result.x.tobytes(), math.inf) <= tol:
            raise StopIteration

    result = _minimise_scipy(evaluate, np.zeros(len(start)), record, max_iter, 0.0)
    n = objective.n_evaluations
    u = start + T @ result.x
    return Solution(u, float(result.fun), history, n, result.status != 1)


def minimise_together(
    objective: Any,
    starts: Floats,
    *,
    max_iter: int,
    tol: float,
    memory: int = 6,
    alone: bool = False,
) -> tuple[Floats, Floats, int]:
    """Minimise many objectives of the same kind at once, by L-BFGS.

    Each row is a problem by itself, with its own steps; they only share the
    evaluations, which a single large matrix product makes cheaper than many small ones.

    Parameters
    ----------
    objective : callable
        (u, rows) -> values and gradients, with u of shape (len(rows), size).
    starts : ndarray of shape (n_problems, size)
        Where to begin.
    max_iter : int
        The most iterations.
    tol : float
        It ends when no objective falls by more than this in an iteration.
    memory : int, default=6
        Steps from which the curvature is learned.
    alone : bool, default=False
        Whether each problem ends by itself, when its own objective falls no further, so
        that its result is the same without the others.

    Returns
    -------
    u : ndarray of shape (n_problems, size)
        The minimisers.
    values : ndarray of shape (n_problems,)
        The objectives there.
    n_iter : int
        Iterations.
    """
    going_on = np.arange(len(starts))
    u, (value, gradient) = starts.copy(), objective(starts, going_on)
    steps: list[tuple[Floats, Floats, Floats]] = []
    n_iter = 0
    while n_iter < max_iter:
        n_iter += 1
        move = _lbfgs_direction(gradient, steps)
        # A first step may be wild: no step is longer than the weights so far, and 5.
        length = np.linalg.norm(move, axis=1)
        limit = np.linalg.norm(u, axis=1) + 5
        move *= np.minimum(1, limit / np.maximum(length, 1e-300))[:, None]
        slope = _dot(move, gradient)
        new_u, new_value, new_gradient = u.copy(), value.copy(), gradient.copy()
        rows, step = going_on, 1.0
        for _ in range(8):
            trial = u[rows] + step * move[rows]
            trial_value, trial_gradient = objective(trial, rows)
            # Not "not greater": a value that is not a number is refused as well.
            fine = trial_value <= value[rows] + 1e-4 * step * slope[rows]
            new_u[rows[fine]] = trial[fine]
            new_value[rows[fine]] = trial_value[fine]
            new_gradient[rows[fine]] = trial_gradient[fine]
            rows, step = rows[~fine], step / 4
            if not len(rows):
                break
        change, bend = new_u - u, new_gradient - gradient
        curved = _dot(change, bend)
        steps.append((change, bend, np.where(curved > 1e-12, curved, np.inf)))
        steps = steps[-memory:]
        fall = value - new_value
        u, value, gradient = new_u, new_value, new_gradient
        if alone:
            going_on = going_on[fall[going_on] >= tol]
        if fall.max() < tol:
            break
    return u, value, n_iter


def _lbfgs_direction(
    gradient: Floats, steps: list[tuple[Floats, Floats, Floats]]
) -> Floats:
    """Return the step of each row by the two loops of L-BFGS; downhill always.

    A step with infinite `curved` taught nothing about its row and is passed over.
    """
    move, shares = -gradient, []
    for change, bend, curved in reversed(steps):
        share = _dot(change, move) / curved
        move -= share[:, None] * bend
        shares.append(share)
    if steps:
        _, bend, curved = steps[-1]
        ratio = curved / np.maximum(_dot(bend, bend), 1e-300)
        move *= np.where(np.isfinite(curved), ratio, 1.0)[:, None]
    for (change, bend, curved), share in zip(steps, reversed(shares), strict=True):
        move += (share - _dot(bend, move) / curved)[:, None] * change
    uphill = _dot(move, gradient) >= 0
    move[uphill] = -gradient[uphill]
    return move


def _dot(a: Floats, b: Floats) -> Floats:
    """Return the inner product of each row of a with that of b."""
    return np.asarray(np.einsum("ij,ij->i", a, b))


def minimise_sgd(
    objective: PairObjective | PointObjective,
    start: Floats,
    *,
    max_iter: int,
    batch_size: int,
    learning_rate: float,
    rng: RandomState,
) -> Solution:
    """Minimise by stochastic gradient descent with a constant rate.

    Each epoch visits the terms once, in a new random order. The history holds the
    objective at the start and then its mean over the batches of each epoch, which
    costs nothing; a pass over all terms after each epoch would double the time.
    """
    history = [objective(start)[0]]
    u = start
    for _ in range(max_iter):
        order = rng.permutation(objective.n_terms)
        u, value = sgd_epoch(objective, u, order, batch_size, learning_rate)
        history.append(value)
    value = objective(u)[0]
    # Weights that left all bounds may still be numbers; their objective is huge.
    if not value < _DIVERGED:
        raise _divergence(learning_rate)
    return Solution(u, value, history, max_iter + 2, converged=True)


def sgd_epoch(
    objective: PairObjective | PointObjective,
    u: Floats,
    order: Ints,
    batch_size: int,
    learning_rate: float,
) -> tuple[Floats, float]:
    """Take one gradient step for each batch, in the given order.

    Returns the new weights and the mean of the objective over the batches.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        u, value = objective.epoch(u, order, batch_size, learning_rate)
    if not np.isfinite(u).all():
        raise _divergence(learning_rate)
    return u, value


def _divergence(learning_rate: float) -> FloatingPointError:
    return FloatingPointError(
        f"SGD diverged at learning_rate={learning_rate}: lower it, scale the "
        "features (make_pair_pipeline(StandardScaler(), ...)), or use "
        "solver='lbfgs'"
    )


def _lbfgs(
    stage: Any,
    objective: Any,
    u: Floats,
    history: list[float],
    max_iter: int,
    tol: float,
) -> Any:
    """Minimise a stage of an objective, recording the objective itself on the way."""

    def evaluate(u: Floats) -> tuple[float, Floats]:
        value, gradient = stage(u)
        if not history:
            history.append(float(value))
        return value, gradient

    def record(intermediate_result: Any) -> None:
        value = intermediate_result.fun
        if stage is not objective:
            value = objective(intermediate_result.x)[0]
        history.append(float(value))

    return _minimise_scipy(evaluate, u, record, max_iter, tol)


def _minimise_scipy(
    evaluate: Any, u: Floats, record: Any, max_iter: int, tol: float
) -> Any:
    return minimize(
        evaluate,
        u,
        jac=True,
        method="L-BFGS-B",
        callback=record,
        options={
            "maxiter": max_iter,
            "maxfun": 20 * max_iter,
            "gtol": tol,
            "ftol": 64 * np.finfo(float).eps,
        },
    )


def _is_parallel(u: Floats, v: Floats) -> bool:
    """Tell whether two models are the same up to length and sign, or nearly so."""
    return bool(abs(u @ v) >= 0.99 * np.linalg.norm(u) * np.linalg.norm(v))


def directions(size: int, n: int) -> Floats:
    """Return unit vectors in all directions: always the same, so no seed is needed."""
    vectors = np.random.default_rng(0).standard_normal((n, size))
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def best_length(objective: LinearObjective, direction: Floats) -> float:
    """Return the c > 0 with the smallest J(c u) for a unit direction u."""
    value = objective.value_along(direction)
    # In scaled coordinates scores have unit variance, so the length lies within
    # these bounds unless the answers carry no information at all.
    search = minimize_scalar(
        lambda log_c: value(math.exp(log_c)),
        bounds=(math.log(1e-2), math.log(1e3)),
        method="bounded",
        options={"maxiter": 30, "xatol": 0.05},
    )
    return math.exp(search.x)
