"""What a report is made of, before it is HTML or Markdown.

All text is inline Markdown, so that one source serves both outputs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "MARKS", "VERDICTS", "Block", "Bullets", "Cell", "Check", "Legend", "Notes",
    "Picture", "Section", "Table", "Text", "Verdict",
]  # fmt: skip

Verdict = Literal[
    "holds", "holds with exceptions", "does not hold", "too few trials", "not run yet"
]

VERDICTS: dict[Verdict, str] = {
    "holds": "✓",
    "holds with exceptions": "◐",
    "does not hold": "✗",
    "too few trials": "◌",
    "not run yet": "○",
}

# A sign beside the colour, since neither print nor every eye has colours.
MARKS: dict[str, tuple[str, str]] = {
    "within": ("≈", "within three combined standard errors of the paper"),
    "below": ("▼", "below the paper by more than that (better)"),
    "above": ("▲", "above the paper by more than that (worse)"),
}


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Attributes
    ----------
    text : str
        Our number.
    paper : str
        The paper's, on a second line.
    note : str
        A small remark, such as how many trials there are of how many.
    bold : bool
        Whether our number is among the best.
    paper_bold : bool
        The same for the paper's.
    mark : str
        A key of `MARKS`, or empty.
    badge : str, optional
        The verdict that the text names.
    link : str
        The section that the text names.
    """

    text: str
    paper: str = ""
    note: str = ""
    bold: bool = False
    paper_bold: bool = False
    mark: str = ""
    badge: Verdict | None = None
    link: str = ""


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Bullets:
    """A list, folded away behind its title on the page if that is long."""

    title: str
    items: list[str]


@dataclass(frozen=True)
class Notes:
    """Hand-written Markdown, headings already put below the section's."""

    text: str


@dataclass(frozen=True)
class Legend:
    """What the colours and marks of the cells mean."""


@dataclass(frozen=True)
class Table:
    """A table; equal neighbours in the first column are drawn as one."""

    head: list[str]
    rows: list[list[Cell]]
    caption: str
    footnotes: list[str] = field(default_factory=list)
    words: bool = False  # text rather than numbers: set flush left
    labels: int = 1  # leading columns that name the row
    extra: int | None = None  # from this column on, what the paper has not
    ours: frozenset[int] = frozenset()  # rows that the paper has not


@dataclass(frozen=True)
class Picture:
    """A figure, drawn when it is wanted."""

    name: str
    draw: Callable[[], Any]  # returns a matplotlib figure
    caption: str
    alt: str


@dataclass(frozen=True)
class Check:
    """A claim, exactly what was tested, and what came out.

    Attributes
    ----------
    claim : str
        In a few words, for the summary.
    tested : str
        The test, exactly.
    verdict : str
        A key of `VERDICTS`.
    number : str
        The outcome in numbers.
    exceptions : list of str
        Every case that does not fit.
    missing : str
        What has not been run yet; the verdict is that of the rest.
    """

    claim: str
    tested: str
    verdict: Verdict
    number: str
    exceptions: list[str] = field(default_factory=list)
    missing: str = ""

    @property
    def decided(self) -> bool:
        """Whether there is a verdict on the claim."""
        return self.verdict not in ("too few trials", "not run yet")

    @property
    def partial(self) -> bool:
        """Whether the verdict rests on part of the trials."""
        return self.decided and bool(self.missing)

    @property
    def label(self) -> str:
        """The verdict, and whether it is a final one."""
        return f"{self.verdict}, so far" if self.partial else self.verdict

    @property
    def outcome(self) -> str:
        """The numbers, and what is missing from them."""
        return f"{self.number}; {self.missing}" if self.missing else self.number


Block = Text | Bullets | Notes | Legend | Table | Picture | Check


@dataclass(frozen=True)
class Section:
    """One experiment, or another section."""

    name: str
    title: str
    blocks: list[Block]

    @property
    def checks(self) -> list[Check]:
        """The checks among the blocks."""
        return [block for block in self.blocks if isinstance(block, Check)]

    @property
    def pictures(self) -> list[Picture]:
        """The figures among the blocks."""
        return [block for block in self.blocks if isinstance(block, Picture)]
