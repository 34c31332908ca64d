"""Models for programs without pairlearn: plain scikit-learn, and ONNX."""

from pairlearn.export.onnx_model import to_onnx
from pairlearn.export.plain import to_sklearn
from pairlearn.export.refusals import ExportError

__all__ = ["ExportError", "to_onnx", "to_sklearn"]
