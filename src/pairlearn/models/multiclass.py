"""More than two classes: one pair classifier for each class against the rest."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from pairlearn.data.blockwise import by_blocks
from pairlearn.data.checks import (
    check_answers,
    check_both_kinds,
    check_weights,
    plain_answers,
)
from pairlearn.data.containers import on_host
from pairlearn.data.pairs import Pairs, as_pairs
from pairlearn.models.predictor import PairPredictor, check_known
from pairlearn.trust.assignment import (
    Assignment,
    assign_from_points,
    exclusive_signs,
    majority_sign,
)
from pairlearn.trust.calibration import calibrate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

    from pairlearn.data.types import Floats, PairsLike, PointsLike

__all__ = ["OneVsRestPairClassifier", "answers_per_class"]

_FORM = (
    "one-vs-rest needs an answer for each class: t of shape (n_pairs, n_classes), "
    "where column c says whether the two points agree on being of class c (+1) or not "
    "(-1), with NaN where this was not asked. 'Same class' is +1 in every column; "
    "'different' does not say which classes the two are of. From labelled points, "
    "answers_per_class(pairs, y) gives this form"
)


class OneVsRestPairClassifier(MetaEstimatorMixin, PairPredictor):
    r"""More than two classes from pairs: one classifier for each class (Remark 1).

    For class c the other classes are one single class, and column c of the answers
    says whether two points agree on "is of class c". Three steps:

    1. Learn: a clone of `estimator` learns f_c from column c.
    2. Calibrate: a slope a_c > 0 and an intercept b_c turn f_c(x) into the log-odds
       g_c(x) = a_c f_c(x) + b_c of "is of class c", by the likelihood of column c of
       the training answers,

       .. math:: P(t = 1) = \sigma(g_c) \sigma(g'_c)
                 + \sigma(-g_c) \sigma(-g'_c) .

       How far scores spread depends on the loss, the penalty and how hard the class
       is, so scores of different columns cannot be compared; log-odds can.
    3. Class assignment, for columns to which the estimator has not already given
       one (`majority`): each point is of exactly one class, so the signs s_c are
       those for which the probabilities of the classes best sum to one,

       .. math:: \min_s \sum_x \Bigl(\sum_c \sigma(s_c g_c(x)) - 1\Bigr)^2 .

       With three classes or more and error-free columns the solution is unique: it
       needs neither labels nor the majority class.

    The prediction is the class with the largest s_c g_c(x).

    Parameters
    ----------
    estimator : pair classifier
        With ``fit(pairs, t)`` and ``decision_function(X)``: a classifier of this
        package, a pipeline that ends with one, or a search over one.
    classes : array-like of shape (n_classes,), optional
        Names of the classes in the order of the columns of the answers. None: the
        column names if the answers are a data frame, else 0, 1, 2, ...
    majority : {+1, -1}, array-like of shape (n_classes,) or None, default=None
        Parameter `majority` of the estimator, for all classes or for each: -1 where
        a class holds less than half of the points, +1 where it holds more, None to
        leave the estimator as it is. With ±1 the estimator keeps a part of the pairs
        for its own class assignment, which step 3 then leaves alone. In a pipeline
        the parameter of the last step is meant.
    n_jobs : int, optional
        How many classes are learned at the same time, as for :class:`joblib.Parallel`.

    Attributes
    ----------
    estimators_ : list of estimators
        One for each class, with their own signs and scales.
    calibration_ : ndarray of shape (n_classes, 2)
        s_c a_c and s_c b_c.
    assignments_ : list of Assignment
        Outcome of the class assignment of each class; method "exclusion" is step 3.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of features, if the estimators know it.
    feature_names_in_ : ndarray of str
        Names of the features, if the points have any.

    See Also
    --------
    answers_per_class : Answers for each class from labelled points.

    Notes
    -----
    *Not guaranteed:* anything, in theory. The paper proposes one-vs-rest without a
    theorem: its guarantees hold for each column by itself, not for the class with
    the largest score. Calibration uses the training pairs, so the log-odds of a model
    that overfits are too large. Step 3 is ours, not the paper's, and has no bound on
    its failure; it takes for granted that `classes` are all the classes there are.
    If most points belong to none of them, give `majority` or call
    :meth:`assign_from_points`.

    References
    ----------
    H. Bao, T. Shimada, L. Xu, I. Sato and M. Sugiyama, "Pairwise Supervision Can
    Provably Elicit a Decision Boundary", AISTATS 2022, Remark 1.

    P. Kar and P. Jain, "Similarity-based Learning via Data Driven Embeddings",
    NeurIPS 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from pairlearn import (
    ...     CIPSClassifier, OneVsRestPairClassifier, Pairs, answers_per_class
    ... )
    >>> X, y = load_digits(n_class=4, return_X_y=True)
    >>> pairs = Pairs.sample(X[:400] / 16, 300, reuse=True, random_state=0)
    >>> t = answers_per_class(pairs, y[:400])
    >>> clf = OneVsRestPairClassifier(CIPSClassifier(alpha=0.01)).fit(pairs, t)
    >>> bool(np.mean(clf.predict(X[400:] / 16) == y[400:]) > 0.9)
    True
    """

    def __init__(
        self,
        estimator: Any,
        *,
        classes: ArrayLike | None = None,
        majority: ArrayLike | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.classes = classes
        self.majority = majority
        self.n_jobs = n_jobs

    def fit(
        self, pairs: PairsLike, t: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn from pairs and their answers for each class.

        Parameters
        ----------
        pairs : Pairs or array-like of shape (n_pairs, 2, n_features)
            Pairs.
        t : array-like or data frame of shape (n_pairs, n_classes)
            Column c: +1 if the two points agree on being of class c, that is if both
            are or neither is; -1 if just one of them is; a number in between if
            uncertain; NaN if this was not asked.
        sample_weight : array-like of shape (n_pairs,), optional
            Weights of the pairs.

        Returns
        -------
        self
        """
        pairs = as_pairs(pairs)
        classes = _class_names(self.classes, t)
        answers = _check_answers_per_class(t, pairs, classes)
        weight = check_weights(sample_weight, len(pairs))
        pairs = pairs.compact()
        models = self._unfitted(classes)
        for k, name in enumerate(classes):
            asked = ~np.isnan(answers[:, k]) & (weight > 0)
            with _naming(name):
                check_both_kinds(answers[asked, k])
        columns = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_column)(
                model, pairs, answers[:, k], weight, name, sample_weight is not None
            )
            for k, (model, name) in enumerate(zip(models, classes, strict=True))
        )
        fitted, lines, scores = zip(*columns, strict=True)
        self.estimators_, self.calibration_ = list(fitted), np.array(lines)
        self.classes_ = classes
        self._n_pairs = len(pairs)
        outcomes = [_assignment(model) for model in self.estimators_]
        log_odds = _log_odds(np.stack(scores, axis=1), self.calibration_)
        signs = exclusive_signs(log_odds, [outcome is not None for outcome in outcomes])
        self.assignments_ = [
            outcome or Assignment(int(sign), "exclusion", None, n_points=pairs.n_points)
            for outcome, sign in zip(outcomes, signs, strict=True)
        ]
        self.calibration_ *= signs[:, None]
        return self

    def decision_function(self, X: PointsLike) -> Floats:
        """Return the log-odds of each class for each point.

        Parameters
        ----------
        X : points, as the estimator takes them
            Points.

        Returns
        -------
        ndarray of shape (n_points, n_classes)
            Estimated log-odds of "is of class c" against the rest, in the order of
            `classes_`.
        """
        return super().decision_function(X)

    def pair_score(self, pairs: PairsLike) -> Floats:
        """Return the product of both points' log-odds, for each pair and class.

        Parameters
        ----------
        pairs : Pairs or array-like of shape (n_pairs, 2, n_features)
            Pairs.

        Returns
        -------
        ndarray of shape (n_pairs, n_classes)
            Positive where the two points agree on being of class c or not, by column
            c alone.
        """
        return super().pair_score(pairs)

    def score(
        self, pairs: PairsLike, t: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return how often the predicted classes agree with the answers.

        Parameters
        ----------
        pairs : Pairs or array-like of shape (n_pairs, 2, n_features)
            Pairs.
        t : array-like of shape (n_pairs, n_classes) or (n_pairs,)
            Answers for each class, as for :meth:`fit`: the share of them, over all
            columns, that the predicted classes imply. Or one answer per pair, same
            class or not: 1 - pair error.
        sample_weight : array-like of shape (n_pairs,), optional
            Weights of the pairs.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        pairs = as_pairs(pairs)
        if np.ndim(t) == 1:
            return super().score(pairs, t, sample_weight)
        answers = _check_answers_per_class(t, pairs, self.classes_)
        weight = check_weights(sample_weight, len(pairs))
        pairs = pairs.compact()
        implied = answers_per_class(
            pairs, on_host(self.predict(pairs.X)), self.classes_
        )
        asked = ~np.isnan(answers) & (weight > 0)[:, None]
        if not asked.any():
            raise ValueError("no pair has an answer for any class: nothing to score")
        weights = np.broadcast_to(weight[:, None], answers.shape)[asked]
        return float(np.average((1 + answers * implied)[asked] / 2, weights=weights))

    def assign_from_points(self, X: PointsLike, y: ArrayLike) -> Self:
        """Decide for each class which side is which, from a few labelled points.

        Parameters
        ----------
        X : points, as the estimator takes them
            Points.
        y : array-like of shape (n_points,)
            Their classes, from `classes_`.

        Returns
        -------
        self
            With the sign of columns changed where needed; see `assignments_`.
        """
        scores = self._host_scores(X)
        labels = np.asarray(on_host(y))
        check_known(labels, self.classes_)
        self.assignments_ = [
            assign_from_points(scores[:, k], np.where(labels == name, 1, -1))
            for k, name in enumerate(self.classes_)
        ]
        signs = np.array([outcome.sign for outcome in self.assignments_])
        self.calibration_ = self.calibration_ * signs[:, None]
        return self

    @property
    def n_features_in_(self) -> int:
        """Number of features that the estimators were fitted to."""
        return int(self.estimators_[0].n_features_in_)

    @property
    def feature_names_in_(self) -> Any:
        """Names of the features that the estimators were fitted to."""
        return self.estimators_[0].feature_names_in_

    @by_blocks
    def _own_scores(self, X: PointsLike) -> Floats:
        check_is_fitted(self)
        columns = [on_host(model.decision_function(X)) for model in self.estimators_]
        return _log_odds(np.stack(columns, axis=1), self.calibration_)

    def _unfitted(self, classes: NDArray[Any]) -> list[Any]:
        """Return a clone of the estimator for each class, with its majority set."""
        wanted: Any = self.majority
        values = [wanted] * len(classes) if np.ndim(wanted) == 0 else list(wanted)
        if len(values) != len(classes):
            raise ValueError(
                f"majority needs one entry for each of the {len(classes)} classes; got "
                f"{len(values)}"
            )
        parameter = _majority_parameter(self.estimator)
        models = []
        for value in values:
            model = clone(self.estimator)
            if value is not None:
                if parameter is None:
                    raise ValueError(
                        f"majority={wanted!r} was given, but "
                        f"{type(self.estimator).__name__} has no parameter 'majority'; "
                        "leave it out, and call assign_from_points if need be"
                    )
                model.set_params(**{parameter: majority_sign(value)})
            models.append(model)
        if sum(value == 1 for value in values) > 1:
            raise ValueError(
                "majority is +1 for more than one class, but only one class can hold "
                "more than half of the points"
            )
        return models


def answers_per_class(
    pairs: PairsLike, y: ArrayLike, classes: ArrayLike | None = None
) -> Floats:
    """Return the answers for each class that class labels imply.

    Parameters
    ----------
    pairs : Pairs or array-like of shape (n_pairs, 2, n_features)
        Pairs.
    y : array-like of shape (n_points,)
        Class labels of the points.
    classes : array-like of shape (n_classes,), optional
        The classes in the order of the columns. None: those in `y`, sorted.

    Returns
    -------
    ndarray of shape (n_pairs, n_classes)
        +1 where both points are of class c or neither is, -1 where just one is. Two
        points of the same class agree in every column.

    Examples
    --------
    >>> from pairlearn import Pairs, answers_per_class
    >>> pairs = Pairs([[0.0], [1.0], [2.0]], [[0, 1], [1, 2]])
    >>> answers_per_class(pairs, ["cat", "cat", "dog"], ["cat", "dog", "emu"])
    array([[ 1.,  1.,  1.],
           [-1., -1.,  1.]])
    """
    pairs = as_pairs(pairs)
    labels = np.asarray(y)
    names = np.unique(labels) if classes is None else np.asarray(classes)
    check_known(labels, names)
    columns = [pairs.answers(labels == name) for name in names]
    return np.stack(columns, axis=1)


def _class_names(classes: ArrayLike | None, t: Any) -> NDArray[Any]:
    """Return the names of the columns of answers, or say why there are none."""
    shape = np.shape(t)
    if len(shape) != 2 or shape[1] < 2:
        raise ValueError(f"got answers of shape {shape}, but {_FORM}")
    if shape[1] == 2:
        raise ValueError(
            "got answers for two classes, which do not need one-vs-rest: both columns "
            "say the same. Fit the pair classifier itself to one of them"
        )
    if classes is None:
        classes = np.asarray(getattr(t, "columns", np.arange(shape[1])))
    names = np.asarray(classes)
    if names.shape != (shape[1],) or len(np.unique(names)) < shape[1]:
        raise ValueError(
            f"classes must give the {shape[1]} columns of the answers different names; "
            f"got {names.tolist()}"
        )
    return names


def _check_answers_per_class(t: Any, pairs: Pairs, classes: NDArray[Any]) -> Floats:
    """Return answers as floats in [-1, 1] or NaN, or say what is wrong and where."""
    array = np.asarray(t)
    if array.ndim != 2 or array.shape[1] != len(classes):
        raise ValueError(
            f"there are {len(classes)} classes, but answers of shape {array.shape}; "
            f"{_FORM}"
        )
    answers = np.empty(array.shape)
    for k, name in enumerate(classes):
        column = array[:, k]
        if array.dtype.kind == "O":
            plain = plain_answers(column)
            # Words stay as they are: the check below knows what to say of them.
            column = plain if plain.dtype.kind in "biuf" else column
        missing = np.isnan(column) if column.dtype.kind == "f" else np.zeros(0, bool)
        if missing.any():
            # An answer that was not asked for passes as "same", which is always
            # possible, so that messages number the pairs rightly.
            column = np.where(missing, 1.0, column)
        with _naming(name):
            checked = check_answers(column, len(pairs), pairs.index)
        answers[:, k] = np.where(missing, np.nan, checked) if missing.any() else checked
    return answers


@contextmanager
def _naming(name: Any) -> Iterator[None]:
    """Say which class an error is about."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"class {name}: {error}") from None


def _majority_parameter(estimator: Any) -> str | None:
    """Return the name of the parameter `majority`, of the last step in a pipeline."""
    if "majority" in estimator.get_params(deep=False):
        return "majority"
    name, inner = (
        estimator.steps[-1]
        if hasattr(estimator, "steps")
        else ("estimator", getattr(estimator, "estimator", None))
    )
    deeper = _majority_parameter(inner) if hasattr(inner, "get_params") else None
    return deeper and f"{name}__{deeper}"


def _assignment(model: Any) -> Assignment | None:
    """Return the class assignment that a fitted estimator made, if any."""
    if hasattr(model, "steps"):
        return _assignment(model.steps[-1][1])
    if hasattr(model, "best_estimator_"):
        return _assignment(model.best_estimator_)
    outcome: Assignment | None = getattr(model, "assignment_", None)
    return outcome


def _fit_column(
    model: Any, pairs: Pairs, t: Floats, weight: Floats, name: Any, weighted: bool
) -> tuple[Any, tuple[float, float], Floats]:
    """Return the fitted model of one class, its calibration, scores of all points."""
    asked = np.flatnonzero(~np.isnan(t))
    prefix = f"{model.steps[-1][0]}__" if hasattr(model, "steps") else ""
    arguments = {f"{prefix}sample_weight": weight[asked]} if weighted else {}
    try:
        model.fit(pairs[asked], t[asked], **arguments)
    except Exception as error:
        error.add_note(f"while learning class {name}")
        raise
    scores = np.asarray(on_host(model.decision_function(pairs.X)), dtype=float)
    if scores.ndim != 1:
        raise ValueError(
            f"one-vs-rest needs an estimator with one score per point; "
            f"{type(model).__name__} gives scores of shape {scores.shape}"
        )
    left, right = scores[pairs.left[asked]], scores[pairs.right[asked]]
    return model, calibrate(left, right, t[asked], weight[asked]), scores


def _log_odds(scores: Floats, calibration: Floats) -> Floats:
    return scores * calibration[:, 0] + calibration[:, 1]
