"""The pieces of the page, in which no text of a user can become markup."""

from __future__ import annotations

import html
import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Html", "bullets", "card", "fill", "join", "percent", "sentence", "table"]
__all__ += ["text"]

# Longer names are cut: a page should not grow sideways without end.
LONGEST = 60
# Control characters, halves of characters, and marks that turn the direction of what
# follows, by which one name could pose as another.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
# A piece begins at its name, and has places: {name}, {name:format}, and {name?} on a
# line of its own, which is left out if there is nothing to say.
_NAME = re.compile("<!-- ([a-z ]+) -->\n?")
_PLACE = re.compile(r"\{(\w+)(?::([^{}]+))?\}|\n\{(\w+)\?\}")


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


def fill(piece: str, /, **places: object) -> Html:
    """Return a piece of page.html or several.html with something in each of its places.

    What is put in is never searched for places, and all text but HTML is escaped.

    Parameters
    ----------
    piece : str
        The name of the piece.
    **places : object
        What to put into each place.

    Returns
    -------
    Html

    Examples
    --------
    >>> fill("item", content="<b> {content}")
    '<li>&lt;b&gt; {content}</li>'
    >>> fill("less weight", n_left=1200, weight=1e-9)
    '<p class="footnote">1,200 more models have below 0.1% of the weight together.</p>'
    """

    def put(place: re.Match[str]) -> str:
        name, form, line = place.groups()
        if line is not None:
            return f"\n{text(places[line])}" if places[line] else ""
        value: Any = places[name]
        if form is None:
            return text(value)
        return percent(value) if form == "percent" else format(value, form)

    return Html(_PLACE.sub(put, _pieces()[piece]))


@cache
def _pieces() -> dict[str, str]:
    """Return the pieces of page.html and several.html by their names."""
    found: dict[str, str] = {}
    for file in ("page.html", "several.html"):
        template = (files(__package__) / file).read_text("utf-8")
        _, *parts = _NAME.split(re.sub(r"\n +", " ", template))
        pieces = zip(parts[::2], parts[1::2], strict=True)
        found |= {name: content.rstrip("\n") for name, content in pieces}
    return found


def join(parts: Iterable[object], between: str = "") -> Html:
    """Return pieces one after the other."""
    return Html(between.join(map(text, parts)))


def card(what: str, value: str, note: Html) -> Html:
    """Return a card: a number, what it is, and a note on it."""
    return fill("card", what=what, value=value, note=note)


def sentence(phrase: str) -> str:
    """Return a phrase as a sentence."""
    return f"{phrase[0].upper()}{phrase[1:]}."


def bullets(items: Sequence[object], most: int = 12) -> Html:
    """Return a list; what is past `most` items is folded away."""
    lines = [fill("item", content=text(item, most=600)) for item in items]
    shown = fill("list", items=join(lines[:most], "\n"))
    if len(lines) <= most:
        return shown
    rest = fill("list", items=join(lines[most:], "\n"))
    return fill("folded", shown=shown, n_left=len(lines) - most, rest=rest)


def table(
    head: Sequence[str], rows: Sequence[Sequence[object]], words: Sequence[int] = (0,)
) -> Html:
    """Return a table.

    Parameters
    ----------
    head : sequence of str
        What each column holds.
    rows : sequence of sequences
        Cells. The first of a row is its name.
    words : sequence of int
        Columns of text, which are set flush left; all others are numbers.

    Returns
    -------
    Html
    """

    def cell(column: int, content: object, scope: str) -> str:
        tag = f'th scope="{scope}"' if scope else "td"
        kind = ' class="word"' if column in words else ""
        return f"<{tag}{kind}>{text(content)}</{tag[:2]}>"

    def row(cells: Sequence[object], *scopes: str) -> str:
        scopes += ("",) * (len(cells) - len(scopes))
        return "".join(map(cell, range(len(cells)), cells, scopes))

    return fill(
        "table",
        head=Html(row(head, *["col"] * len(head))),
        body=Html("\n".join(f"<tr>{row(cells, 'row')}</tr>" for cells in rows)),
    )
