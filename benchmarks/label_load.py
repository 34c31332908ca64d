"""How fast `pairlearn label` is when many people answer at once.

``python -m benchmarks.label_load`` starts the real server on 20,000 points and lets 50
clients answer as fast as they can for two minutes, while it learns. When nothing is
left to ask it begins again with a new file of answers. It counts errors, and sees that
every answer that was acknowledged is in the file once.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.report import machine, publish, table
from tests.support.label_check import find_lost_and_doubled
from tests.support.label_client import Client, LostConnectionError
from tests.support.label_kill import write_points
from tests.support.label_server import LabelServer

# What the server, and its back room, import before they begin.
_IMPORTS = (
    "import pairlearn.cli.app, pairlearn.cli.labelling, pairlearn.label.back_room"
)


@dataclass
class Measured:
    """What was measured, over all files of answers.

    Attributes
    ----------
    seconds : list of float
        How long each "answer and next question" took.
    answering : float
        Seconds in which people answered.
    n_saved, n_files : int
        Answers that were acknowledged, and files that they are in.
    problems : list of str
        Errors, and answers that are lost or doubled.
    first : list of float
        Seconds from the start to the first question.
    ready : list of float
        Seconds from the start until the page can be opened.
    memory : dict
        The most memory of front and back room, in bytes.
    """

    seconds: list[float] = field(default_factory=list)
    answering: float = 0.0
    n_saved: int = 0
    n_files: int = 0
    problems: list[str] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    ready: list[float] = field(default_factory=list)
    memory: dict[str, int] = field(default_factory=dict)


def memory_of(number: int) -> int:
    """Return the share of memory that is a process's own, in bytes (Pss)."""
    try:
        lines = Path(f"/proc/{number}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))


async def watch(server: LabelServer, memory: dict[str, int]) -> None:
    """Keep the most memory that front and back room had."""
    while True:
        front, *others = server.processes()
        now = {"front": memory_of(front)}
        # Beside the back room there are its copies, which learn, and a small process
        # that multiprocessing needs.
        now["back room"] = max(map(memory_of, others), default=0)
        now["together"] = memory_of(front) + sum(map(memory_of, others))
        for name, size in now.items():
            memory[name] = max(memory.get(name, 0), size)
        await asyncio.sleep(1)


async def answer(client: Client, until: float) -> None:
    """Answer until the time is over, or nothing is left."""
    try:
        await client.enter()
        while not client.done and time.perf_counter() < until:
            await client.step()
    except LostConnectionError as problem:
        client.errors.append(f"the connection was lost: {problem}")
    finally:
        client.close()


async def first_question(link: str, begin: float) -> float:
    """Return how long it takes until somebody has a question before them."""
    client = Client(link, lambda *_: "unsure", ahead=1)
    await client.enter()
    while not client.have:
        await client.step()
    client.close()
    return time.perf_counter() - begin


async def one_file(
    folder: Path, kinds: np.ndarray, n_clients: int, most: float, found: Measured
) -> None:
    """Let people answer into one new file of answers."""
    found.n_files += 1
    path = folder / f"answers{found.n_files}.sqlite"
    names = ["Watcher", *(f"Person {k}" for k in range(n_clients))]
    begin = time.perf_counter()

    def said(left: int, right: int) -> str:
        return "same" if kinds[left] == kinds[right] else "different"

    server = LabelServer(folder / "points.csv", path, names, options=["--seed", "0"])
    with server:
        found.ready.append(time.perf_counter() - begin)
        found.first.append(await first_question(server.links[0], begin))
        at_first = sum(map(memory_of, server.processes()))
        name = "together at the first question"
        found.memory[name] = max(found.memory.get(name, 0), at_first)
        watcher = asyncio.create_task(watch(server, found.memory))
        clients = [Client(link, said) for link in server.links[1:]]
        start = time.perf_counter()
        await asyncio.gather(*(answer(client, start + most) for client in clients))
        found.answering += time.perf_counter() - start
        watcher.cancel()
        code = await asyncio.get_running_loop().run_in_executor(None, server.stop)
    if code:
        found.problems.append(f"the server ended with {code}: {''.join(server.said)}")
    problems, _ = find_lost_and_doubled(path, clients)
    found.problems += problems
    for client in clients:
        found.seconds += client.seconds
        found.n_saved += len(client.saved)
        found.problems += client.errors


def import_seconds() -> float:
    """Return how long imports alone take."""
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", _IMPORTS], check=True)  # noqa: S603 - ours
    return time.perf_counter() - begin


def main() -> None:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--points", type=int, default=20_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--trial", action="store_true", help="write no table")
    options = parser.parse_args()
    found = Measured()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kinds = write_points(folder / "points.csv", options.points, options.columns)
        size = (folder / "points.csv").stat().st_size
        imports = import_seconds()
        while found.answering < options.seconds:
            most = options.seconds - found.answering
            n_before = found.n_saved
            asyncio.run(one_file(folder, kinds, options.clients, most, found))
            if found.n_saved == n_before:
                found.problems.append("nobody could answer anything")
                break
    report(found, options, imports, size)
    sys.exit(bool(found.problems))


def report(
    found: Measured, options: argparse.Namespace, imports: float, size: int
) -> None:
    """Print the table, and keep it unless it was a trial."""
    took = 1000 * np.array(found.seconds or [np.nan])
    middle, late, last = np.percentile(took, [50, 95, 99])
    rows = [
        ["answers acknowledged", f"{found.n_saved:,}"],
        ["seconds of answering", f"{found.answering:.0f}"],
        ["requests per second", f"{len(found.seconds) / found.answering:.0f}"],
        ["answer and next question, median", f"{middle:.1f} ms"],
        ["the same, 95th percentile", f"{late:.1f} ms"],
        ["the same, 99th percentile", f"{last:.1f} ms"],
        ["the same, longest", f"{took.max():.0f} ms"],
        ["errors, lost or doubled answers", f"{len(found.problems)}"],
        ["start until the page can be opened", f"{max(found.ready):.1f} s"],
        ["start until the first question", f"{max(found.first):.1f} s"],
        ["imports alone", f"{imports:.1f} s"],
        *(
            [f"memory, {name}", f"{most / 1e6:.0f} MB"]
            for name, most in found.memory.items()
        ),
        ["the points, as CSV", f"{size / 1e6:.0f} MB"],
    ]
    told = (
        f"{options.points:,} points with {options.columns} columns; {options.clients} "
        f"clients on the same machine answer as fast as they can, each with a "
        f"connection of its own and four questions at hand, as in a browser, while "
        "models are learned. "
        f"{found.n_files} file(s) of answers, one after the other, as nothing is left "
        "to ask before the time is over. Memory is the largest Pss; of times at the "
        "start the longest. " + machine("starlette", "uvicorn") + "."
    )
    parts = [told, table(["what", "measured"], rows)]
    if found.problems:
        parts.append("\n".join(f"- {problem}" for problem in found.problems[:20]))
    if options.trial:
        print("\n\n".join(parts))
    else:
        publish("label_load", "Many people answer at once", parts)


if __name__ == "__main__":
    main()
