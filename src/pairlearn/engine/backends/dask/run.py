"""Functions run on all blocks of a dask array, their results added in a fixed order.

The sum is a tree over the blocks in their order, so that the numbers do not depend on
which thread or worker was first, nor on one that died on the way.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import dask
import numpy as np
from dask.delayed import Delayed
from scipy import sparse

from pairlearn.data.dask.compute import active_client, compute
from pairlearn.data.dask.memory_maps import release_pages
from pairlearn.data.dask.tables import selection
from pairlearn.engine.backends.numpy.points import NumpyPoints
from pairlearn.system.once import once

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pairlearn.data.types import Ints

    # What is added up, and what is listed block after block.
    Result = tuple[tuple[Any, ...] | None, list[Any]]

__all__ = ["Blocks", "Shipped", "block_points"]

# How many results are added at a time.
_FAN = 16


class Held:
    """Holds an object of any kind, which a graph then takes for data."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Shipped:
    """Objects, one a block or None, that travel to the workers once.

    On a cluster they are tasks whose results are kept: if a worker dies with them, the
    scheduler makes them anew, which it could not do with data sent by hand. Without a
    cluster they are just referred to.

    Parameters
    ----------
    objects : sequence
        The objects.
    """

    def __init__(self, objects: Sequence[Any]) -> None:
        self.objects = objects
        name = f"share-{uuid4().hex}"
        self.keys = [
            None if one is None else (name, k) for k, one in enumerate(objects)
        ]
        self._client: Any = None
        self._graph: dict[Any, Any] | None = None

    def graph(self) -> dict[Any, Any]:
        """Return the objects as a graph, with `keys` for those that are not None."""
        client = active_client()
        if self._graph is None or client is not self._client:
            pairs = zip(self.keys, self.objects, strict=True)
            self._graph = {key: Held(one) for key, one in pairs if key is not None}
            self._client = client
            if client is not None:
                self._graph = _persisted(self._graph)
        return self._graph


class Blocks:
    """The blocks of a dask array that hold points, and the rows that count in each.

    Parameters
    ----------
    X : dask array of shape (n_points, n_features)
        The points, perhaps taken from a larger array.

    Attributes
    ----------
    bounds : ndarray of shape (n_blocks + 1,)
        Numbers of the first point of each block, and the number of all points.
    """

    def __init__(self, X: Any) -> None:
        source, rows = selection(X)
        sizes = np.array(source.chunks[0], dtype=np.intp)
        ends = np.cumsum(sizes)
        if rows is None:
            counts, local = sizes, [None] * len(sizes)
        else:
            cuts = np.searchsorted(rows, [0, *ends])
            counts = np.diff(cuts)
            local = [
                None if counts[k] == sizes[k]
                else rows[cuts[k] : cuts[k + 1]] - (ends - sizes)[k]
                for k in range(len(sizes))
            ]  # fmt: skip
        kept = np.flatnonzero(counts)
        self.bounds = np.concatenate([[0], np.cumsum(counts[kept])]).astype(np.intp)
        self._source, self._kept = source, kept
        self._begins = (ends - sizes)[kept]
        self._rows = Shipped([local[k] for k in kept])

    def __len__(self) -> int:
        return len(self._kept)

    def row_number(self, k: int, row: int) -> int:
        """Return the number by which the user knows a row of block k."""
        rows = self._rows.objects[k]
        return int(self._begins[k] + (row if rows is None else rows[row]))

    def split(self, values: Any) -> list[Any]:
        """Return what belongs to each block of an array with one entry a point."""
        return np.split(values, self.bounds[1:-1])

    def reduce(
        self,
        function: Callable[..., Result],
        call: Any,
        *shares: Shipped | Sequence[Any],
        only: Sequence[bool] | None = None,
    ) -> Result:
        """Run a function on every block; add up and list what it returns.

        Parameters
        ----------
        function : callable
            ``function(points, call, *share)`` returns numbers to be added over the
            blocks (or None), and a list to be joined.
        call : object
            An argument that is the same for every block.
        *shares : Shipped or sequence
            Arguments of which each block has its own.
        only : sequence of bool, optional
            Which blocks take part.
        """
        keys, graph = self._read
        graph = {**graph, **self._rows.graph()}
        columns: list[Sequence[Any]] = [self._rows.keys]
        for share in shares:
            if isinstance(share, Shipped):
                graph.update(share.graph())
                columns.append(share.keys)
            else:
                columns.append([Held(one) for one in share])
        token = uuid4().hex
        graph[f"call-{token}"] = Held((function, call))
        level = []
        for k, key in enumerate(keys):
            if only is None or only[k]:
                level.append((f"block-{token}", k))
                own = (column[k] for column in columns)
                graph[level[-1]] = (_apply, key, f"call-{token}", *own)
        if not level:
            return None, []
        for height in range(1, len(level)):
            if len(level) == 1:
                break
            parts = [level[k : k + _FAN] for k in range(0, len(level), _FAN)]
            level = [(f"sum{height}-{token}", k) for k in range(len(parts))]
            graph.update(
                (key, (_merge, part)) for key, part in zip(level, parts, strict=True)
            )
        result: Result = compute(Delayed(level[0], graph))
        return result

    @once
    def _read(self) -> tuple[list[Any], dict[Any, Any]]:
        """The keys of the blocks, and the graph that reads them."""
        parts = self._source.to_delayed().ravel()[self._kept]
        if not len(parts):
            return [], {}
        return [part.key for part in parts], dict(parts[0].__dask_graph__())


def block_points(block: Any, rows: Ints | None) -> NumpyPoints:
    """Return (some of) the points of a block."""
    if sparse.issparse(block):
        block = block.tocsr()
    if rows is not None:
        block = block[rows]
    # Here, not in the graph, where a converted copy would hide a memory map.
    if block.dtype not in (np.float32, np.float64):
        block = block.astype(float)
    if not sparse.issparse(block):
        # What came over a wire may lie anywhere; sums would have other last digits.
        block = np.require(block, requirements="A")
    return NumpyPoints(block)


def _apply(block: Any, call: Held, rows: Held | None, *shares: Held | None) -> Result:
    function, argument = call.value
    own = [None if share is None else share.value for share in shares]
    try:
        # What is not finite is found, and explained, from the sum.
        with np.errstate(over="ignore", invalid="ignore"):
            points = block_points(block, None if rows is None else rows.value)
            result: Result = function(points, argument, *own)
    finally:
        release_pages(block)
    return result


def _merge(results: list[Result]) -> Result:
    total, listed = None, []
    for sums, some in results:
        listed.extend(some)
        if total is None or sums is None:
            total = total or sums
        else:
            total = tuple(a + b for a, b in zip(total, sums, strict=True))
    return total, listed


def _persisted(graph: dict[Any, Any]) -> dict[Any, Any]:
    """Return a graph of data that workers hold, in place of the data."""
    with warnings.catch_warnings():
        # It is meant to be sent, and just once.
        warnings.filterwarnings("ignore", "Sending large graph")
        held = dask.persist(*(Delayed(key, {key: one}) for key, one in graph.items()))
    return {key: one for part in held for key, one in part.__dask_graph__().items()}
