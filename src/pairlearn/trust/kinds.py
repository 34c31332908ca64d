"""From a classifier into groups and pairs to a certificate for any number of kinds."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.data.checks import check_integer
from pairlearn.data.containers import check_table, on_host
from pairlearn.data.pairs import Pairs
from pairlearn.trust.intervals import clopper_pearson
from pairlearn.trust.kinds_certificate import covering_kinds
from pairlearn.trust.kinds_counts import GroupCounts, make_kinds_certificate
from pairlearn.trust.known_points import with_and_without
from pairlearn.trust.purity import truly_different
from pairlearn.trust.sample_checks import (
    SURE,
    UNUSUAL,
    MoreKindsError,
    random_pairs_p_value,
    warn_if_too_high,
)

if TYPE_CHECKING:
    from numpy.random import RandomState

    from pairlearn.data.types import Bools, Floats, Ints, PointsLike
    from pairlearn.trust.kinds_certificate import KindsCertificate
    from pairlearn.trust.noise import Noise

__all__ = ["group_names", "judge_kinds", "pairs_within_groups", "weigh_all_kinds"]


def group_names(clf: Any, predicted: Any) -> list[Any]:
    """Return the names of the groups: the classes, and what else was predicted."""
    seen = np.unique(np.asarray(on_host(predicted))).tolist()
    classes: list[Any] = np.asarray(getattr(clf, "classes_", seen)).tolist()
    return classes + [name for name in seen if name not in classes]


def _numbers(predicted: Any, names: list[Any]) -> Ints:
    """Return the number of each prediction in a list of names."""
    found, inverse = np.unique(np.asarray(on_host(predicted)), return_inverse=True)
    place = np.array([names.index(name) for name in found.tolist()], dtype=np.intp)
    return place[inverse.ravel()]


def judge_kinds(
    clf: Any,
    pairs: Pairs,
    t: Floats,
    noise: Noise,
    *,
    kinds: int | None = None,
    points: PointsLike | None = None,
    confidence: float = 0.95,
    anytime: bool = False,
    doubtful: Bools | None = None,
) -> KindsCertificate:
    """Return the certificate of a classifier from pairs that share no point.

    Parameters
    ----------
    clf : object
        A classifier into any number of groups.
    pairs : Pairs
        Pairs that share no point.
    t : ndarray of shape (n_pairs,)
        Their answers: -1, +1, or 0 for unsure.
    noise : Noise
        What is known about wrong answers.
    kinds : int, optional
        How many true classes there are at most; None: any number.
    points : points, as the classifier takes them, optional
        Those on which it is used: the shares of the groups are counted in them, and the
        pairs need be random within and between groups only. None: the pairs are random,
        and their points tell the shares.
    confidence, anytime
        As for :func:`~pairlearn.certify`.
    doubtful : ndarray of bool of shape (n_pairs,), optional
        As for :func:`~pairlearn.trust.certify.judge`.

    Returns
    -------
    KindsCertificate
    """
    if anytime and not hasattr(clf, "classes_"):
        raise ValueError(
            "an interval for all looks needs to know all groups beforehand; this "
            "classifier has no attribute classes_"
        )
    said = on_host(clf.predict(pairs.X))
    pool = None if points is None else on_host(clf.predict(points))
    names = group_names(clf, said if pool is None else np.append(said, pool))
    group = _numbers(said, names)[pairs.index]
    known = None if pool is None else _shares(_numbers(pool, names), len(names))
    says = np.where(group[:, 0] == group[:, 1], 1.0, -1.0)
    if kinds is not None:
        _refuse_still_more(says, t, noise, kinds)
    if known is None:
        _warn_if_not_random(group, len(names))
    exact = noise.confidence == 1 and noise.majorities is None
    if noise.kind in ("known", "any") and exact:
        least = max(r1 for r1, _ in noise.corners), min(r0 for _, r0 in noise.corners)
        warn_if_too_high(says[t != 0], t[t != 0], least, confidence)

    def counted(which: Bools) -> KindsCertificate:
        chosen = group[which]
        n_points = None if known is not None else chosen.size
        return make_kinds_certificate(
            GroupCounts.of(chosen, t[which], len(names)),
            _shares(chosen.ravel(), len(names)) if known is None else known,
            noise,
            confidence,
            names=names,
            kinds=kinds,
            n_points=n_points,
            anytime=anytime,
        )

    return with_and_without(doubtful, len(t), counted, covering_kinds)


def weigh_all_kinds(
    clf: Any,
    pairs: Pairs,
    t: Floats,
    index: Ints,
    noise: Noise,
    found: KindsCertificate,
) -> KindsCertificate:
    """Return a certificate that also covers what all pairs say, shared points included.

    As :func:`~pairlearn.trust.certify.weigh_all` does for two kinds; not exact.
    """
    pairs = pairs.compact()
    names = [group.name for group in found.groups]
    group = _numbers(clf.predict(pairs.X), names)[pairs.index]
    counts = GroupCounts.of(group, np.sign(t), len(names))
    often = np.bincount(index.ravel()).astype(float)
    n_even = often.sum() ** 2 / (often @ often) / 2
    n = max(1.0, min(n_even, found.n_pairs))
    shares = np.array([each.share for each in found.groups])
    if found.n_points is not None:
        shares = _shares(group.ravel(), len(names))
    other = make_kinds_certificate(
        counts.scaled(n / len(t)),
        shares,
        noise,
        found.confidence,
        names=names,
        kinds=found.kinds,
        n_points=None if found.n_points is None else round(2 * n),
    )
    return replace(covering_kinds(other, found), n_doubtful=found.n_doubtful)


def _shares(group: Ints, n_groups: int) -> Floats:
    return np.bincount(group, minlength=n_groups) / len(group)


def _warn_if_not_random(group: Ints, n_groups: int) -> None:
    """Warn if two points of a group, or of two, meet too often for random pairs."""
    in_group = group[:, :, None] == np.arange(n_groups)
    p_values = [random_pairs_p_value(*one.T) for one in np.moveaxis(in_group, 2, 0)]
    if min(p_values) * n_groups < UNUSUAL:
        warnings.warn(
            "the pairs do not look random: points of some group meet each other more "
            "or less often than chance would have it. The certificate holds for random "
            "pairs; if these were drawn at random within groups, pass points=X, the "
            "points on which the classifier is used",
            stacklevel=4,
        )


def _refuse_still_more(says: Floats, t: Floats, noise: Noise, kinds: int) -> None:
    """Refuse answers that so few kinds cannot give, with an error of 1/1000."""
    n, n_different = int(np.sum(says > 0)), int(np.sum((says > 0) & (t < 0)))
    if not n or noise.kind == "unknown":
        return
    told = np.array([clopper_pearson(n_different, n, SURE)[0]])
    if truly_different(noise, told, told)[0][0] > 1 - 1 / kinds:
        raise MoreKindsError(
            f"{n_different} of {n} pairs within groups are 'different', but random "
            f"pairs of {kinds} kinds are the same at least once in {kinds} times. So "
            f"there seem to be more than {kinds} kinds, or the pairs were not drawn at "
            "random"
        )


def pairs_within_groups(
    clf: Any,
    X: PointsLike,
    n_pairs: int,
    *,
    n_between: int = 0,
    random_state: int | RandomState | None = None,
) -> Pairs:
    """Draw random pairs within the groups that a classifier predicts.

    Answers about such pairs say more about the error of a classifier into several
    groups than those about random pairs, of which with K groups of equal size only one
    in K lies within a group. Pass the same points to ``certify(clf, pairs, t,
    points=X)``. No point occurs twice.

    Parameters
    ----------
    clf : object
        Fitted, with a method ``predict(X)`` for points.
    X : array-like, sparse or data frame of shape (n_points, n_features)
        Points on which the classifier is used, and which it was not trained on.
    n_pairs : int
        How many pairs to draw within groups; each group gets as many as its share of
        the points, and at least one if it has two points.
    n_between : int, default=0
        How many pairs to draw, in addition, between each two groups. They tell whether
        two groups are one kind; about ten are enough for that.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    Pairs
        In random order.

    Examples
    --------
    >>> import numpy as np
    >>> from pairlearn import pairs_within_groups
    >>> from sklearn.cluster import KMeans
    >>> X = np.repeat([[0.0], [5.0], [9.0]], [60, 30, 10], axis=0)
    >>> clf = KMeans(3, n_init=1, random_state=0).fit(X)
    >>> pairs = pairs_within_groups(clf, X, 20, random_state=0)
    >>> np.unique(X[pairs.index].mean(axis=1), return_counts=True)
    (array([0., 5., 9.]), array([12,  6,  2]))
    """
    from sklearn.utils import check_random_state

    check_integer("n_pairs", n_pairs)
    check_integer("n_between", n_between, minimum=0)
    rng = check_random_state(random_state)
    X = check_table(X)
    said = on_host(clf.predict(X))
    names = np.unique(np.asarray(said)).tolist()
    group = _numbers(said, names)
    size = np.bincount(group, minlength=len(names))
    wanted = _dealt(n_pairs, size)
    needed = 2 * wanted + n_between * (len(names) - 1)
    if (needed > size).any() or wanted.sum() < n_pairs:
        k = int(np.argmax(needed - size))
        raise ValueError(
            f"{n_pairs} pairs within groups, and {n_between} between each two, need "
            f"{needed[k]} points of group {names[k]}, which has {size[k]}; draw fewer "
            "pairs, or give more points"
        )
    order = rng.permutation(len(group))
    members = [order[group[order] == k] for k in range(len(names))]
    drawn = [
        each[: 2 * n].reshape(-1, 2) for each, n in zip(members, wanted, strict=True)
    ]
    left = [each[2 * n :] for each, n in zip(members, wanted, strict=True)]
    for k in range(len(names)):
        for m in range(k + 1, len(names)):
            drawn.append(np.stack([left[k][:n_between], left[m][:n_between]], axis=1))
            left[k], left[m] = left[k][n_between:], left[m][n_between:]
    index = np.concatenate(drawn)
    return Pairs(X, index[rng.permutation(len(index))])


def _dealt(n_pairs: int, size: Ints) -> Ints:
    """Return how many pairs each group gets: by its size, if it has two points."""
    most = size // 2
    exact = n_pairs * size / size.sum()
    dealt: Ints = np.minimum(np.maximum(np.floor(exact), 1), most).astype(np.intp)
    # What rounding has left over goes to the groups that it has cut most.
    while dealt.sum() != n_pairs:
        few = dealt.sum() < n_pairs
        open_ = dealt < most if few else dealt > 1
        if not open_.any():
            break
        lack = np.where(open_, exact - dealt, -np.inf if few else np.inf)
        dealt[int(np.argmax(lack) if few else np.argmin(lack))] += 1 if few else -1
    return dealt
