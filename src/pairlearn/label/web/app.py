"""The server as one application: every address, and what answers there."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException

from pairlearn.label.invitations import InvitationEnded
from pairlearn.label.values import Refused
from pairlearn.label.web.answering import Answering
from pairlearn.label.web.guard import Guard, Guarded
from pairlearn.label.web.inviting import Inviting
from pairlearn.label.web.owning import Owning
from pairlearn.label.web.places import ANYBODY, EVERYBODY, OWNER, place
from pairlearn.label.web.refusals import NotAllowed
from pairlearn.label.web.replies import error_reply
from pairlearn.label.web.room import Room
from pairlearn.label.web.static_files import StaticFiles

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp

    from pairlearn.label.desk import Desk
    from pairlearn.label.made_files import MadeFiles
    from pairlearn.label.things import Things

__all__ = ["make_app"]

_WORDS = {
    404: "there is nothing at this address",
    405: "this address is not for requests of this kind",
}


def make_app(
    desk: Desk,
    things: Things,
    guard: Guard,
    files: MadeFiles,
    *,
    letters: bool = True,
    static: StaticFiles | None = None,
) -> ASGIApp:
    """Return the application that serves the page.

    Parameters
    ----------
    desk : Desk
        Questions and answers; whoever runs the application opens and closes it.
    things : Things
        The points.
    guard : Guard
        Who may come in.
    files : MadeFiles
        What can be downloaded.
    letters : bool
        Whether single letters are keys, until somebody switches them off.
    static : StaticFiles, optional
        The files of the page.

    Returns
    -------
    ASGI application
    """
    room = Room(desk, things, guard, files, letters)
    answering, owning, inviting = Answering(room), Owning(room), Inviting(room)
    page = static or StaticFiles()

    async def index(request: Request) -> Response:
        return page.reply(request.scope, "index.html")

    async def part(request: Request) -> Response:
        return page.reply(request.scope, request.path_params["name"])

    async def refuse(request: Request, problem: Exception) -> Response:
        if isinstance(problem, NotAllowed | Refused):
            status, message = problem.status, str(problem)
        elif isinstance(problem, HTTPException):
            status = problem.status_code
            message = _WORDS.get(status, "this is not done here")
        else:
            raise problem
        guard.log.write(request.method, request.scope["path"], status, message)
        ended = isinstance(problem, InvitationEnded)
        return error_reply(message, status, ended=ended)

    async def fail(request: Request, problem: Exception) -> Response:
        logging.getLogger("pairlearn.label").error(
            "a request failed (%s)",
            ascii(request.scope["path"])[:200],
            exc_info=problem,
        )
        return error_reply("something went wrong here; see the terminal", 500)

    # The most frequent first: they are tried in this order.
    app = Starlette(
        routes=[
            place("POST", "/api/answers", answering.answers, ANYBODY),
            place("POST", "/api/questions", answering.questions, ANYBODY),
            place("POST", "/api/undo", answering.undo, ANYBODY),
            place("POST", "/api/edit", answering.edit, ANYBODY),
            place("POST", "/api/comment", answering.comment, ANYBODY),
            place("GET", "/api/hello", answering.hello, ANYBODY),
            place("POST", "/api/me", answering.me, ANYBODY),
            place("GET", "/api/history", answering.history, ANYBODY),
            place("GET", "/api/question/{number}", answering.question, ANYBODY),
            place("GET", "/api/cell/{row}/{column}", answering.cell, ANYBODY),
            place("GET", "/media/{row}/{column}", answering.media, ANYBODY),
            place("GET", "/api/progress", owning.progress, OWNER),
            place("POST", "/api/names", owning.names, OWNER),
            place("POST", "/api/files", owning.make, OWNER),
            place("GET", "/api/files", owning.states, OWNER),
            place("GET", "/files/{name}", owning.fetch, OWNER),
            place("GET", "/api/people", inviting.people, OWNER),
            place("POST", "/api/invite", inviting.invite, OWNER),
            place("POST", "/api/link", inviting.link, OWNER),
            place("POST", "/api/revoke", inviting.revoke, OWNER),
            place("GET", "/api/trail", inviting.trail, OWNER),
            place("GET", "/static/{name:path}", part, EVERYBODY),
            place("GET", "/", index, ANYBODY),
        ],
        exception_handlers={
            NotAllowed: refuse,
            Refused: refuse,
            HTTPException: refuse,
            Exception: fail,
        },
    )
    app.router.redirect_slashes = False
    return Guarded(app, guard)
