"""The front's end of the back room: starts it, talks with it, starts it again.

Messages are tuples of plain values that begin with a word. None is waited for: what
goes to the back room stands in a queue that a thread empties, so that a back room that
is busy, or gone, holds nobody up.
"""

from __future__ import annotations

import multiprocessing
import queue
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pairlearn.label.back_room import enter

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection

__all__ = ["Link"]

# Seconds until it is started again, at first and at most.
_PAUSE, _LONGEST_PAUSE = 0.5, 30.0
# Seconds that it may take to end.
_PATIENCE = 5.0
# After so many that ended before they had begun, people are told; it is still tried.
_TOO_OFTEN = 3
_BROKEN = (
    "No questions can be chosen, since the process that chooses them has ended several "
    "times; the terminal says more. Perhaps there is not enough memory. What was "
    "answered is safe, and one can go on after starting pairlearn label again."
)


class Link:
    """The back room, as the front sees it.

    Parameters
    ----------
    enlist : callable
        Given a queue, returns what the back room needs to begin, and puts everything
        that happens from then on into the queue.
    heard : callable
        Told each message.
    room : callable, optional
        What runs in the other process, with a connection and what it needs to begin.

    Attributes
    ----------
    pid : int or None
        The number of the process.
    """

    def __init__(
        self,
        enlist: Callable[[queue.SimpleQueue[Any]], dict[str, Any] | None],
        heard: Callable[[tuple[Any, ...]], None],
        room: Callable[[Connection, dict[str, Any]], None] = enter,
    ) -> None:
        self._enlist, self._heard, self._room = enlist, heard, room
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="back room", daemon=True)
        self._process: Any = None
        self._outbox: queue.SimpleQueue[Any] | None = None

    @property
    def pid(self) -> int | None:
        """The number of the process, while there is one."""
        process = self._process
        return process.pid if process is not None else None

    def start(self) -> None:
        """Start it, without waiting."""
        self._thread.start()

    def leave(self) -> None:
        """Have it end, without waiting."""
        self._closing.set()
        outbox = self._outbox
        if outbox is not None:
            outbox.put(None)

    def close(self) -> None:
        """End it."""
        self.leave()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        pause, failures = _PAUSE, 0
        while not self._closing.is_set():
            ready = self._live()
            if self._closing.is_set():
                return
            self._heard(("gone",))
            pause = _PAUSE if ready else min(2 * pause, _LONGEST_PAUSE)
            failures = 0 if ready else failures + 1
            if failures == _TOO_OFTEN:
                self._heard(("failed", _BROKEN))
            self._closing.wait(pause)

    def _live(self) -> bool:
        """Start the process, and listen until it ends; return whether it was ready."""
        outbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
        task = self._enlist(outbox)
        if task is None:
            return False  # the desk is closing
        self._outbox = outbox
        if self._closing.is_set():  # perhaps before there was an outbox to tell it to
            return False
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(
            target=self._room, args=(theirs, task), name="pairlearn label", daemon=True
        )
        process.start()
        self._process = process
        # Only the other process has its end, so that we notice when it has gone.
        theirs.close()
        sender = threading.Thread(target=_send, args=(ours, outbox), daemon=True)
        sender.start()
        ready = False
        try:
            while True:
                message = ours.recv()
                ready = ready or message[0] == "ready"
                self._heard(message)
        except (EOFError, OSError):
            pass
        finally:
            outbox.put(None)
            sender.join()
            ours.close()
            self._process = self._outbox = None
            process.join(_PATIENCE)
            if process.is_alive():
                process.kill()
                process.join()
            process.close()
        return ready


def _send(connection: Connection, outbox: queue.SimpleQueue[Any]) -> None:
    """Send what stands in a queue, until None comes or nobody listens."""
    with suppress(OSError):
        while (message := outbox.get()) is not None:
            connection.send(message)
        # Said aloud: the other thread waits for the other process to end.
        connection.send(("end",))
