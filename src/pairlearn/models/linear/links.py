"""Links against random couples: the "different" answers say nothing by themselves."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy import sparse

from pairlearn.data.checks import check_choice
from pairlearn.engine.coefficients import Coefficients, pair_coefficients
from pairlearn.engine.links import BinaryLink
from pairlearn.engine.objective import PairObjective, count_evaluation
from pairlearn.engine.points import as_points
from pairlearn.engine.risks import EdgeRisk, LikelihoodRisk
from pairlearn.engine.scaling import Scaling
from pairlearn.engine.solvers import minimise_lbfgs, starts
from pairlearn.models.linear.base import LinearPairClassifier
from pairlearn.models.probabilistic import ProbabilisticPairClassifier

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.random import RandomState
    from numpy.typing import ArrayLike

    from pairlearn.data.pairs import Pairs
    from pairlearn.data.types import Floats, Ints, PairsLike
    from pairlearn.engine.solvers import Solution
    from pairlearn.models.base import Answered
    from pairlearn.trust.noise import Rates

__all__ = ["LinkClassifier"]

# Strengths of the penalty to choose from, in units of the mean variance of a feature.
ALPHAS = (0.64, 0.32, 0.16, 0.08, 0.04, 0.02, 0.01, 0.005)
N_FOLDS = 5
# With fewer pairs to judge by, a choice among strengths would follow their noise.
FEWEST_JUDGED = 50
# Where the log-odds of a link begin: for two of one class, for others, of similarity.
START = (0.5, -1.7, 0.0)
CHUNK = 10_000
# Scores that differ by less than this say next to the same of all points.
FLAT = 0.1


@dataclass(frozen=True, eq=False)
class EdgeObjective:
    """J as a function of the weights and of how links are drawn, together.

    The vector is (u, g, h, c): the coordinates of the weights, and what an `EdgeRisk`
    knows of links.

    Parameters
    ----------
    objective : PairObjective
        Pairs, coefficients, penalty and scaling.
    similarity : ndarray of shape (n_pairs,)
        s of each pair.
    """

    objective: PairObjective
    similarity: Floats
    n_evaluations: int = field(default=0, init=False)
    smooth: ClassVar[bool] = True

    def __call__(self, v: Floats) -> tuple[float, Floats]:
        """Return the objective and its gradient."""
        count_evaluation(self)
        g, h, c = v[-3:].tolist()
        risk = EdgeRisk(g, h, c, self.similarity)
        value, gradient = self.objective.value_and_gradient(risk, v[:-3])
        return value, np.concatenate([gradient, risk.draw_gradient])


def _start(objective: PairObjective) -> Floats:
    """Return weights to begin with, whose scores differ from point to point."""
    u = starts(objective, 1)[0]
    spread = float(np.std(objective.points.scores(*objective.weights(u))))
    return u / spread if 1e-9 < spread < FLAT else u


class LinkClassifier(ProbabilisticPairClassifier, LinearPairClassifier):
    r"""Linear classifier from links and random couples, without "different" answers.

    Links (citations, purchases, friendships) join points of one class more often than
    not, but nobody said that two points are different. The usual way out calls random
    couples of points "different", although about half of them are not. Here a random
    couple counts as a draw from all pairs, and a link as a draw that favours points of
    one class, and points that are alike in any other way. With class
    probabilities p = sigmoid(f), f(x) = w^T x + b, and
    S = p p' + (1 - p) (1 - p') the odds of a link against a couple are

    .. math:: e^{c s(x, x')} \, (e^{g} S + e^{h} (1 - S)),

    with s a similarity; w, b, g, h and c maximise the likelihood of what was drawn,
    less (alpha / 2) \|w\|^2.

    Parameters
    ----------
    alpha : float or "auto", default="auto"
        Strength of the penalty on the weights. "auto": the strongest of eight whose
        likelihood in five folds that share no point is within one standard error of
        the best.
    similarity : {"cosine"} or None, default=None
        s: the cosine of the angle between the points as given, or none. It is for many
        features, such as the words of texts, where links follow topics that cut across
        the classes: the term keeps the boundary away from a topic. With few features,
        two points are often alike just because they are of one class, and it can do
        harm. It is not used for points with one feature.
    fit_intercept : bool, default=True
        Whether f has the intercept b.
    max_iter : int, default=200
        Iterations of L-BFGS for each strength.
    tol : float, default=1e-5
        L-BFGS stops when no entry of the gradient exceeds this.
    majority : {+1, -1}, class name or None, default=None
        The class that holds more than half of the points. None: no class assignment.
    assignment_size : float or int, default=0.2
        Share (or number) of pairs kept out of training for class assignment, which
        takes as many links as couples of them.
    classes : tuple or None, default=None
        Names of the classes; None: (-1, 1).
    random_state : int, RandomState or None, default=None
        Seed of the folds, and of the choice of pairs for class assignment.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Weights.
    intercept_ : ndarray of shape (1,)
        Intercept.
    alpha_ : float
        The penalty's strength, given or chosen.
    link_odds_ : tuple of float
        Odds of a link against a couple of average similarity, for two points of one
        class and of different classes.
    similarity_weight_ : float
        c, for a similarity of unit variance.
    objective_, history_, n_iter_
        As for :class:`MCLClassifier`.
    assignment_ : Assignment or None
        Outcome of the class assignment.
    classes_ : ndarray of shape (2,)
        Names of the classes.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if the points have any.

    See Also
    --------
    pairlearn.datasets.link_pairs : Links and random couples of a graph.
    MCLClassifier : With `flip_rates`, for answers that are wrong at some rate.

    Notes
    -----
    "auto" protects against boundaries that only few links suggest, but its penalty is
    too strong where the model is right: compare with a smaller `alpha` of your own. The
    penalty also makes the two `link_odds_` more different.

    Folds that share no point matter: with ordinary folds the links of a point are in
    both parts, and weights that merely memorise the point look good.

    Give `Pairs(X, index)`: in an array of pairs a point that occurs twice counts as
    two, and folds cannot keep it on one side.

    With `majority`, the larger class is the one that is more frequent among the ends of
    links than among random points, as it is when both classes link equally often. If
    points of the smaller class have more links each, use `assign_from_points`.

    *Not guaranteed:* that the classes are what the links follow most. The error of the
    pairs says little here, since random couples disagree with any classifier.

    Examples
    --------
    >>> import numpy as np
    >>> from pairlearn import LinkClassifier, clustering_error
    >>> from pairlearn.datasets import link_pairs
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(1000) < 0.35
    >>> X = rng.normal(size=(1000, 5)) + 2 * y[:, None] * np.eye(5)[0]
    >>> couples = rng.integers(1000, size=(6000, 2))
    >>> same = y[couples[:, 0]] == y[couples[:, 1]]
    >>> links = couples[rng.random(6000) < np.where(same, 0.5, 0.05)]
    >>> pairs, t = link_pairs(X, links, random_state=0)
    >>> clf = LinkClassifier(random_state=0).fit(pairs, t)
    >>> clustering_error(y, clf.predict(X)) < 0.15  # 0.129 with all labels
    True
    """

    def __init__(
        self,
        *,
        alpha: float | str = "auto",
        similarity: str | None = None,
        fit_intercept: bool = True,
        max_iter: int = 200,
        tol: float = 1e-5,
        majority: Any = None,
        assignment_size: float = 0.2,
        classes: tuple[Any, Any] | None = None,
        random_state: int | RandomState | None = None,
    ) -> None:
        self.alpha = alpha  # type: ignore[assignment]
        self.similarity = similarity
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.majority = majority
        self.assignment_size = assignment_size
        self.classes = classes  # type: ignore[assignment]
        self.random_state = random_state

    def fit(
        self, pairs: PairsLike, t: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn from links and random couples.

        Parameters
        ----------
        pairs : Pairs or array-like of shape (n_pairs, 2, n_features)
            Pairs.
        t : array-like of shape (n_pairs,)
            +1 for a link, -1 for a couple drawn at random; or bool.
        sample_weight : array-like of shape (n_pairs,), optional
            Weights of the pairs.

        Returns
        -------
        self
        """
        self._check_parameters()
        train, kept, rng = self._prepare_fit(pairs, t, sample_weight)
        used = train.weight > 0
        if not used.all():
            # Pairs that do not count shall set neither strengths nor folds.
            train = train.part(used).compact()
        similarity = self._similarities(train.pairs, train.weight)
        mean_variance = float(as_points(train.pairs.X).mean_and_variance()[1].mean())
        given: Any = self.alpha
        self.alpha_ = 0.0 if given == "auto" else float(given)
        if given == "auto":
            alphas = [a * (mean_variance or 1.0) for a in ALPHAS]
            self.alpha_ = self._choose(train, similarity, alphas, rng)
        solution, objective = self._solve(train, similarity, [self.alpha_])[0]
        self._store(*objective.weights(solution.u[:-3]))
        g, h, c = solution.u[-3:]
        self.link_odds_ = (float(np.exp(g)), float(np.exp(h)))
        self.similarity_weight_ = float(c)
        self._record(solution)
        self._fix_sign()
        if np.std(self._scores(train.pairs.X)) < FLAT / 100:
            warnings.warn(
                "the weights are almost zero: the penalty outweighs the links, or the "
                "links follow no linear boundary, or the points are all alike. Try a "
                "lower alpha",
                stacklevel=2,
            )
        return self._assign_from(kept)

    def _solve(
        self, given: Answered, similarity: Floats, alphas: Sequence[float]
    ) -> list[tuple[Solution, PairObjective]]:
        """Minimise for each strength, from the strongest, each from the last."""
        points = as_points(given.pairs.X)
        coefficients = pair_coefficients(given.t, given.weight)
        risk_sum = points.coupled(given.pairs.index, coefficients)
        risk = LikelihoodRisk(BinaryLink())
        found: list[tuple[Solution, PairObjective]] = []
        flat = True
        for alpha in alphas:
            scaling = Scaling.of(points, alpha, self.fit_intercept)
            objective = PairObjective(risk_sum, risk, alpha, scaling)
            # No weights are a place that nothing leads away from: begin afresh there.
            begin = [np.append(_start(objective), START)] if flat else []
            if found:
                last, before = found[-1]
                w, b = before.weights(last.u[:-3])
                begin.append(np.append(scaling.coordinates(w, float(b)), last.u[-3:]))
            solution = minimise_lbfgs(
                EdgeObjective(objective, similarity),
                begin,
                max_iter=self.max_iter,
                tol=self.tol,
            )
            found.append((solution, objective))
            scores = points.scores(*objective.weights(solution.u[:-3]))
            flat = bool(np.std(scores) < FLAT)
        return found

    def _choose(
        self,
        given: Answered,
        similarity: Floats,
        alphas: Sequence[float],
        rng: RandomState,
    ) -> float:
        """Return the strongest penalty within one standard error of the best."""
        fold = rng.randint(N_FOLDS, size=given.pairs.n_points)[given.pairs.index]
        losses = []
        for k in range(N_FOLDS):
            train = np.flatnonzero((fold != k).all(axis=1))
            test = np.flatnonzero((fold == k).all(axis=1))
            kinds = [given.t[part] * given.weight[part] for part in (train, test)]
            few = min(np.sum(kind * sign > 0) for kind in kinds for sign in (1, -1))
            if len(test) < FEWEST_JUDGED / N_FOLDS or few < 2:
                # Too little to choose by: a middling strength.
                return alphas[len(alphas) // 2]
            found = self._solve(given.part(train), similarity[train], alphas)
            judged = given, similarity, test
            losses.append([self._loss(*judged, s.u, trained) for s, trained in found])
        mean = np.mean(losses, axis=0)
        best = int(np.argmin(mean))
        error = np.std(losses, axis=0, ddof=1)[best] / np.sqrt(N_FOLDS)
        return alphas[int(np.flatnonzero(mean <= mean[best] + error)[0])]

    def _loss(
        self,
        given: Answered,
        similarity: Floats,
        test: Ints,
        v: Floats,
        trained: PairObjective,
    ) -> float:
        """Return the loss of held-out pairs, links and couples counting the same."""
        t, weight = given.t[test], given.weight[test]
        same, different = (
            weight * (1 + sign * t) / 2 / (2 * np.sum(weight * (1 + sign * t) / 2))
            for sign in (1, -1)
        )
        risk_sum = trained.points.coupled(
            given.pairs.index[test], Coefficients(same, different)
        )
        held_out = replace(trained, risk_sum=risk_sum, alpha=0.0)
        return EdgeObjective(held_out, similarity[test])(v)[0]

    def _similarities(self, pairs: Pairs, weight: Floats) -> Floats:
        """Return the similarity of each pair, centred and of unit variance."""
        # With one feature the cosine is +1 or -1, and would stand for the classes.
        if self.similarity is None or pairs.n_features == 1:
            return np.zeros(len(pairs))
        X = pairs.X
        if sparse.issparse(X):
            squares = np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
        else:
            squares = np.einsum("ij,ij->i", X, X, dtype=np.float64)
        norm = np.sqrt(squares)
        norm[norm == 0] = 1.0
        parts = []
        for begin in range(0, len(pairs), CHUNK):
            left, right = pairs.index[begin : begin + CHUNK].T
            if sparse.issparse(X):
                dot = np.asarray(X[left].multiply(X[right]).sum(axis=1)).ravel()
            else:
                dot = np.einsum("ij,ij->i", X[left], X[right], dtype=np.float64)
            parts.append(dot / (norm[left] * norm[right]))
        found = np.concatenate(parts)
        found -= np.average(found, weights=weight)
        spread = np.sqrt(np.average(found**2, weights=weight))
        # Cosines that are all the same differ by rounding.
        return np.asarray(found / spread if spread > 1e-6 else 0 * found)

    def _assign_by(
        self,
        given: Answered,
        scores: tuple[Floats, Floats],
        majority: Any,
        rates: Rates | None,
    ) -> Self:
        """Settle the sign from as many links as couples.

        The class that is more frequent among the ends of links than among random
        points is the larger one. In equal numbers, that is what Q says; otherwise the
        more numerous kind would outvote the other, whatever the classes are.
        """
        t, weight = given.t, given.weight.copy()
        kinds = [np.flatnonzero((sign * t > 0) & (weight > 0)) for sign in (1, -1)]
        n = min(map(len, kinds))
        if n == 0:
            raise ValueError(
                "class assignment needs links and random pairs, and there are "
                f"{len(kinds[0])} links and {len(kinds[1])} random pairs for it; raise "
                "assignment_size, or use assign_from_points"
            )
        rng = np.random.RandomState(0)
        kinds = [np.sort(rng.permutation(kind)[:n]) for kind in kinds]
        for kind in kinds:
            weight[kind] /= weight[kind].mean()
        chosen = np.concatenate(kinds)
        both = scores[0][chosen], scores[1][chosen]
        given = given._replace(weight=weight).part(chosen)
        return super()._assign_by(given, both, majority, rates)

    def _check_parameters(self) -> None:
        check_choice("similarity", self.similarity, ("cosine", None))
        self._check_numbers("max_iter")

    def _check_alpha(self) -> None:
        if isinstance(self.alpha, str):
            check_choice("alpha", self.alpha, ("auto",))
        else:
            super()._check_alpha()
