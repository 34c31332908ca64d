"""A PostgreSQL server of our own, in a folder that goes away."""

import os
import shutil
import subprocess
import tempfile
import time
from itertools import count
from pathlib import Path

__all__ = ["PostgreSQL", "find_programs", "needed"]

# Seconds after which a start has failed, however busy the machine is.
PATIENCE = 120


def needed():
    """Tell whether tests must run, and are not skipped where there is no server."""
    return bool(os.environ.get("PAIRLEARN_NEED_POSTGRESQL"))


def find_programs():
    """Return the folder with initdb and pg_ctl, or None."""
    found = shutil.which("initdb")
    if found:
        return Path(found).parent
    # Debian keeps them aside, by version.
    folders = sorted(
        Path("/usr/lib/postgresql").glob("*/bin"),
        key=lambda path: [int(part) for part in path.parent.name.split(".")],
    )
    return next(
        (path for path in reversed(folders) if (path / "initdb").exists()), None
    )


class PostgreSQL:
    """A server that is started and restarted; it listens at a socket in its folder.

    It refuses to run as root, so that another user runs it then. Commits are on the
    disk, as they are by default.

    Attributes
    ----------
    folder : Path
        Where its data and its socket are.
    """

    def __init__(self):
        self._programs = find_programs()
        # Short, as the path of a socket has to be.
        self.folder = Path(tempfile.mkdtemp(prefix="pg"))
        self._as_other, self._numbers = [], count(1)
        if os.name == "posix" and os.geteuid() == 0:
            self._become("postgres", "nobody")
        self._do("initdb", "-D", self._data, "-A", "trust", "-U", "tests", "-E", "UTF8")
        self.start()

    @property
    def _data(self):
        return self.folder / "data"

    def _become(self, *users):
        import pwd

        known = {user.pw_name: user for user in pwd.getpwall()}
        user = next(known[name] for name in users if name in known)
        os.chown(self.folder, user.pw_uid, user.pw_gid)
        ids = ["--reuid", str(user.pw_uid), "--regid", str(user.pw_gid)]
        self._as_other = ["setpriv", *ids, "--clear-groups"]

    def _do(self, program, *words):
        command = [*self._as_other, self._programs / program, *map(str, words)]
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE,
            cwd=self.folder,
            env={**os.environ, "LC_ALL": "C"},
        )
        if done.returncode:
            log = self.folder / "log"
            more = log.read_text() if log.exists() else ""
            raise RuntimeError(f"{program} failed: {done.stdout}\n{more}")

    def start(self):
        """Start it, and wait until it answers."""
        options = f"-k {self.folder} -c listen_addresses= -c max_connections=60"
        words = ["-D", self._data, "-o", options, "-l", self.folder / "log"]
        self._do("pg_ctl", "start", "-w", "-t", PATIENCE, *words)

    def stop(self, how="fast"):
        """Stop it: every connection ends at once."""
        self._do("pg_ctl", "stop", "-D", self._data, "-m", how, "-w", "-t", PATIENCE)

    def restart(self, pause=0.0):
        """Stop it, wait a while, and start it again."""
        self.stop("immediate")
        time.sleep(pause)
        self.start()

    def address(self, database="postgres", user="tests"):
        """Return the address of a database."""
        return f"postgresql+psycopg://{user}@/{database}?host={self.folder}"

    def make_database(self):
        """Return the address of an empty place: a schema, as databases take long."""
        name = f"team{next(self._numbers)}"
        self.sql(f"CREATE SCHEMA {name}")
        return f"{self.address()}&options=-csearch_path%3D{name}"

    def sql(self, statement):
        """Execute a statement, and return its rows."""
        import psycopg

        with psycopg.connect(
            f"host={self.folder} dbname=postgres user=tests", autocommit=True
        ) as connection:
            found = connection.execute(statement)
            return found.fetchall() if found.description else []

    def close(self):
        """Stop it, and remove its folder."""
        try:
            self.stop("immediate")
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)
