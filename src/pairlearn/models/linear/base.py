"""What the linear classifiers share: f(x) = w^T x + b, solvers, class assignment."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from pairlearn.data.checks import (
    check_flip_rates,
    check_integer,
    check_number,
    known_rates,
)
from pairlearn.data.containers import is_dask, on_host
from pairlearn.data.pairs import as_pairs
from pairlearn.engine.backends.protocol import PairRiskSum
from pairlearn.engine.coefficients import Coefficients, pair_coefficients
from pairlearn.engine.growing_samples import draw_sample, minimise_growing, sample_sizes
from pairlearn.engine.noisy_objective import NoisyObjective
from pairlearn.engine.objective import PairObjective, PointObjective
from pairlearn.engine.points import as_points
from pairlearn.engine.scaling import Scaling
from pairlearn.engine.solvers import (
    Solution,
    minimise_lbfgs,
    minimise_sgd,
    sgd_epoch,
    starts,
)
from pairlearn.models.base import PairClassifierBase
from pairlearn.system.threads import own_threads

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import RandomState
    from numpy.typing import ArrayLike

    from pairlearn.data.types import Floats, PairsLike, PointsLike
    from pairlearn.engine.backends.protocol import RiskSum
    from pairlearn.engine.risks import PairRisk

    # Gives the points to begin at; None for the usual ones.
    Begin = Callable[[Any], list[Floats]] | None

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
    flip_rates: Any
    warm_start: bool
    # Scores per point.
    _n_outputs = 1

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
            check_integer(name, getattr(self, name))
        for name in ("tol", "learning_rate"):
            check_number(name, getattr(self, name, 1.0))
        self._check_majority()

    def _check_alpha(self) -> None:
        check_number("alpha", getattr(self, "alpha", 0.0), allow_zero=True)

    def _objective(
        self, risk: Any, risk_sum: Any, scaling: Scaling | None = None
    ) -> Any:
        """Return the objective in a scaling; None: that of its own points."""
        if scaling is None:
            rows = risk_sum.used_points()
            scaling = Scaling.of(risk_sum.points, self.alpha, self.fit_intercept, rows)
        kind = PairObjective if isinstance(risk_sum, PairRiskSum) else PointObjective
        return kind(risk_sum, risk, self.alpha, scaling, self._n_outputs)

    def _learn(
        self, solver: str, risk_sum: PairRiskSum, rng: RandomState, begin: Begin = None
    ) -> None:
        """Find the weights, and the flip rates if they are to be estimated."""
        rates = check_flip_rates(self.flip_rates)
        self.flip_rates_ = known_rates(rates)
        solution, objective = self._minimise(solver, risk_sum, self._risk(), rng, begin)
        if isinstance(rates, str):
            solution, self.flip_rates_ = self._estimate_rates(
                objective, solution, symmetric=rates == "symmetric"
            )
        self._store(*objective.weights(solution.u[: objective.size]))
        self._record(solution)

    def _risk(self) -> PairRisk:
        """Return the risk to minimise, with the flip rates as far as they are known."""
        raise NotImplementedError

    def _minimise(
        self,
        solver: str,
        risk_sum: RiskSum,
        risk: Any,
        rng: RandomState,
        begin: Begin = None,
    ) -> tuple[Solution, Any]:
        """Minimise an objective; return the solution and the objective.

        Parameters
        ----------
        solver : {"lbfgs", "sgd"}
            How.
        risk_sum : RiskSum
            The points or pairs, with their coefficients.
        risk : PairRisk or PointRisk
            The risk.
        rng : RandomState
            Source of SGD's starts and order.
        begin : callable, optional
            Objective -> starts of L-BFGS; None: two eigenvectors and other directions.
        """
        make = partial(self._objective, risk)
        if solver == "lbfgs":
            with own_threads():
                return self._descend(risk_sum, make, begin)
        n_features = risk_sum.points.n_features
        objective = make(risk_sum, Scaling.identity(n_features, self.fit_intercept))
        previous = self._previous(objective.scaling)
        solutions = []
        for _ in range(self.n_init):
            # The default start of a linear layer, as in the paper's experiments.
            reach = 1 / np.sqrt(n_features)
            random = rng.uniform(-reach, reach, objective.size)
            solution = minimise_sgd(
                objective,
                random if previous is None else previous,
                max_iter=self.max_iter,
                batch_size=self.batch_size,
                learning_rate=self.learning_rate,
                rng=rng,
            )
            solutions.append(solution)
        return min(solutions, key=lambda solution: solution.value), objective

    def _descend(
        self, risk_sum: RiskSum, make: Callable[..., Any], begin: Begin
    ) -> tuple[Solution, Any]:
        """Minimise by L-BFGS, on growing samples if there are many terms."""

        def first(objective: Any) -> list[Floats]:
            return begin(objective) if begin else starts(objective, self.n_init)

        n_features, n_outputs = risk_sum.points.n_features, self._n_outputs
        model: Any = {
            "size": n_outputs * (n_features + self.fit_intercept),
            "n_outputs": n_outputs,
        }
        # With several outputs, starts that name the classes otherwise lead to minima
        # that look different and are the same: only the best two go on.
        options: Any = {
            "max_iter": self.max_iter,
            "tol": self.tol,
            "n_finish": None if n_outputs == 1 else 2,
        }
        sizes = sample_sizes(risk_sum, **model)
        if self._goes_on(n_features):
            # A scaling only makes the objective round: a sample's is as good.
            some = draw_sample(risk_sum, sizes[0], **model) if sizes else risk_sum
            here = make(some)
            objective = make(risk_sum, here.scaling)
            previous: Any = self._previous(here.scaling)
            nothing = here.value_at_zero
            useful = here(previous)[0] <= nothing - 1e-4 * abs(nothing)
            begins = [previous] if useful else first(objective)
            solution = minimise_lbfgs(objective, begins, **options)
        elif sizes:
            solution, objective = minimise_growing(
                risk_sum, make, first, **model, **options
            )
        else:
            objective = make(risk_sum)
            solution = minimise_lbfgs(objective, first(objective), **options)
        nothing = objective.value_at_zero
        if solution.value > nothing - 1e-6 * abs(nothing):
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

    def _goes_on(self, n_features: int) -> bool:
        """Tell whether there is a previous solution to go on from."""
        if not (self.warm_start and hasattr(self, "coef_")):
            return False
        fits = self.coef_.shape == (self._n_outputs, n_features)
        return fits and bool(self.coef_.any())

    def _previous(self, scaling: Scaling) -> Floats | None:
        """Return the previous solution as a start, if there is one to go on from."""
        if not self._goes_on(len(scaling.scale)):
            return None
        parts = [
            scaling.coordinates(w, float(b))
            for w, b in zip(self.coef_, self.intercept_, strict=True)
        ]
        return np.concatenate(parts)

    def _step(
        self, pairs: PairsLike, t: ArrayLike, sample_weight: ArrayLike | None
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
        if first:
            known = points.coupled(pairs.index, pair_coefficients(answers, weight))
            objective = self._objective(self._risk(), known)
            self._store(*objective.weights(starts(objective, 1)[0]))
            self._fix_sign()
            self.assignment_ = None
        # A weight counts by itself, not relative to whatever came in the same call.
        coefficients = Coefficients(
            weight * (1 + answers) / (2 * len(pairs)),
            weight * (1 - answers) / (2 * len(pairs)),
        )
        scaling = Scaling.identity(points.n_features, self.fit_intercept)
        risk_sum = points.coupled(pairs.index, coefficients)
        objective = self._objective(self._risk(), risk_sum, scaling)
        u, _ = sgd_epoch(
            objective,
            scaling.coordinates(self.coef_[0], float(self.intercept_[0])),
            np.arange(len(pairs)),
            self.batch_size,
            self.learning_rate,
        )
        self._store(*objective.weights(u))
        self.n_iter_ = getattr(self, "n_iter_", 0) + 1
        return self
