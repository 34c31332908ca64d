"""Addresses of the server, each with the role that it is for.

There is no address without a role: who adds one has to say whom it is for, and that is
checked here, before anything else is looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.routing import Route

from pairlearn.label.web.guard import ticket_of
from pairlearn.label.web.refusals import NotAllowed

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request
    from starlette.types import ASGIApp

__all__ = ["ANYBODY", "EVERYBODY", "OWNER", "Place", "place"]

# Also those who are not known; those who have a link; those whose link is an owner's.
EVERYBODY, ANYBODY, OWNER = "everybody", "anybody", "owner"


class Place(Route):
    """An address, and whom it is for.

    Attributes
    ----------
    role : {"everybody", "anybody", "owner"}
        Who may ask for it.
    """

    role: str


def place(
    method: str, path: str, reply: Callable[[Request], Awaitable[ASGIApp]], role: str
) -> Place:
    """Return an address.

    Parameters
    ----------
    method : {"GET", "POST"}
        How it is asked for.
    path : str
        The address, with names of parts in braces.
    reply : callable
        Makes the response.
    role : {"everybody", "anybody", "owner"}
        Who may ask for it; the guard has found out who it is.

    Returns
    -------
    Place
    """
    if role not in (EVERYBODY, ANYBODY, OWNER):
        raise ValueError(f"{path} is for {role!r}, which is no role")

    async def answer(request: Request) -> ASGIApp:
        if role != EVERYBODY:
            ticket = ticket_of(request.scope)
            if role == OWNER and not ticket.owner:
                raise NotAllowed("this is for the owners of the page", 403)
        return await reply(request)

    made = Place(path, answer, methods=[method])
    made.role = role
    return made
