"""Kernels in ONNX: the similarities of points to landmarks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from pairlearn.export.refusals import refuse

if TYPE_CHECKING:
    from pairlearn.data.types import Floats
    from pairlearn.export.onnx_graph import Graph

__all__ = ["add_nystroem"]


def add_nystroem(graph: Graph, step: Any, x: str) -> str:
    """Add a Nystroem transformer, and return its output."""
    landmarks = step.components_
    if sparse.issparse(landmarks):
        landmarks = landmarks.toarray()
    landmarks = np.asarray(landmarks, dtype=float)
    gamma = 1 / landmarks.shape[1] if step.gamma is None else float(step.gamma)
    degree = 3 if step.degree is None else step.degree
    coef0 = 1.0 if step.coef0 is None else float(step.coef0)
    if step.kernel == "rbf":
        values = graph.op("Exp", graph.times(_square(graph, x, landmarks), -gamma))
    elif step.kernel == "laplacian":
        values = graph.op("Exp", graph.times(_city_block(graph, x, landmarks), -gamma))
    elif step.kernel == "linear":
        values = graph.product(x, landmarks.T)
    elif step.kernel in ("poly", "polynomial"):
        inner = graph.plus(graph.product(x, gamma * landmarks.T), coef0)
        values = graph.op("Pow", inner, graph.constant(degree))
    elif step.kernel == "sigmoid":
        inner = graph.plus(graph.product(x, gamma * landmarks.T), coef0)
        values = graph.op("Tanh", inner)
    elif step.kernel == "cosine":
        length = np.linalg.norm(landmarks, axis=1, keepdims=True)
        unit = landmarks / np.where(length > 0, length, 1.0)
        values = graph.product(normalised(graph, x), unit.T)
    else:
        raise refuse(
            step,
            f"its kernel {step.kernel!r} is not drawn in ONNX",
            "Use 'rbf', 'laplacian', 'linear', 'poly', 'sigmoid' or 'cosine'; or "
            "to_sklearn",
        )
    return graph.product(values, np.asarray(step.normalization_).T)


def normalised(graph: Graph, x: str) -> str:
    """Return rows of length one; rows of zeros stay."""
    length = graph.op("Sqrt", graph.summed(graph.op("Mul", x, x)))
    return graph.op("Div", x, graph.op("Max", length, graph.constant(1e-300)))


def _square(graph: Graph, x: str, landmarks: Floats) -> str:
    """Return |x - z|^2 = |x|^2 - 2 x^T z + |z|^2, never below zero."""
    inner = graph.product(x, -2 * landmarks.T)
    inner = graph.plus(inner, (landmarks**2).sum(axis=1))
    whole = graph.op("Add", inner, graph.summed(graph.op("Mul", x, x)))
    return graph.op("Max", whole, graph.constant(0.0))


def _city_block(graph: Graph, x: str, landmarks: Floats) -> str:
    """Return the sum of |x_j - z_j| over the columns j, one column after another.

    All at once would take memory for each point, landmark and column.
    """
    helper, double = graph.onnx.helper, graph.onnx.TensorProto.DOUBLE
    so_far, column, others, total = "so_far", "column", "others", "total"
    body = helper.make_graph(
        [
            helper.make_node("Unsqueeze", [column, "last"], ["standing"]),
            helper.make_node("Sub", ["standing", others], ["difference"]),
            helper.make_node("Abs", ["difference"], ["distance"]),
            helper.make_node("Add", [so_far, "distance"], [total]),
        ],
        "one column",
        [
            helper.make_tensor_value_info(so_far, double, [None, len(landmarks)]),
            helper.make_tensor_value_info(column, double, [None]),
            helper.make_tensor_value_info(others, double, [len(landmarks)]),
        ],
        [helper.make_tensor_value_info(total, double, [None, len(landmarks)])],
        [graph.onnx.numpy_helper.from_array(np.array([1], dtype=np.int64), "last")],
    )
    n_points = graph.op("Shape", x, start=0, end=1)
    shape = graph.op("Concat", n_points, graph.integers([len(landmarks)]), axis=0)
    zero = helper.make_tensor("zero", double, [1], [0.0])
    nothing = graph.op("ConstantOfShape", shape, value=zero)
    turned = graph.op("Transpose", x, perm=[1, 0])
    return graph.op(
        "Scan",
        nothing,
        turned,
        graph.constant(landmarks.T),
        body=body,
        num_scan_inputs=2,
    )
