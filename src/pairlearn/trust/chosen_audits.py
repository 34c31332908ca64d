"""Fewer audits by choosing them well: what a frozen model doubts is asked more often.

A certificate counts how often a model disagrees with the answers of random pairs. About
most pairs the model is nearly certain, and their answers say little. Here the points
are put into as many blocks as there are questions, and in each block one of all pairs
is asked, drawn with known chances that favour those the model doubts. The answers are
weighted back, so that the outcome is about random pairs. What makes the interval valid
is in :mod:`pairlearn.trust.betting`, and when it is shorter than that of uniform audits
in :mod:`pairlearn.trust.audit_needs`.

The model's doubts only decide how short the interval is. It holds also for a model that
is certain and wrong, since every pair is asked with at least a certain chance.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from pairlearn.data.checks import check_answers, check_integer, check_share
from pairlearn.data.containers import check_table, on_host, take_rows
from pairlearn.data.pairs import Pairs
from pairlearn.trust.audit_needs import best_floor, doubts_of_pairs, doubts_of_points
from pairlearn.trust.betting import Draws, betting_interval, estimate, relative_chances
from pairlearn.trust.certificate import Certificate
from pairlearn.trust.known_points import points_in_training
from pairlearn.trust.sample_checks import SURE, MoreKindsError
from pairlearn.trust.theory import clustering_error_from_pair_error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.random import RandomState
    from numpy.typing import ArrayLike

    from pairlearn.data.types import Floats, Ints, PointsLike

__all__ = ["AuditPlan", "certify_audits", "plan_audits"]

# More candidates than from so many points change next to nothing.
_MOST_POINTS = 40
# The share of the points that decide about the floor and are never asked about.
_ASIDE, _MOST_ASIDE = 0.05, 400
# How far probabilities of the same model may be apart, say on another machine.
_SAME = 1e-6
_NUMBERS = ("doubt", "chance", "mean_doubt", "spread")


@dataclass(frozen=True)
class AuditPlan:
    """Which pairs to ask about, in this order, and how they were drawn.

    Attributes
    ----------
    pairs : Pairs
        The pairs to ask about; no two share a point. Their `index` has the row numbers
        of the points that were given.
    says : ndarray of shape (n_audits,)
        What the model says of each: +1 for the same, -1 for different. It tells what
        the model thinks, so do not show it to those who answer.
    draws : pairlearn.trust.betting.Draws
        The model's doubts and the chances of being asked.
    """

    pairs: Pairs
    says: Floats
    draws: Draws

    def __len__(self) -> int:
        return len(self.pairs)

    def __repr__(self) -> str:
        return f"<AuditPlan: {len(self)} pairs to ask, floor {self.draws.floor:g}>"

    def state(self) -> dict[str, Any]:
        """Return all but the points, as lists and numbers that JSON can keep.

        Examples
        --------
        >>> import json
        >>> import numpy as np
        >>> from pairlearn.trust.chosen_audits import AuditPlan, plan_audits
        >>> from sklearn.linear_model import LogisticRegression
        >>> X = np.random.default_rng(0).normal(size=(600, 2))
        >>> clf = LogisticRegression().fit(X[:100], X[:100, 0] > 0)
        >>> plan = plan_audits(clf, X[100:], 20, random_state=0)
        >>> kept = json.loads(json.dumps(plan.state()))
        >>> bool((AuditPlan.from_state(kept, X[100:]).says == plan.says).all())
        True
        """
        draws = self.draws
        return {
            "index": self.pairs.index.tolist(),
            "says": self.says.astype(int).tolist(),
            **{name: getattr(draws, name).tolist() for name in _NUMBERS},
            "first_doubt": float(draws.first_doubt),
            "first_spread": float(draws.first_spread),
            "floor": float(draws.floor),
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any], X: PointsLike) -> AuditPlan:
        """Return the plan that :meth:`state` described, for the same points.

        Parameters
        ----------
        state : mapping
            What :meth:`state` returned.
        X : points
            Those that :func:`plan_audits` got, in the same order.

        Returns
        -------
        AuditPlan
        """
        try:
            index = np.asarray(state["index"], dtype=np.intp).reshape(-1, 2)
            says = np.asarray(state["says"], dtype=float)
            arrays = [np.asarray(state[name], dtype=float) for name in _NUMBERS]
            first = [float(state[name]) for name in ("first_doubt", "first_spread")]
            floor = float(state["floor"])
        except (KeyError, TypeError, ValueError) as problem:
            raise ValueError(
                f"this is not the state of a plan of audits: {problem}"
            ) from None
        doubt, chance, mean_doubt, spread = arrays
        ranges = (
            all(each.shape == (len(index),) for each in (says, *arrays))
            and bool(np.isin(says, (-1, 1)).all() and 0 < floor <= 1)
            and bool(((doubt >= 0) & (doubt <= 0.5)).all())
            and bool((np.maximum(floor, 2 * doubt) <= chance + 1e-9).all())
            and bool(((mean_doubt >= 0) & (mean_doubt <= 0.5)).all())
            and bool((spread >= 0).all() and len(index))
        )
        if not ranges:
            raise ValueError(
                "this is not the state of a plan of audits: its lists have different "
                "lengths, or numbers that no plan has"
            )
        draws = Draws(
            doubt, chance, mean_doubt, spread, first[0], first[1], floor, len(index)
        )
        return cls(Pairs(check_table(X), index), says, draws)


def plan_audits(
    clf: Any,
    X: PointsLike,
    n_audits: int,
    *,
    floor: float | None = None,
    random_state: int | RandomState | None = None,
) -> AuditPlan:
    """Choose pairs to ask about, so that few answers tell the error of a model.

    Parameters
    ----------
    clf : object
        A fitted classifier of two classes with `predict` and `predict_proba`. It must
        not change until the certificate is made.
    X : points, as the classifier takes them
        Fresh random points, unlabelled: draws from the population on which the
        classifier will be used, none of them used for training, each a thing of its
        own. At least two per audit; with 40 per audit there is most to choose from, and
        more do not help.
    n_audits : int
        How many pairs to ask about.
    floor : float, optional
        The least chance of a pair to be asked, compared with a uniform draw, above 0
        and at most 1 (uniform). By default the one that makes the interval shortest, if
        the doubts of a twentieth of the points are right; these are not asked about.
    random_state : int, RandomState or None, default=None
        Seed of the draws.

    Returns
    -------
    AuditPlan

    See Also
    --------
    pairlearn.trust.audit_needs.audits_needed : Would uniform audits be fewer?

    Examples
    --------
    >>> import numpy as np
    >>> from pairlearn.trust.chosen_audits import certify_audits, plan_audits
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=9000)
    >>> X = rng.normal(size=(9000, 2)) + 3 * y[:, None]
    >>> clf = LogisticRegression().fit(X[:1000], y[:1000])
    >>> plan = plan_audits(clf, X[1000:], 300, random_state=1)
    >>> plan
    <AuditPlan: 300 pairs to ask, floor 0.8>
    >>> left, right = y[1000:][plan.pairs.index].T  # ask somebody instead
    >>> certify_audits(clf, plan, np.where(left == right, 1, -1))
    <Certificate: error 2.1%, between 1.2% and 3.0%, up to swapping the classes (95%
    confidence, 300 pairs, at all looks)>
    """
    from sklearn.utils import check_random_state

    check_integer("n_audits", n_audits, minimum=1)
    if floor is not None and not 0 < floor <= 1:
        raise ValueError(f"floor must be above 0 and at most 1; got {floor}")
    X = check_table(X)
    rng = check_random_state(random_state)
    rows = rng.permutation(_fresh_rows(clf, X))
    n_aside = max(2, min(int(_ASIDE * len(rows)), _MOST_ASIDE))
    n_points = min((len(rows) - n_aside) // n_audits, _MOST_POINTS)
    if n_points < 2:
        raise ValueError(
            f"{n_audits} audits need at least {2 * n_audits + 2} points that the "
            f"classifier was not trained on; got {len(rows)}"
        )
    group, doubts = doubts_of_points(clf, X)
    aside = doubts[rows[:n_aside]]
    if floor is None:
        floor = best_floor(aside, n_audits, n_points)
    # All pairs of the points of a block are candidates.
    blocks = rows[n_aside : n_aside + n_audits * n_points].reshape(n_audits, n_points)
    h = doubts_of_pairs(doubts[blocks])
    chances = relative_chances(h, floor)
    taken = _draw(chances, rng)
    step = np.arange(n_audits)
    ends = np.stack(np.triu_indices(n_points, 1), axis=1)[taken]
    index = blocks[step[:, None], ends]
    first = doubts_of_pairs(aside[: 2 * _MOST_POINTS])
    draws = Draws(
        doubt=h[step, taken],
        chance=chances[step, taken],
        mean_doubt=h.mean(axis=1),
        spread=(h * (1 - h) / chances).mean(axis=1),
        first_doubt=float(first.mean()),
        first_spread=float(
            np.mean(first * (1 - first) / relative_chances(first, floor))
        ),
        floor=float(floor),
        horizon=int(n_audits),
    )
    return AuditPlan(Pairs(X, index), _says(group[index]), draws)


def certify_audits(
    clf: Any, plan: AuditPlan, t: ArrayLike, *, confidence: float = 0.95
) -> Certificate:
    """Return the certificate of a model from the answers to a plan of audits.

    Parameters
    ----------
    clf : object
        The classifier for which the plan was made, unchanged.
    plan : AuditPlan
        What :func:`plan_audits` returned.
    t : array-like
        Answers to the pairs of the plan, in its order: -1 or +1, or 0 for unsure. There
        may be fewer answers than pairs: those to the first pairs. An unsure answer
        counts as wrong for the upper end of the interval and as right for the lower.
    confidence : float, default=0.95
        Confidence of the intervals.

    Returns
    -------
    Certificate
        It holds at all looks: you may look after every answer, and stop when you like.
        The interval is shortest for its width when all pairs of the plan are answered.

    Raises
    ------
    pairlearn.trust.sample_checks.MoreKindsError
        If the model disagrees with more than half of the pairs, which right answers
        about two kinds cannot give.

    Notes
    -----
    *Guaranteed:* if the points were random and fresh, and all answers that are not
    unsure are right, the intervals of all looks contain the clustering error with
    probability at least `confidence`, whatever the model's probabilities are worth.
    *Not guaranteed:* anything if answers are left out, or if the plan was drawn anew
    because one did not like it.
    """
    if not isinstance(plan, AuditPlan):
        raise TypeError(
            "the second argument of certify_audits(clf, plan, t) must be a plan that "
            f"plan_audits made; got {type(plan).__name__}"
        )
    check_share("confidence", confidence)
    n = len(np.atleast_1d(np.asarray(on_host(t))))
    if not 1 <= n <= len(plan):
        raise ValueError(
            f"the plan has {len(plan)} pairs, and there are {n} answers; give those to "
            "its first pairs, in its order, at least one"
        )
    answers = check_answers(t, n, plan.pairs.index[:n], unsure=True)
    if not np.isin(answers, (-1, 0, 1)).all():
        raise ValueError("answers must be -1 or +1, or 0 for unsure")
    unseen = _unchanged(clf, plan)
    draws = plan.draws.up_to(n)
    unsure = answers == 0
    wrong = (answers != plan.says[:n]) & ~unsure
    ends = betting_interval(draws, wrong, unsure, confidence=confidence)
    low, high = map(float, ends)
    if low >= 0.5 and betting_interval(draws, wrong, confidence=SURE)[0] >= 0.5:
        raise MoreKindsError(
            "the answers disagree with the classifier in more than half of all pairs, "
            "which right answers about two kinds cannot do. So there seem to be more "
            "than two kinds, or the points were not drawn at random"
        )
    middle = float(estimate(draws, wrong + unsure / 2))
    pair = np.array([np.clip(middle, low, high), low, high])
    clustering = clustering_error_from_pair_error(pair)
    return Certificate(
        pair_error=float(pair[0]),
        pair_interval=(low, high),
        clustering_error=float(clustering[0]),
        clustering_interval=(float(clustering[1]), float(clustering[2])),
        n_pairs=n,
        confidence=confidence,
        n_unsure=int(unsure.sum()),
        anytime=True,
        unseen=unseen,
    )


def _says(group: Ints) -> Floats:
    return np.where(group[:, 0] == group[:, 1], 1.0, -1.0)


def _draw(chances: Floats, rng: RandomState) -> Ints:
    """Draw one candidate of each block."""
    sums = np.cumsum(chances, axis=1)
    at = rng.random_sample((len(sums), 1)) * sums[:, -1:]
    return np.asarray(np.minimum((sums <= at).sum(axis=1), sums.shape[1] - 1))


def _fresh_rows(clf: Any, X: PointsLike) -> Ints:
    """Return the rows of points that equal none the classifier was trained on."""
    n = int(X.shape[0])
    every = Pairs(X, np.stack([np.arange(n), np.arange(n)], axis=1))
    known, _ = points_in_training(clf, every, distinct=True)
    if known.any():
        warnings.warn(
            f"{int(known.sum())} of {n} points equal, in all features, one that the "
            "classifier was trained on, and are left out. The certificate is about "
            "points such as the others",
            stacklevel=3,
        )
    return np.flatnonzero(~known)


def _unchanged(clf: Any, plan: AuditPlan) -> bool | None:
    """Refuse another model than that of the plan; tell whether the points are fresh."""
    index = plan.pairs.index
    rows = index.ravel()
    X = cast("Any", take_rows(plan.pairs.X, rows))
    group, doubts = doubts_of_points(clf, X)
    h = doubts_of_pairs(doubts.reshape(-1, 2))[:, 0]
    says = _says(group.reshape(-1, 2))
    if (says != plan.says).any() or np.abs(h - plan.draws.doubt).max() > _SAME:
        raise ValueError(
            "the classifier, or the points, are not those for which the plan was made; "
            "a certificate is about the model that chose the audits. Plan new audits"
        )
    pairs = Pairs(X, np.arange(len(rows)).reshape(-1, 2))
    return points_in_training(clf, pairs, distinct=True)[1]
