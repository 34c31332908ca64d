"""PairClassifier: the default that chooses for itself."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.special import log_softmax
from sklearn.utils import check_random_state

from pairlearn.data.checks import check_flip_rates, check_integer
from pairlearn.data.containers import on_host, stack_rows
from pairlearn.data.folds import joined_points
from pairlearn.data.pairs import as_pairs
from pairlearn.data.row_hashes import remember, remember_groups
from pairlearn.engine.points import as_points
from pairlearn.models.auto.choose import Chooser, Folds, Problem, deal_folds, refit
from pairlearn.models.auto.likelihood import CERTAIN, Labels
from pairlearn.models.auto.stack import estimate_rates
from pairlearn.models.auto.table import Candidates
from pairlearn.models.base import Answered, is_disjoint
from pairlearn.models.probabilistic import ProbabilisticPairClassifier
from pairlearn.trust.certificate import Certificate, make_certificate
from pairlearn.trust.noise import Counts, Noise, as_noise, rates_of
from pairlearn.trust.sample_checks import MoreKindsError, refuse_more_kinds

if TYPE_CHECKING:
    from numpy.random import RandomState
    from numpy.typing import ArrayLike

    from pairlearn.data.types import Floats, Ints, PairsLike, PointsLike
    from pairlearn.models.auto.choose import Choice
    from pairlearn.models.auto.likelihood import Rates
    from pairlearn.trust.assignment import Assignment

    # Points, and the numbers of their classes.
    Labelled = tuple[PointsLike, Ints]

__all__ = ["PairClassifier"]

# Pairs on which the choice is made; with more, the chosen models are trained further.
CHOICE_PAIRS = 2000
# Few pairs are dealt out to folds several times, as long as these are no more in all.
DEALT_PAIRS = 400
MOST_DEALS = 4
# Rounds of estimating flip rates and fitting with them.
_ROUNDS = 3
# Below this share of right answers to pairs of the same class something else is wrong.
_UNLIKELY = 0.4


class PairClassifier(ProbabilisticPairClassifier):
    r"""The recommended classifier: it chooses features and regularisation itself.

    Candidates are models of the class probabilities on the features of several kernels
    (linear; RBF and Laplacian of several widths) of two views of the columns
    (standardised; bent by a power where tails are heavy, with rare indicators left
    small), each with Gaussian priors of five scales on its weights, and the constant
    model. Each is trained by the likelihood of the answers (as
    :class:`~pairlearn.MCLClassifier`), on all pairs and on all but one of `n_folds`
    folds that share no point. The answers to pairs that a model has not seen then say

    * how its scores are to be scaled,
    * how much weight it gets in the average of all candidates' probabilities,
    * how that average is calibrated,
    * and, as `certificate_`, how good the result is.

    No class label is used, other than those in `labeled`.

    Parameters
    ----------
    n_classes : int, default=2
        Number of classes.
    majority : {+1, -1}, class name or None, default=None
        For two classes, the one that has more than half of the points: one of
        `classes`, or +1 for the second of them and -1 for the first. Knowing it, the
        held-out answers tell which side is which. None: which side gets which name is
        arbitrary, but deterministic.
    noise : "auto", tuple, float or None, default="auto"
        How often answers are wrong: (r1, r0) with r1 = P(answer same | same) and
        r0 = P(answer same | different); a single number e for (1 - e, e); None if no
        answer is wrong. "auto": both rates are estimated, and used if they raise the
        log-likelihood of held-out answers by more than log(number of pairs).
    classes : tuple or None, default=None
        Names of the classes, (negative, positive) for two. None: (-1, 1), or 0, 1, ...
    n_components : int, default=300
        The largest number of features of a kernel.
    n_folds : int, default=5
        Number of folds.
    max_pairs : int, default=20_000
        The largest number of pairs to use; if there are more, they are drawn at random.
        The models are chosen with 2,000 of them.
    progress : bool, default=False
        Whether to show a progress bar on standard error.
    n_jobs : int or None, default=None
        How many candidates are trained at the same time, in threads; -1 for all cores.
    random_state : int, RandomState or None, default=None
        Seed of the folds, of the landmarks of the kernels, and of other random choices.

    Attributes
    ----------
    candidates_ : Candidates
        What was tried, how well it explains answers it has not seen, and its weight.
    certificate_ : Certificate or None
        The error, estimated from held-out pairs; for two classes, answers that random
        pairs of two classes can give, and folds that share no point. Answers between -1
        and 1 count as unsure, and weights do not count. For a guarantee, call
        :func:`~pairlearn.certify` with pairs kept aside.
    flip_rates_ : tuple of float
        (r1, r0), given or estimated; (1.0, 0.0) for answers that are taken as right.
    log_likelihood_ : float
        Mean log-likelihood of a held-out answer under the calibrated average.
    assignment_ : Assignment or None
        Outcome of the class assignment.
    n_iter_ : int
        Iterations of L-BFGS over all candidates.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if the points have any.

    See Also
    --------
    CIPSClassifier : The paper's linear classifier, for a model that is easy to read.
    MCLClassifier : The linear model of the likelihood.

    Notes
    -----
    *Not guaranteed:* that an ensemble is the best one; that estimated flip rates are
    the true ones (wrong answers of both kinds alike look much like classes that
    overlap, and are seldom noticed: give their rate if it is known); the certificate,
    which is an estimate: the models of the folds had fewer pairs, and the weights of
    the average were chosen with the same answers. It counts wrong answers that went
    unnoticed as errors; where rates are to be estimated, its interval begins at 0, and
    its upper end is for all rates below 1/2.
    Pairs that share very many points cannot be split so that folds share none; then
    the pairs are divided among the folds, `candidates_` says so, and there is no
    certificate.
    Only row numbers tell that a point occurs again: equal rows of a 3-D array, or of
    `Pairs`, count as different points, and if they are the same ones the figures are
    too good.

    Examples
    --------
    >>> import numpy as np
    >>> from pairlearn import PairClassifier, Pairs
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 2))
    >>> y = np.where(np.hypot(*X.T) < 1.5, 1, -1)  # no line can do this
    >>> pairs, t = Pairs.sample(X[:400], 200, y[:400], random_state=0)
    >>> clf = PairClassifier(majority=+1, random_state=0).fit(pairs, t)
    >>> bool(np.mean(clf.predict(X[400:]) == y[400:]) > 0.9)
    True
    >>> clf.predict_proba([[0.0, 0.0], [3.0, 0.0]]).round(1)
    array([[0., 1.],
           [1., 0.]])
    """

    def __init__(
        self,
        *,
        n_classes: int = 2,
        majority: Any = None,
        noise: Any = "auto",
        classes: tuple[Any, ...] | None = None,
        n_components: int = 300,
        n_folds: int = 5,
        max_pairs: int = 20_000,
        progress: bool = False,
        n_jobs: int | None = None,
        random_state: int | RandomState | None = None,
    ) -> None:
        self.n_classes = n_classes
        self.majority = majority
        self.noise = noise
        self.classes = classes  # type: ignore[assignment]
        self.n_components = n_components
        self.n_folds = n_folds
        self.max_pairs = max_pairs
        self.progress = progress
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self,
        pairs: PairsLike,
        t: ArrayLike,
        sample_weight: ArrayLike | None = None,
        labeled: tuple[PointsLike, ArrayLike] | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Learn from pairs and answers, and from labelled points if there are any.

        Parameters
        ----------
        pairs : Pairs or array-like of shape (n_pairs, 2, n_features)
            Pairs.
        t : array-like of shape (n_pairs,)
            Answers: +1 for same, -1 for different, a number in between if
            uncertain; or bool.
        sample_weight : array-like of shape (n_pairs,), optional
            Weights of the pairs, relative to each other. Together they count as
            (sum of weights)^2 / (sum of their squares) pairs.
        labeled : tuple (X_l, y_l), optional
            Points and their classes, from `classes`. Each is a term of the same
            likelihood, and together they settle which class is which.
        groups : array-like of shape (n_points,) or (n_pairs, 2), optional
            Of whom or what each point is a row, or both points of each pair. The folds
            then share no group, so that a model is judged by pairs of things it has
            not seen.

        Returns
        -------
        self
        """
        rates = self._check_parameters()
        estimated = rates is None
        given = self._validate_fit(pairs, t, sample_weight)
        joined = None
        if groups is not None:
            asked = as_pairs(pairs)
            joined = joined_points(asked, groups)
            names = np.asarray(on_host(groups))
            names = names if names.ndim == 2 else names[asked.index]
            self._training_points = remember_groups(self._training_points, names)
        # Whatever fails from here on leaves a model that is not fitted.
        self.__dict__.pop("_ensemble", None)
        labels = None if labeled is None else self._check_labeled(labeled)
        if labels is not None:
            numbers = np.arange(len(labels[1]))
            memory = remember(labels[0], numbers, self._training_points)
            self._training_points = memory
        rng = check_random_state(self.random_state)
        # Weights are relative; together they count as the pairs that they are worth.
        weight = given.weight * given.weight.sum() / (given.weight @ given.weight)
        rows = np.flatnonzero(weight > 0)
        if len(rows) > self.max_pairs:
            rows = np.sort(rng.permutation(rows)[: self.max_pairs])
        given = given._replace(weight=weight).part(rows).compact()
        part = rng.permutation(len(rows))[:CHOICE_PAIRS]
        part = part if len(rows) > CHOICE_PAIRS else np.arange(len(rows))
        sample = given.part(part).compact()
        n_deals = max(1, min(MOST_DEALS, DEALT_PAIRS // len(part)))
        in_folds = sample.pairs if joined is None else joined[rows[part]].compact()
        folds = deal_folds(in_folds, self.n_folds, n_deals, rng)
        chooser = Chooser(self._problem(sample, labels), folds, self, rng)
        choice, rates = self._choose(chooser, rates)
        ensemble = choice.ensemble
        if len(part) < len(rows):
            ensemble = refit(ensemble, self._problem(given, labels), rates)
        self._ensemble = ensemble
        self._order = np.arange(self.n_classes)
        self._record(choice, rates, folds, estimated=estimated)
        tested = folds.tested[: folds.n_first]
        kept = sample.part(tested)
        self.certificate_: Certificate | None = None
        # What models of other folds say of some pairs, by the numbers of these.
        self._held_out: tuple[Ints, Floats] | None = None
        if folds.honest and self.n_classes == 2:
            usable = np.flatnonzero(is_disjoint(in_folds[tested], 0))
            group = choice.calibrated[usable].argmax(axis=2)
            says = np.where(group[:, 0] == group[:, 1], 1.0, -1.0)
            self._held_out = rows[part[tested[usable]]], says
            self._certify(kept.t[usable], says, estimated=estimated)
        return self._settle(choice, kept, given.pairs.X, labels)

    def _check_parameters(self) -> Rates | None:
        """Refuse wrong parameters; return the flip rates, or None to estimate them."""
        check_integer("n_components", self.n_components)
        for name in ("n_classes", "n_folds", "max_pairs"):
            check_integer(name, getattr(self, name), minimum=2)
        self._check_majority()
        rates = check_flip_rates(self.noise, "noise", ("auto",))
        if isinstance(rates, str):
            return None
        return CERTAIN if rates is None else _bounded(rates)

    def _check_labeled(self, labeled: tuple[PointsLike, ArrayLike]) -> Labelled:
        """Return labelled points and the numbers of their classes."""
        if not isinstance(labeled, tuple | list) or len(labeled) != 2:
            raise ValueError("labeled must be (X_l, y_l): points and their classes")
        X = self._validate_points(labeled[0], reset=False)
        y = self._check_labels(labeled[1], X.shape[0])
        return X, np.argmax(y[:, None] == self.classes_, axis=1)

    def _problem(self, given: Answered, labels: Labelled | None) -> Problem:
        pairs, t, weight = given
        X, known = pairs.X, None
        if labels is not None:
            rows = X.shape[0] + np.arange(len(labels[1]))
            X = stack_rows(X, labels[0])
            known = Labels(rows, labels[1], np.ones(len(rows)))
        same, different = weight * (1 + t) / 2, weight * (1 - t) / 2
        return Problem(X, pairs.index, same, different, known, self.n_classes)

    def _choose(self, chooser: Chooser, rates: Rates | None) -> tuple[Choice, Rates]:
        """Choose with the given rates, or with estimated ones if that explains more."""
        choice = chooser.choose(rates or CERTAIN)
        if rates is not None:
            return choice, rates
        best, best_rates = choice, CERTAIN
        for _ in range(_ROUNDS):
            found, gain = estimate_rates(choice.p, choice.held_out)
            if gain < np.log(choice.held_out.total):
                break
            choice = chooser.choose(_bounded(found))
            if choice.log_likelihood <= best.log_likelihood:
                break
            moved = np.abs(np.subtract(found, best_rates)).max()
            best, best_rates = choice, _bounded(found)
            if moved < 0.01:
                break
        return best, best_rates

    def _record(
        self, choice: Choice, rates: Rates, folds: Folds, *, estimated: bool
    ) -> None:
        total = choice.held_out.total
        # Rates are kept from certainty while fitting only.
        r1, r0 = rates
        self.flip_rates_ = (
            1.0 if r1 == CERTAIN[0] else r1,
            0.0 if r0 == CERTAIN[1] else r0,
        )
        if estimated and rates[0] < _UNLIKELY:
            warnings.warn(
                f"it seems that {1 - rates[0]:.0%} of pairs of the same class were "
                f"answered 'different': are there more than n_classes={self.n_classes} "
                "classes? If answers are right, pass noise=None",
                stacklevel=3,
            )
        self.log_likelihood_ = choice.log_likelihood / total
        self.n_iter_ = max(1, choice.n_iter)
        note = (
            f"average: log-likelihood {self.log_likelihood_:.4f} for each of "
            f"{folds.n_first} pairs within folds that "
            + (
                "share no point"
                if folds.honest
                else "share points: the figures are optimistic"
            )
        )
        if rates != CERTAIN:
            note += f"; flip rates r1 = {rates[0]:.3f}, r0 = {rates[1]:.3f}"
        self.candidates_ = Candidates(choice.rows, note)

    def _certify(self, t: Floats, says: Floats, *, estimated: bool) -> None:
        """Count the held-out pairs that the models trained without them get wrong."""
        sure = np.abs(t) == 1
        if not sure.any():
            return
        noise = Noise("unknown", rates_of(self)) if estimated else as_noise(self.noise)
        # Answers between -1 and 1 may be either.
        counts = Counts.of(says, np.where(sure, t, 0.0))
        n_same = counts.n_told_same + counts.n_unsure
        try:
            refuse_more_kinds(n_same, counts.n_pairs, noise)
        except MoreKindsError as problem:
            warnings.warn(f"{problem}; so there is no certificate", stacklevel=3)
            return
        self.certificate_ = make_certificate(counts, noise, 0.95, cross_validated=True)

    def _settle(
        self, choice: Choice, kept: Answered, X: PointsLike, labels: Labelled | None
    ) -> Self:
        """Settle which class is which: by labels, by the majority, or by a rule."""
        self.assignment_: Assignment | None = None
        if labels is not None:
            return self.assign_from_points(labels[0], self.classes_[labels[1]])
        if self.majority is None:
            self._fix_sign(X)
            return self
        logits = choice.calibrated[: len(kept.t)]
        left, right = (logits[..., 1] - logits[..., 0]).T
        return self._assign_by(kept, (left, right), self.majority, rates_of(self))

    def _fix_sign(self, X: PointsLike) -> None:
        """Make the column that the scores follow most grow with them: arbitrary."""
        if self.n_classes > 2:
            return
        X = X[:CHOICE_PAIRS]
        scores = np.tanh(self._scores(X))
        points = as_points(X)
        mean, variance = points.mean_and_variance()
        spread = np.sqrt(variance)
        # What a constant column says about the scores is rounding.
        spread = np.where(spread > 1e-6 * np.abs(mean), spread, np.inf)
        follows = points.pullback(scores - scores.mean()) / spread
        if follows[np.argmax(np.abs(follows))] < 0:
            self._flip()

    def _scores(self, X: PointsLike) -> Floats:
        logits = self._ensemble.logits(X)[:, self._order]
        if self.n_classes == 2:
            return np.asarray(logits[:, 1] - logits[:, 0])
        return np.asarray(log_softmax(logits, axis=1))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_ensemble")

    def _flip(self) -> None:
        self._reorder(np.array([1, 0]))

    def _reorder(self, order: Ints) -> None:
        self._order = self._order[order]


def _bounded(rates: tuple[float, float]) -> Rates:
    """Keep rates away from certainty."""
    return min(rates[0], CERTAIN[0]), max(rates[1], CERTAIN[1])
