"""How good is a classifier: by pairs, and by labels where there are any."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from pairlearn.data.checks import check_answers, check_weights
from pairlearn.data.containers import on_host
from pairlearn.data.pairs import as_pairs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from pairlearn.data.types import Floats, PairsLike

__all__ = [
    "clustering_accuracy_scorer",
    "clustering_error",
    "neg_pair_error_scorer",
    "pair_accuracy_scorer",
    "pair_error",
    "predict_pairs",
    "q_statistic",
]


def pair_error(
    t: ArrayLike, t_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Return how often predicted answers disagree with the answers.

    Parameters
    ----------
    t : array-like of shape (n_pairs,)
        Answers; for a soft answer the expected disagreement counts.
    t_pred : array-like of shape (n_pairs,)
        Predicted answers (+1 or -1), or pair scores; sign(0) = -1.
    sample_weight : array-like of shape (n_pairs,), optional
        Weights of the pairs.

    Returns
    -------
    float

    Examples
    --------
    >>> pair_error([1, 1, -1, -1], [1, -1, -1, -1])
    0.25
    """
    scores = np.atleast_1d(np.asarray(on_host(t_pred), dtype=float))
    predicted = np.where(scores > 0, 1.0, -1.0)
    answers = check_answers(np.atleast_1d(on_host(t)), len(predicted))
    if not len(answers):
        raise ValueError("at least one pair is needed")
    weight = check_weights(sample_weight, len(predicted))
    return float(np.average((1 - answers * predicted) / 2, weights=weight))


def clustering_error(
    y: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Return the error up to renaming the predicted classes.

    For two classes this is min(error, 1 - error); for more, the smallest error over
    all one-to-one namings (Hungarian matching).

    Parameters
    ----------
    y : array-like of shape (n_points,)
        Class labels.
    y_pred : array-like of shape (n_points,)
        Predicted classes or groups, under any names.
    sample_weight : array-like of shape (n_points,), optional
        Weights of the points.

    Returns
    -------
    float

    Examples
    --------
    >>> clustering_error([0, 0, 0, 1], ["b", "b", "a", "a"])
    0.25
    """
    true_names, true = np.unique(np.asarray(on_host(y)), return_inverse=True)
    names, predicted = np.unique(np.asarray(on_host(y_pred)), return_inverse=True)
    if true.shape != predicted.shape or true.ndim != 1:
        raise ValueError(
            f"y and y_pred need one entry per point; got shapes {np.shape(y)} and "
            f"{np.shape(y_pred)}"
        )
    if not len(true):
        raise ValueError("at least one point is needed")
    weight = check_weights(sample_weight, len(true))
    table = np.zeros((len(true_names), len(names)))
    np.add.at(table, (true, predicted), weight)
    matched = linear_sum_assignment(table, maximize=True)
    # Clipped: summing weights in another order may leave -1e-17.
    return float(max(0.0, 1 - table[matched].sum() / weight.sum()))


def q_statistic(
    t: ArrayLike,
    left: ArrayLike,
    right: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return Q, the share of points whose predicted class differs from the answer.

    Q = mean of [1{h(x) != t} + 1{h(x') != t}] / 2. It decides the class assignment:
    Q = (2p - 1) R + 1 - p.

    Parameters
    ----------
    t : array-like of shape (n_pairs,)
        Answers; a soft answer counts by its expectation.
    left, right : array-like of shape (n_pairs,)
        Scores, or predicted classes -1 and +1, of both points of each pair.
    sample_weight : array-like of shape (n_pairs,), optional
        Weights of the pairs.

    Returns
    -------
    float

    Examples
    --------
    >>> q_statistic([1, -1], [1, 1], [1, -1])
    0.25
    """
    signs = [
        np.where(np.asarray(on_host(s), dtype=float) > 0, 1.0, -1.0)
        for s in (left, right)
    ]
    answers = check_answers(t, len(signs[0]))
    weight = check_weights(sample_weight, len(answers))
    differs = (1 - answers * (signs[0] + signs[1]) / 2) / 2
    return float(np.average(differs, weights=weight))


def predict_pairs(estimator: Any, pairs: PairsLike) -> Floats:
    """Return +1 where a classifier puts both points of a pair into one class.

    Works for anything that has `predict` for points: our estimators, pipelines,
    and any classifier or clusterer of scikit-learn.

    Parameters
    ----------
    estimator : object
        Fitted, with a method ``predict(X)``.
    pairs : Pairs or array-like of shape (n_pairs, 2, n_features)
        The pairs.

    Returns
    -------
    ndarray of shape (n_pairs,)
        +1 for "same", -1 for "different".

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from pairlearn import Pairs
    >>> model = DummyClassifier().fit([[0.0], [1.0]], ["a", "a"])
    >>> predict_pairs(model, Pairs([[0.0], [1.0]], [[0, 1]]))
    array([1.])
    """
    pairs = as_pairs(pairs).compact()
    return pairs.answers(on_host(estimator.predict(pairs.X)))


def pair_accuracy_scorer(
    estimator: Any,
    pairs: PairsLike,
    t: ArrayLike,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Score an estimator by 1 - pair error; pass as ``scoring=`` to scikit-learn.

    Parameters
    ----------
    estimator : object
        Fitted, with a method ``predict(X)``.
    pairs : Pairs or array-like of shape (n_pairs, 2, n_features)
        The pairs.
    t : array-like of shape (n_pairs,)
        Answers.
    sample_weight : array-like of shape (n_pairs,), optional
        Weights of the pairs.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> from pairlearn import Pairs
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> pairs = Pairs(X, [[0, 1], [0, 2], [1, 3]])
    >>> model = KMeans(2, n_init=1, random_state=0).fit(X)
    >>> pair_accuracy_scorer(model, pairs, [1, -1, -1])
    1.0
    """
    predicted = predict_pairs(estimator, pairs)
    return 1.0 - pair_error(t, predicted, sample_weight=sample_weight)


def neg_pair_error_scorer(
    estimator: Any,
    pairs: PairsLike,
    t: ArrayLike,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Score an estimator by minus its pair error, so that greater is better.

    Parameters
    ----------
    estimator, pairs, t, sample_weight
        As for :func:`pair_accuracy_scorer`.

    Returns
    -------
    float

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from pairlearn import Pairs
    >>> model = DummyClassifier().fit([[0.0], [1.0]], ["a", "a"])
    >>> pairs = Pairs([[0.0], [1.0]], [[0, 1], [1, 0]])
    >>> neg_pair_error_scorer(model, pairs, [1, -1])
    -0.5
    """
    return pair_accuracy_scorer(estimator, pairs, t, sample_weight) - 1.0


def clustering_accuracy_scorer(estimator: Any, X: Any, y: ArrayLike) -> float:
    """Score predictions for labelled points by 1 - clustering error.

    Parameters
    ----------
    estimator : object
        Fitted, with a method ``predict(X)``.
    X : array-like, sparse or data frame of shape (n_points, n_features)
        Points.
    y : array-like of shape (n_points,)
        Their class labels.

    Returns
    -------
    float

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> X, y = [[0.0], [0.1], [5.0], [5.1]], ["a", "a", "b", "b"]
    >>> model = KMeans(2, n_init=1, random_state=0).fit(X)
    >>> clustering_accuracy_scorer(model, X, y)
    1.0
    """
    return 1.0 - clustering_error(on_host(y), on_host(estimator.predict(X)))
