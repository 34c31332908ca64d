"""Trying the candidates on folds of the pairs, and making one ensemble of them."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.utils.parallel import Parallel, delayed

from pairlearn.data.folds import point_folds
from pairlearn.models.auto.columns import VIEWS, ColumnView
from pairlearn.models.auto.ensemble import Ensemble, Member
from pairlearn.models.auto.kernels import FeatureMap, Kernel
from pairlearn.models.auto.likelihood import Labels, PairLikelihood
from pairlearn.models.auto.path import follow, refine, score
from pairlearn.models.auto.stack import (
    TYPICAL_SCALE,
    HeldOut,
    average,
    calibrate_average,
    prior_weights,
    slopes,
)
from pairlearn.models.auto.table import Candidate
from pairlearn.system.threads import single_blas
from pairlearn.trust.assignment import match_classes
from pairlearn.trust.probabilities import probabilities
from pairlearn.trust.theory import prior_from_same_rate

if TYPE_CHECKING:
    from numpy.random import RandomState

    from pairlearn.data.pairs import Pairs
    from pairlearn.data.types import Bools, Floats, Ints, PointsLike
    from pairlearn.models.auto.classifier import PairClassifier
    from pairlearn.models.auto.likelihood import Rates

__all__ = ["Choice", "Chooser", "Folds", "Problem", "deal_folds", "refit"]

KERNELS = {
    "standard": (Kernel("linear"), Kernel("rbf", 4.0)),
    "power": (
        Kernel("linear"),
        Kernel("rbf", 0.25),
        Kernel("rbf", 1.0),
        Kernel("rbf", 4.0),
        Kernel("laplacian", 1.0),
        Kernel("laplacian", 4.0),
    ),
}
# Standard deviations of the prior on the weights.
SCALES = (1.0, 2.0, 4.0, 8.0, 16.0)
# A candidate with a smaller share than this is left out of the ensemble.
_SMALL_SHARE = 1e-3


@dataclass(frozen=True)
class Problem:
    """What to learn from: points, pairs with weighted answers, perhaps labels.

    Attributes
    ----------
    X : ndarray or CSR matrix
        All points, those with labels among them.
    index : ndarray of shape (n_pairs, 2)
        The pairs.
    same, different : ndarray of shape (n_pairs,)
        How much either answer counts.
    labels : Labels or None
        Labelled points.
    n_classes : int
        Number of classes.
    """

    X: PointsLike
    index: Ints
    same: Floats
    different: Floats
    labels: Labels | None
    n_classes: int

    def likelihood(self, rates: Rates, trained_on: Bools) -> PairLikelihood:
        """Return the risk of models that see the pairs in their column only."""
        return PairLikelihood(
            self.index,
            self.same[:, None] * trained_on,
            self.different[:, None] * trained_on,
            self.X.shape[0],
            rates,
            self._labels(trained_on),
        )

    def _labels(self, trained_on: Bools) -> Labels | None:
        """Return the labels, without those of points in a pair kept from a model."""
        if self.labels is None:
            return None
        rows, classes, _ = self.labels
        name = equal_rows(self.X)
        weight = np.ones((len(rows), trained_on.shape[1]))
        for k, seen in enumerate(trained_on.T):
            weight[np.isin(name[rows], name[self.index[~seen]]), k] = 0.0
        return Labels(rows, classes, weight)


@dataclass(frozen=True)
class Folds:
    """Which models are trained on which pairs, and judged by which.

    Attributes
    ----------
    trained_on : ndarray of shape (n_pairs, n_models)
        Whether a model sees a pair.
    tested : ndarray
        The pairs that are judged, deal after deal.
    model : ndarray
        The model that judges each: it has not seen the pair and, if honest, neither
        point.
    n_deals : int
        How often the points were dealt out.
    n_first : int
        How many of `tested` belong to the first deal; a pair occurs once in these.
    honest : bool
        Whether no point is in training and in testing.
    """

    trained_on: Bools
    tested: Ints
    model: Ints
    n_deals: int
    n_first: int
    honest: bool


@dataclass(frozen=True)
class Choice:
    """The outcome of a round over all candidates.

    Attributes
    ----------
    ensemble : Ensemble
        The averaged model.
    rows : list of Candidate
        What was tried.
    p : ndarray of shape (n_tested, 2, n_classes)
        Averaged probabilities of held-out pairs, before calibration.
    held_out : HeldOut
        Their answers.
    log_likelihood : float
        Of these answers, after calibration.
    n_iter : int
        Iterations of L-BFGS over all candidates.
    """

    ensemble: Ensemble
    rows: list[Candidate]
    p: Floats
    held_out: HeldOut
    log_likelihood: float
    n_iter: int

    @property
    def calibrated(self) -> Floats:
        """Calibrated log-probabilities of held-out pairs."""
        return self.ensemble.calibration(self.p)


@dataclass
class _Trial:
    """One view and kernel: its features, and all of its models."""

    view: ColumnView
    feature_map: FeatureMap
    features: Floats
    weights: Floats = None  # type: ignore[assignment]
    n_iter: int = 0

    def follow(
        self, likelihood: PairLikelihood, n_classes: int, seed: int, bar: _Bar | None
    ) -> None:
        """Fit all models at all scales."""
        rng = np.random.RandomState(seed)
        self.weights, self.n_iter = follow(
            self.features, likelihood, SCALES, n_classes, rng
        )
        if bar is not None:
            bar.step(str(self.feature_map.kernel))

    def scores(self) -> Floats:
        """Return (n_points, n_scales, n_models, n_outputs)."""
        shape = self.weights.shape
        flat = score(self.features, self.weights.reshape(-1, *shape[2:]))
        return flat.reshape(len(flat), *shape[:2], shape[2])


class Chooser:
    """Tries all candidates on the same folds of the same pairs.

    Parameters
    ----------
    problem : Problem
        What to learn from.
    folds : Folds
        As from `deal_folds`.
    n_components : int
        The most features of a kernel.
    n_jobs : int or None
        Candidates at a time.
    progress : bool
        Whether to show a bar on standard error.
    rng : RandomState
        Source of landmarks and starts.
    """

    def __init__(
        self, problem: Problem, folds: Folds, settings: PairClassifier, rng: RandomState
    ) -> None:
        self.problem = problem
        self.n_jobs = settings.n_jobs
        self.progress = settings.progress
        self.seed = rng.randint(2**31 - 1)
        self.folds = folds
        self.trials = self._make_trials(settings.n_components, rng)

    def _make_trials(self, n_components: int, rng: RandomState) -> list[_Trial]:
        trials = []
        for kind in VIEWS:
            view = ColumnView(kind).fit(self.problem.X, rng)
            X = view.transform(self.problem.X)
            for kernel in KERNELS[kind]:
                if kernel.name == "laplacian" and not view.bends:
                    continue  # between zeros and ones it is the RBF kernel
                if X.shape[1]:
                    trials.append((view, X, kernel, rng.randint(2**31 - 1)))
        made = self._in_threads(
            delayed(_make_trial)(*trial, n_components) for trial in trials
        )
        return [trial for trial in made if trial.feature_map.n_features]

    def _in_threads(self, tasks: Any) -> Any:
        """Run tasks in threads of our own, with BLAS kept to one thread meanwhile.

        Its threads would fight with ours, and products as small as these lose more by
        being shared out than they gain.
        """
        with single_blas():
            return Parallel(n_jobs=self.n_jobs, require="sharedmem")(tasks)

    def choose(self, rates: Rates) -> Choice:
        """Fit all candidates, and weigh them by the pairs they have not seen."""
        self._fit(rates)
        tested = self.folds.tested
        # A pair that is judged several times counts once in all.
        same, different = (
            answers[tested] / self.folds.n_deals
            for answers in (self.problem.same, self.problem.different)
        )
        held_out = HeldOut(same, different, rates)
        scores, everywhere = self._align(held_out)
        slope = slopes(scores, held_out)
        p = probabilities(slope[:, None, None, None] * scores)
        constant = self._constant(p, everywhere, held_out)
        p = np.concatenate([p, np.broadcast_to(constant, (1, *p.shape[1:]))])
        scales = np.append(np.tile(SCALES, len(self.trials)), TYPICAL_SCALE)
        share = average(p, prior_weights(scales), held_out)
        share = np.where(share < _SMALL_SHARE, 0.0, share)
        share /= share.sum()
        mean = np.tensordot(share, p, axes=1)
        calibration = calibrate_average(mean, held_out)
        members = self._members(share[:-1], slope)
        ensemble = Ensemble(members, float(share[-1]), constant, calibration)
        fit = held_out.log_likelihood(probabilities(calibration(mean)))
        n_iter = sum(trial.n_iter for trial in self.trials)
        rows = self._rows(p, share, held_out)
        return Choice(ensemble, rows, mean, held_out, float(fit), n_iter)

    def _fit(self, rates: Rates) -> None:
        """Follow the path of every trial, several at a time."""
        everything = np.ones(len(self.problem.index), dtype=bool)
        trained_on = np.column_stack([self.folds.trained_on, everything])
        likelihood = self.problem.likelihood(rates, trained_on)
        bar = _Bar(len(self.trials)) if self.progress else None
        self._in_threads(
            delayed(trial.follow)(likelihood, self.problem.n_classes, self.seed, bar)
            for trial in self.trials
        )

    def _align(self, held_out: HeldOut) -> tuple[Floats, Floats]:
        """Give all models' classes the same names.

        Returns the scores of held-out pairs (n_candidates, n_tested, 2, n_outputs),
        each by the model that has not seen the pair, and those of all points by the
        models that saw all pairs (n_candidates, n_points, n_outputs). A candidate is a
        trial at a scale.
        """
        if not self.trials:
            n_outputs = 1 if self.problem.n_classes == 2 else self.problem.n_classes
            shape = (0, len(self.folds.tested), 2, n_outputs)
            return np.zeros(shape), np.zeros((0, self.problem.X.shape[0], n_outputs))
        for trial in self.trials:
            by_scale = trial.scores()
            for s in range(len(SCALES)):
                whole = by_scale[:, s, -1]
                for k in range(by_scale.shape[2] - 1):
                    trial.weights[s, k] = _renamed(
                        trial.weights[s, k], by_scale[:, s, k], whole
                    )
        tested = np.concatenate([self._held_out_scores(t) for t in self.trials])
        best = slopes(tested, held_out)[:, None, None, None] * tested
        k = int(held_out.log_likelihood(probabilities(best)).argmax())
        leader = self.trials[k // len(SCALES)].scores()[:, k % len(SCALES), -1]
        for trial in self.trials:
            by_scale = trial.scores()
            for s in range(len(SCALES)):
                trial.weights[s] = _renamed(
                    trial.weights[s], by_scale[:, s, -1], leader
                )
        tested = np.concatenate([self._held_out_scores(t) for t in self.trials])
        everywhere = np.concatenate(
            [t.scores()[:, :, -1].swapaxes(0, 1) for t in self.trials]
        )
        return tested, everywhere

    def _held_out_scores(self, trial: _Trial) -> Floats:
        scores = trial.scores()
        points = self.problem.index[self.folds.tested]
        held_out: Floats = scores[points, :, self.folds.model[:, None]]
        return np.moveaxis(held_out, 2, 0)

    def _constant(self, p: Floats, everywhere: Floats, held_out: HeldOut) -> Floats:
        """Return the class probabilities of the constant model."""
        n_classes = self.problem.n_classes
        if len(everywhere):
            fit = held_out.log_likelihood(p).argmax()
            mean = probabilities(everywhere[fit]).mean(axis=0)
        else:
            mean = np.full(n_classes, 1 / n_classes)
        if n_classes > 2:
            return np.asarray(mean)
        # Two classes: the answers alone give the prior, up to a swap.
        r1, r0 = held_out.rates
        total = self.problem.same.sum() + self.problem.different.sum()
        share = (self.problem.same.sum() / total - r0) / (r1 - r0)
        prior = float(prior_from_same_rate(np.clip(share, 0.5, 1.0)))
        sizes = np.array([1 - prior, prior])
        return sizes if mean[1] >= mean[0] else sizes[::-1]

    def _members(self, share: Floats, slope: Floats) -> list[Member]:
        """Return the trials that have a share, with their models of all pairs."""
        members = []
        for k, trial in enumerate(self.trials):
            part = slice(k * len(SCALES), (k + 1) * len(SCALES))
            used = np.flatnonzero(share[part])
            if len(used):
                scales = np.array(SCALES)[used], slope[part][used], share[part][used]
                weights = trial.weights[used, -1]
                members.append(Member(trial.view, trial.feature_map, weights, *scales))
        return members

    def _rows(self, p: Floats, share: Floats, held_out: HeldOut) -> list[Candidate]:
        fit = held_out.log_likelihood(p) / held_out.total
        group = p.argmax(axis=3)
        says = np.where(group[..., 0] == group[..., 1], 1.0, -1.0)
        agree = (says > 0) @ held_out.same + (says < 0) @ held_out.different
        names: list[tuple[str, str, float | None]] = [
            (trial.view.kind, str(trial.feature_map.kernel), scale)
            for trial in self.trials
            for scale in SCALES
        ]
        names.append(("", "constant", None))
        return [
            Candidate(*name, float(f), float(1 - a / held_out.total), float(v))
            for name, f, a, v in zip(names, fit, agree, share, strict=True)
        ]


def refit(ensemble: Ensemble, problem: Problem, rates: Rates) -> Ensemble:
    """Train the members of an ensemble on more pairs, from where they are."""
    everything = np.ones((len(problem.index), 1), dtype=bool)
    likelihood = problem.likelihood(rates, everything)
    members = []
    for member in ensemble.members:
        features = member.features(problem.X)
        weights = refine(features, likelihood, member.weights, member.scales)
        members.append(replace(member, weights=weights))
    return replace(ensemble, members=members)


def equal_rows(X: PointsLike) -> Ints:
    """Return a number for each row; equal rows have the same."""
    if sparse.issparse(X):
        keys = [
            X.indices[a:b].tobytes() + X.data[a:b].tobytes()
            for a, b in pairwise(X.indptr)
        ]
    else:
        keys = [row.tobytes() for row in np.ascontiguousarray(X)]
    known: dict[bytes, int] = {}
    return np.array([known.setdefault(key, len(known)) for key in keys])


def deal_folds(pairs: Pairs, n_folds: int, n_deals: int, rng: RandomState) -> Folds:
    """Deal the points out to folds, several times; only the row numbers count.

    A model is trained on the pairs without a point in its fold, and judged by those
    with both; pairs that cross are left out of both. Where pairs share so many points
    that hardly any lies within a fold, pairs are dealt out instead, and a point is seen
    in training and in testing.
    """
    n_folds = max(2, min(n_folds, len(pairs) // 2))
    trained_on, tested, model = [], [], []
    honest = True
    for deal in range(n_deals):
        fold = point_folds(pairs, n_folds, rng)[pairs.index]
        within = fold[:, 0] == fold[:, 1]
        counts = np.bincount(fold[within, 0], minlength=n_folds)
        if counts.min() == 0 or within.sum() < max(n_folds, len(pairs) / 20):
            honest = False
            dealt = rng.permutation(len(pairs)) % n_folds
            fold, within = np.stack([dealt, dealt], axis=1), np.ones(len(pairs), bool)
        here = fold[:, :, None] == np.arange(n_folds)
        trained_on.append(~here.any(axis=1))
        tested.append(np.flatnonzero(within))
        model.append(fold[within, 0] + deal * n_folds)
    return Folds(
        np.concatenate(trained_on, axis=1),
        np.concatenate(tested),
        np.concatenate(model),
        n_deals,
        len(tested[0]),
        honest,
    )


def _make_trial(
    view: ColumnView, X: PointsLike, kernel: Kernel, seed: int, n_components: int
) -> _Trial:
    rng = np.random.RandomState(seed)
    feature_map = FeatureMap(kernel, n_components)
    features = feature_map.fit_transform(X, rng)
    return _Trial(view, feature_map, features)


def _renamed(weights: Floats, scores: Floats, like: Floats) -> Floats:
    """Return weights (..., n_outputs, size) with the classes named as in `like`.

    `scores` are the scores of these weights, `like` those of the model to follow, both
    (n_points, n_outputs).
    """
    table = probabilities(like).T @ probabilities(scores)
    order = match_classes(table)
    if weights.shape[-2] > 1:
        return np.take(weights, order, axis=-2)
    return weights if order[0] == 0 else -weights


class _Bar:
    """A bar on standard error."""

    def __init__(self, total: int) -> None:
        self.done, self.total = 0, total

    def step(self, name: str) -> None:
        """Count one more, and say which."""
        self.done += 1
        full = "#" * round(20 * self.done / self.total)
        end = "\n" if self.done == self.total else ""
        text = f"\rPairClassifier [{full:<20}] {self.done}/{self.total} {name:<14}"
        sys.stderr.write(text + end)
        sys.stderr.flush()
