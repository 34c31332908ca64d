"""What cannot be exported, and what to do instead."""

from __future__ import annotations

from typing import Any

__all__ = ["ExportError", "refuse"]

_WAY_OUT = (
    "Export a PairClassifier, a linear classifier, a pipeline that ends in one; or "
    "serve this model with pairlearn installed (pairlearn.save, pairlearn.load)"
)
# By the start of the module, why none of its classes can be exported.
_REASONS = {
    "pairlearn.models.neural": "it is a network, which scikit-learn has no place for; "
    "torch exports its module by itself (torch.onnx.export)",
    "pairlearn.models.cluster": "it is a clustering, which compares new points with "
    "the training points instead of scoring them",
}


class ExportError(ValueError):
    """A model that cannot be exported, with the reason and the way out."""


def refuse(part: Any, reason: str = "", way_out: str = _WAY_OUT) -> ExportError:
    """Return the error that says why something cannot be exported.

    Parameters
    ----------
    part : object
        What cannot be exported.
    reason : str
        Why; empty: by where its class comes from.
    way_out : str
        What to do instead.

    Returns
    -------
    ExportError
    """
    for kind in type(part).__mro__:
        for start, known in _REASONS.items():
            if not reason and kind.__module__.startswith(start):
                reason = known
    reason = reason or "nobody has said how to write it without pairlearn"
    return ExportError(
        f"{type(part).__name__} cannot be exported: {reason}. {way_out}."
    )
