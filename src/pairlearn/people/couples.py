"""How far two people agree: their agreement, and Cohen's kappa."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from pairlearn.people.agreement import interval, kappa_of
from pairlearn.people.given import DIFFERENT, SAME
from pairlearn.people.listing import Listing, in_columns

if TYPE_CHECKING:
    from pairlearn.data.types import Floats, Ints
    from pairlearn.people.overlap import Overlap

__all__ = ["Couple", "Couples", "couples_of"]

# From this share of one answer on, chance alone makes people agree in three of four
# cases, and kappa hangs on the few answers of the other kind.
DOMINATES = 0.85
# A kappa from fewer pairs than these may be anything.
FEW = 20
# Imaginary pairs for the bootstrap: both same, one alone, the other alone, both
# different. Disagreements weigh half together, as they do for alpha.
_IMAGINED = np.eye(4), np.array([0.5, 0.25, 0.25, 0.5])
# Warnings that are printed one by one.
_WARNINGS = 5


@dataclass(frozen=True)
class Couple:
    """How far two people agree about the pairs that both have answered.

    Attributes
    ----------
    one, other : str
        The two people.
    both_same, both_different : int
        Pairs about which both said the same.
    one_same, other_same : int
        Pairs that only the one, and only the other, calls the same.
    confidence : float
        Of the interval.
    """

    one: str
    other: str
    both_same: int
    both_different: int
    one_same: int
    other_same: int
    confidence: float = 0.95

    @property
    def n_pairs(self) -> int:
        """How many pairs both have answered surely."""
        return self.n_agreed + self.one_same + self.other_same

    @property
    def n_agreed(self) -> int:
        """About how many of them they agree."""
        return self.both_same + self.both_different

    @property
    def agreement(self) -> float:
        """The share of pairs about which they agree."""
        return self.n_agreed / self.n_pairs

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa; None if both gave one answer throughout."""
        found = float(kappa_of(self._table))
        return None if np.isnan(found) else found

    @property
    def kappa_interval(self) -> tuple[float, float] | None:
        """The interval of kappa, by the bootstrap over pairs."""
        kappa = self.kappa
        if kappa is None:
            return None
        cells = np.repeat(np.eye(4), self._table.ravel().astype(int), axis=0)
        low, high = interval(cells, _kappas, self.confidence, imagined=_IMAGINED)
        return min(low, kappa), max(high, kappa)

    @property
    def warning(self) -> str:
        """Why kappa says little here; empty if nothing speaks against it."""
        said_same = 2 * self.both_same + self.one_same + self.other_same
        share = said_same / (2 * self.n_pairs)
        often, share = (SAME, share) if share >= 0.5 else (DIFFERENT, 1 - share)
        they = f"{self.one} and {self.other}"
        told = f"they agree about {self.n_agreed:,} of {self.n_pairs:,} pairs"
        told += f" ({self.agreement:.0%})"
        if self.kappa is None:
            return (
                f"{they} said '{often}' every time, so kappa is undefined; {told}, "
                "which chance alone would explain"
            )
        if share >= DOMINATES:
            return (
                f"{they}: {share:.0%} of their answers are '{often}', so kappa hangs "
                f"on a few pairs and is unstable; {told}"
            )
        if self.n_pairs < FEW:
            pairs = "pair" if self.n_pairs == 1 else "pairs"
            return f"{they}: kappa from {self.n_pairs} {pairs} may be anything"
        return ""

    @property
    def _table(self) -> Floats:
        cells = [
            [self.both_same, self.one_same],
            [self.other_same, self.both_different],
        ]
        return np.array(cells, dtype=float)

    def __str__(self) -> str:
        return str(Couples((self,)))


def _kappas(cells: Any, weights: Floats) -> Any:
    return kappa_of((weights @ cells).reshape(-1, 2, 2))


@dataclass(frozen=True)
class Couples(Listing[Couple]):
    """All couples of people who have answered the same pairs, in alphabetical order."""

    def __str__(self) -> str:
        if not self.rows:
            return "No two people have answered the same pair."
        rows = []
        for couple in self.rows:
            ends = couple.kappa_interval
            between = "" if ends is None else f"{ends[0]:.2f} to {ends[1]:.2f}"
            kappa = "undefined" if couple.kappa is None else f"{couple.kappa:.2f}"
            pairs, agree = f"{couple.n_pairs:,}", f"{couple.agreement:.0%}"
            name = f"{couple.one}, {couple.other}"
            rows.append((name, pairs, agree, kappa, between))
        head = "two people", "pairs", "agree", "kappa", "interval of kappa"
        remarks = [f"  • {remark}" for remark in self.remarks]
        return "\n".join([in_columns(head, rows), *remarks])

    @property
    def remarks(self) -> list[str]:
        """The warnings, without saying the same of many couples."""
        others = [
            one.warning for one in self.rows if one.n_pairs >= FEW and one.warning
        ]
        made = others[:_WARNINGS]
        if len(others) > _WARNINGS:
            more = len(others) - _WARNINGS
            made.append(f"the like holds for {more:,} more couples of people")
        if any(couple.n_pairs < FEW for couple in self.rows):
            told = f"a kappa from fewer than {FEW} pairs may be anything"
            made.append(f"{told}: go by its interval")
        return made

    def _records(self) -> tuple[list[str], list[tuple[Any, ...]]]:
        head = [
            "one",
            "other",
            "n_pairs",
            "agreement",
            "kappa",
            "low",
            "high",
            "warning",
        ]
        rows = [
            (
                couple.one,
                couple.other,
                couple.n_pairs,
                couple.agreement,
                couple.kappa,
                *(couple.kappa_interval or (None, None)),
                couple.warning,
            )
            for couple in self.rows
        ]
        return head, rows


def couples_of(found: Overlap, names: list[str], confidence: float) -> Couples:
    """Return all couples who have answered the same pairs."""
    same, different = (_answers(found, sign, len(names)) for sign in (1, -1))
    # Entry (a, b) counts pairs about which a said the first, and b the second.
    mixed = same.T @ different
    tables = [
        _upper(t) for t in (same.T @ same, different.T @ different, mixed, mixed.T)
    ]
    keys = np.unique(np.concatenate([key for key, _ in tables]))
    cells = np.zeros((len(keys), 4), dtype=int)
    for column, (key, counts) in enumerate(tables):
        cells[np.searchsorted(keys, key), column] = counts
    make = partial(Couple, confidence=confidence)
    rows = [
        make(names[key // len(names)], names[key % len(names)], *said)
        for key, said in zip(keys.tolist(), cells.tolist(), strict=True)
    ]
    # The names are in alphabetical order, and so are the keys.
    return Couples(tuple(rows))


def _upper(table: Any) -> tuple[Ints, Ints]:
    """Return the entries above the diagonal, with a number for each of their places."""
    entries = table.tocoo()
    above = entries.row < entries.col
    key = entries.row.astype(np.intp) * table.shape[1] + entries.col
    return key[above], entries.data[above].astype(np.intp)


def _answers(found: Overlap, sign: int, n_people: int) -> Any:
    """Return who gave this answer about which pair: (n_pairs, n_people)."""
    some: Ints = np.flatnonzero(found.said == sign)
    ones = np.ones(len(some))
    shape = len(found.counts), n_people
    return sparse.csr_array((ones, (found.pair[some], found.who[some])), shape=shape)
