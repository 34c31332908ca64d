"""`pairlearn fit`: two tables to a model, with a certificate."""

from __future__ import annotations

import time
import warnings
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

import pairlearn
from pairlearn.cli.explain import changes_of_side
from pairlearn.cli.inputs import Asked, Columns, read_asked
from pairlearn.cli.judge import judge, note_on_noise
from pairlearn.cli.summary import FitSummary
from pairlearn.cli.training_points import find_twins, remember
from pairlearn.data.graph import disjoint_pairs
from pairlearn.data.pairs import Pairs
from pairlearn.files.tables.encoder import look_at_columns, make_encoder, tidy
from pairlearn.files.tables.errors import TableError
from pairlearn.models.auto import PairClassifier
from pairlearn.models.compose import make_pair_pipeline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pairlearn.data.types import Floats, Ints
    from pairlearn.files.tables.encoder import Column
    from pairlearn.trust.certificate import Certificate

__all__ = ["FitOptions", "about", "fit_tables", "keep_aside"]

# Fewer pairs kept aside say next to nothing; then the certificate is cross-validated.
_LEAST_KEPT = 20
# Pairs that may be lost to training, as a multiple of those to be kept.
_MOST_LOST = 1.5
# Points by which the shares of the classes are told.
_SHARE_POINTS = 2000
# From this share of points in one class on, it is worth a word.
_LOPSIDED = 0.98


@dataclass(frozen=True)
class FitOptions:
    """How a model is to be made.

    Attributes
    ----------
    classes : tuple of str
        Names of the two classes.
    majority : str or None
        Which of them holds more than half of the points.
    noise : "auto", None, float or tuple
        As for PairClassifier.
    holdout : float
        Share of the pairs to keep aside for the certificate; 0: none.
    seed : int
        Seed.
    suspicious : bool
        Whether to look for suspicious answers.
    forget : bool
        Whether the model is to know nothing of the points that it learnt from.
    """

    classes: tuple[str, str] = ("A", "B")
    majority: str | None = None
    noise: Any = "auto"
    holdout: float = 0.2
    seed: int = 0
    suspicious: bool = False
    forget: bool = False


def fit_tables(
    points: Path,
    pairs: Path,
    columns: Columns,
    options: FitOptions,
    step: Callable[[str], None] = lambda _: None,
) -> tuple[FitSummary, dict[str, Any]]:
    """Make a model from a table of points and a table of answers.

    Parameters
    ----------
    points, pairs : Path
        The tables.
    columns : Columns
        How they are to be understood.
    options : FitOptions
        How the model is to be made.
    step : callable
        Told what is being done.

    Returns
    -------
    summary : FitSummary
        The model, and what was found.
    about : dict
        What is stored beside the model, for the other commands.
    """
    start = time.perf_counter()
    step("reading the tables")
    asked = read_asked(points, pairs, columns)
    notes = asked.notes
    found = look_at_columns(asked.points)
    notes += [column.note for column in found if column.note]
    frame = tidy(asked.points, found)
    given, t = Pairs(frame, asked.index), asked.t
    notes += notes_about_answers(given, t, asked)
    if len(given) < 2 or np.all(t > 0) or np.all(t < 0):
        only = "same" if np.all(t > 0) else "different"
        raise TableError(
            f"{pairs.name} holds {len(given)} pair(s), and all are answered '{only}'; "
            "both kinds of answers are needed to tell two classes apart"
        )
    rng = check_random_state(options.seed)
    trained, kept = _divide(given, t, found, options.holdout, rng, notes)
    n_between = len(given) - len(trained) - len(kept)
    if n_between:
        notes.append(
            f"{n_between} pair(s) share a point with the {len(kept)} pairs kept aside "
            "for the certificate, so they are used neither for it nor for training; "
            "--holdout 0 trains on all pairs"
        )
    model = make_pair_pipeline(
        make_encoder(found),
        PairClassifier(
            classes=options.classes,
            majority=options.majority,
            noise=options.noise,
            random_state=options.seed,
        ),
    )
    step(f"learning from {len(trained)} pair(s)")
    with telling(notes):
        model.fit(given[trained], t[trained])
    step("testing the model")
    with telling(notes):
        certificate = _certificate(model, given[kept], t[kept], options, notes)
    if options.holdout and not len(kept):
        outcome = (
            "there is no certificate"
            if certificate is None
            else "the certificate is only an estimate, from cross-validation"
        )
        notes.append(
            "there are too few pairs, or too many that share points, to keep some "
            f"aside: {outcome}. For a guarantee, collect answers about fresh random "
            "pairs and run pairlearn certify"
        )
    if options.noise == "auto":
        notes += note_on_noise(model, certificate)
    if certificate is not None:
        notes += asked.note_on_hard_pairs()
    notes += _notes_about_model(model, frame, certificate, options, rng)
    importance = changes_of_side(model, frame, options.seed)
    suspicious = None
    if options.suspicious:
        step("looking for suspicious answers")
        suspicious = _suspicious(found, given, t, options.seed)
    summary = FitSummary(
        model=model,
        points=frame,
        ids=asked.points.ids,
        pairs=given,
        t=t,
        certificate=certificate,
        certificate_pairs=len(kept),
        candidates=model[-1].candidates_,
        suspicious=suspicious,
        notes=notes,
        columns=[(column.name, _how(column)) for column in found],
        source={"points": points.name, "pairs": pairs.name},
        seconds=time.perf_counter() - start,
        classes=options.classes,
        importance=importance,
        version=pairlearn.__version__,
    )
    return summary, about(summary, found, asked, trained, options)


def keep_aside(
    pairs: Pairs, t: Floats, share: float, rng: Any, group: Ints | None = None
) -> tuple[Ints, Ints]:
    """Divide pairs into those to train on and those to keep for the certificate.

    No point of a kept pair is in a training pair or in another kept pair, so pairs
    that share a point with a kept one are used for neither. Pairs whose points occur
    in few others are kept first, since they cost least; for random pairs that is as
    good as any choice. Where too few can be kept, none is.

    Parameters
    ----------
    pairs : Pairs
        The pairs.
    t : ndarray of shape (n_pairs,)
        Their answers.
    share : float
        The share to keep, at most 1/2; 0: none.
    rng : RandomState
        Seed.
    group : ndarray of shape (n_points,), optional
        A number for each point; points with the same number are one.

    Returns
    -------
    trained, kept : ndarray
        Pair numbers.
    """
    n_pairs = len(pairs)
    index = pairs.index if group is None else group[pairs.index]
    everything, nothing = np.arange(n_pairs), np.arange(0)
    if not share or share * n_pairs < _LEAST_KEPT:
        return everything, nothing
    degree = np.bincount(index.ravel(), minlength=pairs.n_points)
    order = np.lexsort((rng.permutation(n_pairs), degree[index].sum(axis=1)))
    place = np.empty(n_pairs, dtype=np.intp)
    place[order] = np.arange(n_pairs)
    chosen = disjoint_pairs(pairs.n_points, index, order)
    chosen = chosen[np.argsort(place[chosen])][: round(share * n_pairs)]
    # With which kept pair, in their order, each pair is lost to training.
    step = np.full(pairs.n_points, len(chosen))
    step[index[chosen]] = np.arange(len(chosen))[:, None]
    lost_with = step[index].min(axis=1)
    lost = np.cumsum(np.bincount(lost_with, minlength=len(chosen))[: len(chosen)])
    n_kept = int(np.sum(lost <= _MOST_LOST * share * n_pairs))
    kept, trained = np.sort(chosen[:n_kept]), np.flatnonzero(lost_with >= n_kept)
    both_kinds = np.any(t[trained] > 0) and np.any(t[trained] < 0)
    if len(kept) < _LEAST_KEPT or not both_kinds:
        return everything, nothing
    return trained, kept


def _divide(
    pairs: Pairs,
    t: Floats,
    columns: list[Column],
    share: float,
    rng: Any,
    notes: list[str],
) -> tuple[Ints, Ints]:
    """Keep pairs aside, with equal rows as one point, and tell where they are not."""
    used = pairs.used_points()
    with telling([]):
        encoded = make_encoder(columns).fit_transform(pairs.X.iloc[used])
    twins = find_twins(np.asarray(encoded), used, pairs.n_points)
    if not twins.n_twins:
        return keep_aside(pairs, t, share, rng)
    equal = f"{twins.n_twins} point(s) equal another point in all columns"
    if not twins.by_nature:
        trained, kept = keep_aside(pairs, t, share, rng, twins.group)
        if len(kept):
            notes.append(f"{equal}; the certificate counts equal points as one")
            return trained, kept
    trained, kept = keep_aside(pairs, t, share, rng)
    if not len(kept):
        notes.append(
            f"{equal}; if these are the same points, listed twice, the error is higher "
            "than the certificate says"
        )
        return trained, kept
    learnt = np.zeros(pairs.n_points, dtype=bool)
    learnt[twins.group[pairs.index[trained]]] = True
    n_alike = int(np.sum(learnt[twins.group[pairs.index[kept]]]))
    notes.append(
        f"{n_alike} of the {2 * len(kept)} points kept for the certificate equal, in "
        "all columns, a point that the model learned from: rows repeat in these data. "
        "If these are the same points, listed twice, the error is higher than the "
        "certificate says"
    )
    return trained, kept


def _certificate(
    model: Any, pairs: Pairs, t: Floats, options: FitOptions, notes: list[str]
) -> Certificate | None:
    if not len(pairs):
        cross_validated: Certificate | None = model[-1].certificate_
        return cross_validated
    soft = int(np.sum(np.abs(t) != 1))
    if soft:
        notes.append(
            f"{soft} of the {len(t)} pairs kept for the certificate have uncertain or "
            "divided answers, which count by their sign"
        )
    return judge(model, pairs, t, options.noise, notes)


def notes_about_answers(pairs: Pairs, t: Floats, asked: Asked) -> list[str]:
    """Return sentences about contradictions and about points without answers."""
    notes = []
    found = pairs.contradictions(t)
    if len(found):
        cycle = found[0]
        lines = ", ".join(str(asked.lines[k][0]) for k in cycle[:6].tolist())
        more = ", ..." if len(cycle) > 6 else ""
        notes.append(
            f"{len(found)} answer(s) contradict others if there are two classes. For "
            f"example, the answers in lines {lines}{more} cannot all be right; "
            "pairlearn check shows them"
        )
    n_without = pairs.n_points - len(pairs.used_points())
    if n_without:
        notes.append(
            f"{n_without} of {pairs.n_points} points are in no answered pair; the "
            "model does not learn from them"
        )
    return notes


def _notes_about_model(
    model: Any,
    frame: Any,
    certificate: Certificate | None,
    options: FitOptions,
    rng: Any,
) -> list[str]:
    """Return sentences about a model that is of little use, or whose names may be."""
    notes = []
    some = rng.permutation(len(frame))[:_SHARE_POINTS]
    predicted = model.predict(frame.iloc[np.sort(some)])
    shares = {name: float(np.mean(predicted == name)) for name in options.classes}
    largest = max(shares, key=shares.__getitem__)
    if shares[largest] > _LOPSIDED:
        notes.append(
            f"the model puts {shares[largest]:.1%} of the points into class "
            f"{largest!r}; it hardly tells two classes apart"
        )
    elif options.majority is not None and shares[options.majority] < 0.4:
        notes.append(
            f"you said that class {options.majority!r} has most of the points, but the "
            f"model puts only {shares[options.majority]:.0%} into it; the names may be "
            "swapped"
        )
    if certificate is not None and certificate.clustering_interval[1] > 0.45:
        low, high = certificate.clustering_interval
        notes.append(
            f"the error may be anything between {low:.0%} and {high:.0%}: the answers "
            "do not show that the model is better than chance. You need more pairs, or "
            "columns that have to do with the question"
        )
    settled = model[-1].assignment_
    if settled is not None and settled.p_value is not None and settled.p_value > 0.1:
        notes.append(
            f"the answers do not show clearly which group is {options.majority!r} "
            f"(p-value {settled.p_value:.2f}), so the names may be swapped; check some "
            "points that you know"
        )
    return notes


def _suspicious(columns: list[Column], pairs: Pairs, t: Floats, seed: int) -> Any:
    """Rank the answers by a linear model, which is made in a moment, for each fold."""
    from sklearn.preprocessing import StandardScaler

    from pairlearn import MCLClassifier, suspicious_answers

    linear = make_pair_pipeline(
        make_encoder(columns), StandardScaler(), MCLClassifier(random_state=seed)
    )
    with telling([]):
        return suspicious_answers(linear, pairs, t, random_state=seed)


@contextmanager
def telling(notes: list[str]) -> Iterator[None]:
    """Turn warnings of the library into notes, in the words of the command line."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        message = str(warning.message)
        mine = issubclass(warning.category, UserWarning)
        # What is said about class assignment is told in other words, above.
        if mine and "class assignment" not in message:
            message = message.replace("pass noise=None", "say --noise none")
            notes.append(message.replace("n_classes=2", "two"))


def _how(column: Column) -> str:
    return f"left out: {column.how}" if column.kind == "left out" else column.how


def about(
    summary: FitSummary,
    columns: list[Column],
    asked: Asked,
    trained: Ints,
    options: FitOptions,
) -> dict[str, Any]:
    """Return what is stored beside a model, for the commands that use it."""
    certificate = summary.certificate
    rows = summary.pairs[trained].used_points()
    return {
        "made by": "pairlearn fit",
        "id": asked.points.id_column,
        "first row": asked.points.first_row,
        "columns": [[c.name, c.kind, c.form] for c in columns],
        "classes": list(summary.classes),
        "majority": summary.model[-1].majority,
        "pairs": len(trained),
        "points": len(rows),
        "certificate": None
        if certificate is None
        else asdict(certificate)
        | {
            "pair_interval": list(certificate.pair_interval),
            "clustering_interval": list(certificate.clustering_interval),
        },
        "importance": None
        if summary.importance is None
        else [[name, share] for name, share in summary.importance],
        "source": summary.source,
        "seen": None if options.forget else _seen(summary, asked, rows, options),
    }


def _seen(
    summary: FitSummary, asked: Asked, rows: Ints, options: FitOptions
) -> dict[str, Any]:
    """Return fingerprints of the points that the model learnt from."""
    encoded = np.asarray(summary.model[0].transform(summary.points.iloc[rows]))
    ids = [summary.ids[row] for row in rows.tolist()]
    known = None if asked.points.id_column is None else ids
    # Not whether there is a page: that makes no other model.
    secret = asdict(options) | {"suspicious": None}
    return remember(encoded, known, secret)
