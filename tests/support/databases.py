"""What is in a file or a database of answers, by statements of SQL."""

import sqlite3
from contextlib import closing

from pairlearn.data.databases import is_address, make_engine

__all__ = ["execute"]


def execute(where, statement):
    """Execute a statement at a file or an address, and return its rows."""
    if is_address(where):
        engine = make_engine(where)
        with engine.begin() as connection:
            found = connection.exec_driver_sql(statement)
            return [tuple(row) for row in found] if found.returns_rows else []
    with closing(sqlite3.connect(where, isolation_level=None)) as connection:
        return connection.execute(statement).fetchall()
