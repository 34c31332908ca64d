"""What people see who come without a link, or with a wrong one."""

from __future__ import annotations

import base64
import hashlib
from html import escape
from typing import TYPE_CHECKING

from starlette.responses import HTMLResponse

if TYPE_CHECKING:
    from starlette.responses import Response

__all__ = ["NO_LINK", "WRONG_LINK", "show", "show_ended", "step_inside"]

NO_LINK = (
    "This page can only be opened with a link. If you started pairlearn label "
    "yourself, open the link that it printed in the terminal; it begins with http and "
    "has “token” in it. If somebody invited you, open the link that they sent you, or "
    "ask them for it."
)
WRONG_LINK = (
    "This link is not valid here. Perhaps a part of it got lost on the way: copy all "
    "of it, up to the last letter. If you started pairlearn label yourself, open the "
    "link that it printed in the terminal; if somebody invited you, ask them for a new "
    "link."
)
_STYLE = (
    "html{color-scheme:light dark}"
    "body{font:1.125rem/1.6 system-ui,sans-serif;max-width:38rem;margin:12vh auto;"
    "padding:0 1.5rem}h1{font-size:1.5rem}"
)
_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_POLICY = (
    f"default-src 'none'; style-src 'sha256-{_HASH}'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
_PAGE = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
{{head}}<title>pairlearn label</title>
<style>{_STYLE.replace("{", "{{").replace("}", "}}")}</style>
</head>
<body>
<main>
<h1>{{title}}</h1>
<p>{{text}}</p>
</main>
</body>
</html>
"""


def show(text: str, status: int) -> Response:
    """Return a page with a few sentences."""
    title = "You need a link to come in"
    return _page(_PAGE.format(head="", title=title, text=escape(text)), status)


def show_ended(why: str, status: int) -> Response:
    """Return a page for somebody whose invitation has been revoked."""
    title = "Your invitation has ended"
    return _page(_PAGE.format(head="", title=title, text=escape(why)), status)


def step_inside() -> Response:
    """Return a page that goes on to the real one.

    A browser sends a cookie that is `SameSite=Strict` only if the step to a page comes
    from the same site. Who follows a link in a mail comes from elsewhere, also through
    a redirect; but the step from this page to the next one is our own.
    """
    page = _PAGE.format(
        head='<meta http-equiv="refresh" content="0; url=/">\n',
        title="One moment",
        text='If nothing happens, <a href="/">go on to the page</a>.',
    )
    return _page(page, 200)


def _page(page: str, status: int) -> Response:
    return HTMLResponse(page, status, {"content-security-policy": _POLICY})
