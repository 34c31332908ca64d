"""What the parts of the server share, and who is asking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pairlearn.label.values import Person
from pairlearn.label.web.guard import ticket_of
from pairlearn.label.web.refusals import NotAllowed

if TYPE_CHECKING:
    from starlette.requests import Request

    from pairlearn.label.desk import Desk
    from pairlearn.label.made_files import MadeFiles
    from pairlearn.label.things import Things
    from pairlearn.label.web.guard import Guard

__all__ = ["Room", "number_in", "owner_of", "person_of"]

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
    return Person(ticket.name, ticket.owner)


def owner_of(request: Request) -> None:
    """Refuse everybody but whoever started the server."""
    if not ticket_of(request.scope).owner:
        raise NotAllowed("this is for whoever started the server", 403)


def number_in(request: Request, name: str) -> int:
    """Return a whole number that is a part of the path."""
    said = str(request.path_params[name])
    # Not by isdigit alone, which also knows digits of other scripts.
    if not (said.isascii() and said.isdigit() and len(said) <= 16):
        raise NotAllowed("there is no such thing", 404)
    return min(int(said), _LARGEST)
