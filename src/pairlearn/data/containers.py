"""Tables of points: arrays, matrices, frames, tensors and blocks, handled alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from numpy.typing import NDArray

    from pairlearn.data.types import Ints, PointsLike

__all__ = [
    "blocks_of_npy",
    "check_columns",
    "check_table",
    "check_tensor",
    "is_dask",
    "is_tensor",
    "look_up",
    "object_column",
    "on_device_of",
    "on_host",
    "stack_rows",
    "take_rows",
]

_OBJECTS = "make it one column: Pairs(object_column(points), index)"


def is_tensor(X: Any) -> bool:
    """Tell whether something is a torch tensor, without importing torch."""
    kinds = type(X).__mro__
    return any(k.__name__ == "Tensor" and k.__module__ == "torch" for k in kinds)


def is_dask(X: Any) -> bool:
    """Tell whether something is a dask array or frame, without importing dask."""
    kind = type(X)
    return kind.__module__.partition(".")[0] in ("dask", "dask_expr") and (
        hasattr(kind, "map_blocks") or hasattr(kind, "map_partitions")
    )


def on_host(values: Any) -> Any:
    """Return a tensor or a dask array in memory, and anything else as it is.

    Numbers that NumPy has no type for (bfloat16) become float32.
    """
    if is_dask(values):
        from pairlearn.data.dask.compute import in_memory

        return in_memory(values)
    if not is_tensor(values):
        return values
    if values.is_floating_point() and values.element_size() < 4:
        values = values.float()
    return values.detach().cpu().numpy()


def on_device_of(X: Any, values: Any) -> Any:
    """Return numbers as a tensor where X is, if X is a tensor; else as they are.

    Real numbers take the type of X, if that is float32 or float64.
    """
    if not is_tensor(X) or is_tensor(values):
        return values
    import torch

    tensor = torch.as_tensor(values)
    if tensor.is_floating_point() and X.dtype != torch.float64:
        tensor = tensor.float()
    return tensor.to(X.device)


def take_rows(X: PointsLike, rows: Ints) -> PointsLike:
    """Return some rows of a table, whatever kind of table it is."""
    if is_tensor(X):
        import torch

        return X.index_select(0, torch.as_tensor(rows, device=X.device))
    if is_dask(X):
        from pairlearn.data.dask.tables import take

        return take(X, rows)
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def check_table(X: PointsLike) -> PointsLike:
    """Return points as something with rows and columns that can be sliced by row."""
    if sparse.issparse(X):
        # Some formats cannot be sliced by row; CSR is what the products need.
        return X if X.format == "csr" else X.tocsr()
    if is_dask(X):
        from pairlearn.data.dask.tables import table_of

        X = table_of(X)
        return X if X.ndim == 2 else _refuse_shape(X.shape)
    if hasattr(X, "columns"):
        return X
    try:
        array = _dense_tensor(X) if is_tensor(X) else np.asarray(X)
    except ValueError:  # NumPy's word for rows of different lengths
        raise ValueError(
            "the points have different lengths and do not form a table; if each is one "
            f"object, {_OBJECTS}"
        ) from None
    if array.ndim == 1 and not is_tensor(X) and array.dtype.kind in "OUS":
        return object_column(X)
    return array if array.ndim == 2 else _refuse_shape(array.shape)


def _refuse_shape(shape: Iterable[int]) -> NoReturn:
    raise ValueError(
        "points must be a table of shape (n_points, n_features); got shape "
        f"{tuple(shape)}. If each point is one object, {_OBJECTS}"
    )


def _dense_tensor(X: Any) -> Any:
    """Return a tensor of points without its history of gradients."""
    import torch

    if X.layout != torch.strided or X.is_complex():
        raise TypeError(
            "points as a tensor must be dense and real; got "
            f"{X.layout}, {X.dtype}. Convert them first, for example X.to_dense()"
        )
    return X.detach()


def check_tensor(X: Any) -> Any:
    """Return a table that is a tensor as float32 or float64, for a model."""
    import torch

    if 0 in X.shape:
        what = "sample" if X.shape[0] == 0 else "feature"
        raise ValueError(
            f"Found array with 0 {what}(s) (shape={tuple(X.shape)}) while a minimum of "
            "1 is required."
        )
    return X if X.dtype in (torch.float32, torch.float64) else X.float()


def stack_rows(left: PointsLike, right: PointsLike) -> PointsLike:
    """Return the rows of two tables, one below the other, as the first is.

    Both are of one kind, but for tensors, which go with arrays, and for dask arrays:
    with one of them, the result is a dask array.
    """
    if is_dask(left) or is_dask(right):
        from pairlearn.data.dask.tables import stack

        return stack(on_host(left) if is_tensor(left) else left,
                     on_host(right) if is_tensor(right) else right)  # fmt: skip
    right = right if is_tensor(left) else on_host(right)
    if sparse.issparse(left) or sparse.issparse(right):
        return sparse.vstack([left, right], format="csr")
    if is_tensor(left):
        import torch

        return torch.cat([left, torch.as_tensor(right).to(left)])
    module = type(left).__module__.partition(".")[0]
    if module == "pandas":
        import pandas as pd

        return pd.concat([left, right], ignore_index=True)
    if module == "polars":
        import polars as pl

        return pl.concat([left, right])
    return np.concatenate([left, right])


def object_column(objects: Iterable[Any]) -> NDArray[Any]:
    """Return objects as points: a table with one column that holds them as they are.

    `Pairs` does this by itself for strings and for whatever NumPy does not take for
    an array. For lists, tuples, arrays or images as single points it must be said.

    Parameters
    ----------
    objects : iterable
        The objects, one per point.

    Returns
    -------
    ndarray of objects, of shape (n_points, 1)

    Examples
    --------
    >>> from pairlearn import Pairs
    >>> from pairlearn.data.containers import object_column
    >>> Pairs(object_column([[1, 2], [3, 4], [5, 6]]), [[0, 1], [1, 2]])
    Pairs(n_pairs=2, n_points=3, n_features=1)
    """
    objects = list(objects)
    column = np.empty((len(objects), 1), dtype=object)
    # One at a time: NumPy would unpack objects that look like arrays.
    for row, one in enumerate(objects):
        column[row, 0] = one
    return column


def blocks_of_npy(path: str | Path, n_rows: int | None = None) -> Any:
    """Return the points in a .npy file as a dask array that need not fit into memory.

    Each block is a memory map of its own, opened by the thread or worker that reads it
    and closed after use; on a cluster all workers must see the file. (``from_array`` of
    dask would copy a memory map into memory.)

    Parameters
    ----------
    path : str or Path
        A file that `numpy.save` wrote, of shape (n_points, n_features).
    n_rows : int, optional
        Points in a block; None: about 128 MB of them.

    Returns
    -------
    dask array of shape (n_points, n_features)

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from pairlearn import Pairs
    >>> from pairlearn.data.containers import blocks_of_npy
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(Path(folder) / "points.npy", np.arange(8.0).reshape(4, 2))
    ...     X = blocks_of_npy(Path(folder) / "points.npy", n_rows=2)
    ...     print(X.chunks, np.asarray(Pairs(X, [[0, 3]])).tolist())
    ((2, 2), (2,)) [[[0.0, 1.0], [6.0, 7.0]]]
    """
    from pairlearn.data.dask.files import npy_blocks

    return npy_blocks(path, n_rows)


def look_up(
    points: Any,
    pairs: Any,
    *,
    id: str | None,  # noqa: A002 - the user's word for it
    left: str,
    right: str,
) -> Ints:
    """Return the row numbers in `points` of the ids in two columns of `pairs`.

    Parameters
    ----------
    points, pairs : data frame
        The points, one row each, and the pairs.
    id : str or None
        The column of the points' ids; None: their index, or their row number.
    left, right : str
        The columns of `pairs` that hold ids.

    Returns
    -------
    ndarray of shape (n_pairs, 2)
    """
    for name, table in (("points", points), ("pairs", pairs)):
        if not hasattr(table, "columns"):
            raise TypeError(
                f"{name} must be a pandas or polars frame; got "
                f"{type(table).__name__}. Read a file first: pandas.read_csv(...)"
            )
    check_columns("points", points, [] if id is None else [id])
    check_columns("pairs", pairs, [left, right])
    numbers = points.index if hasattr(points, "index") else range(points.shape[0])
    names = np.asarray(numbers if id is None else points[id]).tolist()
    row_of = {name: row for row, name in enumerate(names)}
    if len(row_of) < len(names):
        twice = [name for row, name in enumerate(names) if row_of[name] != row]
        raise ValueError(
            f"ids of points must be unique; {len(twice)} row(s) repeat one, first "
            f"{twice[0]!r}"
        )
    asked = [np.asarray(pairs[side]).tolist() for side in (left, right)]
    unknown = [name for side in asked for name in side if name not in row_of]
    if unknown:
        column = "the index of the points" if id is None else f"column {id!r}"
        raise ValueError(
            f"{len(unknown)} id(s) in the pairs are not among the points, such as "
            f"{sorted(set(map(repr, unknown)))[:3]}; the points are identified by "
            f"{column}: {', '.join(map(repr, names[:3]))}, ..."
            + "; name the column that holds the ids with id="
            * (id is None)
        )
    return np.array([[row_of[name] for name in side] for side in asked]).T


def check_columns(table: str, frame: Any, wanted: Iterable[str]) -> None:
    """Refuse names that are not columns of a frame."""
    columns = list(frame.columns)
    missing = [name for name in wanted if name not in columns]
    if missing:
        raise ValueError(
            f"the {table} have no column {missing[0]!r}; their columns are {columns}"
        )
