"""Any scikit-learn classifier as the model, trained from pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.special import logit
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils.validation import has_fit_parameter

from pairlearn.data.checks import check_integer
from pairlearn.data.containers import take_rows
from pairlearn.data.folds import point_folds
from pairlearn.models.linear.mcl import MCLClassifier
from pairlearn.models.probabilistic import ProbabilisticPairClassifier
from pairlearn.trust.probabilities import agree

if TYPE_CHECKING:
    from numpy.random import RandomState
    from numpy.typing import ArrayLike

    from pairlearn.data.pairs import Pairs
    from pairlearn.data.types import Floats, Ints, PairsLike, PointsLike

__all__ = ["PairMetaClassifier"]

# Probabilities are kept this far from 0 and 1, so that one leaf of a tree that has seen
# a single point cannot decide a pair for good.
LEAST = 0.01


class PairMetaClassifier(MetaEstimatorMixin, ProbabilisticPairClassifier):
    r"""Train any classifier with `sample_weight` from pairs.

    The model is that of :class:`MCLClassifier`: points have a class probability p(x),
    and P(same) = p p' + (1 - p)(1 - p'). The log-likelihood of the answers is majorised
    by its expectation over the unseen classes, which turns learning from pairs into
    learning from weighted labels, repeatedly:

    * E: the probability r that the first point of a pair is positive, given the answer:
      for "same" r = r' = p p' / [p p' + (1 - p)(1 - p')]; for "different"
      r = p (1 - p') / [p (1 - p') + (1 - p) p'] and r' = 1 - r;
    * M: fit the estimator to every point twice, as positive with weight r and as
      negative with weight 1 - r (summed over the point's pairs).

    The first probabilities come from a linear fit. A flexible estimator repeats the
    responsibilities that it was trained on, and would never leave them: p is therefore
    predicted for each point by a model that has not seen it, nor any point that it is
    paired with (`cv` folds). The iteration with the best such likelihood is kept.

    Parameters
    ----------
    estimator : classifier
        With ``fit(X, y, sample_weight)`` and ``predict_proba(X)``: a forest, boosting,
        naive Bayes, ...
    max_iter : int, default=30
        The most iterations; it stops when two in a row bring no improvement.
    cv : int, default=5
        Number of folds.
    initial : pair classifier or None, default=None
        A classifier with `predict_proba` that gives the first probabilities. None:
        ``MCLClassifier(alpha=0.01)``.
    majority : {+1, -1}, class name or None, default=None
        The class that holds more than half of the points; None: no class assignment.
    assignment_size : float or int, default=0.2
        Share (or number) of pairs kept out of training for class assignment.
    classes : tuple, default=(-1, 1)
        Names of the negative and of the positive class.
    random_state : int, RandomState or None, default=None
        Seed of the folds and of the choice of pairs for class assignment. Give the
        estimator its own.

    Attributes
    ----------
    estimator_ : classifier
        The fitted estimator.
    history_ : dict
        "likelihood": the mean log-likelihood of the answers under out-of-fold
        probabilities; first that of the initial fit, then after each iteration.
    n_iter_ : int
        Iterations.
    assignment_ : Assignment or None
        Outcome of the class assignment.
    classes_ : ndarray of shape (2,)
        The negative and the positive class.

    Notes
    -----
    *Not guaranteed:* an increase of the likelihood at every iteration (out-of-fold
    probabilities are not those of the model that was fitted); a good result from a
    start that is no better than chance.

    References
    ----------
    A. P. Dempster, N. M. Laird and D. B. Rubin, "Maximum likelihood from incomplete
    data via the EM algorithm", JRSS B 39, 1977. The likelihood is that of Hsu et al.
    2019.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from pairlearn import PairMetaClassifier, Pairs, clustering_error
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(800, 2))
    >>> y = X[:, 0] + 0.6 * np.sin(4 * X[:, 1]) > 0
    >>> pairs, t = Pairs.sample(X, 400, y, random_state=0)
    >>> tree = DecisionTreeClassifier(min_samples_leaf=10, random_state=0)
    >>> clf = PairMetaClassifier(tree, random_state=0).fit(pairs, t)
    >>> clustering_error(y, clf.predict(X)) < 0.1
    True
    """

    def __init__(
        self,
        estimator: Any,
        *,
        max_iter: int = 30,
        cv: int = 5,
        initial: Any = None,
        majority: Any = None,
        assignment_size: float = 0.2,
        classes: tuple[Any, Any] = (-1, 1),
        random_state: int | RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.max_iter = max_iter
        self.cv = cv
        self.initial = initial
        self.majority = majority
        self.assignment_size = assignment_size
        self.classes = classes
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
            Answers.
        sample_weight : array-like of shape (n_pairs,), optional
            Weights of the pairs.

        Returns
        -------
        self
        """
        self._check_parameters()
        train, kept, rng = self._prepare_fit(pairs, t, sample_weight)
        self._learn(*train, rng)
        return self._assign_from(kept)

    def _check_parameters(self) -> None:
        if isinstance(self.estimator, type):
            raise ValueError(
                f"pass an instance, {self.estimator.__name__}(), not the class"
            )
        if not has_fit_parameter(self.estimator, "sample_weight"):
            raise ValueError(
                f"{type(self.estimator).__name__} cannot be trained with weights: its "
                "fit has no sample_weight. Use another classifier, such as "
                "HistGradientBoostingClassifier()"
            )
        if not hasattr(self.estimator, "predict_proba"):
            raise ValueError(
                f"{type(self.estimator).__name__} has no predict_proba; wrap it, for "
                "example with CalibratedClassifierCV"
            )
        check_integer("max_iter", self.max_iter)
        check_integer("cv", self.cv, minimum=2)
        if self.initial is not None and not hasattr(self.initial, "predict_proba"):
            raise ValueError(
                f"initial must have predict_proba, such as MCLClassifier(); "
                f"{type(self.initial).__name__} has not"
            )
        self._check_majority()

    def _learn(self, pairs: Pairs, t: Floats, weight: Floats, rng: RandomState) -> None:
        start = clone(self.initial or MCLClassifier(alpha=0.01))
        weighted = {} if np.ptp(weight) == 0 else {"sample_weight": weight}
        p = start.fit(pairs, t, **weighted).predict_proba(pairs.X)[:, 1]
        fold = point_folds(pairs, self.cv, rng)
        history = [_likelihood(pairs, t, weight, p)]
        best, n_stale = (-np.inf, np.empty(0), np.empty(0)), 0
        for _ in range(self.max_iter):
            positive, negative = _responsibilities(pairs, t, weight, p)
            p = self._out_of_fold(pairs.X, positive, negative, fold)
            history.append(_likelihood(pairs, t, weight, p))
            if history[-1] > best[0] + 1e-3:
                best, n_stale = (history[-1], positive, negative), 0
            else:
                n_stale += 1
            if n_stale == 2:
                break
        rows = np.arange(pairs.n_points)
        self.estimator_ = self._fit_rows(pairs.X, best[1], best[2], rows)
        self.history_ = {"likelihood": np.array(history)}
        self.n_iter_ = len(history) - 1
        self._sign = 1.0

    def _fit_rows(
        self, X: PointsLike, positive: Floats, negative: Floats, rows: Ints
    ) -> Any:
        """Fit to each point twice, with the weights of both classes."""
        both = np.concatenate([rows, rows])
        y = np.repeat([1, 0], len(rows))
        weight = np.concatenate([positive[rows], negative[rows]])
        counts = weight > 0
        model = clone(self.estimator)
        return model.fit(
            take_rows(X, both[counts]), y[counts], sample_weight=weight[counts]
        )

    def _out_of_fold(
        self, X: PointsLike, positive: Floats, negative: Floats, fold: Ints
    ) -> Floats:
        p = np.empty(len(fold))
        for k in np.unique(fold):
            out = np.flatnonzero(fold == k)
            model = self._fit_rows(X, positive, negative, np.flatnonzero(fold != k))
            p[out] = _probability(model, take_rows(X, out))
        return p

    def _scores(self, X: PointsLike) -> Floats:
        scores: Floats = self._sign * logit(_probability(self.estimator_, X))
        return scores

    def _flip(self) -> None:
        self._sign = -self._sign


def _probability(model: Any, X: PointsLike) -> Floats:
    """Return P(positive), away from 0 and 1; a model of one class is sure of it."""
    if len(model.classes_) == 1:
        return np.full(X.shape[0], 1 - LEAST if model.classes_[0] == 1 else LEAST)
    return np.asarray(np.clip(model.predict_proba(X)[:, 1], LEAST, 1 - LEAST))


def _responsibilities(
    pairs: Pairs, t: Floats, weight: Floats, p: Floats
) -> tuple[Floats, Floats]:
    """Return how much each point counts as positive and as negative, given the answers.

    Soft answers mix the two cases.
    """
    a, b = p[pairs.left], p[pairs.right]
    same, different = agree(a, b), agree(a, 1 - b)
    share = (1 + t) / 2
    left = share * a * b / same + (1 - share) * a * (1 - b) / different
    right = share * a * b / same + (1 - share) * (1 - a) * b / different
    n = pairs.n_points
    positive: Any = np.bincount(pairs.left, weight * left, n)
    positive = positive + np.bincount(pairs.right, weight * right, n)
    total: Any = np.bincount(pairs.left, weight, n)
    total = total + np.bincount(pairs.right, weight, n)
    return positive, total - positive


def _likelihood(pairs: Pairs, t: Floats, weight: Floats, p: Floats) -> float:
    same = agree(p[pairs.left], p[pairs.right])
    mean = np.average(
        (1 + t) / 2 * np.log(same) + (1 - t) / 2 * np.log(1 - same), weights=weight
    )
    return float(mean)
