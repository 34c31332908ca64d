"""What stands in an address behind the question mark, checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pairlearn.label.web.bodies import integer
from pairlearn.label.web.refusals import NotAllowed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request

__all__ = ["query_of", "span"]


def query_of(request: Request, *names: str) -> dict[str, str]:
    """Return the parts of a query; refuse others than those that are known."""
    query = dict(request.query_params)
    strange = query.keys() - set(names)
    if strange:
        raise NotAllowed(
            f"the address has a part that is not known, {min(strange)[:40]!a}"
        )
    return query


def span(query: Mapping[str, str], most: int) -> tuple[int | None, int]:
    """Return which part of a list is asked for: before which number, and how many."""
    before = _digits(query["before"], "'before'") if query.get("before") else None
    limit = _digits(query.get("limit") or "50", "'limit'")
    return before, integer(1, most)(limit, "'limit'")


def _digits(said: str, name: str) -> int:
    if not (said.isascii() and said.isdigit() and len(said) <= 16):
        raise NotAllowed(f"{name} must be a whole number")
    return int(said)
