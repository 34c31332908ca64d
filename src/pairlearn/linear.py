"""Linear classifiers from pairs."""

from __future__ import annotations

import numbers
import warnings
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from pairlearn.assignment import majority_sign
from pairlearn.base import PairClassifierBase
from pairlearn.losses import get_loss
from pairlearn.objective import Frame, PairObjective
from pairlearn.points import as_points
from pairlearn.risks import ProductRisk
from pairlearn.solvers import (
    Solution,
    eigenvectors,
    minimise_lbfgs,
    minimise_sgd,
    sgd_epoch,
    starts,
)
from pairlearn.validation import check_both_kinds, check_choice

if TYPE_CHECKING:
    from numpy.random import RandomState
    from numpy.typing import ArrayLike

    from pairlearn._typing import Floats, Ints, PointsLike
    from pairlearn.losses import MarginLoss
    from pairlearn.pairs import Pairs

__all__ = ["CIPSClassifier"]

SOLVERS = ("auto", "lbfgs", "sgd", "eigen")


class CIPSClassifier(PairClassifierBase):
    r"""Linear classifier with inner product similarity (CIPS).

    Step 1 draws the boundary: f(x) = w^T x + b minimises

    .. math::

        J(w, b) = \frac{\sum_k v_k \, \ell(f(x_k) f(x'_k), t_k)}{\sum_k v_k}
                  + \frac{\alpha}{2} |w|^2

    over pairs (x_k, x'_k) with answers t_k and weights v_k. With z_k = f(x_k) f(x'_k)
    and l' the derivative in its first argument,

    .. math::

        \nabla_w J = \frac{\sum_k v_k \ell'(z_k, t_k)
        [f(x'_k) x_k + f(x_k) x'_k]}{\sum_k v_k} + \alpha w .

    f and -f have the same objective. Step 2, if `majority` is given, finds the sign
    on pairs kept out of step 1.

    Parameters
    ----------
    loss : str or MarginLoss, default="logistic"
        "logistic", "hinge", "squared_hinge", "squared", "exponential", "unhinged" or
        "linear".
    alpha : float, default=1e-4
        Strength of the penalty on the weights; the intercept is free.
    fit_intercept : bool, default=True
        Whether f has the intercept b.
    solver : {"auto", "lbfgs", "sgd", "eigen"}, default="auto"
        * "lbfgs": a good choice nearly always; fast, accurate, deterministic. Starts
          from the leading eigenvector of sum of t (x x'^T + x' x^T).
        * "sgd": the protocol of the paper; for comparisons. Streams use
          :meth:`partial_fit`.
        * "eigen": the exact solution for the unhinged (or linear) loss when (w, b)
          has norm 1, that eigenvector itself. `alpha` plays no part.
        * "auto": "eigen" for the unhinged and the linear loss, which no penalty
          keeps finite, and "lbfgs" for all others.
    max_iter : int, default=500
        Iterations of L-BFGS, or epochs of SGD.
    tol : float, default=1e-6
        L-BFGS stops when no entry of the gradient exceeds this.
    n_init : int, default=5
        Number of starts; the best objective is kept, since the objective is not
        convex. L-BFGS takes two leading eigenvectors and then fixed directions, SGD
        random starts. With many more pairs than features one start is enough.
    batch_size : int, default=64
        Pairs a step of SGD.
    learning_rate : float, default=0.01
        Rate of SGD.
    majority : {+1, -1}, class name or None, default=None
        The class that holds more than half of the points: one of `classes`, or +1 for
        the second of them and -1 for the first. None: no class assignment; the two
        groups get an arbitrary, but deterministic, sign.
    assignment_size : float or int, default=0.2
        Share (or number) of pairs kept out of step 1 for step 2.
    classes : tuple, default=(-1, 1)
        Names of the negative and of the positive class.
    warm_start : bool, default=False
        Start from the previous solution.
    random_state : int, RandomState or None, default=None
        Seed of SGD, and of the choice of pairs for step 2. L-BFGS needs none.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        w.
    intercept_ : ndarray of shape (1,)
        b.
    objective_ : float
        J at the solution.
    history_ : dict
        "objective": J after each iteration or epoch, as an array;
        "n_evaluations": how often J was evaluated.
    n_iter_ : int
        Iterations or epochs of the best start.
    assignment_ : Assignment or None
        Outcome of the class assignment: sign, Q, number of pairs, bound.
    classes_ : ndarray of shape (2,)
        The negative and the positive class.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if the points have any.

    Notes
    -----
    *Not guaranteed:* a global minimum (the problem is not convex, "eigen" apart);
    that the boundary is the best one when the best one is not linear (see
    :func:`~pairlearn.make_pair_pipeline` for kernels).

    References
    ----------
    H. Bao, T. Shimada, L. Xu, I. Sato and M. Sugiyama, "Pairwise Supervision Can
    Provably Elicit a Decision Boundary", AISTATS 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from pairlearn import CIPSClassifier, Pairs
    >>> rng = np.random.default_rng(0)
    >>> y = np.where(rng.random(400) < 0.7, 1, -1)
    >>> X = rng.normal(size=(400, 2)) + 1.5 * y[:, None]
    >>> pairs, t = Pairs.sample(X, 200, y, random_state=0)
    >>> clf = CIPSClassifier(majority=+1, random_state=0).fit(pairs, t)
    >>> round(float(np.mean(clf.predict(X) == y)), 2)
    0.99
    """

    def __init__(
        self,
        *,
        loss: str | MarginLoss = "logistic",
        alpha: float = 1e-4,
        fit_intercept: bool = True,
        solver: str = "auto",
        max_iter: int = 500,
        tol: float = 1e-6,
        n_init: int = 5,
        batch_size: int = 64,
        learning_rate: float = 0.01,
        majority: Any = None,
        assignment_size: float = 0.2,
        classes: tuple[Any, Any] = (-1, 1),
        warm_start: bool = False,
        random_state: int | RandomState | None = None,
    ) -> None:
        self.loss = loss
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.majority = majority
        self.assignment_size = assignment_size
        self.classes = classes
        self.warm_start = warm_start
        self.random_state = random_state

    def fit(
        self,
        pairs: Pairs | ArrayLike,
        t: ArrayLike,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from pairs and answers.

        Parameters
        ----------
        pairs : Pairs or array-like of shape (n_pairs, 2, n_features)
            Pairs.
        t : array-like of shape (n_pairs,)
            Answers: +1 same, -1 different, between them a soft answer; or bool.
        sample_weight : array-like of shape (n_pairs,), optional
            Weights of the pairs; a weight of 2 is the same as the pair twice.

        Returns
        -------
        self
        """
        solver = self._check_parameters()
        pairs, answers, weight = self._validate_fit(pairs, t, sample_weight)
        rng = check_random_state(self.random_state)
        train, held_out = self._split_for_assignment(len(pairs), rng)
        check_both_kinds(answers[train][weight[train] > 0])
        solution, frame = self._solve(
            solver, pairs[train], answers[train], weight[train], rng
        )
        self._store(*frame.weights(solution.u))
        self.objective_ = solution.value
        self.history_ = {
            "objective": np.array(solution.history),
            "n_evaluations": solution.n_evaluations,
        }
        self.n_iter_ = max(1, len(solution.history) - 1)
        if not solution.converged:
            warnings.warn(
                f"L-BFGS stopped after max_iter={self.max_iter} iterations; raise "
                "max_iter or alpha, or loosen tol",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.assignment_ = None
        self._fix_sign()
        if self.majority is not None:
            self.assign_from_pairs(
                pairs[held_out],
                answers[held_out],
                majority=self.majority,
                sample_weight=weight[held_out],
            )
        return self

    def partial_fit(
        self,
        pairs: Pairs | ArrayLike,
        t: ArrayLike,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Take one pass of SGD over more pairs, for streams.

        The first call starts from the leading eigenvector of its own pairs. The sign
        of f stays what it is: settle it with :meth:`assign_from_pairs` or
        :meth:`assign_from_points` at any time, and it lasts. Memory does not grow.

        Parameters
        ----------
        pairs : Pairs or array-like of shape (n_pairs, 2, n_features)
            More pairs; one kind of answer is enough.
        t : array-like of shape (n_pairs,)
            Answers.
        sample_weight : array-like of shape (n_pairs,), optional
            Weights of the pairs.

        Returns
        -------
        self
        """
        self._check_parameters(solver="sgd")
        first = not hasattr(self, "coef_")
        pairs, answers, weight = self._validate_fit(
            pairs, t, sample_weight, reset=first
        )
        points = as_points(pairs.X)
        frame = Frame.plain(points.n_features, self.fit_intercept)
        if first:
            start = self._objective(
                pairs, answers, weight, Frame.of(points, self.alpha, self.fit_intercept)
            )
            self._store(*start.frame.weights(starts(start, 1)[0]))
            self._fix_sign()
            self.assignment_ = None
        objective = self._objective(pairs, answers, weight, frame)
        u = sgd_epoch(
            objective,
            frame.coordinates(self.coef_[0], self.intercept_[0]),
            np.arange(len(pairs)),
            self.batch_size,
            self.learning_rate,
        )
        self._store(*frame.weights(u))
        self.n_iter_ = getattr(self, "n_iter_", 0) + 1
        return self

    def _scores(self, X: PointsLike) -> Floats:
        return as_points(X).scores(self.coef_[0], self.intercept_[0])

    def _flip(self) -> None:
        self._store(-self.coef_[0], -self.intercept_[0])

    def _store(self, w: Floats, b: Floats) -> None:
        # Adding zero turns -0.0, which a flip leaves behind, into 0.0.
        self.coef_ = w.reshape(1, -1) + 0.0
        self.intercept_ = np.reshape(b, 1) + 0.0

    def _fix_sign(self) -> None:
        """Make the largest weight positive: arbitrary, but always the same."""
        largest = np.argmax(np.abs(self.coef_[0]))
        if self.coef_[0, largest] < 0:
            self._flip()

    def _check_parameters(self, solver: str | None = None) -> str:
        """Refuse wrong parameters; return the solver to use."""
        solver = self.solver if solver is None else solver
        check_choice("solver", solver, SOLVERS)
        loss = get_loss(self.loss)
        if solver == "auto":
            solver = "lbfgs" if loss.bounded_below else "eigen"
        if solver == "eigen" and loss.bounded_below:
            raise ValueError(
                f"solver='eigen' is the exact solution for the unhinged and the linear "
                f"loss only; for loss={loss.name!r} use solver='lbfgs'"
            )
        if solver != "eigen" and not loss.bounded_below:
            raise ValueError(
                f"the {loss.name} loss has no finite minimiser without a constraint on "
                "the weights; use solver='eigen'"
            )
        if not isinstance(self.alpha, numbers.Real) or not self.alpha >= 0:
            raise ValueError(f"alpha must be a number, 0 or above; got {self.alpha!r}")
        for name in ("max_iter", "n_init", "batch_size"):
            value = getattr(self, name)
            if not isinstance(value, numbers.Integral) or value < 1:
                raise ValueError(
                    f"{name} must be a whole number above 0; got {value!r}"
                )
        for name in ("tol", "learning_rate"):
            value = getattr(self, name)
            if not isinstance(value, numbers.Real) or not value > 0:
                raise ValueError(f"{name} must be a number above 0; got {value!r}")
        if self.majority is not None:
            majority_sign(self.majority, self.classes)
        return solver

    def _split_for_assignment(
        self, n_pairs: int, rng: RandomState
    ) -> tuple[Ints | slice, Ints | slice]:
        """Return the pair numbers of step 1 and of step 2."""
        if self.majority is None:
            return slice(None), slice(0)
        size = self.assignment_size
        if isinstance(size, numbers.Integral):
            n_held_out = int(size)
        else:
            n_held_out = round(size * n_pairs) if 0 < size < 1 else 0
            n_held_out = max(n_held_out, 1) if 0 < size < 1 else 0
        if not 0 < n_held_out < n_pairs - 1:
            raise ValueError(
                f"assignment_size={size} of {n_pairs} pairs leaves nothing for class "
                "assignment or too little for training; give a share between 0 and 1, "
                "or a number of pairs, that leaves at least two pairs to train on"
            )
        order = rng.permutation(n_pairs)
        return np.sort(order[n_held_out:]), np.sort(order[:n_held_out])

    def _objective(
        self, pairs: Pairs, t: Floats, weight: Floats, frame: Frame
    ) -> PairObjective:
        return PairObjective(
            as_points(pairs.X),
            pairs.index,
            t,
            weight,
            ProductRisk(self.loss),
            self.alpha,
            frame,
        )

    def _solve(
        self, solver: str, pairs: Pairs, t: Floats, weight: Floats, rng: RandomState
    ) -> tuple[Solution, Frame]:
        pairs = pairs.compact()
        points = as_points(pairs.X)
        plain = Frame.plain(points.n_features, self.fit_intercept)
        if solver == "eigen":
            objective = self._objective(pairs, t, weight, plain)
            objective.alpha = 0.0
            u = eigenvectors(objective, 1)[:, 0]
            value = objective(u)[0]
            return Solution(u, value, [value], 1, converged=True), plain
        if solver == "lbfgs":
            frame = Frame.of(points, self.alpha, self.fit_intercept)
            objective = self._objective(pairs, t, weight, frame)
            previous = self._previous(frame)
            begin = previous or starts(objective, self.n_init)
            solution = minimise_lbfgs(
                objective, begin, max_iter=self.max_iter, tol=self.tol
            )
            return solution, frame
        solutions = []
        for _ in range(self.n_init):
            objective = self._objective(pairs, t, weight, plain)
            # The default start of a linear layer, as in the paper's experiments.
            reach = 1 / np.sqrt(points.n_features)
            begin = self._previous(plain) or [rng.uniform(-reach, reach, plain.size)]
            solutions.append(
                minimise_sgd(
                    objective,
                    begin[0],
                    max_iter=self.max_iter,
                    batch_size=self.batch_size,
                    learning_rate=self.learning_rate,
                    rng=rng,
                )
            )
        return min(solutions, key=lambda solution: solution.value), plain

    def _previous(self, frame: Frame) -> list[Floats]:
        """Return the previous solution as a start, if there is one to go on from."""
        if not (self.warm_start and hasattr(self, "coef_")):
            return []
        if self.coef_.shape[1] != len(frame.scale) or not self.coef_.any():
            return []
        return [frame.coordinates(self.coef_[0], self.intercept_[0])]
