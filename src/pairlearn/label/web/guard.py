"""What stands before every request, and asks whether it is meant for us, and by whom.

In the manner of Jupyter: a token in the link becomes a signed cookie; names under which
the server is asked for, the page that asks, and a header that only our page sends are
checked, so that no other site can act in somebody's name. Who was invited is let in as
long as the invitation holds, which is asked at every request.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from starlette.responses import RedirectResponse

from pairlearn.label.invitations import InvitationEnded, Invitations
from pairlearn.label.values import Refused
from pairlearn.label.web import door
from pairlearn.label.web.refusals import NotAllowed, RefusalLog
from pairlearn.label.web.replies import error_reply
from pairlearn.label.web.tickets import Ticket

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from pairlearn.label.web.addresses import Addresses
    from pairlearn.label.web.tickets import Tickets

__all__ = ["CONTENT_POLICY", "Guard", "Guarded", "ticket_of"]

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "media-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
# On every response that does not say otherwise.
_HEADERS = {
    b"content-security-policy": CONTENT_POLICY.encode(),
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"permissions-policy": b"camera=(), geolocation=(), microphone=()",
    b"cache-control": b"no-store",
}
_METHODS = ("GET", "HEAD", "POST")
_TICKET = "pairlearn.ticket"
# Seconds that somebody with a wrong token waits, for each that was wrong lately.
_PAUSE, _LONGEST_PAUSE, _MOST_WAITING = 0.5, 5.0, 20
# Seconds that a browser has to open the page.
_ONCE_LASTS = 120.0


def ticket_of(scope: Scope) -> Ticket:
    """Return who makes a request that the guard has let through."""
    ticket: Ticket = scope[_TICKET]
    return ticket


class Guard:
    """Decide about requests.

    Parameters
    ----------
    tickets : Tickets
        Who has which token and cookie.
    addresses : Addresses
        Under which names the server may be asked for.
    behind_proxy : bool
        Whether a proxy stands before it, which tells by X-Forwarded-Proto whether
        the connection to it is encrypted.
    log : RefusalLog, optional
        Where refused requests are told of.
    sleep : callable
        How to wait.
    invitations : callable, optional
        Returns who is invited, as it is at that moment.
    renewed : callable, optional
        Returns the tickets of today, when all links were made invalid by somebody.
    renewed_at : int
        By which event that was done when the tickets were made; 0: by none.
    """

    def __init__(
        self,
        tickets: Tickets,
        addresses: Addresses,
        *,
        behind_proxy: bool = False,
        log: RefusalLog | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        invitations: Callable[[], Awaitable[Invitations]] | None = None,
        renewed: Callable[[], Awaitable[Tickets]] | None = None,
        renewed_at: int = 0,
    ) -> None:
        self.tickets, self.addresses = tickets, addresses
        self.behind_proxy = behind_proxy
        self.log = log or RefusalLog()
        self._sleep = sleep
        self._invitations, self._renewed = invitations, renewed
        self._renewed_at = renewed_at
        self._wrong: list[float] = []
        self._n_waiting = 0
        self._once: dict[str, float] = {}

    def token_for_once(self) -> str:
        """Return a token of the owner that works once, and soon.

        For the command that opens a browser: what stands in a command can be seen by
        everybody who has an account on the machine.
        """
        token = secrets.token_urlsafe(24)
        self._once[token] = time.monotonic() + _ONCE_LASTS
        return token

    def of_token(self, token: str) -> Ticket | None:
        """Return who comes with a token, or None."""
        until = self._once.pop(token, None)
        if until is not None and time.monotonic() < until:
            token = self.tickets.owner_token
        return self.tickets.of_token(token)

    async def up_to_date(self) -> Invitations:
        """Return who is invited; and take new tickets if all links were made anew."""
        if self._invitations is None:
            return Invitations()
        known = await self._invitations()
        if known.renewed != self._renewed_at and self._renewed is not None:
            self.tickets, self._renewed_at = await self._renewed(), known.renewed
        return known

    def admitted(self, ticket: Ticket, known: Invitations) -> Ticket | None:
        """Return what a ticket is worth now, or None if it never was worth anything.

        Raises
        ------
        InvitationEnded
            If it was revoked.
        """
        if ticket.is_starter:
            return ticket
        found = known.of(ticket.name or "", ticket.invitation)
        if found is None or found.name != ticket.name:
            return None
        if not found.stands:
            raise InvitationEnded
        # Not what the cookie says: the log knows better.
        return Ticket(found.name, found.role == "owner", found.id)

    def scheme(self, headers: dict[bytes, bytes]) -> str:
        """Return whether the browser's connection is encrypted: http or https."""
        if not self.behind_proxy:
            return "http"
        told = headers.get(b"x-forwarded-proto", b"").partition(b",")[0]
        return "https" if told.strip().lower() == b"https" else "http"

    def check(self, scope: Scope, headers: dict[bytes, bytes]) -> None:
        """Refuse a request that is not meant for us, or that another site makes."""
        if scope["method"] not in _METHODS:
            raise NotAllowed("the page is only read (GET) and written to (POST)", 405)
        host = headers.get(b"host", b"").decode("latin-1")
        if not self.addresses.allows(host):
            raise NotAllowed(
                f"this server does not answer under the name {host[:80]!a}; if it is "
                "one of its names, start it with --allow-host and that name",
                403,
            )
        posts = scope["method"] == "POST"
        if not posts and (scope["path"] == "/" or scope["path"].startswith("/static/")):
            return
        self._check_site(headers, host, posts=posts)
        if posts and headers.get(b"x-pairlearn") != b"1":
            raise NotAllowed(
                "a request that changes something needs the header X-Pairlearn: 1", 403
            )

    def _check_site(
        self, headers: dict[bytes, bytes], host: str, *, posts: bool
    ) -> None:
        origin = headers.get(b"origin")
        if origin is not None:
            own = self.addresses.origin(host, self.scheme(headers))
            if origin.decode("latin-1").lower() != own:
                raise NotAllowed(
                    "the request comes from a page of another site. If a proxy stands "
                    "before this server, it must pass on the headers Host and "
                    "X-Forwarded-Proto, and the server needs --behind-proxy",
                    403,
                )
        site = headers.get(b"sec-fetch-site")
        # Somebody who types the address of a file asks from no site.
        allowed = (b"same-origin",) if posts else (b"same-origin", b"none")
        if site is not None and site not in allowed:
            raise NotAllowed("the request comes from a page of another site", 403)

    def ticket(self, headers: dict[bytes, bytes]) -> Ticket | None:
        """Return whose cookie comes with a request, or None."""
        name = self.cookie_name(self.scheme(headers)).encode()
        for part in headers.get(b"cookie", b"").split(b";"):
            known, _, value = part.strip().partition(b"=")
            if known == name:
                return self.tickets.of_cookie(value.decode("latin-1"))
        return None

    def cookie_name(self, scheme: str) -> str:
        """Return the name of the cookie; browsers hold one on https to its host."""
        prefix = "__Host-" if scheme == "https" else ""
        return prefix + self.tickets.cookie_name

    def set_cookie(self, ticket: Ticket, scheme: str) -> tuple[bytes, bytes]:
        """Return the header that gives somebody a cookie."""
        words = f"{self.cookie_name(scheme)}={self.tickets.cookie(ticket)}; Path=/; "
        words += "Max-Age=5184000; HttpOnly; SameSite=Strict"
        words += "; Secure" if scheme == "https" else ""
        return b"set-cookie", words.encode()

    async def pause(self) -> str | None:
        """Let somebody with a wrong token wait, the longer the more there were.

        Returns
        -------
        str or None
            What to tell if too many are waiting by now.
        """
        now = time.monotonic()
        self._wrong = [*(at for at in self._wrong if now - at < 60), now][-100:]
        if self._n_waiting >= _MOST_WAITING:
            return "Too many links were wrong lately. Try again in a minute."
        self._n_waiting += 1
        try:
            await self._sleep(min(_PAUSE * len(self._wrong), _LONGEST_PAUSE))
        finally:
            self._n_waiting -= 1
        return None


class Guarded:
    """An application behind a guard.

    Parameters
    ----------
    app : ASGI application
        It gets only requests of people who are known, except for `/static/`.
    guard : Guard
        Who decides.
    """

    def __init__(self, app: ASGIApp, guard: Guard) -> None:
        self.app, self.guard = app, guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] != "http":
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = message["headers"] = list(message.get("headers", ()))
                there = {name.lower() for name, _ in headers}
                headers += [pair for pair in _HEADERS.items() if pair[0] not in there]
            await send(message)

        app: ASGIApp = self.app
        try:
            headers = _by_name(scope)
            self.guard.check(scope, headers)
            if scope["path"] == "/" and scope["method"] != "POST":
                app = await self._enter(scope, headers) or app
            elif not scope["path"].startswith("/static/"):
                await self._know(scope, headers)
        except (NotAllowed, Refused) as refused:
            status, why = refused.status, str(refused)
            self.guard.log.write(scope["method"], scope["path"], status, why)
            ended = isinstance(refused, InvitationEnded)
            app = error_reply(why, status, ended=ended)
        await app(scope, receive, send_guarded)

    async def _know(self, scope: Scope, headers: dict[bytes, bytes]) -> None:
        known = await self.guard.up_to_date()
        ticket = self.guard.ticket(headers)
        if ticket is not None:
            ticket = self.guard.admitted(ticket, known)
        if ticket is None:
            raise NotAllowed(
                "open the page with the link that you were given: this browser is "
                "not known here, or not any more",
                401,
            )
        scope[_TICKET] = ticket

    async def _enter(
        self, scope: Scope, headers: dict[bytes, bytes]
    ) -> Response | None:
        """Answer whoever has a token, or nothing at all; whoever is known may go on."""
        guard = self.guard
        elsewhere = headers.get(b"sec-fetch-site") in (b"cross-site", b"same-site")
        token = _token(scope.get("query_string", b""))
        known = await guard.up_to_date()
        try:
            ticket = guard.ticket(headers) if token is None else guard.of_token(token)
            if ticket is not None:
                ticket = guard.admitted(ticket, known)
        except InvitationEnded as refused:
            guard.log.write(scope["method"], "/", refused.status, str(refused))
            return door.show_ended(str(refused), refused.status)
        if token is not None:
            if ticket is None:
                guard.log.write(scope["method"], "/", 403, "a wrong token")
                wait = await guard.pause()
                return door.show(wait or door.WRONG_LINK, 429 if wait else 403)
            let_in = door.step_inside() if elsewhere else RedirectResponse("/", 303)
            let_in.raw_headers.append(guard.set_cookie(ticket, guard.scheme(headers)))
            return let_in
        if ticket is not None:
            scope[_TICKET] = ticket
            return None
        if elsewhere:
            # Somebody followed a link on another site, so that the browser held the
            # cookie back. It sends it with the next step, which is from here to here.
            return door.step_inside()
        guard.log.write(scope["method"], "/", 401, "no token, and no cookie")
        return door.show(door.NO_LINK, 401)


def _token(query: bytes) -> str | None:
    """Return the token in the query of an address, if there is one."""
    try:
        fields = parse_qsl(query[:4000].decode("latin-1"), max_num_fields=50)
    except ValueError:
        return None
    return next((value for name, value in fields if name == "token"), None)


def _by_name(scope: Scope) -> dict[bytes, bytes]:
    """Return the headers by name; some may not be there twice."""
    headers: dict[bytes, bytes] = {}
    for name, value in scope["headers"]:
        if name in headers and name in (b"host", b"origin", b"content-length"):
            raise NotAllowed(f"the header {name.decode('latin-1')} is there twice")
        if name == b"cookie" and name in headers:
            value = headers[name] + b";" + value
        headers[name] = value
    return headers
