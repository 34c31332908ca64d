"""Responses that are files: as a whole, or the part that was asked for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from anyio import to_thread
from starlette.responses import Response

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from pairlearn.files.media import OpenFile

__all__ = ["MediaReply", "download"]

_PIECE = 256 * 1024
_RANGE = re.compile(rb"bytes=(\d{0,18})-(\d{0,18})")
# A file that a table names is shown, and does nothing: no scripts, no other files.
_MEDIA_POLICY = (
    b"default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox; "
    b"frame-ancestors 'none'"
)


class MediaReply:
    """An image or sound, or the part of it that was asked for.

    Parameters
    ----------
    found : OpenFile
        The open file, which is closed at the end. It is not opened again by its name,
        which may stand for something else by then.
    """

    def __init__(self, found: OpenFile) -> None:
        self._found = found

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        del receive
        found = self._found
        try:
            headers = [
                (b"content-type", found.type.encode()),
                (b"content-security-policy", _MEDIA_POLICY),
                (b"accept-ranges", b"bytes"),
            ]
            begin, end, status = _part(scope, found.size)
            if status == 416:
                headers.append((b"content-range", b"bytes */%d" % found.size))
            elif status == 206:
                span = b"bytes %d-%d/%d" % (begin, end - 1, found.size)
                headers.append((b"content-range", span))
            headers.append((b"content-length", b"%d" % (end - begin)))
            start = {"type": "http.response.start", "status": status}
            await send(start | {"headers": headers})
            if scope["method"] != "HEAD":
                await self._send(send, begin, end)
            await send({"type": "http.response.body", "body": b""})
        finally:
            found.file.close()

    async def _send(self, send: Send, begin: int, end: int) -> None:
        file = self._found.file
        await to_thread.run_sync(file.seek, begin)
        while begin < end:
            piece = await to_thread.run_sync(file.read, min(_PIECE, end - begin))
            if not piece:
                return  # it was cut meanwhile, and the connection is broken off
            begin += len(piece)
            await send({"type": "http.response.body", "body": piece, "more_body": True})


def _part(scope: Scope, size: int) -> tuple[int, int, int]:
    """Return where the part begins and ends that was asked for, and the status.

    Whatever is not one plain range gets the whole, as the standard allows.
    """
    said = next((value for name, value in scope["headers"] if name == b"range"), b"")
    match = _RANGE.fullmatch(said.strip())
    if match is None or not (match[1] or match[2]):
        return 0, size, 200
    if not match[1]:
        last = min(int(match[2]), size)
        return (size - last, size, 206) if last else (0, 0, 416)
    begin = int(match[1])
    end = min(int(match[2]) + 1, size) if match[2] else size
    if begin >= size:
        return 0, 0, 416
    return (begin, end, 206) if begin < end else (0, size, 200)


def download(content: bytes, name: str, kind: str) -> Response:
    """Return a file to be kept, and never to be shown within our site."""
    headers = {
        "content-disposition": f'attachment; filename="{name}"',
        "content-security-policy": "default-src 'none'; sandbox",
    }
    return Response(content, 200, headers, media_type=kind)
