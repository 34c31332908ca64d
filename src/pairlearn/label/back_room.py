"""The back room: a process of its own that chooses questions and learns.

It ends when the front does, however that ends: a thread listens to the front all the
time, and when nobody is there any more, it ends the process at once. Nothing is lost,
since nothing is kept here that the store does not have.

This file is also read by the front, so what takes long to import is imported inside.
"""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
import warnings
from typing import TYPE_CHECKING, Any

from pairlearn.system.memory import share_memory_of_threads

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

__all__ = ["enter"]

# Seconds after which a thread that computes lets another one go on.
_TURN = 0.0002


def enter(connection: Connection, task: dict[str, Any]) -> None:
    """Run the back room until the front ends it.

    Parameters
    ----------
    connection : Connection
        To the front.
    task : dict
        What it needs to begin: see :class:`~pairlearn.label.interviewer.Interviewer`.
    """
    # Ctrl-C in a terminal reaches all processes there; the front ends us.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warnings.simplefilter("ignore")
    share_memory_of_threads()
    # While a thread learns, the one that chooses waits this long whenever it wants to
    # go on; the usual five milliseconds are as long as choosing several questions.
    sys.setswitchinterval(_TURN)
    inbox: queue.SimpleQueue[tuple[Any, ...]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(connection, inbox), daemon=True).start()
    from threadpoolctl import threadpool_limits

    from pairlearn.label.interviewer import Interviewer

    # More would hang: what takes long is done in forks of this process.
    with threadpool_limits(1):
        try:
            room = Interviewer(task, connection.send, inbox)
        except (ValueError, OSError) as problem:
            connection.send(("failed", str(problem)))
            while inbox.get()[0] != "end":
                pass
            return
        room.run()


def _listen(connection: Connection, inbox: queue.SimpleQueue[tuple[Any, ...]]) -> None:
    """Put what the front says into a queue; end the process when it has gone."""
    try:
        while True:
            message = connection.recv()
            inbox.put(message)
            if message[0] == "end":
                return
    except (EOFError, OSError):
        os._exit(0)
