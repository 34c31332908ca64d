"""`pairlearn fit`: two tables to a model, with a certificate."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

import pairlearn
from pairlearn.cli.certificate_words import LOPSIDED
from pairlearn.cli.explain import changes_of_side
from pairlearn.cli.judging import (
    BY_NATURE,
    assumed_noise,
    judged,
    more_than_two_kinds,
    note_on_noise,
    one_group_error,
    warnings_as_notes,
)
from pairlearn.cli.summary import FitSummary
from pairlearn.cli.training_points import (
    find_equal_rows,
    groups_at,
    ids_at,
    make_fingerprints,
    repeated_pairs,
)
from pairlearn.files.tables.answered_pairs import read_answers
from pairlearn.files.tables.encoder import make_encoder
from pairlearn.files.tables.errors import TableError
from pairlearn.models.auto import PairClassifier
from pairlearn.models.compose import make_pair_pipeline
from pairlearn.trust.certificate import make_certificate
from pairlearn.trust.kept_pairs import LEAST_KEPT, keep_aside
from pairlearn.trust.noise import Counts, Noise, rates_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pairlearn.data.types import Bools, Ints
    from pairlearn.files.tables.answered_pairs import AnsweredPairs
    from pairlearn.files.tables.column_kinds import Column
    from pairlearn.files.tables.points import Points
    from pairlearn.trust.certificate import Certificate

__all__ = ["FitOptions", "about", "fit_tables"]

# Points by which the shares of the classes are told.
_SHARE_POINTS = 2000
# Points that occur less evenly than this share of as many equal ones are worth a word.
_UNEVEN = 0.5


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
    before : Path or None
        A model that this one replaces; groups keep its names, or it is told.
    """

    classes: tuple[str, str] = ("A", "B")
    majority: str | None = None
    noise: Any = "auto"
    holdout: float = 0.2
    seed: int = 0
    suspicious: bool = False
    forget: bool = False
    before: Path | None = None


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
    not_kept, kept = _split(answered, options, rng)
    trained = not_kept[not_kept < len(answered)]
    rates, known = assumed_noise(answered, options.noise)
    step(f"learning from {len(trained)} pair(s)")
    model = _learn(answered, trained, rates, options)
    notes += _names_as_before(model, given.X, options)
    if options.forget:
        # What Python's `certify` would know the points by.
        del model[-1]._training_points
    step("testing the model")
    noise = Noise("unknown", rates_of(model)) if known is None else known
    certificate = _test(model, answered, trained, kept, noise, options)
    # It has served, and is not for files.
    model[-1]._held_out = None
    if known is None:
        notes += note_on_noise(model, certificate)
    shares = _shares(model, given.X, options, rng)
    notes += _notes_about_model(model, shares, certificate, options)
    importance = changes_of_side(model, given.X, options.seed)
    suspicious = None
    if options.suspicious and max(shares.values()) <= LOPSIDED:
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
        majority=options.majority,
        shares=shares,
        one_group_error=one_group_error(answered, noise),
    )
    return summary, about(summary, answered, not_kept, options)


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
    """Return the numbers of the pairs to learn from, and to keep for the certificate.

    Ids decide which points are one, and groups where there are any; unsure pairs, whose
    numbers come last, are kept as others are.
    """
    (given, t), notes = answered.with_unsure, answered.notes
    group = answered.points.groups
    one_each = answered.points.group_column is None
    trained, kept = keep_aside(
        given, t, options.holdout, rng, None if one_each else group
    )
    often = np.bincount(group[given.index].ravel()).astype(float)
    # As many points as would occur as evenly as these if all were alike (Simpson).
    n_even = often.sum() ** 2 / (often @ often)
    if len(kept) and n_even < _UNEVEN * np.sum(often > 0):
        what = "points" if one_each else "groups"
        notes.append(
            f"some {what} are in many more pairs than others, and hardly tested; if "
            "the model is wrong about these more often, the error is higher than the "
            "certificate says"
        )
    n_between = len(given) - len(trained) - len(kept)
    if n_between:
        what = "point" if one_each else "group"
        notes.append(
            f"{n_between} pair(s) share a {what} with the {len(kept)} pairs kept aside "
            "for the certificate, so they are used neither for it nor for training; "
            "--holdout 0 trains on all pairs"
        )
    return trained, kept


def _learn(
    answered: AnsweredPairs, trained: Ints, noise: Any, options: FitOptions
) -> Any:
    """Return a model that has learnt from some of the pairs."""
    model = make_pair_pipeline(
        answered.points.make_encoder(),
        PairClassifier(
            classes=options.classes,
            majority=options.majority,
            noise=noise,
            random_state=options.seed,
        ),
    )
    more = {}
    if answered.points.group_column is not None:
        names = np.array(answered.points.group_names, dtype=object)
        more["pairclassifier__groups"] = names[answered.index[trained]]
    with warnings_as_notes(answered.notes):
        return model.fit(answered.pairs[trained], answered.t[trained], **more)


def _names_as_before(model: Any, frame: Any, options: FitOptions) -> list[str]:
    """Give groups without names those of the model that is replaced, or tell.

    Which group is called A is arbitrary, and more answers may turn it round.
    """
    if options.before is None or not options.before.is_file():
        return []
    from pairlearn import load

    some = frame.iloc[:_SHARE_POINTS]
    try:
        with warnings_as_notes([]):
            said = load(options.before).predict(some)
    except (ValueError, TypeError, KeyError, AttributeError, OSError):
        # Not a model, or one of other columns: there are no names to keep.
        return []
    if not set(said) <= set(options.classes):
        return []
    if np.mean(np.asarray(said) == model.predict(some)) >= 0.5:
        return []
    if options.majority is None and options.classes == ("A", "B"):
        # The last step settles the names, and nobody has asked for others.
        model[-1]._flip()
        return []
    note = (
        f"the names of the two groups are swapped: what {options.before.name}, which "
        f"this model replaces, called {options.classes[0]} is now called "
        f"{options.classes[1]}; check some points that you know"
    )
    return [note]


def _test(
    model: Any,
    answered: AnsweredPairs,
    trained: Ints,
    kept: Ints,
    noise: Noise,
    options: FitOptions,
) -> Certificate | None:
    """Return the certificate of a model, and note what it rests on."""
    notes = answered.notes
    problem = more_than_two_kinds(answered, noise)
    if problem is not None:
        notes.append(f"{problem}. So there is no certificate")
        return None
    if len(kept):
        pairs, t = answered.with_unsure
        doubtful, repeat = _doubtful(answered, trained, kept)
        # By their ids these points are others than those of the training.
        unseen: bool | None = not doubtful.any()
        if repeat and np.sum(~doubtful) < LEAST_KEPT:
            notes.append(BY_NATURE.format(int(doubtful.sum()), len(kept)))
            doubtful[:], unseen = False, None
        found = judged(model, pairs[kept], t[kept], noise, notes, doubtful=doubtful)
        return None if found is None else replace(found, unseen=unseen)
    certificate = _cross_validated(model[-1], answered, trained, noise)
    if options.holdout:
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
    if certificate is not None and len(answered.unsure):
        notes.append(
            f"the estimate does not count the {len(answered.unsure)} unsure pair(s), "
            "which are likely to be hard: over all pairs the error is probably higher"
        )
    return certificate


def _cross_validated(
    clf: PairClassifier, answered: AnsweredPairs, trained: Ints, noise: Noise
) -> Certificate | None:
    """Return the estimate of a fit, for what is known here about wrong answers."""
    if clf.certificate_ is None or clf._held_out is None:
        return None
    numbers, says = clf._held_out
    t = np.sign(answered.with_unsure[1][trained[numbers]])
    return make_certificate(Counts.of(says, t), noise, 0.95, cross_validated=True)


def _doubtful(answered: AnsweredPairs, trained: Ints, kept: Ints) -> tuple[Bools, bool]:
    """Tell which kept pairs have a point that equals one of another pair.

    Of a training pair, or of a kept pair that counts already. And whether rows repeat
    by nature, so that this says little.
    """
    pairs = answered.with_unsure[0]
    used = pairs.used_points()
    with warnings_as_notes([]):
        encoder = make_encoder(answered.points.columns)
        encoded = np.asarray(encoder.fit_transform(pairs.X.iloc[used]))
    equal = find_equal_rows(encoded, used, pairs.n_points)
    learnt = np.zeros(pairs.n_points, dtype=bool)
    learnt[equal.group[pairs.index[trained]]] = True
    doubtful = np.asarray(learnt[equal.group[pairs.index[kept]]].any(axis=1))
    fresh = np.flatnonzero(~doubtful)
    doubtful[fresh] = repeated_pairs(equal, pairs.index[kept[fresh]])
    return doubtful, equal.repeat


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


def _shares(model: Any, frame: Any, options: FitOptions, rng: Any) -> dict[str, float]:
    """Return the share of the points in each group, from some of them."""
    some = rng.permutation(len(frame))[:_SHARE_POINTS]
    predicted = model.predict(frame.iloc[np.sort(some)])
    return {name: float(np.mean(predicted == name)) for name in options.classes}


def _notes_about_model(
    model: Any,
    shares: Mapping[str, float],
    certificate: Certificate | None,
    options: FitOptions,
) -> list[str]:
    """Return sentences about a model that is of little use, or whose names may be."""
    notes = []
    largest = max(shares, key=shares.__getitem__)
    majority = options.majority
    if shares[largest] <= LOPSIDED and majority is not None and shares[majority] < 0.4:
        notes.append(
            f"you said that class {majority!r} has most of the points, but the model "
            f"puts only {shares[majority]:.0%} into it; the names may be swapped"
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


def _how(column: Column) -> str:
    return f"left out: {column.how}" if column.kind == "left out" else column.how


def about(
    summary: FitSummary, answered: AnsweredPairs, not_kept: Ints, options: FitOptions
) -> dict[str, Any]:
    """Return what is stored beside a model, for the commands that use it."""
    points, certificate = answered.points, summary.certificate
    # Unsure pairs that were not kept aside are no fresh ones either: if certify counted
    # them, but not the sure ones beside them, most of its pairs might be unsure.
    rows = answered.with_unsure[0][not_kept].used_points()
    return {
        "made by": "pairlearn fit",
        "id": points.id_column,
        "first row": points.first_row,
        "group": points.group_column,
        "columns": [[c.name, c.kind, c.form] for c in points.columns],
        "classes": list(summary.classes),
        "majority": summary.model[-1].majority,
        "pairs": int(np.sum(not_kept < len(answered))),
        "points": len(rows),
        "certificate": None
        if certificate is None
        else asdict(certificate)
        | {
            "pair_interval": list(certificate.pair_interval),
            "clustering_interval": list(certificate.clustering_interval),
            "bolder_interval": None
            if certificate.bolder_interval is None
            else list(certificate.bolder_interval),
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
    # Not whether there is a page, or was a model before: that makes no other model.
    secret = asdict(options) | {"suspicious": None, "before": None}
    groups = groups_at(points, rows)
    return make_fingerprints(encoded, ids_at(points, rows), secret, groups)
