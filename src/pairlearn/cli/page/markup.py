"""Pieces of HTML in which no text of a user can become markup."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Html", "bar", "bullets", "join", "paragraph", "percent", "table", "text"]

# Longer names are cut: a page should not grow sideways without end.
LONGEST = 60
# Control characters, halves of characters, and marks that turn the direction of what
# follows, by which one name could pose as another.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


class Html(str):
    """Text that is HTML already. All other text is escaped when it is put in."""

    __slots__ = ()


def text(value: object, most: int = LONGEST) -> Html:
    """Return text of a user as HTML that shows it.

    Parameters
    ----------
    value : object
        Any text; HTML is returned as it is.
    most : int
        Characters that are shown of it.

    Returns
    -------
    Html

    Examples
    --------
    >>> text("<script>")
    '&lt;script&gt;'
    >>> text("number 12345", most=9)
    'numbe…345'
    """
    if isinstance(value, Html):
        return value
    shown = _UNSEEN.sub("\ufffd", str(value))
    if len(shown) > most:
        # The end tells long ids apart that begin alike.
        tail = most // 3
        shown = shown[: most - tail - 1] + "…" + shown[-tail:]
    return Html(html.escape(shown))


def percent(share: float) -> str:
    """Return a share as a percentage.

    Examples
    --------
    >>> percent(0.0415), percent(0.0), percent(1e-6), percent(0.99999)
    ('4.2%', '0.0%', 'below 0.1%', 'above 99.9%')
    """
    shown = f"{share:.1%}"
    if share < 1 and shown == "100.0%":
        return "above 99.9%"
    return "below 0.1%" if share > 0 and shown == "0.0%" else shown


def paragraph(*parts: object, kind: str = "") -> Html:
    """Return a paragraph; sentences of our own are long, so nothing is cut."""
    name = f' class="{kind}"' if kind else ""
    return Html(f"<p{name}>{join(parts, '')}</p>")


def join(parts: Iterable[object], between: str = "\n") -> Html:
    """Return pieces one after the other."""
    return Html(between.join(text(part, most=2000) for part in parts))


def bullets(items: Sequence[object], most: int = 12) -> Html:
    """Return a list; what is past `most` items is folded away."""
    lines = [f"<li>{text(item, most=600)}</li>" for item in items]
    shown = "\n".join(["<ul>", *lines[:most], "</ul>"])
    if len(lines) <= most:
        return Html(shown)
    rest = "\n".join(["<ul>", *lines[most:], "</ul>"])
    return Html(
        f"{shown}\n<details><summary>{len(lines) - most:,} more</summary>\n{rest}\n"
        "</details>"
    )


def bar(share: float) -> Html:
    """Return a bar whose length is a share of the whole."""
    width = 100 * min(max(share, 0.0), 1.0)
    return Html(f'<span class="bar"><span style="width:{width:.1f}%"></span></span>')


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    caption: object = "",
    words: Sequence[int] = (0,),
) -> Html:
    """Return a table.

    Parameters
    ----------
    head : sequence of str
        What each column holds.
    rows : sequence of sequences
        Cells. The first of a row is its name.
    caption : object
        A sentence above the table.
    words : sequence of int
        Columns of text, which are set flush left; all others are numbers.

    Returns
    -------
    Html
    """

    def cell(column: int, content: object, scope: str = "") -> str:
        tag = f'th scope="{scope}"' if scope else "td"
        kind = ' class="word"' if column in words else ""
        return f"<{tag}{kind}>{text(content)}</{tag[:2]}>"

    def row(cells: Sequence[object]) -> str:
        first = cell(0, cells[0], "row")
        return first + "".join(cell(i, c) for i, c in enumerate(cells[1:], start=1))

    heads = "".join(cell(i, name, "col") for i, name in enumerate(head))
    body = "\n".join(f"<tr>{row(cells)}</tr>" for cells in rows)
    over = f"<figcaption>{text(caption, most=600)}</figcaption>\n" if caption else ""
    return Html(
        f'<figure class="table">\n{over}<div class="scroll" tabindex="0">\n<table>\n'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n"
        "</div>\n</figure>"
    )
