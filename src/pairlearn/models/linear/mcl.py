"""MCL: the likelihood of the answers under class probabilities."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pairlearn.data.checks import (
    check_choice,
    check_flip_rates,
    check_integer,
    known_rates,
)
from pairlearn.engine.coefficients import pair_coefficients
from pairlearn.engine.components.likelihood import shares_points
from pairlearn.engine.components.risk_sum import LIKELIHOODS, ComponentRiskSum
from pairlearn.engine.links import BinaryLink, SoftmaxLink
from pairlearn.engine.points import as_points
from pairlearn.engine.risks import LikelihoodRisk
from pairlearn.engine.solvers import (
    best_length,
    cluster_embedding,
    cluster_weights,
    directions,
    eigenvectors,
)
from pairlearn.models.linear.base import LinearPairClassifier
from pairlearn.models.probabilistic import ProbabilisticPairClassifier

if TYPE_CHECKING:
    from numpy.random import RandomState
    from numpy.typing import ArrayLike

    from pairlearn.data.types import Floats, Ints, PairsLike, PointsLike
    from pairlearn.engine.backends.protocol import PairRiskSum
    from pairlearn.engine.objective import PairObjective
    from pairlearn.models.base import Answered

__all__ = ["MCLClassifier"]

SOLVERS = ("lbfgs", "sgd")


class MCLClassifier(ProbabilisticPairClassifier, LinearPairClassifier):
    r"""Linear meta-classification likelihood (MCL), for two or more classes.

    Each point has class probabilities p(x), the sigmoid of f(x) = w^T x + b for two
    classes and the softmax of C such scores for more. Two points are of the same class
    with probability S = sum over c of p_c(x) p_c(x'). The model minimises the negative
    log-likelihood of the answers,

    .. math::

        J = \frac{-\sum_k v_k [\tfrac{1+t_k}{2} \log S_k
            + \tfrac{1-t_k}{2} \log(1 - S_k)]}{\sum_k v_k}
            + \frac{\alpha}{2} |w|^2 .

    For two classes S = (1 + tanh(f/2) tanh(f'/2)) / 2, and with s the sigmoid
    d log S / df = s(f + f') - s(f) and d log(1 - S) / df = s(f - f') - s(f).

    It is a proper likelihood, so it gives probabilities. For two classes these, like
    the classes, are known only up to a swap until the class assignment is done.

    Parameters
    ----------
    n_classes : int, default=2
        Number of classes C.
    alpha : float, default=1e-4
        Strength of the penalty on the weights; intercepts are not penalised.
    fit_intercept : bool, default=True
        Whether scores have an intercept.
    solver : {"lbfgs", "sgd"}, default="lbfgs"
        * "lbfgs": always a good choice.
        * "sgd": the protocol of the paper; for comparisons.
    max_iter : int, default=500
        The most iterations of L-BFGS, or epochs of SGD.
    tol : float, default=1e-6
        L-BFGS stops when no entry of the gradient exceeds this.
    n_init : int, default=5
        Number of starts; the best objective is kept. For two classes they are those of
        :class:`CIPSClassifier`; for more, clusterings of the points in the leading
        eigenvectors, by k-means++ from different seeds.
    batch_size : int, default=64
        Pairs per step of SGD.
    learning_rate : float, default=0.01
        Learning rate of SGD.
    majority : {+1, -1}, class name or None, default=None
        For two classes: the class that holds more than half of the points. None: no
        class assignment.
    assignment_size : float or int, default=0.2
        Share (or number) of pairs kept out of training for class assignment.
    flip_rates : tuple, float, "auto", "symmetric" or None, default=None
        How often answers are wrong: (r1, r0) with r1 = P(answer same | same) and
        r0 = P(answer same | different); a single number e for symmetric noise,
        (1 - e, e); "auto" or "symmetric" to estimate both rates, or one, together with
        the weights. S is then replaced by r0 + (r1 - r0) S (forward correction).
    likelihood : {"component", "pair"}, default="component"
        * "component": answers about points that are connected by answers are seen
          together: what they imply counts, too. The sum over the classes of all points
          of a component takes the place of the sum of single terms; see
          :mod:`pairlearn.engine.components.likelihood`. Right answers are taken for
          right in 9,999 of 10,000 cases then: if they may be wrong, pass `flip_rates`,
          since a wrong answer that is believed misleads others, too. Nothing changes
          for pairs that share no point.
        * "pair": every pair stands alone, as in the paper of Hsu et al.; SGD always
          learns so.
    classes : tuple or None, default=None
        Names of the classes. None: (-1, 1) for two, 0 to C - 1 for more.
    warm_start : bool, default=False
        Start from the previous solution.
    random_state : int, RandomState or None, default=None
        Seed of SGD, of k-means, and of the choice of pairs for class assignment.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    objective_ : float
        J at the solution.
    history_ : dict
        "objective": J after each iteration, or its mean over the batches of each
        epoch of SGD; "n_evaluations", "passes" and "samples" as in
        :class:`CIPSClassifier`.
    n_iter_ : int
        Iterations or epochs of the best start.
    flip_rates_ : tuple of float
        (r1, r0), given or estimated; (1.0, 0.0) without noise.
    assignment_ : Assignment or None
        Outcome of the class assignment.
    classes_ : ndarray of shape (n_classes,)
        Names of the classes.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if the points have any.

    Notes
    -----
    *Not guaranteed:* a global minimum; with more than two classes, that each group is a
    class when the answers leave classes out or the start misses one.

    References
    ----------
    Y.-C. Hsu, Z. Lv, J. Schlosser, P. Odom and Z. Kira, "Multi-class classification
    without multi-class labels", ICLR 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from pairlearn import MCLClassifier, Pairs, clustering_error
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(3, size=300)
    >>> X = rng.normal(size=(300, 2)) + 5 * np.eye(3)[y][:, :2]
    >>> pairs, t = Pairs.sample(X, 600, y, reuse=True, random_state=0)
    >>> clf = MCLClassifier(n_classes=3, random_state=0).fit(pairs, t)
    >>> round(clustering_error(y, clf.predict(X)), 2)
    0.01
    """

    _keeps_tensors = True

    def __init__(
        self,
        *,
        n_classes: int = 2,
        alpha: float = 1e-4,
        fit_intercept: bool = True,
        solver: str = "lbfgs",
        max_iter: int = 500,
        tol: float = 1e-6,
        n_init: int = 5,
        batch_size: int = 64,
        learning_rate: float = 0.01,
        majority: Any = None,
        assignment_size: float = 0.2,
        flip_rates: Any = None,
        likelihood: str = "component",
        classes: tuple[Any, ...] | None = None,
        warm_start: bool = False,
        random_state: int | RandomState | None = None,
    ) -> None:
        self.n_classes = n_classes
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
        self.likelihood = likelihood
        self.classes = classes  # type: ignore[assignment]
        self.warm_start = warm_start
        self.random_state = random_state

    def fit(
        self, pairs: PairsLike, t: ArrayLike, sample_weight: ArrayLike | None = None
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
            Weights of the pairs. If each stands alone, a weight of 2 is the same as the
            pair twice. Seen together, a right answer that is given twice is no news.

        Returns
        -------
        self
        """
        self._check_parameters()
        train, kept, rng = self._prepare_fit(pairs, t, sample_weight)
        risk_sum = self._risk_sum(train)
        begin = None if self.n_classes == 2 else partial(self._cluster_starts, rng)
        self._learn(self.solver, risk_sum, rng, begin)
        self._fix_sign()
        return self._assign_from(kept)

    def _risk_sum(self, train: Answered) -> PairRiskSum:
        """Return the pairs with their coefficients, those that share points joined."""
        points, index = as_points(train.pairs.X), train.pairs.index
        coefficients = pair_coefficients(train.t, train.weight)
        together = self.likelihood == "component" and self.solver == "lbfgs"
        if together and shares_points(index, points.n_points).any():
            total = float(train.weight.sum())
            return ComponentRiskSum(points, index, coefficients, total, self.n_classes)
        return points.coupled(index, coefficients)

    @property
    def _n_outputs(self) -> int:  # type: ignore[override]
        return 1 if self.n_classes == 2 else self.n_classes

    def _risk(self) -> LikelihoodRisk:
        link = BinaryLink() if self.n_classes == 2 else SoftmaxLink()
        return LikelihoodRisk(link, known_rates(self.flip_rates))

    def _scores(self, X: PointsLike) -> Any:
        if self.n_classes == 2:
            return super()._scores(X)
        return as_points(X).own_scores(self.coef_.T, self.intercept_)

    def _fix_sign(self) -> None:
        if self.n_classes == 2:
            super()._fix_sign()

    def _reorder(self, order: Ints) -> None:
        self.coef_, self.intercept_ = self.coef_[order], self.intercept_[order]

    def _ignores_unused_points(self) -> bool:
        # The starts of several classes are clusters of all points.
        return self.n_classes == 2

    def _check_parameters(self) -> None:
        """Refuse wrong parameters."""
        check_choice("solver", self.solver, SOLVERS)
        check_choice("likelihood", self.likelihood, LIKELIHOODS)
        check_integer("n_classes", self.n_classes, minimum=2)
        self._check_numbers("max_iter", "n_init", "batch_size")
        rates = check_flip_rates(self.flip_rates)
        if isinstance(rates, str) and self.solver != "lbfgs":
            raise ValueError(f"flip_rates={rates!r} are estimated with solver='lbfgs'")

    def _cluster_starts(
        self, rng: RandomState, objective: PairObjective
    ) -> list[Floats]:
        """Return starts whose classes are clusters of the points, from several seeds.

        Points are clustered along the leading eigenvectors of the moment matrix.
        """
        if objective.points.n_points < self.n_classes:
            raise ValueError(
                f"n_classes={self.n_classes}, but there are "
                f"{objective.points.n_points} points"
            )
        span = eigenvectors(objective, self.n_classes)
        scores = objective.points.scores(*objective.scaling.weights(span))
        embedding = cluster_embedding(scores, self.n_classes)
        if embedding is None:
            # Too few different points to cluster: any direction will do.
            return list(directions(objective.size, self.n_init))
        first, spread = [], scores.std(axis=0) + 1e-12
        for _ in range(self.n_init):
            seed = rng.randint(2**31 - 1)
            weights = cluster_weights(embedding, embedding, self.n_classes, seed)
            u = (span @ (weights / spread[:, None])).T.ravel()
            direction = u / np.linalg.norm(u)
            first.append(best_length(objective, direction) * direction)
        return first
