"""Whether a file of answers holds what the server has acknowledged."""

import json
from collections import Counter

from pairlearn.data.databases import is_address
from tests.support.databases import execute

__all__ = ["find_lost_and_doubled"]

_WORDS = {1: "same", -1: "different", 0: "unsure"}


def find_lost_and_doubled(where, clients):
    """Return sentences about answers that are missing, changed or there twice.

    Parameters
    ----------
    where : Path or str
        The file, after the server has ended, or the address of the database.
    clients : list of Client
        Those who answered.

    Returns
    -------
    problems : list of str
        Empty if every answer that was acknowledged is there once.
    n_answers : int
        How many answers the file holds.
    """
    rows = execute(
        where,
        "SELECT request, question, who, body FROM events "
        "WHERE kind IN ('answer', 'opinion') ORDER BY number",
    )
    problems = []
    if not is_address(where):
        ((state,),) = execute(where, "PRAGMA integrity_check")
        problems = [] if state == "ok" else [f"the file is damaged: {state}"]
    numbers = [n for (n,) in execute(where, "SELECT number FROM events ORDER BY 1")]
    if numbers != list(range(1, len(numbers) + 1)):
        problems.append("the numbers of the events have gaps")
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
