"""The report as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pairlearn.reproduce.report import blocks
from pairlearn.reproduce.report.blocks import MARKS, VERDICTS

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["demote", "render"]


def render(title: str, sections: list[blocks.Section]) -> str:
    """Return the report as Markdown, with figures as links to files beside it.

    Parameters
    ----------
    title : str
        The heading.
    sections : list of Section
        What follows.

    Returns
    -------
    str
    """
    lines = [f"# {title}", ""]
    for section in sections:
        lines += [f"## {section.title}", ""]
        for block in section.blocks:
            lines += [*_lines(block), ""]
    return "\n".join(lines).rstrip() + "\n"


def _lines(block: blocks.Block) -> Iterator[str]:
    match block:
        case blocks.Text(text):
            yield text
        case blocks.Notes(text):
            yield text.strip()
        case blocks.Bullets(title, items):
            yield f"{title}:"
            yield ""
            yield from (f"- {item}" for item in items)
        case blocks.Legend():
            yield (
                "; ".join(f"{mark} {meaning}" for mark, meaning in MARKS.values()) + "."
            )
        case blocks.Picture():
            yield f"![{block.alt}](figures/{block.name}.svg)"
            yield ""
            yield f"*{block.caption}*"
        case blocks.Check():
            yield (
                f"**{VERDICTS[block.verdict]} {block.claim}: {block.label}.** "
                f"{block.tested} Result: {block.outcome}."
            )
            if block.exceptions:
                yield ""
                yield from (f"- {item}" for item in block.exceptions)
        case blocks.Table():
            yield from _table(block)


def _table(table: blocks.Table) -> Iterator[str]:
    yield table.caption
    yield ""
    yield _row(table.head)
    n_left = len(table.head) if table.words else table.labels
    align = ["---"] * n_left + ["---:"] * (len(table.head) - n_left)
    yield _row(align)
    for row in table.rows:
        yield _row([_cell(cell) for cell in row])
    for note in table.footnotes:
        yield ""
        yield note


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _cell(cell: blocks.Cell) -> str:
    text = f"**{cell.text}**" if cell.bold else cell.text
    if cell.badge:
        text = f"{VERDICTS[cell.badge]} {text}"
    parts = [text]
    if cell.note:
        parts.append(f"[{cell.note}]")
    if cell.mark:
        parts.append(MARKS[cell.mark][0])
    line = " ".join(parts)
    if cell.paper:
        paper = f"**{cell.paper}**" if cell.paper_bold else cell.paper
        line += f" / {paper}"
    return line


def demote(text: str, level: int = 3) -> str:
    r"""Put the headings of a text below a section's: the highest becomes `level`.

    Parameters
    ----------
    text : str
        Markdown.
    level : int, default=3
        Level of the highest heading in the result.

    Returns
    -------
    str

    Examples
    --------
    >>> print(demote("# One\n## Two"))
    ### One
    #### Two
    """
    from markdown_it import MarkdownIt

    lines = text.splitlines()
    tokens = MarkdownIt("commonmark").parse(text)
    found = [
        (token, tokens[i + 1].content)
        for i, token in enumerate(tokens)
        if token.type == "heading_open" and token.map and token.level == 0
    ]
    if not found:
        return text
    shift = level - min(int(token.tag[1]) for token, _ in found)
    for token, content in reversed(found):
        start, end = token.map or (0, 0)
        depth = min(6, int(token.tag[1]) + shift)
        lines[start:end] = [f"{'#' * depth} {' '.join(content.split())}"]
    return "\n".join(lines)
