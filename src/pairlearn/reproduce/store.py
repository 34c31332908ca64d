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

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pandas as pd

__all__ = ["FILE_NAME", "Store", "StoreError", "Trial"]

FILE_NAME = "trials.sqlite"

_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
    id INTEGER PRIMARY KEY,
    started TEXT NOT NULL,
    command TEXT NOT NULL,
    versions TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS failures (
    experiment TEXT NOT NULL,
    dataset TEXT NOT NULL,
    method TEXT NOT NULL,
    settings TEXT NOT NULL,
    m INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    problem TEXT NOT NULL,
    run INTEGER NOT NULL REFERENCES runs (id),
    PRIMARY KEY (experiment, dataset, method, settings, m, seed)
);
CREATE TABLE IF NOT EXISTS trials (
    experiment TEXT NOT NULL,
    dataset TEXT NOT NULL,
    method TEXT NOT NULL,
    settings TEXT NOT NULL,
    m INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    results TEXT NOT NULL,
    seconds REAL NOT NULL,
    run INTEGER NOT NULL REFERENCES runs (id),
    PRIMARY KEY (experiment, dataset, method, settings, m, seed)
);
"""

_KEY = "experiment, dataset, method, settings, m, seed"
_INSERT = (
    "INSERT INTO trials VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT "
    "(experiment, dataset, method, settings, m, seed) DO NOTHING"
)
_FORGET = (
    "DELETE FROM failures WHERE experiment = ? AND dataset = ? AND method = ? "
    "AND settings = ? AND m = ? AND seed = ?"
)
# What must be there for a file to be a store of ours.
_COLUMNS = {
    "runs": "id, started, command, versions",
    "failures": f"{_KEY}, problem, run",
    "trials": f"{_KEY}, results, seconds, run",
}

Key = tuple[str, str, str, str, int, int]


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
                connection.executescript(_SCHEMA)
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
        except sqlite3.Error as error:
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

    def _write(self, *statements: tuple[str, tuple[Any, ...]]) -> int:
        """Execute statements in a transaction; return the last row's number."""
        with self._errors(), self._connection as connection:
            for statement, values in statements:
                cursor = connection.execute(statement, values)
        return int(cursor.lastrowid or 0)

    def _read(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._errors():
            return self._connection.execute(query, values).fetchall()

    def begin(self, command: str, versions: Mapping[str, str]) -> int:
        """Record a run, and return its number."""
        started = datetime.now(UTC).isoformat(timespec="seconds")
        row = (started, command, json.dumps(dict(versions)))
        query = "INSERT INTO runs (started, command, versions) VALUES (?, ?, ?)"
        return self._write((query, row))

    def add(
        self, trial: Trial, results: Mapping[str, Any], *, seconds: float, run: int
    ) -> None:
        """Write one finished trial; one that is there already stays as it is."""
        row = (*trial.key, json.dumps(dict(results), sort_keys=True), seconds, run)
        self._write((_INSERT, row), (_FORGET, trial.key))

    def add_failure(self, trial: Trial, problem: str, *, run: int) -> None:
        """Write that a trial failed, and why; a later run tries it again."""
        row = (*trial.key, problem, run)
        insert = "INSERT INTO failures VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        self._write((_FORGET, trial.key), (insert, row))

    def keys(self) -> set[Key]:
        """Return the keys of all finished trials."""
        return set(self._read(f"SELECT {_KEY} FROM trials"))  # noqa: S608

    def experiments(self) -> list[str]:
        """Return the experiments that have at least one trial."""
        rows = self._read("SELECT DISTINCT experiment FROM trials ORDER BY experiment")
        return [name for (name,) in rows]

    def frame(self, experiment: str) -> pd.DataFrame:
        """Return the trials of an experiment, settings and results as columns."""
        import pandas as pd

        names = ["dataset", "method", "m", "seed", "seconds", "run"]
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
