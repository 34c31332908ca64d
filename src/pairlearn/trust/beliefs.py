r"""What answers say about the classes of the points that they are about.

Point i is of class c with prior probability p_i(c), and an answer is wrong with
probability e, whatever the others. All answers together then give each point a
distribution over the classes, its belief

.. math:: m_i(c) \propto \sum_{c_1, \ldots, c_n : c_i = c} \prod_j p_j(c_j) \prod_k
   \psi_k , \qquad \psi_k = 1 - e \text{ where answer } k \text{ is right, else } e ,

computed by :mod:`pairlearn.engine.components.likelihood`: exactly on trees, and on all
graphs with small tables. An answer is *suspicious* with the probability that it is
wrong: 1 - P(same) for "same", with P(same) of its two points under the same sum.

Answers never name a class. Without a prior all names are alike, so every m_i would be
uniform. Names are given one after another by points, the *representatives*: class 0 is
the class of the point that most answers are about. If k classes have a name, the sum
is done with up to three more, which stand for "another one", all together as likely
beforehand as one. The point that is most probably of those becomes representative of
the next class, if the probability is above 0.6; until there is no such point, or no
class left. The prior says of the
representative of class c that it is of one of the classes 0, ..., c, no more: for two
classes the sum is then exactly what it is without names, and should a representative
turn out to be of an earlier class, the beliefs say that the later names are open. At
last, names are changed such that the class whose first point was asked about first is
class 0, and so on.

Without wrong answers (e = 0) the beliefs are what the answers imply: a point that is
linked to a representative by "same" has its class, one that is different from it does
not, and C - 1 classes ruled out imply the last.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pairlearn.engine.components.likelihood import Answers, Components

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from pairlearn.data.types import Floats, Ints

__all__ = ["AnswerGraph", "Beliefs", "believe", "likeliest_noise"]

# A point opens a class if it is of none of the others with this probability.
_NEW = 0.6
# Classes without a name while names are given, and the least rate of wrong answers.
_OTHERS, _NAMING_NOISE = 3, 0.02
# Probabilities that differ by less are alike.
_ALIKE = 0.1
# Rates are kept from certainty, so that contradictory answers can be summed over.
_LEAST_NOISE = 1e-6
# Logarithm of a probability of zero.
_NEVER = -60.0
# Tables over several points are summed over exactly up to this size.
_MOST_STATES = 2**11
# Rates of wrong answers that are compared, and how many right and wrong answers the
# prior on them is worth.
_NOISE_GRID = (0.001, 0.01, 0.02, 0.04, 0.07, 0.1, 0.14, 0.19, 0.25, 0.32)
_PRIOR_WRONG, _PRIOR_RIGHT = 0.5, 9.5


@dataclass(frozen=True)
class Beliefs:
    """What is believed about the points that were asked about.

    Attributes
    ----------
    points : ndarray of int, shape (n_asked,)
        Their numbers, ascending.
    probability : ndarray of shape (n_asked, n_columns)
        Probability of each class. The first `n_established` columns are classes that
        have a representative. Others have none yet: as many as are missing if the
        number of classes is known, else one, for all classes that may still come.
    n_established : int
        How many classes have a representative.
    representatives : ndarray of int, shape (n_established,)
        The point that each class is named by: one of its most certain.
    suspicion : ndarray of shape (n_answers,)
        Probability that each answer is wrong.
    log_likelihood : float
        Of all answers.
    """

    points: Ints
    probability: Floats
    n_established: int
    representatives: Ints
    suspicion: Floats
    log_likelihood: float

    @property
    def confidence(self) -> Floats:
        """Probability of each asked point's likeliest class."""
        return np.asarray(self.probability.max(axis=1))

    @property
    def classes(self) -> Ints:
        """Each asked point's likeliest class."""
        return np.asarray(self.probability.argmax(axis=1))

    def of(self, point: int) -> Floats | None:
        """Return what is believed about a point, or None if nothing was asked."""
        at = int(np.searchsorted(self.points, point))
        if at < len(self.points) and self.points[at] == point:
            return np.asarray(self.probability[at])
        return None

    def anchors(self, least: float = 0.95) -> list[Ints]:
        """Return the points of each established class that are certain enough.

        Parameters
        ----------
        least : float
            The least probability. The representative is an anchor in any case.

        Returns
        -------
        list of ndarray of int
            For each class, the most certain first.
        """
        found = []
        for c in range(self.n_established):
            p = self.probability[:, c].copy()
            first = int(np.searchsorted(self.points, self.representatives[c]))
            sure = np.flatnonzero((p >= least) | (np.arange(len(p)) == first))
            p[first] = 2.0
            found.append(self.points[sure[np.argsort(-p[sure], kind="stable")]])
        return found


def believe(
    index: ArrayLike,
    answers: ArrayLike,
    *,
    n_classes: int | None = None,
    noise: float = 0.0,
    prior: Floats | None = None,
    weight: Floats | None = None,
) -> Beliefs:
    """Return what answers say about the classes of their points.

    Parameters
    ----------
    index : array-like of int, shape (n_answers, 2)
        The two points of each answer, in the order in which they were asked about.
    answers : array-like of shape (n_answers,)
        +1 for same, -1 for different, or a number in between.
    n_classes : int or None
        Number of classes; None if it is unknown.
    noise : float
        Probability that an answer is wrong, below 1/2.
    prior : ndarray of shape (n_asked, n_columns), optional
        Class probabilities of the points, in ascending order of their numbers, by
        something that knows nothing of the answers about the point itself; with the
        columns of the `Beliefs` of the same answers without a prior, whose names and
        representatives stay.
    weight : ndarray of shape (n_answers,), optional
        How much each answer counts: psi is raised to this power.

    Returns
    -------
    Beliefs

    Examples
    --------
    Points 0 and 1 are the same, and 2 is another; so 3, different from both, is of the
    third of three classes.

    >>> pairs = [(0, 1), (1, 2), (2, 3), (3, 0)]
    >>> found = believe(pairs, [1, -1, -1, -1], n_classes=3)
    >>> found.points[found.confidence > 0.99], found.classes
    (array([0, 1, 2, 3]), array([0, 0, 1, 2]))

    Where one of ten answers is wrong, "same" twice outweighs "different" once.

    >>> pairs = [(0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3)]
    >>> found = believe(pairs, [1, 1, -1, -1, -1, -1], n_classes=2, noise=0.1)
    >>> found.classes, found.suspicion.round(2)
    (array([0, 0, 0, 1]), array([0.1 , 0.1 , 0.8 , 0.1 , 0.02, 0.1 ]))
    """
    graph = AnswerGraph(index, answers, n_classes=n_classes, weight=weight)
    graph.name_classes(noise)
    return graph.believe(noise, prior)


def likeliest_noise(
    index: ArrayLike,
    answers: ArrayLike,
    *,
    n_classes: int | None = None,
    prior: Floats | None = None,
    weight: Floats | None = None,
) -> float:
    """Return the rate of wrong answers that explains the answers best.

    It counts as if one answer in twenty had been wrong in ten others, so that nothing
    is made of few answers.

    Parameters
    ----------
    index, answers, n_classes, prior, weight
        As for `believe`.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y, pairs = np.arange(40) % 2, rng.integers(40, size=(300, 2))
    >>> t = np.where(np.equal(*y[pairs].T), 1, -1)
    >>> wrong = np.where(rng.random(300) < 0.15, -t, t)
    >>> likeliest_noise(pairs, t, n_classes=2), likeliest_noise(
    ...     pairs, wrong, n_classes=2
    ... )
    (0.001, 0.1)
    """
    graph = AnswerGraph(index, answers, n_classes=n_classes, weight=weight)
    graph.name_classes(0.05)
    return graph.likeliest_noise(prior)


def _log_prior(n_points: int, n_columns: int, named: list[int]) -> Floats:
    """Return the prior that names classes, (n_columns, n_points)."""
    log_p = np.full((n_columns, n_points), -np.log(n_columns))
    for c, point in enumerate(named):
        log_p[c + 1 :, point] = _NEVER
    return log_p


class AnswerGraph:
    """Answers, prepared for summing over several times.

    Parameters
    ----------
    index, answers, n_classes, weight
        As for `believe`.

    Examples
    --------
    >>> graph = AnswerGraph([(0, 1), (1, 2)], [-1, -1], n_classes=2)
    >>> graph.name_classes(noise=0.0)
    >>> graph.believe(noise=0.0).classes
    array([0, 1, 0])
    """

    def __init__(
        self,
        index: ArrayLike,
        answers: ArrayLike,
        *,
        n_classes: int | None = None,
        weight: Floats | None = None,
    ) -> None:
        self.pairs = np.asarray(index, dtype=np.int64).reshape(-1, 2)
        self.t = np.asarray(answers, dtype=float).ravel()
        self.n_classes = n_classes
        self.points, local = np.unique(self.pairs, return_inverse=True)
        self._index = local.reshape(-1, 2)
        counts = np.ones(len(self.t)) if weight is None else np.asarray(weight)
        same, different = counts * (1 + self.t) / 2, counts * (1 - self.t) / 2
        self._answers = Answers(same[:, None], different[:, None])
        self._components: dict[int, Components] = {}
        self._named: list[int] = []
        self._order: list[int] = []

    @property
    def n_columns(self) -> int:
        """Columns of beliefs: the established classes, and what may come."""
        n_named = len(self._named)
        return n_named + 1 if self.n_classes is None else max(n_named, self.n_classes)

    def name_classes(self, noise: float) -> None:
        """Find a representative of each class, by the answers alone."""
        self._named = []
        if not len(self.points):
            return
        times = np.bincount(self._index.ravel(), minlength=len(self.points))
        named = self._named = [int(times.argmax())]
        while self.n_classes is None or len(named) < self.n_classes:
            n_others = _OTHERS
            if self.n_classes is not None:
                n_others = min(n_others, self.n_classes - len(named))
            log_p = _log_prior(len(self.points), len(named) + n_others, named)
            marginal = self._sum(log_p, max(noise, _NAMING_NOISE))[1]
            # As if all other classes together had been as likely as one.
            other = marginal[len(named) :].mean(axis=0)
            other = other / (other + marginal[: len(named)].sum(axis=0))
            # Of points that are about as certain, that with most answers.
            near = np.flatnonzero(other > max(_NEW, other.max() - _ALIKE))
            if not len(near):
                break
            named.append(int(near[times[near].argmax()]))
        marginal = self._sum(self._log_prior(), noise)[1]
        classes = marginal.argmax(axis=0)
        classes[named] = np.arange(len(named))
        order = dict.fromkeys(classes[self._index.ravel()].tolist())
        known = [c for c in order if c < len(named)]
        self._order = known + list(range(len(named), self.n_columns))

    def believe(self, noise: float, prior: Floats | None = None) -> Beliefs:
        """Return the beliefs; with a prior, in its names. Parameters as before."""
        if prior is None:
            log_z, marginal, same = self._sum(self._log_prior(), noise)
            marginal = marginal[self._order]
        else:
            log_z, marginal, same = self._sum(_log(prior), noise)
        share = (1 + self.t) / 2
        wrong = share * (1 - same) + (1 - share) * same
        alone = self.pairs[:, 0] == self.pairs[:, 1]
        named = [self._named[c] for c in self._order[: len(self._named)]]
        return Beliefs(
            points=self.points,
            probability=marginal.T,
            n_established=len(named),
            representatives=self.points[np.array(named, dtype=np.int64)],
            suspicion=np.where(alone, 1 - share, wrong),
            log_likelihood=log_z,
        )

    def likeliest_noise(self, prior: Floats | None = None) -> float:
        """Return the likeliest rate of wrong answers; with a prior, in its names."""
        if not len(self.pairs):
            return float(_NOISE_GRID[0])
        log_p = self._log_prior() if prior is None else _log(prior)
        grid = np.array(_NOISE_GRID)
        components = self._prepared(len(log_p))
        # One model for each rate.
        answers = Answers(*(np.tile(each, len(grid)) for each in self._answers))
        tables = components.tables(answers, (1 - grid, grid))
        fit = components(np.repeat(log_p[:, :, None], len(grid), axis=2), tables).log_z
        fit = fit + _PRIOR_WRONG * np.log(grid) + _PRIOR_RIGHT * np.log1p(-grid)
        return float(grid[int(np.argmax(fit))])

    def _log_prior(self) -> Floats:
        return _log_prior(len(self.points), self.n_columns, self._named)

    def _prepared(self, n_columns: int) -> Components:
        if n_columns not in self._components:
            self._components[n_columns] = Components(
                self._index, len(self.points), n_columns, _MOST_STATES
            )
        return self._components[n_columns]

    def _sum(self, log_p: Floats, noise: float) -> tuple[float, Floats, Floats]:
        """Return log Z, the marginals (n_columns, n_points) and P(same) by answer."""
        if not len(self.pairs):
            return 0.0, np.exp(log_p), np.empty(0)
        components = self._prepared(len(log_p))
        e = max(noise, _LEAST_NOISE)
        tables = components.tables(self._answers, (1 - e, e))
        found = components(log_p[:, :, None], tables)
        same = components.at_pairs(found.links)[:, 0]
        return float(found.log_z[0]), found.points[:, :, 0], same


def _log(prior: Floats) -> Floats:
    return np.asarray(np.log(np.maximum(np.asarray(prior, dtype=float), 1e-12)).T)
