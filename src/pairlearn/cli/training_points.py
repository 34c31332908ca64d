"""Which points a model has learnt from: fingerprints of their ids and their features.

A table comes back rounded, in another order, as float32, or with a cell corrected. So a
point is known again by its id, or by features that are nearly the same: each alone is
enough.

Features are projected on two fixed directions (`pairlearn.data.near_rows`), and only
hashes of the two numbers, rounded, are stored.

The hashes are salted, with another salt for each model, so that no table of hashes made
beforehand serves, and the fingerprints of two models have nothing in common even if
their points have. The salt has to be in the file: who has the file can still ask it
about an id, or about as many as there is time for. What that means is in the guide,
docs/guide/saving.md.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.data.graph import disjoint_pairs, shuffled
from pairlearn.data.near_rows import column_steps, corners, places
from pairlearn.data.row_hashes import row_hashes

if TYPE_CHECKING:
    from pairlearn.data.types import Bools, Floats, Ints
    from pairlearn.files.tables.points import Points

__all__ = ["EqualRows", "KnownPoints"]
__all__ += ["find_equal_rows", "find_known_points", "groups_at", "ids_at"]
__all__ += ["make_fingerprints", "repeated_pairs"]

_BYTES = 5
_HEX = 2 * _BYTES  # characters of a fingerprint
_SALT = re.compile("([0-9a-f]{2}){0,64}")
_DIRECTIONS = 2
# With fewer different rows than this share of the points, rows repeat by nature, and
# equal features do not tell that two points are one.
_FEW_DIFFERENT = 0.5


@dataclass(frozen=True)
class EqualRows:
    """Points with equal features.

    Attributes
    ----------
    group : ndarray of shape (n_points,)
        The first point with these features, for each point.
    n_equal : int
        How many points have the features of another.
    repeat : bool
        Whether there are so few different rows that equal ones need not be one point.
    """

    group: Ints
    n_equal: int
    repeat: bool


@dataclass(frozen=True)
class KnownPoints:
    """What is known again among the points of a table.

    Attributes
    ----------
    by_id : ndarray of shape (n_points,)
        Whether the model has learnt from a point with this id; False without ids.
    by_group : ndarray of shape (n_points,)
        Whether it has learnt from a point of the same group.
    by_features : ndarray of shape (n_points,)
        Whether it has learnt from a point with these features.
    ids : bool
        Whether there were ids to go by.
    repeat : bool
        Whether the rows that the model learnt from repeat by nature.
    """

    by_id: Bools
    by_group: Bools
    by_features: Bools
    ids: bool
    repeat: bool


def find_equal_rows(encoded: Floats, rows: Ints, n_points: int) -> EqualRows:
    """Find points with equal features.

    Parameters
    ----------
    encoded : ndarray of shape (n_rows, n_features)
        Points as numbers.
    rows : ndarray of shape (n_rows,)
        Their numbers.
    n_points : int
        How many points there are; the others have no twins.

    Returns
    -------
    EqualRows

    Examples
    --------
    >>> import numpy as np
    >>> found = find_equal_rows(np.array([[1.5], [2.0], [1.5]]), np.array([0, 1, 3]), 4)
    >>> found.group, found.n_equal
    (array([0, 1, 2, 0]), 2)
    """
    hashes = row_hashes(encoded)
    _, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    inverse = inverse.ravel()
    group = np.arange(n_points)
    group[rows] = rows[first[inverse]]
    count = np.bincount(inverse)
    return EqualRows(
        group,
        int(count[count > 1].sum()),
        bool(len(count) < _FEW_DIFFERENT * len(rows)),
    )


def repeated_pairs(equal: EqualRows, index: Ints, *, in_order: bool = False) -> Bools:
    """Tell which pairs repeat, in all columns, a point of another pair.

    Parameters
    ----------
    equal : EqualRows
        Which points have equal features.
    index : ndarray of shape (n_pairs, 2)
        Pairs that share no point.
    in_order : bool, default=False
        Whether the first of equal ones counts, and not one at random.

    Returns
    -------
    ndarray of bool of shape (n_pairs,)
        False for pairs of which no two have equal points.
    """
    repeated = np.ones(len(index), dtype=bool)
    order = np.arange(len(index))
    if not in_order:
        order = shuffled(len(index), np.random.RandomState(0))
    repeated[disjoint_pairs(len(equal.group), equal.group[index], order)] = False
    return repeated


def ids_at(points: Points, rows: Ints) -> list[str] | None:
    """Return the ids of some points; None for row numbers, which tell nothing."""
    return None if points.id_column is None else points.ids.take(rows).tolist()


def groups_at(points: Points, rows: Ints) -> list[str] | None:
    """Return the names of the groups of some points; None if there are no groups."""
    if points.group_column is None:
        return None
    names = points.group_names
    return [names[row] for row in rows.tolist()]


def make_fingerprints(
    encoded: Floats,
    ids: list[str] | None,
    secret: object = None,
    groups: list[str] | None = None,
) -> dict[str, Any]:
    """Return what is stored with a model about the points that it has learnt from.

    Parameters
    ----------
    encoded : ndarray of shape (n_points, n_features)
        The points as numbers.
    ids : list of str or None
        Their ids; None if they are known by row numbers.
    secret : object
        What else tells this model from others, such as its seed and its options; JSON
        must be able to hold it.
    groups : list of str or None
        The names of their groups, "" for none.

    Returns
    -------
    dict
        Fingerprints, with the salt that they were made with.
    """
    steps = column_steps(encoded)
    cells = np.rint(places(encoded, steps, _DIRECTIONS)).astype("<i8")
    salt = _salt(cells, ids, secret)
    features = {_mark(cell.tobytes(), salt) for cell in cells}
    return {
        "salt": salt.hex(),
        "ids": _marks(ids, salt),
        "groups": _marks(groups, salt),
        "features": "".join(sorted(features)),
        "steps": steps.tolist(),
        "rows repeat": len(features) < _FEW_DIFFERENT * len(encoded),
    }


def find_known_points(
    fingerprints: Any,
    encoded: Floats,
    ids: list[str] | None,
    groups: list[str] | None = None,
) -> KnownPoints | None:
    """Tell which points a model has learnt from.

    Parameters
    ----------
    fingerprints : dict
        What `make_fingerprints` returned.
    encoded : ndarray of shape (n_points, n_features)
        Points as numbers.
    ids : list of str or None
        Their ids; None if they are known by row numbers.
    groups : list of str or None
        The names of their groups, "" for none.

    Returns
    -------
    KnownPoints or None
        None if `fingerprints` is not what `make_fingerprints` returns for such points.

    Examples
    --------
    >>> import numpy as np
    >>> learnt_from = np.array([[0.1234567, 5.0], [7.0, 8.0]])
    >>> fingerprints = make_fingerprints(learnt_from, ["a", "b"])
    >>> new = np.array([[0.123457, 5.0], [7.0, 8.5], [3.0, 4.0]])
    >>> found = find_known_points(fingerprints, new, ["x", "b", "c"])
    >>> found.by_id, found.by_features
    (array([False,  True, False]), array([ True, False, False]))
    """
    steps = fingerprints.get("steps") if isinstance(fingerprints, dict) else None
    if (
        not isinstance(steps, list)
        or len(steps) != encoded.shape[1]
        or not all(isinstance(step, int) and abs(step) < 2000 for step in steps)
        or not isinstance(fingerprints.get("features"), str)
        or not _SALT.fullmatch(str(fingerprints.get("salt", "")))
    ):
        return None
    # Without one: a file from before fingerprints were salted.
    salt = bytes.fromhex(str(fingerprints.get("salt", "")))
    known = _divided(fingerprints["features"])
    by_features = np.zeros(len(encoded), dtype=bool)
    for cells in corners(places(encoded, np.array(steps), _DIRECTIONS)):
        marks = [_mark(cell.tobytes(), salt) for cell in cells]
        by_features |= np.array([mark in known for mark in marks], dtype=bool)
    with_ids = ids is not None and isinstance(fingerprints.get("ids"), str)
    by_id = _is_stored(ids, fingerprints.get("ids"), salt, len(encoded))
    by_group = _is_stored(groups, fingerprints.get("groups"), salt, len(encoded))
    if groups is not None:
        # Groups of points that are known by their ids, too.
        seen = {
            name for name, known in zip(groups, by_id, strict=True) if known and name
        }
        by_group |= np.array([name in seen for name in groups], dtype=bool)
    return KnownPoints(
        by_id, by_group, by_features, with_ids, bool(fingerprints.get("rows repeat"))
    )


def _is_stored(
    names: list[str] | None, stored: object, salt: bytes, n_points: int
) -> Bools:
    """Tell which names have a fingerprint."""
    if names is None or not isinstance(stored, str):
        return np.zeros(n_points, dtype=bool)
    known = _divided(stored)
    found = [bool(name) and _mark_of_id(name, salt) in known for name in names]
    return np.array(found, dtype=bool)


def _salt(cells: Ints, ids: list[str] | None, secret: object) -> bytes:
    """Return a salt that nobody can foretell who does not have all the points.

    Not a random one: the same tables and the same seed make the same file.
    """
    digest = hashlib.blake2b(cells.tobytes(), digest_size=16, person=b"pairlearn salt")
    digest.update(json.dumps([ids, secret], sort_keys=True).encode())
    return digest.digest()


def _mark(content: bytes, salt: bytes) -> str:
    return hashlib.blake2b(content, digest_size=_BYTES, key=salt).hexdigest()


def _mark_of_id(name: str, salt: bytes) -> str:
    return _mark(name.encode("utf-8", "surrogatepass"), salt)


def _marks(names: list[str] | None, salt: bytes) -> str | None:
    if names is None:
        return None
    return "".join(sorted({_mark_of_id(name, salt) for name in names if name}))


def _divided(marks: str) -> set[str]:
    return {marks[k : k + _HEX] for k in range(0, len(marks), _HEX)}
