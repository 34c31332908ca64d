"""PairClassifier: the default that chooses for itself."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils import check_random_state

from pairlearn.data.checks import check_choice, check_flip_rates, check_integer
from pairlearn.data.containers import on_host, stack_rows, take_rows
from pairlearn.data.folds import joined_points
from pairlearn.data.pairs import as_pairs
from pairlearn.data.row_hashes import remember, remember_groups
from pairlearn.engine.components.risk_sum import LIKELIHOODS
from pairlearn.models.auto.averaged import AveragedClassifier
from pairlearn.models.auto.blocks import check_blocks, find_blocks, flattened
from pairlearn.models.auto.choose import Chooser, refit
from pairlearn.models.auto.folds import Folds, deal_folds
from pairlearn.models.auto.judged import Judged
from pairlearn.models.auto.kinds import settle_kinds
from pairlearn.models.auto.likelihood import CERTAIN, Labels
from pairlearn.models.auto.problem import Problem
from pairlearn.models.auto.rounds import Rounds, bounded
from pairlearn.models.auto.table import Candidates
from pairlearn.models.auto.with_people import Turns, weighed
from pairlearn.people.crowd import check_annotators, gather
from pairlearn.people.rates import rates_of_people
from pairlearn.trust.certificate import (
    Certificate,
    certificate_from_points,
    make_certificate,
)
from pairlearn.trust.more_kinds import two_kinds_evidence
from pairlearn.trust.noise import RIGHT, Noise, as_noise, rates_of
from pairlearn.trust.sample_checks import MoreKindsError, refuse_more_kinds

if TYPE_CHECKING:
    from numpy.random import RandomState
    from numpy.typing import ArrayLike

    from pairlearn.data.types import Floats, Ints, PairsLike, PointsLike
    from pairlearn.models.auto.choice import Choice
    from pairlearn.models.auto.kinds import Kinds
    from pairlearn.models.auto.likelihood import Rates
    from pairlearn.models.base import Answered
    from pairlearn.people.crowd import Crowd
    from pairlearn.people.rates import PeopleRates
    from pairlearn.trust.assignment import Assignment

    # Points, and the numbers of their classes.
    Labelled = tuple[PointsLike, Ints]

__all__ = ["PairClassifier"]

# Pairs on which the choice is made; with more, the chosen models are trained further.
CHOICE_PAIRS = 2000
# Few pairs are dealt out to folds several times, as long as these are no more in all.
DEALT_PAIRS = 400
MOST_DEALS = 4
# Unlabelled points that are used; of more, some are drawn.
MOST_UNLABELED = 4000
# Below this share of right answers to pairs of the same class something else is wrong.
_UNLIKELY = 0.4


class PairClassifier(AveragedClassifier):
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

    No class label is used, other than those in `labeled`. With `unlabeled` points there
    are further candidates, which are smooth over neighbours.

    Parameters
    ----------
    n_classes : int or "auto", default=2
        Number of classes. "auto": two, unless the answers speak for more: see `kinds_`.
        `classes`, where given, say how many there are.
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
    likelihood : {"component", "pair"}, default="component"
        * "component": answers about points that are connected by answers are seen
          together, so that what they imply counts, too: a chain of answers is worth as
          much as as many labels. See :mod:`pairlearn.engine.components.likelihood`.
          Nothing changes for pairs that share no point, nor for more than two classes
          (:class:`~pairlearn.MCLClassifier` sees answers together for these, too).
        * "pair": every pair stands alone.
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
        How many candidates are trained at the same time, in threads; -1 for all cores;
        None for as many as BLAS may use threads. The result is the same.
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
    flip_rate_interval_ : tuple of float or None
        Where rates were estimated and pairs share points: between which limits the rate
        of wrong answers lies, by the models and by cycles of answers that cannot be all
        right, at 95 % confidence. It takes the models' probabilities for right. None
        otherwise.
    people_ : PeopleRates or None
        With `annotators`, what is known of each person: how often they say "same" of
        pairs that are the same and of others, with intervals, and who seems to answer
        at random or the wrong way round. `flip_rates_` are then the means over all
        answers.
    log_likelihood_ : float
        Mean log-likelihood of a held-out answer under the calibrated average.
    assignment_ : Assignment or None
        Outcome of the class assignment.
    n_iter_ : int
        Iterations of L-BFGS over all candidates.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_classes_ : int
        Their number, given or found.
    kinds_ : Kinds or None
        With ``n_classes="auto"``, which numbers of classes were tried, how well they
        explain answers, and why.
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
    For more than two classes fewer candidates are trained, and begin with groups of
    points that two of them have found. If nobody has named them, the classes are in the
    order of how many points are in each, the largest first.

    *Not guaranteed:* that an ensemble is the best one; that the number of classes that
    "auto" finds is right (a class that few answers are about, or that the features do
    not tell from another, goes unnoticed); that estimated flip rates are
    the true ones (where pairs share no point, wrong answers of both kinds alike look
    much like classes that overlap, and are seldom noticed: give their rate if it is
    known, have some pairs answered twice, or say who answered); the certificate, which
    is an estimate: the models of the folds had fewer pairs, and the weights of the
    average were chosen with the same answers. It counts wrong answers that went
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
        n_classes: int | str = 2,
        majority: Any = None,
        noise: Any = "auto",
        classes: tuple[Any, ...] | None = None,
        likelihood: str = "component",
        n_components: int = 300,
        n_folds: int = 5,
        max_pairs: int = 20_000,
        progress: bool = False,
        n_jobs: int | None = None,
        random_state: int | RandomState | None = None,
    ) -> None:
        self.n_classes = n_classes  # type: ignore[assignment]
        self.majority = majority
        self.noise = noise
        self.classes = classes  # type: ignore[assignment]
        self.likelihood = likelihood
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
        unlabeled: PointsLike | None = None,
        shaping: PointsLike | None = None,
        annotators: ArrayLike | None = None,
        blocks: Any = None,
    ) -> Self:
        """Learn from pairs and answers, and from other points if there are any.

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
        unlabeled : array-like, sparse or data frame of shape (n, n_features), optional
            Points that nobody was asked about; of more than 4,000, as many are drawn.
            Candidates that prefer boundaries through gaps between points are then
            tried, too. They are used if held-out answers are explained better with
            them, by more than one standard error; if not, the model is the one without
            them. It has seen these points, so :func:`~pairlearn.certify` needs pairs of
            others.
        shaping : array-like, sparse or data frame of shape (n, n_features), optional
            Points that shape the features of the kernels: how columns are scaled and
            bent, and which directions count. There are further candidates then, on the
            leading axes of the columns, if some stand out. With few pairs, of which
            most are about chosen points, the others show better how points are spread;
            with random pairs little is gained. Of more than 4,000, as many are drawn.
        annotators : array-like of shape (n_pairs,), optional
            Who gave each answer: names or numbers. How often each person is right is
            then found together with the models (see `people_`), and each answer counts
            for what it is worth. A pair may occur several times, answered by several
            people. This needs ``noise="auto"``.
        blocks : sequence of (thing, part, start, stop), optional
            Columns that belong together and have one unit already, such as the words of
            a text: of what, in what way, the first column and the one after the last.
            They are not scaled one by one; candidates see each sort of block alone, all
            of them, and all beside the other columns. None: a sparse table of at least
            100 columns whose rows have length one, as text vectorisers leave them, is
            one block.

        Returns
        -------
        self
        """
        rates = self._check_parameters()
        estimated = rates is None
        named = None
        if annotators is not None:
            named = self._check_annotators(annotators, len(as_pairs(pairs)))
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
        others = None
        if unlabeled is not None:
            others = self._validate_points(unlabeled, reset=False)
        if blocks is None:
            found = find_blocks(given.pairs.X)
        else:
            found = check_blocks(blocks, given.pairs.X.shape[1])
        rng = check_random_state(self.random_state)
        # Weights are relative; together they count as the pairs that they are worth.
        weight = given.weight * given.weight.sum() / (given.weight @ given.weight)
        crowd: Crowd | None = None
        first = np.arange(len(weight))
        if named is not None:
            first, crowd = gather(given.pairs.index, given.t, *named, weight)
            given, weight = given.part(first), np.ones(len(first))
            joined = None if joined is None else joined[first]
            weight[np.bincount(crowd.pair, crowd.weight, len(first)) == 0] = 0.0
        rows = np.flatnonzero(weight > 0)
        if len(rows) > self.max_pairs:
            rows = np.sort(rng.permutation(rows)[: self.max_pairs])
        given = given._replace(weight=weight).part(rows).compact()
        part = rng.permutation(len(rows))[:CHOICE_PAIRS]
        part = part if len(rows) > CHOICE_PAIRS else np.arange(len(rows))
        sample = given.part(part).compact()
        n_deals = max(1, min(MOST_DEALS, DEALT_PAIRS // len(part)))
        in_folds = sample.pairs if joined is None else joined[rows[part]].compact()
        problem = self._problem(sample, labels)
        deal = partial(deal_folds, in_folds, self.n_folds, n_deals)
        if others is not None and found and shaping is None:
            # Texts that nobody was asked about show which words go together.
            shaping = others
        if shaping is not None:
            shaping = self._validate_points(shaping, reset=False)
            shaping = self._draw_unlabeled(shaping, rng)
        chooser = Chooser(problem, deal, self, rng, shaping, found)
        if others is not None and problem.n_classes == 2 and not found:
            # Drawn last, so that the other candidates are as they are without them.
            others = self._draw_unlabeled(others, rng)
            chooser.add_smooth_trials(others, self.n_components, rng)
        self.people_: PeopleRates | None = None
        to_count: Floats | None = None
        told: Rates | None = None
        things = None if joined is None else joined.index[rows]
        turns = None
        if crowd is not None:
            crowd = crowd.part(rows)
            turns = Turns(crowd, part, chooser)
            rates = CERTAIN
        choice, rates = self._settle_kinds(chooser, rates, given, things, turns)
        folds = choice.folds
        ensemble = choice.ensemble
        everything = None
        if len(part) < len(rows):
            everything = self._problem(given, labels)
        if crowd is not None and turns is not None:
            if everything is not None:
                coins = turns.with_others(given.pairs, ensemble)
                everything = weighed(everything, crowd, coins)
            self.people_ = rates_of_people(crowd, turns.coins)
            sample, to_count, told = turns.to_judge(sample)
        if everything is not None:
            ensemble = refit(ensemble, everything, rates)
        if found:
            members = [flattened(member) for member in ensemble.members]
            ensemble = replace(ensemble, members=members)
        self._ensemble = ensemble
        self._order = np.arange(self.n_classes_)
        self._record(choice, rates, folds, estimated=estimated)
        if self.people_ is not None:
            self.flip_rates_ = self.people_.mean_rates
        judged = Judged.of(choice, chooser.problem, sample, in_folds, to_count)
        self.certificate_: Certificate | None = None
        # What models of other folds say of some pairs, by the numbers of these.
        self._held_out: tuple[Ints, Floats] | None = None
        if folds.honest and self.n_classes_ == 2:
            numbers = first[rows[part[judged.rows[judged.usable]]]]
            self._held_out = numbers, judged.says
            noise = Noise("unknown", told or rates_of(self))
            self._certify(judged, noise if estimated else as_noise(self.noise))
        return self._settle(judged, given.pairs.X, labels)

    def _check_parameters(self) -> Rates | None:
        """Refuse wrong parameters; return the flip rates, or None to estimate them."""
        check_integer("n_components", self.n_components)
        check_choice("likelihood", self.likelihood, LIKELIHOODS)
        for name in ("n_classes", "n_folds", "max_pairs"):
            if getattr(self, name) != "auto" or name != "n_classes":
                check_integer(name, getattr(self, name), minimum=2)
        self._check_majority()
        rates = check_flip_rates(self.noise, "noise", ("auto",))
        if isinstance(rates, str):
            return None
        return CERTAIN if rates is None else bounded(rates)

    def _check_annotators(
        self, annotators: ArrayLike, n_answers: int
    ) -> tuple[tuple[str, ...], Ints]:
        """Return the names of people, and who gave each answer."""
        if self.noise != "auto":
            raise ValueError(
                "with annotators, how often each person is wrong is estimated, which "
                f"noise={self.noise!r} contradicts; leave one of both out"
            )
        return check_annotators(annotators, n_answers)

    def _check_labeled(self, labeled: tuple[PointsLike, ArrayLike]) -> Labelled:
        """Return labelled points and the numbers of their classes."""
        if not isinstance(labeled, tuple | list) or len(labeled) != 2:
            raise ValueError("labeled must be (X_l, y_l): points and their classes")
        if self._asks_how_many:
            raise ValueError(
                "labeled points name classes, so their number must be known: give "
                "classes, or n_classes as a number"
            )
        X = self._validate_points(labeled[0], reset=False)
        y = self._check_labels(labeled[1], X.shape[0])
        return X, np.argmax(y[:, None] == self.classes_, axis=1)

    def _draw_unlabeled(self, X: PointsLike, rng: RandomState) -> PointsLike:
        """Return unlabelled points, or some of very many, and remember them as seen."""
        if X.shape[0] > MOST_UNLABELED:
            X = take_rows(X, np.sort(rng.permutation(X.shape[0])[:MOST_UNLABELED]))
        everything = np.arange(X.shape[0])
        self._training_points = remember(X, everything, self._training_points)
        return X

    def _problem(self, given: Answered, labels: Labelled | None) -> Problem:
        pairs, t, weight = given
        X, known = pairs.X, None
        if labels is not None:
            rows = X.shape[0] + np.arange(len(labels[1]))
            X = stack_rows(X, labels[0])
            known = Labels(rows, labels[1], np.ones(len(rows)))
        same, different = weight * (1 + t) / 2, weight * (1 - t) / 2
        # Of several classes nothing is gained by seeing answers together.
        joint = self.likelihood == "component" and self._n_kinds == 2
        return Problem(
            X, pairs.index, same, different, known, self._n_kinds, joint,
            certain=self.noise is None,
        )  # fmt: skip

    @property
    def _asks_how_many(self) -> bool:
        """Whether the number of classes is to be found."""
        return isinstance(self.n_classes, str) and self.classes is None

    def _settle_kinds(
        self,
        chooser: Chooser,
        rates: Rates | None,
        given: Answered,
        things: Ints | None,
        turns: Turns | None,
    ) -> tuple[Choice, Rates]:
        """Choose, and find first how many classes there are if nobody says."""
        kinds: Kinds | None = None
        found = Rounds()
        choose = found.choose if turns is None else turns.choose
        if turns is not None:
            given = given._replace(t=turns.first_answers())
        if self._asks_how_many:
            evidence = two_kinds_evidence(
                given.pairs, given.t, rates or CERTAIN, things
            )
            kinds, choice, rates = settle_kinds(chooser, rates, evidence, choose)
            if kinds.chosen > 2:
                self.classes_ = np.arange(kinds.chosen)
        else:
            choice, rates = choose(chooser, rates)
        self.flip_rate_interval_ = found.interval
        self.kinds_ = kinds
        self.n_classes_ = self._n_kinds
        if self.majority is not None and self.n_classes_ > 2:
            warnings.warn(
                f"the answers speak for {self.n_classes_} classes, and majority names "
                "them only when there are two: the names are arbitrary. Use "
                "assign_from_points, or n_classes=2 if there are two",
                stacklevel=3,
            )
        return choice, rates

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
                "answered 'different': are there more than "
                f"n_classes={self.n_classes_} classes? If answers are right, pass "
                "noise=None",
                stacklevel=3,
            )
        self.log_likelihood_ = choice.log_likelihood / total
        self.n_iter_ = max(1, choice.n_iter)
        fit = f"average: log-likelihood {self.log_likelihood_:.4f}"
        note = f"{fit} for each of {folds.in_words}"
        if rates != CERTAIN:
            note += f"; flip rates r1 = {rates[0]:.3f}, r0 = {rates[1]:.3f}"
        self.candidates_ = Candidates(choice.rows, note)

    def _certify(self, judged: Judged, noise: Noise) -> None:
        """Count what models get wrong of pairs or points that they have not seen."""
        if not judged.sure.any():
            return
        counts = judged.counts()
        n_same = counts.n_told_same + counts.n_unsure
        try:
            refuse_more_kinds(n_same, counts.n_pairs, noise)
        except MoreKindsError as problem:
            warnings.warn(f"{problem}; so there is no certificate", stacklevel=3)
            return
        if len(judged.point_wrong) > counts.n_pairs:
            self._held_out = None
            self.certificate_ = certificate_from_points(
                int(judged.point_wrong.sum()),
                len(judged.point_wrong),
                noise if noise.kind == "none" else Noise("unknown", noise.rates),
                n_unsure=int(judged.point_unsure.sum()),
            )
            return
        self.certificate_ = make_certificate(counts, noise, 0.95, cross_validated=True)

    def _settle(self, judged: Judged, X: PointsLike, labels: Labelled | None) -> Self:
        """Settle which class is which: by labels, by the majority, or by a rule."""
        self.assignment_: Assignment | None = None
        if labels is not None:
            return self.assign_from_points(labels[0], self.classes_[labels[1]])
        if self.n_classes_ > 2:
            self._largest_first(X)
            return self
        if self.majority is None:
            self._fix_sign(X)
            return self
        left, right = (judged.logits[..., 1] - judged.logits[..., 0]).T
        # What people say together has their rates in it.
        rates = rates_of(self) if self.people_ is None else RIGHT
        return self._assign_by(judged.given, (left, right), self.majority, rates)
