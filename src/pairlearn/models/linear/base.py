"""What the linear classifiers share: f(x) = w^T x + b, solvers, class assignment."""

from __future__ import annotations

import numbers
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from pairlearn.data.containers import is_dask, on_host
from pairlearn.data.pairs import as_pairs
from pairlearn.engine.growing_samples import minimise_growing
from pairlearn.engine.objective import Frame, NoisyObjective, PairObjective
from pairlearn.engine.points import as_points
from pairlearn.engine.solvers import (
    Solution,
    minimise_lbfgs,
    minimise_sgd,
    sgd_epoch,
    starts,
)
from pairlearn.models.base import PairClassifierBase
from pairlearn.system.threads import own_threads
from pairlearn.trust.assignment import majority_sign

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import RandomState
    from numpy.typing import ArrayLike

    from pairlearn.data.pairs import Pairs
    from pairlearn.data.types import Floats, PointsLike
    from pairlearn.engine.objective import PointObjective

__all__ = ["LinearPairClassifier"]

# Starting points of flip rates that are to be estimated.
_START_RATES = ((0.95, 0.05), (0.8, 0.2), (0.9, 0.4))


class LinearPairClassifier(PairClassifierBase):
    """Base of classifiers with the score f(x) = w^T x + b.

    A subclass makes objectives; this class minimises them, stores the solution as
    `coef_` and `intercept_`, and turns its sign.
    """

    alpha: float
    fit_intercept: bool
    solver: str
    max_iter: int
    tol: float
    n_init: int
    batch_size: int
    learning_rate: float
    warm_start: bool

    @property
    def _keeps_blocks(self) -> bool:  # type: ignore[override]
        # Batches of SGD come from everywhere: it wants its points in memory.
        return self._keeps_tensors and self.solver != "sgd"

    def _scores(self, X: PointsLike) -> Any:
        return as_points(X).own_scores(self.coef_[0], self.intercept_[0])

    def _flip(self) -> None:
        self._store(-self.coef_[0], -self.intercept_[0])

    def _store(self, w: Floats, b: Floats) -> None:
        # Adding zero turns -0.0, which a flip leaves behind, into 0.0.
        self.coef_ = np.atleast_2d(w.T) + 0.0
        self.intercept_ = np.atleast_1d(b) + 0.0

    def _fix_sign(self) -> None:
        """Make the largest weight positive: arbitrary, but always the same."""
        largest = np.argmax(np.abs(self.coef_[0]))
        if self.coef_[0, largest] < 0:
            self._flip()

    def _record(self, solution: Solution, *, convex: bool = False) -> None:
        # A convex risk may lie far below zero, with the penalty alone to hold it: that
        # is a minimum all the same. Any other has no bottom there.
        if not np.isfinite(solution.value):
            raise FloatingPointError(
                "the objective is too large for floating-point numbers: scale the "
                "features (make_pair_pipeline(StandardScaler(), ...)) or raise alpha"
            )
        if not convex and solution.value <= -1e3:
            raise FloatingPointError(
                "the risk fell without limit: its negative terms outweigh the others "
                "on these few pairs. Use nonnegative=True, a larger alpha, or a loss "
                "that keeps it convex ('logistic', 'squared', 'double_hinge')"
            )
        self.objective_ = solution.value
        self.history_ = {
            "objective": np.array(solution.history),
            "n_evaluations": solution.n_evaluations,
            "passes": solution.passes,
            "samples": np.array(solution.samples, dtype=int),
        }
        self.n_iter_ = max(1, len(solution.history) - 1)
        if not solution.converged:
            warnings.warn(
                f"L-BFGS stopped after max_iter={self.max_iter} iterations; raise "
                "max_iter or alpha, or loosen tol",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _check_numbers(self, *whole: str) -> None:
        """Refuse parameters that are not numbers of the right kind."""
        self._check_alpha()
        for name in whole:
            value = getattr(self, name)
            if not isinstance(value, numbers.Integral) or value < 1:
                raise ValueError(
                    f"{name} must be a whole number above 0; got {value!r}"
                )
        for name in ("tol", "learning_rate"):
            value = getattr(self, name, 1.0)
            if not isinstance(value, int | float | np.number) or not value > 0:
                raise ValueError(f"{name} must be a number above 0; got {value!r}")
        if getattr(self, "majority", None) is not None:
            majority_sign(self.majority, self._class_names())

    def _check_alpha(self) -> None:
        alpha: Any = getattr(self, "alpha", 0.0)
        if not isinstance(alpha, int | float | np.number) or not 0 <= alpha < np.inf:
            raise ValueError(f"alpha must be a number, 0 or above; got {alpha!r}")

    def _minimise(
        self,
        solver: str,
        make: Callable[[Frame], PairObjective | PointObjective],
        X: PointsLike,
        rng: RandomState,
        begin: Callable[[Any], list[Floats]] | None = None,
    ) -> tuple[Solution, Any]:
        """Minimise an objective; return the solution and the objective.

        Parameters
        ----------
        solver : {"lbfgs", "sgd"}
            How.
        make : callable
            Frame -> objective.
        X : ndarray or CSR matrix
            The points.
        rng : RandomState
            Source of SGD's starts and order.
        begin : callable, optional
            Objective -> starts of L-BFGS; None: two eigenvectors and other directions.
        """
        n_features = X.shape[1]
        plain = Frame.plain(n_features, self.fit_intercept)
        if solver == "lbfgs":
            with own_threads():
                return self._descend(make(plain), begin)
        solutions = []
        for _ in range(self.n_init):
            objective = make(plain)
            # The default start of a linear layer, as in the paper's experiments.
            reach = 1 / np.sqrt(n_features)
            random = [rng.uniform(-reach, reach, objective.size)]
            solution = minimise_sgd(
                objective,
                (self._previous(objective) or random)[0],
                max_iter=self.max_iter,
                batch_size=self.batch_size,
                learning_rate=self.learning_rate,
                rng=rng,
            )
            solutions.append(solution)
        return min(solutions, key=lambda solution: solution.value), objective

    def _descend(
        self, objective: Any, begin: Callable[[Any], list[Floats]] | None
    ) -> tuple[Solution, Any]:
        """Minimise by L-BFGS, on growing samples if there are many terms."""

        def first(objective: Any) -> list[Floats]:
            return begin(objective) if begin else starts(objective, self.n_init)

        # With several outputs, starts that name the classes otherwise lead to minima
        # that look different and are the same: only the best two go on.
        options: Any = {
            "max_iter": self.max_iter,
            "tol": self.tol,
            "n_finish": None if objective.n_outputs == 1 else 2,
        }
        size, flat = objective.first_sample, objective.flat
        if size and not self._previous(objective):
            solution, objective = minimise_growing(objective, first, **options)
        else:
            # A frame only makes the objective round: a sample's is as good.
            here = objective.sample(size).framed() if size else objective.framed()
            objective = objective.in_frame(here.frame)
            go_on = self._previous(here)
            if go_on and here(go_on[0])[0] > here.flat - 1e-4 * abs(here.flat):
                go_on = []
            solution = minimise_lbfgs(objective, go_on or first(objective), **options)
        if solution.value > flat - 1e-6 * abs(flat):
            warnings.warn(
                "the penalty outweighs the answers: the model with all weights zero is "
                "the best one found. Scale the features "
                "(make_pair_pipeline(StandardScaler(), ...)) or lower alpha. It may "
                "also be that the answers have nothing to do with the features",
                stacklevel=4,
            )
        return solution, objective

    def _estimate_rates(
        self, objective: PairObjective, known: Solution, *, symmetric: bool
    ) -> tuple[Solution, tuple[float, float]]:
        """Minimise in the weights and the flip rates together.

        It begins at the weights of the known solution, which it counts as its own work.
        Of many pairs the best of several starts is found on a sample.
        """
        noisy = NoisyObjective(objective, symmetric=symmetric)
        first = [noisy.join(known.u, rates) for rates in _START_RATES]
        options: Any = {"max_iter": self.max_iter, "tol": self.tol}
        before, passes, size = known.n_evaluations, known.passes, objective.first_sample
        with own_threads():
            if size:
                some = NoisyObjective(objective.sample(size), symmetric=symmetric)
                best = minimise_lbfgs(some, first, **options)
                first, before = [best.u], before + best.n_evaluations
                passes += best.n_evaluations * size / objective.n_terms
            found = minimise_lbfgs(noisy, first, **options)
        _, rates = noisy.split(found.u)
        return replace(
            found,
            n_evaluations=before + found.n_evaluations,
            passes=passes + found.passes,
            samples=known.samples,
        ), rates

    def _previous(self, objective: Any) -> list[Floats]:
        """Return the previous solution as a start, if there is one to go on from."""
        frame = objective.frame
        if not (self.warm_start and hasattr(self, "coef_")):
            return []
        if self.coef_.shape != (objective.n_outputs, len(frame.scale)):
            return []
        if not self.coef_.any():
            return []
        parts = [
            frame.coordinates(w, float(b))
            for w, b in zip(self.coef_, self.intercept_, strict=True)
        ]
        return [np.concatenate(parts)]

    def _step(
        self,
        pairs: Pairs | ArrayLike,
        t: ArrayLike,
        sample_weight: ArrayLike | None,
    ) -> Self:
        """Take one pass of SGD over more pairs; see `partial_fit`."""
        first = not hasattr(self, "coef_")
        pairs = as_pairs(pairs)
        if is_dask(pairs.X):
            # A batch of a stream fits into memory.
            used = pairs.compact()
            pairs = used.with_points(on_host(used.X))
        pairs, answers, weight = self._validate_fit(
            pairs, t, sample_weight, reset=first, both_kinds=False
        )
        points = as_points(pairs.X)
        # What an earlier fit recorded does not describe the new weights.
        for name in ("objective_", "history_"):
            self.__dict__.pop(name, None)
        plain = Frame.plain(points.n_features, self.fit_intercept)
        if first:
            objective = self._pair_objective(pairs, answers, weight, plain).framed()
            self._store(*objective.weights(starts(objective, 1)[0]))
            self._fix_sign()
            self.assignment_ = None
        objective = self._pair_objective(pairs, answers, weight, plain)
        # A weight counts by itself, not relative to whatever came in the same call.
        objective.same, objective.different = (
            weight * (1 + answers) / (2 * len(pairs)),
            weight * (1 - answers) / (2 * len(pairs)),
        )
        u, _ = sgd_epoch(
            objective,
            plain.coordinates(self.coef_[0], float(self.intercept_[0])),
            np.arange(len(pairs)),
            self.batch_size,
            self.learning_rate,
        )
        self._store(*objective.weights(u))
        self.n_iter_ = getattr(self, "n_iter_", 0) + 1
        return self

    def _pair_objective(
        self, pairs: Pairs, t: Floats, weight: Floats, frame: Frame
    ) -> PairObjective:
        raise NotImplementedError
