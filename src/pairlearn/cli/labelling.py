"""`pairlearn label`: from a table of points to a page on which people answer."""

from __future__ import annotations

import asyncio
import logging
import os
import shlex
import sys
import threading
import webbrowser
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pairlearn.cli.printing import Progress, say, show_notes
from pairlearn.data.databases import called
from pairlearn.files.tables.errors import TableError
from pairlearn.files.tables.points import read_points
from pairlearn.label.desk import Desk, Refused
from pairlearn.label.made_files import MadeFiles, fit_options
from pairlearn.label.same_points import mark_of_ids, other_points
from pairlearn.label.things import Things
from pairlearn.label.web.addresses import Addresses, is_loopback
from pairlearn.label.web.app import make_app
from pairlearn.label.web.guard import Guard
from pairlearn.label.web.serving import Server, listen, new_loop
from pairlearn.label.web.tickets import Tickets

if TYPE_CHECKING:
    from pairlearn.files.tables.points import Points
    from pairlearn.label.invitations import Invitation

__all__ = ["Wanted", "label_points", "notes_on_columns"]

# So many columns are named in a note.
_LISTED = 6


@dataclass(frozen=True)
class Wanted:
    """What was asked for on the command line.

    Attributes
    ----------
    points : Path
        The table of points.
    answers : Path or str
        Where answers are kept: a file, or the address of a database.
    given : dict
        Settings of the interview that were given.
    name : str or None
        The name of whoever started it.
    invite : tuple of str
        Whom to print links for.
    host : str
        The address to listen at.
    port : int
        The port; 0: that of last time, or any.
    allow_host : tuple of str
        Other names of the server.
    behind_proxy : bool
        Whether a proxy stands before it.
    browser : bool
        Whether to open a browser.
    new_links : bool
        Whether all links from before are to be made invalid.
    """

    points: Path
    answers: Path | str
    given: dict[str, Any] = field(default_factory=dict)
    name: str | None = None
    invite: tuple[str, ...] = ()
    host: str = "127.0.0.1"
    port: int = 0
    allow_host: tuple[str, ...] = ()
    behind_proxy: bool = False
    browser: bool = True
    new_links: bool = False


def label_points(wanted: Wanted) -> None:
    """Serve the page until somebody ends it.

    Parameters
    ----------
    wanted : Wanted
        What was asked for.

    Raises
    ------
    TableError, OptionError, StoreError
        If it cannot be done, with the reason.
    """
    # Refused before anything is made.
    Addresses(wanted.host, wanted.port, wanted.allow_host)
    if not isinstance(wanted.answers, Path) or not wanted.answers.exists():
        listen(wanted.host, wanted.port).close()
    with Progress() as progress:
        progress.step("reading the points")
        points, things = _read(wanted)
    show_notes(points.table.notes + points.notes + notes_on_columns(things), error=True)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
    logger = logging.getLogger("pairlearn.label")
    logger.addHandler(handler)
    logger.propagate = False
    try:
        with asyncio.Runner(loop_factory=new_loop) as runner:
            runner.run(_serve(wanted, points, things))
    finally:
        logger.removeHandler(handler)


def _read(wanted: Wanted) -> tuple[Points, Things]:
    points = read_points(
        wanted.points,
        wanted.given.get("id"),
        first_row=wanted.given.get("first_row"),
        delimiter=wanted.given.get("delimiter"),
        embed=wanted.given.get("embed"),
    )
    if len(points) < 2:
        raise TableError(f"{wanted.points.name} holds one point; a question needs two")
    return points, Things(points, wanted.points)


def notes_on_columns(things: Things) -> list[str]:
    """Tell which columns people see and the model does not.

    Parameters
    ----------
    things : Things
        The points as the page shows them.

    Returns
    -------
    list of str
        Sentences; none if the model sees every column.
    """
    names = [column.name for column in things.columns if column.unlearned]
    if not names:
        return []
    listed = ", ".join(map(repr, names[:_LISTED]))
    if len(names) > _LISTED:
        listed += f" and {len(names) - _LISTED:,} more"
    note = (
        f"shown on the page, but nothing is learned from: {listed}. A model learns "
        "from numbers, dates, categories, texts of several words and images; for "
        "sounds add columns of numbers that describe them"
    )
    return [note]


async def _serve(wanted: Wanted, points: Points, things: Things) -> None:
    desk = Desk(wanted.answers, wanted.points, wanted.given, words=things.words)
    shared = not isinstance(wanted.answers, Path)
    await desk.open()
    files = None
    try:
        # The whole table is compared in the other process; one of other ids is told
        # before a browser opens.
        mark = desk.fact("points")
        if mark is not None and not mark.endswith(mark_of_ids(things.ids)):
            raise TableError(other_points(wanted.points.name, wanted.answers))
        new = desk.fact("secret") is None
        # Asked before: what another server changes in between is not overlooked.
        renewed_at = (await desk.invitations()).renewed
        tickets = await _tickets(desk, wanted)
        # Of several processes each has a port of its own.
        before = None if shared else desk.fact("port")
        sock = listen(wanted.host, wanted.port, before)
        port = sock.getsockname()[1]
        if not shared and port != before:
            await desk.keep_fact("port", port)
        scheme = "https" if wanted.behind_proxy and wanted.allow_host else "http"
        addresses = Addresses(wanted.host, port, wanted.allow_host, scheme)

        async def renewed() -> Tickets:
            """Return tickets for links that another server of ours has made anew."""
            return Tickets(await desk.secret(), wanted.name, project=tickets.project)

        guard = Guard(
            tickets,
            addresses,
            behind_proxy=wanted.behind_proxy,
            invitations=desk.invitations,
            renewed=renewed,
            renewed_at=renewed_at,
        )
        invited = [await desk.members.link_for(wanted.name, n) for n in wanted.invite]
        options = fit_options(desk.settings, points.first_row)
        files = MadeFiles(
            wanted.points,
            wanted.answers,
            options,
            id_column=points.id_column,
            known=desk.for_files,
        )
        app = make_app(desk, things, guard, files)

        def greet() -> None:
            _greet(wanted, guard, invited, new=new)

        server = Server(app, guard.log, greet)
        trouble: list[str] = []
        watch = asyncio.create_task(_watch(desk, server, trouble))
        try:
            await server.serve(sockets=[sock])
        finally:
            watch.cancel()
            sock.close()
        guard.log.tell_silent()
        if trouble:
            raise TableError(trouble[0])
        n_answers = sum((await desk.progress())["answers"].values())
    finally:
        if files is not None:
            await files.close()
        await desk.close()
    _take_leave(wanted, n_answers, options)


async def _tickets(desk: Desk, wanted: Wanted) -> Tickets:
    """Return what makes and checks links; new ones, if that is wanted."""
    secret = await desk.secret()
    # Answers that wait in a browser are known by it, and outlive new links.
    project = desk.fact("project") or Tickets(secret).project
    if wanted.new_links:
        await desk.keep_fact("project", project)
        secret = await desk.secret(wanted.name, new=True)
    return Tickets(secret, wanted.name, project=project)


def _kept_in(wanted: Wanted) -> str:
    """Return where answers are kept, without a password."""
    answers = wanted.answers
    return str(answers) if isinstance(answers, Path) else called(answers)


async def _watch(desk: Desk, server: Server, trouble: list[str]) -> None:
    """End the server if no questions can be chosen at all."""
    try:
        await desk.ready()
    except Refused as problem:
        trouble.append(str(problem))
        server.stop()


def _greet(
    wanted: Wanted, guard: Guard, invited: list[Invitation], *, new: bool
) -> None:
    """Tell where the page is, and open it."""
    tickets, addresses = guard.tickets, guard.addresses
    say("The page is ready. It opens with this link, which is for you alone:")
    say(f"  {addresses.link(tickets.owner_token)}", style="bold")
    for each in invited:
        say(f"Link for {each.name}:")
        say(f"  {addresses.link(tickets.invitation(each.id, each.name))}", style="bold")
    if wanted.invite and addresses.here_only:
        say("These links work on this machine only; see --host in the help.")
    kept = "Answers are kept in" if new else "The answers so far are continued in"
    say(f"{kept} {_kept_in(wanted)}.")
    if wanted.new_links and not new:
        say("All links from before are invalid now; give people new ones.")
    if not is_loopback(wanted.host):
        say(
            f"Warning: the server listens at {wanted.host}, where other machines can "
            "reach it, and what is sent is not encrypted: whoever can read along on "
            "the network sees the points, the answers and the links. Use a network "
            "that you trust, or a proxy that encrypts. Each link is for one person: "
            "give everybody one of their own (--invite, or on the page), and yours to "
            "nobody.",
            error=True,
        )
    say("Press Ctrl+C here to stop; the same command goes on later.")
    sys.stdout.flush()
    if wanted.browser and _has_screen():
        local = f"http://127.0.0.1:{addresses.port}" if _reaches(wanted.host) else None
        link = addresses.link(guard.token_for_once(), local)
        threading.Thread(target=_open, args=(link,), daemon=True).start()


def _reaches(host: str) -> bool:
    """Tell whether the server also listens at 127.0.0.1."""
    return host in ("127.0.0.1", "localhost", "0.0.0.0")  # noqa: S104 - compared only


def _has_screen() -> bool:
    """Tell whether a browser would get a window, and not this terminal."""
    if sys.platform in ("win32", "darwin", "cygwin"):
        return True
    return any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    )


def _open(link: str) -> None:
    with suppress(Exception):  # the link stands on the terminal
        webbrowser.open(link)


def _take_leave(wanted: Wanted, n_answers: int, options: list[str]) -> None:
    """Tell what there is now, and how to go on."""
    many = "1 answer is" if n_answers == 1 else f"{n_answers:,} answers are"
    say(f"Stopped. {many} kept in {_kept_in(wanted)}.")
    if n_answers:
        files = [str(wanted.points), _kept_in(wanted)]
        words = ["pairlearn", "fit", *files, "-o", "model.skops", *options]
        say(f"To make a model of them: {shlex.join(words)}")
