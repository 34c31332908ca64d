r"""What the points of a model look like, and whether new ones look unlike them.

For each column a model stores a few numbers: for numbers and dates some quantiles, for
categories the shares of the commonest, and for all of them the share of missing cells.
No point is stored. New points are counted between these quantiles as they pass by, so
that memory does not grow with them.

The test of a column is that of Kolmogorov and Smirnov. With the distribution functions
F of n points at the fit and G of m new points, the largest distance between both at the
stored quantiles is D. If both are samples of one distribution, then

.. math:: P(D \ge d) \le e \cdot \exp(-2 d^2 \, nm / (n + m)),

(the inequality of Dvoretzky, Kiefer, Wolfowitz and Massart, for two samples that of Wei
and Dudley), and the same holds for the share of one category, or of missing cells
(Hoeffding). All columns, categories and shares of missing cells together raise a false
alarm in at most `ALPHA` of all tables, as each gets its part of it (Bonferroni). With
many points small differences show that do no harm; so a difference must also be large:
`LEAST` of the points would have to change.

Rows of one patient or device are no independent points, and more alike than chance has
it; the second condition is for these, too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.files.tables.cells import DATE_ORDERS, NUMBER_STYLES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pairlearn.data.types import Floats
    from pairlearn.files.tables.cell_columns import Cells
    from pairlearn.files.tables.points import Points
    from pairlearn.files.tables.reading import Table

__all__ = ["ALPHA", "LEAST", "NewPoints", "looks_of"]

# How often points of the same kind raise an alarm at most.
ALPHA = 0.01
# The share of the points by which a column must differ to be worth a word.
LEAST = 0.1
# Quantiles of a column, columns, and categories of a column that are stored.
_QUANTILES = 19
_MOST_COLUMNS = 400
_MOST_CATEGORIES = 20
# Rows of each part that are looked at: enough for the test, and quick.
_ROWS = 1000
_FORMS = {"numbers": NUMBER_STYLES, "dates": DATE_ORDERS}


def looks_of(points: Points) -> list[dict[str, Any]]:
    """Return a short description of the columns that a model learns from.

    Parameters
    ----------
    points : Points
        The points.

    Returns
    -------
    list of dict
        One for each column of numbers, dates or categories, of what JSON can hold.
    """
    found = []
    for column in points.columns[:_MOST_COLUMNS]:
        values = column.values
        about: dict[str, Any] = {"name": column.name, "kind": column.kind}
        if column.kind in _FORMS:
            numbers = np.asarray(values, dtype=float)
            given = numbers[~np.isnan(numbers)]
            if not len(given):
                continue
            at = np.arange(1, _QUANTILES + 1) / (_QUANTILES + 1)
            cuts = np.unique(np.quantile(given, at, method="inverted_cdf"))
            below = np.searchsorted(np.sort(given), cuts, side="right") / len(given)
            about |= {"form": column.form, "cuts": cuts.tolist()}
            about |= {"shares": below.tolist(), "n": len(given)}
            about |= {"n_all": len(numbers)}
        elif column.kind == "categories":
            codes = values.codes  # type: ignore[union-attr]
            counts = np.bincount(codes[codes >= 0], minlength=len(values.names))  # type: ignore[union-attr]
            top = np.argsort(-counts, kind="stable")[:_MOST_CATEGORIES]
            n_given = int(counts.sum())
            about |= {"names": [values.names[k] for k in top.tolist()]}  # type: ignore[union-attr]
            about |= {"shares": (counts[top] / max(n_given, 1)).tolist()}
            about |= {"n": n_given, "n_all": len(codes)}
        else:
            continue
        found.append(about)
    return found


@dataclass
class _Column:
    """A column at the fit, and the counts of new points."""

    name: str
    kind: str
    form: str
    cuts: Floats
    names: list[str]
    shares: Floats
    n: int
    n_all: int
    counts: Floats = field(init=False)
    n_new: int = 0
    n_new_all: int = 0

    def __post_init__(self) -> None:
        self.counts = np.zeros(len(self.shares))

    @classmethod
    def read(cls, about: Any) -> _Column:
        """Read what is stored; refuse what was never written so."""
        kind, form = about["kind"], about.get("form", "")
        shares = np.array(about["shares"], dtype=float)
        cuts = np.array(about.get("cuts", []), dtype=float)
        names = [str(name) for name in about.get("names", [])]
        n, n_all = about["n"], about["n_all"]
        known = kind in _FORMS and form in _FORMS[kind]
        sound = (
            (known or kind == "categories")
            and shares.ndim == 1
            and len(shares) == len(cuts if known else names)
            and bool(np.all((shares >= 0) & (shares <= 1)))
            and bool(np.all(np.isfinite(cuts)) and np.all(np.diff(cuts) > 0))
            and isinstance(n, int)
            and isinstance(n_all, int)
            and 0 <= n <= n_all
        )
        if not sound:
            raise ValueError("a description of a column that is none")
        return cls(str(about["name"]), kind, form, cuts, names, shares, n, n_all)

    def add(self, cells: Cells) -> None:
        """Count the cells of new points."""
        self.n_new_all += len(cells)
        if self.kind == "categories":
            found = [name for name in cells.categories().tolist() if name]
            self.n_new += len(found)
            number = {name: k for k, name in enumerate(self.names)}
            known = [number[name] for name in found if name in number]
            self.counts += np.bincount(known, minlength=len(self.names))
            return
        read = cells.numbers if self.kind == "numbers" else cells.days
        values = read(self.form).values
        values = values[~np.isnan(values)]
        self.n_new += len(values)
        self.counts += np.searchsorted(np.sort(values), self.cuts, side="right")

    @property
    def n_tests(self) -> int:
        """How many shares are compared, as far as the bound counts them."""
        return 1 + (len(self.names) if self.kind == "categories" else 1)

    def unlike(self, alpha: float) -> str | None:
        """Return in what the new points differ, if they do."""
        missing = 1 - self.n / self.n_all, 1 - self.n_new / max(self.n_new_all, 1)
        if _differ(*missing, self.n_all, self.n_new_all, alpha):
            return (
                f"{missing[1]:.0%} of its cells are missing ({missing[0]:.0%} before)"
            )
        if not self.n or not self.n_new:
            return None
        now = self.counts / self.n_new
        gap = np.abs(now - self.shares)
        if not len(gap):
            return None
        k = int(np.argmax(gap))
        if not _differ(self.shares[k], now[k], self.n, self.n_new, alpha):
            return None
        if self.kind == "categories":
            return f"{now[k]:.0%} are {self.names[k]!r} ({self.shares[k]:.0%} before)"
        return (
            f"{now[k]:.0%} are at most {self._shown(k)} ({self.shares[k]:.0%} before)"
        )

    def _shown(self, k: int) -> str:
        if self.kind == "dates":
            return str(np.datetime64(int(self.cuts[k]), "D"))
        return f"{self.cuts[k]:.4g}"


def _differ(one: float, other: float, n: int, m: int, alpha: float) -> bool:
    """Tell whether two shares differ by more than chance, and by much."""
    gap = abs(one - other)
    if gap < LEAST or not n or not m:
        return False
    return bool(np.e * np.exp(-2 * gap**2 * n * m / (n + m)) <= alpha)


class NewPoints:
    """Points that are predicted, compared with those that a model has learned from.

    Parameters
    ----------
    model : Pipeline
        A model, as `pairlearn fit` makes it.
    about : dict
        What is stored beside it; of older models there is no description, and then
        nothing is compared.
    """

    def __init__(self, model: Any, about: dict[str, Any]) -> None:
        self._columns: list[_Column] = []
        try:
            stored = about.get("looks") or []
            self._columns = [_Column.read(each) for each in stored]
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
            self._columns = []
        self._dates = _DateRanges(model)
        self._rng = np.random.default_rng(0)

    def watch(self, parts: Iterator[Table]) -> Iterator[Table]:
        """Pass the parts of a table on, and count what is in them.

        Parameters
        ----------
        parts : iterator of Table
            The parts of a table.

        Yields
        ------
        Table
            As they are.
        """
        for part in parts:
            rows = np.arange(len(part))
            if len(rows) > _ROWS:
                rows = np.sort(self._rng.choice(len(part), _ROWS, replace=False))
            for column in self._columns:
                if column.name in part.columns and len(rows):
                    column.add(part.columns[column.name].take(rows))
            self._dates.add(part)
            yield part

    def notes(self) -> list[str]:
        """Return what to tell."""
        n_tests = sum(column.n_tests for column in self._columns)
        alpha = ALPHA / max(n_tests, 1)
        found = [(column.name, column.unlike(alpha)) for column in self._columns]
        unlike = [(name, how) for name, how in found if how is not None]
        notes = self._dates.notes()
        if unlike:
            some = "; ".join(f"in column {name!r} {how}" for name, how in unlike[:3])
            more = f"; and {len(unlike) - 3} more column(s)" * (len(unlike) > 3)
            notes.append(
                "these points look unlike those that the model was made with: "
                f"{some}{more}. Its error may be larger here; check it with answers "
                "about these points (pairlearn certify)"
            )
        return notes


class _DateRanges:
    """How many new points have dates that lie beyond those of the training."""

    def __init__(self, model: Any) -> None:
        self._ranges: dict[str, tuple[str, float, float]] = {}
        self._before: dict[str, int] = {}
        self._after: dict[str, int] = {}
        try:
            for label, step in model[0].transformer_.named_transformers_.items():
                if label.startswith("dates"):
                    read = step[0]
                    ends = zip(
                        read.feature_names_in_, read.first_, read.last_, strict=True
                    )
                    for name, first, last in ends:
                        self._ranges[str(name)] = read.order, float(first), float(last)
        except (AttributeError, KeyError, TypeError, IndexError, ValueError):
            self._ranges = {}

    def add(self, part: Table) -> None:
        for name, (order, first, last) in self._ranges.items():
            if name in part.columns:
                days = part.columns[name].days(order).values
                for counts, some in (
                    (self._before, days < first),
                    (self._after, days > last),
                ):
                    counts[name] = counts.get(name, 0) + int(some.sum())

    def notes(self) -> list[str]:
        notes = []
        for name, (_, first, last) in self._ranges.items():
            for n, when, day, end in (
                (self._before.get(name, 0), "before", first, "first"),
                (self._after.get(name, 0), "after", last, "last"),
            ):
                if n:
                    notes.append(
                        f"column {name!r}: {n:,} point(s) have dates {when} "
                        f"{np.datetime64(int(np.floor(day)), 'D')}, the {end} that the "
                        "model has learned from; they count as that day"
                    )
        return notes
