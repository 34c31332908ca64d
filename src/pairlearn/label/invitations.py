"""Who has which link: what the events say about invitations.

An invitation is an event with an id of its own, and the link that goes with it carries
that id. So one link can be ended without touching others, and what was answered with it
stays. Earlier versions signed a name alone; such a link holds until somebody revokes a
link of that name.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pairlearn.label.values import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pairlearn.label.store import Event

__all__ = ["ROLES", "Invitation", "InvitationEnded", "Invitations"]

# What the roles are called; an owner sees and does everything.
ROLES = ("annotator", "owner")
# What somebody is told whose link does not hold any more.
_ENDED = (
    "Your invitation has been ended by an owner of this page. The answers that you "
    "gave are kept. To go on, ask them for a new link."
)


class InvitationEnded(Refused):
    """Somebody asks whose link does not hold any more."""

    def __init__(self) -> None:
        super().__init__(_ENDED, 401)


@dataclass(frozen=True, slots=True)
class Invitation:
    """A link for one person.

    Attributes
    ----------
    id : str or None
        What the link carries; None: a link of an earlier version, by the name alone.
    name : str
        Under which name answers are kept.
    role : {"annotator", "owner"}
        What the person may do.
    at : str
        When it was made, in UTC; of an earlier version, when it was first used.
    by : str or None
        Who made it, if that is known.
    ended_at, ended_by : str or None
        When it was revoked, and by whom.
    """

    id: str | None
    name: str
    role: str
    at: str
    by: str | None = None
    ended_at: str | None = None
    ended_by: str | None = None

    @property
    def stands(self) -> bool:
        """Whether it has not been revoked."""
        return self.ended_at is None

    def ended(self, event: Event) -> Invitation:
        """Return it as it is after an event that ends it; the first one counts."""
        if not self.stands:
            return self
        return replace(self, ended_at=event.at, ended_by=event.who)


@dataclass(frozen=True)
class Invitations:
    """All invitations as they are now; each change makes a new value.

    So one thread may look at it while another one takes down what happens.

    Attributes
    ----------
    by_id : dict
        The invitations with an id, the oldest first.
    by_name : dict
        Links of earlier versions that were used, by name.
    revoked_names : frozenset of str
        Names of which a link was revoked, so that links by the name alone are over.
    renewed : int
        The number of the event by which all links before it were made invalid; 0: none.

    Examples
    --------
    >>> from pairlearn.label.store import Event
    >>> body = {"id": "k7", "name": "Bob", "role": "annotator"}
    >>> known = Invitations().after(Event(1, "9:00", "Ada", "invite", None, None, body))
    >>> known.of("Bob", "k7").role
    'annotator'
    >>> known.of("Bob", "forged") is None
    True
    >>> body = {"id": "k7", "name": "Bob"}
    >>> known = known.after(Event(2, "9:30", "Ada", "revoke", None, None, body))
    >>> known.of("Bob", "k7").stands, known.of("Bob", None).stands
    (False, False)
    """

    by_id: Mapping[str, Invitation] = field(default_factory=dict)
    by_name: Mapping[str, Invitation] = field(default_factory=dict)
    revoked_names: frozenset[str] = frozenset()
    renewed: int = 0

    def of(self, name: str, id: str | None) -> Invitation | None:  # noqa: A002
        """Return the invitation of a ticket.

        Parameters
        ----------
        name : str
            The name on the ticket.
        id : str or None
            The id that it carries; None: it is of an earlier version.

        Returns
        -------
        Invitation or None
            None: there never was one with this id.
        """
        if id is not None:
            return self.by_id.get(id)
        known = self.by_name.get(name)
        if known is not None:
            return known
        ended = "" if name in self.revoked_names else None
        return Invitation(None, name, "annotator", "", ended_at=ended)

    def standing(self, name: str, role: str) -> Invitation | None:
        """Return the newest invitation of somebody in a role that still holds."""
        found = None
        for each in self.by_id.values():
            if each.stands and (each.name, each.role) == (name, role):
                found = each
        return found

    def listed(self) -> list[Invitation]:
        """Return all of them, the newest first, those that were revoked at the end."""
        every = [*self.by_name.values(), *self.by_id.values()]
        every.sort(key=lambda each: each.at, reverse=True)
        return sorted(every, key=lambda each: not each.stands)

    def after(self, event: Event) -> Invitations:
        """Return what holds after an event."""
        change = _CHANGES.get(event.kind)
        return self if change is None else change(self, event)

    def _invited(self, event: Event) -> Invitations:
        made = Invitation(
            str(event.body["id"]),
            str(event.body["name"]),
            str(event.body["role"]),
            event.at,
            event.who,
        )
        if made.role not in ROLES:
            raise ValueError(f"event {event.number} invites for no role")
        return replace(self, by_id={**self.by_id, str(made.id): made})

    def _revoked(self, event: Event) -> Invitations:
        id_, name = event.body["id"], str(event.body["name"])
        by_id, by_name = dict(self.by_id), dict(self.by_name)
        if id_ is not None and id_ in by_id:
            by_id[id_] = by_id[id_].ended(event)
        if name in by_name:
            by_name[name] = by_name[name].ended(event)
        names = self.revoked_names | {name}
        return replace(self, by_id=by_id, by_name=by_name, revoked_names=names)

    def _joined(self, event: Event) -> Invitations:
        name = event.who or ""
        old = not event.body["owner"] and event.body.get("invitation") is None
        if not old or name in self.by_name:
            return self
        ended = event.at if name in self.revoked_names else None
        found = Invitation(None, name, "annotator", event.at, ended_at=ended)
        return replace(self, by_name={**self.by_name, name: found})

    def _renewed(self, event: Event) -> Invitations:
        return replace(
            self,
            by_id={key: each.ended(event) for key, each in self.by_id.items()},
            by_name={key: each.ended(event) for key, each in self.by_name.items()},
            revoked_names=self.revoked_names | set(self.by_name),
            renewed=event.number,
        )


_CHANGES = {
    "invite": Invitations._invited,
    "revoke": Invitations._revoked,
    "join": Invitations._joined,
    "new_links": Invitations._renewed,
}
