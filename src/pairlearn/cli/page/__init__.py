"""The page of `pairlearn fit --report`: one HTML file that needs no other."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from pairlearn.cli.page.markup import Html, fill, join, text
from pairlearn.cli.page.scored import score_points
from pairlearn.cli.page.sections import sections
from pairlearn.system.writing import write_files

if TYPE_CHECKING:
    import os

    from pairlearn.cli.summary import FitSummary

__all__ = ["render_page", "write_page"]


def write_page(path: str | os.PathLike[str], summary: FitSummary) -> None:
    """Write the page of a fit.

    The same summary gives the same bytes: there is no date in it, and not how long the
    fit took. The file appears when it is complete, or not at all.

    Parameters
    ----------
    path : path
        Where to write it. A file that is there is replaced.
    summary : FitSummary
        What was found.

    Raises
    ------
    OSError
        It cannot be written there.

    Examples
    --------
    >>> write_page("page.html", summary)  # doctest: +SKIP
    """
    write_files({Path(path): render_page(summary).encode()})


def render_page(summary: FitSummary) -> str:
    """Return the page of a fit as HTML.

    Parameters
    ----------
    summary : FitSummary
        What was found.

    Returns
    -------
    str
    """
    parts = sections(score_points(summary))
    # Of more than two groups, only points whose class is known tell the names.
    labelled = summary.named and len(summary.classes) > 2
    page = fill(
        "page",
        name=summary.source.get("points") or "Points",
        style=_style(),
        n_points=len(summary.ids),
        n_answers=len(summary.t),
        labels="class labels for the names alone" if labelled else "no class labels",
        version=summary.version,
        links=join([fill("link", **part) for part in parts], "\n"),
        body=join([fill("section", **part) for part in parts], "\n"),
        footer=fill("footer", digest=text(summary.digest, most=64))
        if summary.digest
        else "",
    )
    return f"{page}\n"


def _style() -> Html:
    """Return the style of the reproduction's report, and what this page adds."""
    # By way of the outermost package: to import the report itself takes seconds.
    shared = files("pairlearn") / "reproduce" / "report" / "page.css"
    own = files(__package__) / "page.css"
    return Html("\n".join(part.read_text("utf-8").strip() for part in (shared, own)))
