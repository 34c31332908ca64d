"""Trying the candidates on folds of the pairs, and making one ensemble of them."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import effective_n_jobs
from scipy.special import softmax
from sklearn.utils.parallel import Parallel, delayed

from pairlearn.data.containers import stack_rows
from pairlearn.models.auto.axes import AxesView
from pairlearn.models.auto.blocks import BlockView, block_trials, in_columns
from pairlearn.models.auto.choice import Choice
from pairlearn.models.auto.columns import VIEWS, ColumnView
from pairlearn.models.auto.ensemble import Ensemble, Member
from pairlearn.models.auto.joint import JointLikelihood
from pairlearn.models.auto.kernels import Kernel
from pairlearn.models.auto.likelihood import CERTAIN, PairLikelihood
from pairlearn.models.auto.path import refine
from pairlearn.models.auto.several import fit_several
from pairlearn.models.auto.smooth import (
    SMOOTH_KERNELS,
    neighbour_laplacian,
    smooth_features,
)
from pairlearn.models.auto.stack import (
    TYPICAL_SCALE,
    HeldOut,
    average,
    calibrate_average,
    clearly_better,
    prior_weights,
    slopes,
)
from pairlearn.models.auto.table import Candidate
from pairlearn.models.auto.trial import Bar, Trial, make_trial
from pairlearn.models.auto.wrong_answers import WrongAnswers, find_wrong_answers
from pairlearn.system.threads import map_threads, own_threads, single_blas
from pairlearn.trust.assignment import match_classes
from pairlearn.trust.probabilities import probabilities
from pairlearn.trust.theory import prior_from_same_rate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.random import RandomState

    from pairlearn.data.types import Floats, Ints, PointsLike
    from pairlearn.models.auto.blocks import Block
    from pairlearn.models.auto.classifier import PairClassifier
    from pairlearn.models.auto.folds import Folds
    from pairlearn.models.auto.likelihood import Rates
    from pairlearn.models.auto.problem import Problem

    Deal = Callable[[RandomState, Problem], Folds]

__all__ = ["Chooser", "refit"]

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
# Of the leading axes, where points that nobody was asked about show these.
AXES_KERNELS = (Kernel("rbf", 1.0), Kernel("rbf", 4.0))
# Standard deviations of the prior on the weights.
SCALES = (1.0, 2.0, 4.0, 8.0, 16.0)
# A candidate with a smaller share than this is left out of the ensemble.
_SMALL_SHARE = 1e-3


class Chooser:
    """Tries all candidates on the same folds of the same pairs.

    Parameters
    ----------
    problem : Problem
        What to learn from.
    deal : callable
        From a random generator and the problem to folds, as by `deal_folds`.
    n_components : int
        The most features of a kernel.
    n_jobs : int or None
        Candidates at a time.
    progress : bool
        Whether to show a bar on standard error.
    rng : RandomState
        Source of landmarks and starts.
    others : points or None
        Further points that columns are scaled and bent by, and whose features have
        principal axes; the points of the pairs are landmarks before they are.
    blocks : tuple of Block
        Columns that belong together, such as the words of a text.
    """

    def __init__(
        self,
        problem: Problem,
        deal: Deal,
        settings: PairClassifier,
        rng: RandomState,
        others: PointsLike | None = None,
        blocks: tuple[Block, ...] = (),
    ) -> None:
        self.problem = problem
        self.blocks = blocks
        self.deal = deal
        self.folds = deal(rng, problem)
        self.n_jobs = settings.n_jobs
        self.progress = settings.progress
        self.seed = rng.randint(2**31 - 1)
        # For more than two classes, where all models begin.
        self.groups: Floats | None = None
        # Further ones have to prove themselves.
        self.trials, self.further = self._make_trials(
            settings.n_components, rng, others
        )

    def _make_trials(
        self, n_components: int, rng: RandomState, others: PointsLike | None
    ) -> tuple[list[Trial], list[Trial]]:
        trials = []
        everything, n_asked = self.problem.X, self.problem.X.shape[0]
        if others is not None:
            everything = stack_rows(everything, others)
        blocks, plain = self.blocks, None
        makers: list[Any] = []
        if blocks:
            makers, plain = block_trials(everything, n_asked, blocks, n_components, rng)
        for kind in VIEWS:
            if plain is not None and not len(plain):
                break  # all columns are in blocks
            view: Any = ColumnView(kind)
            if plain is not None:
                view = BlockView(kind, (), plain, view)
            view.fit(everything, rng)
            X = view.transform(everything)
            for kernel in KERNELS[kind]:
                if kernel.name == "laplacian" and not view.bends:
                    continue  # between zeros and ones it is the RBF kernel
                if X.shape[1]:
                    trials.append((view, X, kernel, rng.randint(2**31 - 1)))
        if others is not None and not blocks:
            # Of columns that are bent, the last view.
            axes = AxesView(view).fit(X, rng)
            if axes.n_axes:
                along = axes.transform(everything)
                trials += [
                    (axes, along, kernel, rng.randint(2**31 - 1))
                    for kernel in AXES_KERNELS
                ]
        made = self.in_threads(
            partial(make_trial, *trial, n_components, n_asked) for trial in trials
        )
        further: list[Trial] = []
        for whole, *few in self.in_threads(makers):
            made.append(whole)
            further += few
        return [trial for trial in made if trial.feature_map.n_features], further

    def add_smooth_trials(
        self, unlabeled: PointsLike, n_components: int, rng: RandomState
    ) -> None:
        """Try features, too, that are smooth over neighbours among all points.

        They are used if the average with them explains held-out answers clearly better
        than the average without; if not, everything is as if they had not been tried.
        """
        X = stack_rows(self.problem.X, unlabeled)
        view = ColumnView("power").fit(X, rng)
        X = view.transform(X)
        if not X.shape[1]:
            return
        laplacian, n_asked = neighbour_laplacian(X), self.problem.X.shape[0]
        made = self.in_threads(
            partial(
                smooth_features,
                *(X, n_asked, laplacian, kernel, n_components, rng.randint(2**31 - 1)),
            )
            for kernel in SMOOTH_KERNELS
        )
        self.further += [Trial(view, *found) for found in made if found[0].n_features]

    def in_threads(self, tasks: Iterable[Callable[[], Any]]) -> list[Any]:
        """Run tasks in threads of our own, with BLAS kept to one thread meanwhile.

        Its threads would fight with ours, and products as small as these lose more by
        being shared out than they gain.
        """
        if self.n_jobs is None and effective_n_jobs(None) == 1:
            return on_all_threads(tasks)
        with single_blas():
            found: list[Any] = Parallel(n_jobs=self.n_jobs, require="sharedmem")(
                delayed(task)() for task in tasks
            )
        return found

    def choose(self, rates: Rates) -> Choice:
        """Fit all candidates, and weigh them by the pairs they have not seen."""
        held_out = self.held_out(rates)
        self._fit(rates)
        choice = self._weigh(held_out)
        if not self.further:
            return choice
        trials = self.trials
        self.trials = trials + self.further
        more = self._weigh(held_out)
        self.trials = trials
        judged = np.concatenate(
            [self.folds.tested, len(self.problem.index) + self.folds.points]
        )
        if clearly_better(more.calibrated, choice.calibrated, choice.held_out, judged):
            return more
        n_plain = len(trials) * len(SCALES)
        unused = [replace(row, weight=0.0) for row in more.rows[n_plain:-1]]
        return replace(choice, rows=choice.rows + unused)

    def _weigh(self, held_out: HeldOut) -> Choice:
        """Weigh the candidates by the pairs that they have not seen."""
        scores, everywhere = self._align(held_out)
        slope = slopes(scores, held_out)
        stretched = slope[:, None, None, None] * scores
        p = probabilities(held_out.bent(scores, stretched))
        constant = self._constant(p, everywhere, held_out)
        flat = np.tile(constant, (1, *p.shape[1:3], 1))
        if len(p):
            # It knows of hidden points what the best candidate knows.
            best = held_out.log_likelihood(p).argmax()
            flat = held_out.bent(p[best][None], flat)
        p = np.concatenate([p, flat])
        scales = np.append(np.tile(SCALES, len(self.trials)), TYPICAL_SCALE)
        share = average(p, prior_weights(scales), held_out)
        share = np.where(share < _SMALL_SHARE, 0.0, share)
        share /= share.sum()
        mean = np.tensordot(share, p, axes=1)
        calibration = calibrate_average(mean, held_out)
        members = self._members(share[:-1], slope)
        ensemble = Ensemble(members, float(share[-1]), constant, calibration)
        bent = held_out.bent(np.log(np.maximum(mean, 1e-12)), calibration(mean))
        fit = held_out.log_likelihood(probabilities(bent))
        n_iter = sum(trial.n_iter for trial in self.trials)
        rows = self._rows(p, share, held_out)
        return Choice(ensemble, rows, mean, held_out, float(fit), n_iter, self.folds)

    def held_out(self, rates: Rates) -> HeldOut:
        """Return the answers that are held out."""
        tested = self.folds.tested
        # A pair that is judged several times counts once in all.
        same, different = (
            answers[tested] / self.folds.n_deals
            for answers in (self.problem.same, self.problem.different)
        )
        held_out = HeldOut(same, different, self.problem.rates_of(rates, tested))
        return self._with_points(held_out) if len(self.folds.points) else held_out

    def likelihood(self, rates: Rates) -> PairLikelihood | JointLikelihood:
        """Return the risk of the models of all folds, and of one that sees all."""
        everything = np.ones(len(self.problem.index), dtype=bool)
        trained_on = np.column_stack([self.folds.trained_on, everything])
        nothing = np.zeros(self.problem.X.shape[0], dtype=bool)
        hidden = np.column_stack([self.folds.hidden, nothing])
        return self.problem.likelihood(rates, trained_on, hidden)

    def apart(self) -> Chooser:
        """Return a chooser to which every pair stands alone, with folds to match."""
        if not self.problem.shared.any():
            return self
        other = copy(self)
        other.problem = replace(self.problem, joint=False)
        other.folds = self.deal(np.random.RandomState(self.seed), other.problem)
        return other

    def for_classes(self, n_classes: int) -> Chooser:
        """Return a chooser of models with another number of classes.

        The features are the same, and not made again.
        """
        other = copy(self)
        other.problem = replace(self.problem, n_classes=n_classes)
        other.trials = [replace(trial, n_iter=0) for trial in self.trials]
        other.groups, other.further = None, []
        return other

    def find_wrong_answers(self, choice: Choice | None) -> WrongAnswers:
        """Return how often answers are wrong, by all answers together.

        Without a choice, by cycles of answers alone.
        """
        problem = self.problem
        logits = np.zeros((problem.X.shape[0], problem.n_classes))
        if choice is not None:
            # A point that no model has left out may be of either class.
            logits = np.nan_to_num(choice.out_of_fold(problem), nan=0.0)
        p = softmax(logits, axis=1)
        return find_wrong_answers(problem.index, problem.same, problem.different, p)

    def _fit(self, rates: Rates) -> None:
        """Follow the path of every trial, several at a time."""
        likelihood = self.likelihood(rates)
        self._used = likelihood
        trials = self.trials + self.further
        bar = Bar(len(trials)) if self.progress else None
        if isinstance(likelihood, PairLikelihood) and self.problem.n_classes > 2:
            self.trials = fit_several(self, likelihood, SCALES, bar)
            return
        self.in_threads(
            partial(trial.follow, likelihood, SCALES, bar) for trial in trials
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
            shape = (0, len(held_out.same), 2, n_outputs)
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
        best = held_out.bent(tested, best)
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

    def _held_out_scores(self, trial: Trial) -> Floats:
        scores = trial.scores()
        points = self.problem.index[self.folds.tested]
        held_out: Floats = scores[points, :, self.folds.model[:, None]]
        held_out = np.moveaxis(held_out, 2, 0)
        if len(self.folds.points):
            held_out = np.concatenate([held_out, self._judged(scores)], axis=1)
        return held_out

    def _judged(self, scores: Floats) -> Floats:
        """Return scores of hidden points, and what answers say about them as scores.

        `scores` has shape (n_points, n_scales, n_models, n_outputs), the outcome
        (n_scales, n_judged, 2, n_outputs).
        """
        points, model = self.folds.points, self.folds.point_model
        n_scales, n_models = scores.shape[1], self.folds.trained_on.shape[1]
        own = np.moveaxis(scores[points, :, model], 1, 0)
        flat = scores[:, :, :n_models].reshape(len(scores), -1, scores.shape[3])
        flat = flat[..., 0] if scores.shape[3] == 1 else flat
        which = np.tile(np.arange(n_models), n_scales)
        known = self._posterior(flat, which)
        known = known.reshape(*known.shape[:2], n_scales, n_models)
        logs = np.log(np.maximum(known[:, points, :, model], 1e-12))
        # Advanced indices go first: (n_judged, n_classes, n_scales).
        logs = logs.transpose(2, 0, 1)
        said = logs if scores.shape[3] > 1 else logs[..., 1:] - logs[..., :1]
        return np.stack([own, said], axis=2)

    def _with_points(self, held_out: HeldOut) -> HeldOut:
        """Add the hidden points, each with what answers say about it."""
        problem, points = self.problem, self.folds.points
        weight = (problem.same + problem.different)[problem.shared]
        ends = problem.index[problem.shared]
        total, times = (
            np.bincount(ends.ravel(), w, problem.X.shape[0])
            for w in (np.repeat(weight, 2), None)
        )
        # A point counts as much as the answers about it do on average.
        judged = total[points] / times[points] / self.folds.n_deals
        n_pairs = len(held_out.same)
        rates = held_out.rates
        if problem.wrong is not None:
            r1, r0 = (
                np.append(rate, np.full(len(points), sure))
                for rate, sure in zip(rates, CERTAIN, strict=True)
            )
            rates = r1, r0
        return HeldOut(
            np.concatenate([held_out.same, judged]),
            np.concatenate([held_out.different, np.zeros(len(points))]),
            rates,
            np.arange(n_pairs + len(points)) >= n_pairs,
        )

    def _constant(self, p: Floats, everywhere: Floats, held_out: HeldOut) -> Floats:
        """Return the class probabilities of the constant model."""
        n_classes = self.problem.n_classes
        if len(everywhere):
            fit = held_out.log_likelihood(p).argmax()
            mean = probabilities(everywhere[fit]).mean(axis=0)
            if len(self.folds.points):
                return self._sizes(everywhere[fit])
        else:
            mean = np.full(n_classes, 1 / n_classes)
        if n_classes > 2:
            return np.asarray(mean)
        # Two classes: the answers alone give the prior, up to a swap.
        if self.problem.wrong is not None:
            share = self.problem.share_same
        else:
            r1, r0 = held_out.rates
            total = self.problem.same.sum() + self.problem.different.sum()
            share = (self.problem.same.sum() / total - r0) / (r1 - r0)
        prior = float(prior_from_same_rate(np.clip(share, 0.5, 1.0)))
        sizes = np.array([1 - prior, prior])
        return sizes if mean[1] >= mean[0] else sizes[::-1]

    def _sizes(self, scores: Floats) -> Floats:
        """Return the shares of the classes among the points that were asked about.

        Counted by what scores and answers together say about each. A star has every
        answer about one point, so the share of "same" would not tell.
        """
        whole = np.array([self.folds.trained_on.shape[1]])
        found = self._posterior(
            scores if scores.shape[1] == 1 else scores[:, None], whole
        )
        asked = np.unique(self.problem.index)
        return np.asarray(found[:, asked, 0].mean(axis=1))

    def _posterior(self, scores: Floats, models: Ints) -> Floats:
        """Return what the answers say about all points, by the models' scores."""
        assert isinstance(self._used, JointLikelihood)  # noqa: S101 - for mypy
        return self._used.marginals(scores, models)

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
    nothing = np.zeros((problem.X.shape[0], 1), dtype=bool)
    likelihood = problem.likelihood(rates, everything, nothing)

    def train(member: Member) -> Member:
        features = in_columns(member).features(problem.X)
        weights = refine(features, likelihood, member.weights, member.scales)
        return replace(member, weights=weights)

    members = on_all_threads(partial(train, member) for member in ensemble.members)
    return replace(ensemble, members=members)


def on_all_threads(tasks: Iterable[Callable[[], Any]]) -> list[Any]:
    """Run tasks on as many threads as BLAS may use, with BLAS kept to one."""
    with own_threads():
        return map_threads(lambda task: task(), tasks)


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
