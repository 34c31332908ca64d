"""From counts of answers within and between groups to a certificate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pairlearn.data.checks import check_integer, check_share
from pairlearn.trust.intervals import clopper_pearson, confidence_sequence
from pairlearn.trust.kinds_certificate import (
    GroupCouple,
    GroupPurity,
    KindsCertificate,
)
from pairlearn.trust.noise import Noise, as_noise
from pairlearn.trust.purity import (
    Within,
    error_interval,
    greatest_purity,
    least_purity,
    purity_intervals,
    truly_different,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from pairlearn.data.types import Floats, Ints

__all__ = ["GroupCounts", "kinds_certificate_from_counts", "make_kinds_certificate"]


class GroupCounts(NamedTuple):
    """Answers by the groups of both points: arrays of shape (n_groups, n_groups).

    A pair of groups k <= l counts in row k and column l.
    """

    same: Ints
    different: Ints
    unsure: Ints

    @classmethod
    def of(cls, groups: Ints, t: Floats, n_groups: int) -> GroupCounts:
        """Count; `groups` has shape (n_pairs, 2), answers of 0 are unsure."""
        low, high = groups.min(axis=1), groups.max(axis=1)

        def count(which: Any) -> Ints:
            cell = low[which] * n_groups + high[which]
            found = np.bincount(cell, minlength=n_groups**2)
            return found.reshape(n_groups, n_groups).astype(np.intp)

        return cls(count(t > 0), count(t < 0), count(t == 0))

    @property
    def n_pairs(self) -> Ints:
        """How many pairs there are."""
        return self.same + self.different + self.unsure

    @property
    def within(self) -> Within:
        """The pairs within the groups."""
        cells = (self.n_pairs, self.different, self.unsure)
        return Within(*(cell.diagonal() for cell in cells))

    def scaled(self, factor: float) -> GroupCounts:
        """Return a share of these counts, rounded."""
        return GroupCounts(*(np.rint(factor * c).astype(np.intp) for c in self))


def kinds_certificate_from_counts(
    n_different: ArrayLike,
    n_pairs: ArrayLike,
    shares: ArrayLike,
    confidence: float = 0.95,
    flip_rates: Any = None,
    *,
    n_unsure: ArrayLike = 0,
    kinds: int | None = None,
    n_points: int | None = None,
    cautious: bool = False,
    anytime: bool = False,
    names: Sequence[Any] | None = None,
) -> KindsCertificate:
    """Return the certificate of so many "different" answers within each group.

    Parameters
    ----------
    n_different, n_pairs : array-like of shape (n_groups,)
        How many answers about pairs within each group are "different", and out of how
        many pairs.
    shares : array-like of shape (n_groups,)
        The share of each group among the points.
    confidence : float, default=0.95
        Confidence of the intervals.
    flip_rates : float, tuple, FlipRateEstimate or None, default=None
        How often answers are wrong, as for :func:`~pairlearn.certify`.
    n_unsure : array-like of shape (n_groups,), default=0
        How many of the pairs have an unsure answer.
    kinds : int, optional
        How many true classes there are at most; None: any number.
    n_points : int, optional
        In how many random points the shares were counted; None: they are known.
    cautious : bool, default=False
        Whether wrong answers may fall on hard pairs above all.
    anytime : bool, default=False
        Whether the intervals are to hold at all looks.
    names : sequence, optional
        Names of the groups; None: 0, 1, 2, ...

    Returns
    -------
    KindsCertificate

    Examples
    --------
    >>> print(kinds_certificate_from_counts([9, 0, 21], [90, 120, 90], [0.3, 0.4, 0.3]))
    error 5.5%, between 3.4% and 9.1%, if each group bears the name of its largest kind
    (95% confidence, 300 pairs, 300 of them within one of 3 groups)
      group  share  purity  between           pairs  different  errors
      0      30.0%  94.8%   88.7% and 98.0%   90     9          1.6%
      1      40.0%  100.0%  98.0% and 100.0%  120    0          0.0%
      2      30.0%  87.0%   76.8% and 93.0%   90     21         3.9%
    """
    n = np.asarray(n_pairs, dtype=np.intp)
    different = np.asarray(n_different, dtype=np.intp)
    weights = np.asarray(shares, dtype=float)
    if n.ndim != 1 or not n.size or not different.shape == n.shape == weights.shape:
        raise ValueError(
            "n_different, n_pairs and shares need one number for each group; got "
            f"shapes {different.shape}, {n.shape} and {weights.shape}"
        )
    unsure = np.broadcast_to(np.asarray(n_unsure, dtype=np.intp), n.shape)
    if (different < 0).any() or (unsure < 0).any() or (different + unsure > n).any():
        raise ValueError("there cannot be more answers than pairs, or fewer than none")
    if (weights < 0).any() or not np.isclose(weights.sum(), 1):
        raise ValueError(f"shares must add up to 1; they add up to {weights.sum():g}")
    counts = GroupCounts(
        *(np.diag(c) for c in (n - different - unsure, different, unsure))
    )
    return make_kinds_certificate(
        counts, weights, as_noise(flip_rates, cautious=cautious), confidence,
        names=list(range(len(n))) if names is None else list(names),
        kinds=kinds, n_points=n_points, anytime=anytime,
    )  # fmt: skip


def make_kinds_certificate(
    counts: GroupCounts,
    shares: Floats,
    noise: Noise,
    confidence: float,
    *,
    names: Sequence[Any],
    kinds: int | None = None,
    n_points: int | None = None,
    anytime: bool = False,
) -> KindsCertificate:
    """Return the certificate of counts, for what is known about wrong answers."""
    check_share("confidence", confidence)
    if kinds is not None:
        check_integer("kinds", kinds, minimum=2)
    if anytime and n_points is not None:
        raise ValueError(
            "an interval for all looks needs known shares of the groups; pass the "
            "points on which the classifier is used: certify(..., points=X)"
        )
    risk = noise.confidence - confidence
    if risk <= 0:
        raise ValueError(
            f"flip rates that are known with {100 * noise.confidence:g}% confidence "
            f"are not enough for a certificate of {100 * confidence:g}%; estimate "
            "them with more confidence"
        )
    within = counts.within
    options: dict[str, Any] = {"kinds": kinds, "anytime": anytime}
    low, high = purity_intervals(within, noise, risk, **options)
    purity = _purities(within, noise, kinds)
    interval = error_interval(within, shares, noise, risk, n_points=n_points, **options)
    bolder = None
    if noise.bolder is not None:
        left = noise.bolder.confidence - confidence
        bolder = error_interval(
            within, shares, noise.bolder, left, n_points=n_points, **options
        )
    # A group without a pair is taken to be like all others.
    alike = _purities(
        Within(*(part.sum(keepdims=True) for part in within)), noise, kinds
    )
    filled = np.where(np.isnan(purity), alike, purity)
    error = float(shares @ (1 - filled)) if within.n_pairs.any() else interval[1]
    n_all, n_same = counts.n_pairs.sum(), counts.same.sum()
    return KindsCertificate(
        error=float(np.clip(error, *interval)),
        interval=interval,
        groups=tuple(
            GroupPurity(
                name=names[k],
                share=float(shares[k]),
                purity=float(np.clip(purity[k], low[k], high[k])),
                interval=(float(low[k]), float(high[k])),
                n_pairs=int(within.n_pairs[k]),
                n_different=int(within.n_different[k]),
                n_unsure=int(within.n_unsure[k]),
            )
            for k in range(len(shares))
        ),
        couples=_couples(counts, noise, risk, names, anytime=anytime),
        n_pairs=int(n_all),
        confidence=confidence,
        kinds=kinds,
        n_points=n_points,
        flip_rate=_flip_rate(noise, int(n_same), int(n_all - counts.unsure.sum())),
        noise=noise.kind,
        n_unsure=int(counts.unsure.sum()),
        anytime=anytime,
        bolder_interval=bolder,
    )


def _purities(within: Within, noise: Noise, kinds: int | None) -> Floats:
    """Return estimates, half way between the least and the greatest purity."""
    with np.errstate(invalid="ignore"):
        told = (within.n_different + within.n_unsure / 2) / within.n_pairs
    r1, r0 = noise.rates
    same = 1 - np.clip((told - (1 - r1)) / (r1 - r0), 0.0, 1.0)
    if kinds is not None:
        same = np.maximum(same, 1 / kinds)
    found = (least_purity(same) + greatest_purity(same, kinds)) / 2
    return np.where(within.n_pairs > 0, found, np.nan)


def _couples(
    counts: GroupCounts,
    noise: Noise,
    risk: float,
    names: Sequence[Any],
    *,
    anytime: bool,
) -> tuple[GroupCouple, ...]:
    """Return what pairs between groups say; the lower ends hold together."""
    n_pairs, n_groups = counts.n_pairs, len(names)
    # At all looks together, couples that have no pair yet count, too.
    cells = [
        (k, m)
        for k in range(n_groups)
        for m in range(k + 1, n_groups)
        if n_pairs[k, m] or anytime
    ]
    ends = confidence_sequence if anytime else clopper_pearson
    level = 1 - 2 * risk / max(len(cells), 1)
    found = []
    for k, m in cells:
        n, n_same = int(n_pairs[k, m]), int(counts.same[k, m])
        if not n:
            continue
        told = np.array([1 - ends(n_same, n, level)[0]])
        most = truly_different(noise, 0 * told, told)[1]
        found.append(
            GroupCouple(
                names=(names[k], names[m]),
                n_pairs=n,
                n_same=n_same,
                n_unsure=int(counts.unsure[k, m]),
                at_least=float(1 - most[0]),
            )
        )
    return tuple(found)


def _flip_rate(noise: Noise, n_same: int, n_sure: int) -> float:
    """Return the share of wrong answers among these, or the most in one group."""
    if noise.kind == "any":
        # A majority may be wrong so many times as often as one of its answers.
        factor = noise.majorities or 1.0
        return factor * max(max(1 - r1, r0) for r1, r0 in noise.corners)
    r1, r0 = noise.rates
    same = float(np.clip((n_same / max(n_sure, 1) - r0) / (r1 - r0), 0.0, 1.0))
    return same * (1 - r1) + (1 - same) * r0
