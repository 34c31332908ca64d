"""With whom to compare a point: somebody typical of a class, near, and not always one.

The likeliest class of the target that its answers have not ruled out is asked about
first: "same" then settles the class with one question. Of the points that are known to
be of that class, the five nearest to the target that it has not been compared with are
candidates, and the one that was in the fewest answers so far is taken: so one wrong
answer about a hub cannot turn a class, and people do not see the same point again and
again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pairlearn.data.types import Floats, Ints
    from pairlearn.trust.beliefs import Beliefs

__all__ = ["choose_partner", "class_chances", "point_to_ask_again", "some_anchors"]

_NEAR = 5
# Of more points than this of one class, so many are looked at.
_MOST_ANCHORS = 500
# A class with less than this is ruled out, and one with more than 1 - this is settled.
_RULED_OUT = 0.2
# A belief below this is asked about again if answers may be wrong, so many times.
_DOUBTFUL, _MOST_QUESTIONS = 0.9, 4


def class_chances(
    target: int, beliefs: Beliefs, probability: Floats | None = None
) -> Floats:
    """Return how likely each class is for a point, established ones first.

    Parameters
    ----------
    target : int
        The point.
    beliefs : Beliefs
        What the answers say.
    probability : ndarray of shape (n_classes,), optional
        The model's class probabilities of the point, for points without answers.

    Returns
    -------
    ndarray of shape (n_columns,)
        With the columns of the beliefs.

    Examples
    --------
    >>> from pairlearn.trust.beliefs import believe
    >>> found = believe([(0, 1), (1, 2)], [-1, -1], n_classes=2)
    >>> class_chances(2, found).round(2), class_chances(7, found)
    (array([1., 0.]), array([0.5, 0.5]))
    """
    known = beliefs.of(target)
    if known is not None:
        return known
    n_columns = beliefs.probability.shape[1]
    chances = np.full(n_columns, 1 / n_columns)
    if probability is not None:
        # Something is left for a class that the model does not know of.
        n_known = min(len(probability), n_columns)
        chances *= 0.05
        chances[:n_known] += 0.95 * probability[:n_known]
    return np.asarray(chances / chances.sum())


def some_anchors(beliefs: Beliefs) -> list[Ints]:
    """Return points that others may be compared with, of each class in ascending order.

    Of a class with very many that are certain enough, 500 are taken, evenly from the
    most to the least certain: some of these are near every point.

    Parameters
    ----------
    beliefs : Beliefs
        What the answers say.

    Returns
    -------
    list of ndarray of int

    Examples
    --------
    >>> from pairlearn.trust.beliefs import believe
    >>> some_anchors(believe([(7, 1), (1, 2)], [1, -1], n_classes=2))
    [array([1, 7]), array([2])]
    """
    found = []
    for points in beliefs.anchors():
        if len(points) > _MOST_ANCHORS:
            at = np.linspace(0, len(points) - 1, _MOST_ANCHORS).astype(np.intp)
            points = points[at]
        found.append(np.sort(points))
    return found


def choose_partner(
    target: int,
    beliefs: Beliefs,
    Z: Floats,
    index: Ints,
    *,
    probability: Floats | None = None,
    again: bool = False,
    ruled_out: float = _RULED_OUT,
    times: Ints | None = None,
    anchors: list[Ints] | None = None,
) -> int | None:
    """Return the point to compare a target with, or None if its class is known.

    Parameters
    ----------
    target : int
        The point whose class is wanted.
    beliefs : Beliefs
        What the answers say.
    Z : ndarray of shape (n_points, n_columns)
        All points, in units in which distances make sense.
    index : ndarray of int, shape (n_answers, 2)
        The pairs that were asked about; also those that are out, but not answered.
    probability : ndarray of shape (n_classes,), optional
        The model's class probabilities of the target.
    again : bool
        Whether to ask although the class is known: of the likeliest class, with a
        partner it has not been compared with.
    ruled_out : float
        A class with a smaller chance, once there are answers about the target, is not
        asked about. With wrong answers at rate e,
        a little more than e.
    times : ndarray of shape (n_points,), optional
        In how many of the pairs each point is, if that is known already.
    anchors : list of ndarray, optional
        What :func:`some_anchors` returned for the beliefs, if that is known already.

    Returns
    -------
    int or None

    Examples
    --------
    >>> import numpy as np
    >>> from pairlearn.trust.beliefs import believe
    >>> index = np.array([(0, 1), (0, 2), (0, 3)])
    >>> found, Z = believe(index, [1, -1, 1], n_classes=2), np.arange(6.0)[:, None]
    >>> choose_partner(5, found, Z, index, probability=np.array([0.9, 0.1]))
    3
    >>> choose_partner(3, found, Z, index) is None
    True
    >>> choose_partner(3, found, Z, index, again=True)
    1
    """
    if not beliefs.n_established:
        return None
    chances = class_chances(target, beliefs, probability)
    # What the model says alone rules out nothing.
    left = chances > (0.0 if beliefs.of(target) is None else ruled_out)
    if left.sum() < 2 and not again:
        return None
    index = np.asarray(index, dtype=np.int64).reshape(-1, 2)
    if times is None:
        times = np.bincount(index.ravel(), minlength=len(Z))
    mine = np.zeros(0, dtype=np.int64)
    if times[target]:
        mine = index[(index == target).any(axis=1)].ravel()
    anchors = anchors or some_anchors(beliefs)
    for c in np.argsort(-chances[: beliefs.n_established], kind="stable"):
        if not (left[c] or again):
            continue
        free = anchors[c]
        if len(mine) or target in free:
            free = free[~np.isin(free, np.append(mine, target))]
        if len(free):
            distance = np.linalg.norm(Z[free] - Z[target], axis=1)
            near = free[np.argsort(distance, kind="stable")[:_NEAR]]
            return int(near[times[near].argmin()])
    return None


def point_to_ask_again(
    beliefs: Beliefs,
    index: Ints,
    *,
    least: float = _DOUBTFUL,
    most_questions: int = _MOST_QUESTIONS,
) -> int | None:
    """Return the asked point whose class is most in doubt, or None if none is.

    Parameters
    ----------
    beliefs : Beliefs
        What answers and neighbours say.
    index : ndarray of int, shape (n_answers, 2)
        The pairs that were asked about.
    least : float
        A point with a likeliest class above this is not in doubt.
    most_questions : int
        Points in as many answers are left alone.

    Returns
    -------
    int or None

    Examples
    --------
    Point 2 was answered in two ways.

    >>> from pairlearn.trust.beliefs import believe
    >>> index = [(0, 1), (0, 1), (0, 2), (1, 2), (0, 3), (1, 3)]
    >>> found = believe(index, [1, 1, 1, -1, -1, -1], n_classes=2, noise=0.1)
    >>> point_to_ask_again(found, index)
    2
    """
    pairs = np.asarray(index, dtype=np.int64).reshape(-1, 2)
    times = np.bincount(pairs.ravel(), minlength=int(beliefs.points.max(initial=0)) + 1)
    few = times[beliefs.points] < most_questions
    open_ = np.flatnonzero(few & (beliefs.confidence < least))
    if not len(open_):
        return None
    return int(beliefs.points[open_[beliefs.confidence[open_].argmin()]])
