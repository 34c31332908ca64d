"""What owners ask about people: who has which link, new links, and who did what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pairlearn.label.invitations import ROLES
from pairlearn.label.web.bodies import Field, mark, maybe, one_of, text
from pairlearn.label.web.guard import ticket_of
from pairlearn.label.web.queries import query_of, span
from pairlearn.label.web.refusals import NotAllowed
from pairlearn.label.web.replies import JSONReply, to_json
from pairlearn.label.web.room import body_of
from pairlearn.label.web.tickets import LONGEST_NAME, proper_name

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from pairlearn.label.invitations import Invitation
    from pairlearn.label.members import Members
    from pairlearn.label.web.room import Room

__all__ = ["Inviting"]

_MOST_LINES = 200
_NAME = Field(text(4 * LONGEST_NAME))
_INVITE = {
    "name": _NAME,
    "role": Field(maybe(one_of(*ROLES)), needed=False),
    "id": Field(maybe(mark), needed=False),
}
_REVOKE = {"id": Field(mark), "invitation": Field(maybe(mark)), "name": _NAME}
_LINK = {"invitation": Field(mark)}


class Inviting:
    """Answer the requests of owners about people and links.

    Parameters
    ----------
    room : Room
        What to answer from.
    """

    def __init__(self, room: Room) -> None:
        self._room = room

    @property
    def _members(self) -> Members:
        return self._room.desk.members

    async def people(self, request: Request) -> Response:
        """List who has which link."""
        ticket = ticket_of(request.scope)
        listed = await self._members.listed()
        for each in listed:
            each["mine"] = each["id"] is not None and each["id"] == ticket.invitation
        here_only = self._room.guard.addresses.here_only
        return JSONReply(to_json({"links": listed, "here_only": here_only}))

    async def invite(self, request: Request) -> Response:
        """Make a link for somebody else."""
        said = await body_of(request, _INVITE)
        name = proper_name(said["name"])
        if name is None:
            raise NotAllowed(
                f"a name has 1 to {LONGEST_NAME} characters, of which one can be seen"
            )
        by = ticket_of(request.scope).name
        role = said["role"] or "annotator"
        made = await self._members.invite(by, name, role, said["id"])
        return self._link(made)

    async def link(self, request: Request) -> Response:
        """Show the link of somebody again."""
        said = await body_of(request, _LINK)
        known = await self._room.desk.invitations()
        found = known.by_id.get(said["invitation"])
        if found is None or not found.stands:
            raise NotAllowed("there is no such link, or not any more", 404)
        by = ticket_of(request.scope).name
        await self._members.note(by, "link", {"id": found.id, "name": found.name})
        return self._link(found)

    def _link(self, invitation: Invitation) -> Response:
        guard = self._room.guard
        token = guard.tickets.invitation(invitation.id, invitation.name)
        told = {
            "link": guard.addresses.link(token),
            "here_only": guard.addresses.here_only,
            "name": invitation.name,
            "role": invitation.role,
            "invitation": invitation.id,
        }
        return JSONReply(to_json(told))

    async def revoke(self, request: Request) -> Response:
        """End a link."""
        said = await body_of(request, _REVOKE)
        by = ticket_of(request.scope)
        await self._members.revoke(
            by.name, said["invitation"], said["name"], said["id"], own=by.invitation
        )
        return JSONReply(b'{"saved":true}')

    async def trail(self, request: Request) -> Response:
        """List who did what, the newest first."""
        query = query_of(request, "before", "limit", "who")
        before, limit = span(query, _MOST_LINES)
        who = text(4 * LONGEST_NAME)(query.get("who", ""), "'who'") or None
        lines, more, people = await self._members.trail(before, limit, who)
        items = [
            {"number": each.number, "at": each.at, "who": each.who, "text": each.text}
            for each in lines
        ]
        return JSONReply(to_json({"items": items, "more": more, "people": people}))
