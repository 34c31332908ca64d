r"""What the model and all other answers together say about each answer.

The model: point i is of class c with probability p_i(c), as a classifier has it that
has seen no answer about the point. Two points of a pair are the same, or not; the
answer says so, or is wrong with probability e, the noise rate, whatever the points. A
soft answer t says "same" with probability s = (1 + t) / 2. Given the classes, answer k
has the likelihood

.. math:: \psi_k = \begin{cases}
          (1 - e) s + e (1 - s) & \text{if the two are the same} \\
          (1 - e) (1 - s) + e s & \text{if they are different.}
          \end{cases}

Let Q_k be the probability that the two points of pair k are the same given everything
but answer k: the probabilities p of all points and all other answers. The answer agrees
with that with probability A = s Q + (1 - s)(1 - Q), and by Bayes' rule it is wrong with
probability e (1 - A) / [e (1 - A) + (1 - e) A].

Q is what takes work. Where the pair shares no point with another, it is the sum over c
of p_i(c) p_j(c). Else other answers count: two answers that lead from i by way of a
third point to j are evidence on i and j, and more so if they confirm what p says. Where
a component of the graph of pairs is a tree, belief propagation is exact; where it has
cycles and few points, all classes of all points are summed over; where it has cycles
and many points, belief propagation is iterated and Q is an approximation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from scipy.sparse import csgraph
from scipy.special import expit, log_softmax, logit, softmax

if TYPE_CHECKING:
    from pairlearn.data.types import Bools, Floats, Ints

__all__ = [
    "Scale",
    "cavity",
    "class_probabilities",
    "expected_rate",
    "fit_scale",
    "wrong",
]

# What is known of the noise rate without data: one answer of ten is wrong, and that
# counts as ten answers.
_WRONG, _RIGHT = 1.0, 9.0
# Keeps the slope finite when the scores sort all pairs without error.
_SLOPE_PENALTY = 0.01
# Components with cycles are summed over if they have no more states than this.
_STATES = 4096
_ITERATIONS, _TOLERANCE = 300, 1e-8


class Scale(NamedTuple):
    """From scores to probabilities: log-odds slope * f + intercept, and noise rate."""

    slope: float
    intercept: float
    rate: float


def _prior_rate() -> float:
    """Return the noise rate to expect without data."""
    return _WRONG / (_WRONG + _RIGHT)


def expected_rate(wrong: Floats, weight: Floats) -> float:
    """Return the noise rate, given how probably each answer is wrong."""
    return float((weight @ wrong + _WRONG) / (weight.sum() + _WRONG + _RIGHT))


def class_probabilities(scores: Floats, scale: Scale) -> Floats:
    """Return the class probabilities of points; equal ones where a score is NaN.

    Parameters
    ----------
    scores : ndarray of shape (n_points,) or (n_points, n_classes)
        One score per point for two classes, else one per class.
    scale : Scale
        How scores become log-odds.

    Returns
    -------
    ndarray of shape (n_points, n_classes)
    """
    if scores.ndim == 1:
        g = scale.slope * scores + scale.intercept
        p: Floats = np.stack([expit(-g), expit(g)], axis=1)
    else:
        p = softmax(scale.slope * scores, axis=1)
    p[np.isnan(p).any(axis=1)] = 1 / p.shape[1]
    return p


def _agreement(same: Floats, t: Floats) -> Floats:
    """Return the probability that an answer agrees, if P(same) is as given."""
    share = (1 + t) / 2
    return share * same + (1 - share) * (1 - same)


def wrong(same: Floats, t: Floats, rate: float) -> Floats:
    """Return the probability that each answer is wrong.

    Parameters
    ----------
    same : ndarray of shape (n_pairs,)
        Probability that the points are the same, by everything but the answer.
    t : ndarray of shape (n_pairs,)
        Answers.
    rate : float
        The noise rate.

    Returns
    -------
    ndarray of shape (n_pairs,)

    Examples
    --------
    >>> import numpy as np
    >>> same, t = np.array([0.9, 0.9, 0.5, 0.9]), np.array([1.0, -1.0, -1.0, 0.0])
    >>> wrong(same, t, 0.1).round(3)
    array([0.012, 0.5  , 0.1  , 0.1  ])
    """
    right = _agreement(same, t)
    return rate * (1 - right) / (rate * (1 - right) + (1 - rate) * right)


def fit_scale(
    left: Floats,
    right: Floats,
    t: Floats,
    weight: Floats,
    rate: float | None = None,
) -> Scale:
    """Find slope, intercept and noise rate by the likelihood of the answers.

    That is Platt scaling from pairs, as in
    :func:`pairlearn.trust.calibration.calibrate`, with answers that are wrong at some
    rate. Classes that overlap make answers doubtful near the boundary, noise does so
    everywhere: this tells the two apart.

    Parameters
    ----------
    left, right : ndarray of shape (n_pairs,) or (n_pairs, n_classes)
        Scores of both points, by models that have not seen them.
    t, weight : ndarray of shape (n_pairs,)
        Answers and their weights.
    rate : float, optional
        The noise rate, if it is known.

    Returns
    -------
    Scale
        For more than two classes the intercept is 0.
    """
    spread = float(np.sqrt(np.mean(left**2 + right**2) / 2)) if len(t) else 0.0
    if not spread > 0:
        return Scale(0.0, 0.0, _prior_rate() if rate is None else rate)
    left, right, total = left / spread, right / spread, float(weight.sum())

    def loss(u: Floats) -> float:
        e = rate if rate is not None else expit(u[2]) / 2
        scale = Scale(u[0], u[1], e)
        p, q = class_probabilities(left, scale), class_probabilities(right, scale)
        right_answer = _agreement((p * q).sum(axis=1), t)
        likely = np.log((1 - e) * right_answer + e * (1 - right_answer) + 1e-300)
        noise = _WRONG * np.log(e) + _RIGHT * np.log(1 - e)
        return float((_SLOPE_PENALTY * u[0] ** 2 - noise - weight @ likely) / total)

    # Not convex in the intercept, hence three starts.
    two = left.ndim == 1
    bounds = [(0.0, None), (None, None) if two else (0.0, 0.0), (-10.0, 10.0)]
    begin = logit(2 * _prior_rate())
    results = [
        minimize(loss, [2.0, start, begin], method="L-BFGS-B", bounds=bounds)
        for start in ((0.0, -1.0, 1.0) if two else (0.0,))
    ]
    slope, intercept, v = min(results, key=lambda result: result.fun).x
    found = float(expit(v) / 2) if rate is None else rate
    return Scale(float(slope / spread), float(intercept), found)


def cavity(p: Floats, index: Ints, t: Floats, rate: float) -> Floats:
    """Return for each pair P(same) given all probabilities and all *other* answers.

    Parameters
    ----------
    p : ndarray of shape (n_points, n_classes)
        Class probabilities of the points.
    index : ndarray of shape (n_pairs, 2)
        Pairs of two different points.
    t : ndarray of shape (n_pairs,)
        Answers.
    rate : float
        The noise rate.

    Returns
    -------
    ndarray of shape (n_pairs,)

    Examples
    --------
    Two answers "same" that lead from one end of the third pair to the other:

    >>> import numpy as np
    >>> p = np.full((3, 2), 0.5)
    >>> index = np.array([[0, 1], [1, 2], [0, 2]])
    >>> cavity(p, index, np.array([1.0, 1.0, -1.0]), rate=0.1).round(2)[2:]
    array([0.82])
    """
    n_points, n_classes = p.shape
    field = np.log(np.clip(p, 1e-12, None))
    share = (1 + t) / 2
    same = (1 - rate) * share + rate * (1 - share)
    links = sparse.csr_array((np.ones(len(t)), index.T), shape=(n_points, n_points))
    _, component = csgraph.connected_components(links, directed=False)
    size = np.bincount(component)
    of_pair = component[index[:, 0]] if len(t) else np.empty(0, dtype=int)
    n_links = np.bincount(of_pair, minlength=len(size))
    has_cycle = n_links >= size
    # The logarithm, as the number of states of a large component overflows.
    small = has_cycle & (size * np.log(n_classes) <= np.log(_STATES) + 1e-9)
    q = np.empty(len(t))
    by_sum = small[of_pair]
    if by_sum.any():
        order = np.argsort(of_pair[by_sum], kind="stable")
        members = np.flatnonzero(by_sum)[order]
        borders = np.flatnonzero(np.diff(of_pair[members])) + 1
        for group in np.split(members, borders):
            q[group] = _by_sum(field, index[group], same[group])
    rest = ~by_sum
    if rest.any():
        field = _pinned(field, component, has_cycle & ~small, index)
        q[rest] = _by_propagation(field, index[rest], same[rest])
    return q


def _by_sum(field: Floats, index: Ints, same: Floats) -> Floats:
    """Return what `cavity` does for one component, by summing over all classes."""
    points, ends = np.unique(index, return_inverse=True)
    ends = ends.reshape(index.shape)
    n_classes = field.shape[1]
    states = np.indices((n_classes,) * len(points)).reshape(len(points), -1)
    alike = states[ends[:, 0]] == states[ends[:, 1]]
    factor = np.where(alike, np.log(same)[:, None], np.log1p(-same)[:, None])
    log_weight = factor.sum(axis=0)
    for i, point in enumerate(points):
        log_weight += field[point][states[i]]
    # All that speaks for a state, but for the answer in question.
    others = softmax(log_weight - factor, axis=1)
    q: Floats = (others * alike).sum(axis=1)
    return q


def _by_propagation(field: Floats, index: Ints, same: Floats) -> Floats:
    """Return what `cavity` does, by belief propagation."""
    n_points, n_pairs = len(field), len(index)
    source = np.concatenate([index[:, 0], index[:, 1]])
    target = np.concatenate([index[:, 1], index[:, 0]])
    back = np.concatenate([np.arange(n_pairs, 2 * n_pairs), np.arange(n_pairs)])
    gather = sparse.csr_array(
        (np.ones(2 * n_pairs), (target, np.arange(2 * n_pairs))),
        shape=(n_points, 2 * n_pairs),
    )
    psi = np.concatenate([same, same])[:, None]
    # Without a common point nothing is passed on, and the first round is the last.
    message = np.zeros((2 * n_pairs, field.shape[1]))
    belief = softmax(field[source], axis=1)
    for _ in range(_ITERATIONS):
        new = np.log(psi * belief + (1 - psi) * (1 - belief))
        new -= new.max(axis=1, keepdims=True)
        # Half way: a step in full can go back and forth for ever.
        message = (message + new) / 2
        before = belief
        total = field + gather @ message
        belief = softmax(total[source] - message[back], axis=1)
        if np.abs(belief - before).max() < _TOLERANCE:
            break
    q: Floats = (belief[:n_pairs] * belief[n_pairs:]).sum(axis=1)
    return q


def _pinned(field: Floats, component: Ints, candidates: Bools, index: Ints) -> Floats:
    """Fix the class of one point of each component about which p says nothing.

    All that answers say is then relative, and propagation would not leave the state in
    which every class of every point is as probable as any other.
    """
    log_p = log_softmax(field, axis=1)
    tilt = np.zeros(len(candidates))
    np.maximum.at(tilt, component, np.ptp(log_p, axis=1))
    degree = np.bincount(index.ravel(), minlength=len(field))
    field = field.copy()
    for c in np.flatnonzero(candidates & (tilt < 1e-9)):
        members = np.flatnonzero(component == c)
        field[members[np.argmax(degree[members])], 1:] -= 50.0
    return field
