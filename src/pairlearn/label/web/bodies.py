"""The bodies of requests: read up to a limit, and checked before anything is done.

A body is described by the fields that it may have, and what each must be. Whatever
does not fit is refused with a sentence, so that the desk gets plain, proper values.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pairlearn.label.web.refusals import NotAllowed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.types import Receive, Scope

__all__ = ["LARGEST_BODY", "Field", "checked", "integer", "json_body", "listed"]
__all__ += ["mark", "maybe", "number", "one_of", "record", "text"]

LARGEST_BODY = 64 * 1024
_MARK = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
# Halves of a surrogate pair can be written in JSON, but in no file; and no database
# has a use for the null character.
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_LARGEST_NUMBER = 2**53


@dataclass(frozen=True)
class Field:
    """A field of a body: what it must be, and whether it may be left out."""

    check: Callable[[Any, str], Any]
    needed: bool = True


async def json_body(scope: Scope, receive: Receive) -> Any:
    """Read the body of a request as JSON.

    Parameters
    ----------
    scope, receive
        The request, as ASGI hands it over.

    Returns
    -------
    object
        What the body says.

    Raises
    ------
    NotAllowed
        If it is too large, no JSON, or not called so.
    """
    kind = size = b""
    for name, value in scope["headers"]:
        if name == b"content-type":
            kind = value
        elif name == b"content-length":
            size = value
    if kind.partition(b";")[0].strip().lower() != b"application/json":
        raise NotAllowed("send JSON, with Content-Type: application/json", 415)
    if size.isdigit() and len(size) < 20 and int(size) > LARGEST_BODY:
        raise _too_large()
    body = await _read(receive)
    try:
        return json.loads(
            body.decode(), parse_constant=_no_number, object_pairs_hook=_each_once
        )
    except RecursionError:
        raise NotAllowed("the body is nested too deeply") from None
    except ValueError:  # no UTF-8, no JSON, or a number of thousands of digits
        raise NotAllowed("the body is not proper JSON") from None


async def _read(receive: Receive) -> bytes:
    """Return the whole body; one that is too large is not read to its end."""
    body = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise NotAllowed("the connection was closed before all was sent")
        body += bytes(message.get("body", b""))
        if len(body) > LARGEST_BODY:
            raise _too_large()
        if not message.get("more_body", False):
            return body


def _too_large() -> NotAllowed:
    return NotAllowed(f"the body is larger than {LARGEST_BODY // 1024} KB", 413)


def _no_number(_: str) -> None:
    raise ValueError("not a number")


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is there twice")
    return found


def checked(value: Any, fields: Mapping[str, Field], what: str = "the body") -> Any:
    """Return the fields of an object, each checked; None where one is left out.

    Examples
    --------
    >>> checked({"a": 1}, {"a": Field(integer(0, 9)), "b": Field(text(9), False)})
    {'a': 1, 'b': None}
    >>> checked({"a": True}, {"a": Field(integer(0, 9))})
    Traceback (most recent call last):
    ...
    pairlearn.label.web.refusals.NotAllowed: 'a' must be a whole number from 0 to 9
    """
    if type(value) is not dict:
        raise NotAllowed(f"{what} must be an object with {_names(fields)}")
    strange = value.keys() - fields.keys()
    if strange:
        raise NotAllowed(
            f"{what} has a field that is not known, {min(strange)[:40]!a}; there are "
            f"{_names(fields)}"
        )
    found = {}
    for name, field in fields.items():
        if name in value:
            found[name] = field.check(value[name], repr(name))
        elif field.needed:
            raise NotAllowed(f"{what} must have a field {name!r}")
        else:
            found[name] = None
    return found


def _names(fields: Mapping[str, Field]) -> str:
    return ", ".join(map(repr, fields))


def integer(low: int, high: int = _LARGEST_NUMBER) -> Callable[[Any, str], int]:
    """Return the check for a whole number within bounds."""

    def check(value: Any, name: str) -> int:
        if type(value) is not int or not low <= value <= high:
            to = f"from {low} to {high}" if high < _LARGEST_NUMBER else f"from {low} on"
            raise NotAllowed(f"{name} must be a whole number {to}")
        return value

    return check


def number(low: float, high: float) -> Callable[[Any, str], float]:
    """Return the check for a number within bounds."""

    def check(value: Any, name: str) -> float:
        # Comparing also refuses what is infinite or too large to be a float.
        if type(value) not in (int, float) or not low <= value <= high:
            raise NotAllowed(f"{name} must be a number from {low:g} to {high:g}")
        return float(value)

    return check


def text(longest: int) -> Callable[[Any, str], str]:
    """Return the check for text; what cannot be stored becomes a replacement sign."""

    def check(value: Any, name: str) -> str:
        if type(value) is not str or len(value) > longest:
            raise NotAllowed(f"{name} must be text of at most {longest} characters")
        return _UNSTORABLE.sub("\ufffd", value)

    return check


def mark(value: Any, name: str) -> str:
    """Check an id that a page has made: letters, digits and few signs."""
    if type(value) is not str or not _MARK.fullmatch(value):
        raise NotAllowed(
            f"{name} must be 1 to 64 characters, letters, digits or any of _ . : -"
        )
    return value


def one_of(*words: str) -> Callable[[Any, str], str]:
    """Return the check for one of some words."""

    def check(value: Any, name: str) -> str:
        if type(value) is not str or value not in words:
            raise NotAllowed(f"{name} must be {', '.join(words[:-1])} or {words[-1]}")
        return value

    return check


def listed(
    check_one: Callable[[Any, str], Any], most: int, least: int = 0
) -> Callable[[Any, str], list[Any]]:
    """Return the check for a list."""

    def check(value: Any, name: str) -> list[Any]:
        if type(value) is not list or not least <= len(value) <= most:
            raise NotAllowed(f"{name} must be a list of {least} to {most} entries")
        return [check_one(each, f"an entry of {name}") for each in value]

    return check


def record(fields: Mapping[str, Field]) -> Callable[[Any, str], dict[str, Any]]:
    """Return the check for an object with fields of its own."""

    def check(value: Any, name: str) -> dict[str, Any]:
        return dict(checked(value, fields, name))

    return check


def maybe(check_one: Callable[[Any, str], Any]) -> Callable[[Any, str], Any]:
    """Return the check for a value that may be null."""

    def check(value: Any, name: str) -> Any:
        return None if value is None else check_one(value, name)

    return check
