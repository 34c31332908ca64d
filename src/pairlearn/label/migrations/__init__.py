"""How the tables came to be, step by step, and the way from any version to this one.

Each file in `versions` is a step of Alembic. Its name of the version is a number, the
same that an SQLite file keeps as its `user_version`. Files that were written before
there were steps are of version 1.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import inspect

from pairlearn.data.stored_answers import VERSION, newer, not_ours

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["upgrade"]

# Not Alembic's usual name: the database may hold what somebody else made with it.
_TABLE = "pairlearn_version"
_OURS = ("events", "facts", "leases", "wishes", "answers")


def upgrade(connection: Connection, name: str) -> None:
    """Bring the tables of a database to this version, within its transaction.

    Parameters
    ----------
    connection : sqlalchemy.Connection
        In a transaction, and nobody else does the same meanwhile.
    name : str
        Of the file or database, for messages.

    Raises
    ------
    StoreError
        If the tables are those of a newer version, or of somebody else.
    """
    found = _version(connection)
    if found == VERSION:
        return
    if found is not None and found > VERSION:
        raise newer(name, found)
    if found is None:
        known = inspect(connection)
        there = {*known.get_table_names(), *known.get_view_names()}
        if there & set(_OURS):
            raise not_ours(name)
    _run(connection, found)


def _version(connection: Connection) -> int | None:
    """Return the version of the tables; None if there are none of ours."""
    if connection.dialect.name == "sqlite":
        kept = connection.exec_driver_sql("PRAGMA user_version").scalar()
        return int(kept or 0) or None
    if not inspect(connection).has_table(_TABLE):
        return None
    found = connection.exec_driver_sql(f"SELECT version_num FROM {_TABLE}").scalar()  # noqa: S608 - a name of ours
    return None if found is None else int(found)


def _run(connection: Connection, before: int | None) -> None:
    # Only where there is something to do: Alembic takes a while to import.
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext
    from alembic.script import ScriptDirectory

    script = ScriptDirectory(str(Path(__file__).parent))

    def steps(_: Any, __: Any) -> Any:
        return script._upgrade_revs("head", str(before) if before else "base")

    with EnvironmentContext(Config(), script, fn=steps) as context:
        context.configure(
            connection=connection, version_table=_TABLE, transactional_ddl=True
        )
        migration = context.get_context()
        if before is not None and not migration.get_current_heads():
            migration.stamp(script, str(before))
        context.run_migrations()
