"""Version 1: the log of events, facts, and what is on which page."""

from __future__ import annotations

import sqlite3

from alembic import op

from pairlearn.files.answers_store import SCHEMA

revision, down_revision = "1", None

# As SCHEMA has it for SQLite. Events are refused to be changed, also all at once.
_POSTGRESQL = """
CREATE TABLE facts (name text PRIMARY KEY, value text NOT NULL);
CREATE TABLE events (
    number bigint PRIMARY KEY,
    at text NOT NULL,
    who text,
    kind text NOT NULL,
    question bigint,
    request text UNIQUE,
    body text NOT NULL
);
CREATE INDEX events_of_question ON events (question, kind);
CREATE TABLE leases (
    question bigint PRIMARY KEY,
    who text NOT NULL,
    page text NOT NULL,
    until double precision NOT NULL
);
CREATE FUNCTION events_stay() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'events are never changed or deleted'; END $$;
CREATE TRIGGER events_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON events
    FOR EACH STATEMENT EXECUTE FUNCTION events_stay();
CREATE VIEW answers AS
SELECT
    said.question AS question,
    asked.body::json ->> 'left_id' AS left,
    asked.body::json ->> 'right_id' AS right,
    CASE said.body::json ->> 'said'
        WHEN '1' THEN 'same' WHEN '-1' THEN 'different' ELSE 'unsure' END AS answer,
    said.who AS annotator,
    said.at AS time,
    (SELECT nullif(remark.body::json ->> 'text', '') FROM events AS remark
     WHERE remark.question = said.question AND remark.kind = 'comment'
     AND coalesce(remark.body::json ->> 'to', remark.who)
        IS NOT DISTINCT FROM said.who
     ORDER BY remark.number DESC LIMIT 1) AS comment,
    asked.body::json ->> 'purpose' AS purpose,
    asked.body::json ->> 'why' AS why
FROM events AS said
JOIN events AS asked ON asked.question = said.question AND asked.kind = 'ask'
WHERE said.kind IN ('answer', 'opinion') AND NOT EXISTS (
    SELECT 1 FROM events AS undone
    WHERE undone.question = said.question AND undone.kind = 'undo'
    AND undone.number > said.number
    AND coalesce((undone.body::json ->> 'of')::bigint, said.number) = said.number)
ORDER BY (said.kind = 'opinion'), said.number
"""


def upgrade() -> None:
    """Make the tables."""
    connection = op.get_bind()
    if connection.dialect.name != "sqlite":
        connection.exec_driver_sql(_POSTGRESQL)
        return
    statement = ""
    for line in SCHEMA.splitlines():
        statement += f"{line}\n"
        # A trigger has statements inside.
        if sqlite3.complete_statement(statement):
            connection.exec_driver_sql(statement)
            statement = ""
