"""The front's end of the back room."""

import threading

from pairlearn.label.link import Link

PATIENCE = 30


def waits(connection, _task):
    """Wait for the end, as a back room does."""
    while connection.recv() != ("end",):
        pass


def test_it_can_be_closed_while_it_starts():
    begun, go_on = threading.Event(), threading.Event()

    def enlist(_outbox):
        begun.set()
        assert go_on.wait(PATIENCE)
        return {}

    link = Link(enlist, lambda _message: None, waits)
    link.start()
    assert begun.wait(PATIENCE)
    closing = threading.Thread(target=link.close, daemon=True)
    closing.start()
    closing.join(0.2)  # by now it has looked for somebody to tell
    go_on.set()
    closing.join(PATIENCE)
    assert not closing.is_alive()
    assert link.pid is None
