"""Ten people answer while the server is killed, again and again."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tests.support.label_client import Client, LostConnectionError
from tests.support.label_server import LabelServer

__all__ = ["Killed", "answer_and_kill", "answer_at_two", "go_on", "n_saved"]
__all__ += ["write_points"]

N_CLIENTS = 10
# Answers from one kill to the next, at least and at most.
LEAST, MOST = 15, 60


@dataclass
class Killed:
    """What became of it.

    Attributes
    ----------
    answers : Path
        The file of answers.
    clients : list of Client
        Those who answered, each with `n_lost`: how often the server went away.
    wanted : int
        How many answers were to be acknowledged.
    n_kills : int
        How often the server was killed.
    errors : list of str
        What was refused.
    """

    answers: Path
    clients: list = field(default_factory=list)
    wanted: int = 0
    n_kills: int = 0
    errors: list = field(default_factory=list)


def write_points(path, n_points, n_columns, seed=0):
    """Write points of two kinds, and return the kinds by row."""
    rng = np.random.default_rng(seed)
    kinds = rng.integers(2, size=n_points)
    X = rng.normal(size=(n_points, n_columns)) + 2 * kinds[:, None]
    names = ",".join(["id", *(f"x{k}" for k in range(n_columns))])
    rows = (
        f"p{row}," + ",".join(f"{value:.4f}" for value in values)
        for row, values in enumerate(X.tolist())
    )
    path.write_text("\n".join([names, *rows]) + "\n")
    return kinds


async def answer_and_kill(folder, n_kills, seed=0, n_points=600, tell=lambda _: None):
    """Let people answer, and kill the server at random moments.

    Parameters
    ----------
    folder : Path
        Where to write points and answers.
    n_kills : int
        How often it is killed.
    seed : int
        Seed of the moments.
    n_points : int
        How many points there are.
    tell : callable
        Told after each kill.

    Returns
    -------
    Killed
    """
    rng = np.random.default_rng(seed)
    kinds = write_points(folder / "points.csv", n_points, 4)

    def said(left, right):
        return "same" if kinds[left] == kinds[right] else "different"

    names = [f"Person {k}" for k in range(N_CLIENTS)]
    found = Killed(folder / "answers.sqlite")
    server = LabelServer(folder / "points.csv", found.answers, names)
    loop = asyncio.get_running_loop()
    with server:
        found.clients = [Client(link, said) for link in server.links]
        people = [asyncio.create_task(go_on(client)) for client in found.clients]
        try:
            for _ in range(n_kills):
                found.wanted += int(rng.integers(LEAST, MOST))
                await _until(found, people)
                # At no special moment of what the server is doing.
                await asyncio.sleep(rng.random() * 0.02)
                await loop.run_in_executor(None, server.kill)
                found.n_kills += 1
                tell(f"kill {found.n_kills}: {n_saved(found)} answers acknowledged")
                await loop.run_in_executor(None, server.start)
            found.wanted += MOST
            await _until(found, people)
        finally:
            for person in people:
                person.cancel()
            await asyncio.gather(*people, return_exceptions=True)
            for client in found.clients:
                client.close()
        code = await loop.run_in_executor(None, server.stop)
    found.errors = [error for client in found.clients for error in client.errors]
    n_refused = sum(client.n_unavailable for client in found.clients)
    if n_refused:
        found.errors.append(f"{n_refused} requests could not be kept")
    if code != 0:
        found.errors.append(f"the server ended with {code}: {''.join(server.said)}")
    return found


def n_saved(found):
    """Return how many answers were acknowledged."""
    return sum(len(client.saved) for client in found.clients)


async def go_on(client, servers=()):
    """Answer until there is nothing left, whatever becomes of the servers.

    With several, a client whose connection is lost goes on at the next one.
    """
    client.n_lost = 0
    while not client.done:
        try:
            if client.cookie is None:
                await client.enter()
            await client.step()
        except LostConnectionError:
            client.n_lost += 1
            if servers:
                ports = [server.port for server in servers]
                place = ports.index(client.port) if client.port in ports else 0
                client.go_to(ports[(place + 1) % len(ports)])
            await asyncio.sleep(0.1)


async def answer_at_two(
    folder, postgresql, *, n_clients=20, n_rounds=1, n_points=1500, tell=lambda _: None
):
    """Let people answer at two processes; end one of them, and restart the database.

    Parameters
    ----------
    folder : Path
        Where to write points.
    postgresql : PostgreSQL
        A server whose database is restarted.
    n_clients : int
        How many people answer, each with a page at one of the processes.
    n_rounds : int
        How often a process is killed, and the database restarted; the one and the
        other process in turn, and it is started again before the next round.
    n_points : int
        How many points there are.
    tell : callable
        Told what happens.

    Returns
    -------
    Killed
        Its answers are the address of the database.
    """
    kinds = write_points(folder / "points.csv", n_points, 4)

    def said(left, right):
        return "same" if kinds[left] == kinds[right] else "different"

    names = [f"Person {k}" for k in range(n_clients)]
    found = Killed(postgresql.make_database())
    loop = asyncio.get_running_loop()
    one = LabelServer(folder / "points.csv", found.answers, names)
    two = LabelServer(folder / "points.csv", found.answers)
    servers = one, two

    async def settle(what, n_answers=4 * n_clients):
        """Wait until people went on, wherever they are."""
        found.wanted = n_saved(found) + n_answers
        tell(f"{what}: {n_saved(found)} answers acknowledged")
        await _until(found, people)

    with one, two:
        links = [link.replace(f":{one.port}/", ":PORT/") for link in one.links]
        found.clients = [
            Client(link.replace("PORT", str(servers[k % 2].port)), said)
            for k, link in enumerate(links)
        ]
        people = [
            asyncio.create_task(go_on(client, servers)) for client in found.clients
        ]
        try:
            await settle("both processes answer")
            for number in range(n_rounds):
                # At first the trainer: the other one has to take over.
                server = servers[number % 2]
                await loop.run_in_executor(None, server.kill)
                found.n_kills += 1
                await settle("one process was killed")
                await loop.run_in_executor(None, postgresql.restart, 0.3)
                await settle("the database was restarted")
                if number + 1 < n_rounds:
                    await loop.run_in_executor(None, server.start)
                    await settle("the process was started again")
        finally:
            for person in people:
                person.cancel()
            await asyncio.gather(*people, return_exceptions=True)
            for client in found.clients:
                client.close()
        for server in servers:
            if server.process.poll() is not None:
                continue  # it was killed
            code = await loop.run_in_executor(None, server.stop)
            if code != 0:
                found.errors.append(f"a process ended with {code}: {server.said}")
    found.errors += [error for client in found.clients for error in client.errors]
    return found


async def _until(found, people):
    """Wait until so many answers are acknowledged as are wanted."""
    while n_saved(found) < found.wanted:
        ended = [person for person in people if person.done()]
        for person in ended:
            person.result()  # raises what went wrong
        if len(ended) == len(people):
            raise RuntimeError("nothing is left to answer; give more points")
        await asyncio.sleep(0.002)
