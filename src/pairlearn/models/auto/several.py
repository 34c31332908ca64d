"""Candidates for more than two classes: fewer of them, from better starts.

Two candidates, the scouts, look for groups of points (see
:mod:`pairlearn.models.auto.groups`). All others begin with the groups of the scout
whose objective J is lower, model by model. So they agree about which groups there are,
and an average of them means something. Each is first fitted with one prior, and only
those that explain held-out answers best are fitted with the others, too.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import softmax

from pairlearn.engine.solvers import minimise_together
from pairlearn.models.auto.blocks import ALL, BLOCKS
from pairlearn.models.auto.groups import (
    SCALE,
    Regression,
    SoftmaxObjective,
    find_groups,
)
from pairlearn.models.auto.path import named_by_labels, score
from pairlearn.models.auto.stack import HeldOut, slopes
from pairlearn.trust.probabilities import probabilities

if TYPE_CHECKING:
    from numpy.random import RandomState

    from pairlearn.data.types import Floats
    from pairlearn.models.auto.choose import Chooser
    from pairlearn.models.auto.likelihood import PairLikelihood

__all__ = ["best_of_each", "explains", "fit_several", "scouts", "soft"]

# Which candidates look for groups: view and kernel.
_SCOUTS = (("standard", "linear"), ("power", "rbf 1"))
_BLOCK_SCOUTS = ((BLOCKS, "linear"), (f"{ALL} 1", "linear"))
# Of blocks, scouts see the leading features: with as many features as points, any
# groups explain the answers.
_LEADING = 60
# With how many more groups than classes they begin.
_EXTRA = 3
# So many candidates are fitted with all priors.
_KEPT = 4
# Groups are looked for as if some answers were wrong: it makes J smoother, and a wrong
# answer does not create a group.
_SOFT: tuple[float, float] = (0.95, 0.05)
_STEPS, _TOL = 60, 0.05


def soft(rates: Any) -> Any:
    """Return rates that are no more certain than those of the search for groups."""
    if np.ndim(rates[0]):
        # Of people, each pair its own.
        return np.minimum(rates[0], _SOFT[0]), np.maximum(rates[1], _SOFT[1])
    return min(rates[0], _SOFT[0]), max(rates[1], min(_SOFT[1], rates[0] / 2))


def scouts(trials: list[Any]) -> list[Any]:
    """Return the candidates that look for groups."""
    names = _SCOUTS
    if any(trial.view.kind == BLOCKS for trial in trials):
        # Where there are texts, they tell more kinds apart than the other columns.
        names = _BLOCK_SCOUTS
    wanted = [
        trial
        for trial in trials
        if (trial.view.kind, str(trial.feature_map.kernel)) in names
    ]
    if names is _BLOCK_SCOUTS:
        return [replace(t, features=t.features[:, :_LEADING]) for t in wanted]
    return wanted or trials[:1]


def groups_of(
    trials: list[Any], likelihood: PairLikelihood, n_classes: int, rng: RandomState
) -> Floats:
    """Return the class probabilities that the scouts found for each model."""
    found = []
    for trial in scouts(trials):
        features = trial.features.astype(np.float32)
        most = n_classes + _EXTRA
        *_, (_, w, value) = find_groups(features, likelihood, most, n_classes, rng)
        found.append((softmax(score(features, w), axis=2), value))
    return best_of_each(found)


def best_of_each(found: list[tuple[Floats, Floats]]) -> Floats:
    """Return for each model the probabilities of the scout with the lowest J."""
    best = np.argmin([value for _, value in found], axis=0)
    return np.stack([found[s][0][:, k] for k, s in enumerate(best)], axis=1)


def fit_several(
    chooser: Chooser,
    likelihood: PairLikelihood,
    scales: tuple[float, ...],
    bar: Any = None,
) -> list[Any]:
    """Fit the candidates of a chooser; return those that are worth it.

    Parameters
    ----------
    chooser : Chooser
        Its `groups` are where all models begin; None: they are looked for, and set.
    likelihood : PairLikelihood
        R for each model: one for each fold, and one of all pairs.
    scales : tuple of float
        Standard deviations of the priors.
    bar : optional
        Has a method ``step(name)``, which is told of each candidate.

    Returns
    -------
    list of _Trial
        With `weights` for all scales.
    """
    trials = chooser.trials
    if not trials:
        return trials
    if chooser.groups is None:
        smooth = replace(likelihood, rates=soft(likelihood.rates), labels=None)
        rng = np.random.RandomState(chooser.seed)
        chooser.groups = groups_of(trials, smooth, chooser.problem.n_classes, rng)
    rates: Any = likelihood.rates
    groups, held_out = chooser.groups, chooser.held_out(rates)
    first = chooser.in_threads(
        partial(_begin, trial, likelihood, groups, bar) for trial in trials
    )
    fit = [
        explains(chooser, score(trial.features, w), held_out)
        for trial, w in zip(trials, first, strict=True)
    ]
    order = np.sort(np.argsort(fit)[::-1][:_KEPT])
    kept = [trials[k] for k in order]
    chooser.in_threads(
        partial(_all_scales, trials[k], likelihood, first[k], scales) for k in order
    )
    return kept


def explains(chooser: Chooser, scores: Floats, held_out: HeldOut) -> float:
    """Return the log-likelihood of held-out answers, with the best slope.

    `scores` has shape (n_points, n_models, n_classes). Each pair is judged by the model
    that has not seen it; classes need no common names for that.
    """
    folds, index = chooser.folds, chooser.problem.index
    judged = scores[index[folds.tested], folds.model[:, None]][None]
    slope = slopes(judged, held_out)[:, None, None, None]
    return float(held_out.log_likelihood(probabilities(slope * judged))[0])


def _begin(trial: Any, likelihood: PairLikelihood, groups: Floats, bar: Any) -> Floats:
    """Fit a candidate with one prior, from the groups of the scouts."""
    features = trial.features.astype(np.float32)
    w = Regression(features)(groups)
    for k in range(len(w)):
        w[k : k + 1] = named_by_labels(w[k : k + 1], features, likelihood, k)
    w, trial.n_iter = _minimised(features, likelihood, w, SCALE)
    if bar is not None:
        bar.step(str(trial.feature_map.kernel))
    return w


def _all_scales(
    trial: Any, likelihood: PairLikelihood, begin: Floats, scales: tuple[float, ...]
) -> None:
    """Fit a candidate with all priors, going both ways from the first."""
    features = trial.features.astype(np.float32)
    found = {SCALE: begin}
    up = [s for s in scales if s > SCALE]
    down = [s for s in reversed(scales) if s < SCALE]
    for way in (up, down):
        w = begin
        for s in way:
            w, n_iter = _minimised(features, likelihood, w, s)
            found[s], trial.n_iter = w, trial.n_iter + n_iter
    trial.weights = np.array([found[s] for s in scales])


def _minimised(
    features: Floats, likelihood: PairLikelihood, w: Floats, scale: float
) -> tuple[Floats, int]:
    models = np.arange(len(w))
    objective = SoftmaxObjective(features, likelihood, w.shape[1], scale, models)
    u = w.reshape(len(w), -1) * objective.stretch
    u, _, n_iter = minimise_together(objective, u, max_iter=_STEPS, tol=_TOL)
    return (u / objective.stretch).reshape(w.shape), n_iter
