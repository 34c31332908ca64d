"""What every pair classifier shares: the interface to points and to pairs."""

from __future__ import annotations

import numbers
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from pairlearn.data import graph
from pairlearn.data.blockwise import by_blocks
from pairlearn.data.checks import (
    check_answers,
    check_both_kinds,
    check_finite_points,
    check_flip_rates,
    check_weights,
    is_finite,
)
from pairlearn.data.containers import (
    check_table,
    check_tensor,
    is_dask,
    is_tensor,
    on_host,
)
from pairlearn.data.pairs import Pairs, as_pairs
from pairlearn.data.row_hashes import remember
from pairlearn.engine.points import as_points
from pairlearn.models.predictor import PairPredictor, class_names
from pairlearn.trust.assignment import (
    Assignment,
    assign_from_pairs,
    assign_from_points,
    majority_sign,
)
from pairlearn.trust.noise import rates_of

if TYPE_CHECKING:
    from numpy.random import RandomState
    from numpy.typing import ArrayLike, NDArray

    from pairlearn.data.types import Floats, Ints, PairsLike, PointsLike
    from pairlearn.trust.noise import Rates

__all__ = [
    "Answered",
    "KeptPairs",
    "PairClassifierBase",
    "is_disjoint",
    "n_wanted",
    "split_for_assignment",
]


SEVERAL = (
    "majority settles the classes when there are two; for more, use assign_from_points "
    "with a few labelled points"
)


class Answered(NamedTuple):
    """Pairs with their answers and weights."""

    pairs: Pairs
    t: Floats
    weight: Floats

    def part(self, which: Any) -> Answered:
        """Return some of them, by a mask or by their numbers."""
        return Answered(self.pairs[which], self.t[which], self.weight[which])

    def compact(self) -> Answered:
        """Return them over just the points that occur in them."""
        return self._replace(pairs=self.pairs.compact())


@dataclass(frozen=True, eq=False)
class KeptPairs:
    """Pairs kept aside from others; copies are made only when they are needed.

    Parameters
    ----------
    given : Answered
        All pairs.
    numbers : ndarray
        Which of them are kept aside.
    """

    given: Answered
    numbers: Ints

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def t(self) -> Floats:
        """Their answers."""
        return self.given.t[self.numbers]

    def taken(self) -> Answered:
        """Return the pairs themselves."""
        return self.given.part(self.numbers)


def n_wanted(size: float, n_pairs: int) -> int:
    """Return how many pairs a share, or a number of them, asks for; 0 for others."""
    if isinstance(size, numbers.Integral):
        return int(size)
    in_range = isinstance(size, numbers.Real) and 0 < size < 1
    return max(1, round(size * n_pairs)) if in_range else 0


def split_for_assignment(
    pairs: Pairs,
    t: Floats,
    weight: Floats,
    *,
    majority: Any,
    assignment_size: float,
    rng: RandomState,
) -> tuple[NDArray[np.bool_], Ints]:
    """Return which pairs are for training, and the numbers of those for assignment.

    Without a majority class there is no assignment, and all pairs are for training.
    Pairs that share no point are taken for assignment first, since their votes are
    independent. Pairs of weight zero stay with training, and so does one pair of each
    kind.
    """
    n_pairs = len(pairs)
    if majority is None:
        return np.ones(n_pairs, dtype=bool), np.arange(0)
    n_kept = n_wanted(assignment_size, n_pairs)
    order = graph.shuffled(n_pairs, rng)
    alone = is_disjoint(pairs, rng)
    order = np.concatenate([order[alone[order]], order[~alone[order]]])
    free = weight > 0
    for kind in (t > 0, t < 0):
        of_kind = (kind & free)[order]
        if of_kind.any():
            free[order[n_pairs - 1 - of_kind[::-1].argmax()]] = False
    kept = order[free[order]][: max(n_kept, 0)].astype(np.intp)
    if not 0 < n_kept < n_pairs - 1 or not len(kept):
        raise ValueError(
            f"assignment_size={assignment_size} of {n_pairs} pairs leaves nothing for "
            "class assignment or too little for training; give a share between 0 and "
            "1, or a number of pairs, that leaves at least two pairs to train on"
        )
    train = np.ones(n_pairs, dtype=bool)
    train[kept] = False
    return train, np.sort(kept)


def is_disjoint(pairs: Pairs, random_state: int | RandomState) -> NDArray[np.bool_]:
    """Tell of each pair whether it is one of those chosen to share no point."""
    chosen = np.zeros(len(pairs), dtype=bool)
    chosen[pairs.disjoint(random_state)] = True
    return chosen


def _chosen(pairs: Pairs, mask: NDArray[np.bool_]) -> Pairs:
    """Return the pairs of a mask; of points in memory, with small row numbers.

    Sums and products of such numbers may overflow, so they are not for users.
    """
    in_memory = isinstance(pairs.X, np.ndarray) or sparse.issparse(pairs.X)
    dtype = graph.small_type(pairs.n_points) if in_memory else None
    some = copy(pairs)
    some.index = graph.chosen(pairs.index, mask, dtype)
    return some


class PairClassifierBase(PairPredictor):
    """Base of estimators that learn from pairs and predict points.

    A subclass provides ``fit(pairs, t)``, ``_scores(X)`` for validated points, and
    ``_flip()``, which turns the sign of its scores. It has the constructor parameter
    ``classes`` and sets ``classes_``.
    """

    # Whether validated points stay a tensor. If not, they come as a NumPy copy.
    _keeps_tensors = False
    # Whether `fit` reads a dask array block by block. If not, it comes as a copy.
    _keeps_blocks = False

    # Two, unless a subclass has the parameter.
    n_classes = 2

    majority: Any
    assignment_size: float
    classes: tuple[Any, Any]
    random_state: int | RandomState | None
    assignment_: Assignment | None

    def assign_from_pairs(
        self,
        pairs: PairsLike,
        t: ArrayLike,
        *,
        majority: Any,
        sample_weight: ArrayLike | None = None,
        flip_rates: Any = "auto",
    ) -> Self:
        """Decide which side is which class, from pairs that were not used for training.

        This is for two classes; for more, use :meth:`assign_from_points`.

        Parameters
        ----------
        pairs : Pairs or array-like of shape (n_pairs, 2, n_features)
            Pairs that were not used in `fit`.
        t : array-like of shape (n_pairs,)
            Answers.
        majority : {+1, -1} or class name
            Which class holds more than half of the points: one of `classes_`, or +1
            for the second of them and -1 for the first.
        sample_weight : array-like of shape (n_pairs,), optional
            Weights of the pairs.
        flip_rates : "auto", tuple, float or None, default="auto"
            How often these answers are wrong: (r1, r0), a single rate, or None for
            never. "auto": as often as those of the training (`flip_rates_`).

        Returns
        -------
        self
            With the classes swapped if needed, and the outcome in `assignment_`.
        """
        if self._n_kinds > 2:
            raise ValueError(SEVERAL)
        pairs = as_pairs(pairs).compact()
        answers = check_answers(t, len(pairs), pairs.index)
        scores = self._pair_scores(pairs)
        given = Answered(pairs, answers, check_weights(sample_weight, len(pairs)))
        rates = check_flip_rates(flip_rates, words=("auto",))
        rates = rates_of(self) if isinstance(rates, str) else rates
        return self._assign_by(given, scores, majority, rates)

    def assign_from_points(self, X: PointsLike, y: ArrayLike) -> Self:
        """Decide which side is which class, from a few labelled points.

        Parameters
        ----------
        X : array-like, sparse or data frame of shape (n_points, n_features)
            Points.
        y : array-like of shape (n_points,)
            Their classes, from `classes_`.

        Returns
        -------
        self
            With the classes swapped if needed, and the outcome in `assignment_`.
        """
        scores = self._host_scores(X)
        labels = self._check_labels(y, len(scores))
        sign = np.where(labels == self.classes_[1], 1, -1)
        return self._assign(assign_from_points(scores, sign))

    def _assign_by(
        self,
        given: Answered,
        scores: tuple[Floats, Floats],
        majority: Any,
        rates: Rates | None,
    ) -> Self:
        """Settle the sign from pairs and the scores of both points of each."""
        outcome = assign_from_pairs(
            *scores,
            given.t,
            majority=majority_sign(majority, self.classes_),
            sample_weight=given.weight,
            independent=is_disjoint(given.pairs, 0),
            flip_rates=rates,
        )
        return self._assign(outcome)

    def _assign(self, outcome: Assignment) -> Self:
        if outcome.sign < 0:
            self._flip()
        self.assignment_ = outcome
        return self

    def _scores(self, X: PointsLike) -> Any:
        """Return the scores of validated points: an array, or a tensor like X."""
        raise NotImplementedError

    @by_blocks
    def _own_scores(self, X: PointsLike) -> Any:
        check_is_fitted(self)
        return self._scores(self._validate_points(X, reset=False))

    def _flip(self) -> None:
        raise NotImplementedError

    def _validate_fit(
        self,
        pairs: PairsLike,
        t: ArrayLike,
        sample_weight: ArrayLike | None,
        *,
        reset: bool = True,
        both_kinds: bool = True,
    ) -> Answered:
        """Return pairs over validated points, answers and weights; set `classes_`."""
        distinct = isinstance(pairs, Pairs)
        pairs = as_pairs(pairs)
        answers = check_answers(t, len(pairs), pairs.index)
        weight = check_weights(sample_weight, len(pairs))
        if not len(pairs):
            raise ValueError("at least two pairs are needed to learn from; got 0")
        # Everything that can be refused is refused before the model changes.
        if both_kinds:
            check_both_kinds(answers[weight > 0])
        classes = self._class_names()
        used = self._compact_for_training(pairs)
        rows = None if used is pairs else pairs.used_points()
        X = self._validate_points(used.X, reset=reset, rows=rows)
        self.classes_ = classes
        before = 0 if reset else getattr(self, "_n_pairs", 0)
        self._n_pairs = before + len(pairs)
        known = None if reset else getattr(self, "_training_points", None)
        points = used.used_points()
        self._training_points = remember(X, points, known, distinct=distinct)
        return Answered(used.with_points(X), answers, weight)

    def _prepare_fit(
        self,
        pairs: PairsLike,
        t: ArrayLike,
        sample_weight: ArrayLike | None,
        *,
        both_kinds: bool = True,
        assign: bool = True,
    ) -> tuple[Answered, KeptPairs | None, RandomState]:
        """Validate; return what to train on, what to assign with, and the generator.

        What to assign with is None without class assignment.
        """
        given = self._validate_fit(pairs, t, sample_weight, both_kinds=both_kinds)
        if sample_weight is not None and not given.weight.all():
            # A pair of weight zero is a pair left out.
            given = given.part(given.weight > 0)
            given = given._replace(pairs=self._compact_for_training(given.pairs))
        rng = check_random_state(self.random_state)
        train, kept = split_for_assignment(
            *given,
            majority=self.majority if assign else None,
            assignment_size=self.assignment_size,
            rng=rng,
        )
        if not len(kept):
            # All pairs are for training: no need to copy them.
            return given, None, rng
        # Without weights they are ones that take no memory.
        n_train = len(given.t) - len(kept)
        plain = sample_weight is None
        weight = given.weight[:n_train] if plain else given.weight[train]
        learn = self._compact_for_training(_chosen(given.pairs, train))
        return Answered(learn, given.t[train], weight), KeptPairs(given, kept), rng

    def _compact_for_training(self, pairs: Pairs) -> Pairs:
        """Return pairs to train on, without copying most of the points.

        Few points that are in no pair do no harm, unless they are not finite.
        """
        X = pairs.X
        in_place = isinstance(X, np.ndarray) and X.dtype in (np.float32, np.float64)
        if self._ignores_unused_points() and in_place:
            n_used = len(pairs.used_points())
            enough = 4 * n_used >= pairs.n_points
            if n_used == pairs.n_points or (enough and is_finite(X, products=True)):
                return pairs
        return pairs.compact()

    def _ignores_unused_points(self) -> bool:
        """Tell whether points that are in no pair make no difference to training."""
        return False

    def _assign_from(self, kept: KeptPairs | None) -> Self:
        """Settle the classes on pairs that training did not see, if asked to."""
        self.assignment_ = None
        if kept:
            given = kept.taken()
            pairs = given.pairs
            # These points were validated when they came in, all but blocks.
            points: Any = as_points(pairs.X)
            scores = on_host(self._scores(points.X))
            if is_dask(points.X):
                points.checked([scores])
            both = scores[pairs.left], scores[pairs.right]
            self._assign_by(given, both, self.majority, rates_of(self))
        return self

    def _class_names(self) -> NDArray[Any]:
        return class_names(self.classes, 2)

    @property
    def _n_kinds(self) -> int:
        """How many classes there are: of the model, or as the parameters say."""
        named = hasattr(self, "classes_")
        return len(self.classes_ if named else self._class_names())

    def _check_majority(self) -> None:
        """Refuse a majority that is none of the classes."""
        if self.majority is not None:
            names = self._class_names()
            if len(names) > 2:
                raise ValueError(SEVERAL)
            majority_sign(self.majority, names)

    def _validate_points(
        self, X: PointsLike, *, reset: bool, rows: Ints | None = None
    ) -> PointsLike:
        """Return points as a numeric array or CSR matrix, without NaN or infinity.

        A tensor stays one, of float32 or float64, if the class keeps tensors. A dask
        array stays one if the class keeps blocks; whether it is finite shows later.
        `rows` are the numbers by which the user knows the points.
        """
        if isinstance(X, Pairs) or np.ndim(X) == 3:
            raise ValueError(
                "got pairs where points are needed; for pairs use predict_pairs or "
                "pair_score"
            )
        if is_dask(X):
            X = check_table(X)
            if self._keeps_blocks and X.dtype.kind in "biuf" and X.size:
                validate_data(self, X, reset=reset, skip_check_array=True)
                return X
            X = on_host(X)
        if is_tensor(X):
            X = check_table(X)
            # Apple's devices have no float64, which sums need.
            if not self._keeps_tensors or X.device.type == "mps":
                X = on_host(X)
        if is_tensor(X):
            # Names and number of features; the rest stays on the device.
            X = check_tensor(X)
            validate_data(self, X, reset=reset, skip_check_array=True)
            check_finite_points(X, rows)
            return X
        try:
            X = validate_data(
                self,
                X,
                reset=reset,
                accept_sparse="csr",
                dtype=[np.float64, np.float32],
                ensure_all_finite=False,
            )
        except (TypeError, ValueError) as error:
            if isinstance(error, ValueError) and "convert" not in str(error):
                raise
            raise ValueError(
                f"the points hold something that is not a number ({error}); encode the "
                "columns that hold text first, for example make_pair_pipeline("
                "make_column_transformer((OneHotEncoder(), ['colour']), "
                "remainder='passthrough'), ...)"
            ) from error
        check_finite_points(X, rows)
        return X

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
