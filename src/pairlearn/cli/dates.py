"""Dates as features: used only if they help to foretell answers that were held out.

New points come later than those that a model has learned from. So a date that means
nothing does harm where a number that means nothing would not, and it must earn its
place.

The rule: with and without the columns of dates, an additive model (splines of degree 2
in each number and date, a column for each category, and a linear pair classifier on
top) is trained on some of the points and foretells the answers about the others. Let
l_k be the log-likelihood of answer k with dates minus that without. The dates stay if

    mean(l) > 1.64 std(l) / sqrt(n),

that is, if the gain is larger than chance would have it in 19 of 20 tables. Both models
are made in a moment, from at most `_MOST_PAIRS` of the pairs; none that is kept aside
is looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.cli.judging import warnings_as_notes
from pairlearn.models.compose import make_pair_pipeline

if TYPE_CHECKING:
    from pairlearn.data.pairs import Pairs
    from pairlearn.data.types import Floats, Ints
    from pairlearn.files.tables.answered_pairs import AnsweredPairs
    from pairlearn.files.tables.column_kinds import Column

__all__ = ["leave_out_idle_dates"]

_MOST_PAIRS = 1000
# With fewer answers of either kind nothing is held out to judge by.
_LEAST = 5
_PLAIN = ("numbers", "categories", "dates")
# Standard errors by which the gain must exceed nothing.
_CLEAR = 1.64
# Ten models are made to be compared and thrown away, so each may be a little rough.
# Pairs that were chosen are nearly separable, and the last digits take longest.
_STARTS = 2
_CLOSE = 1e-3
_WHY = (
    "dates; they do not help to foretell answers that were held out, and new points "
    "will have later ones"
)


def leave_out_idle_dates(
    answered: AnsweredPairs, trained: Ints, n_kinds: int, seed: int
) -> list[str]:
    """Leave columns of dates out of the points unless they help.

    Parameters
    ----------
    answered : AnsweredPairs
        The pairs with their answers; its points lose the columns.
    trained : ndarray of int
        The numbers of the pairs to learn from.
    n_kinds : int
        How many kinds of points there are.
    seed : int
        Seed.

    Returns
    -------
    list of str
        What to tell.
    """
    columns = answered.points.columns
    dates = [column.name for column in columns if column.kind == "dates"]
    others = [c for c in columns if c.kind not in ("dates", "left out")]
    if not dates or not others or _help(answered, trained, n_kinds, seed):
        return []
    answered.leave_out(dict.fromkeys(dates, _WHY))
    which = ", ".join(map(repr, dates))
    note = (
        f"column {which} holds dates and is left out: it does not help to foretell "
        "answers that were held out"
    )
    return [note]


def _help(answered: AnsweredPairs, trained: Ints, n_kinds: int, seed: int) -> bool:
    """Tell whether dates help."""
    some = trained
    if len(some) > _MOST_PAIRS:
        some = np.random.default_rng(seed).choice(trained, _MOST_PAIRS, replace=False)
    pairs, t = answered.pairs[np.sort(some)].compact(), answered.t[np.sort(some)]
    if min(np.sum(t > 0), np.sum(t < 0)) < _LEAST:
        return False
    # Texts and pictures would take long, and are not what a date stands in for.
    plain = [c for c in answered.points.columns if c.kind in _PLAIN]
    gain = _foretold(plain, pairs, t, n_kinds, seed)
    without = [column for column in plain if column.kind != "dates"]
    gain -= _foretold(without, pairs, t, n_kinds, seed)
    return bool(gain.mean() > _CLEAR * gain.std() / np.sqrt(len(gain)))


def _foretold(
    columns: list[Column], pairs: Pairs, t: Floats, n_kinds: int, seed: int
) -> Floats:
    """Return the log-likelihood of each answer by models that have not seen it."""
    from pairlearn import MCLClassifier, suspicious_answers

    share = (1 + t) / 2
    if not columns:
        return _likelihood(np.full(len(t), share.mean()), share)
    classifier = MCLClassifier(
        n_classes=n_kinds, n_init=_STARTS, tol=_CLOSE, random_state=seed
    )
    model = make_pair_pipeline(_splines(columns), classifier)
    with warnings_as_notes([]):
        found = suspicious_answers(model, pairs, t, random_state=seed)
    wrong = max(found.noise_rate, 0.01)
    same = wrong + (1 - 2 * min(wrong, 0.49)) * found.probability
    return _likelihood(same, share)


def _likelihood(same: Floats, share: Floats) -> Floats:
    """Return the log-likelihood of answers, of which a share is "same" each."""
    same = np.clip(same, 1e-3, 1 - 1e-3)
    likelihood: Floats = share * np.log(same) + (1 - share) * np.log(1 - same)
    return likelihood


def _splines(columns: list[Column]) -> Any:
    """Return what turns columns into splines of numbers, and into categories."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import SplineTransformer, StandardScaler

    from pairlearn.files.tables.encoder import make_encoder

    encoder = make_encoder(columns)
    for number, (label, step, names) in enumerate(encoder.transformers):
        if label.startswith(("numbers", "dates")):
            bend = SplineTransformer(
                n_knots=4, degree=2, knots="quantile", extrapolation="constant"
            )
            encoder.transformers[number] = (label, make_pipeline(step, bend), names)
    return make_pipeline(encoder, StandardScaler())
