"""The result store: one SQLite file that a run may be killed beside at any moment.

Every finished trial is one row, written in a transaction of its own. Its key is what
was asked for (experiment, dataset, method, settings, m, seed), so the same trial is
never there twice, and a later run sees what is left to do.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pairlearn.reproduce.rows import TABLES, digest, problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pandas as pd

__all__ = ["FILE_NAME", "Store", "StoreError", "Trial"]

FILE_NAME = "trials.sqlite"

_KEY = "experiment, dataset, method, settings, m, seed"
_SQL_TYPES = {str: "TEXT", dict: "TEXT", int: "INTEGER", float: "REAL"}
# What must be there for a file to be a store of ours.
_COLUMNS = {name: ", ".join(columns) for name, columns in TABLES.items()}
_INSERT = {
    name: f"INSERT INTO {name} ({_COLUMNS[name]}, digest) VALUES "  # noqa: S608 - constants
    f"({', '.join('?' * (len(columns) + 1))})"
    for name, columns in TABLES.items()
}
_UNLESS_THERE = f" ON CONFLICT ({_KEY}) DO NOTHING"
_FORGET = f"DELETE FROM failures WHERE ({_KEY}) = (?, ?, ?, ?, ?, ?)"  # noqa: S608 - constants

Key = tuple[str, str, str, str, int, int]


def _schema(table: str) -> str:
    """Return the statement that makes a table; each row has a digest besides."""
    kinds = {
        name: f"{_SQL_TYPES[kind]} NOT NULL" for name, kind in TABLES[table].items()
    }
    ends = ["digest TEXT"]
    if table == "runs":
        kinds["id"] = "INTEGER PRIMARY KEY"
    else:
        ends += ["FOREIGN KEY (run) REFERENCES runs (id)", f"PRIMARY KEY ({_KEY})"]
    columns = [f"{name} {kind}" for name, kind in kinds.items()]
    return f"CREATE TABLE IF NOT EXISTS {table} ({', '.join([*columns, *ends])});"


class StoreError(OSError):
    """The store cannot be read or written."""


@dataclass(frozen=True)
class Trial:
    """One trial: everything that its outcome depends on.

    Attributes
    ----------
    experiment, dataset, method : str
        What is run.
    m : int
        Number of pairs.
    seed : int
        Which subsample is drawn.
    settings : dict
        Everything else; it must survive a round trip through JSON.

    Examples
    --------
    >>> Trial("table-tabular", "banana", "CIPS", 100, 0, {"solver": "sgd"}).key[3]
    '{"solver": "sgd"}'
    """

    experiment: str
    dataset: str
    method: str
    m: int
    seed: int
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> Key:
        """What makes it the same trial as another."""
        settings = json.dumps(dict(self.settings), sort_keys=True)
        return (
            self.experiment, self.dataset, self.method, settings, self.m, self.seed
        )  # fmt: skip


class Store:
    """The trials of a folder.

    Parameters
    ----------
    folder : path
        Where the store lies; see `Store.create` to make one.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Store.create(folder) as store:
    ...     run = store.begin("an example", {"python": "3"})
    ...     trial = Trial("table-tabular", "banana", "CIPS", 100, 0)
    ...     store.add(trial, {"error": 0.4}, seconds=0.1, run=run)
    ...     store.frame("table-tabular")[["dataset", "m", "error"]].values.tolist()
    [['banana', 100, 0.4]]
    """

    def __init__(self, folder: str | Path) -> None:
        self.path = Path(folder) / FILE_NAME
        if not self.path.is_file():
            raise StoreError(
                f"there are no results in {folder}: `pairlearn reproduce all --quick "
                f"--out {folder}` puts some there"
            )
        self._connection = self._open()
        self._new = False  # whether it is known to have digests

    @classmethod
    def create(cls, folder: str | Path) -> Self:
        """Open the store of a folder, and make both if they are not there."""
        path = Path(folder) / FILE_NAME
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        except OSError as error:
            raise StoreError(
                f"cannot write results to {folder}: {error.strerror}. Choose another "
                "folder with --out"
            ) from error
        return cls(folder)

    def _open(self) -> sqlite3.Connection:
        # Two runs on one store take turns; a minute is ample for a row.
        connection = sqlite3.connect(self.path, timeout=60)
        try:
            with self._errors(), connection:
                connection.executescript("".join(map(_schema, TABLES)))
                for name, columns in _COLUMNS.items():
                    connection.execute(f"SELECT {columns} FROM {name} LIMIT 0")  # noqa: S608 - constants
        except StoreError:
            connection.close()
            raise
        return connection

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn the database's errors into ours."""
        try:
            yield
        # Unicode: a damaged name, in what the database says about it.
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise StoreError(
                f"{self.path} cannot be used as a result store ({error}). If the disk "
                "is full, make room; if the file is damaged or is something else, "
                "move it away to begin afresh, or choose another folder with --out"
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    @contextmanager
    def unchanging(self) -> Iterator[None]:
        """See the store as it is now, whatever a run beside this one adds meanwhile.

        That run waits, so be short.
        """
        with self._errors():
            self._connection.execute("BEGIN")
        try:
            yield
        finally:
            self._connection.rollback()

    def _write(self, *statements: tuple[str, tuple[Any, ...]]) -> None:
        """Execute statements in a transaction."""
        with self._errors(), self._connection as connection:
            self._add_digests()
            for statement, values in statements:
                connection.execute(statement, values)

    def _read(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._errors():
            return self._connection.execute(query, values).fetchall()

    def begin(self, command: str, versions: Mapping[str, str]) -> int:
        """Record a run, and return its number."""
        started = datetime.now(UTC).isoformat(timespec="seconds")
        row = (started, command, json.dumps(dict(versions)))
        insert = "INSERT INTO runs (started, command, versions) VALUES (?, ?, ?)"
        with self._errors(), self._connection as connection:
            self._add_digests()
            number = int(connection.execute(insert, row).lastrowid or 0)
            values = (digest((number, *row)), number)
            connection.execute("UPDATE runs SET digest = ? WHERE id = ?", values)
        return number

    def add(
        self, trial: Trial, results: Mapping[str, Any], *, seconds: float, run: int
    ) -> None:
        """Write one finished trial; one that is there already stays as it is."""
        found = json.dumps(dict(results), sort_keys=True)
        row = (*trial.key, found, float(seconds), run)
        insert = _INSERT["trials"] + _UNLESS_THERE
        self._write((insert, (*row, digest(row))), (_FORGET, trial.key))

    def add_failure(self, trial: Trial, problem: str, *, run: int) -> None:
        """Write that a trial failed, and why; a later run tries it again."""
        row = (*trial.key, problem, run)
        insert = (_INSERT["failures"], (*row, digest(row)))
        self._write((_FORGET, trial.key), insert)

    def check(self) -> None:
        """Refuse a store with damaged or altered rows, which no number may rest on."""
        self._check_file()
        damaged = self._damaged("runs")
        if damaged:
            number, why = damaged[0]
            raise StoreError(
                f"{self.path}: the record of run {number} is damaged or was altered: "
                f"{why}. Move the file away to begin afresh, or choose another folder"
            )
        damaged = self._damaged("trials") + self._damaged("failures")
        if damaged:
            _, why = damaged[0]
            raise StoreError(
                f"{self.path}: {len(damaged)} trial(s) are damaged or were altered; "
                f"the first: {why}. `pairlearn reproduce` with this folder leaves "
                "them out, and runs again those that it is asked for"
            )

    def forget_damaged(self) -> int:
        """Remove the trials that are damaged or were altered; return how many."""
        self._check_file()
        n_damaged = 0
        for table in ("trials", "failures"):
            rows = self._damaged(table)
            n_damaged += len(rows)
            query = f"DELETE FROM {table} WHERE rowid = ?"  # noqa: S608
            if rows:
                self._write(*((query, (number,)) for number, _ in rows))
        return n_damaged

    def _check_file(self) -> None:
        """Look for damage to the file itself, by which rows could be lost."""
        ((said, *_), *_) = self._read("PRAGMA integrity_check(1)")
        if said != "ok":
            with self._errors():
                raise sqlite3.DatabaseError(said)

    def _damaged(self, table: str) -> list[tuple[int, str]]:
        """Return the numbers of rows that something is wrong with, and what."""
        stored = "digest" if self._has_digests(table) else "NULL"
        rows = self._read(f"SELECT rowid, {_COLUMNS[table]}, {stored} FROM {table}")  # noqa: S608
        runs = {number for (number,) in self._read("SELECT id FROM runs")}
        found = []
        for number, *values, kept in rows:
            why = problem(table, values, kept, runs)
            if why:
                where = ", ".join(str(value)[:40] for value in values[:3])
                found.append((number, f"{where} (row {number}): {why}"))
        return found

    def _add_digests(self) -> None:
        """Give the tables of an older store a column for digests."""
        for table in () if self._new else TABLES:
            if not self._has_digests(table):
                self._connection.execute(f"ALTER TABLE {table} ADD COLUMN digest TEXT")
        self._new = True

    def _has_digests(self, table: str) -> bool:
        columns = self._read(f"PRAGMA table_info({table})")
        return any(name == "digest" for _, name, *_ in columns)

    def keys(self) -> set[Key]:
        """Return the keys of all finished trials."""
        return set(self._read(f"SELECT {_KEY} FROM trials"))  # noqa: S608

    def experiments(self) -> list[str]:
        """Return the experiments that have at least one trial."""
        rows = self._read("SELECT DISTINCT experiment FROM trials ORDER BY experiment")
        return [name for (name,) in rows]

    def frame(self, experiment: str, *, with_json: bool = False) -> pd.DataFrame:
        """Return the trials of an experiment, settings and results as columns.

        With JSON, the settings stand in a column of their own besides, as stored.
        """
        import pandas as pd

        names = ["dataset", "method", "m", "seed", "seconds", "run"]
        names += ["settings"] if with_json else []
        query = (
            f"SELECT {', '.join(names)}, settings, results FROM trials "  # noqa: S608
            "WHERE experiment = ? ORDER BY dataset, m, method, settings, seed"
        )
        rows = []
        for *values, settings, results in self._read(query, experiment):
            plain = dict(zip(names, values, strict=True))
            rows.append(plain | json.loads(settings) | json.loads(results))
        return pd.DataFrame(rows, columns=None if rows else names)

    def failures(self) -> pd.DataFrame:
        """Return the trials that failed when they were last run, and why."""
        import pandas as pd

        names = ["experiment", "dataset", "method", "m", "seed", "problem", "run"]
        order = "experiment, dataset, method, m, seed"
        query = f"SELECT {', '.join(names)} FROM failures ORDER BY {order}"  # noqa: S608
        return pd.DataFrame(self._read(query), columns=names)

    def runs(self) -> pd.DataFrame:
        """Return the runs: number, start, command, and one column a version."""
        import pandas as pd

        rows = self._read("SELECT id, started, command, versions FROM runs ORDER BY id")
        return pd.DataFrame(
            [
                {"run": number, "started": started, "command": command}
                | json.loads(versions)
                for number, started, command, versions in rows
            ]
        )
