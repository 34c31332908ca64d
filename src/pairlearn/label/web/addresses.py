"""Under which names the page may be asked for, and the links to it.

A page of another site can let a name of its own lead to this machine, and would then
count as the same site for the browser (DNS rebinding). So requests are answered only
under names that are known to be ours. An address in numbers cannot be turned round in
this way; where the server listens to a network, any is taken.
"""

from __future__ import annotations

import ipaddress
import socket
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import quote

from pairlearn.files.tables.errors import OptionError

__all__ = ["Addresses", "is_loopback"]

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_DEFAULT_PORTS = {"http": 80, "https": 443}
_LONGEST = 300


@dataclass(frozen=True)
class Addresses:
    """The names of a server.

    Parameters
    ----------
    host : str
        The address that it listens at.
    port : int
        Its port.
    more : tuple of str
        Other names that lead to it, with or without a port.
    scheme : str
        What links begin with.

    Examples
    --------
    >>> ours = Addresses("127.0.0.1", 8000, ("label.example.org",))
    >>> ours.allows("localhost:8000"), ours.allows("evil.example:8000")
    (True, False)
    >>> ours.allows("label.example.org"), ours.allows("localhost:9000")
    (True, False)
    """

    host: str
    port: int
    more: tuple[str, ...] = ()
    scheme: str = "http"

    def __post_init__(self) -> None:
        for name in self.more:
            host, port = _split(name)
            if not host or port == -1 or any(sign in name for sign in "/\\@ ?#*"):
                raise OptionError(
                    f"--allow-host {name!r} must be the name of a machine, such as "
                    "label.example.org, or with a port, label.example.org:8443"
                )

    def allows(self, said: str) -> bool:
        """Tell whether a Host header names this server."""
        if len(said) > _LONGEST:
            return False
        host, port = _split(said.lower())
        if port == -1:
            return False
        for name in self.more:
            known, its_port = _split(name.lower())
            ports = (None, self.port) if its_port is None else (its_port,)
            if host == known and port in ports:
                return True
        if port != self.port and (port is not None or self.port != 80):
            return False
        if host in _LOOPBACK or host == _bracketed(self.host.lower()):
            return True
        if is_loopback(self.host):
            return False
        return _is_address(host) or host in _own_names()

    def origin(self, host: str, scheme: str) -> str:
        """Return the origin of pages under a Host header, as browsers write it."""
        name, port = _split(host.lower())
        if port == _DEFAULT_PORTS[scheme]:
            port = None
        return f"{scheme}://{name}" + (f":{port}" if port is not None else "")

    @property
    def base(self) -> str:
        """The address that people get told, without a path."""
        if self.more:
            name, port = _split(self.more[0])
            if self.scheme == "http" and port is None and self.port != 80:
                port = self.port
            return f"{self.scheme}://{name}" + (f":{port}" if port is not None else "")
        host = self.host
        if _is_wildcard(host):
            host = _outward() or socket.gethostname()
        return f"http://{_bracketed(host)}:{self.port}"

    @property
    def here_only(self) -> bool:
        """Whether links work on this machine alone."""
        return is_loopback(self.host) and not self.more

    def link(self, token: str, base: str | None = None) -> str:
        """Return the link that lets somebody in."""
        return f"{base or self.base}/?token={quote(token, safe='')}"


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach an address.

    Examples
    --------
    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _is_wildcard(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_unspecified
    except ValueError:
        return False


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return (":" in host) == host.startswith("[")


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def _split(said: str) -> tuple[str, int | None]:
    """Return name and port of a Host header; the port is -1 if it is none."""
    end = said.rfind("]")
    host, colon, port = said, "", ""
    if ":" in said[end + 1 :]:
        place = said.rindex(":")
        host, colon, port = said[:place], ":", said[place + 1 :]
    if not colon:
        return host, None
    if not (port.isascii() and port.isdigit() and len(port) <= 5):
        return host, -1
    return host, int(port)


def _own_names() -> set[str]:
    name = socket.gethostname().lower()
    return {name, f"{name}.local"}


def _outward() -> str | None:
    """Return the address under which others see this machine; nothing is sent."""
    with (
        suppress(OSError),
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe,
    ):
        probe.connect(("192.0.2.1", 9))  # an address that is nobody's
        return str(probe.getsockname()[0])
    return None
