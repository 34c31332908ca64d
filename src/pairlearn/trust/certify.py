"""From a classifier and pairs to a certificate."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.data.checks import check_answers, check_groups, check_share
from pairlearn.data.containers import on_host
from pairlearn.data.graph import disjoint_pairs, shuffled
from pairlearn.data.pairs import Pairs, as_pairs
from pairlearn.data.row_hashes import known_groups, known_rows, row_hashes
from pairlearn.trust.certificate import covering, make_certificate
from pairlearn.trust.intervals import clopper_pearson
from pairlearn.trust.kept_pairs import LEAST_KEPT
from pairlearn.trust.noise import Counts, Noise, as_noise, rates_of
from pairlearn.trust.sample_checks import (
    random_pairs_p_value,
    refuse_more_kinds,
    refuse_more_than_chance,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from pairlearn.data.types import Bools, Floats, Ints, PairsLike
    from pairlearn.trust.certificate import Certificate
    from pairlearn.trust.noise import Rates

__all__ = ["certify", "judge", "weigh_all"]

# Warn of pairs that chance would make as unusual as this.
_UNUSUAL = 0.001
# Warn if so many pairs may have been seen in training.
_MANY_DOUBTFUL = 0.5


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
) -> Certificate:
    """Estimate the error of a classifier from pairs, with a confidence interval.

    The interval is valid if the pairs were drawn at random and were not used for
    training or class assignment, and if the answers are as right, or as wrong, as is
    said here; see the notes.

    Parameters
    ----------
    clf : object
        Fitted, with a method ``predict(X)`` for points: an estimator of this
        package, a pipeline, or any binary classifier.
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

    Returns
    -------
    Certificate

    Raises
    ------
    pairlearn.trust.sample_checks.MoreKindsError
        If the answers show that there are more than two kinds, or that the pairs were
        not drawn at random. No certificate would be right.
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
    probability at least `confidence`. *Not guaranteed:* anything for pairs chosen
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
    noise = as_noise(flip_rates, cautious=cautious)
    if noise.kind == "unknown":
        noise = replace(noise, rates=rates_of(clf))
    index, unknown_groups = given.index, False
    if groups is None and "groups" in _memory(clf):
        unknown_groups = True
        warnings.warn(
            "the classifier was trained with groups; without groups= of these points, "
            "whether it has seen others of the same groups is not known",
            stacklevel=2,
        )
    if groups is not None:
        index = check_groups(groups, given.index, given.n_points)
        seen, unknown_groups = _known_groups(clf, groups, given)
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
    known, unseen = _known_points(clf, fresh, distinct=numbered)
    doubtful: Bools = known[fresh.index].any(axis=1)
    if not numbered:
        doubtful = doubtful | ~_equal_rows_once(fresh, in_order=anytime)
    found = judge(
        clf, fresh, answers[kept], noise,
        confidence=confidence, anytime=anytime, doubtful=doubtful,
    )  # fmt: skip
    if len(kept) < len(given):
        found = weigh_all(clf, given, answers, index, noise, found)
    return replace(found, unseen=None if unknown_groups else unseen)


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


def _known_groups(clf: Any, groups: ArrayLike, pairs: Pairs) -> tuple[Bools, bool]:
    """Tell which pairs have a group of the training, and whether that is not known."""
    memory = _memory(clf)
    nothing: Bools = np.zeros(len(pairs), dtype=bool)
    if not memory:
        return nothing, True
    if "groups" not in memory:
        warnings.warn(
            "the classifier does not remember of whom its training points are rows; "
            "fit it with groups=, or make sure that these groups are others",
            stacklevel=3,
        )
        return nothing, True
    names = np.asarray(on_host(groups))
    names = names if names.shape == pairs.index.shape else names[pairs.index]
    return np.asarray(known_groups(memory, names).any(axis=1)), False


def _memory(clf: Any) -> Any:
    """Return what a classifier remembers of its training points; {} if nothing."""
    return getattr(_last(clf), "_training_points", None) or {}


def _last(clf: Any) -> Any:
    """Return the last step of a pipeline, or the best one of a search."""
    clf = getattr(clf, "best_estimator_", clf)
    return clf[-1] if hasattr(clf, "steps") else clf


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
            "a certificate is for classifiers into two classes (Theorem 1); this one "
            f"predicts {n_groups}"
        )
    left, right = group[pairs.index].T == 0
    says = _says(group, pairs)
    counts = Counts.of(says, t)
    refuse_more_kinds(counts.n_told_same + counts.n_unsure, len(t), noise)
    refuse_more_than_chance(counts, noise)
    if random_pairs_p_value(left, right) < _UNUSUAL:
        less = "fewer" if np.mean(says > 0) > _expected_same(group) else "more"
        warnings.warn(
            f"the pairs do not look random: {less} of them join the two groups than "
            "chance would (neighbours, or pairs picked for a reason?). The "
            "certificate holds for random pairs only",
            stacklevel=3,
        )
    exact = noise.confidence == 1 and noise.majorities is None
    if noise.kind in ("known", "any") and exact:
        least = max(r1 for r1, _ in noise.corners), min(r0 for _, r0 in noise.corners)
        _warn_if_too_high(says[t != 0], t[t != 0], least, confidence)

    def counted(which: Bools) -> Certificate:
        return make_certificate(
            Counts.of(says[which], t[which]), noise, confidence, anytime=anytime
        )

    everything = np.ones(len(t), dtype=bool)
    doubtful = ~everything if doubtful is None else doubtful
    if doubtful.all():
        raise ValueError(
            f"each of the {len(t)} pairs has a point that equals one of those the "
            "classifier was trained on; a certificate needs fresh random pairs"
        )
    found = counted(everything)
    if not doubtful.any():
        return found
    if doubtful.mean() >= _MANY_DOUBTFUL:
        warnings.warn(f"{doubt_in_words(doubtful)}. Use fresh pairs", stacklevel=3)
    return covering(found, counted(~doubtful))


def doubt_in_words(doubtful: Bools) -> str:
    """Return what it means that some pairs are doubtful."""
    return (
        f"{int(doubtful.sum())} of {len(doubtful)} pairs have a point that equals, in "
        "all features, one that the classifier was trained on or one of another pair. "
        "Whether it is the same point is not known; the interval covers both cases, "
        "with and without these pairs"
    )


def _sharing_nothing(index: Ints, *, in_order: bool, by_group: bool) -> Ints:
    """Return the numbers of pairs that share no point, and warn of the others."""
    n_pairs = len(index)
    order = _order(n_pairs, in_order=in_order)
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


def _order(n_pairs: int, *, in_order: bool) -> Ints:
    """Return the order in which pairs are taken: as they come, or at random.

    Some tables are sorted by their answers: the first pairs would be of one kind.
    """
    if in_order:
        return np.arange(n_pairs)
    return shuffled(n_pairs, np.random.RandomState(0))


def _groups(clf: Any, pairs: Pairs) -> tuple[Ints, int]:
    """Return the predicted group of each point, and how many groups there are."""
    predicted = np.asarray(on_host(clf.predict(pairs.X)))
    names, group = np.unique(predicted, return_inverse=True)
    return group.ravel(), len(names)


def _expected_same(group: Ints) -> float:
    share = float(np.mean(group == 0))
    return share**2 + (1 - share) ** 2


def _known_points(
    clf: Any, pairs: Pairs, *, distinct: bool
) -> tuple[Bools, bool | None]:
    """Tell which points equal one that a classifier was trained on.

    Where rows repeat by nature, points are known to be different, and nearly all pairs
    have such a row, that says nothing.

    Returns
    -------
    known : ndarray of bool of shape (n_points,)
        Those that do.
    unseen : bool or None
        Whether it is certain that none does; None if the classifier does not remember.
    """
    clf = getattr(clf, "best_estimator_", clf)
    X = pairs.X
    if hasattr(clf, "steps"):
        X, clf = clf[:-1].transform(X) if len(clf) > 1 else X, clf[-1]
    memory = getattr(clf, "_training_points", None)
    nothing: Bools = np.zeros(pairs.n_points, dtype=bool)
    if memory is None:
        return nothing, None
    known = known_rows(memory, X)
    n_new = int(np.sum(~known[pairs.index].any(axis=1)))
    if distinct and memory["repeat"] and n_new < LEAST_KEPT:
        warnings.warn(
            "rows repeat in these data, so that whether the classifier was trained on "
            "these points is not known. By their row numbers they are others; if they "
            "are the same, the error is higher than this says",
            stacklevel=3,
        )
        return nothing, None
    if known.any() and not memory["complete"]:
        warnings.warn(
            "the classifier remembers only some of the points it was trained on, and "
            "knows some of these again: there may be more. Use fresh pairs",
            stacklevel=3,
        )
    return known, not known.any() if memory["complete"] else None


def _equal_rows_once(pairs: Pairs, *, in_order: bool) -> Bools:
    """Tell of pairs that share no row whether each is among them."""
    try:
        _, row = np.unique(row_hashes(pairs.X), return_inverse=True)
    except (TypeError, ValueError):
        # Not numbers: rows are equal if their texts are.
        number: dict[tuple[str, ...], int] = {}
        rows = np.asarray(on_host(pairs.X), dtype=object).tolist()
        texts = (tuple(map(str, cells)) for cells in rows)
        row = np.array([number.setdefault(text, len(number)) for text in texts])
    index = row[pairs.index]
    order = _order(len(pairs), in_order=in_order)
    once = np.zeros(len(pairs), dtype=bool)
    once[disjoint_pairs(len(row), index, order)] = True
    return once


def _warn_if_too_high(says: Floats, t: Floats, rates: Rates, confidence: float) -> None:
    """Warn if the answers are right more often than the rates allow."""
    level = (1 + confidence) / 2
    for kind, name, rate in ((1, "same", 1 - rates[0]), (-1, "different", rates[1])):
        disagrees = t[says == kind] != kind
        n_wrong, n_pairs = int(disagrees.sum()), len(disagrees)
        if n_pairs and clopper_pearson(n_wrong, n_pairs, level)[1] < rate:
            warnings.warn(
                f"the answers disagree with the classifier in {n_wrong / n_pairs:.1%} "
                f"of the pairs that it calls {name}, fewer than the {rate:.1%} that "
                "you said are wrong: flip_rates seem too high, and the certificate "
                "is not to be relied on",
                stacklevel=3,
            )
            return
