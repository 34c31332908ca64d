"""The page of `pairlearn fit --report`: one HTML file that needs no other."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from pairlearn.cli.page.markup import text
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
    links = "\n".join(f'<a href="#{s.name}">{text(s.title)}</a>' for s in parts)
    body = "\n".join(
        f'<section id="{s.name}">\n<h2>{text(s.title)}</h2>\n{s.body}\n</section>'
        for s in parts
    )
    name = text(summary.source.get("points") or "Points")
    title = f"{name}: a classifier learned from pairs"
    # Nothing is fetched and nothing is run, even if a name slipped through.
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
{_style()}
</style>
</head>
<body>
<header>
<h1>{title}</h1>
<p class="about">{len(summary.ids):,} points, {len(summary.t):,} answers “same or \
different?”, no class labels. Made with pairlearn {text(summary.version)}.</p>
<nav>
{links}
</nav>
</header>
<main>
{body}
{_footer(summary)}</main>
</body>
</html>
"""


def _footer(summary: FitSummary) -> str:
    """Return to which model file the page belongs."""
    if not summary.digest:
        return ""
    return (
        '<footer class="about"><p>This page belongs to the model file with the SHA-256 '
        f"digest <code>{text(summary.digest, most=64)}</code>. <code>pairlearn "
        "explain</code> prints the digest of a model file.</p></footer>\n"
    )


def _style() -> str:
    """Return the style of the reproduction's report, and what this page adds."""
    # By way of the outermost package: to import the report itself takes seconds.
    shared = files("pairlearn") / "reproduce" / "report" / "page.css"
    own = files(__package__) / "page.css"
    return "\n".join(part.read_text("utf-8").strip() for part in (shared, own))
