r"""Certificates for any number of kinds: how pure the groups are, from pairs alone.

Two random members of a group are the same with probability q, the sum of the squared
shares of the true classes in it. Pairs within the group measure q, and q bounds its
purity, the largest share, from both sides (:mod:`pairlearn.trust.purity`). If each
group bears the name of its largest class, the error is the sum over groups of their
shares among the points times (1 - purity).

Pairs between two groups tell whether both have the same largest class. If these differ,
with purities m and m', two members are the same with probability at most

.. math:: m (1 - m') + m' (1 - m)
          = \tfrac{1}{2} - 2 (m - \tfrac{1}{2}) (m' - \tfrac{1}{2}) ,

and at most min(m, m'), so never above 1/2. Where it is above 1/2, both are one kind.

Such a certificate is valid if the two points of each pair are independent draws, either
from all points, or each from those of a group; and under the other conditions of
:mod:`pairlearn.trust.certificate`.
"""

from __future__ import annotations

import html
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

__all__ = ["GroupCouple", "GroupPurity", "KindsCertificate", "covering_kinds"]

Interval = tuple[float, float]

_WRONG = {
    "none": "",
    "known": ", {:.1%} wrong answers",
    "any": ", up to {:.1%} wrong answers in each group",
    "unknown": ", some answers may be wrong",
}
_COLUMNS = ("group", "share", "purity", "between", "pairs", "different", "errors")


@dataclass(frozen=True)
class GroupPurity:
    """How pure a predicted group is.

    Attributes
    ----------
    name : object
        Its name, as the classifier predicts it.
    share : float
        The share of the points that are in it.
    purity : float
        The share of its largest class among its points; nan if no pair lies within it.
    interval : tuple of float
        The interval for the purity; those of all groups hold together.
    n_pairs, n_different, n_unsure : int
        How many pairs lie within it, for how many the answer is "different", and for
        how many it is unsure.
    """

    name: Any
    share: float
    purity: float
    interval: Interval
    n_pairs: int
    n_different: int
    n_unsure: int = 0

    @property
    def error(self) -> float:
        """The share of all points that are in this group and not of its largest class.

        0 without a pair.
        """
        return 0.0 if np.isnan(self.purity) else self.share * (1 - self.purity)


@dataclass(frozen=True)
class GroupCouple:
    """What pairs between two predicted groups say.

    Attributes
    ----------
    names : tuple
        The names of the two groups.
    n_pairs, n_same, n_unsure : int
        How many pairs there are between them, for how many the answer is "same", and
        for how many it is unsure.
    at_least : float
        A lower end for the probability that a member of one and a member of the other
        are the same; those of all couples hold together.
    """

    names: tuple[Any, Any]
    n_pairs: int
    n_same: int
    n_unsure: int
    at_least: float

    @property
    def one_kind(self) -> bool:
        """Whether both groups have the same largest class: `at_least` is above 1/2."""
        return self.at_least > 0.5


@dataclass(frozen=True)
class KindsCertificate:
    """The error of a classifier into any number of groups, estimated from pairs.

    There are three statements, each of which holds with the given confidence: the
    interval of the error; the intervals of the purities, together; and the couples of
    `same_kind`, together.

    Attributes
    ----------
    error : float
        The share of points that are not of the largest class of their group: the error
        if each group bears the name of its largest class. Two groups may be one class.
    interval : tuple of float
        Its interval.
    groups : tuple of GroupPurity
        The groups, one by one.
    couples : tuple of GroupCouple
        Couples of groups, if there are pairs between them.
    n_pairs : int
        How many pairs were counted, within groups and between them.
    confidence : float
        The probability, at least, with which such an interval contains the truth.
    kinds : int or None
        How many true classes there are at most, as was said; None: any number.
    n_points : int or None
        In how many points the shares of the groups were counted, if the interval of the
        error makes up for that; None if they are taken for known.
    flip_rate : float
        The assumed rate of wrong answers.
    noise : {"none", "known", "any", "unknown"}
        What is taken for known about wrong answers; see :mod:`pairlearn.trust.noise`.
        Here "any" means that in each group no larger share of the answers is wrong than
        the larger one of 1 - r1 and r0.
    n_unsure : int
        How many of the pairs have an unsure answer. Within a group it counts as
        "different" for the lower end of the purity and the upper end of the error, as
        "same" for the others, and half for the estimate.
    anytime : bool
        Whether the intervals hold at all looks.
    bolder_interval : tuple of float or None
        What `interval` would be under the bolder assumption, as in
        :class:`~pairlearn.Certificate`.
    n_doubtful : int
        Pairs, in addition to `n_pairs`, with a point that equals in all features one
        that the model was trained on, or one of another pair; the intervals cover both
        cases, with and without them.
    unseen : bool or None
        Whether the model knows which points it was trained on, and these are others;
        None if that is not known.
    n_left_out : int
        Pairs that only people who do not count have answered, as in
        :class:`~pairlearn.Certificate`.

    Examples
    --------
    >>> from pairlearn.trust.kinds_counts import kinds_certificate_from_counts
    >>> counts = [9, 0, 21], [90, 120, 90]
    >>> found = kinds_certificate_from_counts(*counts, [0.3, 0.4, 0.3])
    >>> [round(end, 3) for end in found.interval]
    [0.034, 0.091]
    >>> max(found.groups, key=lambda group: group.error).name  # most errors are there
    2
    """

    error: float
    interval: Interval
    groups: tuple[GroupPurity, ...]
    couples: tuple[GroupCouple, ...]
    n_pairs: int
    confidence: float
    kinds: int | None = None
    n_points: int | None = None
    flip_rate: float = 0.0
    noise: str = "none"
    n_unsure: int = 0
    anytime: bool = False
    bolder_interval: Interval | None = None
    n_doubtful: int = 0
    unseen: bool | None = None
    n_left_out: int = 0

    @property
    def same_kind(self) -> tuple[tuple[Any, Any], ...]:
        """Couples of groups whose largest class is the same one."""
        return tuple(couple.names for couple in self.couples if couple.one_kind)

    @property
    def n_within(self) -> int:
        """How many of the pairs lie within a group."""
        return sum(group.n_pairs for group in self.groups)

    def __str__(self) -> str:
        rows = [_COLUMNS, *map(_row, self.groups)]
        widths = [max(len(row[k]) for row in rows) for k in range(len(_COLUMNS))]
        lines = [
            "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True))
            for row in rows
        ]
        return "\n".join([self._line(), *(f"  {line}".rstrip() for line in lines)])

    def range_in_words(self) -> str:
        """Return the interval of the error as words.

        Examples
        --------
        >>> from pairlearn.trust.kinds_counts import kinds_certificate_from_counts
        >>> certificate = kinds_certificate_from_counts([2, 3], [50, 50], [0.5, 0.5])
        >>> certificate.range_in_words()
        'between 0.8% and 6.5%'
        """
        low, high = self.interval
        if self.noise == "unknown":
            return f"at most {high:.1%}"
        return f"between {low:.1%} and {high:.1%}"

    def twins_in_words(self) -> list[str]:
        """Return a sentence for each couple of groups that are one kind."""
        return [f"groups {a} and {b} are one kind" for a, b in self.same_kind]

    def _line(self) -> str:
        twins = "".join(f"; {each}" for each in self.twins_in_words())
        return (
            f"error {self.error:.1%}, {self.range_in_words()}, if each group bears the "
            f"name of its largest kind ({100 * self.confidence:g}% confidence, "
            f"{self.n_pairs} pairs, {self.n_within} of them within one of "
            f"{len(self.groups)} groups{self._caveats()}){twins}"
        )

    def _caveats(self) -> str:
        kinds = f", at most {self.kinds} kinds" if self.kinds else ""
        return (
            kinds
            + f", {self.n_unsure} of them unsure" * bool(self.n_unsure)
            + f", with or without {self.n_doubtful} more" * bool(self.n_doubtful)
            + f", {self.n_left_out} more by people who do not count"
            * bool(self.n_left_out)
            + _WRONG[self.noise].format(self.flip_rate)
            + ", at all looks" * bool(self.anytime)
        )

    def __repr__(self) -> str:
        return f"<KindsCertificate: {self._line()}>"

    def _repr_html_(self) -> str:
        """Return a table of the groups, for notebooks."""
        left = 'style="text-align:left"'
        head = "".join(f"<th {left}>{name}</th>" for name in _COLUMNS)
        body = "".join(
            "<tr>"
            + "".join(f"<td {left}>{html.escape(cell)}</td>" for cell in _row(group))
            + "</tr>"
            for group in self.groups
        )
        caption = html.escape(f"Certificate: {self._line()}; no class labels used")
        return (
            f"<table><caption {left}>{caption}</caption><thead><tr>{head}</tr></thead>"
            f"<tbody>{body}</tbody></table>"
        )


def _row(group: GroupPurity) -> tuple[str, ...]:
    low, high = group.interval
    known = group.n_pairs > 0
    return (
        str(group.name),
        f"{group.share:.1%}",
        f"{group.purity:.1%}" if known else "unknown",
        f"{low:.1%} and {high:.1%}",
        str(group.n_pairs),
        str(group.n_different),
        f"{group.error:.1%}" if known else "unknown",
    )


def covering_kinds(one: KindsCertificate, other: KindsCertificate) -> KindsCertificate:
    """Return a certificate that holds if one of two does, with the higher error.

    It counts the pairs of the other one, which may be a part of those of the first.
    """

    def hull(a: Interval | None, b: Interval | None) -> Interval | None:
        return None if a is None or b is None else (min(a[0], b[0]), max(a[1], b[1]))

    couples = {couple.names: couple for couple in one.couples}
    return replace(
        other,
        error=max(one.error, other.error),
        interval=hull(one.interval, other.interval) or other.interval,
        bolder_interval=hull(one.bolder_interval, other.bolder_interval),
        groups=tuple(
            replace(b, interval=hull(a.interval, b.interval) or b.interval)
            for a, b in zip(one.groups, other.groups, strict=True)
        ),
        couples=tuple(
            replace(each, at_least=min(each.at_least, couples[each.names].at_least))
            for each in other.couples
            if each.names in couples
        ),
        n_doubtful=one.n_pairs - other.n_pairs,
    )
