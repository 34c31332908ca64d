"""Transformers and classifiers of scikit-learn in ONNX."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit, logit
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.ensemble import VotingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectorMixin
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import LinearSVC

from pairlearn.export.onnx_graph import Graph, Table
from pairlearn.export.onnx_kernels import add_nystroem, normalised
from pairlearn.export.onnx_texts import add_texts
from pairlearn.export.refusals import refuse
from pairlearn.export.tables import MICROSECONDS, NO_DATE

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["add_probabilities", "add_scores", "add_step"]

_OTHER = (
    "Use to_sklearn, or steps such as StandardScaler, PCA, Nystroem, SimpleImputer and "
    "OneHotEncoder"
)


def add_step(graph: Graph, step: Any, x: str | Table) -> str:
    """Add a transformer, and return its output, (n_points, n_features).

    Parameters
    ----------
    graph : Graph
        It gets the nodes.
    step : transformer
        Fitted.
    x : str or Table
        Its input.

    Returns
    -------
    str
        The name of the output.
    """
    if isinstance(step, str):  # "passthrough", of columns as they are
        return graph.columns(x, x) if isinstance(x, Table) else x
    if isinstance(step, ColumnTransformer):
        return _columns(graph, step, x)
    for kind, add in _ADDED.items():
        if isinstance(step, kind):
            whole = graph.columns(x, list(x)) if isinstance(x, Table) else x
            return add(graph, step, whole)
    raise refuse(step, "it is not drawn in ONNX", _OTHER)


def add_scores(graph: Graph, model: Any, x: str | Table) -> str:
    """Add a linear classifier, and return its scores: one column, or one per class."""
    if isinstance(model, LogisticRegression | LinearSVC):
        whole = graph.columns(x, list(x)) if isinstance(x, Table) else x
        return graph.plus(graph.product(whole, model.coef_.T), model.intercept_)
    raise refuse(model, "it is not drawn in ONNX", _OTHER)


def add_probabilities(graph: Graph, model: Any, x: str | Table) -> str:
    """Add a classifier, and return the probabilities of its classes."""
    if isinstance(model, Pipeline):
        for _, step in model.steps[:-1]:
            x = add_step(graph, step, x)
        return add_probabilities(graph, model[-1], x)
    if not isinstance(model, LogisticRegression):
        raise refuse(model, "it is not drawn in ONNX", _OTHER)
    scores = add_scores(graph, model, x)
    if len(model.classes_) > 2:
        return graph.op("Softmax", scores, axis=1)
    both = graph.product(scores, [[-1.0, 1.0]])
    return graph.op("Sigmoid", both)


def _pipeline(graph: Graph, step: Pipeline, x: str) -> str:
    for _, part in step.steps:
        x = add_step(graph, part, x)
    return x


def _union(graph: Graph, step: FeatureUnion, x: str) -> str:
    parts = [add_step(graph, part, x) for _, part in step.transformer_list]
    return graph.concatenated(parts)


def _columns(graph: Graph, step: ColumnTransformer, x: str | Table) -> str:
    parts = []
    names: Any = getattr(step, "feature_names_in_", ())
    for _, part, columns in step.transformers_:
        if isinstance(part, str) and part == "drop":
            continue
        numbers = np.arange(step.n_features_in_)
        which: Any = columns
        if not isinstance(columns, slice) and np.asarray(columns).dtype.kind in "OU":
            which = [
                list(map(str, names)).index(str(c)) for c in np.atleast_1d(columns)
            ]
        chosen = numbers[which if isinstance(which, slice) else np.atleast_1d(which)]
        if not len(chosen):
            continue
        taken = [names[k] for k in chosen] if isinstance(x, Table) else chosen
        everything = not isinstance(x, Table) and len(chosen) == len(numbers)
        inside = x if everything and list(chosen) == list(numbers) else None
        parts.append(add_step(graph, part, inside or graph.columns(x, taken)))
    return graph.concatenated(parts)


def _function(graph: Graph, step: FunctionTransformer, x: str) -> str:
    options = step.kw_args or {}
    if step.func is np.asarray:
        # Dates come as days, and text as text.
        if not str(options.get("dtype")).startswith("datetime64"):
            return x
        moment = graph.times(x, MICROSECONDS)
        missing = graph.op("IsNaN", x)
        return graph.op("Where", missing, graph.constant(NO_DATE), moment)
    if step.func in (None, np.positive, np.ravel, np.char.strip, np.char.replace):
        return x
    if step.func is np.log1p:
        return graph.op("Log", graph.plus(x, 1.0))
    if step.func is np.expm1:
        return graph.plus(graph.op("Exp", x), -1.0)
    if step.func is logit:
        rest = graph.plus(graph.times(x, -1.0), 1.0)
        return graph.op("Log", graph.op("Div", x, rest))
    known: dict[Any, str] = {
        np.log: "Log", np.exp: "Exp", np.sqrt: "Sqrt", np.abs: "Abs", expit: "Sigmoid",
        np.tanh: "Tanh",
    }  # fmt: skip
    if step.func not in known or options:
        raise refuse(step, f"its function {step.func!r} is not drawn in ONNX", _OTHER)
    return graph.op(known[step.func], x)


def _selector(graph: Graph, step: Any, x: str) -> str:
    return graph.columns(x, step.get_support(indices=True))


def _standard(graph: Graph, step: StandardScaler, x: str) -> str:
    if step.with_mean:
        x = graph.plus(x, -step.mean_)
    return graph.op("Div", x, graph.constant(step.scale_)) if step.with_std else x


def _min_max(graph: Graph, step: MinMaxScaler, x: str) -> str:
    x = graph.plus(graph.times(x, step.scale_), step.min_)
    return graph.clipped(x, *step.feature_range) if step.clip else x


def _max_abs(graph: Graph, step: MaxAbsScaler, x: str) -> str:
    return graph.op("Div", x, graph.constant(step.scale_))


def _robust(graph: Graph, step: RobustScaler, x: str) -> str:
    x = graph.plus(x, -step.center_) if step.with_centering else x
    return graph.op("Div", x, graph.constant(step.scale_)) if step.with_scaling else x


def _normalizer(graph: Graph, step: Normalizer, x: str) -> str:
    if step.norm != "l2":
        raise refuse(step, f"its norm {step.norm!r} is not drawn in ONNX", _OTHER)
    return normalised(graph, x)


def _pca(graph: Graph, step: PCA, x: str) -> str:
    x = graph.product(graph.plus(x, -step.mean_), step.components_.T)
    if not step.whiten:
        return x
    return graph.op("Div", x, graph.constant(np.sqrt(step.explained_variance_)))


def _svd(graph: Graph, step: TruncatedSVD, x: str) -> str:
    return graph.product(x, step.components_.T)


def _imputer(graph: Graph, step: SimpleImputer, x: str) -> str:
    if step.strategy == "constant" and step.fill_value == "":
        return x  # text that is missing comes empty
    sign = step.missing_values
    numeric = np.asarray(step.statistics_).dtype.kind == "f"
    if not numeric or not isinstance(sign, float):
        raise refuse(step, "it fills in other gaps than those in numbers", _OTHER)
    is_nan = np.isnan(sign)
    missing = (
        graph.op("IsNaN", x) if is_nan else graph.op("Equal", x, graph.constant(sign))
    )
    filled = graph.op("Where", missing, graph.constant(step.statistics_), x)
    empty = np.isnan(step.statistics_)
    if empty.any():
        filled = graph.columns(filled, np.flatnonzero(~empty))
    if step.indicator_ is None or not len(step.indicator_.features_):
        return filled
    told = graph.double(graph.columns(missing, step.indicator_.features_))
    return graph.concatenated([filled, told])


def _one_hot(graph: Graph, step: OneHotEncoder, x: str) -> str:
    if step.drop is not None:
        raise refuse(step, "it drops categories", "Use drop=None")
    rare: Any = getattr(step, "infrequent_categories_", None)
    parts = []
    for k, names in enumerate(step.categories_):
        column = graph.columns(x, [k])
        hidden = () if rare is None or rare[k] is None else tuple(rare[k].tolist())
        common = [name for name in names.tolist() if name not in hidden]
        parts.append(_hot(graph, column, common))
        if hidden and step.handle_unknown == "infrequent_if_exist":
            parts.append(graph.plus(graph.times(graph.summed(parts[-1]), -1.0), 1.0))
        elif hidden:
            parts.append(graph.summed(_hot(graph, column, list(hidden))))
    return graph.concatenated(parts)


def _hot(graph: Graph, column: str, names: list[Any]) -> str:
    """Return a column for each category: one where a cell is it, else zero."""
    if not all(isinstance(name, str) for name in names):
        return graph.double(graph.op("Equal", column, graph.constant([names])))
    numbers = list(range(len(names)))
    which = graph.op(
        "LabelEncoder",
        column,
        keys_strings=names,
        values_int64s=numbers,
        default_int64=-1,
    )
    return graph.double(graph.op("Equal", which, graph.integers([numbers])))


def _voting(graph: Graph, step: VotingClassifier, x: str) -> str:
    if step.voting != "soft":
        raise refuse(step, "it counts votes", "Use voting='soft'")
    return graph.concatenated(
        [add_probabilities(graph, model, x) for model in step.estimators_]
    )


_ADDED: dict[type, Callable[..., str]] = {
    Pipeline: _pipeline,
    FeatureUnion: _union,
    FunctionTransformer: _function,
    SelectorMixin: _selector,
    StandardScaler: _standard,
    MinMaxScaler: _min_max,
    MaxAbsScaler: _max_abs,
    RobustScaler: _robust,
    Normalizer: _normalizer,
    PCA: _pca,
    TruncatedSVD: _svd,
    Nystroem: add_nystroem,
    SimpleImputer: _imputer,
    OneHotEncoder: _one_hot,
    VotingClassifier: _voting,
    TfidfVectorizer: add_texts,
}
