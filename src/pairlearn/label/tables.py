"""The tables in which answers are kept, as SQLAlchemy knows them.

They are made by :mod:`pairlearn.label.migrations`; here is what statements need. Bodies
are text that holds JSON, which both databases keep letter by letter.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    MetaData,
    Table,
    Text,
)

__all__ = ["EVENTS", "FACTS", "LEASES", "WISHES"]

_ALL = MetaData()

# What happened. Lines are only ever added, and triggers see to that.
EVENTS = Table(
    "events",
    _ALL,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("at", Text, nullable=False),
    Column("who", Text),
    Column("kind", Text, nullable=False),
    Column("question", BigInteger),
    Column("request", Text, unique=True),
    Column("body", Text, nullable=False),
)
# What else is kept, as JSON.
FACTS = Table(
    "facts",
    _ALL,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
)
# The questions that can be given out, and those that are on a page. `until` is 0 for
# one that nobody has, and `taken` is empty for one that nobody ever had. One that is
# not open was answered by somebody else, and stays on the page that it is on.
LEASES = Table(
    "leases",
    _ALL,
    Column("question", BigInteger, primary_key=True, autoincrement=False),
    Column("who", Text, nullable=False),
    Column("page", Text, nullable=False),
    Column("until", Float, nullable=False),
    Column("taken", Float),
    Column("is_open", Boolean(create_constraint=False), nullable=False),
)
# Who waits for questions at a process that does not choose them, since when, and up to
# which of these times there was nothing.
WISHES = Table(
    "wishes",
    _ALL,
    Column("who", Text, primary_key=True),
    Column("wished", Float, nullable=False),
    Column("in_vain", Float, nullable=False),
)
