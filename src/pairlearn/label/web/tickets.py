"""Who somebody is: tokens in links, and the signed cookies that they become.

Both are made from one secret that is kept with the answers, so that links and open
pages go on working after a restart. What a ticket says is what was signed; whether its
invitation still holds, the log of events says, and the guard asks there.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pairlearn.label.values import can_be_in_names

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["LONGEST_NAME", "Ticket", "Tickets", "proper_name"]

LONGEST_NAME = 80
# A page may be left for the holidays; after that the link has to be opened again.
_LASTS = 60 * 86_400
# Longer ones are not of our making, and are not worth a look.
_LONGEST = 2_000
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True)
class Ticket:
    """Who asks.

    Attributes
    ----------
    name : str or None
        The name under which answers are kept; None: not said yet.
    owner : bool
        Whether it is who started the server, or was invited as an owner, and may see
        progress and files.
    invitation : str or None
        The id of the invitation; None: whoever started the server, or somebody who was
        invited by an earlier version, by the name alone.
    """

    name: str | None
    owner: bool
    invitation: str | None = None

    @property
    def is_starter(self) -> bool:
        """Whether it is who started the server, whom nobody has invited."""
        return self.owner and self.invitation is None


def proper_name(said: str) -> str | None:
    """Return a name as it is kept, or None if it is no name.

    Examples
    --------
    >>> proper_name("  Ann   Lee ")
    'Ann Lee'
    >>> proper_name("") is None, proper_name("a" * 81) is None
    (True, True)
    >>> proper_name("a" + chr(0) + "b") is None
    True
    """
    if len(said) > 4 * LONGEST_NAME:
        return None
    if not all(letter.isspace() or can_be_in_names(letter) for letter in said):
        return None
    name = " ".join(unicodedata.normalize("NFC", said).split())
    visible = any(unicodedata.category(letter)[0] in "LNPS" for letter in name)
    return name if visible and len(name) <= LONGEST_NAME else None


class Tickets:
    """Make and check tokens and cookies.

    Parameters
    ----------
    secret : str
        The secret, of 64 letters and digits.
    owner_name : str, optional
        The name of whoever starts the server.
    now : callable
        The time in seconds.
    project : str, optional
        What it was called before the secret was made anew.

    Attributes
    ----------
    project : str
        What tells one file of answers from another; it is not secret.
    cookie_name : str
        The name of the cookie.

    Examples
    --------
    >>> tickets = Tickets("0" * 64)
    >>> tickets.of_token(tickets.invitation("k7", "Ann"))
    Ticket(name='Ann', owner=False, invitation='k7')
    >>> tickets.of_token("something else") is None
    True
    >>> tickets.of_cookie(tickets.cookie(Ticket("Ann", owner=False, invitation="k7")))
    Ticket(name='Ann', owner=False, invitation='k7')
    """

    def __init__(
        self,
        secret: str,
        owner_name: str | None = None,
        now: Callable[[], float] = time.time,
        project: str | None = None,
    ) -> None:
        self._secret = secret.encode()
        self._owner_name = owner_name
        self._now = now
        # Cookies are shared by all servers of one host, whatever their ports.
        self.project = project or self._sign("project", "").hex()[:16]
        self.cookie_name = f"pairlearn-{self.project}"

    @property
    def owner_token(self) -> str:
        """The token of whoever started the server."""
        return _text(self._sign("owner", ""))

    def invitation(self, id: str | None, name: str) -> str:  # noqa: A002
        """Return the token of somebody who is invited.

        Parameters
        ----------
        id : str or None
            The id of the invitation; None: as earlier versions made it.
        name : str
            The name under which answers are kept.
        """
        said = _text(name.encode())
        if id is None:
            return f"{said}.{_text(self._sign('invitation', name))}"
        return f"{said}.{id}.{_text(self._sign('invitation by id', f'{id}/{name}'))}"

    def of_token(self, token: str) -> Ticket | None:
        """Return whose token it is, or None.

        The role of somebody who is invited is not in it: that is known to the log.
        """
        if len(token) > _LONGEST or not token.isascii():
            return None
        if _equal(token, self.owner_token):
            return Ticket(self._owner_name, owner=True)
        parts = token.split(".")
        id_ = parts[1] if len(parts) == 3 else None
        if len(parts) not in (2, 3) or not (id_ is None or _ID.fullmatch(id_)):
            return None
        try:
            name = _bytes(parts[0]).decode()
        except ValueError:
            return None
        # As a whole: other letters may stand for the same bytes of a name.
        if not _equal(token, self.invitation(id_, name)):
            return None
        return Ticket(name, owner=False, invitation=id_)

    def cookie(self, ticket: Ticket) -> str:
        """Return the value of the cookie for somebody."""
        until = int(self._now()) + _LASTS
        said = [ticket.name, ticket.owner, until, ticket.invitation]
        text = _text(json.dumps(said).encode())
        return f"{text}.{_text(self._sign('cookie', text))}"

    def of_cookie(self, value: str) -> Ticket | None:
        """Return whose cookie it is, or None if it is forged or has run out."""
        if len(value) > _LONGEST or not value.isascii():
            return None
        said, _, signature = value.partition(".")
        if not _equal(signature, _text(self._sign("cookie", said))):
            return None
        # Earlier versions knew no ids.
        name, owner, until, *id_ = json.loads(_bytes(said))
        ticket = Ticket(name, owner, id_[0] if id_ else None)
        return ticket if self._now() < until else None

    def _sign(self, purpose: str, text: str) -> bytes:
        # What is signed for one purpose is worth nothing for another.
        message = f"{purpose}\0{text}".encode()
        return hmac.digest(self._secret, message, hashlib.sha256)


def _equal(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())


def _text(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(
            text + "=" * (-len(text) % 4), altchars=b"-_", validate=True
        )
    except binascii.Error as error:
        raise ValueError("not base64") from error
