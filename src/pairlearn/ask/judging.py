"""Certificates of a model that changes while one looks at it.

Audits never teach, so they are independent of every version of the model, also of those
that come after them: a version may be judged by all audits so far. Whoever looks after
every answer, at every version, is given an interval that holds at all numbers of
audits, with a part of the risk for the k-th version that is shown
(:func:`~pairlearn.trust.live.live_confidence`); as these parts sum to the whole, all
intervals of all versions hold together. The proof is in the theory page. Three things
belong to it:

* Nothing is shown before ten audits are answered, so that the first versions, of which
  nothing could be said anyway, use nothing up. Those that are out do not count here.
* That a version may be judged by audits that came before it is because its time was
  fixed by the number of answers, whatever the audits said. One that was learned because
  somebody wished so, perhaps since the audits looked bad, is judged by later audits.
* A version may learn aside, and come when more has been answered. What it learned from
  was fixed when it began, so it is the same version, and may be judged by the same
  audits: by all of them if it began because it was time, and else by those that are
  asked after it has come. Whether the version before it could be seen is counted when
  it comes, since until then people looked at that one.
* An audit that is asked again of somebody else is counted once, with its first sure
  answer: what the second person says neither adds a pair nor changes one.
* Where people are told apart (:mod:`pairlearn.ask.worth`), the answer of the one counts
  who tells most of those who answered the audit, and audits that were answered only by
  people who seem to answer at random, or of whom nothing is known, do not count
  (:func:`by_people`). What is known of people comes from the answers that teach, and
  who answers an audit does not depend on the pair: so those that count are random pairs
  still, and how often their answers are wrong is some mean of the people's rates. All
  that is taken for granted is that this mean is below one half; the interval holds for
  all such rates, and so is wide enough for the uncertainty of the estimated ones, which
  only the estimate itself uses.
* An audit that is out while a later one has been answered counts as unsure: if hard
  ones could be left lying, the certificate would be too good.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pairlearn.data.containers import on_host, take_rows
from pairlearn.data.pairs import Pairs
from pairlearn.people.crowd import check_annotators, gather
from pairlearn.trust.certify import certify
from pairlearn.trust.chosen_audits import AuditPlan, certify_audits, plan_audits
from pairlearn.trust.live import live_confidence
from pairlearn.trust.noise import Noise

if TYPE_CHECKING:
    from pairlearn.ask.ledger import Ledger
    from pairlearn.ask.question import Question
    from pairlearn.data.types import Floats, Ints, PointsLike
    from pairlearn.people.rates import PeopleRates
    from pairlearn.trust.certificate import Certificate
    from pairlearn.trust.kinds_certificate import KindsCertificate

# How many audits must be answered before anything is said.
FIRST_LOOK = 10
# More points than this per chosen audit do not help.
MOST_POINTS = 50

__all__ = [
    "Counted",
    "answered_audits",
    "by_people",
    "choose_audits",
    "count_wrong",
    "final_certificate",
]
__all__ += ["groups_of", "judging_audits", "live_certificate", "n_wrong"]


def answered_audits(
    audits: list[Question], said: dict[Any, int]
) -> tuple[Ints, Floats]:
    """Return the audited pairs up to the last answered one, and their answers.

    Parameters
    ----------
    audits : list of Question
        Audits, in the order in which they were asked.
    said : dict
        Answers, by pair.

    Returns
    -------
    index : ndarray of shape (n_pairs, 2)
        Row numbers.
    t : ndarray of shape (n_pairs,)
        Answers; 0 also for those that are still out.
    """
    pairs = [audit.pair for audit in audits]
    last = max((k for k, pair in enumerate(pairs) if pair in said), default=-1)
    index = np.array(
        [(audit.left, audit.right) for audit in audits[: last + 1]], dtype=np.intp
    ).reshape(-1, 2)
    t = np.array([said.get(pair, 0) for pair in pairs[: last + 1]], dtype=float)
    return index, t


def groups_of(model: Any, X: PointsLike, rows: Ints) -> dict[int, Any]:
    """Return what a model says of some points, by their row numbers.

    Parameters
    ----------
    model : object
        The model.
    X : points
        All points.
    rows : ndarray of int
        Row numbers of some of them.

    Returns
    -------
    dict
    """
    if not len(rows):
        return {}
    group = np.asarray(on_host(model.predict(take_rows(X, rows))))
    return dict(zip(rows.tolist(), group.tolist(), strict=True))


def count_wrong(
    model: Any, X: PointsLike, ledger: Ledger, groups: dict[int, Any] | None = None
) -> tuple[int, int]:
    """Return how many audits were answered, and how many a model gets wrong.

    Parameters
    ----------
    model : object
        The model.
    X : points
        All points.
    ledger : Ledger
        What was asked and answered.
    groups : dict, optional
        What it says of some of the points, if that is known already.

    Returns
    -------
    n_audits, n_wrong : int
    """
    index, t = answered_audits(ledger.audits(), ledger.audit_answers())
    return len(t), n_wrong(model, X, index, t, groups)


def n_wrong(
    model: Any,
    X: PointsLike,
    index: Ints,
    t: Floats,
    groups: dict[int, Any] | None = None,
) -> int:
    """Return how many of some audits a model gets wrong.

    Parameters
    ----------
    model, X, groups
        As for :func:`count_wrong`.
    index, t : ndarray
        As :func:`answered_audits` returns them.

    Returns
    -------
    int
    """
    groups = groups or {}
    missing = [row for row in index.ravel().tolist() if row not in groups]
    groups = groups | groups_of(model, X, np.array(missing, dtype=np.intp))
    says = np.array(
        [1 if groups[i] == groups[j] else -1 for i, j in index.tolist()], dtype=float
    )
    return int(np.sum(says == -t))


class Counted(NamedTuple):
    """What counts of the answers to audits.

    Attributes
    ----------
    said : dict
        The answers that count, by pair.
    left_out : set
        Pairs that were answered, but by nobody who counts.
    rates : tuple of float or None
        The mean (r1, r0) of those that count; None where people are not told apart.
    """

    said: dict[tuple[int, int], int]
    left_out: set[tuple[int, int]]
    rates: tuple[float, float] | None = None


def by_people(ledger: Ledger, people: PeopleRates | None) -> Counted:
    """Return the answers to audits that count, by who gave them.

    Parameters
    ----------
    ledger : Ledger
        What was asked and answered.
    people : PeopleRates or None
        How often each person is right; None: people are not told apart.

    Returns
    -------
    Counted
    """
    said = ledger.audits_by_people() if people is not None else {}
    if people is None or not said:
        return Counted(ledger.audit_answers(), set())
    rows = [(pair, *each) for pair, answers in said.items() for each in answers]
    index = np.array([pair for pair, _, _ in rows], dtype=np.intp)
    t = np.array([answer for _, _, answer in rows], dtype=float)
    who = np.array([name for _, name, _ in rows], dtype=object)
    named = check_annotators(who, len(rows))
    first, crowd = gather(index, t, *named, np.ones(len(rows)))
    counts, countable, rates = people.to_count(crowd)
    pairs = [rows[k][0] for k in first.tolist()]
    return Counted(
        {pairs[k]: int(np.sign(counts[k])) for k in np.flatnonzero(countable)},
        {pairs[k] for k in np.flatnonzero(~countable)},
        rates,
    )


def judging_audits(
    ledger: Ledger, counted: Counted | None = None
) -> tuple[Ints, Floats]:
    """Return the audits by which the last version of the model is judged.

    All of them; but those asked after it alone, if it was learned out of turn; and none
    before ten are answered.

    Parameters
    ----------
    ledger : Ledger
        What was asked and answered.
    counted : Counted, optional
        Which answers count; all that were given first, if nothing is said.

    Returns
    -------
    index, t : ndarray
        As of :func:`answered_audits`.
    """
    said, last = ledger.audit_answers(), ledger.learned[-1]
    counted = counted or Counted(said, set())
    audits = [q for q in ledger.audits() if q.pair not in counted.left_out]
    index, t = answered_audits(audits, counted.said)
    first = 0 if last.on_time else last.n_questions
    counts = np.array([q.number >= first for q in audits[: len(t)]], dtype=bool)
    # Ten that are answered, and not ten up to the last answered one: whoever reads the
    # answers later counts the versions that were shown by these.
    counts &= len(said) >= FIRST_LOOK
    return index[counts], t[counts]


def choose_audits(
    model: Any, X: PointsLike, fresh: Ints, n_audits: int, seed: int
) -> dict[str, Any]:
    """Return a plan of audits of pairs that a model doubts, as it is stored.

    Parameters
    ----------
    model : object
        The final model.
    X : points
        All points.
    fresh : ndarray of int
        Row numbers of points that are in no question, in random order.
    n_audits : int
        How many audits.
    seed : int
        Seed of the draws.

    Returns
    -------
    dict
        Of :class:`~pairlearn.trust.chosen_audits.AuditPlan`, with row numbers in X.
    """
    rows = fresh[: MOST_POINTS * n_audits]
    drawn = plan_audits(model, take_rows(X, rows), n_audits, random_state=seed)
    pairs = Pairs(X, rows[drawn.pairs.index])
    return AuditPlan(pairs, drawn.says, drawn.draws).state()


def live_certificate(
    model: Any,
    X: PointsLike,
    ledger: Ledger,
    *,
    confidence: float,
    people: PeopleRates | None = None,
    **options: Any,
) -> Certificate | KindsCertificate | None:
    """Return the certificate of the last version; None without audits.

    Parameters
    ----------
    model : object
        The last version of the model.
    X : points
        All points.
    ledger : Ledger
        What was asked and answered.
    confidence : float
        Confidence of all looks at all versions together.
    people : PeopleRates, optional
        How often each person is right, from the answers that teach.
    **options
        What :func:`~pairlearn.certify` is told: flip rates and number of kinds.

    Returns
    -------
    Certificate, KindsCertificate or None
    """
    if not ledger.learned:
        return None
    counted = by_people(ledger, people)
    index, t = judging_audits(ledger, counted)
    if not len(t):
        return None
    # Counted by the audits that were ever answered: whoever takes one back to get below
    # ten, and answers it again, has seen a version.
    n_shown = sum(
        max(later.n_audits, later.n_seen) >= FIRST_LOOK for later in ledger.learned[1:]
    )
    level = live_confidence(confidence, n_shown + 1)
    found = certify(
        model,
        Pairs(X, index),
        t,
        confidence=level,
        anytime=True,
        **_assumed(options, counted),
    )
    return replace(found, confidence=confidence, n_left_out=len(counted.left_out))


def _assumed(options: dict[str, Any], counted: Counted) -> dict[str, Any]:
    """Return what a certificate is told, with the rates of those who count."""
    if counted.rates is None:
        return options
    return options | {"flip_rates": Noise("unknown", counted.rates)}


def final_certificate(
    model: Any,
    X: PointsLike,
    ledger: Ledger,
    *,
    confidence: float,
    people: PeopleRates | None = None,
    **options: Any,
) -> Certificate | KindsCertificate | None:
    """Return the certificate of the frozen model; None while audits are missing.

    It counts the audits alone that were asked after learning had ended. Their number
    was fixed then, so that nobody could stop at a good moment. Audits that the model
    chose have an interval that holds at all looks, from the first answer on.

    Parameters
    ----------
    model, X, ledger, confidence, people, **options
        As for :func:`live_certificate`.

    Returns
    -------
    Certificate, KindsCertificate or None
    """
    said, audits = ledger.audit_answers(), ledger.final_audits()
    counted = by_people(ledger, people)
    index, t = answered_audits(
        [q for q in audits if q.pair not in counted.left_out], counted.said
    )
    if ledger.plan is not None:
        plan = AuditPlan.from_state(ledger.plan, X)
        return certify_audits(model, plan, t, confidence=confidence) if len(t) else None
    if sum(audit.pair in said for audit in audits) < ledger.n_final:
        return None
    if not len(t):
        return None
    options = _assumed(options, counted)
    found = certify(model, Pairs(X, index), t, confidence=confidence, **options)
    return replace(found, n_left_out=len(audits) - len(t))
