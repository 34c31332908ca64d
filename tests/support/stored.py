"""Files of answers, written event by event as `pairlearn label` writes them."""

import json
import sqlite3

import numpy as np

from pairlearn.files.answers_store import SCHEMA

__all__ = ["Events", "make_store"]


class Events:
    """A store that is open to write, as a server has it."""

    def __init__(self, path):
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.executescript(SCHEMA)

    @classmethod
    def again(cls, path):
        """Open a store that is there."""
        events = cls.__new__(cls)
        events.connection = sqlite3.connect(path, isolation_level=None)
        return events

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def add(self, kind, question=None, who=None, **body):
        """Add an event and return its number."""
        found = self.connection.execute(
            "INSERT INTO events (at, who, kind, question, body) VALUES (?, ?, ?, ?, ?)",
            ("2026-05-01T12:00:00.000Z", who, kind, question, json.dumps(body)),
        )
        return found.lastrowid

    def ask(self, number, *ids, purpose="learn", why="to learn most", rows=(0, 1)):
        """Ask about two points."""
        names = {"left_id": ids[0], "right_id": ids[1]}
        at = {"left": rows[0], "right": rows[1]}
        self.add("ask", number, **at, **names, purpose=purpose, why=why)

    def answer(self, number, said, who="Ann", kind="answer"):
        """Answer a question; return the number of the event."""
        return self.add(kind, number, who, said=said, seconds=1.5)

    def undo(self, number, event, who="Ann"):
        """Take an answer back."""
        self.add("undo", number, who, of=event, said=1)

    def learn(self):
        """Note that a model was learned."""
        figures = {"expected_error": 0.1, "n_audits": 0, "n_wrong": 0}
        self.add("learn", **figures, on_time=True, upto=0)


def make_store(path, truth, n_learn=60, n_audits=24, learn_every=0):
    """Write a store of right answers about points of two kinds.

    Parameters
    ----------
    path : Path
        Where.
    truth : dict
        The kind of each point, by its id.
    n_learn, n_audits : int
        How many answers there are of each purpose; no point is in an audit and in
        another pair.
    learn_every : int
        After how many answers a model is learned; 0: never.
    """
    names = np.random.default_rng(0).permutation(list(truth)).tolist()
    aside, others = names[: 2 * n_audits], names[2 * n_audits :]
    pairs = [(*aside[2 * k : 2 * k + 2], "audit") for k in range(n_audits)]
    rng = np.random.default_rng(1)
    pairs += [(*rng.choice(others, 2, replace=False), "learn") for _ in range(n_learn)]
    with Events(path) as events:
        for number, place in enumerate(rng.permutation(len(pairs)).tolist()):
            left, right, purpose = pairs[place]
            events.ask(number, str(left), str(right), purpose=purpose)
            events.answer(number, 1 if truth[left] == truth[right] else -1)
            if learn_every and number % learn_every == learn_every - 1:
                events.learn()
