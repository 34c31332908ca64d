"""SD, SU, DU and SDU: unbiased classification risks from pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils import check_random_state

from pairlearn.data.checks import check_choice, check_prior
from pairlearn.data.containers import stack_rows
from pairlearn.engine.coefficients import Coefficients
from pairlearn.engine.losses import SquaredLoss, get_loss
from pairlearn.engine.objective import PointObjective
from pairlearn.engine.points import as_points
from pairlearn.engine.risks import PointRisk
from pairlearn.engine.scaling import Scaling
from pairlearn.engine.solvers import exact_solution
from pairlearn.models.linear.base import LinearPairClassifier
from pairlearn.models.linear.unlabeled import (
    check_mixture,
    point_coefficients,
    prior_for,
)
from pairlearn.trust.assignment import majority_sign

if TYPE_CHECKING:
    from numpy.random import RandomState
    from numpy.typing import ArrayLike

    from pairlearn.data.types import Floats, PairsLike, PointsLike
    from pairlearn.engine.losses import MarginLoss

__all__ = ["SDClassifier"]

SOLVERS = ("auto", "lbfgs", "sgd", "closed")


class SDClassifier(LinearPairClassifier):
    r"""Linear classifier from similar, dissimilar and unlabelled data (SD, SU, DU).

    It minimises an unbiased estimate of the supervised risk E[l(f(x), y)]. With p the
    prior, q = 1 - p, P_S = p^2 + q^2, P_D = 2pq,
    L(z, t) = [p l(z, t) - q l(z, -t)] / (2p - 1) and
    D(z) = [l(z, +1) - l(z, -1)] / (2p - 1), and each pair read as two points,

    * SD: P_S E_S[L(f, +1)] + P_D E_D[L(f, -1)],
    * SU: P_S E_S[D(f)] + E_U[L(f, -1)],
    * DU: -P_D E_D[D(f)] + E_U[L(f, +1)],
    * SDU: a mixture of the three, with weights `gammas`,

    plus (alpha/2) times the squared norm of w. As a sum of a_i phi(f_i) + b_i phi(-f_i)
    over points its gradient is that of a supervised risk with signed weights. For a
    linear-odd loss (logistic, squared, double hinge) the objective is convex.

    Parameters
    ----------
    prior : float or None, default=None
        P(y = +1), not 1/2. None: estimated from the share of "same" among the answers,
        which determines it up to a swap; `majority` then says which class is larger.
    gammas : tuple of float or None, default=None
        Weights of (SD, SU, DU), none negative, summing to one. None: SD without
        unlabelled points, equal weights with them; SU or DU alone if there is one kind
        of answer.
    loss : str or MarginLoss, default="squared"
        A classification-calibrated loss. The squared loss has a closed form, and on the
        common task of the benchmarks it is right about three points more often than
        "logistic", which the paper uses.
    alpha : float, default=1e-4
        Strength of the penalty on the weights; the intercept is not penalised.
    fit_intercept : bool, default=True
        Whether f has the intercept b.
    nonnegative : bool, default=False
        Clip the estimates of both classes' parts of the risk at zero, which the risk
        itself never falls below.
    solver : {"auto", "lbfgs", "sgd", "closed"}, default="auto"
        * "lbfgs": for any loss.
        * "closed": the exact solution for the squared loss.
        * "sgd": the protocol of the paper; for comparisons.
        * "auto": "closed" for the squared loss, else "lbfgs".
    max_iter : int, default=500
        The most iterations of L-BFGS, or epochs of SGD.
    tol : float, default=1e-6
        L-BFGS stops when no entry of the gradient exceeds this.
    batch_size : int, default=64
        Points per step of SGD.
    learning_rate : float, default=0.01
        Learning rate of SGD.
    majority : {+1, -1}, class name or None, default=None
        The class that holds more than half of the points, when `prior` is None; None
        means +1, the second of `classes`.
    classes : tuple, default=(-1, 1)
        Names of the negative and of the positive class.
    warm_start : bool, default=False
        Start from the previous solution.
    random_state : int, RandomState or None, default=None
        Seed of SGD.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (1, n_features) and (1,)
        w and b.
    prior_ : float
        The prior, given or estimated.
    objective_, history_, n_iter_
        As for :class:`CIPSClassifier`.
    classes_ : ndarray of shape (2,)
        The negative and the positive class.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    The prior fixes the sign, so there is no class assignment. *Not guaranteed:*
    anything near prior 1/2, where the variance of the estimate explodes; a right answer
    with a wrong prior.

    References
    ----------
    T. Shimada, H. Bao, I. Sato and M. Sugiyama, "Classification from pairwise
    similarities/dissimilarities and unlabeled data via empirical risk minimization",
    Neural Computation 33, 2021. H. Bao, G. Niu and M. Sugiyama, "Classification from
    pairwise similarity and unlabeled data", ICML 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from pairlearn import Pairs, SDClassifier
    >>> rng = np.random.default_rng(0)
    >>> y = np.where(rng.random(600) < 0.8, 1, -1)
    >>> X = rng.normal(size=(600, 2)) + 1.5 * y[:, None]
    >>> pairs, t = Pairs.sample(X, 300, y, random_state=0)
    >>> clf = SDClassifier(prior=0.8).fit(pairs, t)
    >>> round(float(np.mean(clf.predict(X) == y)), 2)
    0.99
    """

    _keeps_tensors = True

    def __init__(
        self,
        *,
        prior: float | None = None,
        gammas: tuple[float, float, float] | None = None,
        loss: str | MarginLoss = "squared",
        alpha: float = 1e-4,
        fit_intercept: bool = True,
        nonnegative: bool = False,
        solver: str = "auto",
        max_iter: int = 500,
        tol: float = 1e-6,
        batch_size: int = 64,
        learning_rate: float = 0.01,
        majority: Any = None,
        classes: tuple[Any, Any] = (-1, 1),
        warm_start: bool = False,
        random_state: int | RandomState | None = None,
    ) -> None:
        self.prior = prior
        self.gammas = gammas
        self.loss = loss
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.nonnegative = nonnegative
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.majority = majority
        self.classes = classes
        self.warm_start = warm_start
        self.random_state = random_state

    # The problem is convex for the usual losses: one start, at zero.
    n_init = 1

    def fit(
        self,
        pairs: PairsLike,
        t: ArrayLike,
        sample_weight: ArrayLike | None = None,
        unlabeled: PointsLike | None = None,
    ) -> Self:
        """Learn from pairs and answers, and from unlabelled points if there are any.

        Parameters
        ----------
        pairs : Pairs or array-like of shape (n_pairs, 2, n_features)
            Pairs.
        t : array-like of shape (n_pairs,)
            Answers.
        sample_weight : array-like of shape (n_pairs,), optional
            Weights of the pairs.
        unlabeled : array-like, sparse or data frame of shape (n, n_features), optional
            Points without answers.

        Returns
        -------
        self
        """
        solver = self._check_parameters()
        pairs, answers, weight = self._validate_fit(
            pairs, t, sample_weight, both_kinds=unlabeled is None
        )
        gammas = self._mixture(answers[weight > 0], unlabeled)
        self.prior_ = self._find_prior(answers, weight)
        X, n_unlabeled = pairs.X, 0
        if unlabeled is not None:
            unlabeled = self._validate_points(unlabeled, reset=False)
            X, n_unlabeled = stack_rows(X, unlabeled), unlabeled.shape[0]
        coefficients = point_coefficients(
            pairs, answers, weight, gammas, self.prior_, n_unlabeled
        )
        risk_sum = as_points(X).weighted(coefficients)
        risk = PointRisk(self.loss, nonnegative=self.nonnegative)
        if solver == "closed":
            scaling = Scaling.identity(risk_sum.points.n_features, self.fit_intercept)
            objective = PointObjective(risk_sum, risk, self.alpha, scaling)
            solution = exact_solution(objective, _least_squares(objective))
        else:
            rng = check_random_state(self.random_state)
            solution, objective = self._minimise(
                solver,
                risk_sum,
                risk,
                rng,
                lambda objective: [np.zeros(objective.size)],
            )
        self._store(*objective.weights(solution.u))
        convex = risk.loss.linear_odd and not self.nonnegative
        self._record(solution, convex=convex)
        self.assignment_ = None
        return self

    def _check_parameters(self) -> str:
        check_choice("solver", self.solver, SOLVERS)
        loss = get_loss(self.loss)
        if not loss.calibrated:
            raise ValueError(
                f"the {loss.name} loss is not classification-calibrated; use another, "
                "such as 'logistic'"
            )
        exact = isinstance(loss, SquaredLoss) and not self.nonnegative
        if self.solver == "closed" and not exact:
            raise ValueError(
                "solver='closed' is for loss='squared' without nonnegative=True; use "
                "solver='lbfgs'"
            )
        self._check_numbers("max_iter", "batch_size")
        if self.prior is not None:
            check_prior(self.prior, allow_half=False)
            names = self._class_names()
            side = 1 if self.prior > 0.5 else -1
            named = self.majority is not None
            if named and majority_sign(self.majority, names) != side:
                raise ValueError(
                    f"prior={self.prior} is the share of class {names[1]!r}, which "
                    f"contradicts majority={self.majority!r}"
                )
        if self.solver == "auto":
            return "closed" if exact else "lbfgs"
        return self.solver

    def _mixture(self, t: Floats, unlabeled: Any) -> tuple[float, float, float]:
        gammas = self.gammas
        if gammas is None and unlabeled is None:
            gammas = (1.0, 0.0, 0.0)
        elif gammas is None:
            kinds = bool(np.any(t > 0)), bool(np.any(t < 0))
            gammas = {
                (True, False): (0.0, 1.0, 0.0),
                (False, True): (0.0, 0.0, 1.0),
            }.get(kinds, (1 / 3, 1 / 3, 1 / 3))
        return check_mixture(gammas, unlabeled, t)

    def _find_prior(self, t: Floats, weight: Floats) -> float:
        prior = prior_for(self.prior, t, weight)
        if prior == 0.5:
            raise ValueError(
                "the answers put the prior at 1/2, where this risk is undefined; give "
                "prior= if you know it, or use a method that needs none, such as "
                "CIPSClassifier"
            )
        if self.prior is None and self.majority is not None:
            return (
                prior if majority_sign(self.majority, self.classes_) > 0 else 1 - prior
            )
        return prior


def _least_squares(objective: PointObjective) -> Floats:
    """Return the exact minimiser for the squared loss, unscaled.

    sum of a (1 - f)^2 + b (1 + f)^2 = sum of (a + b) f^2 - 2 (a - b) f + constant, so
    with Z the points and the constant feature,
    [Z^T diag(a + b) Z + (alpha/2) I] u = Z^T (a - b), the intercept not penalised.
    """
    scaling, points = objective.scaling, objective.points
    positive, negative = objective.risk_sum.coefficients
    square, pull = positive + negative, positive - negative
    # The moment of each point paired with itself, which any place for points can form.
    itself = np.repeat(np.arange(points.n_points), 2).reshape(-1, 2)
    risk_sum = points.coupled(itself, Coefficients(square, np.zeros_like(square)))
    weights = scaling.weights(np.eye(scaling.size))
    matrix = scaling.gradient(*risk_sum.moment(*weights))
    penalised = np.arange(scaling.size) < len(scaling.scale)
    matrix = matrix + np.diag(np.where(penalised, objective.alpha / 2, 0.0))
    target = scaling.gradient(points.pullback(pull), pull.sum())
    # Least squares copes with features that are constant when alpha is zero.
    return np.asarray(np.linalg.lstsq(matrix, target, rcond=None)[0])
