"""Which points of pairs a classifier may have seen: in training, or in another pair."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from pairlearn.data.containers import on_host
from pairlearn.data.graph import disjoint_pairs, shuffled
from pairlearn.data.row_hashes import known_groups, known_rows, row_hashes
from pairlearn.trust.kept_pairs import LEAST_KEPT

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from pairlearn.data.pairs import Pairs
    from pairlearn.data.types import Bools, Ints

__all__ = [
    "doubt_in_words",
    "equal_rows_once",
    "groups_in_training",
    "memory_of",
    "points_in_training",
    "taken_in_turn",
    "with_and_without",
]

# Warn if so many pairs may have been seen in training.
_MANY_DOUBTFUL = 0.5
_Found = TypeVar("_Found")


def groups_in_training(clf: Any, groups: ArrayLike, pairs: Pairs) -> tuple[Bools, bool]:
    """Tell which pairs have a group of the training, and whether that is not known."""
    memory = memory_of(clf)
    nothing: Bools = np.zeros(len(pairs), dtype=bool)
    if not memory:
        return nothing, True
    if "groups" not in memory:
        warnings.warn(
            "the classifier does not remember of whom its training points are rows; "
            "fit it with groups=, or make sure that these groups are others",
            stacklevel=3,
        )
        return nothing, True
    names = np.asarray(on_host(groups))
    names = names if names.shape == pairs.index.shape else names[pairs.index]
    return np.asarray(known_groups(memory, names).any(axis=1)), False


def memory_of(clf: Any) -> Any:
    """Return what a classifier remembers of its training points; {} if nothing."""
    return getattr(_last(clf), "_training_points", None) or {}


def _last(clf: Any) -> Any:
    """Return the last step of a pipeline, or the best one of a search."""
    clf = getattr(clf, "best_estimator_", clf)
    return clf[-1] if hasattr(clf, "steps") else clf


def points_in_training(
    clf: Any, pairs: Pairs, *, distinct: bool
) -> tuple[Bools, bool | None]:
    """Tell which points equal one that a classifier was trained on.

    Where rows repeat by nature, points are known to be different, and nearly all pairs
    have such a row, that says nothing.

    Returns
    -------
    known : ndarray of bool of shape (n_points,)
        Those that do.
    unseen : bool or None
        Whether it is certain that none does; None if the classifier does not remember.
    """
    clf = getattr(clf, "best_estimator_", clf)
    X = pairs.X
    if hasattr(clf, "steps"):
        X, clf = clf[:-1].transform(X) if len(clf) > 1 else X, clf[-1]
    memory = getattr(clf, "_training_points", None)
    nothing: Bools = np.zeros(pairs.n_points, dtype=bool)
    if memory is None:
        return nothing, None
    known = known_rows(memory, X)
    n_new = int(np.sum(~known[pairs.index].any(axis=1)))
    if distinct and memory["repeat"] and n_new < LEAST_KEPT:
        warnings.warn(
            "rows repeat in these data, so that whether the classifier was trained on "
            "these points is not known. By their row numbers they are others; if they "
            "are the same, the error is higher than this says",
            stacklevel=3,
        )
        return nothing, None
    if known.any() and not memory["complete"]:
        warnings.warn(
            "the classifier remembers only some of the points it was trained on, and "
            "knows some of these again: there may be more. Use fresh pairs",
            stacklevel=3,
        )
    return known, not known.any() if memory["complete"] else None


def equal_rows_once(pairs: Pairs, *, in_order: bool) -> Bools:
    """Tell of pairs that share no row whether each is among them."""
    try:
        _, row = np.unique(row_hashes(pairs.X), return_inverse=True)
    except (TypeError, ValueError):
        # Not numbers: rows are equal if their texts are.
        number: dict[tuple[str, ...], int] = {}
        rows = np.asarray(on_host(pairs.X), dtype=object).tolist()
        texts = (tuple(map(str, cells)) for cells in rows)
        row = np.array([number.setdefault(text, len(number)) for text in texts])
    index = row[pairs.index]
    once = np.zeros(len(pairs), dtype=bool)
    once[disjoint_pairs(len(row), index, taken_in_turn(len(pairs), in_order))] = True
    return once


def taken_in_turn(n_pairs: int, in_order: bool) -> Ints:
    """Return the order in which pairs are taken: as they come, or at random.

    Some tables are sorted by their answers: the first pairs would be of one kind.
    """
    if in_order:
        return np.arange(n_pairs)
    return shuffled(n_pairs, np.random.RandomState(0))


def with_and_without(
    doubtful: Bools | None,
    n_pairs: int,
    counted: Callable[[Bools], _Found],
    covering: Callable[[_Found, _Found], _Found],
) -> _Found:
    """Return a certificate that covers that with doubtful pairs and that without.

    Parameters
    ----------
    doubtful : ndarray of bool of shape (n_pairs,) or None
        Pairs with a point that may have been seen; None: there are none.
    n_pairs : int
        Number of pairs.
    counted : callable
        From a mask of the pairs to their certificate.
    covering : callable
        From two certificates to one that covers both.

    Returns
    -------
    Certificate or KindsCertificate
    """
    found = counted(np.ones(n_pairs, dtype=bool))
    if doubtful is None or not doubtful.any():
        return found
    if doubtful.all():
        raise ValueError(
            f"each of the {n_pairs} pairs has a point that equals one of those the "
            "classifier was trained on, with an answer or without (unlabeled=); a "
            "certificate needs fresh random pairs"
        )
    if doubtful.mean() >= _MANY_DOUBTFUL:
        warnings.warn(f"{doubt_in_words(doubtful)}. Use fresh pairs", stacklevel=4)
    return covering(found, counted(~doubtful))


def doubt_in_words(doubtful: Bools) -> str:
    """Return what it means that some pairs are doubtful."""
    return (
        f"{int(doubtful.sum())} of {len(doubtful)} pairs have a point that equals, in "
        "all features, one that the classifier was trained on or one of another pair. "
        "Whether it is the same point is not known; the interval covers both cases, "
        "with and without these pairs"
    )
