"""`pairlearn check`: what is wrong or redundant in the answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.cli.judging import kinds_evidence, more_than_two_kinds
from pairlearn.cli.near_duplicates import note_on_near_duplicates
from pairlearn.cli.people import people_of
from pairlearn.cli.people_rates import rates_by_answers
from pairlearn.cli.suspicious import rank_answers, write_suspicious
from pairlearn.data.cycles import ManyKindsContradictions
from pairlearn.data.pairs import Pairs
from pairlearn.files.tables.answered_pairs import read_answers
from pairlearn.trust.least_kinds import least_kinds
from pairlearn.trust.noise import Noise

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pairlearn.cli.people import People
    from pairlearn.files.tables.answered_pairs import AnsweredPairs
    from pairlearn.people.rates import PeopleRates

__all__ = ["Checked", "check_tables"]


@dataclass
class Checked:
    """What the answers are like.

    Attributes
    ----------
    answered : AnsweredPairs
        The pairs with their answers.
    facts : list of tuple
        (name, value), to be printed.
    cycles : list of list
        Contradictions: (line, left id, right id, answer) of each pair on a closed path,
        the refuted one first.
    n_contradictions : int
        How many there are.
    columns : list of tuple
        (name, what it is) for each column of the points.
    notes : list of str
        What to tell.
    many_kinds : bool
        Whether there seem to be more than two kinds.
    people : People or None
        Those who answered; None if no column names them.
    to_settle : list of str
        The first pairs about which answers disagree, with their lines.
    n_doubtful : int or None
        How many answers are likelier wrong than right; None if nobody asked.
    rates : PeopleRates or None
        How often each person is right, by the answers alone; None for more than two
        kinds, for one person, and for very many answers.
    """

    answered: AnsweredPairs
    facts: list[tuple[str, str]]
    cycles: list[list[tuple[int, str, str, float]]]
    n_contradictions: int
    columns: list[tuple[str, str]]
    notes: list[str]
    many_kinds: bool = False
    people: People | None = None
    to_settle: list[str] = field(default_factory=list)
    n_doubtful: int | None = None
    rates: PeopleRates | None = None


def check_tables(
    points: Path,
    pairs: Path | Sequence[Path],
    reading: Mapping[str, Any],
    *,
    most: int = 10,
    suspicious: Path | None = None,
    seed: int = 0,
) -> Checked:
    """Look at a table of points and at answers about pairs of them.

    Parameters
    ----------
    points, pairs : Path
        The tables; of pairs there may be several.
    reading : dict
        How they are to be read: arguments of `read_answers`.
    most : int
        How many contradictions to show, and how many disagreements.
    suspicious : Path or None
        Where to write which answers may be wrong; None: nowhere.
    seed : int
        Seed for the models that find them.

    Returns
    -------
    Checked
    """
    answered = read_answers(points, pairs, **reading, audits_apart=False)
    columns = answered.points.columns
    n_points = len(answered.points)
    # The graph needs no features, nor the points that no answer is about.
    used, index = np.unique(answered.index, return_inverse=True)
    given = Pairs(np.zeros((len(used), 1)), index.reshape(-1, 2))
    t = answered.t
    sizes = np.bincount(given.components())
    certain = np.abs(t) == 1
    sure = given[certain]
    joined = sure.used_points()
    # A forest of the certain answers has one fewer links than points, in each tree.
    n_needed = len(joined) - len(np.unique(sure.components()[joined]))
    # What is true of random pairs alone is asked of those that may be random.
    drawn = answered.random
    evidence = None if drawn is None else kinds_evidence(drawn)
    problem = None
    if drawn is not None:
        problem = more_than_two_kinds(drawn, Noise("unknown"))
    if problem is None and evidence is not None and evidence.refuted:
        problem = (
            f"{evidence.in_words()}. So there seem to be more than two kinds, or the "
            "pairs were not drawn at random"
        )
    many = problem is not None
    # Answers do not multiply if there are more kinds than two.
    always = ManyKindsContradictions(given, t)
    found = always if many else given.contradictions(t)
    ids, (left, right) = answered.points.ids, answered.index.T
    cycles = [
        [
            (answered.lines[k][0], ids[left[k]], ids[right[k]], float(t[k]))
            for k in cycle.tolist()
        ]
        for cycle in found[:most]
    ]
    n_same, n_soft = int(np.sum(t > 0)), int(np.sum(~certain))
    n_disagreeing = answered.n_disagreeing
    n_redundant = int(certain.sum()) - n_needed
    n_implied = given.closure(t).n_answers
    n_disjoint = len(given.disjoint(random_state=0))
    purposes: list[tuple[str, str]] = []
    marks = answered.marks
    for_certificate = f"{n_disjoint:,} pairs share no point with each other"
    if marks is not None and marks.marked:
        n_own = int(np.sum(~marks.learn & ~marks.audit))
        n_audits = 0 if answered.audits is None else len(answered.audits)
        told = f"{marks.learn.sum():,} rows to learn from, {marks.audit.sum():,} audits"
        told += f", {n_own:,} of your own" * bool(n_own)
        if marks.last_round:
            told += f"; the last round is {marks.last_round}"
        purposes = [("purposes", told)]
        for_certificate = f"{n_audits:,} audits are answered; no other pair counts"
    implied = [
        ("redundant", f"{n_redundant:,} answers follow from the others"),
        ("known answers", f"{n_implied:,} pairs, given or implied by others"),
    ]
    n_found, among = len(found), "however many kinds there are"
    if many:
        contradictions = f"{n_found:,} between pairs, {among}"
    elif n_found:
        contradictions = (
            f"{n_found:,} between pairs if there are two kinds, {len(always):,} {among}"
        )
    else:
        contradictions = "0 between pairs"
    least = least_kinds(given, t) if many else None
    likely = [
        ("kinds", "more than two are likely, see the notes"),
        ("", "" if least is None else least.in_words()),
    ]
    facts = [
        *(likely if many else []),
        ("points", f"{n_points:,}; {n_points - len(used):,} in no answered pair"),
        ("rows of answers", f"{answered.n_rows:,}; {answered.n_unsure:,} unsure"),
        *purposes,
        (
            "pairs",
            f"{len(t):,}: {n_same:,} same, {int(np.sum(t < 0)):,} different"
            + f" ({n_soft:,} uncertain or divided)" * bool(n_soft),
        ),
        ("components", f"{len(sizes):,} groups of points linked by answers"),
        ("", f"the largest has {int(sizes.max(initial=0)):,} points"),
        (
            "contradictions",
            contradictions
            + f"; {n_disagreeing:,} pairs have answers that disagree"
            * bool(n_disagreeing),
        ),
        *([] if many else implied),
        ("for a certificate", for_certificate),
    ]
    rate = answered.repeat_rate(0.99) if many else answered.flip_rate_at(0.99)
    if rate is not None:
        low, high = rate.interval
        told = (
            f"about {rate.rate:.1%}, between {low:.1%} and {high:.1%}, from "
            f"{rate.n_compared:,} comparisons of answers that must agree"
        )
        if answered.n_chosen:
            told += "; perhaps fewer, as suspicious pairs may be asked again"
        facts.append(("wrong answers", told))
    notes = answered.notes + [column.note for column in columns if column.note]
    notes += [] if problem is None else [f"{problem}; pairlearn fit finds how many"]
    notes += note_on_near_duplicates(answered)
    n_doubtful = None
    if suspicious is not None:
        n_kinds = 2 if least is None else max(3, least.by_points, least.by_share)
        ranked = rank_answers(answered, seed, n_kinds)
        write_suspicious(ranked, answered, suspicious)
        n_doubtful = int(np.sum(ranked.suspicion > 0.5))
    people = people_of(answered, audits_apart=False)
    notes += [] if answered.said is None else answered.said.people.notes
    return Checked(
        answered,
        facts,
        cycles,
        len(found),
        [(column.name, column.how) for column in columns],
        notes,
        many,
        people,
        [] if people is None else people.to_settle(most),
        n_doubtful,
        None if many or people is None else rates_by_answers(answered),
    )
