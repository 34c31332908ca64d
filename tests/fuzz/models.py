"""A fitted model of each type that a file may hold, with points to use it on."""

import warnings
from functools import cache

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.feature_extraction import DictVectorizer, FeatureHasher
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfVectorizer,
)
from sklearn.frozen import FrozenEstimator
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    StandardScaler,
)
from sklearn.svm import SVC, SVR, OneClassSVM
from sklearn.utils import all_estimators

from pairlearn import (
    CIPSClassifier,
    LandmarkSimilarity,
    OneVsRestPairClassifier,
    PairClassifier,
    PairMetaClassifier,
    Pairs,
    answers_per_class,
    make_pair_pipeline,
)
from pairlearn.files.tables.encoder import ReadDates, ReadNumbers, ReadText
from pairlearn.files.trusted_types import TYPES
from tests.support.estimators import ESTIMATORS

# Networks are not saved in files.
_OWN = {
    name: model
    for name, model in ESTIMATORS.items()
    if f"{type(model).__module__}.{type(model).__name__}" in TYPES
}
WORDS = ["a red fox", "the red dog", "a cat and a dog", "no word of it"]
# Estimators that are made of others, by name.
_INNER = {
    "estimator": LogisticRegression(),
    "base_estimator": LogisticRegression(),
    "estimators": [("a", LogisticRegression()), ("b", LogisticRegression(C=9.0))],
    "param_grid": {"C": [0.1, 1.0]},
    "param_distributions": {"C": [0.1, 1.0]},
}
_REGRESSORS = {
    "estimator": Ridge(),
    "estimators": [("a", Ridge()), ("b", LinearRegression())],
}
# Less to do, and so more forgeries in the same time.
_SHORT = {"max_iter": 20, "n_estimators": 3, "cv": 2, "n_iter": 1, "n_components": 2}
# Made below, of trees, which have to be trusted, or with nothing to try.
_LEFT_OUT = {
    "DecisionTreeClassifier", "DecisionTreeRegressor", "ExtraTreeClassifier",
    "ExtraTreeRegressor", "ExtraTreesClassifier", "ExtraTreesRegressor",
    "GradientBoostingClassifier", "GradientBoostingRegressor", "IsolationForest",
    "RandomForestClassifier", "RandomForestRegressor", "RandomTreesEmbedding",
    "ColumnTransformer", "CountVectorizer", "DictVectorizer", "FeatureHasher",
    "FeatureUnion", "FrozenEstimator", "HashingVectorizer", "Pipeline",
    "SparseCoder", "TfidfVectorizer", "TransformedTargetRegressor", "TSNE",
}  # fmt: skip


@cache
def points():
    """Whole numbers that are not negative, which every estimator takes."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, (36, 4)).astype(float)
    return X, (X[:, 0] + X[:, 1] > 4).astype(int)


@cache
def vouched_estimators():
    """Return the estimators of scikit-learn that are vouched for, by name."""
    return {
        name: kind
        for name, kind in all_estimators()
        if f"{kind.__module__}.{name}" in TYPES and name not in _LEFT_OUT
    }


def names():
    """Return the names of all models."""
    return sorted({*vouched_estimators(), *_others(), *_OWN})


def fitted(name):
    """Return a fitted model and the tables to use it on."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        others = _others()
        if name in others:
            return others[name]()
        if name in _OWN:
            X, y = points()
            pairs, t = Pairs.sample(X, 18, y, random_state=0)
            return clone(_OWN[name]).fit(pairs, t), _tables(X)
        return _of_scikit_learn(vouched_estimators()[name])


def _tables(X):
    return [X[:7], X[:1], sparse.csr_array(X[:5]), X[:4].astype(np.float32)]


def _of_scikit_learn(kind):
    X, y = points()
    regresses = kind.__name__.endswith(("Regressor", "RegressorChain"))
    model = kind(**_arguments(kind, {**_INNER, **(_REGRESSORS if regresses else {})}))
    several = {
        "ClassifierChain", "MultiOutputClassifier", "MultiOutputRegressor",
        "RegressorChain",
    }  # fmt: skip
    if kind.__name__.startswith("MultiTask") or kind.__name__ in several:
        return model.fit(X, np.c_[y, 1 - y]), _tables(X)
    if kind.__name__ in ("LabelBinarizer", "LabelEncoder"):
        return model.fit(y), [y]
    if kind.__name__ == "KernelCenterer":
        return model.fit(X @ X.T), [(X @ X.T)[:4]]
    if kind.__name__ == "IsotonicRegression":
        return model.fit(X[:, 0], y), [X[:, 0]]
    return model.fit(X, y + 1.0 if regresses else y), _tables(X)


def _arguments(kind, inner):
    import inspect

    wanted = inspect.signature(kind).parameters
    found = {name: value for name, value in inner.items() if name in wanted}
    short = {name: value for name, value in _SHORT.items() if name in wanted}
    if kind.__name__ in ("CCA", "LinearDiscriminantAnalysis", "PLSCanonical", "PLSSVD"):
        short["n_components"] = 1
    if kind.__name__ == "RANSACRegressor":
        return {"estimator": LinearRegression()}
    if kind.__name__ == "SpectralBiclustering":
        return {}
    if kind.__name__ == "OrthogonalMatchingPursuitCV":
        short = {"max_iter": 2}
    return found | short


def _others():
    """Return models that take something else, or need more to be made."""
    X, y = points()
    classes = np.arange(len(X)) % 3
    frame = pd.DataFrame(X, columns=list("abcd"))
    letters = pd.DataFrame({"a": list("xyzzyx") * 6, "b": list("uvw") * 12})
    records = [{"a": 1, "b": "x"}, {"a": 2, "c": 3.0}]
    rare = {"min_frequency": 14, "handle_unknown": "infrequent_if_exist"}

    def on(model, tables, y=y):
        return lambda: (clone(model).fit(tables[0], y), tables[1:])

    def on_pairs(model, table=X):
        pairs, t = Pairs.sample(X, 18, y, random_state=0)
        return lambda: (model.fit(pairs.with_points(table), t), _tables(table))

    def several():
        pairs, _ = Pairs.sample(X, 18, y, random_state=0)
        t = answers_per_class(pairs, np.array(["a", "b", "c"])[classes])
        model = OneVsRestPairClassifier(CIPSClassifier(), classes=["a", "b", "c"])
        return model.fit(pairs, t), _tables(X)

    def knows_kernel(kind):
        K = rbf_kernel(X)
        return lambda: (kind(kernel="precomputed").fit(K, y), [K[:4]])

    def in_rows(kind):
        return lambda: (kind().fit(sparse.csr_matrix(X), classes), _tables(X))

    texts = [WORDS * 3, WORDS, ["red red cat unknown"]]
    columns = ColumnTransformer(
        [("n", StandardScaler(), ["a", "b"]), ("c", OneHotEncoder(), ["c"])],
        remainder="passthrough",
    )
    missing = np.where(X > 3, np.nan, X)
    return {
        "SVC of three": on(SVC(), [X, *_tables(X)], classes),
        "SVC with probabilities": on(SVC(probability=True), [X, *_tables(X)], classes),
        "SVC of rows": in_rows(SVC),
        "SVR of rows": in_rows(SVR),
        "OneClassSVM of rows": in_rows(OneClassSVM),
        "SVC of a kernel": knows_kernel(SVC),
        "SVR of a kernel": knows_kernel(SVR),
        "words": on(CountVectorizer(), texts),
        "words weighted": on(TfidfVectorizer(), texts),
        "words hashed": on(HashingVectorizer(n_features=64), texts),
        "words then SVC": on(make_pipeline(TfidfVectorizer(), SVC()), texts, y[:12]),
        "words then logistic": on(
            make_pipeline(CountVectorizer(), LogisticRegression()), texts, y[:12]
        ),
        "records": on(DictVectorizer(), [records, records]),
        "records filled": on(DictVectorizer(sparse=False), [records, records]),
        "records hashed": on(FeatureHasher(n_features=16), [records, records]),
        "letters": on(OneHotEncoder(), [letters, letters[:5]]),
        "letters filled": on(
            OneHotEncoder(sparse_output=False, handle_unknown="ignore"),
            [letters, letters[:5]],
        ),
        "letters rare": on(
            OneHotEncoder(sparse_output=False, **rare), [letters, letters[:5]]
        ),
        "numbers as letters": on(
            OneHotEncoder(sparse_output=False, drop="first"), [X, X[:5]]
        ),
        "letters then logistic": on(
            make_pipeline(OneHotEncoder(drop="first"), LogisticRegression()),
            [letters, letters[:5]],
        ),
        "bins": on(KBinsDiscretizer(3, encode="onehot-dense"), [X, X[:5]]),
        "columns": on(columns, [frame, frame[:5]]),
        "union": on(
            FeatureUnion([("a", StandardScaler()), ("b", Nystroem(n_components=3))]),
            [X, *_tables(X)],
        ),
        "pipeline": on(
            Pipeline([("a", FunctionTransformer(np.log1p)), ("b", SVC())]),
            [X, X[:5]],
        ),
        "search": on(
            GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2), [X, X[:5]]
        ),
        "frozen": lambda: (
            FrozenEstimator(LogisticRegression().fit(X, y)),
            _tables(X),
        ),
        "target": on(TransformedTargetRegressor(Ridge()), [X, X[:5]]),
        "missing": on(SimpleImputer(add_indicator=True), [missing, missing[:5]]),
        "missing by neighbours": on(KNNImputer(), [missing, missing[:5]]),
        "several classes": several,
        "meta of SVC": on_pairs(PairMetaClassifier(SVC(probability=True), max_iter=1)),
        "landmarks": on_pairs(
            make_pair_pipeline(LandmarkSimilarity("rbf"), CIPSClassifier())
        ),
        "own": on_pairs(PairClassifier(n_components=5, random_state=0)),
        "own of rows": on_pairs(
            PairClassifier(n_components=5, random_state=0), sparse.csr_array(X)
        ),
        "cells": lambda: (
            ColumnTransformer(
                [
                    ("n", ReadNumbers("comma"), ["n"]),
                    ("d", ReadDates("day first"), ["d"]),
                    ("t", ReadText(), ["t"]),
                ]
            ).fit(cells()),
            [cells()],
        ),
    }


def cells():
    """A table of text, as the command line reads one."""
    return pd.DataFrame(
        {"n": ["1,5", "", "2"], "d": ["31.01.1970", "", "1.2.1971"], "t": list("xyx")}
    )
