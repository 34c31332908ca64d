r"""Numbers by which rows of features are known again.

With b(x) the 32 bits of x as float32 and c_j fixed random odd numbers, the hash of a
row is the sum over j of c_j b(x_j), modulo 2^64. Zeros add nothing, so that dense and
sparse rows have the same hash, and so have values that float32 cannot tell apart. Equal
rows have equal hashes; different ones hardly ever.

Rows that come back rounded, to six digits say, have other hashes. So those of places in
a grid (:mod:`pairlearn.data.near_rows`) are kept, too, unless two different rows share
a place: where points lie so close, a row near to one need not be the same. They are
kept for the first 2^21 values, and not for dask arrays; beyond that, only rows that are
equal as float32 are known again.

A model keeps the hashes of the points it was trained on, scrambled with a salt of its
own: that shows whether a row was among them to those who have the row, and not the
features of the points.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

import numpy as np
from scipy import sparse

from pairlearn.data.checks import group_names
from pairlearn.data.containers import is_dask, on_host, take_rows
from pairlearn.data.near_rows import column_steps, corners, places

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from pairlearn.data.types import Bools, Ints, PointsLike

    Hashes = NDArray[np.uint64]

__all__ = ["TrainingPoints", "forget", "known_groups", "known_rows", "remember"]
__all__ += ["remember_groups", "row_hashes"]

# Points that a model remembers. Of more, those that come first.
MOST_REMEMBERED = 2**20
# With fewer different rows than this share of the points, rows repeat by nature.
_FEW_DIFFERENT = 0.5
# Of larger dask arrays, points of the first block are remembered.
_MOST_BLOCKS = 2**30
# Values in rows that are known again rounded, and the directions of their places.
_MOST_NEAR = 2**21
_DIRECTIONS = 3
_NO_HASHES = np.zeros(0, dtype=np.uint64)
_ROWS = 4096
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def row_hashes(X: PointsLike) -> Hashes:
    """Return a hash of each row.

    Parameters
    ----------
    X : ndarray, sparse matrix, tensor or data frame of shape (n_points, n_features)
        Points, as numbers.

    Returns
    -------
    ndarray of uint64 of shape (n_points,)

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> X = np.array([[1.0, 0.0], [0.0, 2.5], [1.0, 0.0]])
    >>> hashes = row_hashes(X)
    >>> bool(hashes[0] == hashes[2]), bool(hashes[0] == hashes[1])
    (True, False)
    >>> bool(np.all(row_hashes(csr_array(X)) == hashes))
    True
    """
    X = on_host(X)
    factors = _scramble(np.arange(X.shape[1], dtype=np.uint64)) | np.uint64(1)
    if sparse.issparse(X):
        rows = sparse.csr_array(X)
        rows.sum_duplicates()
        terms = sparse.csr_array((_bits(rows.data), rows.indices, rows.indptr), X.shape)
        return np.asarray(terms @ factors)
    X = np.asarray(X)
    X = X if X.dtype.kind in "biuf" else X.astype(float)
    found = np.empty(len(X), dtype=np.uint64)
    for start in range(0, len(X), _ROWS):
        found[start : start + _ROWS] = _bits(X[start : start + _ROWS]) @ factors
    return found


class TrainingPoints(TypedDict):
    """What a model remembers of the points it was trained on: plain values, for files.

    Attributes
    ----------
    hashes : ndarray of uint64
        Scrambled hashes of their features, sorted.
    salt : int
        What they are scrambled with.
    complete : bool
        Whether all of the points are among them.
    repeat : bool
        Whether rows repeat by nature: so few are different that equal ones need not be
        one point.
    groups : ndarray of uint64
        Scrambled hashes of the names of their groups, if there are any.
    near, steps : ndarray
        Scrambled hashes of their places, sorted, and the scales of the columns; absent
        if places do not tell points apart.
    """

    hashes: Hashes
    salt: int
    complete: bool
    repeat: bool
    groups: NotRequired[Hashes]
    near: NotRequired[Hashes]
    steps: NotRequired[Ints]


def remember(
    X: PointsLike,
    used: Ints,
    before: TrainingPoints | None = None,
    *,
    distinct: bool = True,
) -> TrainingPoints:
    """Return what to remember of some of the points.

    Parameters
    ----------
    X : ndarray, sparse matrix, tensor or dask array of shape (n_points, n_features)
        Points, as numbers.
    used : ndarray
        The numbers of those that a model is trained on, in order.
    before : dict, optional
        What it remembers already.
    distinct : bool, default=True
        Whether these are known to be different points, even if their rows are equal.

    Returns
    -------
    dict

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> known_rows(remember(X, np.array([0, 2])), X)
    array([ True, False,  True])
    """
    rows = used[:MOST_REMEMBERED]
    if is_dask(X) and X.nbytes > _MOST_BLOCKS:
        # A pass over all blocks would cost as much as a part of the training.
        rows = rows[rows < X.chunks[0][0]]
    end = int(rows[-1]) + 1 if len(rows) else 0
    if is_dask(X):
        from pairlearn.data.blockwise import map_rows

        plain = on_host(map_rows(row_hashes, X[:end]))[rows] if end else _NO_HASHES
    # Hashing a few rows in vain is faster than copying the others.
    elif 4 * len(rows) >= end:
        plain = row_hashes(X[:end])[rows]
    else:
        plain = row_hashes(take_rows(X, rows))
    plain = np.unique(plain)
    complete = len(rows) == len(used)
    repeat = distinct and len(plain) < _FEW_DIFFERENT * len(rows)
    if before is None:
        # Nobody can foretell it who does not have all the points. It is not drawn at
        # random, since the same points are to make the same model.
        salt = _scramble(np.bitwise_xor.reduce(_scramble(plain), keepdims=True))[0]
        hashes = np.sort(_scramble(plain ^ salt))
        found: TrainingPoints = {
            "hashes": hashes, "salt": int(salt), "complete": complete, "repeat": repeat
        }  # fmt: skip
        return found if is_dask(X) else _with_places(found, X, rows)
    hashes = np.union1d(before["hashes"], _scramble(plain ^ np.uint64(before["salt"])))
    complete, repeat = complete and before["complete"], repeat and before["repeat"]
    found = {**before, "hashes": hashes, "complete": complete, "repeat": repeat}
    if "steps" not in before or is_dask(X):
        return found
    return _with_places(found, X, rows)


def _with_places(memory: TrainingPoints, X: PointsLike, rows: Ints) -> TrainingPoints:
    """Return what a model remembers with the places of some points, if they differ."""
    some = on_host(take_rows(X, rows[: max(1, _MOST_NEAR // max(1, X.shape[1]))]))
    steps = memory["steps"] if "steps" in memory else column_steps(some[:_ROWS])
    near = np.unique(_near_hashes(memory, some, steps)[0])
    if len(near) < len(np.unique(row_hashes(some))):
        # Not to be told apart.
        return {**memory, "near": _NO_HASHES, "steps": steps}
    near = np.union1d(near, memory.get("near", _NO_HASHES))
    return {**memory, "near": near, "steps": steps}


def _near_hashes(
    memory: TrainingPoints, X: PointsLike, steps: Ints, *, all_corners: bool = False
) -> list[Hashes]:
    """Return scrambled hashes of the places of rows, or of the corners around them."""
    salt = np.uint64(memory["salt"])
    factors = _scramble(np.arange(_DIRECTIONS, dtype=np.uint64)) | np.uint64(1)
    found: list[list[Hashes]] = []
    for start in range(0, X.shape[0], _ROWS):
        exact = places(X[start : start + _ROWS], steps, _DIRECTIONS)
        cells = corners(exact) if all_corners else [np.rint(exact).astype("<i8")]
        found.append(
            [_scramble(cell.view(np.uint64) @ factors ^ salt) for cell in cells]
        )
    return [np.concatenate(parts) for parts in zip(*found, strict=True)]


def remember_groups(memory: TrainingPoints, names: ArrayLike) -> TrainingPoints:
    """Return what a model remembers with the names of the groups of its points.

    Parameters
    ----------
    memory : dict
        What `remember` returned.
    names : array-like
        Names of groups.

    Returns
    -------
    dict
    """
    known = [name for name in group_names(names) if name]
    hashes = np.unique(_name_hashes(memory, known))
    return {**memory, "groups": np.union1d(memory.get("groups", _NO_HASHES), hashes)}


def known_groups(memory: TrainingPoints, names: ArrayLike) -> Bools:
    """Tell which groups have a point that a model was trained on.

    Parameters
    ----------
    memory : dict
        What `remember_groups` returned.
    names : array-like
        Names of groups.

    Returns
    -------
    ndarray of bool, of the shape of `names`

    Examples
    --------
    >>> import numpy as np
    >>> memory = remember(np.ones((1, 1)), np.array([0]))
    >>> known_groups(remember_groups(memory, ["ann", "bob"]), ["bob", "eve"])
    array([ True, False])
    """
    plain = group_names(names)
    known = np.isin(_name_hashes(memory, plain), memory.get("groups", _NO_HASHES))
    # Points without a group are not one.
    known &= np.array([bool(name) for name in plain], dtype=bool)
    return known.reshape(np.shape(names))


def _name_hashes(memory: TrainingPoints, names: list[str]) -> Hashes:
    digests = [
        int.from_bytes(
            hashlib.blake2b(
                name.encode("utf-8", "surrogatepass"), digest_size=8
            ).digest()
        )
        for name in names
    ]
    found = np.array(digests, dtype=np.uint64)
    return _scramble(found ^ np.uint64(memory["salt"]))


def forget(memory: TrainingPoints, X: PointsLike) -> TrainingPoints:
    """Return what a model remembers without some points, which it was not trained on.

    Parameters
    ----------
    memory : dict
        What `remember` returned.
    X : ndarray, sparse matrix or tensor of shape (n_points, n_features)
        The points.

    Returns
    -------
    dict
    """
    hashes = np.setdiff1d(memory["hashes"], _scrambled(memory, X))
    if not len(memory.get("near", _NO_HASHES)) or not X.shape[0]:
        return {**memory, "hashes": hashes}
    gone = _near_hashes(memory, on_host(X), memory["steps"])[0]
    return {**memory, "hashes": hashes, "near": np.setdiff1d(memory["near"], gone)}


def known_rows(memory: TrainingPoints, X: PointsLike) -> Bools:
    """Tell which rows equal a point that a model remembers, also if it was rounded.

    Parameters
    ----------
    memory : dict
        What `remember` returned.
    X : ndarray, sparse matrix or tensor of shape (n_points, n_features)
        Points, as numbers.

    Returns
    -------
    ndarray of bool of shape (n_points,)
    """
    known = np.isin(_scrambled(memory, X), memory["hashes"])
    near = memory.get("near", _NO_HASHES)
    if len(near) and X.shape[0] and len(memory["steps"]) == X.shape[1]:
        X = on_host(X)
        for hashes in _near_hashes(memory, X, memory["steps"], all_corners=True):
            known |= np.isin(hashes, near)
    return known


def _scrambled(memory: TrainingPoints, X: PointsLike) -> Hashes:
    return _scramble(row_hashes(X) ^ np.uint64(memory["salt"]))


def _bits(X: NDArray[Any]) -> Hashes:
    """Return the bits of numbers as float32; those of -0 are those of 0."""
    with np.errstate(over="ignore"):
        narrow = X.astype(np.float32) + np.float32(0)
    return narrow.view(np.uint32).astype(np.uint64)


def _scramble(x: Hashes) -> Hashes:
    """Return numbers in which each bit depends on all bits of x (SplitMix64)."""
    x = x + _GOLDEN
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
