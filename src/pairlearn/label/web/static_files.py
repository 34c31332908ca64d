"""The page itself: a few files, read once, so that no path of a request is opened."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.responses import Response

from pairlearn.label.web.refusals import NotAllowed

if TYPE_CHECKING:
    from starlette.types import Scope

__all__ = ["StaticFiles"]

FOLDER = Path(__file__).parent / "static"
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".webmanifest": "application/manifest+json",
}


class StaticFiles:
    """The files of the page.

    Parameters
    ----------
    folder : Path
        Where they lie.
    """

    def __init__(self, folder: Path = FOLDER) -> None:
        self._files: dict[str, tuple[bytes, str, str]] = {}
        for path in sorted(folder.rglob("*")):
            if path.suffix in _TYPES and path.is_file():
                content = path.read_bytes()
                mark = f'"{hashlib.sha256(content).hexdigest()[:24]}"'
                name = path.relative_to(folder).as_posix()
                self._files[name] = (content, _TYPES[path.suffix], mark)

    def reply(self, scope: Scope, name: str) -> Response:
        """Return a file; nothing if the browser has it already.

        Parameters
        ----------
        scope
            The request, as ASGI hands it over.
        name : str
            Its name below `/static/`.
        """
        if name not in self._files:
            raise NotAllowed("there is no such file", 404)
        content, kind, mark = self._files[name]
        headers = {"content-type": kind, "etag": mark}
        if name != "index.html":
            # Asked for every time, as another version may be running by then.
            headers["cache-control"] = "no-cache"
            for known, value in scope["headers"]:
                if known == b"if-none-match" and mark.encode() in value:
                    return Response(None, 304, headers)
        return Response(content, 200, headers)
