"""The report as one self-contained page of HTML."""

from __future__ import annotations

from html import escape
from importlib.resources import files
from itertools import groupby
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

from pairlearn.reproduce.report import blocks
from pairlearn.reproduce.report.blocks import MARKS, VERDICTS
from pairlearn.reproduce.report.figures import inline

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["render"]

# Images would have to be fetched from elsewhere, and raw HTML could do anything.
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
_LONG = 6  # a longer list is folded away
_COLUMNS, _PHONE = 10, 55  # columns, and characters in a row, that need no scrolling

_CLASSES: dict[blocks.Verdict, str] = {
    "holds": "good",
    "holds with exceptions": "partly",
    "does not hold": "bad",
    "too few trials": "open",
    "not run yet": "open",
}


def render(
    title: str, sections: list[blocks.Section], drawings: Mapping[str, str]
) -> str:
    """Return the report as a page that needs no other file.

    Parameters
    ----------
    title : str
        The heading.
    sections : list of Section
        What follows.
    drawings : dict of str
        The SVG of each figure, by its name.

    Returns
    -------
    str
    """
    css = (files(__package__) / "page.css").read_text("utf-8").strip()
    body = "\n".join(
        line for section in sections for line in _section(section, drawings)
    )
    links = "\n".join(
        f'<a href="#{section.name}">{_inline(section.title)}</a>'
        for section in sections
    )
    skeleton = (files(__package__) / "page.html").read_text("utf-8")
    return skeleton.format(title=escape(title), css=css, links=links, body=body)


def _inline(text: str) -> str:
    return str(_MARKDOWN.renderInline(text))


def _section(section: blocks.Section, drawings: Mapping[str, str]) -> Iterator[str]:
    yield f'<section id="{section.name}">'
    yield f"<h2>{_inline(section.title)}</h2>"
    for block in section.blocks:
        yield from _block(block, drawings)
    yield "</section>"


def _block(block: blocks.Block, drawings: Mapping[str, str]) -> Iterator[str]:
    match block:
        case blocks.Text(text):
            yield f"<p>{_inline(text)}</p>"
        case blocks.Notes(text):
            yield str(_MARKDOWN.render(text)).strip()
        case blocks.Bullets(title, items):
            yield from _list(title, items)
        case blocks.Legend():
            yield '<ul class="legend">'
            for name, (mark, meaning) in MARKS.items():
                yield f'<li><span class="{name}">{mark}</span> {escape(meaning)}</li>'
            yield "</ul>"
        case blocks.Picture():
            yield from _figure(block, drawings[block.name])
        case blocks.Check():
            yield from _check(block)
        case blocks.Table():
            yield from _table(block)


def _figure(picture: blocks.Picture, svg: str) -> Iterator[str]:
    yield f'<figure id="figure-{picture.name}">'
    yield f'<div class="drawing">{inline(picture, svg)}</div>'
    yield f"<figcaption>{_inline(picture.caption)}</figcaption>"
    yield "</figure>"


def _list(title: str, items: list[str], *, shown: int = _LONG) -> Iterator[str]:
    folded = len(items) > shown
    yield (
        f"<details><summary>{_inline(title)} ({len(items)})</summary>"
        if folded
        else f"<p>{_inline(title)}:</p>"
    )
    yield "<ul>"
    yield from (f"<li>{_inline(item)}</li>" for item in items)
    yield "</ul>"
    if folded:
        yield "</details>"


def _badge(verdict: blocks.Verdict, label: str) -> str:
    return f'<span class="badge {_CLASSES[verdict]}">{VERDICTS[verdict]} {label}</span>'


def _check(check: blocks.Check) -> Iterator[str]:
    yield f'<div class="check {_CLASSES[check.verdict]}">'
    yield f"<p><strong>{_inline(check.claim)}</strong> "
    yield f"{_badge(check.verdict, check.label)}</p>"
    yield f'<p class="tested">{_inline(check.tested)}</p>'
    yield f"<p>{_inline(check.outcome)}.</p>"
    if check.exceptions:
        yield from _list("Exceptions", check.exceptions)
    yield "</div>"


def _table(table: blocks.Table) -> Iterator[str]:
    yield f'<figure class="table{_width(table)}">'
    yield f"<figcaption>{_inline(table.caption)}</figcaption>"
    yield '<div class="scroll" tabindex="0">'
    kind = "words" if table.words else "dense" if table.extra else "numbers"
    yield f'<table class="{kind}">'
    head = (
        f'<th scope="col"{_classes(table, i)}>'
        f"{_inline(name).replace(' (', '<br>(')}</th>"
        for i, name in enumerate(table.head)
    )
    yield f"<thead><tr>{''.join(head)}</tr></thead>"
    for _, group in groupby(enumerate(table.rows), key=lambda row: row[1][0].text):
        rows = list(group)
        yield "<tbody>"
        for number, (place, row) in enumerate(rows):
            cells = [
                _cell(table, i, cell, span=len(rows) if i == 0 else 1)
                for i, cell in enumerate(row)
                if i or not number
            ]
            kind = ' class="ours"' if place in table.ours else ""
            yield f"<tr{kind}>{''.join(cells)}</tr>"
        yield "</tbody>"
    yield "</table>"
    yield "</div>"
    yield from (f'<p class="footnote">{_inline(note)}</p>' for note in table.footnotes)
    yield "</figure>"


def _width(table: blocks.Table) -> str:
    """Return the class of a table that is wider than a phone, or than most windows."""
    if len(table.head) > _COLUMNS:
        return " widest"
    columns = zip(*table.rows, strict=True)
    n_characters = sum(
        2 + max(_least([head], wraps=True), *(_cell_width(table, c) for c in column))
        for head, column in zip(table.head, columns, strict=False)
    )
    return " wide" if n_characters > _PHONE else ""


def _cell_width(table: blocks.Table, cell: blocks.Cell) -> int:
    return _least([cell.text, cell.paper, cell.note], wraps=table.words)


def _least(texts: list[str], *, wraps: bool) -> int:
    """Return the characters that cannot be put on two lines."""
    pieces = [p for text in texts for p in (text.split() if wraps else [text])]
    return max((len(piece.strip("*")) for piece in pieces), default=0)


def _classes(table: blocks.Table, column: int, *more: str) -> str:
    names = [name for name in more if name]
    if column < min(table.labels, 2):
        names.append(f"label{column}")
    if table.extra is not None and column >= table.extra:
        names.append("extra first" if column == table.extra else "extra")
    return f' class="{" ".join(names)}"' if names else ""


def _cell(table: blocks.Table, column: int, cell: blocks.Cell, span: int) -> str:
    text = _badge(cell.badge, cell.text) if cell.badge else _inline(cell.text)
    if cell.link:
        text = f'<a href="#{cell.link}">{text}</a>'
    if cell.bold:
        text = f"<strong>{text}</strong>"
    if cell.mark:
        mark, meaning = MARKS[cell.mark]
        text += f' <span class="mark" title="{escape(meaning)}">{mark}</span>'
    if cell.paper:
        paper = _inline(cell.paper)
        paper = f"<strong>{paper}</strong>" if cell.paper_bold else paper
        text += f'<span class="paper">{paper}</span>'
    if cell.note:
        text += f'<span class="note">{_inline(cell.note)}</span>'
    if column < table.labels:
        rows = f' rowspan="{span}"' if span > 1 else ""
        scope = "rowgroup" if span > 1 else "row"
        return f'<th scope="{scope}"{rows}{_classes(table, column)}>{text}</th>'
    return f"<td{_classes(table, column, cell.mark)}>{text}</td>"
