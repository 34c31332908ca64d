"""What owners ask of the server: progress, names of groups, and files."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pairlearn.label.web.bodies import (
    Field,
    integer,
    listed,
    mark,
    one_of,
    record,
    text,
)
from pairlearn.label.web.file_replies import download
from pairlearn.label.web.guard import ticket_of
from pairlearn.label.web.refusals import NotAllowed
from pairlearn.label.web.replies import JSONReply, to_json
from pairlearn.label.web.room import body_of, person_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from pairlearn.label.web.room import Room

__all__ = ["Owning"]

_MOST_GROUPS, _LONGEST_GROUP = 200, 100


def _key(value: Any, name: str) -> int | str:
    """Check the key of a group: as the panel tells it, a number or a short text."""
    if type(value) is int:
        return integer(-(2**53))(value, name)
    return text(200)(value, name)


_GROUP = {"key": Field(_key), "name": Field(text(_LONGEST_GROUP))}
_NAMES = {"id": Field(mark), "names": Field(listed(record(_GROUP), _MOST_GROUPS))}
_FILES = {"what": Field(one_of("model", "predictions", "report"))}
_KINDS = {
    "pairs.csv": "text/csv; charset=utf-8",
    "model.skops": "application/octet-stream",
    "predictions.csv": "text/csv; charset=utf-8",
    "report.html": "text/html; charset=utf-8",
}


class Owning:
    """Answer the requests of owners.

    Parameters
    ----------
    room : Room
        What to answer from.
    """

    def __init__(self, room: Room) -> None:
        self._room = room

    async def progress(self, _: Request) -> Response:
        """Tell how far it is."""
        things = self._room.things
        panel = await self._room.desk.progress()
        rows = {
            row
            for group in panel.get("groups") or ()
            for row in group.get("typical") or ()
        }
        shown = b",".join(b'"%d":%b' % (row, things.json(row)) for row in sorted(rows))
        told = to_json(_finite({**panel, "things": {}}))
        return JSONReply(told.removesuffix(b"{}}") + b"{%b}}" % shown)

    async def names(self, request: Request) -> Response:
        """Keep the names of groups."""
        person, said = person_of(request), await body_of(request, _NAMES)
        for each in said["names"]:
            each["name"] = " ".join(each["name"].split())
        await self._room.desk.name_groups(person, said["id"], said["names"])
        return JSONReply(b'{"saved":true}')

    async def make(self, request: Request) -> Response:
        """Begin to make a file, unless it is there."""
        said = await body_of(request, _FILES)
        return JSONReply(to_json(await self._room.files.make(said["what"])))

    async def states(self, _: Request) -> Response:
        """Tell which files there are."""
        return JSONReply(to_json(self._room.files.states()))

    async def fetch(self, request: Request) -> Response:
        """Send a file."""
        name = request.path_params["name"]
        if name not in _KINDS:
            raise NotAllowed("there is no such file", 404)
        files = self._room.files
        pairs = name == "pairs.csv"
        made = await files.pairs_csv() if pairs else await files.content(name)
        if made is None:
            raise NotAllowed("this file has not been made yet; ask for it first", 404)
        if request.method == "GET":  # and not HEAD, which takes nothing along
            by = ticket_of(request.scope).name
            await self._room.desk.members.note(by, "download", {"what": name})
        return download(made, name, _KINDS[name])


def _finite(value: Any) -> Any:
    """Return plain values with null for numbers that JSON does not know."""
    if isinstance(value, dict):
        return {str(key): _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
