"""`pairlearn ask --simulate`: the learning curve that one would have had."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.ask.judging import FIRST_LOOK
from pairlearn.ask.tables import encode
from pairlearn.cli.judging import warnings_as_notes
from pairlearn.cli.questions import AskOptions, Brought, make_interview
from pairlearn.data.pairs import Pairs
from pairlearn.files.tables.errors import TableError
from pairlearn.files.tables.labels import read_labels
from pairlearn.files.tables.points import read_points
from pairlearn.system.writing import write_files
from pairlearn.trust.certify import certify
from pairlearn.trust.live import live_confidence
from pairlearn.trust.metrics import clustering_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from pairlearn.ask import Interview
    from pairlearn.data.types import Floats, Ints

__all__ = ["CurveRow", "simulate", "write_curve"]

_CONFIDENCE = 0.95


@dataclass(frozen=True)
class CurveRow:
    """What is known after a round.

    Attributes
    ----------
    round : int
        Its number.
    answers, audits : int
        Answers so far to learn from, and audits.
    true_error : float or None
        The share of all points in the wrong class, up to renaming; None: no model yet.
    expected_error : float or None
        The error that the model expects of itself.
    certificate_low, certificate_high : float or None
        The certificate at all looks together; None: there are too few audits.
    random_error : float or None
        The true error of a model from as many random pairs.
    """

    round: int
    answers: int
    audits: int
    true_error: float | None = None
    expected_error: float | None = None
    certificate_low: float | None = None
    certificate_high: float | None = None
    random_error: float | None = None


def simulate(
    points: Path,
    labels: Path,
    reading: Mapping[str, Any],
    options: AskOptions,
    *,
    rounds: int = 10,
    wrong: float = 0.0,
    against_random: bool = False,
    step: Callable[[str], None] = lambda _: None,
) -> Iterator[CurveRow]:
    """Ask and answer by known labels, round by round, as somebody would have done.

    Parameters
    ----------
    points, labels : Path
        The points, and the class of each of them.
    reading : dict
        How the points are to be read.
    options : AskOptions
        How questions are to be chosen.
    rounds : int
        How many rounds at most.
    wrong : float
        The share of answers that are turned round, at random.
    against_random : bool
        Whether a model of as many random pairs is made in each round, too.
    step : callable
        Told what is being done.

    Yields
    ------
    CurveRow
        After each round.
    """
    delimiter = reading["delimiter"]
    found = read_points(
        points,
        reading["id"],
        first_row=reading["first_row"],
        delimiter=delimiter,
        embed=reading.get("embed"),
        step=reading.get("step"),
    )
    y = _labels(labels, found, delimiter)
    X, ids = encode(found), found.ids.tolist()
    rng = np.random.default_rng([options.seed, 2])
    brought = Brought()
    interview = make_interview(X, ids, options, brought)
    random = _random_pairs(len(y), rounds * options.n, options.seed)
    for number in range(1, rounds + 1):
        step(f"round {number} of {rounds}: choosing questions")
        questions = interview.next_questions(options.n)
        if not questions:
            return
        index = np.array([(q.left, q.right) for q in questions], dtype=np.intp)
        said = np.where(y[index[:, 0]] == y[index[:, 1]], 1.0, -1.0)
        said[rng.random(len(said)) < wrong] *= -1
        audit = np.array([q.purpose == "audit" for q in questions])
        brought = Brought(
            np.concatenate([brought.learn, index[~audit]]),
            np.concatenate([brought.said, said[~audit]]),
            np.concatenate([brought.audit, index[audit]]),
            np.concatenate([brought.judged, said[audit]]),
        )
        step(f"round {number} of {rounds}: learning from {len(brought.said)} answers")
        # Made anew, as the command does with the files of the rounds.
        interview = make_interview(X, ids, options, brought)
        row = _row(number, interview, X, y, brought, options.noise)
        if against_random:
            step(f"round {number} of {rounds}: learning from random pairs")
            some = random[: len(brought.said)]
            error = _random_error(X, y, ids, options, some, wrong)
            row = replace(row, random_error=error)
        yield row


def _labels(path: Path, points: Any, delimiter: str | None) -> Any:
    rows, names = read_labels(path, points, delimiter)
    y = np.full(len(points), "", dtype=object)
    y[rows] = names
    missing = np.flatnonzero(y == "")
    if len(missing):
        raise TableError(
            f"{path.name} does not tell the class of {len(missing)} point(s), such as "
            f"{points.ids[int(missing[0])]!r}; a simulation needs that of every point"
        )
    if len(set(names)) < 2:
        raise TableError(f"{path.name}: all points are of the class {names[0]!r}")
    return y


def _row(
    number: int,
    interview: Interview,
    X: Floats,
    y: Any,
    brought: Brought,
    noise: Any,
) -> CurveRow:
    """Learn from the answers of a round, and return what is known then."""
    row = CurveRow(number, len(brought.said), len(brought.audit))
    if not _learn(interview, brought):
        return row
    row = replace(
        row,
        true_error=_true_error(interview, X, y),
        expected_error=float(interview.history[-1].expected_error),
    )
    if len(brought.audit) < FIRST_LOOK:
        return row
    pairs, model = Pairs(X, brought.audit), interview.model
    # For all looks together, several kinds need known shares of the groups.
    several = len(np.unique(model.predict(X))) > 2
    with warnings_as_notes([]):
        try:
            found: Any = certify(
                model,
                pairs,
                brought.judged,
                confidence=live_confidence(_CONFIDENCE, number),
                flip_rates=noise,
                anytime=True,
                points=X if several else None,
            )
        except ValueError:  # as for answers that speak against two kinds
            return row
    interval = getattr(found, "clustering_interval", None)
    low, high = found.interval if interval is None else interval
    return replace(row, certificate_low=float(low), certificate_high=float(high))


def _learn(interview: Interview, brought: Brought) -> bool:
    """Learn, if there is anything to learn from; return whether there was."""
    if not brought.can_teach:
        return False
    with warnings_as_notes([]):
        try:
            interview.learn()
        except ValueError:
            return False
    return True


def _true_error(interview: Interview, X: Floats, y: Any) -> float:
    predicted = np.asarray(interview.model.predict(X)).astype(str)
    return float(clustering_error(y.astype(str), predicted))


def _random_pairs(n_points: int, n_pairs: int, seed: int) -> Ints:
    """Return random pairs, all different."""
    rng = np.random.default_rng([seed, 3])
    most = n_points * (n_points - 1) // 2
    seen: dict[tuple[int, int], None] = {}
    while len(seen) < min(n_pairs, most):
        one, other = rng.integers(n_points, size=2).tolist()
        if one != other:
            seen.setdefault((min(one, other), max(one, other)))
    return np.array(list(seen), dtype=np.intp).reshape(-1, 2)


def _random_error(
    X: Floats,
    y: Any,
    ids: list[str],
    options: AskOptions,
    index: Ints,
    wrong: float,
) -> float | None:
    said = np.where(y[index[:, 0]] == y[index[:, 1]], 1.0, -1.0)
    said[np.random.default_rng([options.seed, 4]).random(len(said)) < wrong] *= -1
    brought = Brought(index, said)
    interview = make_interview(X, ids, replace(options, audits=0.0), brought)
    return _true_error(interview, X, y) if _learn(interview, brought) else None


def write_curve(rows: list[CurveRow], out: Path) -> None:
    """Write a curve as a table.

    Parameters
    ----------
    rows : list of CurveRow
        The curve.
    out : Path
        Where to write it.
    """
    file = io.StringIO(newline="")
    delimiter = "\t" if out.suffix.lower() == ".tsv" else ","
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    writer.writerow(each.name for each in fields(CurveRow))
    writer.writerows(
        ["" if value is None else f"{value:.6g}" for value in asdict(row).values()]
        for row in rows
    )
    write_files({out: file.getvalue().encode()})
