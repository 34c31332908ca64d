"""Fitted pieces of scikit-learn with given numbers.

Each piece is fitted to a made-up table of the right width, so that whatever attributes
this version of scikit-learn wants are there, and then gets its numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import VotingClassifier
from sklearn.feature_selection import VarianceThreshold
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import FeatureUnion
from sklearn.preprocessing import (
    FunctionTransformer,
    LabelEncoder,
    MinMaxScaler,
    StandardScaler,
)
from sklearn.svm import LinearSVC

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pairlearn.data.types import Floats, Ints

__all__ = [
    "add_and_clip",
    "checked",
    "function",
    "joined",
    "kernel_map",
    "linear_classifier",
    "linear_map",
    "scaled",
    "selected",
    "voters",
]


def checked(n_features: int, names: Any = None) -> list[tuple[str, Any]]:
    """Return steps that check a table of numbers, fill it in, and make it float64."""
    check = FunctionTransformer(validate=True, accept_sparse=True)
    check.fit(np.zeros((1, n_features)))
    if names is not None:
        check.feature_names_in_ = np.asarray(names, dtype=object)
    # It returns an array, whatever comes in: NumPy's functions take no sparse tables.
    every = slice(0, n_features)
    fill = ColumnTransformer([("all", "passthrough", every)], sparse_threshold=0)
    fill.fit(np.zeros((1, n_features)))
    return [
        ("check", check),
        ("fill", fill),
        ("double", function(np.positive, n_features, dtype="float64")),
    ]


def function(func: Any, n_features: int, **kw_args: Any) -> FunctionTransformer:
    """Return a transformer that applies a function of NumPy to every number."""
    step = FunctionTransformer(func, kw_args=kw_args or None)
    step.n_features_in_ = n_features
    return step


def selected(columns: Ints, n_features: int) -> VarianceThreshold:
    """Return a transformer that keeps some columns, in their order."""
    step = VarianceThreshold().fit(np.repeat([[0.0], [1.0]], n_features, axis=1))
    step.variances_ = np.isin(np.arange(n_features), columns).astype(float)
    return step


def scaled(scale: Floats, mean: Floats | None = None) -> StandardScaler:
    """Return a transformer x -> (x - mean) / scale; without a mean, x / scale."""
    step = StandardScaler(with_mean=mean is not None)
    step.fit(np.repeat([[0.0], [1.0]], len(scale), axis=1))
    step.scale_ = np.asarray(scale, dtype=float)
    step.var_ = step.scale_**2
    step.mean_ = np.zeros(len(scale)) if mean is None else np.asarray(mean, dtype=float)
    return step


def add_and_clip(
    factor: Floats, offset: Floats, low: float, high: float
) -> MinMaxScaler:
    """Return a transformer x -> factor * x + offset, cut off at two limits."""
    step = MinMaxScaler((low, high), clip=True)
    step.fit(np.repeat([[0.0], [1.0]], len(factor), axis=1))
    step.scale_ = np.asarray(factor, dtype=float)
    step.min_ = np.asarray(offset, dtype=float)
    return step


def linear_map(matrix: Floats) -> TruncatedSVD:
    """Return a transformer x -> matrix x, for a matrix of shape (n_out, n_in)."""
    n_out, n_in = matrix.shape
    step = TruncatedSVD(max(1, n_out))
    step.components_ = np.asarray(matrix, dtype=float)
    step.explained_variance_ = step.explained_variance_ratio_ = np.zeros(n_out)
    step.singular_values_ = np.zeros(n_out)
    step.n_features_in_ = n_in
    return step


def kernel_map(
    kernel: str, landmarks: Any, matrix: Floats, gamma: float | None = None
) -> Nystroem:
    """Return a transformer x -> matrix [k(x, z_1), ..., k(x, z_l)]."""
    step = Nystroem(kernel=kernel, gamma=gamma, n_components=landmarks.shape[0])
    step.components_ = landmarks
    step.component_indices_ = np.arange(landmarks.shape[0])
    step.normalization_ = np.asarray(matrix, dtype=float)
    step.n_features_in_ = landmarks.shape[1]
    step._n_features_out = len(matrix)
    return step


def joined(parts: list[tuple[str, Any]]) -> FeatureUnion:
    """Return a transformer that puts the outputs of others side by side."""
    # Transformers that are fitted already: nothing is left to fit.
    return FeatureUnion(parts)


def linear_classifier(
    coef: Floats,
    intercept: Floats,
    classes: NDArray[Any],
    *,
    probabilities: bool,
    names: Any = None,
) -> Any:
    """Return a linear classifier; one row of `coef` for two classes, else one each."""
    model = LogisticRegression() if probabilities else LinearSVC()
    model.coef_ = np.atleast_2d(np.asarray(coef, dtype=float))
    model.intercept_ = np.atleast_1d(np.asarray(intercept, dtype=float))
    model.classes_ = np.asarray(classes)
    model.n_features_in_ = model.coef_.shape[1]
    model.n_iter_ = np.ones(1, dtype=np.int32) if probabilities else 1
    if names is not None:
        model.feature_names_in_ = np.asarray(names, dtype=object)
    return model


def voters(models: list[Any], n_classes: int) -> VotingClassifier:
    """Return a transformer: the class probabilities by each of some classifiers."""
    named = [(f"model {k}", model) for k, model in enumerate(models, start=1)]
    step = VotingClassifier(named, voting="soft")
    step.estimators_ = models
    step.named_estimators_ = dict(named)
    step.le_ = LabelEncoder().fit(np.arange(n_classes))
    step.classes_ = step.le_.classes_
    return step
