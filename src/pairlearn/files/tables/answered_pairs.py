"""Two tables to pairs with one answer each: what fit, certify and check begin with."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.data.pairs import Pairs
from pairlearn.files.tables.answer_words import AnswerWords
from pairlearn.files.tables.answers import parse_answers
from pairlearn.files.tables.cells import shown
from pairlearn.files.tables.columns import named_id
from pairlearn.files.tables.errors import OptionError, TableError
from pairlearn.files.tables.overlap import hint_about_ids, ids_of_sides
from pairlearn.files.tables.pair_rows import PairRows, join_rows, read_pairs
from pairlearn.files.tables.people_columns import SaidRows
from pairlearn.files.tables.points import read_points
from pairlearn.files.tables.purposes import read_key
from pairlearn.files.tables.reading import read_table
from pairlearn.files.tables.stored import (
    how_points_are_known,
    note_on_waiting,
    waiting_audits,
)
from pairlearn.trust.flip_rates import flip_rate, flip_rate_from_repeats

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from pairlearn.data.types import Bools, Floats, Ints
    from pairlearn.files.tables.answers import ParsedAnswers
    from pairlearn.files.tables.pair_rows import Line
    from pairlearn.files.tables.points import Points
    from pairlearn.files.tables.purposes import Marks
    from pairlearn.files.tables.reading import Table
    from pairlearn.trust.noise import FlipRateEstimate

__all__ = ["AnsweredPairs", "PairRows", "read_answers", "read_pairs"]

# How notes end that are not true where it is known who said what.
EACH_ONCE = "; each counts once, with the mean of its answers"
TEACH_NOTHING = "teach nothing; they count as unsure"


@dataclass
class AnsweredPairs:
    """Pairs of points with one answer each.

    Attributes
    ----------
    points : Points
        The points.
    index : ndarray of shape (n_pairs, 2)
        Row numbers of the two points of each pair.
    t : ndarray of shape (n_pairs,)
        The mean of the answers about each pair.
    lines : list of list
        Where the answers about each pair stand: lines, and files if there are several.
    unsure : ndarray of shape (n_unsure_pairs, 2)
        Row numbers of the pairs about which nobody is sure, or whose answers hold each
        other up. Nothing is learned from them, but a certificate must count them.
    first_lines : ndarray
        The place, in the order of the answers, of the first row about each pair, the
        unsure ones at the end.
    uncertain : ndarray of bool of shape (n_pairs,)
        Pairs with an answer between -1 and 1 (`soft`). Something is learned from them,
        but a certificate counts them as unsure.
    rows : tuple of ndarray
        Row numbers (n, 2) and answers (n,) of all usable rows, before answers about
        one pair were made one.
    n_rows, n_unsure, n_self, n_unknown : int
        Rows in the table; answers that were unsure; rows that name one point twice;
        rows left out since they name an unknown point.
    n_repeated, n_disagreeing, n_tied : int
        Pairs that were answered more than once; of these, those whose answers
        disagree; of these, those left out since the answers hold each other up.
    notes : list of str
        All this in sentences.
    marks : Marks or None
        What each row of the tables is for, those of audits among them.
    chosen_points : ndarray of int
        Row numbers of points that were chosen to learn from, and answered about.
    audits : AnsweredPairs or None
        The pairs that are there to judge a model; None if no row is marked so. They are
        not among the others, unless they were read together.
    n_looks : int
        The last round with answers: so many models somebody may have looked at, one
        after each round. 0: not known.
    said : SaidRows or None
        All answers, also the unsure ones, and who gave them.
    """

    points: Points
    index: Ints
    t: Floats
    lines: list[list[Line]]
    n_rows: int = 0
    n_unsure: int = 0
    n_self: int = 0
    n_unknown: int = 0
    n_repeated: int = 0
    n_disagreeing: int = 0
    n_tied: int = 0
    notes: list[str] = field(default_factory=list)
    unsure: Ints = field(default_factory=lambda: np.zeros((0, 2), dtype=np.intp))
    rows: tuple[Ints, Floats] | None = None
    first_lines: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    uncertain: Bools = field(default_factory=lambda: np.zeros(0, dtype=bool))
    marks: Marks | None = None
    chosen_points: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    audits: AnsweredPairs | None = None
    n_looks: int = 0
    said: SaidRows | None = None

    def __len__(self) -> int:
        return len(self.t)

    @property
    def n_chosen(self) -> int:
        """How many rows were chosen to learn from, so that they are not random."""
        return 0 if self.marks is None else int(self.marks.learn.sum())

    @property
    def random(self) -> AnsweredPairs | None:
        """Pairs that may have been drawn at random: all, or the audits alone."""
        return self.audits if self.n_chosen else self

    @cached_property
    def pairs(self) -> Pairs:
        """The pairs, over the frame of the points."""
        return Pairs(self.points.frame, self.index)

    def add_unsure(self, index: Ints, places: Ints) -> None:
        """Add pairs about which nobody is sure; each counts once, if no answer is."""
        known = {frozenset(pair) for pair in self.index.tolist()}
        known |= {frozenset(pair) for pair in self.unsure.tolist()}
        found, where = [*self.unsure.tolist()], self.first_lines.tolist()
        for pair, place in zip(index.tolist(), places.tolist(), strict=True):
            if frozenset(pair) not in known:
                known.add(frozenset(pair))
                found.append(pair)
                where.append(place)
        self.unsure = np.array(found, dtype=np.intp).reshape(-1, 2)
        self.first_lines = np.array(where, dtype=np.intp)

    @cached_property
    def with_unsure(self) -> tuple[Pairs, Floats]:
        """All pairs with answers to judge by: 0 for uncertain ones.

        Pairs without any sure answer are at the end.
        """
        index = np.concatenate([self.index, self.unsure])
        sure = np.where(self.uncertain, 0.0, self.t) if len(self.uncertain) else self.t
        t = np.concatenate([sure, np.zeros(len(self.unsure))])
        return Pairs(self.points.frame, index), t

    def leave_out(self, reasons: Mapping[str, str]) -> None:
        """Leave columns of the points out of what is learned from; see `Points`."""
        self.points.leave_out(reasons)
        for answered in (self, self.audits):
            if answered is not None:
                answered.__dict__.pop("pairs", None)
                answered.__dict__.pop("with_unsure", None)

    def repeat_rate(self, confidence: float) -> FlipRateEstimate | None:
        """Return how often answers are wrong, from repeated answers alone.

        This holds for any number of kinds; what triangles tell is for two.
        """
        if self.rows is None:
            return None
        index, t = self.rows
        pairs = Pairs(np.zeros((len(self.points), 1)), index)
        return flip_rate_from_repeats(pairs, t, confidence=confidence)

    def flip_rate_at(self, confidence: float) -> FlipRateEstimate | None:
        """Return how often answers are wrong, from repeated answers and triangles."""
        if self.rows is None:
            return None
        index, t = self.rows
        pairs = Pairs(np.zeros((len(self.points), 1)), index)
        return flip_rate(pairs, t, confidence=confidence)


def read_answers(
    points: str | Path,
    pairs: str | Path | Sequence[str | Path],
    *,
    id: str | None = None,  # noqa: A002 - the user's word for it
    left: str | None = None,
    right: str | None = None,
    answer: str | None = None,
    first_row: int | None = None,
    soft: bool = False,
    skip_unknown: bool = False,
    group: str | None = None,
    key: Sequence[str | Path] = (),
    embed: str | None = None,
    step: Callable[[int, int], None] | None = None,
    audits_apart: bool = True,
    need_sure: bool = True,
    delimiter: str | None = None,
    same: Sequence[str] = (),
    different: Sequence[str] = (),
    unsure: Sequence[str] = (),
) -> AnsweredPairs:
    r"""Read a table of points and a table of answers, as ``pairlearn fit`` does.

    Several answers about one pair, in whatever order it names its points, become one:
    their mean, a soft answer where they disagree. So each pair counts once, however
    many people answered it; where they are evenly divided it is left out. Of an audit
    the first sure answer counts.

    Messages name the options of the command line; the arguments here have the same
    names.

    Parameters
    ----------
    points, pairs : str or Path
        The tables: files that end in .csv, .tsv, .tab, .txt, .xlsx, .parquet, .feather,
        .arrow or .ipc; of points also .npy, .npz or a folder of images, and of pairs
        the answers.sqlite of ``pairlearn label``. There may be several tables of pairs.
    id : str, optional
        The column of the points with their ids. None: found by its name or content.
    left, right, answer : str, optional
        The columns of the pairs. None: found by their names or content.
    first_row : {0, 1}, optional
        The points have no ids; the pairs hold row numbers, counted from here.
    soft : bool, default=False
        Whether answers are numbers from -1 (surely different) to 1 (surely the same).
    skip_unknown : bool, default=False
        Whether to leave out pairs of points that are not in the table of points.
    group : str, optional
        The column of the points that tells of whom or what each is a row.
    key : sequence of str or Path
        The keys of questions that ``pairlearn ask --blind`` wrote.
    embed, step
        As for :func:`read_points`.
    audits_apart : bool, default=True
        Whether rows that a column `purpose` marks as audits are not to be among the
        pairs, so that nothing is learned from them; they are in `audits`.
    need_sure : bool, default=True
        Whether tables without any sure answer are refused.
    delimiter : str, optional
        What divides the cells of text files whose headers hold it, such as ";" or
        "tab". None: it is found.
    same, different, unsure : sequence of str
        Words that mean so in the answers, beside and before those that are known
        (:mod:`pairlearn.files.tables.words`).

    Returns
    -------
    AnsweredPairs
        With `pairs` and `t` to fit a model to, and `points`.

    Raises
    ------
    TableError
        If something in the tables is not understood, with where, and the way out.
    OptionError
        If an argument does not fit the tables.

    See Also
    --------
    read_points : Read a table of points alone.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from pairlearn import CIPSClassifier, make_pair_pipeline
    >>> from pairlearn.files.tables import read_answers
    >>> points = "id,size,price\np1,1.5,3\np2,2,n/a\np3,7,1\np4,8,2\n"
    >>> pairs = "left,right,answer\np1,p2,same\np2,p3,no\np3,p4,yes\np1,p4,?\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = Path(folder, "points.csv"), Path(folder, "pairs.csv")
    ...     _ = files[0].write_text(points), files[1].write_text(pairs)
    ...     answers = read_answers(*files)
    >>> answers.pairs.index.tolist(), answers.t
    ([[0, 1], [1, 2], [2, 3]], array([ 1., -1.,  1.]))
    >>> answers.notes
    ["1 unsure answer(s) (1 × '?')"]
    >>> model = make_pair_pipeline(answers.points.make_encoder(), CIPSClassifier())
    >>> model.fit(answers.pairs, answers.t).predict(answers.points.frame).shape
    (4,)
    """
    if id is not None and first_row is not None:
        raise OptionError("give --id or --first-row, not both")
    files = [pairs] if isinstance(pairs, str | Path) else list(pairs)
    words = AnswerWords(same, different, unsure)
    point_table = read_table(points, delimiter=delimiter)
    tables = [read_table(file, delimiter=delimiter) for file in files]
    keys = [read_key(file, delimiter) for file in key]
    if id is None and first_row is None:
        id, first_row = how_points_are_known(point_table, files)  # noqa: A001
    named = (left, right, answer)
    more: dict[str, Any] = {"keys": keys, "known": words}
    try:
        rows = _read_all(tables, [read_pairs(t, *named, **more) for t in tables])
    except TableError:
        # Perhaps the points tell which columns hold ids.
        ids = [_ids_for(t, point_table, id, first_row, answer) for t in tables]
        rows = _read_all(
            tables,
            [
                read_pairs(t, *named, ids=known, **more)
                for t, known in zip(tables, ids, strict=True)
            ],
        )
    wanted = {*rows.left, *rows.right}
    found = read_points(
        point_table,
        id,
        wanted=wanted,
        first_row=first_row,
        group=group,
        embed=embed,
        step=step,
    )
    _check_header(rows, found)
    notes = list(point_table.notes)
    notes += [note for table in tables for note in table.notes] + found.notes
    index, is_known = _look_up(rows, found, wanted)
    notes += _notes_on_unknown(rows, found, index, skip_unknown=skip_unknown)
    answers = parse_answers(
        rows.words,
        soft=soft,
        place=rows.place,
        parts=rows.parts,
        known=words,
        waiting=(waiting := waiting_audits(rows)),
    )
    answers = _with_audits_in_order(answers, rows.marks)
    notes += answers.notes + note_on_waiting(waiting)
    is_self = is_known & (index[:, 0] == index[:, 1])
    if is_self.any():
        notes.append(
            f"{is_self.sum()} row(s) pair a point with itself and were left out, first "
            f"{rows.place(int(np.argmax(is_self)))}"
        )
    usable = is_known & ~is_self
    if need_sure and not np.any(usable & answers.sure):
        n_unsure = int(np.sum(answers.asked & ~answers.sure))
        raise TableError(
            f"{rows.name} holds no usable answer: of {len(rows)} "
            f"row(s) {n_unsure} are unsure, {np.sum(~is_known)} name an unknown point "
            f"and {np.sum(is_self)} pair a point with itself"
        )
    read = _Read(found, rows, index, answers, usable)
    audit = rows.marks.audit
    joined = read.joined(~audit if audits_apart else np.ones(len(rows), dtype=bool))
    if audit.any():
        joined.audits, told = read.judging(audit)
        notes += told
    if need_sure and not len(joined) and joined.audits is None:
        raise TableError(
            "no pair has a usable answer: all answers are evenly divided, or 0"
        )
    joined.notes = notes + joined.notes
    return joined


def _ids_for(
    pairs: Table,
    points: Table,
    id: str | None,  # noqa: A002 - the user's word for it
    first_row: int | None,
    answer: str | None,
) -> Collection[str]:
    """Return ids by which the columns of a table of pairs can be found.

    Those of the column that is named, or called, so; else those of any column that two
    columns of the pairs hold values of; else row numbers.
    """
    if id is None and first_row is None:
        found = ids_of_sides(points, pairs, answer, named_id(points))
        if found is not None:
            return found
    known = read_points(points, id, first_row=first_row)
    # Whether the first row is 0 or 1 is settled later.
    return ["0", *known.ids] if known.id_column is None else known.ids


@dataclass
class _Read:
    """Rows that were read, of which some are taken together."""

    points: Points
    rows: PairRows
    index: Ints
    answers: ParsedAnswers
    usable: Bools

    def joined(self, some: Bools) -> AnsweredPairs:
        """Return the pairs of some of the rows."""
        answers, rows = self.answers, self.rows
        unsure = answers.asked & ~answers.sure
        used = np.flatnonzero(some & self.usable & answers.sure)
        lines = [rows.line(row) for row in used.tolist()]
        found = _join(self.points, self.index[used], answers.t[used], lines, used)
        found.rows = self.index[used], answers.t[used]
        nobody = np.flatnonzero(some & self.usable & unsure)
        found.add_unsure(self.index[nobody], nobody)
        known = (self.index >= 0).all(axis=1)
        found.n_rows, found.n_unsure = int(some.sum()), int(np.sum(some & unsure))
        found.n_self = int(np.sum(some & known & ~self.usable))
        found.n_unknown = int(np.sum(some & ~known))
        found.marks = rows.marks
        given = np.flatnonzero(some & self.usable & answers.asked)
        found.said = SaidRows(
            self.index[given],
            np.where(answers.sure, answers.t, 0.0)[given],
            [rows.line(row) for row in given.tolist()],
            rows.people.take(given),
            given,
        )
        chosen = rows.marks.learn & self.usable & answers.asked
        found.chosen_points = np.unique(self.index[chosen])
        found.n_looks = int(rows.marks.rounds[answers.asked].max(initial=0))
        return found

    def judging(self, audit: Bools) -> tuple[AnsweredPairs, list[str]]:
        """Return the audits, each with the first answer of somebody who was sure.

        If later ones counted, too, one could ask about an audit until the answer suits.
        """
        low, high = self.index.min(axis=1), self.index.max(axis=1)
        sure = np.flatnonzero(audit & self.usable & self.answers.sure)
        pair = np.stack([low[sure], high[sure]], axis=1)
        first = sure[np.unique(pair, axis=0, return_index=True)[1]]
        some = audit.copy()
        some[np.setdiff1d(sure, first)] = False
        found = self.joined(some)
        found.n_rows = int(audit.sum())
        n_again = len(sure) - len(first)
        note = (
            f"{n_again} answer(s) are about audits that had one already; of an audit "
            "the first sure answer counts"
        )
        return found, [note] if n_again else []


def _read_all(tables: list[Table], parts: list[PairRows]) -> PairRows:
    """Return the rows of all tables as one."""
    if len({table.name for table in tables}) < len(tables):
        # Two folders may hold files of one name, but not one file given twice.
        contents = [(part.left, part.right, part.words) for part in parts]
        if any(one in contents[:k] for k, one in enumerate(contents)):
            raise TableError("a table of pairs is given twice; name each file once")
    return parts[0] if len(parts) == 1 else join_rows(parts)


def _with_audits_in_order(answers: ParsedAnswers, marks: Marks) -> ParsedAnswers:
    """Count audits that were passed over as unsure.

    Audits come in a fixed order. One that has no answer while a later one has, be it in
    another file, was put to somebody: if hard ones could be left lying, the certificate
    would be too good.
    """
    audits = np.flatnonzero(marks.audit)
    answered = np.flatnonzero(answers.sure[audits])
    if not len(answered):
        return answers
    asked = answers.asked.copy()
    asked[audits[: answered[-1]]] = True
    return replace(answers, asked=asked)


def _check_header(rows: PairRows, points: Points) -> None:
    """Refuse a table of pairs whose first line is a pair, and not a header."""
    left, right, answer = rows.names
    if len(points.ids.rows_of({left, right})) == 2:
        raise TableError(
            f"{rows.name}: the first line, {left},{right},{answer}, seems to be "
            "a pair, not a header; put a header line above it: left,right,answer"
        )


def _look_up(rows: PairRows, points: Points, wanted: set[str]) -> tuple[Ints, Bools]:
    """Return the row numbers of the points of each pair, and where both are known."""
    row_of = points.rows_of(wanted)
    sides = [
        [row_of.get(name, -1) for name in side] for side in (rows.left, rows.right)
    ]
    index = np.array(sides, dtype=np.intp).T
    return index, np.all(index >= 0, axis=1)


def _notes_on_unknown(
    rows: PairRows, points: Points, index: Ints, *, skip_unknown: bool
) -> list[str]:
    """Refuse pairs of points that are not there, or return that they are left out."""
    strange = np.flatnonzero((index < 0).any(axis=1))
    if not len(strange):
        return []
    unknown = [
        side[row]
        for row in strange.tolist()
        for side, place in zip((rows.left, rows.right), index[row], strict=True)
        if place < 0
    ]
    some = ", ".join(shown(name) for name in dict.fromkeys(unknown[:3]))
    what = f"{len(strange)} pair(s) name points that are not in {points.table.name}, "
    what += f"such as {some}"
    if skip_unknown and len(strange) < len(rows):
        return [f"{what}, and were left out"]
    where = f"column {points.id_column!r}" if points.id_column else "their row numbers"
    raise TableError(
        f"{rows.place(int(strange[0]))}: {what}; points are identified "
        f"by {where}: {', '.join(map(shown, points.ids[:3]))}, ..."
        + hint_about_ids(unknown, points.table, points.ids)
        + "; --skip-unknown leaves such pairs out" * (len(strange) < len(rows))
    )


def _join(
    points: Points, index: Ints, t: Floats, lines: list[Line], places: Ints
) -> AnsweredPairs:
    """Make one pair of all answers about the same two points, in the first's order."""
    low, high = index.min(axis=1), index.max(axis=1)
    key = low.astype(np.int64) * len(points) + high
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    count = np.bincount(group)
    mean = np.bincount(group, weights=t) / count
    spread = np.bincount(group, weights=(t - mean[group]) ** 2)
    disagree = spread > 1e-12
    # Rounding must not make a soft answer of certain ones that agree.
    mean = np.where(disagree, mean, t[first])
    tied = np.abs(mean) < 1e-9
    uncertain = np.bincount(group, weights=np.abs(t) < 1) > 0
    order = np.argsort(first)
    kept = order[~tied[order]]
    shown_last = order[tied[order]]
    members: list[list[Line]] = [[] for _ in count]
    for row, number in enumerate(group.tolist()):
        members[number].append(lines[row])
    n_repeated, n_tied = int(np.sum(count > 1)), int(np.sum(tied))
    disagreeing = order[disagree[order]].tolist()
    notes = []
    if n_repeated:
        notes.append(
            f"{n_repeated} pair(s) were answered more than once "
            f"({count[count > 1].sum()} answers){EACH_ONCE}"
        )
    if disagreeing:
        some = ", ".join(map(str, members[disagreeing[0]][:5]))
        notes.append(
            f"{len(disagreeing)} pair(s) got answers that disagree, the first in lines "
            f"{some}"
        )
    if n_tied:
        notes.append(
            f"{n_tied} pair(s) whose answers are evenly divided, or 0, {TEACH_NOTHING}"
        )
    return AnsweredPairs(
        points,
        index[first[kept]],
        mean[kept],
        [members[k] for k in kept],
        n_repeated=n_repeated,
        n_disagreeing=len(disagreeing),
        n_tied=n_tied,
        notes=notes,
        unsure=index[first[shown_last]],
        uncertain=uncertain[kept],
        first_lines=places[first[np.concatenate([kept, shown_last])]],
    )
