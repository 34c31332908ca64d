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
from pairlearn.cli.summary import FitSummary
from pairlearn.cli.training_points import find_equal_rows, ids_at, make_fingerprints
from pairlearn.files.tables.answered_pairs import read_answers
from pairlearn.files.tables.encoder import make_encoder
from pairlearn.files.tables.errors import TableError
from pairlearn.models.auto import PairClassifier
from pairlearn.models.compose import make_pair_pipeline
from pairlearn.trust.certificate import RIGHT
from pairlearn.trust.certify import certify, keep_aside, rates_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from pairlearn.data.pairs import Pairs
    from pairlearn.data.types import Floats, Ints
    from pairlearn.files.tables.answered_pairs import AnsweredPairs
    from pairlearn.files.tables.column_kinds import Column
    from pairlearn.files.tables.points import Points
    from pairlearn.trust.certificate import Certificate

__all__ = ["FitOptions", "about", "fit_tables", "note_on_noise"]

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
    reading: Mapping[str, Any],
    options: FitOptions,
    step: Callable[[str], None] = lambda _: None,
) -> tuple[FitSummary, dict[str, Any]]:
    """Make a model from a table of points and a table of answers.

    Parameters
    ----------
    points, pairs : Path
        The tables.
    reading : dict
        How they are to be read: arguments of `read_answers`.
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
    answered = _read(points, pairs, reading)
    given, t, notes = answered.pairs, answered.t, answered.notes
    rng = check_random_state(options.seed)
    trained, kept = _split(answered, options, rng)
    step(f"learning from {len(trained)} pair(s)")
    model = _learn(answered, trained, options)
    step("testing the model")
    certificate = _test(model, answered, kept, options)
    notes += _notes_about_model(model, given.X, certificate, options, rng)
    importance = changes_of_side(model, given.X, options.seed)
    suspicious = None
    if options.suspicious:
        step("looking for suspicious answers")
        suspicious = _suspicious(answered, options.seed)
    summary = FitSummary(
        model=model,
        points=given.X,
        ids=answered.points.ids,
        pairs=given,
        t=t,
        certificate=certificate,
        certificate_pairs=len(kept),
        candidates=model[-1].candidates_,
        suspicious=suspicious,
        notes=notes,
        columns=[(column.name, _how(column)) for column in answered.points.columns],
        source={"points": points.name, "pairs": pairs.name},
        seconds=time.perf_counter() - start,
        classes=options.classes,
        importance=importance,
        version=pairlearn.__version__,
    )
    return summary, about(summary, answered, trained, options)


def _read(points: Path, pairs: Path, reading: Mapping[str, Any]) -> AnsweredPairs:
    """Read the tables, and refuse answers of one kind."""
    answered = read_answers(points, pairs, **reading)
    answered.notes += [c.note for c in answered.points.columns if c.note]
    answered.notes += notes_about_answers(answered)
    t = answered.t
    if len(t) < 2 or np.all(t > 0) or np.all(t < 0):
        only = "same" if np.all(t > 0) else "different"
        raise TableError(
            f"{pairs.name} holds {len(t)} pair(s), and all are answered '{only}'; "
            "both kinds of answers are needed to tell two classes apart"
        )
    return answered


def _split(answered: AnsweredPairs, options: FitOptions, rng: Any) -> tuple[Ints, Ints]:
    """Return the numbers of the pairs to train on, and to keep for the certificate."""
    given, notes = answered.pairs, answered.notes
    trained, kept = _divide(
        given, answered.t, answered.points.columns, options.holdout, rng, notes
    )
    n_between = len(given) - len(trained) - len(kept)
    if n_between:
        notes.append(
            f"{n_between} pair(s) share a point with the {len(kept)} pairs kept aside "
            "for the certificate, so they are used neither for it nor for training; "
            "--holdout 0 trains on all pairs"
        )
    return trained, kept


def _learn(answered: AnsweredPairs, trained: Ints, options: FitOptions) -> Any:
    """Return a model that has learnt from some of the pairs."""
    model = make_pair_pipeline(
        answered.points.make_encoder(),
        PairClassifier(
            classes=options.classes,
            majority=options.majority,
            noise=options.noise,
            random_state=options.seed,
        ),
    )
    with warnings_as_notes(answered.notes):
        return model.fit(answered.pairs[trained], answered.t[trained])


def _test(
    model: Any, answered: AnsweredPairs, kept: Ints, options: FitOptions
) -> Certificate | None:
    """Return the certificate of a model, and note what it rests on."""
    notes = answered.notes
    with warnings_as_notes(notes):
        certificate = _certificate(
            model, answered.pairs[kept], answered.t[kept], options, notes
        )
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
        notes += answered.note_on_hard_pairs()
    return certificate


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
    with warnings_as_notes([]):
        encoded = make_encoder(columns).fit_transform(pairs.X.iloc[used])
    equal_rows = find_equal_rows(np.asarray(encoded), used, pairs.n_points)
    if not equal_rows.n_equal:
        return keep_aside(pairs, t, share, rng)
    equal = f"{equal_rows.n_equal} point(s) equal another point in all columns"
    if not equal_rows.repeat:
        trained, kept = keep_aside(pairs, t, share, rng, equal_rows.group)
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
    learnt[equal_rows.group[pairs.index[trained]]] = True
    n_alike = int(np.sum(learnt[equal_rows.group[pairs.index[kept]]]))
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
    return certify(model, pairs, np.sign(t), flip_rates=options.noise)


def note_on_noise(model: Any, certificate: Certificate | None) -> list[str]:
    """Return a sentence on what a certificate makes of rates that were not given."""
    r1, r0 = rates = rates_of(model)
    if certificate is None:
        return []
    if rates != RIGHT:
        note = (
            f"the model assumes that some answers are wrong: that {1 - r1:.1%} of "
            f"pairs of the same kind are answered 'different', and {r0:.1%} of the "
            "others 'same'. The error relies on this, which is a guess here. Its "
            "interval does not: the lower end is 0, and the upper end holds even if no "
            "answer is wrong. If you know the rates, give them: --noise "
            f"{r1:.3g},{r0:.3g}, or --noise none"
        )
        return [note]
    if not certificate.pair_error:
        return []
    note = (
        "every answer is assumed to be right, so a wrong answer counts as an error of "
        "the model. If some answers are wrong, the error is lower than the certificate "
        "says; if one in ten is wrong, for example, add --noise 0.1"
    )
    return [note]


def notes_about_answers(answered: AnsweredPairs) -> list[str]:
    """Return sentences about contradictions and about points without answers."""
    pairs = answered.pairs
    notes = []
    found = pairs.contradictions(answered.t)
    if len(found):
        cycle = found[0]
        lines = ", ".join(str(answered.lines[k][0]) for k in cycle[:6].tolist())
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


def _suspicious(answered: AnsweredPairs, seed: int) -> Any:
    """Rank the answers by a linear model, which is made in a moment, for each fold."""
    from sklearn.preprocessing import StandardScaler

    from pairlearn import MCLClassifier, suspicious_answers

    linear = make_pair_pipeline(
        answered.points.make_encoder(),
        StandardScaler(),
        MCLClassifier(random_state=seed),
    )
    with warnings_as_notes([]):
        return suspicious_answers(linear, answered.pairs, answered.t, random_state=seed)


@contextmanager
def warnings_as_notes(notes: list[str]) -> Iterator[None]:
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
            message = message.replace("flip_rates seem", "--noise seems")
            notes.append(message.replace("n_classes=2", "two"))


def _how(column: Column) -> str:
    return f"left out: {column.how}" if column.kind == "left out" else column.how


def about(
    summary: FitSummary, answered: AnsweredPairs, trained: Ints, options: FitOptions
) -> dict[str, Any]:
    """Return what is stored beside a model, for the commands that use it."""
    points, certificate = answered.points, summary.certificate
    rows = summary.pairs[trained].used_points()
    return {
        "made by": "pairlearn fit",
        "id": points.id_column,
        "first row": points.first_row,
        "columns": [[c.name, c.kind, c.form] for c in points.columns],
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
        "seen": None
        if options.forget
        else _fingerprint(summary.model, points, rows, options),
    }


def _fingerprint(
    model: Any, points: Points, rows: Ints, options: FitOptions
) -> dict[str, Any]:
    """Return fingerprints of the points that the model learnt from."""
    encoded = np.asarray(model[0].transform(points.frame.iloc[rows]))
    # Not whether there is a page: that makes no other model.
    secret = asdict(options) | {"suspicious": None}
    return make_fingerprints(encoded, ids_at(points, rows), secret)
