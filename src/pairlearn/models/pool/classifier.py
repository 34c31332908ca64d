r"""Learning from few answers, some of them wrong, with the help of the other points.

1. **Beliefs.** The answers alone say something about the class of each point they are
   about (:mod:`pairlearn.trust.beliefs`). What is believed of the others spreads to
   each asked point over neighbours (:meth:`Pool.spread_to_asked`), and is
   the prior of its class as the answers are summed over again; three times in all. The
   prior of a point knows nothing of the answers about the point itself, so a wrong
   answer about it stands out.
2. **Spreading.** The beliefs spread to all points: p(c | x) of
   :mod:`pairlearn.models.pool.neighbours`.
3. **A model.** Scores f_c(x) = w_c^T z(x) + b_c on the features of several kernels
   minimise

   .. math:: -\sum_{i \text{ asked}} v_i \sum_c T_{ic} \log q_c(x_i)
      - \frac{\tau}{n} \sum_{i=1}^n \sum_c P_{ic} \log q_c(x_i)
      + \sum_c \frac{|w_c|^2}{2 s^2} + \frac{b_c^2}{2 \cdot 10^2} ,

   with q = softmax(f), T the beliefs, v_i = 1 - entropy(T_i) / log C, P proportional to
   the squares of what was spread, and tau = 100 / (10 + number of asked points). While
   answers are few the model repeats what neighbours say; as they become more, they
   outvote it, and a model that is straight where classes are separated by planes is not
   bent by neighbours. Where answers are wrong at a rate e, s is smaller for straight
   models, by 1 / (1 + e / 0.03): with as many columns as answers, large weights would
   follow the wrong ones. Probabilities of the kernels are averaged with weights
   proportional to exp(-J / 3), J the value of the minimum: where classes are not
   separated by planes, straight models count little.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.utils import check_random_state

from pairlearn.data.checks import check_flip_rates, check_integer
from pairlearn.data.containers import stack_rows, take_rows
from pairlearn.data.pairs import Pairs
from pairlearn.data.row_hashes import remember
from pairlearn.models.auto.averaged import AveragedClassifier
from pairlearn.models.auto.ensemble import Ensemble, Member
from pairlearn.models.auto.path import score
from pairlearn.models.auto.stack import Calibration
from pairlearn.models.pool.neighbours import Pool
from pairlearn.trust.beliefs import AnswerGraph
from pairlearn.trust.probabilities import probabilities

if TYPE_CHECKING:
    from numpy.random import RandomState
    from numpy.typing import ArrayLike

    from pairlearn.data.types import Floats, Ints, PairsLike, PointsLike
    from pairlearn.models.pool.neighbours import Space
    from pairlearn.trust.assignment import Assignment
    from pairlearn.trust.beliefs import Beliefs

__all__ = ["Learned", "PoolClassifier", "learn", "learn_beliefs"]

_ROUNDS = 3
# tau is _PULL / (_SOFTENED + number of asked points).
_PULL, _SOFTENED = 100.0, 10.0
_INTERCEPT_SCALE = 10.0
# How much the objective of a kernel may be above the lowest to get 1 / e of its share.
_TEMPERATURE = 3.0
# At this rate of wrong answers the weights of straight models are kept half as large.
_HALF_AS_LARGE = 0.03
# So much of the prior of an asked point is shared out to all classes alike.
_DOUBT = 0.06
_MOST_POINTS = 1500


class Learned(NamedTuple):
    """A model, and what it was learned from.

    Attributes
    ----------
    model : PoolClassifier
        Fitted; its classes are the columns of the beliefs.
    beliefs : Beliefs
        About the points that were asked about, by their numbers in the pool.
    probability : ndarray of shape (n_points, n_classes)
        The model's class probabilities of the points of the pool.
    """

    model: PoolClassifier
    beliefs: Beliefs
    probability: Floats


def learn_beliefs(
    pool: Pool,
    index: Ints,
    t: Floats,
    *,
    n_classes: int | None,
    noise: float | str | None,
    weight: Floats | None = None,
) -> tuple[Beliefs, float]:
    """Return beliefs about asked points, by the answers and by their neighbours.

    Parameters
    ----------
    pool : Pool
        All points.
    index : ndarray of shape (n_answers, 2)
        Numbers of the points in the pool.
    t : ndarray of shape (n_answers,)
        Answers.
    n_classes : int or None
        Number of classes, None if unknown.
    noise : float, "auto" or None
        Rate of wrong answers, or "auto" to estimate it.
    weight : ndarray of shape (n_answers,), optional
        Weights of the answers.

    Returns
    -------
    beliefs : Beliefs
    noise : float
        The rate that was used.
    """
    found = noise == "auto"
    e = 0.05 if found else float(noise or 0.0)
    graph = AnswerGraph(index, t, n_classes=n_classes, weight=weight)
    graph.name_classes(e)
    beliefs = graph.believe(e)
    for _ in range(_ROUNDS):
        others = pool.spread_to_asked(beliefs.points, beliefs.probability)
        prior = (1 - _DOUBT) * others + _DOUBT / graph.n_columns
        e = graph.likeliest_noise(prior) if found else e
        beliefs = graph.believe(e, prior)
    return beliefs, e


def learn(
    pool: Pool,
    index: ArrayLike,
    answers: ArrayLike,
    *,
    n_classes: int | None = None,
    noise: float | str | None = "auto",
    classes: tuple[Any, ...] | None = None,
    random_state: int | RandomState | None = None,
    weight: Floats | None = None,
) -> Learned:
    """Learn a classifier from the answers so far, also if all are of one kind.

    Parameters
    ----------
    pool : Pool
        All points.
    index : array-like of int, shape (n_answers, 2)
        Numbers of the points in the pool, in the order in which they were asked about.
    answers : array-like of shape (n_answers,)
        +1 for same, -1 for different, or a number in between.
    n_classes : int or None
        Number of classes, None if unknown.
    noise : float, "auto" or None
        Rate of wrong answers, or "auto" to estimate it.
    classes : tuple or None
        Names of the classes, as for :class:`PoolClassifier`.
    random_state : int, RandomState or None
        Kept by the model.
    weight : ndarray of shape (n_answers,), optional
        Weights of the answers.

    Returns
    -------
    Learned

    Examples
    --------
    >>> import numpy as np
    >>> from pairlearn.models.pool.neighbours import Pool
    >>> X = np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 20, axis=0)
    >>> X += np.random.default_rng(0).normal(size=X.shape)
    >>> found = learn(Pool(X), [(0, 20), (0, 40), (20, 40)], [-1, -1, -1], n_classes=3)
    >>> np.bincount(found.probability.argmax(axis=1))
    array([20, 20, 20])
    >>> found.model.predict([[0.0, 8.0]])
    array([2])
    """
    pairs = np.asarray(index, dtype=np.int64).reshape(-1, 2)
    kinds: Any = "auto" if n_classes is None else n_classes
    model = PoolClassifier(
        n_classes=kinds, noise=noise, classes=classes, random_state=random_state
    )
    model._check_parameters()
    given = model._validate_fit(Pairs(pool.X, pairs), answers, None, both_kinds=False)
    everything = np.arange(pool.n_points)
    model._training_points = remember(pool.X, everything, model._training_points)
    return Learned(model, *model._learn(pool, pairs, given.t, weight))


class PoolClassifier(AveragedClassifier):
    """A classifier from few answers and many points that nobody was asked about.

    Answers about pairs say which asked points belong together; neighbours say what
    follows for the others; the formulas stand in the module's documentation. With
    hundreds of answers :class:`~pairlearn.PairClassifier`, which chooses among more
    models by answers it has held out, is the better choice.

    Parameters
    ----------
    n_classes : int or "auto", default=2
        Number of classes. "auto": as many as the answers show, but at least two.
    noise : float, "auto" or None, default="auto"
        Rate of wrong answers, below 1/2; None if no answer is wrong; "auto": estimated.
    classes : tuple or None, default=None
        Names of the classes. None: (-1, 1) for two, or 0, 1, ... They are given to the
        classes in the order in which the answers come to them, which is arbitrary; use
        `assign_from_points`.
    max_points : int, default=1500
        The largest number of points whose neighbours are used; points in no pair are
        drawn if there are more.
    random_state : int, RandomState or None, default=None
        Seed of the points drawn, and of the landmarks of kernels.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    noise_ : float
        Rate of wrong answers, given or estimated.
    assignment_ : Assignment or None
        Outcome of the class assignment.
    n_iter_ : int
        Iterations of L-BFGS over all kernels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if the points have any.

    See Also
    --------
    PairClassifier : Chooses features and regularisation by held-out answers.

    Examples
    --------
    >>> import numpy as np
    >>> from pairlearn import Pairs
    >>> from pairlearn.models.pool.classifier import PoolClassifier
    >>> angle = np.linspace(0, np.pi, 100)
    >>> upper = np.c_[np.cos(angle), np.sin(angle)]
    >>> X = np.r_[upper, [1.0, 0.5] - upper]  # two moons
    >>> pairs = Pairs(X, [(0, 50), (50, 99), (0, 100), (100, 150), (150, 199)])
    >>> model = PoolClassifier(noise=None, random_state=0)
    >>> y = model.fit(pairs, [1, 1, -1, 1, 1], unlabeled=X).predict(X)
    >>> np.unique(y[:100]), np.unique(y[100:])
    (array([-1]), array([1]))
    """

    def __init__(
        self,
        *,
        n_classes: int | str = 2,
        noise: float | str | None = "auto",
        classes: tuple[Any, ...] | None = None,
        max_points: int = _MOST_POINTS,
        random_state: int | RandomState | None = None,
    ) -> None:
        self.n_classes = n_classes  # type: ignore[assignment]
        self.noise = noise
        self.classes = classes  # type: ignore[assignment]
        self.max_points = max_points
        self.random_state = random_state

    def fit(
        self,
        pairs: PairsLike,
        t: ArrayLike,
        sample_weight: ArrayLike | None = None,
        unlabeled: PointsLike | None = None,
    ) -> Self:
        """Learn from pairs and answers, and from points that nobody was asked about.

        Parameters
        ----------
        pairs : Pairs or array-like of shape (n_pairs, 2, n_features)
            Pairs.
        t : array-like of shape (n_pairs,)
            Answers: +1 for same, -1 for different, a number in between if
            uncertain; or bool.
        sample_weight : array-like of shape (n_pairs,), optional
            Weights of the pairs, relative to each other.
        unlabeled : array-like, sparse or data frame of shape (n, n_features), optional
            Further points.

        Returns
        -------
        self
        """
        self._check_parameters()
        given = self._validate_fit(pairs, t, sample_weight)
        self.__dict__.pop("_ensemble", None)
        given = given.part(given.weight > 0).compact()
        X = given.pairs.X
        rng = check_random_state(self.random_state)
        if unlabeled is not None:
            others = self._validate_points(unlabeled, reset=False)
            n_others = max(0, self.max_points - X.shape[0])
            rows = np.sort(rng.permutation(others.shape[0])[:n_others])
            others = take_rows(others, rows)
            numbers = np.arange(others.shape[0])
            self._training_points = remember(others, numbers, self._training_points)
            X = stack_rows(X, others)
        pool = Pool(X, int(rng.randint(2**31 - 1)))
        weight = given.weight / given.weight.mean()
        self._learn(pool, given.pairs.index, given.t, weight)
        return self

    def _check_parameters(self) -> None:
        if not isinstance(self.n_classes, str) or self.n_classes != "auto":
            check_integer("n_classes", self.n_classes, minimum=2)
        check_integer("max_points", self.max_points, minimum=2)
        check_flip_rates(self.noise, "noise", ("auto",))

    def _learn(
        self, pool: Pool, index: Ints, t: Floats, weight: Floats | None
    ) -> tuple[Beliefs, Floats]:
        """Learn; return the beliefs, and the probabilities of the pool's points."""
        known = not isinstance(self.n_classes, str) or self.classes is not None
        n_classes = len(self.classes_) if known else None
        beliefs, self.noise_ = learn_beliefs(
            pool, index, t, n_classes=n_classes, noise=self.noise, weight=weight
        )
        if n_classes is None:
            n_classes = max(2, beliefs.n_established)
            if n_classes > 2:
                self.classes_ = np.arange(n_classes)
        asked, belief = beliefs.points, beliefs.probability[:, :n_classes]
        found = _fit_ensemble(pool, asked, belief, self.noise_)
        self._ensemble, probability, self.n_iter_ = found
        self._order = np.arange(n_classes)
        self.assignment_: Assignment | None = None
        return beliefs, probability


def _fit_ensemble(
    pool: Pool, asked: Ints, belief: Floats, noise: float
) -> tuple[Ensemble, Floats, int]:
    """Return the average of models, what it says of the pool, and iterations."""
    calm = 1 / (1 + noise / _HALF_AS_LARGE)
    spaces = [
        space._replace(scale=space.scale * calm) if space.is_straight else space
        for space in pool.spaces
    ]
    n_classes = belief.shape[1]
    spread = pool.spread(asked, belief) ** 2
    spread /= spread.sum(axis=1, keepdims=True)
    pull = _PULL / (_SOFTENED + len(asked)) / pool.n_points
    target = pull * spread
    entropy = -(belief * np.log(np.maximum(belief, 1e-12))).sum(axis=1)
    sure = np.maximum(belief.sum(axis=1) - entropy / np.log(n_classes), 0.0)
    np.add.at(target, asked, sure[:, None] * belief)
    fits = [_fit_softmax(space, target) for space in spaces]
    value = np.array([value for _, value, _ in fits])
    share = np.exp((value.min(initial=np.inf) - value) / _TEMPERATURE)
    share /= share.sum() if len(share) else 1.0
    members, mean = [], np.zeros((pool.n_points, n_classes))
    for space, (weights, _, _), part in zip(spaces, fits, share, strict=True):
        mean += part * probabilities(score(space.features, weights))[:, 0]
        one = np.ones(1)
        scale, parts = space.scale * one, part * one
        members.append(
            Member(space.view, space.feature_map, weights, scale, one, parts)
        )
    constant = target.sum(axis=0) / target.sum()
    if not members:
        mean += constant
    calibration = Calibration(1.0, np.zeros(n_classes))
    ensemble = Ensemble(members, float(not members), constant, calibration)
    return ensemble, mean, max(1, sum(n_iter for _, _, n_iter in fits))


def _fit_softmax(space: Space, target: Floats) -> tuple[Floats, float, int]:
    """Return weights (1, n_classes, n_features + 1), the minimum, and iterations."""
    features = np.column_stack([space.features, np.ones(len(space.features))])
    penalty = np.full(features.shape[1], space.scale**-2)
    penalty[-1] = _INTERCEPT_SCALE**-2
    total = target.sum(axis=1, keepdims=True)
    # In these coordinates the curvature is about the same in all directions.
    stretch = np.sqrt(0.25 * (total * features**2).sum(axis=0) + penalty)
    features = features / stretch
    penalty = penalty / stretch**2
    shape = target.shape[1], features.shape[1]

    def objective(u: Floats) -> tuple[float, Floats]:
        weights = u.reshape(shape)
        log_q = log_softmax(features @ weights.T, axis=1)
        value = -np.vdot(target, log_q) + np.vdot(penalty * weights, weights) / 2
        slope = (total * np.exp(log_q) - target).T @ features + penalty * weights
        return float(value), slope.ravel()

    options = {"maxiter": 200, "ftol": 1e-7, "gtol": 1e-4}
    found = minimize(
        objective, np.zeros(shape).ravel(), jac=True, method="L-BFGS-B", options=options
    )
    weights = np.asarray(found.x.reshape(shape) / stretch)[None]
    return weights, float(found.fun), int(found.nit)
