r"""How many audits a width needs: uniform ones, or ones chosen by doubt.

Bets on chosen audits (:mod:`pairlearn.trust.betting`) end, with n audits of variance v
and a floor f, at about

.. math:: D - 1.1 \, z \sqrt{v / n} \quad \text{and} \quad
    D + 1.1 \sqrt{z^2 v / n + \log(2 / \alpha)^2 / (n f)^2} .

The first term is that of a normal law. The second is the price of validity: pairs about
which the model is certain are asked as often as in n f uniform audits, and if none of
these is found wrong, up to log(2 / alpha) / (n f) of all pairs may still be. So a small
floor is good for the variance and bad for the upper end; the best one falls with n.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from pairlearn.data.containers import check_table, on_host
from pairlearn.trust.betting import relative_chances
from pairlearn.trust.planning import first_that, pairs_for_certificate
from pairlearn.trust.theory import clustering_error_from_pair_error

if TYPE_CHECKING:
    from pairlearn.data.types import Floats, Ints, PointsLike

__all__ = ["AuditNeeds", "audit_needs", "audits_needed", "best_floor"]
__all__ += ["doubts_of_pairs", "doubts_of_points"]

FLOORS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0)
# How much wider the interval is than the formula without it.
_WIDER = 1.1
# Blocks that are drawn from the given points to find their variance.
_N_BLOCKS = 200
_MOST_AUDITS = 10**7


class AuditNeeds(NamedTuple):
    """How many audits are needed for a width, if the model's doubts are right.

    Attributes
    ----------
    uniform : int
        Random pairs, judged by :func:`~pairlearn.certify`.
    chosen : int
        Pairs chosen by doubt, with :func:`~pairlearn.trust.chosen_audits.plan_audits`.
    floor : float
        The floor that is best for them.
    """

    uniform: int
    chosen: int
    floor: float

    @property
    def better(self) -> str:
        """Either "uniform" or "chosen", whichever needs fewer audits."""
        return "chosen" if self.chosen < self.uniform else "uniform"


def doubts_of_pairs(doubts: Floats) -> Floats:
    """Return the doubts of all pairs of points, from those of the points.

    A statement about a pair is wrong if the model is wrong about one of the points, and
    not about the other: e + e' - 2 e e'.

    Parameters
    ----------
    doubts : ndarray of shape (..., n_points)
        Probabilities, at most 1/2, that the class of each point is wrong.

    Returns
    -------
    ndarray of shape (..., n_points (n_points - 1) / 2)
        In the order of ``numpy.triu_indices(n_points, 1)``.

    Examples
    --------
    >>> doubts_of_pairs(np.array([0.0, 0.1, 0.5]))
    array([0.1, 0.5, 0.5])
    """
    i, j = np.triu_indices(doubts.shape[-1], 1)
    left, right = doubts[..., i], doubts[..., j]
    return np.asarray(left + right - 2 * left * right)


def audits_needed(
    clf: Any, X: PointsLike, width: float, *, confidence: float = 0.95
) -> AuditNeeds:
    """Return how many audits a width needs, uniform ones and chosen ones.

    Parameters
    ----------
    clf : object
        A fitted classifier of two classes with `predict` and `predict_proba`.
    X : points, as the classifier takes them
        Random points; those for the audits will do. The forecast does not use any
        answer, so that it spoils nothing.
    width : float
        The wanted width of the interval for the clustering error.
    confidence : float, default=0.95
        Confidence of the interval.

    Returns
    -------
    AuditNeeds
        With the attributes `uniform`, `chosen`, `floor` and `better`.

    Examples
    --------
    >>> import numpy as np
    >>> from pairlearn.trust.audit_needs import audits_needed
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=9000)
    >>> X = rng.normal(size=(9000, 2)) + 3 * y[:, None]
    >>> clf = LogisticRegression().fit(X[:1000], y[:1000])
    >>> audits_needed(clf, X[1000:], width=0.04).better
    'uniform'
    >>> audits_needed(clf, X[1000:], width=0.005).better
    'chosen'
    """
    return audit_needs(
        doubts_of_points(clf, check_table(X))[1], width, confidence=confidence
    )


def audit_needs(
    doubts: Floats, width: float, *, n_points: int = 40, confidence: float = 0.95
) -> AuditNeeds:
    """Return how many audits make the interval for the error `width` wide on average.

    It is a forecast from the model's own doubts; no answer is needed. If the model is
    surer than it should be, both numbers are too small.

    Parameters
    ----------
    doubts : ndarray of shape (n_points,)
        For random points, the probability that the model's class is wrong: one minus
        the largest class probability.
    width : float
        The wanted width of the interval for the clustering error.
    n_points : int, default=40
        Points per block from which the chosen pair is drawn.
    confidence : float, default=0.95
        Confidence of the interval.

    Returns
    -------
    AuditNeeds

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> doubts = np.where(rng.random(1000) < 0.1, 0.5, 0.0)  # a tenth is a toss-up
    >>> needs = audit_needs(doubts, width=0.02)
    >>> needs.better, needs.chosen < needs.uniform / 2
    ('chosen', True)
    >>> audit_needs(np.full(1000, 0.05), width=0.02).better  # nothing to choose by
    'uniform'
    """
    doubts = np.clip(np.asarray(doubts, dtype=float), 0.0, 0.5)
    if doubts.ndim != 1 or len(doubts) < 2:
        raise ValueError("the doubts of at least two points are needed, in one array")
    if not 0 < width < 0.5:
        raise ValueError(f"width must lie strictly between 0 and 1/2; got {width}")
    rate, spreads = _spreads(doubts, n_points)
    error = float(clustering_error_from_pair_error(rate))
    uniform = pairs_for_certificate(
        min(error, 0.49), width, probability=0.5, confidence=confidence
    )

    def is_enough(n_audits: int) -> bool:
        ends = _ends(spreads, n_audits, confidence)
        ends = rate + ends[:, np.argmin(ends[1] - ends[0])]
        low, high = clustering_error_from_pair_error(np.clip(ends, 0.0, 0.5))
        return bool(high - low <= width)

    chosen = first_that(is_enough, 1, _MOST_AUDITS)
    return AuditNeeds(uniform, chosen, _best(spreads, chosen, confidence))


def doubts_of_points(clf: Any, X: PointsLike) -> tuple[Ints, Floats]:
    """Return the predicted class of each point, 0 or 1, and the doubt about it.

    Parameters
    ----------
    clf : object
        A fitted classifier of two classes with `predict` and `predict_proba`.
    X : points, as the classifier takes them

    Returns
    -------
    group : ndarray of int of shape (n_points,)
    doubts : ndarray of shape (n_points,)
        The probability that the predicted class is wrong, at most 1/2.
    """
    if not (hasattr(clf, "predict") and hasattr(clf, "predict_proba")):
        raise TypeError(
            "audits are chosen by the class probabilities of a fitted classifier, and "
            f"{type(clf).__name__} has no predict_proba; certify(clf, pairs, t) takes "
            "uniform audits of any classifier"
        )
    chance = np.asarray(on_host(clf.predict_proba(X)), dtype=float)
    if chance.ndim != 2 or chance.shape[1] != 2:
        raise ValueError(
            "chosen audits are for classifiers of two classes; for more, "
            "certify(clf, pairs, t, points=X) takes uniform audits"
        )
    if not np.isfinite(chance).all():
        raise ValueError("some class probabilities are not numbers")
    names = np.asarray(on_host(clf.predict(X)))
    group = (names == np.asarray(clf.classes_)[1]).astype(np.intp)
    own = chance[np.arange(len(chance)), group]
    return group, np.clip(1 - own, 0.0, 0.5)


def best_floor(doubts: Floats, n_audits: int, n_points: int) -> float:
    """Return the floor with which so many audits make the shortest interval.

    Parameters
    ----------
    doubts : ndarray of shape (n,)
        Doubts of random points, which are not asked about.
    n_audits : int
        How many pairs will be asked.
    n_points : int
        Points per block.

    Returns
    -------
    float

    Examples
    --------
    >>> doubts = np.repeat([0.0, 0.5], [90, 10])
    >>> best_floor(doubts, 100, 40) > best_floor(doubts, 5000, 40)
    True
    """
    return _best(_spreads(doubts, n_points)[1], n_audits, 0.95)


def _spreads(doubts: Floats, n_points: int) -> tuple[float, Floats]:
    """Return the mean doubt of pairs, and the variance of x for each floor."""
    rng = np.random.default_rng(0)
    blocks = rng.choice(doubts, size=(_N_BLOCKS, max(2, n_points)))
    h = doubts_of_pairs(blocks)
    among = h.mean(axis=1).var()
    inner = [(h * (1 - h) / relative_chances(h, floor)).mean() for floor in FLOORS]
    return float(h.mean()), np.array(inner) + among


def _best(spreads: Floats, n: int, confidence: float) -> float:
    """Return the floor with the shortest interval for the pair error."""
    low, high = _ends(spreads, n, confidence)
    return FLOORS[int(np.argmin(high - low))]


def _ends(spreads: Floats, n: int, confidence: float) -> Floats:
    """Return how far both ends are from the pair error, for each floor."""
    normal = ndtri((1 + confidence) / 2) * np.sqrt(spreads / n)
    certain = np.log(2 / (1 - confidence)) / (n * np.array(FLOORS))
    return _WIDER * np.array([-normal, np.hypot(normal, certain)])
