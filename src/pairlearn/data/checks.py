"""Checks of what users pass in, with errors in the words of the documentation."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from pairlearn.data.containers import is_tensor, on_host

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

    from pairlearn.data.types import Floats, Ints, PointsLike

__all__ = [
    "check_answers",
    "check_both_kinds",
    "check_choice",
    "check_finite_points",
    "check_flip_rates",
    "check_gammas",
    "check_groups",
    "check_index",
    "check_integer",
    "check_number",
    "check_prior",
    "check_share",
    "check_weights",
    "is_finite",
    "known_rates",
    "not_finite",
    "plain_answers",
    "where_not_finite",
]

_ANSWER_HELP = "an answer is +1 (same), -1 (different), or a number in between"


def check_index(index: ArrayLike, n_points: int) -> Ints:
    """Return an (n_pairs, 2) array of row numbers, or say what is wrong."""
    array = np.asarray(on_host(index))
    if array.size == 0:
        array = array.astype(np.intp).reshape(0, 2)
    if array.ndim != 2 or array.shape[1] != 2:
        turned = array.ndim == 2 and array.shape[0] == 2
        raise ValueError(
            "index must have shape (n_pairs, 2), two row numbers per pair; "
            f"got shape {array.shape}" + "; pass index.T" * turned
        )
    if array.dtype.kind not in "iu":
        raise ValueError(
            f"index must hold integers, the row numbers of points; got {array.dtype}. "
            "If your pairs are given by names or ids, use Pairs.from_frame"
        )
    outside = (array < 0) | (array >= n_points)
    if outside.any():
        k = int(np.flatnonzero(outside.any(axis=1))[0])
        raise ValueError(
            f"pair {k} is {tuple(array[k].tolist())}, but the points are numbered 0 to "
            f"{n_points - 1} ({int(outside.any(axis=1).sum())} such pair(s))"
        )
    # In one piece by pairs, as compiled loops read them.
    return np.ascontiguousarray(array, dtype=np.intp)


def check_answers(
    t: ArrayLike, n_pairs: int, index: Ints | None = None, *, unsure: bool = False
) -> Floats:
    """Return the answers as floats in [-1, 1], or say what is wrong.

    Parameters
    ----------
    t : array-like of shape (n_pairs,)
        Answers: numbers in [-1, 1], or bool with True for "same".
    n_pairs : int
        How many are expected.
    index : ndarray of shape (n_pairs, 2), optional
        The pairs, to refuse a point that differs from itself.
    unsure : bool, default=False
        Whether 0 stands for unsure, so that 0 and 1 alone are no riddle.

    Returns
    -------
    ndarray of shape (n_pairs,)
    """
    try:
        array = np.asarray(on_host(t))
    except ValueError:
        raise ValueError("answers must be a 1-D array, one per pair") from None
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(
            f"answers must be a 1-D array, one per pair; got shape {array.shape}"
        )
    if len(array) != n_pairs:
        raise ValueError(f"there are {n_pairs} pairs but {len(array)} answers")
    if array.dtype.kind == "O":
        array = plain_answers(array)
    if array.dtype.kind == "b":
        return np.where(array, 1.0, -1.0)
    if array.dtype.kind not in "iuf":
        raise ValueError(
            f"answers must be numbers or bool, got {array.dtype}: {_ANSWER_HELP}. "
            "Convert words first, for example t = numpy.where(words == 'same', 1, -1)"
        )
    array = array.astype(float, copy=False)
    if not np.isfinite(array).all():
        k = int(np.flatnonzero(~np.isfinite(array))[0])
        raise ValueError(
            f"answer {k} is {array[k]}: {_ANSWER_HELP}. Leave out the pairs without an "
            "answer: keep = pandas.notna(t), then pairs[keep] and t[keep]"
        )
    if np.any(np.abs(array) > 1):
        k = int(np.flatnonzero(np.abs(array) > 1)[0])
        raise ValueError(f"answer {k} is {array[k]:g}: {_ANSWER_HELP}")
    if not unsure and np.any(array == 0) and np.isin(array, (0, 1)).all():
        raise ValueError(
            "the answers are 0 and 1, which could mean two things. If 1 means same, "
            "pass 2 * t - 1 (or t.astype(bool)); if 1 means different, pass 1 - 2 * t"
        )
    if index is not None:
        impossible = np.flatnonzero((index[:, 0] == index[:, 1]) & (array < 0))
        if impossible.size:
            k = int(impossible[0])
            raise ValueError(
                f"pair {k} is point {index[k, 0]} with itself, and its answer is "
                f"different; {impossible.size} such pair(s). Drop or correct them"
            )
    return array


def plain_answers(array: NDArray[Any]) -> NDArray[Any]:
    """Return answers from a table's column of objects as bool or float, if they are."""
    missing = [is_missing(v) for v in array]
    known = [v for v, gone in zip(array, missing, strict=True) if not gone]
    if any(isinstance(v, str) for v in known):
        return np.array(known, dtype=str)
    if known and all(isinstance(v, bool | np.bool_) for v in known):
        known = (
            [bool(v) for v in known] if not any(missing) else [2 * v - 1 for v in known]
        )
    if not any(missing):
        return np.array(known)
    numbers = np.full(len(array), np.nan)
    numbers[~np.array(missing)] = known
    return numbers


def check_groups(groups: ArrayLike, index: Ints, n_points: int) -> Ints:
    """Return the numbers of the groups of both points of each pair.

    Parameters
    ----------
    groups : array-like of shape (n_points,) or (n_pairs, 2)
        Whatever names the groups, for each point or for both points of each pair.
    index : ndarray of shape (n_pairs, 2)
        The pairs.
    n_points : int
        How many points there are.

    Returns
    -------
    ndarray of shape (n_pairs, 2)
        Numbers below `n_points`.

    Examples
    --------
    >>> import numpy as np
    >>> check_groups(["ann", "bob", "ann"], np.array([[0, 1], [1, 2]]), 3)
    array([[0, 1],
           [1, 0]])
    """
    names = np.asarray(on_host(groups))
    shape = names.shape
    if shape not in ((n_points,), index.shape):
        raise ValueError(
            f"groups must name one group for each of {n_points} points, or two for "
            f"each of {len(index)} pairs; got shape {shape}"
        )
    plain = group_names(names)
    missing = np.flatnonzero([not name for name in plain])
    number = np.unique(np.array(plain, dtype=str), return_inverse=True)[1].ravel()
    # A missing name tells nothing, so that such points are not one.
    number[missing] = number.size + np.arange(len(missing))
    joined: Ints = np.unique(number, return_inverse=True)[1].reshape(shape)
    return joined if shape == index.shape else joined[index]


def group_names(names: ArrayLike) -> list[str]:
    """Return names of groups as text, one after the other; "" where there is none.

    Examples
    --------
    >>> group_names([7.0, float("nan"), 8.5])
    ['7', '', '8.5']
    """
    given = np.asarray(on_host(names)).ravel().tolist()
    return ["" if is_missing(name) else whole_name(str(name)) for name in given]


def whole_name(name: str) -> str:
    """Return 7 for 7.0, as programs write whole numbers in a column with gaps.

    Examples
    --------
    >>> whole_name("7.0"), whole_name("7.5"), whole_name("a.0")
    ('7', '7.5', 'a.0')
    """
    whole, _, rest = name.partition(".")
    is_whole = whole.removeprefix("-").isdigit() and rest and not rest.strip("0")
    return whole if is_whole else name


def is_missing(value: Any) -> bool:
    """Tell whether a value is None, NaN, NaT or NA of pandas."""
    # The last two are not comparable, and NaN is not equal to itself.
    gone = value is None or type(value).__name__ in ("NAType", "NaTType")
    return bool(gone or value != value)


def check_both_kinds(t: Floats) -> None:
    """Refuse answers that are all of one kind."""
    if len(t) < 2:
        raise ValueError(f"at least two pairs are needed to learn from; got {len(t)}")
    for kind, missing in (("same", np.all(t <= 0)), ("different", np.all(t >= 0))):
        if missing:
            raise ValueError(
                f"no answer is '{kind}': both kinds of answers are needed to draw a "
                "boundary. If your answers are probabilities of 'same', pass 2 * p - 1"
            )


def check_weights(sample_weight: ArrayLike | None, n_pairs: int) -> Floats:
    """Return one non-negative weight a pair; ones if None, which take no memory."""
    if sample_weight is None:
        return np.broadcast_to(1.0, n_pairs)
    try:
        weight = np.asarray(on_host(sample_weight), dtype=float)
    except (TypeError, ValueError):
        raise ValueError("sample_weight must hold one number per pair") from None
    if weight.ndim == 0:
        weight = np.full(n_pairs, float(weight))
    if weight.shape != (n_pairs,):
        raise ValueError(
            f"sample_weight needs one weight per pair: {n_pairs} pairs, but shape "
            f"{weight.shape}"
        )
    with np.errstate(over="ignore"):
        if not np.isfinite(weight.sum()) or np.any(weight < 0):
            raise ValueError("sample_weight must be finite and not negative")
    if n_pairs and not weight.any():
        raise ValueError("sample_weight is zero for every pair: nothing to learn from")
    return weight


def check_finite_points(X: PointsLike, numbers: Ints | None = None) -> None:
    """Refuse NaN and infinity, saying where they are (by the rows' own numbers)."""
    if is_tensor(X):
        finite = X.sum().isfinite() or X.isfinite().all()
        if finite:
            return
        X = on_host(X)
    if is_finite(X):
        return
    rows, columns = where_not_finite(X)
    row = rows[0] if numbers is None else numbers[rows[0]]
    raise not_finite(row, columns[0], len(rows))


def where_not_finite(X: PointsLike) -> tuple[Ints, Ints]:
    """Return rows and columns of what is NaN or infinite."""
    if sparse.issparse(X):
        X = X.tocoo()
        bad = ~np.isfinite(X.data)
        return X.row[bad], X.col[bad]
    rows, columns = np.nonzero(~np.isfinite(X))
    return rows, columns


def not_finite(row: int, column: int, n_values: int) -> ValueError:
    """Return the error about points that are not finite."""
    return ValueError(
        f"the points contain NaN or infinity, first in row {row}, column "
        f"{column} ({n_values} value(s)). Drop those points, or fill them in: "
        "make_pair_pipeline(SimpleImputer(), ...), within make_column_transformer if "
        "some columns hold text"
    )


def is_finite(X: PointsLike, *, products: bool = False) -> bool:
    """Tell whether an array or a sparse matrix holds no NaN and no infinity.

    With `products`, nor numbers so large that sums of them are not finite.
    """
    values = X.data if sparse.issparse(X) else X
    # The sum is finite unless something is not: one pass without a temporary.
    with np.errstate(over="ignore", invalid="ignore"):
        finite = np.isfinite(values.sum())
        return bool(finite or (not products and np.isfinite(values).all()))


def check_share(name: str, value: float) -> float:
    """Return a number strictly between 0 and 1, or say what is wrong."""
    if not 0 < value < 1:
        raise ValueError(f"{name} must lie strictly between 0 and 1; got {value}")
    return value


def check_prior(prior: float, *, allow_half: bool = True) -> float:
    """Return the prior if it is a probability strictly between 0 and 1."""
    check_share("prior", prior)
    if prior == 0.5 and not allow_half:
        raise ValueError(
            "at prior 1/2 the two classes are symmetric and pairs cannot tell which is "
            "which; use a few labelled points for the class assignment "
            "(assign_from_points)"
        )
    return float(prior)


def check_integer(name: str, value: Any, minimum: int = 1) -> int:
    """Return a whole number that is large enough, or say what is wrong.

    Examples
    --------
    >>> check_integer("n_folds", 1, minimum=2)
    Traceback (most recent call last):
        ...
    ValueError: n_folds must be a whole number, 2 or above; got 1
    """
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not whole or value < minimum:
        raise ValueError(
            f"{name} must be a whole number, {minimum} or above; got {value!r}"
        )
    return int(value)


def check_number(name: str, value: Any, *, allow_zero: bool = False) -> float:
    """Return a finite number above 0, or say what is wrong.

    Examples
    --------
    >>> check_number("tol", 0)
    Traceback (most recent call last):
        ...
    ValueError: tol must be a number above 0; got 0
    """
    number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not number or not 0 <= value < np.inf or (value == 0 and not allow_zero):
        limit = ", 0 or above" if allow_zero else " above 0"
        raise ValueError(f"{name} must be a number{limit}; got {value!r}")
    return float(value)


def check_choice(name: str, value: Any, known: Iterable[Any]) -> None:
    """Refuse a value that is not among the known ones."""
    known = list(known)
    if value not in known:
        raise ValueError(f"unknown {name} {value!r}; the known ones are {known}")


def check_flip_rates(
    flip_rates: Any,
    name: str = "flip_rates",
    words: tuple[str, ...] = ("auto", "symmetric"),
) -> tuple[float, float] | str | None:
    """Return (r1, r0), one of some words, or None for answers that are right.

    A single number e stands for symmetric noise, (1 - e, e).
    """
    if flip_rates is None or (isinstance(flip_rates, str) and flip_rates in words):
        return flip_rates
    rates = flip_rates
    if isinstance(rates, numbers.Real):
        rates = (1 - float(rates), float(rates))
    rates = np.asarray(rates, dtype=object).ravel()
    numeric = len(rates) == 2 and all(isinstance(r, numbers.Real) for r in rates)
    r1, r0 = map(float, rates) if numeric else (0.0, 1.0)
    if not 0 <= r0 < r1 <= 1:
        raise ValueError(
            f"unknown {name} {flip_rates!r}; give (r1, r0) with 0 <= r0 < r1 <= 1, the "
            "rates at which 'same' is answered for pairs that are the same and for "
            "pairs that are different, a single rate below 1/2, or one of None, "
            + ", ".join(map(repr, words))
        )
    return r1, r0


def known_rates(flip_rates: Any) -> tuple[float, float]:
    """Return the flip rates that are given, or else those of right answers."""
    rates = check_flip_rates(flip_rates)
    return (1.0, 0.0) if rates is None or isinstance(rates, str) else rates


def check_gammas(gammas: Any) -> tuple[float, float, float]:
    """Return three mixing weights, or say what is wrong with them."""
    try:
        weights = np.asarray(gammas, dtype=float)
    except (TypeError, ValueError):
        weights = np.empty(0)
    good = weights.shape == (3,) and np.all(weights >= 0)
    if not good or not abs(weights.sum() - 1) <= 1e-9:
        raise ValueError(
            f"gammas must be three numbers, none negative, that sum to 1; got {gammas}"
        )
    g1, g2, g3 = weights.tolist()
    return g1, g2, g3
