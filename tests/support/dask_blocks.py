"""Points in blocks, for tests."""

import pytest

da = pytest.importorskip("dask.array", reason="needs dask")


def lazily(X, rows=110):
    """The same points in blocks of some rows."""
    return da.from_array(X, chunks=(rows, -1))
