"""`to_onnx`: a model as a graph that runs without Python."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

from pairlearn.data.checks import check_choice
from pairlearn.export.onnx_graph import Graph, Table
from pairlearn.export.onnx_steps import add_scores, add_step
from pairlearn.export.plain import to_sklearn

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["to_onnx"]

# Runtimes refuse files of a later version than theirs.
_IR_VERSION = 8
# Kinds of columns that come as text.
TEXTS = ("text", "lower")
_SAID = {
    "text": "A category as text; empty text if it is missing.",
    "lower": "A text in lower case; empty if it is missing.",
    "days": "A date as days since 1970-01-01; NaN if it is missing.",
    "number": "A number; NaN if it is missing.",
}


def to_onnx(clf: Any, *, input_type: str = "float64") -> Any:
    """Return a fitted model as a model of ONNX.

    The graph is drawn with the standard operators (opset 17) and computes in float64;
    it agrees with the model to many more digits than 1e-5. A column of texts needs one
    operator more, `Tokenizer`, which is in every build of onnxruntime.

    Parameters
    ----------
    clf : estimator
        What :func:`~pairlearn.export.to_sklearn` takes; steps of pipelines must be
        common ones, such as StandardScaler, PCA, Nystroem, SimpleImputer and
        OneHotEncoder.
    input_type : {"float64", "float32"}, default="float64"
        The type of the numbers that are put in. Large numbers, such as times in
        seconds, lose digits in float32.

    Returns
    -------
    onnx.ModelProto
        Input: ``points``, a tensor of shape (n, n_features); or, for a table with
        categories or dates, one tensor of shape (n, 1) for each column, by its name:
        numbers with NaN where one is missing, dates as days since 1970, categories as
        text without outer blanks, texts in lower case, both empty where missing.
        Outputs: ``label``, the class of each point, and ``probabilities``, one column
        per class in the order of ``classes_``; or ``scores``, if the model has no
        probabilities.

    Raises
    ------
    ExportError
        If the model cannot be exported, or the package onnx is not installed.

    See Also
    --------
    pairlearn.export.to_sklearn : For programs in Python.

    Examples
    --------
    >>> from pairlearn import MCLClassifier, Pairs
    >>> from pairlearn.export import to_onnx
    >>> pairs = Pairs([[-1.0], [-2.0], [3.0]], [[0, 1], [1, 2]])
    >>> clf = MCLClassifier(classes=("left", "right")).fit(pairs, [1, -1])
    >>> model = to_onnx(clf)
    >>> [put.name for put in model.graph.output]
    ['label', 'probabilities']
    """
    check_choice("input_type", input_type, ("float64", "float32"))
    pipeline = to_sklearn(clf)
    graph = Graph()
    helper, types = graph.onnx.helper, graph.onnx.TensorProto
    number = types.DOUBLE if input_type == "float64" else types.FLOAT
    kinds = column_kinds(pipeline)
    inputs = []
    x: Any = Table()
    for name, kind in kinds.items():
        of = types.STRING if kind in TEXTS else number
        put = helper.make_tensor_value_info(name, of, ["n", 1])
        put.doc_string = _SAID[kind]
        inputs.append(put)
        exact = kind in TEXTS or input_type == "float64"
        x[name] = name if exact else graph.double(name)
    if not kinds:
        width = pipeline.n_features_in_
        inputs.append(helper.make_tensor_value_info("points", number, ["n", width]))
        x = "points" if input_type == "float64" else graph.double("points")
    for _, step in pipeline.steps[:-1]:
        x = add_step(graph, step, x)
    outputs = _outputs(graph, pipeline[-1], x)
    drawn = helper.make_graph(
        graph.nodes, "classifier", inputs, outputs, graph.constants
    )
    model = helper.make_model(
        drawn,
        opset_imports=[helper.make_opsetid(*item) for item in graph.opsets.items()],
        ir_version=_IR_VERSION,
        producer_name="pairlearn",
    )
    about = {
        "classes": [str(name) for name in pipeline.classes_],
        "columns": kinds or [str(c) for c in getattr(clf, "feature_names_in_", ())],
    }
    helper.set_model_props(model, {k: json.dumps(v) for k, v in about.items()})
    graph.onnx.checker.check_model(model)
    return model


def column_kinds(pipeline: Pipeline) -> dict[str, str]:
    """Return what each column of a table is, or nothing if points come as one array.

    Parameters
    ----------
    pipeline : Pipeline
        As from `to_sklearn`.

    Returns
    -------
    dict
        "text", "lower" (text in lower case), "days" or "number" for each column that is
        used.
    """
    first = pipeline[0]
    names = getattr(first, "feature_names_in_", None)
    if not isinstance(first, ColumnTransformer) or names is None:
        return {}
    kinds: dict[str, str] = {}
    for label, step, columns in first.transformers_:
        if isinstance(step, str) and step == "drop":
            continue
        which = columns
        if label == "remainder" or np.asarray(columns).dtype.kind not in "OU":
            which = np.asarray(names)[columns]
        for name in np.atleast_1d(which):
            kinds[str(name)] = _kind(step)
    return {str(name): kinds[str(name)] for name in names if str(name) in kinds}


def _kind(step: Any) -> str:
    if isinstance(step, Pipeline):
        if any(isinstance(part, TfidfVectorizer) for _, part in step.steps):
            return "lower"
        named = {"dates": "days", "no words": "lower"}
        found = [kind for name, kind in named.items() if name in step.named_steps]
        return found[0] if found else _kind(step[0])
    if isinstance(step, TfidfVectorizer):
        return "lower"
    if isinstance(step, OneHotEncoder):
        text = any(names.dtype.kind in "OU" for names in step.categories_)
        return "text" if text else "number"
    if isinstance(step, FunctionTransformer) and step.func is np.asarray:
        wanted = str((step.kw_args or {}).get("dtype"))
        return "text" if wanted == "str" else "number"
    return "number"


def _outputs(graph: Graph, last: Any, x: str) -> list[Any]:
    """Add the last step, and return what comes out."""
    helper, types = graph.onnx.helper, graph.onnx.TensorProto
    n_classes = len(last.classes_)
    scores = add_scores(graph, last, x)
    one = last.coef_.shape[0] == 1
    each = graph.product(scores, [[-1.0, 1.0]]) if one else scores
    name, width = "scores", n_classes
    if isinstance(last, LogisticRegression):
        name = "probabilities"
        graph.nodes.append(
            helper.make_node("Sigmoid" if one else "Softmax", [each], [name])
        )
    else:
        width = 1 if one else n_classes
        graph.nodes.append(helper.make_node("Identity", [scores], [name]))
    # Of scores that are the same the first class is taken, as in the model.
    winner = graph.op("ArgMax", each, axis=1, keepdims=0)
    values, of = _class_values(last.classes_)
    names = graph.constant(values, values.dtype)
    graph.nodes.append(helper.make_node("Gather", [names, winner], ["label"]))
    return [
        helper.make_tensor_value_info("label", getattr(types, of), ["n"]),
        helper.make_tensor_value_info(name, types.DOUBLE, ["n", width]),
    ]


def _class_values(classes: NDArray[Any]) -> tuple[NDArray[Any], str]:
    """Return the classes as ONNX can hold them, and the name of their type."""
    if classes.dtype.kind in "iu":
        return classes.astype(np.int64), "INT64"
    if classes.dtype.kind == "b":
        return classes, "BOOL"
    if classes.dtype.kind == "f":
        return classes.astype(np.float64), "DOUBLE"
    return np.array([str(name) for name in classes], dtype=object), "STRING"
