"""Running the server: a port, few words on the terminal, and a prompt end."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import sys
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import uvicorn

from pairlearn.files.tables.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from starlette.types import ASGIApp

    from pairlearn.label.web.refusals import RefusalLog

__all__ = ["Server", "listen", "new_loop"]

# Seconds that requests have to come to their end when the server stops.
_PATIENCE = 2
_MOST_CONNECTIONS = 1000
# Bytes of all headers of a request together.
_LARGEST_HEAD = 64 * 1024
# Seconds until a connection has to have sent them; whoever opens many and says nothing
# would keep others out.
_HEAD_LASTS = 60.0
_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")


def listen(host: str, port: int, before: int | None = None) -> socket.socket:
    """Return a socket that listens.

    Parameters
    ----------
    host : str
        The address.
    port : int
        The port; 0: that of last time if it is free, else any.
    before : int, optional
        The port of last time. A page that is still open goes on there.

    Returns
    -------
    socket.socket

    Raises
    ------
    OptionError
        If that is not possible.
    """
    wanted = [port] if port else [before, 0] if before else [0]
    for number in wanted:
        try:
            return _bind(host.strip("[]"), number or 0)
        except OSError as error:
            problem = error
    what = f"--port {port}" if port and not _is_address_trouble(problem) else "--host"
    way_out = (
        "leave --port out to take any that is free"
        if port
        else "use an address of this machine"
    )
    raise OptionError(
        f"the server cannot listen at {host}"
        + (f", port {port}" if port else "")
        + f" ({problem.strerror or problem}); check {what}, or {way_out}"
    )


def _is_address_trouble(problem: OSError) -> bool:
    return isinstance(problem, socket.gaierror)


def _bind(host: str, port: int) -> socket.socket:
    found = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )
    # Of several addresses of a name the older kind, which everything understands.
    family, kind, protocol, _, address = min(found, key=lambda each: each[0])
    sock = socket.socket(family, kind, protocol)
    try:
        if sys.platform != "win32":  # where it would take a port from somebody else
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
        sock.listen(128)
    except BaseException:
        sock.close()
        raise
    return sock


def new_loop() -> asyncio.AbstractEventLoop:
    """Return an event loop, the fast one if it is installed."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


class Server(uvicorn.Server):
    """A server that says little, and ends when it is told to.

    Parameters
    ----------
    app : ASGI application
        What it serves.
    log : RefusalLog
        Where it tells of requests that are no HTTP.
    started : callable
        Called when it listens.
    """

    def __init__(
        self, app: ASGIApp, log: RefusalLog, started: Callable[[], None]
    ) -> None:
        config = uvicorn.Config(
            app,
            lifespan="off",
            ws="none",
            http=_protocol(),
            interface="asgi3",
            log_config=None,
            log_level="warning",  # whatever another server here has set
            access_log=False,  # it would print tokens
            server_header=False,
            proxy_headers=False,
            limit_concurrency=_MOST_CONNECTIONS,
            timeout_graceful_shutdown=_PATIENCE,
        )
        super().__init__(config)
        self._started = started
        own = logging.getLogger("uvicorn.error")
        own.handlers, own.propagate = [_Few(self, log)], False

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        if self.started:
            self._started()

    def stop(self) -> None:
        """End soon."""
        self.should_exit = True

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """End at a signal, in order: to be told to end is no mistake."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {}
        for name in _SIGNALS:
            number = getattr(signal, name, None)
            # One that is ignored stays so: that is what nohup is for.
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, self.handle_exit)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


class _Few(logging.Handler):
    """Tell in one line of what uvicorn could not read; the rest is told elsewhere."""

    def __init__(self, server: Server, log: RefusalLog) -> None:
        super().__init__(logging.WARNING)
        self._server, self._log = server, log

    def emit(self, record: logging.LogRecord) -> None:
        """Tell of a record."""
        if not record.exc_info and not self._server.should_exit:
            with suppress(Exception):
                self._log.write("-", "-", 400, record.getMessage())


def _protocol() -> Any:
    """Return what reads HTTP: the fast way, with a limit on what it keeps in memory."""
    try:
        from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
    except ImportError:
        return "auto"  # the other one has a limit of its own

    class LimitedProtocol(HttpToolsProtocol):
        """A connection whose requests have heads of limited size, and in time."""

        in_head, head_size = True, 0
        head_timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self.expect_head()

        def connection_lost(self, exc: Exception | None) -> None:
            self.has_head()
            super().connection_lost(exc)

        def expect_head(self) -> None:
            if self.head_timer is None:
                end = self.transport.close
                self.head_timer = self.loop.call_later(_HEAD_LASTS, end)

        def has_head(self) -> None:
            if self.head_timer is not None:
                self.head_timer.cancel()
                self.head_timer = None

        def data_received(self, data: bytes) -> None:
            if self.in_head:
                self.head_size += len(data)
                if self.head_size > _LARGEST_HEAD + 2**16:
                    self.send_400_response("The headers are too large.")
                    return
            super().data_received(data)

        def on_message_begin(self) -> None:
            self.in_head, self.head_size = True, 0
            self.expect_head()
            super().on_message_begin()

        def on_headers_complete(self) -> None:
            self.in_head = False
            self.has_head()
            super().on_headers_complete()

    return LimitedProtocol
