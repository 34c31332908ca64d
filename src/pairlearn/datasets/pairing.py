"""Two classes out of ten, a wanted prior, and pairs out of links.

Random coupling, the remaining way to pairs, is :meth:`pairlearn.Pairs.sample`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pairlearn.data.checks import check_index, check_integer, check_prior
from pairlearn.data.containers import check_table
from pairlearn.data.pairs import Pairs

if TYPE_CHECKING:
    from numpy.random import RandomState
    from numpy.typing import ArrayLike

    from pairlearn.data.types import Bools, Floats, Ints, PointsLike

__all__ = ["even_odd", "link_pairs", "with_prior"]


def even_odd(digits: ArrayLike) -> Ints:
    """Make two classes of ten: +1 for even digits, -1 for odd ones.

    Parameters
    ----------
    digits : array-like of int
        Class numbers, such as the target of :func:`load_mnist`.

    Returns
    -------
    ndarray of the same shape

    Examples
    --------
    >>> from pairlearn.datasets import even_odd
    >>> even_odd([0, 1, 2, 9])
    array([ 1, -1,  1, -1])
    """
    classes = np.asarray(digits)
    if classes.size and classes.dtype.kind not in "iu":
        raise ValueError(f"digits must be integers; got {classes.dtype}")
    return np.where(classes % 2 == 0, 1, -1)


def with_prior(
    y: ArrayLike,
    n_points: int,
    prior: float,
    *,
    random_state: int | RandomState | None = None,
) -> Ints:
    """Choose points at random such that a given share of them is of class +1.

    Parameters
    ----------
    y : array-like of shape (n,)
        Classes, +1 and -1.
    n_points : int
        How many to choose, each at most once.
    prior : float
        The share of +1 among them, strictly between 0 and 1: exactly
        ``round(prior * n_points)`` of the chosen points are positive.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    ndarray of shape (n_points,)
        Row numbers, in random order.

    Examples
    --------
    >>> import numpy as np
    >>> from pairlearn.datasets import with_prior
    >>> y = np.repeat([1, -1], 50)
    >>> rows = with_prior(y, 40, prior=0.25, random_state=0)
    >>> len(set(rows.tolist())), float((y[rows] == 1).mean())
    (40, 0.25)
    """
    from sklearn.utils import check_random_state

    classes = np.asarray(y)
    if classes.ndim != 1 or not np.isin(classes, (-1, 1)).all():
        raise ValueError(
            "y must be a 1-D array of the classes +1 and -1; make such classes with "
            "even_odd(digits) or numpy.where(y == your_class, 1, -1)"
        )
    rng = check_random_state(random_state)
    check_integer("n_points", n_points)
    n_positive = round(check_prior(prior) * n_points)
    chosen = []
    for sign, wanted in ((1, n_positive), (-1, n_points - n_positive)):
        there = np.flatnonzero(classes == sign)
        if wanted > len(there):
            raise ValueError(
                f"{n_points} points with prior {prior:g} need {wanted} of class "
                f"{sign:+d}, but there are {len(there)}; choose fewer points, or "
                "another prior"
            )
        chosen.append(rng.permutation(there)[:wanted])
    rows: Ints = rng.permutation(np.concatenate(chosen))
    return rows


def link_pairs(
    X: PointsLike,
    links: ArrayLike,
    *,
    nodes: ArrayLike | None = None,
    random_state: int | RandomState | None = None,
) -> tuple[Pairs, Floats]:
    """Take links for "same", and as many couples without a link for "different".

    Parameters
    ----------
    X : array-like, sparse or data frame of shape (n_points, n_features)
        The points.
    links : array-like of shape (n_links, 2)
        Row numbers of the two ends of each link. A repeated link, in the same or the
        other direction, counts once; a link from a point to itself does not count.
    nodes : array-like of row numbers, or a mask of shape (n_points,), optional
        The points to use: links that leave them are dropped, and the couples without
        a link are drawn among them. None: all points.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    pairs : Pairs
        Over all of `X`, in random order; no pair occurs twice.
    t : ndarray of shape (n_pairs,)
        +1 for a link, -1 for a couple without one.

    Examples
    --------
    >>> import numpy as np
    >>> from pairlearn.datasets import link_pairs
    >>> X, links = np.zeros((6, 2)), [[0, 1], [1, 0], [2, 2], [3, 4]]
    >>> pairs, t = link_pairs(X, links, random_state=0)
    >>> pairs[t > 0].index.tolist(), len(pairs)
    ([[0, 1], [3, 4]], 4)
    """
    from sklearn.utils import check_random_state

    X = check_table(X)
    n_points = X.shape[0]
    rng = check_random_state(random_state)
    allowed = _allowed(nodes, n_points)
    ends = np.sort(check_index(links, n_points), axis=1)
    ends = ends[(ends[:, 0] < ends[:, 1]) & allowed[ends].all(axis=1)]
    linked = np.unique(ends[:, 0] * n_points + ends[:, 1])
    if not len(linked):
        raise ValueError("no link joins two different points among the nodes")
    there = np.flatnonzero(allowed)
    room = len(there) * (len(there) - 1) // 2 - len(linked)
    if room < len(linked):
        raise ValueError(
            f"{len(linked)} pairs without a link are needed, but the {len(there)} "
            f"nodes have only {max(room, 0)}; choose more nodes, or fewer links"
        )
    apart = _without_link(there, linked, n_points, rng)
    couples = np.concatenate([linked, apart])
    t = np.repeat([1.0, -1.0], len(linked))
    order = rng.permutation(len(couples))
    index = np.stack(np.divmod(couples[order], n_points), axis=1)
    return Pairs(X, index), t[order]


def _allowed(nodes: ArrayLike | None, n_points: int) -> Bools:
    if nodes is None:
        return np.ones(n_points, dtype=bool)
    chosen = np.asarray(nodes)
    if chosen.dtype.kind == "b" and chosen.shape != (n_points,):
        raise ValueError(
            f"a mask of nodes needs one entry per point: {n_points} points, but shape "
            f"{chosen.shape}"
        )
    if chosen.dtype.kind not in "biu" or chosen.ndim != 1:
        raise ValueError("nodes must be a 1-D array of row numbers, or a mask")
    if chosen.dtype.kind != "b" and not np.isin(chosen, np.arange(n_points)).all():
        raise ValueError(f"nodes must lie between 0 and {n_points - 1}")
    mask = np.zeros(n_points, dtype=bool)
    mask[chosen] = True
    return mask


def _without_link(there: Ints, linked: Ints, n_points: int, rng: RandomState) -> Ints:
    # Draw more than needed and keep what is new, until there are enough. Most couples
    # of a real network have no link, so one or two rounds do. `linked` is sorted.
    found = np.empty(0, dtype=np.intp)
    while len(found) < len(linked):
        couples = np.sort(there[rng.randint(len(there), size=(2 * len(linked), 2))])
        couples = couples[couples[:, 0] < couples[:, 1]]
        codes = couples[:, 0] * n_points + couples[:, 1]
        found = np.concatenate([found, codes[~np.isin(codes, linked)]])
        _, first = np.unique(found, return_index=True)
        # In the order of drawing: cutting a sorted list would favour low numbers.
        found = found[np.sort(first)]
    return found[: len(linked)]
