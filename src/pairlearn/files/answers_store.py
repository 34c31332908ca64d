"""The file in which `pairlearn label` keeps answers: how it was made at first.

It is an SQLite database with a log of events to which lines are only ever added: what
was asked and answered, and also what was taken back. The view `answers` shows the
answers that stand. :mod:`pairlearn.data.stored_answers` reads it,
:mod:`pairlearn.label.store` writes it.
"""

from __future__ import annotations

from pairlearn.data.stored_answers import (
    ANSWERS_SELECT,
    APPLICATION_ID,
    VERSION,
    StoreError,
    check_kind,
    damaged,
    open_read_only,
)

__all__ = ["ANSWERS_SELECT", "APPLICATION_ID", "SCHEMA", "VERSION", "StoreError"]
__all__ += ["check_kind", "damaged", "open_read_only"]

# Version 1. :mod:`pairlearn.label.migrations` begins with it, and leads on from there:
# what is to change is a step of its own there.
SCHEMA = f"""
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE events (
    number INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    who TEXT,
    kind TEXT NOT NULL,
    question INTEGER,
    request TEXT UNIQUE,
    body TEXT NOT NULL
);
CREATE INDEX events_of_question ON events (question, kind);
CREATE TABLE leases (
    question INTEGER PRIMARY KEY,
    who TEXT NOT NULL,
    page TEXT NOT NULL,
    until REAL NOT NULL
);
CREATE TRIGGER events_stay BEFORE UPDATE ON events
BEGIN SELECT raise(ABORT, 'events are never changed'); END;
CREATE TRIGGER events_remain BEFORE DELETE ON events
BEGIN SELECT raise(ABORT, 'events are never deleted'); END;
CREATE VIEW answers AS {ANSWERS_SELECT};
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = 1;
"""
