"""Read a citation network in either of the two forms it is kept in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from pairlearn.datasets.parsers import (
    PickledMatrix,
    damaged,
    read_bytes,
    read_npz,
    read_pickle,
)

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["read_network", "read_planetoid"]

_NPZ_ARRAYS = ("x_data", "x_indices", "x_indptr", "x_shape", "labels", "links")


def read_network(path: Path) -> tuple[Any, ...]:
    """Return points, classes and links from an npz file of ours."""
    arrays = read_npz(path, _NPZ_ARRAYS)
    try:
        csr = (arrays["x_data"], arrays["x_indices"], arrays["x_indptr"])
        X = sparse.csr_matrix(csr, shape=tuple(arrays["x_shape"]), dtype=float)
    except ValueError as error:
        raise damaged(path, error) from error
    return X, arrays["labels"].astype(np.intp), arrays["links"].astype(np.intp)


def read_planetoid(paths: list[Path]) -> tuple[Any, ...]:
    """Return points, classes and links from the files of Planetoid."""
    # The points of the files allx and tx together are all the points; those of tx
    # belong to the places that test.index lists. x and y repeat a part of allx and
    # ally, and are kept only to have the folder complete.
    _, _, tx, ty, allx, ally, graph, index = paths
    train_X, test_X = (_pickled(path, PickledMatrix) for path in (allx, tx))
    train_y, test_y = (_pickled(path, np.ndarray) for path in (ally, ty))
    neighbours = _pickled(graph, dict)
    try:
        places = np.array(read_bytes(index).split(), dtype=np.intp)
        order = np.concatenate([np.arange(len(train_y)), places])
        n_points = len(order)
        if not np.array_equal(np.sort(order), np.arange(n_points)):
            raise ValueError("it does not list each place after the training points")
        back = np.argsort(order)
        X = sparse.vstack([train_X.tocsr(), test_X.tocsr()], format="csr")[back]
        y = np.concatenate([train_y, test_y]).argmax(axis=1)[back]
    except (ValueError, AttributeError) as error:
        raise damaged(index, error) from error
    X = X.astype(float)
    X.sort_indices()
    return X, y.astype(np.intp), _links(graph, neighbours, n_points)


def _pickled(path: Path, kind: type) -> Any:
    value = read_pickle(path)
    if not isinstance(value, kind):
        raise damaged(path, f"it holds a {type(value).__name__}")
    return value


def _links(path: Path, neighbours: dict[Any, Any], n_points: int) -> NDArray[np.intp]:
    try:
        ends = np.array(
            [(one, other) for one, others in neighbours.items() for other in others],
            dtype=np.intp,
        ).reshape(-1, 2)
    except (TypeError, ValueError) as error:
        raise damaged(path, error) from error
    if ends.size and not 0 <= ends.min() <= ends.max() < n_points:
        raise damaged(path, f"it links points outside 0 to {n_points - 1}")
    # Both ends list a link. A point that is linked to itself lists itself twice.
    between = ends[ends[:, 0] < ends[:, 1]]
    own = ends[ends[:, 0] == ends[:, 1]]
    links = np.concatenate([between, own[np.argsort(own[:, 0])][::2]])
    return links[np.lexsort((links[:, 1], links[:, 0]))]
