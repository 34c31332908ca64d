"""Statements that are compiled once, for what happens at every answer.

SQLAlchemy writes the SQL, for either database; each time it is executed, it would also
prepare for much that these few statements never need, which takes five times as long as
SQLite does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy.exc import DBAPIError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection

__all__ = ["Quick"]


class Quick:
    """Executes statements whose values are plain, and whose rows are taken as they are.

    Examples
    --------
    >>> from sqlalchemy import bindparam, create_engine, literal_column, select
    >>> quick, twice = Quick(), select(literal_column("2") * bindparam("n", type_=None))
    >>> with create_engine("sqlite://").connect() as connection:
    ...     quick(connection, twice, {"n": 21})
    [(42,)]
    """

    def __init__(self) -> None:
        # The statement stays, so that nothing else gets its id.
        self._known: dict[int, tuple[Any, str, list[str] | None, Any]] = {}

    def __call__(
        self,
        connection: Connection,
        statement: Any,
        values: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    ) -> list[tuple[Any, ...]]:
        """Execute a statement with values, or with several sets of them.

        Parameters
        ----------
        connection : sqlalchemy.Connection
            In a transaction; always one of the same kind of database.
        statement : sqlalchemy statement
            Without parts that depend on the values.
        values : dict or list of dict
            For each parameter its value.

        Returns
        -------
        list of tuple
            The rows; none if there are several sets of values.
        """
        if id(statement) not in self._known:
            compiled = statement.compile(dialect=connection.dialect)
            names = compiled.positiontup if compiled.positional else None
            own = {k: v for k, v in compiled.params.items() if v is not None}
            self._known[id(statement)] = statement, compiled.string, names, own
        _, sql, names, own = self._known[id(statement)]
        many = not isinstance(values, dict)
        sets: Any = values if many else [values]
        if own:
            sets = [own | each for each in sets]
        if names is not None:
            sets = [[each[name] for name in names] for each in sets]
        cursor = connection.connection.cursor()
        try:
            if many:
                cursor.executemany(sql, sets)
                return []
            cursor.execute(sql, sets[0])
            return list(cursor.fetchall()) if cursor.description else []
        except connection.dialect.loaded_dbapi.Error as problem:
            raise self._told(connection, sql, problem, cursor) from problem
        finally:
            cursor.close()

    def _told(
        self, connection: Connection, sql: str, problem: Any, cursor: Any
    ) -> BaseException:
        """Return a problem as SQLAlchemy tells it; whether the connection is lost."""
        dialect = connection.dialect
        raw = connection.connection.dbapi_connection
        told: BaseException = DBAPIError.instance(
            sql,
            None,
            problem,
            dialect.loaded_dbapi.Error,
            hide_parameters=True,
            connection_invalidated=dialect.is_disconnect(problem, raw, cursor),
            dialect=dialect,
        )
        return told
