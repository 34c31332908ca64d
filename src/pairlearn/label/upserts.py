"""Rows that are written whether they are there or not, in both databases."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from sqlalchemy.dialects import postgresql, sqlite

if TYPE_CHECKING:
    from sqlalchemy import Table

__all__ = ["upsert"]


@cache
def upsert(table: Table, key: str, dialect: str) -> Any:
    """Return the statement that writes a row, in place of one with the same key.

    Parameters
    ----------
    table : sqlalchemy.Table
        Where to.
    key : str
        The column by which a row is known.
    dialect : {"sqlite", "postgresql"}
        The kind of database.

    Returns
    -------
    sqlalchemy.Insert
    """
    insert = (sqlite if dialect == "sqlite" else postgresql).insert(table)
    others = {c.name: insert.excluded[c.name] for c in table.c if c.name != key}
    return insert.on_conflict_do_update(index_elements=[key], set_=others)
