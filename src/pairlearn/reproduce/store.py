"""The result store: one SQLite file that a run may be killed beside at any moment.

Every finished trial is one row, written in a transaction of its own. Its key is what
was asked for (experiment, dataset, method, settings, m, seed), so the same trial is
never there twice, and a later run sees what is left to do.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Mapping

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
            with connection:
                connection.executescript(_SCHEMA)
        except sqlite3.Error as error:
            connection.close()
            raise StoreError(
                f"{self.path} cannot be used as a result store ({error}). Move it away "
                "to begin afresh, or choose another folder with --out"
            ) from error
        return connection

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def begin(self, command: str, versions: Mapping[str, str]) -> int:
        """Record a run, and return its number."""
        started = datetime.now(UTC).isoformat(timespec="seconds")
        row = (started, command, json.dumps(dict(versions)))
        with self._connection as connection:
            cursor = connection.execute(
                "INSERT INTO runs (started, command, versions) VALUES (?, ?, ?)", row
            )
        return int(cursor.lastrowid or 0)

    def add(
        self, trial: Trial, results: Mapping[str, Any], *, seconds: float, run: int
    ) -> None:
        """Write one finished trial; one that is there already stays as it is."""
        row = (*trial.key, json.dumps(dict(results), sort_keys=True), seconds, run)
        with self._connection as connection:
            connection.execute(
                "INSERT OR IGNORE INTO trials VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row
            )

    def keys(self) -> set[Key]:
        """Return the keys of all finished trials."""
        rows = self._connection.execute(
            "SELECT experiment, dataset, method, settings, m, seed FROM trials"
        )
        return set(rows)

    def experiments(self) -> list[str]:
        """Return the experiments that have at least one trial."""
        rows = self._connection.execute("SELECT DISTINCT experiment FROM trials")
        return sorted(name for (name,) in rows)

    def frame(self, experiment: str) -> pd.DataFrame:
        """Return the trials of an experiment, settings and results as columns."""
        import pandas as pd

        names = ["dataset", "method", "m", "seed", "seconds", "run"]
        query = (
            f"SELECT {', '.join(names)}, settings, results FROM trials "  # noqa: S608 - constants
            "WHERE experiment = ? ORDER BY dataset, m, method, settings, seed"
        )
        rows = []
        with closing(self._connection.execute(query, (experiment,))) as cursor:
            for *values, settings, results in cursor:
                plain = dict(zip(names, values, strict=True))
                rows.append(plain | json.loads(settings) | json.loads(results))
        return pd.DataFrame(rows, columns=None if rows else names)

    def runs(self) -> pd.DataFrame:
        """Return the runs: number, start, command, and one column a version."""
        import pandas as pd

        rows = self._connection.execute("SELECT * FROM runs ORDER BY id")
        return pd.DataFrame(
            [
                {"run": number, "started": started, "command": command}
                | json.loads(versions)
                for number, started, command, versions in rows
            ]
        )
