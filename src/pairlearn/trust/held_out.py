"""Scores of points by models that have not seen them."""

from __future__ import annotations

import inspect
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import softmax
from sklearn.base import clone

from pairlearn.data.containers import on_host, take_rows
from pairlearn.data.folds import point_folds
from pairlearn.trust.assignment import match_classes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.random import RandomState

    from pairlearn.data.pairs import Pairs
    from pairlearn.data.types import Floats, Ints

__all__ = ["Task", "out_of_fold"]

# Points on which the classes of the folds' models are matched.
_COMMON = 2000
# A model that has seen so many pairs of a point hardly owes its score to one of them.
_MANY_PAIRS = 10


class Task(NamedTuple):
    """Pairs with answers and weights, and whether the user gave the weights."""

    pairs: Pairs
    t: Floats
    weight: Floats
    weighted: bool


def out_of_fold(clf: Any, task: Task, cv: int, rng: RandomState) -> Floats:
    """Return scores of all points, each by a model that has seen no pair of it.

    NaN where there is no such model. The classes of the models are matched.
    """
    pairs = task.pairs
    fold = point_folds(pairs, cv, rng)
    common = np.sort(rng.permutation(pairs.used_points())[:_COMMON])
    own: list[Ints] = []
    scores: list[Floats] = []
    shared: list[Floats] = []
    for k, train in enumerate(_training_parts(task, fold, cv)):
        n_seen = np.bincount(pairs.index[train].ravel(), minlength=pairs.n_points)
        rows = np.flatnonzero((fold == k) & ((n_seen == 0) | (n_seen >= _MANY_PAIRS)))
        if not len(train) or not len(rows):
            continue
        model = _fit(clf, task, train, rng)
        found = model.decision_function(
            take_rows(pairs.X, np.concatenate([rows, common]))
        )
        found = np.asarray(on_host(found), dtype=float)
        own.append(rows)
        scores.append(found[: len(rows)])
        shared.append(found[len(rows) :])
    columns = scores[0].shape[1:] if scores else ()
    everywhere = np.full((pairs.n_points, *columns), np.nan)
    for rows, matched in zip(own, _matched(scores, shared), strict=True):
        everywhere[rows] = matched
    unknown = np.atleast_1d(np.isnan(everywhere).reshape(pairs.n_points, -1).any(1))
    n_unknown = int(unknown[pairs.index].any(axis=1).sum())
    if n_unknown:
        warnings.warn(
            f"{n_unknown} of {len(pairs)} answers are judged by other answers alone, "
            "without a classifier: too few pairs of other points are left to train it "
            "on. More pairs, or pairs that share fewer points, would help",
            stacklevel=3,
        )
    return everywhere


def _training_parts(task: Task, fold: Ints, cv: int) -> Iterator[Ints]:
    """Yield the pairs to train the model of each fold on; none if there are too few.

    Those without a point in the fold. Where these are less than half of what pairs at
    random would leave, as if one point were in every pair, those with one point in the
    fold are taken as well.
    """
    counts = task.weight > 0
    enough = (1 - 1 / cv) ** 2 / 2 * counts.sum()
    inside = fold[task.pairs.index]
    for k in range(cv):
        n_inside = (inside == k).sum(axis=1)
        for most in (0, 1):
            train = np.flatnonzero((n_inside <= most) & counts)
            both = (task.t[train] > 0).any() and (task.t[train] < 0).any()
            if both and (most or len(train) >= enough):
                yield train
                break
        else:
            yield np.empty(0, dtype=np.intp)


def _fit(clf: Any, task: Task, train: Ints, rng: RandomState) -> Any:
    """Return a clone of the classifier, fitted to some of the pairs."""
    model = clone(clf)
    settings: dict[str, Any] = {}
    for name, value in sorted(model.get_params(deep=True).items()):
        last = name.rpartition("__")[2]
        if last == "random_state" and value is None:
            settings[name] = int(rng.randint(2**31 - 1))
        elif last == "majority":
            # Which class is which does not matter here, and would cost pairs.
            settings[name] = None
    model.set_params(**settings)
    arguments = {}
    if task.weighted:
        prefix = f"{model.steps[-1][0]}__" if hasattr(model, "steps") else ""
        last_step = model.steps[-1][1] if hasattr(model, "steps") else model
        taken = inspect.signature(last_step.fit).parameters
        # A search hands on whatever it is given.
        if "sample_weight" not in taken and not any(
            parameter.kind is parameter.VAR_KEYWORD for parameter in taken.values()
        ):
            raise ValueError(
                f"{type(last_step).__name__} cannot be trained with weights: leave out "
                "sample_weight, or use another classifier"
            )
        arguments = {f"{prefix}sample_weight": task.weight[train]}
    return model.fit(task.pairs[train], task.t[train], **arguments)


def _matched(scores: list[Floats], shared: list[Floats]) -> list[Floats]:
    """Give the models' classes the same meaning, by their scores of the same points."""
    if not scores:
        return []
    if scores[0].ndim == 1:
        table = np.stack(shared)
        table = table / np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-300)
        # The signs for which the models agree most, over all couples of them.
        leading = np.linalg.eigh(table @ table.T)[1][:, -1]
        signs = np.where(leading * leading[np.argmax(np.abs(leading))] < 0, -1.0, 1.0)
        return [sign * own for sign, own in zip(signs, scores, strict=True)]
    first = softmax(shared[0], axis=1)
    return [
        own[:, match_classes(first.T @ softmax(other, axis=1))]
        for own, other in zip(scores, shared, strict=True)
    ]
