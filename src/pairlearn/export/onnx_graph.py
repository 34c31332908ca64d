"""A graph of ONNX while it is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from pairlearn.export.refusals import ExportError

__all__ = ["OPSETS", "Graph", "Table", "import_onnx"]

# Old enough for the runtimes of some years ago; the second is that of ai.onnx.ml.
OPSETS = {"": 17, "ai.onnx.ml": 3}
_DOMAINS = {"LabelEncoder": "ai.onnx.ml", "Tokenizer": "com.microsoft"}


def import_onnx() -> Any:
    """Return the package onnx, or say how to get it."""
    try:
        import onnx
    except ImportError:
        raise ExportError(
            "to_onnx needs the package onnx: pip install 'pairlearn[export]'"
        ) from None
    return onnx


class Table(dict[str, str]):
    """Columns that come one by one: the tensor (n, 1) of each, by its name."""


class Graph:
    """Nodes, and the numbers that they use.

    Numbers are float64 throughout: kernels with many landmarks have weights of many
    thousands and both signs, which leave few digits in float32.
    """

    def __init__(self) -> None:
        self.onnx = import_onnx()
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.opsets = dict(OPSETS)
        self._known: dict[Any, str] = {}
        self._last = 0

    def new(self, word: str = "t") -> str:
        """Return a name that is not taken."""
        self._last += 1
        return f"{word}_{self._last}"

    def constant(self, value: Any, dtype: Any = np.float64) -> str:
        """Return the name of a constant; the same one for the same numbers."""
        array = np.asarray(value, dtype=dtype)
        key = (array.dtype.str, array.shape, array.tobytes())
        if array.dtype == object or key not in self._known:
            name = self.new("constant")
            self.constants.append(self.onnx.numpy_helper.from_array(array, name))
            self._known[key] = name
        return self._known[key]

    def integers(self, values: Any) -> str:
        """Return the name of a constant of integers."""
        return self.constant(values, np.int64)

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Add a node with one output, and return the name of that."""
        name = self.new(kind.lower())
        self.nodes.append(
            self.onnx.helper.make_node(
                kind,
                list(inputs),
                [name],
                name=f"node {name}",
                domain=_DOMAINS.get(kind, ""),
                **attributes,
            )
        )
        return name

    def double(self, x: str) -> str:
        """Return a tensor as float64."""
        return self.op("Cast", x, to=self.onnx.TensorProto.DOUBLE)

    def columns(self, x: str | Table, which: Any) -> str:
        """Return some columns, by numbers or by names."""
        if isinstance(x, Table):
            return self.concatenated([x[str(name)] for name in which])
        return self.op("Gather", x, self.integers(list(which)), axis=1)

    def concatenated(self, parts: list[str]) -> str:
        """Return tensors side by side."""
        return parts[0] if len(parts) == 1 else self.op("Concat", *parts, axis=1)

    def plus(self, x: str, number: Any) -> str:
        """Return x + number, row by row."""
        return self.op("Add", x, self.constant(number))

    def times(self, x: str, number: Any) -> str:
        """Return x * number, row by row."""
        return self.op("Mul", x, self.constant(number))

    def product(self, x: str, matrix: Any) -> str:
        """Return the product of x and a matrix (n_in, n_out)."""
        return self.op("MatMul", x, self.constant(matrix))

    def clipped(self, x: str, low: float, high: float) -> str:
        """Return x within limits."""
        return self.op("Clip", x, self.constant(low), self.constant(high))

    def summed(self, x: str, *, axis: int = 1) -> str:
        """Return sums over an axis, which stays."""
        return self.op("ReduceSum", x, self.integers([axis]), keepdims=1)
