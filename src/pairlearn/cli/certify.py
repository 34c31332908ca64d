"""`pairlearn certify`: the error of a model, from fresh pairs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from pairlearn.cli.describing import ForModel
from pairlearn.cli.errors_before import error_before
from pairlearn.cli.judging import (
    BY_NATURE,
    assumed_noise,
    judged,
    judged_kinds,
    more_than_two_kinds,
    note_on_noise,
    one_group_error,
    warnings_as_notes,
)
from pairlearn.cli.predict import frame_for_model, placing_errors, wanted_columns
from pairlearn.cli.training_points import (
    find_equal_rows,
    find_known_points,
    groups_at,
    ids_at,
    repeated_pairs,
)
from pairlearn.data.graph import disjoint_pairs, shuffled
from pairlearn.data.pairs import Pairs
from pairlearn.files.tables.answered_pairs import read_answers
from pairlearn.files.tables.encoders.texts import without_words
from pairlearn.files.tables.errors import TableError
from pairlearn.trust.certify import how_many_kinds, weigh_all
from pairlearn.trust.kept_pairs import LEAST_KEPT
from pairlearn.trust.kinds import weigh_all_kinds
from pairlearn.trust.live import live_confidence
from pairlearn.trust.noise import Noise, rates_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pairlearn.cli.errors_before import Was
    from pairlearn.cli.training_points import EqualRows, KnownPoints
    from pairlearn.data.types import Bools, Floats, Ints
    from pairlearn.files.tables.answered_pairs import AnsweredPairs
    from pairlearn.files.tables.reading import Table
    from pairlearn.trust.certificate import Certificate
    from pairlearn.trust.kinds_certificate import KindsCertificate

__all__ = ["Certified", "certify_answers", "certify_tables"]

_ABOUT_IDS = (
    "{} point(s) have the id of a point that the model learned from, but other "
    "features; if they are different points, give them different ids"
)
_ANY_NUMBER = "--kinds any gives one that holds for any number of kinds"
# What to say if the model was made without groups, or if there are none now.
_HARD_ONES_LEFT_OUT = (
    "pairlearn ask chose the points that the model learned from, mostly hard ones. The "
    "pairs that are left after leaving these out are easier than random ones, so that "
    "the error may be higher than this says; audits, or pairs of other points, do not "
    "have this problem"
)
_ABOUT_GROUPS = {
    True: "the model was trained without --group, so only groups of points with known "
    "ids are recognised: make sure that the others are new",
    False: "the model was trained with --group, but these points have no groups: make "
    "sure that they are of others than it has learned from, or name the column with "
    "--group",
}


@dataclass
class Certified:
    """A certificate, and how it came about.

    Attributes
    ----------
    certificate : Certificate or KindsCertificate
        The certificate.
    n_seen, n_shared : int
        Pairs with points that the model learnt from, or that equal such; and pairs left
        out since they share a point with another.
    notes : list of str
        What to tell.
    one_group_error : float or None
        The error of putting all points into one group, as the answers tell; for two
        kinds.
    within_groups : bool
        Whether the pairs may be random within groups only.
    audited : bool
        Whether the pairs are audits of `pairlearn ask`.
    was : Was or None
        The error as it was known when the model was made.
    """

    certificate: Certificate | KindsCertificate
    n_seen: int
    n_shared: int
    notes: list[str]
    one_group_error: float | None = None
    within_groups: bool = False
    audited: bool = False
    was: Was | None = None


def certify_tables(
    model: Any,
    about: dict[str, Any],
    points: Path,
    pairs: Path | Sequence[Path],
    reading: Mapping[str, Any],
    **options: Any,
) -> Certified:
    """Estimate the error of a model from tables of points and of answers.

    Parameters
    ----------
    model : Pipeline
        A model, as `pairlearn fit` makes it.
    about : dict
        What was stored beside it.
    points, pairs : Path
        The tables; of pairs there may be several.
    reading : dict
        How they are to be read: arguments of `read_answers`.
    **options
        As for `certify_answers`.

    Returns
    -------
    Certified
    """
    answered = read_answers(points, pairs, **reading)
    return certify_answers(model, about, answered, **options)


def certify_answers(
    model: Any,
    about: dict[str, Any],
    answered: AnsweredPairs,
    *,
    confidence: float = 0.95,
    noise: Any = "auto",
    anytime: bool = False,
    kinds: int | str | None = None,
    within_groups: bool = False,
    seed: int = 0,
) -> Certified:
    """Estimate the error of a model from answers about pairs that it has not seen.

    Pairs with a point that the model learnt from are left out, and of pairs that share
    a point, or a group, one is taken, at random. Where the features of a point equal
    those of one that the model learnt from, but its id is another, the interval covers
    both: the certificate with and without its pair.

    Where rows say what they are for, only audits are counted: the others were chosen to
    learn from. As somebody may have looked after each round, at another model each
    time, each look is given a part of the risk (:mod:`pairlearn.trust.live`) and an
    interval that holds at all numbers of audits. Audits never teach, so they are
    independent of every one of these models, and all intervals hold together with
    probability 1 - alpha.

    Parameters
    ----------
    model : Pipeline
        A model, as `pairlearn fit` makes it.
    about : dict
        What was stored beside it.
    answered : AnsweredPairs
        The answers, audits apart.
    confidence : float
        As for :func:`pairlearn.certify`.
    noise : "auto", None, float, tuple or FlipRateEstimate
        How often these answers are wrong.
    anytime, kinds
        As for :func:`pairlearn.certify`.
    within_groups : bool
        Whether the pairs may be random within the groups of the model only. The shares
        of the groups are then those in the table of points.
    seed : int
        Which of the pairs that share points are taken.

    Returns
    -------
    Certified
    """
    answered, n_looks = _audits(answered)
    wanted_confidence = confidence
    if n_looks:
        anytime = True
        confidence = live_confidence(confidence, n_looks)
    notes = answered.notes
    table = answered.points.table
    for_model = ForModel(about, answered.points.embed, answered.points.step)
    frame = frame_for_model(for_model(table), wanted_columns(model, about))
    everything, t = answered.with_unsure
    given = Pairs(frame, everything.index)
    known, equal = _known(model, about, answered, given)
    fresh, doubtful = _fresh(known, given, notes)
    if about.get("chosen pairs") and len(fresh) < len(given):
        notes.append(_HARD_ONES_LEFT_OUT)
    index = answered.points.groups[given.index]
    # As they were answered, unsure ones among the others.
    order = np.argsort(answered.first_lines[fresh], kind="stable")
    if not anytime:
        order = shuffled(len(fresh), check_random_state(seed))
    n_groups = int(index.max(initial=0)) + 1
    kept = fresh[disjoint_pairs(n_groups, index[fresh], order)]
    new = kept[~doubtful[kept]]
    new = new[np.argsort(answered.first_lines[new], kind="stable")]
    doubtful[new] = repeated_pairs(equal, given.index[new], in_order=anytime)
    few = np.sum(~doubtful[kept]) < LEAST_KEPT
    ids, repeat = answered.points.id_column is not None, equal.repeat
    if known is not None:
        ids, repeat = known.ids, known.repeat
    by_nature = bool(ids and repeat and few)
    if by_nature:
        notes.append(BY_NATURE.format(int(doubtful[kept].sum()), len(kept)))
        doubtful[:] = False
    recognised = known is not None and not by_nature
    grouped = answered.points.group_column is not None
    if recognised and grouped != bool(about["seen"].get("groups")):
        recognised = False
        notes.append(_ABOUT_GROUPS[grouped])
    # Rates that are measured by these answers are for one look.
    rates = None
    if not (anytime and noise == "auto"):
        rates = assumed_noise(answered, noise, confidence)[1]
    assumed = Noise("unknown", rates_of(model)) if rates is None else rates
    several, limit = how_many_kinds(
        model, given[kept].compact(), kinds, by_group=within_groups
    )
    problem = None if several else more_than_two_kinds(answered, assumed)
    if problem is not None:
        raise TableError(f"{problem}. So there is no certificate; {_ANY_NUMBER}")
    options: dict[str, Any] = {
        "confidence": confidence,
        "anytime": anytime,
        "doubtful": doubtful[kept],
    }
    certificate: Certificate | KindsCertificate | None
    if several:
        # For all looks together the shares of the groups must be known, and they are:
        # those in the table, from which audits are random pairs.
        known_shares = within_groups or n_looks
        options |= {"kinds": limit, "points": frame if known_shares else None}
        certificate = judged_kinds(
            model, given[kept], t[kept], assumed, notes, **options
        )
    else:
        certificate = judged(model, given[kept], t[kept], assumed, notes, **options)
    if certificate is None:
        raise TableError(notes[-1])
    certificate = replace(certificate, confidence=wanted_confidence)
    if recognised:
        certificate = replace(certificate, unseen=not doubtful[kept].any())
    if rates is None:
        notes += note_on_noise(model, certificate)
    n_shared = len(fresh) - len(kept)
    if n_shared:
        signs = np.sign(t[fresh])
        weigh: Any = weigh_all_kinds if several else weigh_all
        certificate = weigh(
            model, given[fresh], signs, index[fresh], assumed, certificate
        )
        what = "point" if answered.points.group_column is None else "group"
        notes.append(
            f"{n_shared} pair(s) that share a {what} with another pair were left out"
        )
    return Certified(
        certificate,
        len(given) - len(fresh) + int(doubtful[kept].sum()),
        n_shared,
        notes,
        None if several else one_group_error(answered, assumed),
        within_groups,
        answered.marks is not None and answered.marks.marked,
        error_before(about),
    )


def _audits(answered: AnsweredPairs) -> tuple[AnsweredPairs, int]:
    """Return the pairs to count, and how many models somebody may have looked at.

    All pairs if nothing is said about what they are for, and then the second is 0.
    """
    marks, audits = answered.marks, answered.audits
    if marks is None or not marks.marked:
        return answered, 0
    n_own = int(np.sum(~marks.learn & ~marks.audit))
    if audits is None or not len(audits):
        told = "have no answer yet" if marks.audit.any() else "are not there"
        raise TableError(
            f"a certificate counts audits alone, and they {told}: the "
            f"{answered.n_chosen} pair(s) marked 'learn' were chosen to learn from, so "
            "they say nothing about random pairs. Let pairlearn ask put audits among "
            "the questions (--audits 0.2), and have them answered"
        )
    audits.notes = list(answered.notes)
    if answered.n_chosen:
        audits.notes.append(
            f"{answered.n_chosen} row(s) marked 'learn' were left out: they were "
            "chosen to learn from, so they say nothing about random pairs"
        )
    if n_own:
        audits.notes.append(
            f"{n_own} row(s) without a purpose were left out, as others are audits; to "
            "certify by your own random pairs, give them in a file of their own"
        )
    n_looks = answered.n_looks
    if n_looks > 1:
        audits.notes.append(
            f"there were {n_looks} rounds, so you may have looked at as many "
            "models and gone on, or stopped, because of what you saw. The interval is "
            "wider for that, and holds for all these looks together: the audits taught "
            "none of the models"
        )
    elif n_looks:
        audits.notes.append(
            "the interval also holds if you look again after the next rounds, and is "
            "wider for that; all looks hold together, as audits teach none of the "
            "models"
        )
    return audits, n_looks


def _known(
    model: Any, about: dict[str, Any], answered: AnsweredPairs, pairs: Pairs
) -> tuple[KnownPoints | None, EqualRows]:
    """Return which of the points used the model has learnt from, and equal rows."""
    used = pairs.used_points()
    encoded = _encoded(model, answered.points.table, pairs.X)[used]
    equal = find_equal_rows(encoded, used, pairs.n_points)
    if about.get("seen") is None:
        return None, equal
    ids, groups = ids_at(answered.points, used), groups_at(answered.points, used)
    return find_known_points(about["seen"], encoded, ids, groups), equal


def _fresh(
    known: KnownPoints | None, pairs: Pairs, notes: list[str]
) -> tuple[Ints, Bools]:
    """Return the numbers of pairs of new points, and which are doubtful."""
    used = pairs.used_points()
    if known is None:
        notes.append(
            "the model does not record which points it learned from: make sure that "
            "these pairs were not used to train it"
        )
        return np.arange(len(pairs)), np.zeros(len(pairs), dtype=bool)

    def holding(some: Any) -> Bools:
        """Return which pairs hold one of some of the points used."""
        mask = np.zeros(pairs.n_points, dtype=bool)
        mask[used] = some
        return np.asarray(mask[pairs.index].any(axis=1))

    seen, doubtful = holding(known.by_id | known.by_group), holding(known.by_features)
    by_nature = known.ids and known.repeat
    if np.all(seen) or (np.all(seen | doubtful) and not by_nature):
        raise TableError(_nothing_left(known, seen, len(pairs)))
    if seen.any():
        what = "an id or a group" if known.by_group.any() else "an id"
        notes.append(
            f"{int(seen.sum())} of {len(pairs)} pairs have points that the model "
            f"learned from or has looked at (recognised by {what}), and were left out"
        )
    changed = int(np.sum(known.by_id & ~known.by_features))
    if changed:
        notes.append(_ABOUT_IDS.format(changed))
    if not known.ids:
        notes.append(
            "there are no ids, so points that the model learned from are recognised by "
            "their features: a point whose cells were changed since then counts as new"
        )
    return np.flatnonzero(~seen), doubtful


def _nothing_left(known: KnownPoints, seen: Bools, n_pairs: int) -> str:
    """Return why no pair is left to count, and the way out."""
    n_by_id = int(seen.sum())
    changed = int(np.sum(known.by_id & ~known.by_features))
    way_out = f". {_ABOUT_IDS.format(changed)}" * bool(changed)
    if known.repeat and not known.ids:
        way_out = (
            ". Rows repeat in these data, so points without ids cannot be told "
            "apart: train the model with a table that has an id column"
        )
    return (
        f"all {n_pairs} pairs have points that the model learned from or has "
        f"looked at ({n_by_id} recognised by an id, {n_pairs - n_by_id} only by equal "
        "features); a certificate needs fresh random pairs, of points not used before"
        f"{way_out}"
    )


def _encoded(model: Any, table: Table, frame: Any) -> Floats:
    """Return points as numbers; refuse cells that are not what they once were."""
    with placing_errors(table), warnings_as_notes([]):
        encoder = model[0].transformer_
        return without_words(encoder.transform(frame), encoder)
