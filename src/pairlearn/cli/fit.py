"""`pairlearn fit`: two tables to a model, with a certificate."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

import pairlearn
from pairlearn.cli.audited import judge_by_audits, notes_on_purposes
from pairlearn.cli.certificate_words import LOPSIDED
from pairlearn.cli.dates import leave_out_idle_dates
from pairlearn.cli.errors_before import short_of
from pairlearn.cli.explain import changes_of_side, words_of_groups
from pairlearn.cli.fit_notes import notes_about_answers, notes_about_model
from pairlearn.cli.judging import (
    assumed_noise,
    doubts_two_kinds,
    judged_kinds,
    note_on_noise,
    one_group_error,
    warnings_as_notes,
)
from pairlearn.cli.kept_names import name_groups_of
from pairlearn.cli.looks import looks_of
from pairlearn.cli.measuring import measure, measure_kept
from pairlearn.cli.naming import letters, rename
from pairlearn.cli.other_points import find_other_points
from pairlearn.cli.people import people_of
from pairlearn.cli.people_rates import RowsOfPeople, notes_on_people, told_anew
from pairlearn.cli.several_kinds import judge_several
from pairlearn.cli.summary import FitSummary
from pairlearn.cli.suspicious import rank_answers
from pairlearn.cli.training_points import (
    groups_at,
    ids_at,
    make_fingerprints,
)
from pairlearn.data.databases import called
from pairlearn.files.tables.answered_pairs import read_answers
from pairlearn.files.tables.encoders.texts import text_blocks, without_words
from pairlearn.files.tables.errors import TableError
from pairlearn.models.auto import PairClassifier
from pairlearn.models.compose import OnPoints, make_pair_pipeline
from pairlearn.trust.kept_pairs import keep_aside
from pairlearn.trust.noise import RIGHT, Noise, as_noise, rates_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pairlearn.data.types import Ints
    from pairlearn.files.tables.answered_pairs import AnsweredPairs
    from pairlearn.files.tables.column_kinds import Column
    from pairlearn.files.tables.points import Points

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
    classes : tuple of str or None
        Names of the classes; None: letters.
    majority : str or None
        Which of two holds more than half of the points.
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
    unlabeled : bool or None
        Whether points in no pair are used, too, where held-out answers speak for it;
        None: half of them, where there is free text.
    before : Path or None
        A model that this one replaces; groups keep its names, or it is told.
    kinds : int or "auto"
        How many classes there are; "auto": as many as the answers speak for. Names
        say how many, too.
    labels : Path or None
        A table of points whose class is known, which names the groups.
    like : Path or None
        An older model, whose names the groups keep.
    """

    classes: tuple[str, ...] | None = None
    majority: str | None = None
    noise: Any = "auto"
    holdout: float = 0.2
    seed: int = 0
    suspicious: bool = False
    forget: bool = False
    before: Path | None = None
    unlabeled: bool | None = None
    kinds: int | str = "auto"
    labels: Path | None = None
    like: Path | None = None

    @property
    def n_kinds(self) -> int | str:
        """How many classes there are, as far as anybody has said so."""
        return self.kinds if self.classes is None else len(self.classes)


def fit_tables(
    points: Path,
    pairs: Path | Sequence[Path],
    reading: Mapping[str, Any],
    options: FitOptions,
    step: Callable[[str], None] = lambda _: None,
) -> tuple[FitSummary, dict[str, Any]]:
    """Make a model from a table of points and a table of answers.

    Parameters
    ----------
    points, pairs : Path
        The tables; of pairs there may be several.
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
    files = [pairs] if isinstance(pairs, Path) else list(pairs)
    answered = _read(points, files, reading)
    audits, chosen = answered.audits, answered.n_chosen > 0
    if chosen:
        # Pairs that were chosen cannot judge a model, so none is kept aside for that.
        options = replace(options, holdout=0)
    notes = answered.notes
    place = len(notes)
    rng = check_random_state(options.seed)
    not_kept, kept = _split(answered, options, rng)
    trained = not_kept[not_kept < len(answered)]
    two_kinds = options.n_kinds == 2 or (
        options.n_kinds == "auto" and not _speaks_for_more(answered, options)
    )
    least = options.n_kinds if isinstance(options.n_kinds, int) else 3 - two_kinds
    notes += leave_out_idle_dates(answered, trained, least, options.seed)
    given, t = answered.pairs, answered.t
    others = find_other_points(answered, kept, rng, options.unlabeled)
    rates, known = "auto", None
    rows = None
    if options.noise == "auto":
        rows = RowsOfPeople.about(answered, not_kept)
    if rows is not None:
        notes[:] = told_anew(notes)
        place = len(notes)
    if rows is None and (not chosen or options.noise != "auto"):
        # Pairs may have been asked again because they were suspicious, so that their
        # answers would make others look worse than they are.
        rates, known = assumed_noise(answered, options.noise, two_kinds=two_kinds)
    step(f"learning from {len(trained)} pair(s)")
    model = _learn(answered, trained, rates, options, others, rows)
    classes = tuple(model[-1].classes_.tolist())
    notes[place:place] = notes_about_answers(
        answered, len(classes), looked_at=bool(len(others))
    )
    named = name_groups_of(model, answered.points, options, files, reading)
    notes += named.notes
    classes = tuple(model[-1].classes_.tolist())
    if options.forget:
        # What Python's `certify` would know the points by.
        del model[-1]._training_points
    step("testing the model")
    noise = Noise("unknown", rates_of(model)) if known is None else known
    learnt = np.union1d(given[trained].used_points(), others)
    judged_by, numbers = answered, trained
    if rows is not None:
        notes += notes_on_people(model[-1].people_)
        learnt = np.union1d(rows.pairs.used_points(), learnt)
        judged_by, kept, noise = rows.to_judge(answered, kept, model[-1].people_)
        numbers = rows.numbers
    certificate = answer_error = kinds_certificate = one_group = None
    if chosen:
        pass
    elif len(classes) == 2:
        certificate = measure(
            model, judged_by, numbers, learnt, kept, noise, holdout=options.holdout
        )
    else:
        pairs_kept, t_kept = judged_by.with_unsure
        answer_error = judge_several(model, pairs_kept[kept], t_kept[kept], notes)
        if len(kept):
            kinds_certificate = measure_kept(
                judged_kinds, model, judged_by, learnt, kept, noise
            )
    if not chosen and len(classes) == 2:
        one_group = one_group_error(judged_by, noise)
    # It has served, and is not for files.
    model[-1]._held_out = None
    if known is None and rows is None:
        notes += note_on_noise(model, certificate)
    shares = _shares(model, given.X, rng)
    notes += notes_about_model(model, shares, certificate, options)
    importance = changes_of_side(model, given.X, options.seed)
    texts = [c.name for c in answered.points.columns if c.kind == "text"]
    words = words_of_groups(model, given.X, texts, options.seed)
    suspicious = None
    if options.suspicious and max(shares.values()) <= LOPSIDED:
        step("looking for suspicious answers")
        suspicious = rank_answers(answered, options.seed, len(classes))
    people = people_of(answered, audits_apart=True)
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
        source={
            "points": points.name,
            "pairs": " and ".join(map(called, files)),
        },
        seconds=time.perf_counter() - start,
        classes=classes,
        importance=importance,
        words=words,
        version=pairlearn.__version__,
        majority=options.majority,
        shares=shares,
        one_group_error=one_group,
        kinds=model[-1].kinds_,
        answer_error=answer_error,
        kinds_certificate=kinds_certificate,
        # Of several groups, only labelled points tell which is which.
        named=named.by_points or (options.classes is not None and len(classes) == 2),
        chosen=chosen,
        n_audits=0 if audits is None else len(audits) + len(audits.unsure),
        people=None if people is None else people.report,
    )
    stored = about(summary, answered, not_kept, options, others)
    if chosen:
        judge_by_audits(summary, stored, answered, options.noise)
        stored |= about(summary, answered, not_kept, options, others)
    summary.notes += notes_on_purposes(summary, options.majority)
    return summary, stored


def _read(
    points: Path, pairs: Sequence[Path], reading: Mapping[str, Any]
) -> AnsweredPairs:
    """Read the tables, and refuse answers of one kind."""
    answered = read_answers(points, pairs, **reading)
    answered.notes += [c.note for c in answered.points.columns if c.note]
    t, name = answered.t, " and ".join(map(called, pairs))
    if not len(t) and answered.audits is not None:
        raise TableError(
            f"{name} holds {len(answered.audits)} answered audit(s), and no answer to "
            "learn from; audits are for pairlearn certify alone"
        )
    if len(t) < 2 or np.all(t > 0) or np.all(t < 0):
        only = "same" if np.all(t > 0) else "different"
        raise TableError(
            f"{name} holds {len(t)} pair(s), and all are answered '{only}'; "
            "both kinds of answers are needed to tell classes apart"
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
    answered: AnsweredPairs,
    trained: Ints,
    noise: Any,
    options: FitOptions,
    others: Ints,
    rows: RowsOfPeople | None,
) -> Any:
    """Return a model that has learnt from some of the pairs, and perhaps others.

    Where it is known who answered, it learns from all rows about these pairs.
    """
    encoder = OnPoints(answered.points.make_encoder())
    classifier = PairClassifier(
        n_classes=options.n_kinds,
        classes=options.classes,
        majority=options.majority,
        noise=noise,
        random_state=options.seed,
    )
    more: dict[str, Any] = {}
    pairs, t = answered.pairs[trained], answered.t[trained]
    if rows is not None:
        pairs, t = rows.pairs, rows.t
        more["annotators"] = rows.names
    if answered.points.group_column is not None:
        names = np.array(answered.points.group_names, dtype=object)
        more["groups"] = names[pairs.index]
    with warnings_as_notes(answered.notes):
        encoded = encoder.fit_transform(pairs)
        if len(others):
            more["unlabeled"] = encoder.transform(answered.pairs.X.iloc[others])
        # Which columns are the words of a text shows when the words are known.
        blocks = text_blocks(encoder.transformer_)
        classifier.fit(encoded, t, blocks=blocks, **more)
    model = make_pair_pipeline(encoder, classifier)
    if options.classes is None:
        rename(model, letters(model[-1].n_classes_))
    return model


def _speaks_for_more(answered: AnsweredPairs, options: FitOptions) -> bool:
    """Return whether the answers alone speak for more than two kinds."""
    noise = options.noise
    known = RIGHT if noise in ("auto", None) else as_noise(noise).rates
    return doubts_two_kinds(answered, known)


def _shares(model: Any, frame: Any, rng: Any) -> dict[str, float]:
    """Return the share of the points in each group, from some of them."""
    some = rng.permutation(len(frame))[:_SHARE_POINTS]
    predicted = model.predict(frame.iloc[np.sort(some)])
    names = model[-1].classes_.tolist()
    return {name: float(np.mean(predicted == name)) for name in names}


def _how(column: Column) -> str:
    return f"left out: {column.how}" if column.kind == "left out" else column.how


def about(
    summary: FitSummary,
    answered: AnsweredPairs,
    not_kept: Ints,
    options: FitOptions,
    others: Ints,
) -> dict[str, Any]:
    """Return what is stored beside a model, for the commands that use it."""
    points, certificate = answered.points, summary.certificate
    words = summary.words
    # Unsure pairs that were not kept aside are no fresh ones either: if certify counted
    # them, but not the sure ones beside them, most of its pairs might be unsure.
    rows = np.union1d(answered.with_unsure[0][not_kept].used_points(), others)
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
        "chosen pairs": answered.n_chosen,
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
        "kinds certificate": None
        if summary.kinds_certificate is None
        else short_of(summary.kinds_certificate),
        "answer error": None
        if summary.answer_error is None
        else asdict(summary.answer_error)
        | {"interval": list(summary.answer_error.interval)},
        "importance": None
        if summary.importance is None
        else [[name, share] for name, share in summary.importance],
        "words": {name: [list(row) for row in rows] for name, rows in words.items()},
        "source": summary.source,
        "looks": None if options.forget else looks_of(points),
        "seen": None
        if options.forget
        else _fingerprint(summary.model, points, rows, options),
    }


def _fingerprint(
    model: Any, points: Points, rows: Ints, options: FitOptions
) -> dict[str, Any]:
    """Return fingerprints of the points that the model learnt from."""
    encoder = model[0].transformer_
    encoded = without_words(encoder.transform(points.frame.iloc[rows]), encoder)
    # Not whether there is a page, or was a model before: that makes no other model.
    # The points say what was seen, as far as it is stored.
    secret = asdict(options) | {"suspicious": None, "before": None, "labels": None}
    del secret["like"]
    del secret["unlabeled"]
    groups = groups_at(points, rows)
    return make_fingerprints(encoded, ids_at(points, rows), secret, groups)
