"""`pairlearn ask`: tables and the answers so far to the next questions.

All that is known is in the files: an interview is made anew in each round, from the
points, the seed and the answers. So nothing is lost if the command is killed between
rounds, and the same files give the same questions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.ask.audits import coins, put_aside
from pairlearn.ask.interview import RESERVED
from pairlearn.ask.tables import begin_interview, encode, noise_to_learn_with
from pairlearn.cli.judging import in_options, warnings_as_notes
from pairlearn.cli.reviewing import note_on_changes
from pairlearn.data.databases import called
from pairlearn.files.tables.answered_pairs import read_answers
from pairlearn.files.tables.cells import id_of, shown
from pairlearn.files.tables.errors import OptionError, TableError
from pairlearn.files.tables.points import read_points
from pairlearn.files.tables.purposes import AUDIT
from pairlearn.files.tables.reading import read_table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from pairlearn.ask import Interview
    from pairlearn.ask.question import Question
    from pairlearn.data.types import Floats, Ints
    from pairlearn.files.tables.answered_pairs import AnsweredPairs
    from pairlearn.files.tables.pair_rows import Line
    from pairlearn.files.tables.points import Points

__all__ = ["AskOptions", "Brought", "Round", "ask_tables", "make_interview"]

# A share that is next to none, but keeps the points aside that audits are about.
_NO_MORE = 1e-12
# From how many answers on, and at how many times, a forecast looks back.
_FIRST, _STEPS = 10, 6


@dataclass(frozen=True)
class AskOptions:
    """How questions are to be chosen.

    Attributes
    ----------
    n : int
        How many in a round.
    seed : int
        Seed. The same in all rounds, as it decides which points are put aside.
    audits : float
        The share of audits.
    kinds : int or "auto"
        How many classes there are.
    noise : "auto", None, float, tuple or FlipRateEstimate
        How often answers are wrong.
    strategy : str
        How questions are chosen.
    goal : float or None
        An error to forecast the number of answers for.
    """

    n: int = 20
    seed: int = 0
    audits: float = 0.2
    kinds: int | str = 2
    noise: Any = "auto"
    strategy: str = "mixed"
    goal: float | None = None


@dataclass
class Brought:
    """The answers so far, as an interview takes them.

    Attributes
    ----------
    learn, audit : ndarray of shape (n, 2)
        Row numbers of the points, of pairs to learn from and of audits.
    said, judged : ndarray of shape (n,)
        Their answers: 1, -1, or 0 for unsure.
    lines : dict
        Where audits stand, as far as somebody was sure about them, by their points.
    """

    learn: Ints = field(default_factory=lambda: np.zeros((0, 2), dtype=np.intp))
    said: Floats = field(default_factory=lambda: np.zeros(0))
    audit: Ints = field(default_factory=lambda: np.zeros((0, 2), dtype=np.intp))
    judged: Floats = field(default_factory=lambda: np.zeros(0))
    lines: dict[tuple[int, ...], Line] = field(default_factory=dict)

    @classmethod
    def of(cls, answered: AnsweredPairs) -> Brought:
        """Return the answers of tables; of an audit that was repeated, one."""
        index, t = answered.rows or (answered.index, answered.t)
        learn = np.concatenate([index, answered.unsure])
        said = np.concatenate([np.sign(t), np.zeros(len(answered.unsure))])
        if answered.audits is None:
            return cls(learn, said)
        pairs, judged = answered.audits.with_unsure
        order = np.argsort(answered.audits.first_lines, kind="stable")
        found = answered.audits
        lines = {
            tuple(pair): some[0]
            for pair, some in zip(found.index.tolist(), found.lines, strict=True)
        }
        return cls(learn, said, pairs.index[order], np.sign(judged[order]), lines)

    @property
    def can_teach(self) -> bool:
        """Whether there are both kinds of answers, which a model needs."""
        return len(set(self.said[self.said != 0].tolist())) == 2


@dataclass
class Round:
    """The questions of a round, and what is known so far.

    Attributes
    ----------
    number : int
        The number of the round, from 1.
    questions : list of Question
        The questions.
    points : Points
        The points.
    brought : Brought
        The answers so far.
    expected_error : float or None
        The error that the model expects of itself; None: there is no model yet.
    forecast : str or None
        About how many more answers the wanted error takes.
    notes : list of str
        What to tell.
    """

    number: int
    questions: list[Question]
    points: Points
    brought: Brought
    expected_error: float | None = None
    forecast: str | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def n_audits(self) -> int:
        """How many of the questions are audits."""
        return sum(question.purpose == AUDIT for question in self.questions)


def ask_tables(
    points: Path,
    pairs: Sequence[Path],
    reading: Mapping[str, Any],
    options: AskOptions,
    step: Callable[[str], None] = lambda _: None,
) -> Round:
    """Choose the next questions about the points of a table.

    Parameters
    ----------
    points : Path
        The table of points.
    pairs : sequence of Path
        Tables with the answers so far; none in the first round.
    reading : dict
        How they are to be read: arguments of `read_answers`.
    options : AskOptions
        How questions are to be chosen.
    step : callable
        Told what is being done.

    Returns
    -------
    Round
    """
    step("reading the tables")
    _refuse(reading)
    brought, number = Brought(), 1
    if pairs:
        _refuse_unanswered(pairs, reading)
        answered = read_answers(points, pairs, **reading, need_sure=False)
        found, notes = answered.points, answered.notes
        brought = Brought.of(answered)
        _check_audits(answered, brought)
        number += 0 if answered.marks is None else answered.marks.last_round
        if options.audits:
            notes += _note_on_points_aside(answered, options.seed)
        notes += note_on_changes(
            pairs,
            found,
            [column.name for column in found.columns],
            delimiter=reading["delimiter"],
        )
    else:
        table = read_table(points, delimiter=reading["delimiter"])
        found = read_points(
            table,
            reading["id"],
            first_row=reading["first_row"],
            embed=reading.get("embed"),
            step=reading.get("step"),
        )
        notes = table.notes + found.notes
    notes += [column.note for column in found.columns if column.note]
    if len(found) < 2:
        raise TableError(f"{points.name} holds one point; a question needs two")
    step("looking at the points")
    interview = make_interview(
        encode(found), found.ids.tolist(), options, brought, found.table.name
    )
    expected = _learn(interview, brought, notes, step)
    step("choosing questions")
    questions = interview.next_questions(options.n)
    notes += _notes_on_number(interview, questions, options, len(found))
    forecast = None
    if options.goal is not None:
        step("looking back at how learning went")
        forecast = _forecast(encode(found), found.ids.tolist(), options, brought)
    return Round(number, questions, found, brought, expected, forecast, notes)


def _refuse(reading: Mapping[str, Any]) -> None:
    if reading["group"] is not None:
        raise OptionError(
            "pairlearn ask cannot take --group into account: its audits would compare "
            "rows of one patient or device. Give it a table with one row of each, and "
            "use --group with pairlearn fit"
        )
    if reading["soft"]:
        raise OptionError(
            "pairlearn ask understands same, different and unsure, and no numbers "
            "between; leave out --soft"
        )


def _refuse_unanswered(pairs: Sequence[Path], reading: Mapping[str, Any]) -> None:
    """Refuse files of which none holds an answer: somebody forgot to answer."""
    name = reading["answer"] or "answer"
    for file in pairs:
        cells = read_table(file, delimiter=reading["delimiter"]).columns.get(name)
        if cells is None or any(map(id_of, cells)):
            return
    raise TableError(
        f"{' and '.join(map(called, pairs))}: there is no answer yet in the "
        f"column {name!r}. Write same, different, or ? if unsure; for the first "
        "questions give the table of points alone"
    )


def make_interview(
    X: Floats,
    ids: list[str],
    options: AskOptions,
    brought: Brought,
    name: str = "the table of points",
) -> Interview:
    """Return an interview that knows the answers so far.

    Parameters
    ----------
    X : ndarray of shape (n_points, n_features)
        The points, as numbers.
    ids : list of str
        Their ids.
    options : AskOptions
        How questions are to be chosen.
    brought : Brought
        The answers so far.
    name : str
        Of the table of points, for messages.

    Returns
    -------
    Interview
    """
    audits = options.audits
    if not audits and len(brought.audit):
        audits = _NO_MORE
    interview = begin_interview(
        X,
        ids,
        name,
        n_classes=options.kinds,
        audits=audits,
        strategy=options.strategy,
        noise=noise_to_learn_with(options.noise, options.kinds),
        random_state=options.seed,
    )
    if len(brought.learn):
        interview.bring(brought.learn, brought.said)
    for pair, answer in zip(brought.audit, brought.judged, strict=True):
        try:
            interview.bring(pair[None], [answer], purpose=AUDIT)
        except ValueError:
            left, right = (shown(ids[row]) for row in pair)
            line = brought.lines.get(tuple(pair.tolist()))
            where = "" if line is None else f"line {line}: "
            raise TableError(
                f"{where}{left} and {right} are marked as an audit, but with --seed "
                f"{options.seed} they are not among the points of {name} that are put "
                "aside for audits. Give the --seed of the earlier rounds; and ids must "
                "stay as they were"
            ) from None
    return interview


def _check_audits(answered: AnsweredPairs, brought: Brought) -> None:
    """Refuse audits that share points with each other, or with what is learned from."""
    ids = answered.points.ids
    points, counts = np.unique(brought.audit, return_counts=True)
    both = np.intersect1d(points, brought.learn)
    if len(both):
        point = int(both[0])
        places = [
            str(lines[0])
            for one in filter(None, (answered.audits, answered))
            for pair, lines in zip(one.index.tolist(), one.lines, strict=False)
            if point in pair
        ]
        where = f" (see lines {' and '.join(places[:2])})" if len(places) > 1 else ""
        raise TableError(
            f"{shown(ids[point])} is in an audit and in an answer to learn "
            f"from{where}: an audit must be about points that nothing is learned from. "
            "Take the row to learn from out of the table"
        )
    twice = points[counts > 1]
    if len(twice):
        raise TableError(
            f"{shown(ids[int(twice[0])])} is in two audits, and each point may be in "
            "one only. Were rounds asked with different seeds? Keep the rounds of one "
            "--seed"
        )


def _note_on_points_aside(answered: AnsweredPairs, seed: int) -> list[str]:
    """Return a sentence if points that audits should be about were chosen to learn."""
    if not answered.n_chosen:
        return []
    ids = answered.points.ids.tolist()
    aside = put_aside(coins(len(ids), seed, ids), RESERVED)
    n_spoiled = len(np.intersect1d(answered.chosen_points, aside))
    if not n_spoiled:
        return []
    note = (
        f"{n_spoiled} point(s) that would be put aside for audits were chosen to learn "
        "from, in a round with another --seed or with --audits 0. Chosen points are "
        "the hard ones, so that audits are about easier ones, and show a smaller error "
        "than there is. Use one --seed and --audits above 0 from the first round on"
    )
    return [note]


def _learn(
    interview: Interview,
    brought: Brought,
    notes: list[str],
    step: Callable[[str], None],
) -> float | None:
    """Learn once, and return the error that the model expects; None: no model yet."""
    said = brought.said[brought.said != 0]
    if not len(said):
        if len(brought.said):
            notes.append(
                "all answers so far are unsure, so there is no model yet; the "
                "questions go on exploring"
            )
        return None
    if not brought.can_teach:
        word = "same" if said[0] > 0 else "different"
        all_of = f"all {len(said)} answers" if len(said) > 1 else "the one answer"
        verb = "are" if len(said) > 1 else "is"
        notes.append(
            f"{all_of} so far {verb} '{word}', so there is no model yet: it needs both "
            "kinds. The questions go on exploring"
        )
        return None
    step(f"learning from {len(said)} answer(s)")
    told: list[str] = []
    with warnings_as_notes(told):
        try:
            interview.learn()
        except ValueError as problem:
            notes.append(f"there is no model yet: {in_options(str(problem))}")
            return None
    return interview.history[-1].expected_error


def _forecast(X: Floats, ids: list[str], options: AskOptions, brought: Brought) -> str:
    """Return about how many more answers the wanted error takes.

    Models of the first answers are made again, to see how the expected error fell.
    """
    goal = options.goal or 0.0
    # With the same points put aside, so that the same points are looked at.
    interview = make_interview(X, ids, options, Brought())
    n = len(brought.said)
    ends = np.unique(np.geomspace(min(_FIRST, n) or 1, n or 1, _STEPS).astype(int))
    with warnings_as_notes([]):
        done = 0
        for end in ends.tolist() if n else ():
            interview.bring(brought.learn[done:end], brought.said[done:end])
            done = end
            if Brought(brought.learn[:end], brought.said[:end]).can_teach:
                interview.learn()
    return str(interview.advice(goal))


def _notes_on_number(
    interview: Interview, questions: list[Question], options: AskOptions, n_points: int
) -> list[str]:
    """Refuse to write no question; return what to tell of their number."""
    if not questions:
        raise TableError(
            f"no question is left: all {interview.n_candidates} points that may be "
            "asked about are in questions already. Learn from the answers with "
            "pairlearn fit, or add points to the table"
        )
    notes = []
    if len(questions) < options.n:
        notes.append(
            f"you wanted {options.n} questions, and only {len(questions)} "
            f"{'is' if len(questions) == 1 else 'are'} left: then all "
            f"{interview.n_candidates} points that may be asked about are in questions"
        )
    if options.audits and n_points >= 10 and interview.n_candidates < 0.5 * n_points:
        notes.append(
            f"of {n_points:,} points {interview.n_candidates:,} are asked about, drawn "
            "at random; the others would make choosing slow, or are kept for audits"
        )
    return notes
