"""What owners do about people: inviting, revoking, and looking at the trail."""

from __future__ import annotations

import secrets
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from pairlearn.label.invitations import ROLES, Invitation
from pairlearn.label.values import Refused

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from pairlearn.label.clerk import Clerk
    from pairlearn.label.trail import Line

__all__ = ["Members"]

_MOST_LINES = 200


class Members:
    """Invitations and the trail, as the page asks for them.

    Parameters
    ----------
    do : callable
        Lets the writer do something with its clerk, and returns when that is kept.
    """

    def __init__(self, do: Callable[..., Awaitable[Any]]) -> None:
        self._do = do

    async def invite(
        self, by: str | None, name: str, role: str, request: str | None = None
    ) -> Invitation:
        """Make an invitation.

        Parameters
        ----------
        by : str or None
            Who invites.
        name : str
            Who is invited.
        role : {"annotator", "owner"}
            What they may do.
        request : str, optional
            The id that the page has made for this.

        Returns
        -------
        Invitation
        """
        if role not in ROLES:
            raise Refused("Somebody is invited as annotator or as owner.")
        body = {"name": name, "role": role, "id": secrets.token_urlsafe(12)}

        def do(clerk: Clerk) -> Invitation:
            event = clerk.note(by, "invite", body, request)
            found: Invitation = clerk.records.invitations.by_id[event.body["id"]]
            return found

        made: Invitation = await self._do(do)
        return made

    async def link_for(self, by: str | None, name: str) -> Invitation:
        """Return the invitation of an annotator that holds, or make one."""

        def look(clerk: Clerk) -> Invitation | None:
            return clerk.records.invitations.standing(name, "annotator")

        found: Invitation | None = await self._do(look, log=False)
        return await self.invite(by, name, "annotator") if found is None else found

    async def revoke(
        self,
        by: str | None,
        id: str | None,  # noqa: A002 - the page's word for it
        name: str,
        request: str,
        *,
        own: str | None = None,
    ) -> None:
        """End a link; what was answered with it stays.

        Parameters
        ----------
        by : str or None
            Who does it.
        id : str or None
            Of the invitation; None: links by the name alone, of an earlier version.
        name : str
            Whose it is.
        request : str
            The id that the page has made for this.
        own : str or None
            The id of the invitation by which they came, which they may not end.
        """
        if id is not None and id == own:
            raise Refused(
                "This is the link that you came with; let another owner revoke it.", 409
            )

        def do(clerk: Clerk) -> None:
            found = clerk.records.invitations.of(name, id)
            if found is None or found.name != name:
                raise Refused("There is no such link.", 404)
            if not found.stands:
                return  # somebody else was quicker
            clerk.note(by, "revoke", {"id": id, "name": name}, request)

        await self._do(do)

    async def note(self, by: str | None, kind: str, body: dict[str, Any]) -> None:
        """Take down that somebody did something which is kept nowhere else."""
        await self._do(lambda clerk: clerk.note(by, kind, body, None))

    async def listed(self) -> list[dict[str, Any]]:
        """Return who has which link, with answers and when they were last seen."""

        def look(clerk: Clerk) -> list[dict[str, Any]]:
            records = clerk.records
            return [
                asdict(each)
                | {
                    "stands": each.stands,
                    "n": records.n_answers(each.name),
                    "seen": records.last_seen.get(each.name),
                }
                for each in records.invitations.listed()
            ]

        found: list[dict[str, Any]] = await self._do(look, log=False)
        return found

    async def trail(
        self, before: int | None, limit: int, who: str | None
    ) -> tuple[list[Line], bool, list[str]]:
        """Return lines of the trail, whether there are more, and who is in it."""

        def look(clerk: Clerk) -> tuple[list[Line], bool, list[str]]:
            trail = clerk.records.trail
            lines, more = trail.page(before, min(limit, _MOST_LINES), who)
            return lines, more, trail.people()

        found: tuple[list[Line], bool, list[str]] = await self._do(look, log=False)
        return found
