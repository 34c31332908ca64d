"""Parquet, Feather and Arrow files, read in parts."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pairlearn.cli.errors import TableError
from pairlearn.cli.textfile import check_unique

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["arrow_batches"]


def arrow_batches(path: Path, n_rows: int) -> Iterator[tuple[list[str], list[Any]]]:
    """Yield the column names and a list of cells for each column, part by part.

    The first part may be empty, so that the names of a table without rows are known.
    """
    import pyarrow as pa

    try:
        with _batches(path, n_rows) as (schema, batches):
            names = [name.strip() for name in schema.names]
            _check_schema(schema, names, path.name)
            yield names, [[] for _ in names]
            for batch in batches:
                for begin in range(0, batch.num_rows, n_rows):
                    part = batch.slice(begin, n_rows)
                    yield names, [_cells(column) for column in part.columns]
    except (pa.ArrowException, OSError, EOFError) as error:
        if isinstance(error, FileNotFoundError | PermissionError):
            raise
        first = str(error).strip().partition("\n")[0][:200]
        raise TableError(
            f"{path.name} cannot be read as {path.suffix}: {first}. It may be damaged, "
            "or of another format"
        ) from None


@contextmanager
def _batches(path: Path, n_rows: int) -> Iterator[tuple[Any, Any]]:
    import pyarrow as pa

    if path.stat().st_size == 0:
        raise TableError(f"{path.name} is empty")
    if path.suffix.lower() == ".parquet":
        import pyarrow.parquet as pq

        with pq.ParquetFile(path) as file:
            yield file.schema_arrow, file.iter_batches(n_rows)
        return
    with pa.memory_map(str(path)) as source:
        if source.read(6) == b"ARROW1":
            source.seek(0)
            reader = pa.ipc.open_file(source)
            yield (
                reader.schema,
                (reader.get_batch(k) for k in range(reader.num_record_batches)),
            )
        else:
            source.seek(0)
            stream = pa.ipc.open_stream(source)
            yield stream.schema, stream


def _check_schema(schema: Any, names: list[str], table: str) -> None:
    import pyarrow.types as kinds

    if not names:
        raise TableError(f"{table} has no columns")
    if "" in names:
        raise TableError(f"{table}: column {names.index('') + 1} has no name")
    check_unique(names, table)
    for name, column in zip(names, schema, strict=True):
        kind = column.type
        if kinds.is_dictionary(kind):
            kind = kind.value_type
        if kinds.is_nested(kind):
            raise TableError(
                f"{table}: column {name!r} holds lists or structures ({kind}); a cell "
                "must be one value: spread them over columns, or leave the column out"
            )


def _cells(column: Any) -> list[Any]:
    """Return cells as Python values."""
    import pyarrow as pa
    import pyarrow.types as kinds

    kind = column.type
    if kinds.is_timestamp(kind) and kind.unit == "ns":
        # Python has no nanoseconds.
        column = column.cast(pa.timestamp("us", tz=kind.tz), safe=False)
    cells: list[Any] = column.to_pylist()
    if kinds.is_binary(kind) or kinds.is_large_binary(kind):
        cells = [c if c is None else c.decode("utf-8", "replace") for c in cells]
    return cells
