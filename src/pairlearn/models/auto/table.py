"""What was tried, and why the choice fell as it did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Any, overload

from pairlearn.data.notebook import plain_table

__all__ = ["Candidate", "Candidates"]

# Up to so many rows are all printed; of more, those with a weight.
_ALL = 10
HEAD = ("columns", "kernel", "scale", "log-likelihood", "pair error", "weight")


@dataclass(frozen=True)
class Candidate:
    """One candidate, judged by pairs that it had not seen.

    Attributes
    ----------
    columns : str
        View of the columns: "standard", "power" or, with points that shape the
        features, their leading "axes"; with blocks, such as the words of
        texts, also the part of these ("words"), "blocks" for all of them, and "all" for
        blocks and other columns, with the variance of these beside that of the blocks;
        "" for the constant model.
    kernel : str
        Kernel, and its width in typical distances; "smooth" if it rests on unlabelled
        points, too.
    scale : float or None
        Standard deviation of the prior on the weights, which is about how far scores
        spread.
    log_likelihood : float
        Mean log-likelihood of a held-out answer, after scaling the scores.
    pair_error : float
        How often it disagrees with a held-out answer.
    weight : float
        Its share in the average.
    """

    columns: str
    kernel: str
    scale: float | None
    log_likelihood: float
    pair_error: float
    weight: float


class Candidates(Sequence[Candidate]):
    """A table of candidates, the largest weight first.

    Parameters
    ----------
    rows : iterable of Candidate
        The candidates, in any order.
    note : str
        What the choice rests on.

    Examples
    --------
    >>> Candidates([Candidate("power", "rbf 1", 4.0, -0.5, 0.2, 1.0)], "20 pairs")
    columns   kernel          scale  log-likelihood  pair error  weight
    power     rbf 1               4         -0.5000       20.0%  100.0%
    20 pairs
    """

    def __init__(self, rows: Any, note: str = "") -> None:
        self._rows = sorted(rows, key=lambda row: (-row.weight, -row.log_likelihood))
        self.note = note

    @overload
    def __getitem__(self, item: int) -> Candidate: ...
    @overload
    def __getitem__(self, item: slice) -> list[Candidate]: ...
    def __getitem__(self, item: Any) -> Any:
        """Return one candidate, or a list of them."""
        return self._rows[item]

    def __len__(self) -> int:
        return len(self._rows)

    def to_dict(self) -> list[dict[str, Any]]:
        """Return the rows as dictionaries, which pandas.DataFrame takes as they are.

        Returns
        -------
        list of dict
        """
        return [asdict(row) for row in self._rows]

    def __repr__(self) -> str:
        shown = [row for row in self._rows if row.weight or len(self._rows) <= _ALL]
        table = [HEAD, *map(_cells, shown)]
        first = max(10, *(len(row[0]) + 2 for row in table))
        width = max(14, *(len(row[1]) + 1 for row in table))
        lines = [
            f"{columns:<{first}}{kernel:<{width}}{scale:>7}{fit:>16}{error:>12}{weight:>8}"
            for columns, kernel, scale, fit, error, weight in table
        ]
        left = len(self._rows) - len(shown)
        more = [f"and {left} without weight"] if left else []
        return "\n".join([*lines, *more, self.note]).rstrip()

    def _repr_html_(self) -> str:
        """Return a table for notebooks."""
        rows = (map(escape, _cells(row)) for row in self._rows)
        return plain_table(str(self.note), HEAD, rows)


def _cells(row: Candidate) -> tuple[str, ...]:
    """Return the cells of a row as text."""
    return (
        str(row.columns),
        str(row.kernel),
        "" if row.scale is None else f"{row.scale:g}",
        f"{row.log_likelihood:.4f}",
        f"{row.pair_error:.1%}",
        f"{row.weight:.1%}",
    )
