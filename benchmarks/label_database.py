"""Whether anything is lost when a team's database or one of its processes ends.

``python -m benchmarks.label_database`` starts PostgreSQL in a folder of its own and two
processes of `pairlearn label`, and lets 20 clients answer. In each round one process is
killed (kill -9), the database is restarted (as after a crash), and the process is
started again; the clients go on by themselves at the process that is there, as behind a
proxy. At the end every answer that was acknowledged must be in the database once.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.report import machine, publish, table
from tests.support.label_check import find_lost_and_doubled
from tests.support.label_kill import answer_at_two, n_saved
from tests.support.postgresql import PostgreSQL


def main() -> None:
    """Kill and restart, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--clients", type=int, default=20)
    parser.add_argument("--points", type=int, default=4000)
    parser.add_argument("--trial", action="store_true", help="write no table")
    options = parser.parse_args()
    server, begin = PostgreSQL(), time.perf_counter()

    def tell(what: str) -> None:
        print(f"{time.perf_counter() - begin:6.1f} s  {what}", flush=True)

    try:
        with tempfile.TemporaryDirectory() as folder:
            found = asyncio.run(
                answer_at_two(
                    Path(folder),
                    server,
                    n_clients=options.clients,
                    n_rounds=options.rounds,
                    n_points=options.points,
                    tell=tell,
                )
            )
        problems, n_answers = find_lost_and_doubled(found.answers, found.clients)
        ((version,),) = server.sql("SHOW server_version")
        deadlocks = (server.folder / "log").read_text().count("deadlock detected")
    finally:
        server.close()
    rows = [
        ["processes killed", f"{found.n_kills}"],
        ["restarts of the database", f"{options.rounds}"],
        ["answers acknowledged", f"{n_saved(found):,}"],
        ["answers in the database", f"{n_answers:,}"],
        ["lost, doubled or changed", f"{len(problems)}"],
        ["other errors", f"{len(found.errors)}"],
        ["deadlocks that the database saw", f"{deadlocks}"],
        ["requests that were told to try again (503)", f"{_told(found.clients):,}"],
    ]
    told = (
        f"{options.clients} clients answer as fast as they can at two processes that "
        "share a database, all on one machine, with starts, kills and restarts in the "
        f"time. PostgreSQL {version}; {machine('sqlalchemy', 'psycopg')}."
    )
    parts = [told, table(["what", "measured"], rows)]
    parts += ["\n".join(f"- {each}" for each in (problems + found.errors)[:20])]
    parts = [part for part in parts if part]
    if options.trial:
        print("\n\n".join(parts))
    else:
        publish("label_database", "A team's database, with kills and restarts", parts)
    sys.exit(bool(problems or found.errors or deadlocks))


def _told(clients: list) -> int:
    return sum(client.n_unavailable for client in clients)


if __name__ == "__main__":
    main()
