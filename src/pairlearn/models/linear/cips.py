"""CIPS: the product f(x) f(x') against the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pairlearn.data.checks import check_choice, check_flip_rates, known_rates
from pairlearn.engine.coefficients import pair_coefficients
from pairlearn.engine.links import ProductLink
from pairlearn.engine.losses import get_loss
from pairlearn.engine.objective import PairObjective
from pairlearn.engine.points import as_points
from pairlearn.engine.risks import LikelihoodRisk, PairRisk, ProductRisk
from pairlearn.engine.scaling import Scaling
from pairlearn.engine.solvers import eigenvectors, exact_solution
from pairlearn.models.linear.base import LinearPairClassifier
from pairlearn.models.linear.unlabeled import (
    add_unlabeled_couples,
    check_mixture,
    prior_for,
    product_coefficients,
)
from pairlearn.trust.theory import same_rate_from_prior

if TYPE_CHECKING:
    from numpy.random import RandomState
    from numpy.typing import ArrayLike

    from pairlearn.data.types import PairsLike, PointsLike
    from pairlearn.engine.backends.protocol import PairRiskSum
    from pairlearn.engine.losses import MarginLoss
    from pairlearn.models.base import Answered

__all__ = ["CIPSClassifier"]

SOLVERS = ("auto", "lbfgs", "sgd", "eigen")


class CIPSClassifier(LinearPairClassifier):
    r"""Linear classifier with inner product similarity (CIPS).

    Step 1 finds the boundary: f(x) = w^T x + b minimises

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

    With `gammas` unlabelled points are used too (the paper's Appendix C): the mean is
    replaced by an unbiased estimate of the same risk from similar, dissimilar and
    unlabelled pairs, with P_S = P(t = +1), P_D = 1 - P_S and g1 + g2 + g3 = 1,

    .. math::

        P_S E_S[(g_1 + g_2) \ell(z, +1) - g_2 \ell(z, -1)]
        + P_D E_D[(g_1 + g_3) \ell(z, -1) - g_3 \ell(z, +1)]
        + E_U[g_3 \ell(z, +1) + g_2 \ell(z, -1)] .

    Parameters
    ----------
    loss : str or MarginLoss, default="logistic"
        "logistic", "hinge", "squared_hinge", "squared", "exponential", "unhinged" or
        "linear".
    alpha : float, default=1e-4
        Strength of the penalty on the weights; the intercept is not penalised.
    fit_intercept : bool, default=True
        Whether f has the intercept b.
    solver : {"auto", "lbfgs", "sgd", "eigen"}, default="auto"
        * "lbfgs": nearly always a good choice; fast, accurate, deterministic. It starts
          from the leading eigenvector of the sum of t (x x'^T + x' x^T).
        * "sgd": the protocol of the paper; for comparisons. Streams use
          :meth:`partial_fit`.
        * "eigen": the exact solution for the unhinged (or linear) loss when (w, b)
          has norm 1, that eigenvector itself. `alpha` is not used.
        * "auto": "eigen" for the unhinged and the linear loss, which no penalty
          keeps finite, and "lbfgs" for all others.
    max_iter : int, default=500
        The most iterations of L-BFGS, or epochs of SGD.
    tol : float, default=1e-6
        L-BFGS stops when no entry of the gradient exceeds this.
    n_init : int, default=5
        Number of starts; the best objective is kept, since the objective is not
        convex. L-BFGS takes two leading eigenvectors and then fixed directions, SGD
        random starts. With many more pairs than features one start is enough.
    batch_size : int, default=64
        Pairs per step of SGD.
    learning_rate : float, default=0.01
        Learning rate of SGD.
    majority : {+1, -1}, class name or None, default=None
        The class that holds more than half of the points: one of `classes`, or +1 for
        the second of them and -1 for the first. None: no class assignment; the two
        groups get an arbitrary, but deterministic, sign.
    assignment_size : float or int, default=0.2
        Share (or number) of pairs kept out of step 1 for step 2.
    flip_rates : tuple, float, "auto", "symmetric" or None, default=None
        How often answers are wrong, for the logistic loss: (r1, r0) with
        r1 = P(answer same | same) and r0 = P(answer same | different); a single number
        e for symmetric noise, (1 - e, e); "auto" or "symmetric" to estimate both rates,
        or one, together with f. The likelihood then allows for it (forward correction).
    gammas : tuple of float or None, default=None
        (g1, g2, g3) for training with unlabelled points. (0, 1, 0) needs similar pairs
        and unlabelled points alone, (0, 0, 1) dissimilar pairs and unlabelled points.
    prior : float or None, default=None
        P(y = +1), up to a swap; with `gammas`. None: from the share of "same" answers.
    nonnegative : bool, default=True
        With `gammas`: clip the estimates of both parts of the risk at zero, which the
        risk itself never falls below. False: the unbiased estimate as it is, which may
        fall without limit when there are few pairs.
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
        "objective": J after each iteration, or its mean over the batches of each
        epoch of SGD; "n_evaluations": how often J was evaluated, on all pairs or on a
        sample; "passes": the same, a sample counted by its share of the pairs;
        "samples": pairs of each sample, the last being all, if there were samples.
    n_iter_ : int
        Iterations or epochs of the best start.
    flip_rates_ : tuple of float
        (r1, r0), given or estimated; (1.0, 0.0) without noise.
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

    _keeps_tensors = True

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
        flip_rates: Any = None,
        gammas: tuple[float, float, float] | None = None,
        prior: float | None = None,
        nonnegative: bool = True,
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
        self.flip_rates = flip_rates
        self.gammas = gammas
        self.prior = prior
        self.nonnegative = nonnegative
        self.classes = classes
        self.warm_start = warm_start
        self.random_state = random_state

    def fit(
        self,
        pairs: PairsLike,
        t: ArrayLike,
        sample_weight: ArrayLike | None = None,
        unlabeled: PointsLike | None = None,
    ) -> Self:
        """Learn from pairs and answers.

        Parameters
        ----------
        pairs : Pairs or array-like of shape (n_pairs, 2, n_features)
            Pairs.
        t : array-like of shape (n_pairs,)
            Answers: +1 for same, -1 for different, a number in between if
            uncertain; or bool.
        sample_weight : array-like of shape (n_pairs,), optional
            Weights of the pairs; a weight of 2 is the same as the pair twice.
        unlabeled : array-like, sparse or data frame of shape (n, n_features), optional
            Points without answers; used with `gammas`.

        Returns
        -------
        self
        """
        solver = self._check_parameters()
        train, kept, rng = self._prepare_fit(
            pairs, t, sample_weight, both_kinds=self.gammas is None
        )
        if kept is not None and not np.any(kept.t > 0):
            raise ValueError(
                "class assignment from pairs needs answers 'same': a 'different' pair "
                "has one point of each class, whatever the prior. Leave majority at "
                "None and use assign_from_points"
            )
        risk_sum = self._risk_sum(train, unlabeled, rng)
        # Of many pairs, what is not needed any more is a burden.
        del train
        if solver == "eigen":
            self._solve_exactly(risk_sum)
        else:
            self._learn(solver, risk_sum, rng)
        del risk_sum
        self._fix_sign()
        return self._assign_from(kept)

    def partial_fit(
        self, pairs: PairsLike, t: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Take one pass of SGD over more pairs, for streams.

        The first call starts from the leading eigenvector of its own pairs. `majority`
        is not used: call :meth:`assign_from_pairs` or :meth:`assign_from_points` at any
        time to choose the sign of f, and later calls keep it. Weights count as they
        are: a weight of 2 doubles the step. Memory does not grow.

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
        if self.gammas is not None or isinstance(self.flip_rates, str):
            raise ValueError(
                "partial_fit learns from answers as they come: it cannot use gammas, "
                "nor estimate flip_rates (give them as numbers)"
            )
        return self._step(pairs, t, sample_weight)

    def _ignores_unused_points(self) -> bool:
        return True

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
        rates = check_flip_rates(self.flip_rates)
        if rates is not None and (loss.name != "logistic" or self.gammas is not None):
            raise ValueError(
                "flip_rates correct the likelihood behind the logistic loss: they need "
                "loss='logistic', and cannot be combined with gammas"
            )
        if isinstance(rates, str) and solver != "lbfgs":
            raise ValueError(
                f"flip_rates={rates!r} are estimated with solver='lbfgs'; for "
                f"{solver!r} give them as numbers"
            )
        self._check_numbers("max_iter", "n_init", "batch_size")
        return solver

    def _risk_sum(
        self, given: Answered, unlabeled: PointsLike | None, rng: RandomState
    ) -> PairRiskSum:
        """Return the pairs of the risk, with how much either answer counts for each."""
        pairs, t, weight = given
        if self.gammas is None:
            if unlabeled is not None:
                raise ValueError(
                    "unlabelled points are used with gammas=(g1, g2, g3), for example "
                    "gammas=(0.5, 0.25, 0.25)"
                )
            return as_points(pairs.X).coupled(pairs.index, pair_coefficients(t, weight))
        gammas = check_mixture(self.gammas, unlabeled, t[weight > 0])
        same_rate = same_rate_from_prior(prior_for(self.prior, t, weight))
        coefficients = product_coefficients(t, weight, gammas, same_rate)
        if unlabeled is not None:
            unlabeled = self._validate_points(unlabeled, reset=False)
            pairs, coefficients = add_unlabeled_couples(
                pairs, coefficients, unlabeled, gammas, rng
            )
        return as_points(pairs.X).coupled(pairs.index, coefficients)

    def _risk(self) -> PairRisk:
        if self.flip_rates is not None:
            return LikelihoodRisk(ProductLink(), known_rates(self.flip_rates))
        clipped = self.nonnegative and self.gammas is not None
        return ProductRisk(self.loss, nonnegative=clipped)

    def _solve_exactly(self, risk_sum: PairRiskSum) -> None:
        """Store the minimiser of the unhinged or the linear loss of norm one."""
        scaling = Scaling.identity(risk_sum.points.n_features, self.fit_intercept)
        objective = PairObjective(risk_sum, self._risk(), 0.0, scaling)
        u = eigenvectors(objective, 1)[:, 0]
        self.flip_rates_ = (1.0, 0.0)
        self._store(*objective.weights(u))
        self._record(exact_solution(objective, u))
