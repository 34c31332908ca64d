"""The file that `pairlearn predict` writes: ids, classes and probabilities."""

from __future__ import annotations

import csv
import io
import re
from contextlib import contextmanager
from itertools import chain
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pairlearn.data.types import Floats, Ints

    Write = Callable[[list[str], Ints, Floats], None]

__all__ = ["opened"]

# Texts of other characters than these are left to the csv module, and its quotes.
_NOT_PLAIN = re.compile(r"[^\w.:+\-/@#]")


@contextmanager
def opened(path: Path, name: str, classes: list[str]) -> Iterator[Write]:
    """Open the file, and yield a function that adds rows to it.

    Parameters
    ----------
    path : Path
        A file that ends in .csv, .tsv or .parquet.
    name : str
        The name of the column of ids.
    classes : list of str
        The names of the classes.

    Yields
    ------
    callable
        Its arguments are ids, the numbers of the classes, and the probabilities.
    """
    names = [name, "class", *(f"probability_{c}" for c in classes)]
    if path.suffix.lower() == ".parquet":
        with _parquet(path, names, classes) as write:
            yield write
        return
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = _TextRows(file, delimiter, classes)
        rows.writer.writerow(names)
        yield rows


@contextmanager
def _parquet(path: Path, names: list[str], classes: list[str]) -> Iterator[Write]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = [pa.string(), pa.string()] + [pa.float64()] * len(classes)
    schema = pa.schema(list(zip(names, kinds, strict=True)))
    known = pa.array(classes, type=pa.string())
    with pq.ParquetWriter(path, schema, write_page_checksum=True) as parquet:
        yield lambda ids, winners, shares: parquet.write_table(
            pa.table([ids, known.take(pa.array(winners)), *shares.T], schema=schema)
        )


class _TextRows:
    """Rows of text, as the csv module writes them.

    Where no id needs quotes, one pattern is filled in for all rows, several times as
    fast as row by row.
    """

    def __init__(self, file: IO[str], delimiter: str, classes: list[str]) -> None:
        self.file, self.classes = file, classes
        self.writer = self._writer(file, delimiter)
        self.quoted = [self._cell(name, delimiter) for name in classes]
        cells = ["%s", "%s", *["%.6g"] * len(classes)]
        self.pattern = delimiter.join(cells) + "\n"

    @staticmethod
    def _writer(file: IO[str], delimiter: str) -> Any:
        return csv.writer(file, delimiter=delimiter, lineterminator="\n")

    def _cell(self, text: str, delimiter: str) -> str:
        """Return a text as it stands in a row."""
        row = io.StringIO()
        self._writer(row, delimiter).writerow(["", text])
        return row.getvalue()[1:-1]

    def __call__(self, ids: list[str], winners: Ints, shares: Floats) -> None:
        """Add rows."""
        numbers = winners.tolist()
        if _NOT_PLAIN.search("".join(ids)) is None:
            labels = [self.quoted[k] for k in numbers]
            rows = zip(ids, labels, *shares.T.tolist(), strict=True)
            cells = tuple(chain.from_iterable(rows))
            self.file.write(self.pattern * len(ids) % cells)
            return
        self.writer.writerows(
            (name, self.classes[k], *(f"{share:.6g}" for share in each))
            for name, k, each in zip(ids, numbers, shares.tolist(), strict=True)
        )
