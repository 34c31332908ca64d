"""The progress panel: how far learning is, how good the model is, what is in doubt.

Of the answers to audits nothing is shown but the certificate, and how many a version of
the model got wrong: whoever could see more, and change answers by it, would make the
certificate too good. So suspicious answers and contradictions are those of questions to
learn from alone, and no point that was put aside is shown as typical of a group.
"""

from __future__ import annotations

import copy
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.ask.judging import by_people, judging_audits, n_wrong
from pairlearn.ask.ledger import Ledger
from pairlearn.data.cycles import ManyKindsContradictions
from pairlearn.data.pairs import Pairs
from pairlearn.label.agreement import agreement_of
from pairlearn.label.panel_words import (
    advice_in_words,
    certificate_in_words,
    taken_for_granted,
    why_no_certificate,
    why_suspicious,
)
from pairlearn.label.people import rates_in_words
from pairlearn.trust.kinds_certificate import KindsCertificate
from pairlearn.trust.probabilities import same_class
from pairlearn.trust.sample_checks import MoreKindsError
from pairlearn.trust.telling import differences

if TYPE_CHECKING:
    from collections.abc import Callable

    from pairlearn.ask.interview import Interview
    from pairlearn.ask.lessons import Lesson
    from pairlearn.ask.question import Question
    from pairlearn.data.types import Floats, Ints
    from pairlearn.files.tables.points import Points
    from pairlearn.trust.certificate import Certificate

__all__ = ["GOAL", "Panel", "no_panel"]

# The error that is wished for.
GOAL = 0.05
# Typical members of a group; they are chosen among so many of the most certain ones,
# and this share of the group at most.
_TYPICAL, _CERTAIN, _SHARE = 6, 300, 0.3
# Answers that the model thinks less likely than this are to be looked at again; so many
# are listed, and contradictions with so many answers at most.
_UNLIKELY, _LISTED, _LONGEST = 0.1, 20, 12


def no_panel(interview: Interview) -> dict[str, Any]:
    """Return the panel while there is no model.

    Parameters
    ----------
    interview : Interview
        The interview.

    Returns
    -------
    dict
    """
    return {
        "version": 0,
        "curve": [],
        "certificate": None,
        "no_certificate": why_no_certificate(
            0, interview.audits, len(interview.ledger.teaching())
        ),
        "advice": advice_in_words(interview.advice(GOAL)),
        "goal": GOAL,
        "goal_reached": False,
        "groups": [],
        "suspicious": [],
        "contradictions": [],
        "columns": [],
        "agreement": agreement_of(interview.ledger.answers.values()),
        "seconds": 0.0,
    } | rates_in_words(None)


class _Still(Ledger):
    """What a certificate needs of a ledger, which does not change any more."""

    def __init__(self, ledger: Ledger) -> None:
        super().__init__()
        self.learned = list(ledger.learned)
        self._audits = ledger.audits()
        self._audit_answers = ledger.audit_answers()
        self._by_people = ledger.audits_by_people()

    def audits(self) -> list[Question]:
        return list(self._audits)

    def audit_answers(self) -> dict[tuple[int, int], int]:
        return dict(self._audit_answers)

    def audits_by_people(self) -> dict[tuple[int, int], list[tuple[str | None, int]]]:
        return dict(self._by_people)


class Panel:
    """Computes panels about the points of a table.

    Parameters
    ----------
    points : Points
        The table.
    ids : list of str
        The ids of its points.
    """

    def __init__(self, points: Points, ids: list[str]) -> None:
        self._frame, self._ids = points.frame, ids
        self._rows = {name: row for row, name in enumerate(ids)}
        self._columns = {str(name): k for k, name in enumerate(points.features_to_show)}
        # Version and columns of the last panel: they depend on the model alone, and
        # take longest.
        self.told: tuple[int, list[int]] = 0, []

    def begin(
        self,
        interview: Interview,
        lesson: Lesson,
        candidates: Ints,
        names: list[dict[str, Any]],
    ) -> Callable[[], dict[str, Any]]:
        """Take down all that is needed, and return what computes the panel.

        Parameters
        ----------
        interview : Interview
            The interview, which may go on as soon as this has returned.
        lesson : Lesson
            The last version of the model.
        candidates : ndarray of int
            The points that it may ask about.
        names : list of dict
            Names of groups, each with the ids it was given for.

        Returns
        -------
        callable
            To be called in any thread.
        """
        still = copy.copy(interview)
        still.ledger = _Still(interview.ledger)
        answers, questions = interview.ledger.teaching(), interview.ledger.questions
        asked = {number: questions[number] for number in answers}
        said = list(interview.ledger.answers.values())

        def compute() -> dict[str, Any]:
            found = self._compute(still, lesson, candidates, answers, asked, names)
            return found | {"agreement": agreement_of(said)}

        return compute

    def _compute(
        self,
        interview: Interview,
        lesson: Lesson,
        candidates: Ints,
        answers: dict[int, int],
        asked: dict[int, Question],
        names: list[dict[str, Any]],
    ) -> dict[str, Any]:
        begin = time.perf_counter()
        proba = lesson.scores.proba
        numbers = np.array(list(answers), dtype=np.intp)
        said = np.array(list(answers.values()), dtype=float)
        index = np.array([asked[n].pair for n in answers], dtype=np.intp).reshape(-1, 2)
        n_classes = 2 if interview.n_classes == 2 else 0
        group = proba.argmax(axis=1)
        version = len(interview.ledger.learned)
        return (
            {"version": version, "curve": _curve(interview)}
            | _certificate(interview)
            | {
                "advice": advice_in_words(interview.advice(GOAL)),
                "groups": self._groups(interview, lesson, candidates, group, names),
                "suspicious": _suspicious(
                    numbers, index, said, proba, candidates, lesson.doubtful, asked
                ),
                "contradictions": _contradictions(
                    interview.X, numbers, index, said, n_classes
                ),
                "columns": self._telling(version, candidates, group, proba.shape[1]),
                "seconds": time.perf_counter() - begin,
            }
            | rates_in_words(None if lesson.worth is None else lesson.worth.people)
        )

    def _groups(
        self,
        interview: Interview,
        lesson: Lesson,
        candidates: Ints,
        group: Ints,
        names: list[dict[str, Any]],
    ) -> list[dict[str, Any]]:
        """Return the groups, each with typical members."""
        proba = lesson.scores.proba
        place = {int(row): k for k, row in enumerate(candidates)}
        named = _carried_over(names, self._rows, place, group, proba.shape[1])
        found = []
        classes = np.asarray(lesson.model.classes_).tolist()
        for k in range(proba.shape[1]):
            members = np.flatnonzero(group == k)
            rows = candidates[_typical(interview.X, candidates, members, proba[:, k])]
            found.append(
                {
                    "key": str(classes[k]) if k < len(classes) else str(k),
                    "name": named.get(k),
                    "share": len(members) / len(group),
                    "typical": rows.tolist(),
                    "members": [self._ids[row] for row in rows],
                }
            )
        return found

    def _telling(
        self, version: int, candidates: Ints, group: Ints, n_groups: int
    ) -> list[int]:
        """Return the numbers of columns, those first that set groups apart best."""
        if self.told[0] == version:
            return self.told[1]
        best: dict[str, float] = {}
        for some in differences(self._frame.iloc[candidates], group, n_groups):
            for each in some:
                best[each.column] = max(best.get(each.column, 0.0), each.strength)
        order = sorted(best, key=lambda name: -best[name])
        return [self._columns[name] for name in order if name in self._columns]


def _curve(interview: Interview) -> list[dict[str, Any]]:
    return [
        {
            "n_answers": version.n_answers,
            "expected_error": version.expected_error,
            "n_audits": version.n_audits,
            "n_wrong": version.n_wrong,
        }
        for version in interview.history
    ]


def _certificate(interview: Interview) -> dict[str, Any]:
    """Return the certificate, or why there is none."""
    ledger = interview.ledger
    n_audits, n_answers = len(ledger.audit_answers()), len(ledger.learned[-1].answers)
    why = why_no_certificate(n_audits, interview.audits, n_answers)
    found = None
    try:
        found = interview.certificate
    except MoreKindsError as problem:
        why = f"There is no certificate: {problem}."
    shown: dict[str, Any] | None = None
    if found is not None:
        if isinstance(found, KindsCertificate):
            error, (low, high) = found.error, found.interval
        else:
            error, (low, high) = found.clustering_error, found.clustering_interval
        shown = {
            "error": error,
            "low": low,
            "high": high,
            # Where answers may be wrong: what it would be if none was.
            "if_right": _if_right(found),
            "confidence": found.confidence,
            "n_audits": found.n_pairs,
            "sentence": certificate_in_words(
                found,
                n_wrong(
                    interview.model,
                    interview.X,
                    *judging_audits(ledger, by_people(ledger, interview.people())),
                ),
                interview.audits,
                len(ledger.learned),
            ),
            "granted": taken_for_granted(found),
        }
    return {
        "certificate": shown,
        "no_certificate": why if shown is None else None,
        "goal": GOAL,
        "goal_reached": shown is not None
        and (shown["if_right"] or [0, shown["high"]])[1] <= GOAL,
    }


def _if_right(certificate: Certificate | KindsCertificate) -> list[float] | None:
    """Return the interval if every answer is right, where that is not assumed."""
    if certificate.noise != "unknown" or certificate.bolder_interval is None:
        return None
    return list(certificate.bolder_interval)


def _typical(X: Any, candidates: Ints, members: Ints, proba: Floats) -> Ints:
    """Return members of which the model is sure, and which are far from each other.

    The first is the one that it is surest of; then, of those that it is sure of, the
    one that is furthest from those before.
    """
    if len(members) <= _TYPICAL:
        return members[np.argsort(-proba[members], kind="stable")]
    most = max(_TYPICAL, min(_CERTAIN, int(_SHARE * len(members))))
    sure = members[np.argsort(-proba[members], kind="stable")[:most]]
    Z = np.asarray(X[candidates[sure]], dtype=float)
    spread = Z.std(axis=0)
    Z = Z[:, spread > 0] / spread[spread > 0]
    chosen = [0]
    distance = ((Z - Z[0]) ** 2).sum(axis=1)
    while len(chosen) < _TYPICAL:
        # Not one of those chosen, also where all are at the same place.
        distance[chosen] = -1.0
        chosen.append(int(np.argmax(distance)))
        distance = np.minimum(distance, ((Z - Z[chosen[-1]]) ** 2).sum(axis=1))
    return sure[chosen]


def _carried_over(
    names: list[dict[str, Any]],
    rows: dict[str, int],
    place: dict[int, int],
    group: Ints,
    n_groups: int,
) -> dict[int, str]:
    """Return which group bears which name: that in which most of its members are."""
    votes = []
    for k, each in enumerate(names):
        members = [place[rows[m]] for m in each["members"] if rows.get(m) in place]
        counts = np.bincount(group[members], minlength=n_groups) if members else ()
        votes += [(-int(n), k, g) for g, n in enumerate(counts) if n]
    found: dict[int, str] = {}
    given: set[int] = set()
    for _, k, g in sorted(votes):
        if g not in found and k not in given:
            found[g] = str(names[k]["name"])
            given.add(k)
    return found


def _suspicious(
    numbers: Ints,
    index: Ints,
    said: Floats,
    proba: Floats,
    candidates: Ints,
    doubtful: list[int],
    asked: dict[int, Question],
) -> list[dict[str, Any]]:
    """Return answers that the model thinks unlikely, and those in doubt."""
    place = np.full(max(int(candidates.max()), int(index.max(initial=0))) + 1, -1)
    place[candidates] = np.arange(len(candidates))
    both = place[index]
    here = np.flatnonzero((both >= 0).all(axis=1))
    same = same_class(proba[both[here, 0]], proba[both[here, 1]])
    agree = np.where(said[here] > 0, same, 1 - same)
    order = np.argsort(agree, kind="stable")
    found = [
        {
            "question": int(numbers[here[k]]),
            "why": why_suspicious(int(said[here[k]]), float(agree[k])),
        }
        for k in order[:_LISTED]
        if agree[k] < _UNLIKELY
    ]
    listed = {each["question"] for each in found}
    wanted = set(doubtful[:_LISTED])
    for number in numbers.tolist():
        is_new = len(found) < _LISTED and number not in listed
        if is_new and asked[number].target in wanted:
            why = "Other answers about the same things speak against it."
            found.append({"question": number, "why": why})
    return found


def _contradictions(
    X: Any, numbers: Ints, index: Ints, said: Floats, n_classes: int
) -> list[list[int]]:
    """Return answers that cannot all be right, the shortest lists first."""
    if not len(numbers):
        return []
    pairs = Pairs(X, index)
    cycles: Any = (
        pairs.contradictions(said)
        if n_classes == 2
        else ManyKindsContradictions(pairs, said)
    )
    found = [numbers[cycles[k]].tolist() for k in range(min(len(cycles), 10 * _LISTED))]
    found = [each for each in found if len(each) <= _LONGEST]
    return sorted(found, key=len)[:_LISTED]
