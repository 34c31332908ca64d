"""What a row of the result store must be: as it was written, and fit for the report.

Each row has a digest of its cells, so that a number that was altered, by a hand or by a
disk, is found and not averaged. Rows of older stores have none; of them it is known at
least whether the report can read them.
"""

from __future__ import annotations

import hashlib
import json
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

__all__ = ["TABLES", "digest", "problem"]

_KEY = {
    "experiment": str, "dataset": str, "method": str, "settings": dict, "m": int,
    "seed": int,
}  # fmt: skip
# The columns of each table, and what they hold; a dict is written as JSON.
TABLES: dict[str, dict[str, type]] = {
    "runs": {"id": int, "started": str, "command": str, "versions": dict},
    "failures": {**_KEY, "problem": str, "run": int},
    "trials": {**_KEY, "results": dict, "seconds": float, "run": int},
}
_IN_WORDS = {str: "text", dict: "a JSON object", int: "a number", float: "a number"}

# Settings and results that the report reckons with.
_NUMBERS = {
    "table-tabular": ("error",),
    "table-pubmed": ("error",),
    "fig-sample-size": ("error",),
    "fig-prior": ("error",),
    "fig-assignment": ("wrong", "repeats", "threshold", "prior"),
    "fig-naive-assignment": ("right", "prior", "false_negative", "false_positive"),
    "table-methods": ("excess",),
}
_NUMBERS_IF_THERE = ("n_pairs", "points")
_TEXT = {"fig-prior": ("prior",)}


def digest(values: Sequence[Any]) -> str:
    """Return what is stored beside the cells of a row.

    Examples
    --------
    >>> digest(["banana", 100]), digest(["banana", 101])
    ('83b3b5e7800d2569', 'ab3464588d292de0')
    """
    text = json.dumps(list(values), default=repr)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def problem(
    table: str, values: Sequence[Any], stored: Any, runs: Collection[Any] = ()
) -> str:
    """Return what is wrong with a row; empty if nothing is.

    Parameters
    ----------
    table : str
        Which table it is in.
    values : sequence
        Its cells, in the order of `TABLES`.
    stored : str or None
        The digest in its last cell; None: the row is older than digests.
    runs : collection of int
        The numbers of all runs.

    Returns
    -------
    str
    """
    if stored is not None and stored != digest(values):
        return "it is not as it was written"
    row: dict[str, Any] = {}
    for (name, kind), value in zip(TABLES[table].items(), values, strict=True):
        found: Any = _parsed(value) if kind is dict else value
        if kind is float and isinstance(found, int):
            found = float(found)
        if not isinstance(found, kind) or (kind is float and not _is_number(found)):
            return f"{name} is not {_IN_WORDS[kind]}"
        if isinstance(found, int) and found < 0:
            return f"{name} is below 0"
        row[name] = found
    if "run" in row and row["run"] not in runs:
        return f"there is no run {row['run']}"
    if table == "trials":
        return _problem_of_trial(row)
    if table == "runs" and not _is_flat(row["versions"]):
        return "versions are not text"
    return ""


def _problem_of_trial(row: dict[str, Any]) -> str:
    fields = {**row["settings"], **row["results"]}
    clash = set(fields) & (TABLES["trials"].keys() - {"experiment", "results"})
    if clash or set(row["settings"]) & set(row["results"]):
        return "settings and results share names"
    there = [name for name in _NUMBERS_IF_THERE if fields.get(name) is not None]
    for name in (*_NUMBERS.get(row["experiment"], ()), *there):
        if not _is_number(fields.get(name)):
            return f"{name} is not a number"
    for name in _TEXT.get(row["experiment"], ()):
        if not isinstance(fields.get(name), str):
            return f"{name} is not text"
    return ""


def _parsed(text: Any) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _is_flat(values: dict[str, Any]) -> bool:
    return all(isinstance(value, str) for value in values.values())
