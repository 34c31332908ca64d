"""From a classifier and pairs to a certificate."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.data.checks import (
    check_answers,
    check_groups,
    check_integer,
    check_share,
)
from pairlearn.data.containers import on_host
from pairlearn.data.graph import disjoint_pairs
from pairlearn.data.pairs import Pairs, as_pairs
from pairlearn.trust.certificate import covering, make_certificate
from pairlearn.trust.kinds import group_names, judge_kinds, weigh_all_kinds
from pairlearn.trust.known_points import (
    equal_rows_once,
    groups_in_training,
    memory_of,
    points_in_training,
    taken_in_turn,
    with_and_without,
)
from pairlearn.trust.noise import Counts, Noise, as_noise, rates_of
from pairlearn.trust.sample_checks import (
    UNUSUAL,
    MoreKindsError,
    random_pairs_p_value,
    refuse_more_kinds,
    refuse_more_than_chance,
    warn_if_too_high,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from pairlearn.data.types import Bools, Floats, Ints, PairsLike, PointsLike
    from pairlearn.trust.certificate import Certificate
    from pairlearn.trust.kinds_certificate import KindsCertificate

__all__ = ["certify", "how_many_kinds", "judge", "weigh_all"]

_ANY_NUMBER = "kinds='any' gives a certificate that holds for any number of kinds"


def certify(
    clf: Any,
    pairs: PairsLike,
    t: ArrayLike,
    *,
    confidence: float = 0.95,
    flip_rates: Any = None,
    cautious: bool = False,
    anytime: bool = False,
    groups: ArrayLike | None = None,
    kinds: int | str | None = None,
    points: PointsLike | None = None,
) -> Certificate | KindsCertificate:
    """Estimate the error of a classifier from pairs, with a confidence interval.

    The interval is valid if the pairs were drawn at random and were not used for
    training or class assignment, and if the answers are as right, or as wrong, as is
    said here; see the notes.

    Parameters
    ----------
    clf : object
        Fitted, with a method ``predict(X)`` for points: an estimator of this
        package, a pipeline, or any other classifier or clustering.
    pairs : Pairs or array-like of shape (n_pairs, 2, n_features)
        Fresh random pairs.
    t : array-like of shape (n_pairs,)
        Their answers, -1 or +1, or 0 for unsure. An unsure answer counts as wrong for
        the upper end of the interval and as right for the lower end: left out, it
        would make the certificate too good, since hard pairs are unsure.
    confidence : float, default=0.95
        Confidence of the intervals.
    flip_rates : float, tuple, FlipRateEstimate, "auto" or None, default=None
        How often answers are wrong: None for never; (r1, r0) with r1 = P(says same |
        same) and r0 = P(says same | different); a single number e for (1 - e, e), wrong
        at that rate whatever the truth. Rates may be ranges: ((0.8, 0.9), (0.1, 0.2)),
        or a :class:`~pairlearn.trust.noise.FlipRateEstimate`. "auto": not known. Then
        the interval begins at 0, and its upper end holds for all rates below 1/2; the
        estimate itself uses the rates that the classifier has learned (`flip_rates_`).
    cautious : bool, default=False
        Whether hard pairs, on which the classifier errs too, may have more wrong
        answers than others. The interval is then wider, by the share of wrong answers
        on each side.
    anytime : bool, default=False
        Whether the interval is to hold at all looks together. Set it if you look while
        answers come in, and stop when you like what you see; the pairs must be in the
        order in which they were answered. The interval is wider, by about a half.
    groups : array-like, optional
        Of whom or what each point is a row: shape (n_points,), or (n_pairs, 2) for
        both points of each pair. Of pairs that share a group one is counted, and pairs
        within a group are not. A point whose group is None, NaN or "" is in none.
    kinds : int, "any" or None, default=None
        How many true classes there are at most. None: two for a classifier into two
        groups, any number for others. With two groups and two classes Theorem 1 gives
        a :class:`Certificate`; otherwise the purity of each group is bounded, and the
        outcome is a :class:`KindsCertificate`, also for two groups and ``kinds="any"``.
    points : points, as the classifier takes them, optional
        Those on which it is used, or many random ones. The pairs may then be random
        within the predicted groups only, as :func:`pairs_within_groups` draws them, and
        the shares of the groups are those in these points. The outcome is a
        :class:`KindsCertificate`, and for several groups it is narrower.

    Returns
    -------
    Certificate or KindsCertificate

    Raises
    ------
    pairlearn.trust.sample_checks.MoreKindsError
        If the answers show that there are more than two kinds (more than `kinds`), or
        that the pairs were not drawn at random. No certificate would be right.
    ValueError
        If the classifier was trained on all of these pairs.

    Warns
    -----
    UserWarning
        If pairs share points: of these, some are counted that share none, and the
        interval also covers what all of them say; that part of it is not exact. If half
        of the pairs or more have points that equal those of the training, or each
        other: the interval covers the one with and the one without such pairs. If the
        pairs do not look random. If fewer answers disagree than `flip_rates` say are
        wrong. If the classifier was trained with groups, and none are given here, or
        the other way round.

    Notes
    -----
    *Guaranteed:* for such pairs the interval contains the clustering error with
    probability at least `confidence`; for several kinds, the error if each group bears
    the name of its largest class. *Not guaranteed:* anything for pairs chosen
    for a reason (hard cases, neighbours), for wrong answers other than those assumed,
    for several rows of one thing without `groups`, or for the class assignment, which
    the clustering error ignores.

    Examples
    --------
    >>> import numpy as np
    >>> from pairlearn import CIPSClassifier, Pairs, certify
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=1200)
    >>> X = rng.normal(size=(1200, 2)) + 2 * y[:, None]
    >>> pairs, t = Pairs.sample(X, 600, y, random_state=0)
    >>> clf = CIPSClassifier().fit(pairs[:200], t[:200])
    >>> certify(clf, pairs[200:], t[200:])
    <Certificate: error 7.3%, between 5.5% and 9.5%, up to swapping the classes (95%
    confidence, 400 pairs)>
    >>> found = certify(clf, pairs[200:], t[200:], kinds="any")
    >>> [group.n_pairs for group in found.groups]
    [85, 97]
    """
    if not hasattr(clf, "predict"):
        raise TypeError(
            "the first argument of certify(clf, pairs, t) must be a fitted classifier; "
            "got "
            f"{type(clf).__name__}, which has no method predict"
        )
    given = as_pairs(pairs)
    answers = check_answers(t, len(given), given.index, unsure=True)
    check_share("confidence", confidence)
    if not len(given):
        raise ValueError("a certificate needs at least one pair")
    if not np.isin(answers, (-1, 0, 1)).all():
        raise ValueError(
            "a certificate counts disagreements, so its answers must be -1 or +1, or 0 "
            "for unsure; for other uncertain answers pass their signs and flip_rates"
        )
    if kinds not in (None, "any"):
        check_integer("kinds", kinds, minimum=2)
    noise = as_noise(flip_rates, cautious=cautious)
    if noise.kind == "unknown" and not isinstance(flip_rates, Noise):
        noise = replace(noise, rates=rates_of(clf))
    index, unknown_groups = given.index, False
    if groups is None and "groups" in memory_of(clf):
        unknown_groups = True
        warnings.warn(
            "the classifier was trained with groups; without groups= of these points, "
            "whether it has seen others of the same groups is not known",
            stacklevel=2,
        )
    if groups is not None:
        index = check_groups(groups, given.index, given.n_points)
        seen, unknown_groups = groups_in_training(clf, groups, given)
        if seen.any():
            new = np.flatnonzero(~seen)
            given, answers, index = given[new], answers[new], index[new]
        if not len(given):
            raise ValueError(
                "the classifier was trained on points of the groups of all pairs; a "
                "certificate needs pairs of others"
            )
    kept = _sharing_nothing(index, in_order=anytime, by_group=groups is not None)
    fresh = given[kept].compact()
    # Row numbers tell which points are one; an array has none.
    numbered = isinstance(pairs, Pairs)
    known, unseen = points_in_training(clf, fresh, distinct=numbered)
    doubtful: Bools = known[fresh.index].any(axis=1)
    if not numbered:
        doubtful = doubtful | ~equal_rows_once(fresh, in_order=anytime)
    options: dict[str, Any] = {
        "confidence": confidence,
        "anytime": anytime,
        "doubtful": doubtful,
    }
    several, limit = how_many_kinds(clf, fresh, kinds, by_group=points is not None)
    weigh: Any = weigh_all_kinds if several else weigh_all
    found: Certificate | KindsCertificate
    if several:
        options |= {"kinds": limit, "points": points}
        found = judge_kinds(clf, fresh, answers[kept], noise, **options)
    else:
        try:
            found = judge(clf, fresh, answers[kept], noise, **options)
        except MoreKindsError as problem:
            raise MoreKindsError(f"{problem}; {_ANY_NUMBER}") from None
    if len(kept) < len(given):
        found = weigh(clf, given, answers, index, noise, found)
    return replace(found, unseen=None if unknown_groups else unseen)


def how_many_kinds(
    clf: Any, pairs: Pairs, kinds: int | str | None, *, by_group: bool = False
) -> tuple[bool, int | None]:
    """Return whether Theorem 1 does not apply, and the largest number of kinds.

    Parameters
    ----------
    clf : object
        A classifier.
    pairs : Pairs
        The pairs that judge it.
    kinds : int, "any" or None
        As for :func:`certify`.
    by_group : bool, default=False
        Whether the pairs may be random within groups only.

    Returns
    -------
    several : bool
        Whether the certificate is about the purity of groups.
    limit : int or None
        How many true classes there are at most; None: any number.
    """
    classes = getattr(clf, "classes_", None)
    if classes is None:
        classes = group_names(clf, clf.predict(pairs.X))
    two = len(classes) <= 2
    if kinds is None:
        return by_group or not two, 2 if two else None
    limit = None if kinds == "any" else int(kinds)
    return by_group or not two or limit != 2, limit


def weigh_all(
    clf: Any, pairs: Pairs, t: Floats, index: Ints, noise: Noise, found: Certificate
) -> Certificate:
    """Return a certificate that also covers what all pairs say, shared points included.

    Of pairs that share a point some are left out, so that a point in very many pairs
    counts about once. If such points are harder than others, that makes the certificate
    too good. The share of disagreements among all pairs is right in the mean; as if it
    came from as many pairs as there are points, counted by how evenly they occur, it
    gives a second interval. This one is not exact. Pairs of a point, or of a group,
    with itself are not counted.

    Parameters
    ----------
    clf : object
        A classifier into two groups.
    pairs : Pairs
        All pairs that the classifier was not trained on.
    t : ndarray of shape (n_pairs,)
        Their answers.
    index : ndarray of shape (n_pairs, 2)
        Numbers of the points, or of their groups.
    noise : Noise
        What is known about wrong answers.
    found : Certificate
        The certificate of those that share no point.

    Returns
    -------
    Certificate
    """
    apart = np.flatnonzero(index[:, 0] != index[:, 1])
    pairs, t, index = pairs[apart].compact(), t[apart], index[apart]
    group = _groups(clf, pairs)[0]
    counts = Counts.of(_says(group, pairs), t)
    often = np.bincount(index.ravel()).astype(float)
    n_even = int(often.sum() ** 2 / (often @ often) / 2)
    n = max(1, min(n_even, found.n_pairs))
    wrong, says_same, told_same, unsure = (
        round(count * n / counts.n_pairs) for count in counts[1:]
    )
    # Two shares that are rounded up may be more than all.
    unsure = min(unsure, n - wrong, n - told_same)
    scaled = Counts(n, wrong, says_same, told_same, unsure)
    other = make_certificate(scaled, noise, found.confidence, anytime=found.anytime)
    both = covering(found, other)
    names = ("n_pairs", "n_unsure", "n_doubtful", "unseen")
    kept = {name: getattr(found, name) for name in names}
    return replace(both, **kept)


def _says(group: Ints, pairs: Pairs) -> Floats:
    """Return +1 for pairs of one predicted group, and -1 for others."""
    left, right = group[pairs.index].T
    return np.where(left == right, 1.0, -1.0)


def judge(
    clf: Any,
    pairs: Pairs,
    t: Floats,
    noise: Noise,
    *,
    confidence: float = 0.95,
    anytime: bool = False,
    doubtful: Bools | None = None,
) -> Certificate:
    """Return the certificate of a classifier from pairs that share no point.

    Parameters
    ----------
    clf : object
        A classifier into two groups.
    pairs : Pairs
        Pairs that share no point.
    t : ndarray of shape (n_pairs,)
        Their answers: -1, +1, or 0 for unsure.
    noise : Noise
        What is known about wrong answers.
    confidence, anytime
        As for :func:`certify`.
    doubtful : ndarray of bool of shape (n_pairs,), optional
        Pairs with a point that equals one the classifier was trained on, or one that
        is counted already. Nobody can tell a point that is there twice from two that
        are equal: with such pairs the certificate may be too good, without them it is
        about other points than those one meets. So it covers both.

    Returns
    -------
    Certificate
    """
    group, n_groups = _groups(clf, pairs)
    if n_groups > 2:
        raise ValueError(
            "Theorem 1 is about classifiers into two classes, and this one predicts "
            f"{n_groups}; certify(clf, pairs, t) bounds the purity of several groups"
        )
    left, right = group[pairs.index].T == 0
    says = _says(group, pairs)
    counts = Counts.of(says, t)
    refuse_more_kinds(counts.n_told_same + counts.n_unsure, len(t), noise)
    refuse_more_than_chance(counts, noise)
    if random_pairs_p_value(left, right) < UNUSUAL:
        share = float(np.mean(group == 0))
        expected = share**2 + (1 - share) ** 2
        less = "fewer" if np.mean(says > 0) > expected else "more"
        warnings.warn(
            f"the pairs do not look random: {less} of them join the two groups than "
            "chance would (neighbours, or pairs picked for a reason?). The "
            "certificate holds for random pairs only",
            stacklevel=3,
        )
    exact = noise.confidence == 1 and noise.majorities is None
    if noise.kind in ("known", "any") and exact:
        least = max(r1 for r1, _ in noise.corners), min(r0 for _, r0 in noise.corners)
        warn_if_too_high(says[t != 0], t[t != 0], least, confidence)

    def counted(which: Bools) -> Certificate:
        return make_certificate(
            Counts.of(says[which], t[which]), noise, confidence, anytime=anytime
        )

    return with_and_without(doubtful, len(t), counted, covering)


def _sharing_nothing(index: Ints, *, in_order: bool, by_group: bool) -> Ints:
    """Return the numbers of pairs that share no point, and warn of the others."""
    n_pairs = len(index)
    order = taken_in_turn(n_pairs, in_order)
    kept = disjoint_pairs(int(index.max()) + 1, index, order)
    if len(kept) < n_pairs:
        what = "group" if by_group else "point"
        warnings.warn(
            f"{n_pairs - len(kept)} of {n_pairs} pairs share a {what} with another, "
            f"and are left out; {len(kept)} that share none are counted",
            stacklevel=3,
        )
    if not len(kept):
        raise ValueError("no pair has two different points: nothing can be counted")
    return kept


def _groups(clf: Any, pairs: Pairs) -> tuple[Ints, int]:
    """Return the predicted group of each point, and how many groups there are."""
    predicted = np.asarray(on_host(clf.predict(pairs.X)))
    names, group = np.unique(predicted, return_inverse=True)
    return group.ravel(), len(names)
