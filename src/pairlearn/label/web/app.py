"""The server as one application: every address, and what answers there."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Route

from pairlearn.label.values import Refused
from pairlearn.label.web.answering import Answering
from pairlearn.label.web.guard import Guard, Guarded
from pairlearn.label.web.owning import Owning
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
    answering, owning = Answering(room), Owning(room)
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
        return error_reply(message, status)

    async def fail(request: Request, problem: Exception) -> Response:
        logging.getLogger("pairlearn.label").error(
            "a request failed (%s)",
            ascii(request.scope["path"])[:200],
            exc_info=problem,
        )
        return error_reply("something went wrong here; see the terminal", 500)

    get, post = ["GET"], ["POST"]
    # The most frequent first: they are tried in this order.
    app = Starlette(
        routes=[
            Route("/api/answers", answering.answers, methods=post),
            Route("/api/questions", answering.questions, methods=post),
            Route("/api/undo", answering.undo, methods=post),
            Route("/api/edit", answering.edit, methods=post),
            Route("/api/comment", answering.comment, methods=post),
            Route("/api/hello", answering.hello, methods=get),
            Route("/api/me", answering.me, methods=post),
            Route("/api/history", answering.history, methods=get),
            Route("/api/question/{number}", answering.question, methods=get),
            Route("/api/cell/{row}/{column}", answering.cell, methods=get),
            Route("/media/{row}/{column}", answering.media, methods=get),
            Route("/api/progress", owning.progress, methods=get),
            Route("/api/names", owning.names, methods=post),
            Route("/api/files", owning.make, methods=post),
            Route("/api/files", owning.states, methods=get),
            Route("/api/invite", owning.invite, methods=post),
            Route("/files/{name}", owning.fetch, methods=get),
            Route("/static/{name:path}", part, methods=get),
            Route("/", index, methods=get),
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
