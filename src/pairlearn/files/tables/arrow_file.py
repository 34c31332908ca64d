"""Parquet, Feather and Arrow files, read in parts that are checked before use.

Arrow trusts the numbers in a file: where a text begins, which entry of a dictionary is
meant. A damaged one would lead it outside of the memory that it has read, so every
batch is validated in full before a cell of it is looked at, and nothing is mapped into
memory, where a file that shrinks ends the process.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pyarrow.types as kinds

from pairlearn.files.tables.cells import shown
from pairlearn.files.tables.errors import TableError
from pairlearn.files.tables.text_file import check_unique
from pairlearn.files.tables.vector_cells import VectorCells

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["arrow_batches"]

_MAGIC = b"ARROW1"
# The magic and two bytes of padding; messages follow as in a stream.
_BEFORE_STREAM = 8
# The length of the footer and the magic again.
_AFTER_FOOTER = 10
_LONGEST_VECTOR = 100_000
_END = b"\xff\xff\xff\xff\0\0\0\0"


def arrow_batches(path: Path, n_rows: int) -> Iterator[tuple[list[str], list[Any]]]:
    """Yield the column names and a list of cells for each column, part by part.

    The first part may be empty, so that the names of a table without rows are known.
    """
    try:
        with _batches(path, n_rows) as (schema, batches):
            names = _names(schema, path.name)
            _check_schema(schema, names, path.name)
            yield names, [[] for _ in names]
            n_read = 0
            for batch in batches:
                batch.validate(full=True)
                for begin in range(0, batch.num_rows, n_rows):
                    part = batch.slice(begin, n_rows)
                    yield (
                        names,
                        [
                            _cells(column, f"{path.name}: column {name!r}", n_read)
                            for name, column in zip(names, part.columns, strict=True)
                        ],
                    )
                    n_read += part.num_rows
    except (pa.ArrowException, OSError, EOFError, UnicodeDecodeError) as error:
        if isinstance(error, FileNotFoundError | PermissionError):
            raise
        first = str(error).strip().partition("\n")[0][:200].rstrip(".")
        raise TableError(
            f"{path.name} cannot be read as {path.suffix}: {first}. It may be damaged, "
            "or in another format"
        ) from None


@contextmanager
def _batches(path: Path, n_rows: int) -> Iterator[tuple[Any, Any]]:
    if path.stat().st_size == 0:
        raise TableError(f"{path.name} is empty")
    if path.suffix.lower() == ".parquet":
        # Pages carry a checksum if the program that wrote them was so kind.
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            yield file.schema_arrow, file.iter_batches(n_rows)
        return
    with pa.OSFile(str(path)) as source:
        is_file = source.read(len(_MAGIC)) == _MAGIC
        yield _of_file(source) if is_file else _of_stream(source)


def _of_stream(source: Any) -> tuple[Any, Iterator[Any]]:
    source.seek(0)
    stream = pa.ipc.open_stream(source)
    return stream.schema, _to_the_end(stream, source, source.size())


def _of_file(source: Any) -> tuple[Any, Iterator[Any]]:
    """Return schema and batches of the format with a footer.

    It says everything twice: in the messages of a stream, and in the footer. To read
    the stream and to compare shows lost rows and changed types, where one of the two
    alone would not.
    """
    footer = pa.ipc.open_file(source)
    n_batches = footer.num_record_batches
    source.seek(source.size() - _AFTER_FOOTER)
    end = source.tell() - int.from_bytes(source.read(4), "little")
    source.seek(_BEFORE_STREAM)
    try:
        stream = pa.ipc.open_stream(source)
    except (pa.ArrowException, OSError):
        # Polars, for one, writes no stream there.
        return footer.schema, (footer.get_batch(k) for k in range(n_batches))
    if not footer.schema.equals(stream.schema, True):
        raise pa.ArrowInvalid(
            "its footer and its header disagree about the columns or their types"
        )
    return stream.schema, _to_the_end(stream, source, end, n_batches)


def _to_the_end(
    stream: Any, source: Any, end: int, n_batches: int | None = None
) -> Iterator[Any]:
    """Yield the batches of a stream, and see that they are all there."""
    n_read = 0
    for batch in stream:
        yield batch
        n_read += 1
    if n_batches is not None and n_batches != n_read:
        raise pa.ArrowInvalid("its footer does not list the batches that it contains")
    # Without its mark the end may be a place where the file was cut off, and a mark
    # before the end of the file is no real one.
    if source.tell() != end or source.read_at(8, max(0, end - 8)) != _END:
        raise pa.ArrowInvalid("its batches end before the end of the file, or are cut")


def _names(schema: Any, table: str) -> list[str]:
    names = [name.strip() for name in schema.names]
    if not names:
        raise TableError(f"{table} has no columns")
    if "" in names:
        raise TableError(f"{table}: column {names.index('') + 1} has no name")
    check_unique(names, table)
    return names


def _check_schema(schema: Any, names: list[str], table: str) -> None:
    for name, column in zip(names, schema, strict=True):
        kind = _value_type(column.type)
        if kinds.is_run_end_encoded(kind):
            raise TableError(
                f"{table}: column {name!r} is run-end encoded, which is not supported; "
                "write it as plain values"
            )
        if is_vector(column.type):
            continue
        if kinds.is_nested(kind):
            raise TableError(
                f"{table}: column {name!r} holds lists or structures ({kind}); a cell "
                "must be one value, or a list of numbers: split them into columns, or "
                "leave the column out"
            )
    if all(kinds.is_null(_value_type(column.type)) for column in schema):
        # Such a table has any number of rows in no byte at all.
        raise TableError(f"{table}: every column is empty")


def _value_type(kind: Any) -> Any:
    """Return the type of the values in a column."""
    while isinstance(kind, pa.BaseExtensionType) or kinds.is_dictionary(kind):
        kind = kind.value_type if kinds.is_dictionary(kind) else kind.storage_type
    return kind


def is_vector(kind: Any) -> bool:
    """Tell whether each cell of a column of such a type is a list of numbers."""
    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    is_list = (
        kinds.is_list(kind)
        or kinds.is_large_list(kind)
        or kinds.is_fixed_size_list(kind)
    )
    if not is_list:
        return False
    number = kind.value_type
    return bool(kinds.is_floating(number) or kinds.is_integer(number))


def _vectors(column: Any, place: str, before: int) -> VectorCells:
    """Return a column of lists of numbers, all of one length, as vectors."""
    if isinstance(column.type, pa.BaseExtensionType):
        column = column.storage
    there = np.asarray(column.is_valid())
    lists = column.filter(column.is_valid())
    lengths = np.asarray(pc.list_value_length(lists))
    width = int(lengths[0]) if len(lengths) else 0
    if np.any(lengths != width) or width > _LONGEST_VECTOR:
        row = before + int(np.flatnonzero(there)[np.argmax(lengths != width)]) + 1
        raise TableError(
            f"{place}, row {row}: vectors must be of one length of up to "
            f"{_LONGEST_VECTOR:,} numbers; this one has "
            f"{lengths[np.argmax(lengths != width)]:,}, and the first has {width:,}"
        )
    numbers = lists.flatten().cast(pa.float64(), safe=False)
    made = np.full((len(column), width), np.nan)
    made[there] = numbers.to_numpy(zero_copy_only=False).reshape(-1, width)
    return VectorCells(made)


def _cells(column: Any, place: str, before: int) -> Any:
    """Return cells as Python values; `before` is the number of rows before them."""
    kind = column.type
    if is_vector(kind):
        return _vectors(column, place, before)
    if kinds.is_timestamp(kind) and kind.unit == "ns":
        # Python has no nanoseconds.
        column = column.cast(pa.timestamp("us", tz=kind.tz), safe=False)
    try:
        cells: list[Any] = column.to_pylist()
    except OverflowError:
        row = before + _first_outside(column) + 1
        raise TableError(
            f"{place}, row {row}: a date or time outside of the years 1 to 9999, or a "
            "duration of more than a million years; correct it, or leave the column out"
        ) from None
    except pa.ArrowInvalid:
        if not kinds.is_timestamp(kind) or kind.tz is None:
            raise
        raise TableError(
            f"{place}: its times are in the time zone {shown(kind.tz)}, which is not "
            "known here; convert them to UTC, or leave the column out"
        ) from None
    return [c.decode("utf-8", "replace") if type(c) is bytes else c for c in cells]


def _first_outside(column: Any) -> int:
    for row, cell in enumerate(column):
        try:
            cell.as_py()
        except OverflowError:
            return row
    return 0
