"""Whether a file of answers holds what the server has acknowledged."""

import json
import sqlite3
from collections import Counter
from contextlib import closing

__all__ = ["find_lost_and_doubled"]

_WORDS = {1: "same", -1: "different", 0: "unsure"}


def find_lost_and_doubled(path, clients):
    """Return sentences about answers that are missing, changed or there twice.

    Parameters
    ----------
    path : Path
        The file, after the server has ended.
    clients : list of Client
        Those who answered.

    Returns
    -------
    problems : list of str
        Empty if every answer that was acknowledged is there once.
    n_answers : int
        How many answers the file holds.
    """
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute(
            "SELECT request, question, who, body FROM events "
            "WHERE kind IN ('answer', 'opinion')"
        ).fetchall()
        (state,) = connection.execute("PRAGMA integrity_check").fetchone()
    problems = [] if state == "ok" else [f"the file is damaged: {state}"]
    there = Counter(request for request, *_ in rows)
    content = {row[0]: (row[1], _WORDS[json.loads(row[3])["said"]]) for row in rows}
    for client in clients:
        for request, said in client.saved.items():
            if there[request] != 1:
                problems.append(f"answer {request} is there {there[request]} times")
            elif content[request] != said:
                problems.append(f"{said} became {content[request]}")
    # Sent and perhaps kept, but the reply was lost: at most one of each client.
    saved = {request for client in clients for request in client.saved}
    pending = {client.pending["id"] for client in clients if client.pending}
    strange = [request for request in there if request not in saved | pending]
    problems += [f"answer {request} was never acknowledged" for request in strange]
    by_person = Counter((question, who) for _, question, who, _ in rows)
    problems += [
        f"{who} answered question {question} {times} times"
        for (question, who), times in by_person.items()
        if times > 1
    ]
    return problems, len(rows)
