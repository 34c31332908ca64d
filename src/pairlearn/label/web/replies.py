"""Responses: JSON in ASCII, and sentences about what is wrong."""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import Response

__all__ = ["JSONReply", "error_reply", "to_json"]


def to_json(value: Any) -> bytes:
    r"""Return a value as JSON in ASCII, whatever characters it holds.

    Examples
    --------
    >>> to_json({"name": "Zoë"})
    b'{"name":"Zo\\u00eb"}'
    """
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii")


class JSONReply(Response):
    """JSON that is ready to be sent."""

    media_type = "application/json"


def error_reply(message: str, status: int, *, ended: bool = False) -> Response:
    """Return the response that tells what is wrong.

    Parameters
    ----------
    message : str
        What is wrong.
    status : int
        The status of the response.
    ended : bool
        Whether the invitation of whoever asks has been revoked.
    """
    told: dict[str, Any] = {"error": message}
    return JSONReply(to_json(told | ({"ended": True} if ended else {})), status)
