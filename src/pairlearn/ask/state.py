"""What is stored of an interview: plain values that are checked when they are read."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from pairlearn.data.row_hashes import row_hashes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pairlearn.data.types import Ints, PointsLike

__all__ = ["check_state", "mark_of_points", "mark_of_rows"]

_PARTS = ("format", "points", "parameters", "events")


def check_state(
    state: Any,
    form: int,
    known: Iterable[str],
    later: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the parameters in a stored state, or say what is wrong with it.

    Parameters
    ----------
    state : dict
        What was stored.
    form : int
        The format that this version writes.
    known : iterable of str
        Names of parameters.
    later : dict, optional
        Values of parameters that came later, for states that were stored before.

    Returns
    -------
    dict

    Examples
    --------
    >>> check_state({"format": 99}, 1, [])
    Traceback (most recent call last):
        ...
    ValueError: the state has format 99, and this version of pairlearn reads format 1:
    it was stored by a newer one
    """
    if not isinstance(state, dict) or "format" not in state:
        raise ValueError(
            "this is not the state of an interview: expected what state() returned"
        )
    if state["format"] != form:
        raise ValueError(
            f"the state has format {state['format']!r}, and this version of pairlearn "
            f"reads format {form}: it was stored by a newer one"
        )
    missing = [part for part in _PARTS if part not in state]
    for name, kind in (("parameters", dict), ("events", list)):
        if name in state and not isinstance(state[name], kind):
            raise ValueError(f"the state is damaged: {name!r} is not a {kind.__name__}")
    parameters = (later or {}) | dict(state.get("parameters", {}))
    strange = sorted(set(parameters) - set(known))
    if not strange:
        missing += [name for name in known if name not in parameters]
    if missing or strange:
        raise ValueError(
            f"the state is damaged: {(missing or strange)[0]!r} "
            + ("is missing" if missing else "is not a parameter of an interview")
        )
    for name in ("classes", "noise"):
        # JSON knows lists only.
        if isinstance(parameters.get(name), list):
            parameters[name] = tuple(parameters[name])
    return parameters


def mark_of_points(X: PointsLike) -> str:
    """Return what tells whether points are the same."""
    table = X if not hasattr(X, "to_numpy") else X.to_numpy()
    digest = hashlib.sha256(row_hashes(table).tobytes()).hexdigest()[:32]
    return f"{X.shape[0]} x {X.shape[1]}, {digest}"


def mark_of_rows(rows: Ints) -> str:
    """Return what tells whether rows are the same, and in the same order."""
    return hashlib.sha256(rows.astype("<i8").tobytes()).hexdigest()[:16]
