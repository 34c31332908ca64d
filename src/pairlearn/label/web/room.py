"""What the parts of the server share, and who is asking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pairlearn.label.values import Person
from pairlearn.label.web.bodies import checked, json_body
from pairlearn.label.web.guard import ticket_of
from pairlearn.label.web.refusals import NotAllowed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request

    from pairlearn.label.desk import Desk
    from pairlearn.label.made_files import MadeFiles
    from pairlearn.label.things import Things
    from pairlearn.label.web.bodies import Field
    from pairlearn.label.web.guard import Guard

__all__ = ["Room", "body_of", "number_in", "person_of"]

_LARGEST = 2**53


@dataclass(frozen=True)
class Room:
    """What requests are answered from.

    Attributes
    ----------
    desk : Desk
        Questions and answers.
    things : Things
        The points.
    guard : Guard
        Tokens and cookies.
    files : MadeFiles
        What can be downloaded.
    letters : bool
        Whether single letters are keys, until somebody switches them off.
    """

    desk: Desk
    things: Things
    guard: Guard
    files: MadeFiles
    letters: bool = True


def person_of(request: Request) -> Person:
    """Return who asks; without a name nobody can be asked."""
    ticket = ticket_of(request.scope)
    if ticket.name is None:
        raise NotAllowed("say your name first", 409)
    return Person(ticket.name, ticket.owner, ticket.invitation)


async def body_of(request: Request, fields: Mapping[str, Field]) -> dict[str, Any]:
    """Return the body of a request, checked."""
    body: dict[str, Any] = checked(
        await json_body(request.scope, request.receive), fields
    )
    return body


def number_in(request: Request, name: str) -> int:
    """Return a whole number that is a part of the path."""
    said = str(request.path_params[name])
    # Not by isdigit alone, which also knows digits of other scripts.
    if not (said.isascii() and said.isdigit() and len(said) <= 16):
        raise NotAllowed("there is no such thing", 404)
    return min(int(said), _LARGEST)
