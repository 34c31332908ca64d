r"""Answers that the rest of the data contradict.

The suspicion of an answer is the probability that it is wrong, given everything but
the answer itself: what a classifier says that was trained without it, and what other
answers about the same points say. It takes four steps.

1. **Folds of points.** The points are dealt out to `cv` folds, as by
   :class:`~pairlearn.PairKFold`, and a clone of the classifier is trained on the pairs
   that have no point in the fold. It gives the scores of the fold's points. Folds that
   are disjoint in pairs alone would not do: a model that has seen other answers about
   a point carries them into its score, and step 4 would count them twice. Pairs whose
   points are in two folds get their two scores from two models; the classes of these
   are matched by what they say of the same points. Where a few points are in most of
   the pairs, too few pairs are left; then pairs with one point in the fold train as
   well, and points that the model has seen in fewer than ten pairs get no score.
2. **Probabilities.** A slope, an intercept and the noise rate e are found by the
   likelihood of all answers under these scores: Platt scaling from pairs, with answers
   that are wrong at rate e. That gives P(same) of each pair, `probability`, whatever
   the scale of the scores. Overlapping classes make answers doubtful near the boundary,
   noise makes them doubtful everywhere: that tells the two apart.
3. **Bayes' rule.** If P(same) = Q by everything but the answer, and A is the
   probability with which the answer agrees with that (Q for "same", 1 - Q for
   "different"), then the answer is wrong with probability

   .. math:: \frac{e (1 - A)}{e (1 - A) + (1 - e) A} .

   A soft answer t counts as "same" with probability (1 + t) / 2. An answer of 0 says
   nothing, and its suspicion is the noise rate.
4. **Other answers.** Q is `probability` if no other answer is about the two points.
   Else it comes from the joint distribution of all classes, given all other answers
   (:mod:`pairlearn.trust.belief_propagation`). An answer on a short contradictory cycle
   becomes more suspicious, one that consistent cycles confirm becomes less so, in
   proportion to the evidence; of the answers on a contradictory cycle, those that the
   classifier doubts take the larger part. The noise rate is found again with what this
   brings to light.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from pairlearn.data.checks import (
    check_answers,
    check_both_kinds,
    check_integer,
    check_weights,
)
from pairlearn.data.cycles import in_contradictory_cycle
from pairlearn.data.frames import named_points, need_pandas
from pairlearn.data.notebook import plain_table
from pairlearn.data.pairs import as_pairs
from pairlearn.trust.belief_propagation import cavity, wrong
from pairlearn.trust.calibration import class_probabilities, expected_rate, fit_scale
from pairlearn.trust.held_out import Task, out_of_fold
from pairlearn.trust.probabilities import same_class

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.random import RandomState
    from numpy.typing import ArrayLike

    from pairlearn.data.types import Bools, Floats, Ints, PairsLike

__all__ = ["SuspiciousAnswer", "SuspiciousAnswers", "suspicious_answers"]

# Rounds of estimating the noise rate with the answers about shared points.
_ROUNDS = 20
# Rows of a printed table.
_SHOWN = 10


class SuspiciousAnswer(NamedTuple):
    """One answer, and what speaks against it.

    Attributes
    ----------
    pair : int
        Number of the pair.
    left, right : int
        Row numbers of its points.
    answer : float
        The answer.
    probability : float
        Out-of-fold probability that the two points are the same.
    suspicion : float
        Probability that the answer is wrong.
    contradicted : bool
        Whether it is in a contradictory cycle.
    """

    pair: int
    left: int
    right: int
    answer: float
    probability: float
    suspicion: float
    contradicted: bool


@dataclass(frozen=True, repr=False, eq=False)
class SuspiciousAnswers:
    """All answers, ranked by the probability that they are wrong.

    Attributes
    ----------
    order : ndarray of int, shape (n_pairs,)
        Pair numbers, most suspicious first.
    suspicion : ndarray of shape (n_pairs,)
        Probability that the answer of each pair is wrong, in the order of the pairs.
    probability : ndarray of shape (n_pairs,)
        Probability that the points of each pair are the same, by a classifier that has
        not seen them (see :func:`suspicious_answers` for an exception); after the noise
        has been allowed for.
    contradicted : ndarray of bool, shape (n_pairs,)
        Whether the answer is in a contradictory cycle: a closed path of answers, itself
        among them, that cannot all be right.
    noise_rate : float
        Estimated share of wrong answers.
    index : ndarray of shape (n_pairs, 2)
        The pairs.
    t : ndarray of shape (n_pairs,)
        The answers.
    """

    order: Ints
    suspicion: Floats
    probability: Floats
    contradicted: Bools
    noise_rate: float
    index: Ints
    t: Floats

    def __len__(self) -> int:
        return len(self.order)

    def __iter__(self) -> Iterator[SuspiciousAnswer]:
        """Yield the answers, most suspicious first."""
        return iter(self.head(len(self)))

    def head(self, n: int = _SHOWN) -> list[SuspiciousAnswer]:
        """Return the most suspicious answers, one after the other.

        Parameters
        ----------
        n : int, default=10
            How many, at most.

        Returns
        -------
        list of SuspiciousAnswer
            Each with `pair`, `left`, `right`, `answer`, `probability`, `suspicion` and
            `contradicted`.
        """
        n = check_integer("n", n, minimum=0)
        columns = (column.tolist() for column in self._columns(self.order[:n]))
        return [SuspiciousAnswer(*row) for row in zip(*columns, strict=True)]

    def to_frame(self, *, ids: ArrayLike | None = None) -> Any:
        """Return all answers as a pandas frame, most suspicious first.

        Parameters
        ----------
        ids : array-like of shape (n_points,), optional
            The ids of the points, to stand in `left` and `right` in place of their row
            numbers.

        Returns
        -------
        pandas.DataFrame
            With the columns of :class:`SuspiciousAnswer`.
        """
        pd = need_pandas(
            "the arrays order, suspicion, probability and contradicted are there "
            "without it"
        )
        known = zip(SuspiciousAnswer._fields, self._columns(self.order), strict=True)
        columns = dict(known)
        for side in ("left", "right"):
            columns[side] = named_points(columns[side], ids, None)
        return pd.DataFrame(columns)

    def _columns(self, k: Ints) -> tuple[Any, ...]:
        """Return what is known of some pairs, in the order of `SuspiciousAnswer`."""
        known = self.t, self.probability, self.suspicion, self.contradicted
        return k, *self.index[k].T, *(values[k] for values in known)

    def _summary(self) -> str:
        cycles = int(self.contradicted.sum())
        return (
            f"{len(self)} answers, about {self.noise_rate:.1%} of them wrong; "
            f"{cycles} in contradictory cycles"
        )

    def __repr__(self) -> str:
        head = f"{'pair':>8}{'points':>16}{'answer':>11}{'P(same)':>9}{'suspicion':>11}"
        lines = [
            f"{row.pair:>8}{f'{row.left}, {row.right}':>16}{_word(row.answer):>11}"
            f"{row.probability:>9.1%}{row.suspicion:>11.1%}"
            + "  in a contradictory cycle"
            * bool(row.contradicted)
            for row in self.head()
        ]
        left = len(self) - len(lines)
        more = [f"and {left} less suspicious"] if left else []
        return "\n".join([head, *lines, *more, self._summary()])

    def _repr_html_(self) -> str:
        """Return a table of the most suspicious answers, for notebooks."""
        names = ("pair", "points", "answer", "P(same)", "suspicion", "cycle")
        rows = (
            (
                str(row.pair),
                f"{row.left}, {row.right}",
                _word(row.answer),
                f"{row.probability:.1%}",
                f"<b>{row.suspicion:.1%}</b>",
                "contradictory" * bool(row.contradicted),
            )
            for row in self.head()
        )
        return plain_table(self._summary(), names, rows)


def suspicious_answers(
    clf: Any,
    pairs: PairsLike,
    t: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    cv: int = 5,
    random_state: int | RandomState | None = None,
) -> SuspiciousAnswers:
    """Rank answers by the probability that they are wrong, for a second look.

    Every answer is judged by a classifier that has not seen its points, and by the
    other answers about them. There is one exception: if a few points are in most of
    the pairs, too few pairs would be left to train on. Then pairs with one point in the
    fold are used for training as well, and a point that was seen in ten or more of them
    is still scored. The answer that is judged may be one of these ten. See
    :mod:`pairlearn.trust.suspicious` for the mathematics.

    Parameters
    ----------
    clf : pair classifier
        With ``fit(pairs, t)`` and ``decision_function(X)``: a classifier of this
        package, a pipeline that ends with one, or a search over one; fitted or not. It
        is cloned and stays as it is. Probabilities are not needed.
    pairs : Pairs or array-like of shape (n_pairs, 2, n_features)
        The pairs that were asked about.
    t : array-like of shape (n_pairs,)
        Their answers: +1 for same, -1 for different, a number in between if
        uncertain; or bool.
    sample_weight : array-like of shape (n_pairs,), optional
        Weights of the pairs in training and in the estimate of the noise rate. A pair
        of weight zero is no evidence about others, but is judged like them.
    cv : int, default=5
        Number of folds, and of models that are trained.
    random_state : int, RandomState or None, default=None
        Seed of the folds, and of clones whose own `random_state` is None.

    Returns
    -------
    SuspiciousAnswers
        With `order` (pair numbers, most suspicious first), `suspicion`, `probability`
        and `contradicted`; it prints as a table.

    Warns
    -----
    UserWarning
        If there are so few answers, or answers about so few points, that too few are
        left to train on. Some are then judged by other answers alone.

    Notes
    -----
    A wrong answer can be found only if the classifier, or other answers, are sure about
    its pair. Where classes overlap, a wrong answer looks like a right answer to a hard
    pair, and no method can tell the two apart: `suspicion` is then far from 1 even at
    the top of the list.

    *Not guaranteed:* that the noise rate is the true one; suspicions where wrong
    answers depend on the points (hard pairs are more often answered wrongly), or are of
    one kind only: noise is assumed to be the same everywhere. In large components of
    the graph of answers that have cycles they are approximate.

    More than two classes work with a classifier that has them (`n_classes`). A cycle is
    then contradictory if exactly one of its answers is "different".

    See Also
    --------
    Pairs.contradictions : Refuted answers with the cycles that refute them.

    References
    ----------
    C. E. Brodley and M. A. Friedl, "Identifying mislabeled training data", JAIR 11,
    1999, for out-of-fold predictions against wrong labels. J. Pearl, "Probabilistic
    Reasoning in Intelligent Systems", 1988, for belief propagation.

    Examples
    --------
    >>> import numpy as np
    >>> from pairlearn import CIPSClassifier, Pairs, suspicious_answers
    >>> rng = np.random.default_rng(0)
    >>> y = np.where(rng.random(400) < 0.6, 1, -1)
    >>> X = rng.normal(size=(400, 2)) + 3 * np.outer(y, [1, 0])
    >>> pairs, t = Pairs.sample(X, 200, y, random_state=0)
    >>> t[[7, 77, 177]] *= -1  # three slips
    >>> found = suspicious_answers(CIPSClassifier(), pairs, t, random_state=0)
    >>> sorted(found.order[:3].tolist())
    [7, 77, 177]
    >>> bool(found.suspicion[77] > 0.9)
    True
    """
    _check_classifier(clf, t)
    pairs = as_pairs(pairs)
    answers = check_answers(t, len(pairs), pairs.index)
    weight = check_weights(sample_weight, len(pairs))
    check_integer("cv", cv, minimum=2)
    check_both_kinds(answers[weight > 0])
    # In an order of their own: it does not matter in which order pairs are listed, nor
    # which of the two points comes first.
    ends = np.sort(pairs.index, axis=1)
    listed = np.lexsort((weight, answers, ends[:, 1], ends[:, 0]))
    task = Task(
        pairs=type(pairs)(pairs.X, ends[listed]),
        t=answers[listed],
        weight=weight[listed],
        weighted=sample_weight is not None,
    )
    scores = out_of_fold(clf, task, int(cv), check_random_state(random_state))
    probability, suspicion, rate = _judge(scores, task)
    n_classes = 2 if scores.ndim == 1 else scores.shape[1]
    given = np.empty(len(listed), dtype=np.intp)
    given[listed] = np.arange(len(listed))
    suspicion = suspicion[given]
    return SuspiciousAnswers(
        order=np.argsort(-suspicion, kind="stable"),
        suspicion=suspicion,
        probability=probability[given],
        contradicted=in_contradictory_cycle(
            pairs.n_points, pairs.index, answers, n_classes
        ),
        noise_rate=rate,
        index=pairs.index,
        t=answers,
    )


def _check_classifier(clf: Any, t: Any) -> None:
    if isinstance(clf, type):
        raise ValueError(f"pass an instance, {clf.__name__}(), not the class")
    if not hasattr(clf, "fit") or not hasattr(clf, "decision_function"):
        raise ValueError(
            "clf must be a pair classifier with fit and decision_function, such as "
            f"PairClassifier(), or a pipeline that ends with one; got {clf!r}"
        )
    shape: Any = getattr(t, "shape", ())
    if len(shape) == 2 and shape[1] > 1:
        raise ValueError(
            f"got answers of shape {tuple(shape)}, one for each class; look for wrong "
            "ones column by column, with the classifier of one column: "
            "suspicious_answers(clf.estimator, pairs, t[:, c])"
        )


def _judge(scores: Floats, task: Task) -> tuple[Floats, Floats, float]:
    """Return P(same) by the scores, the suspicion of each answer, the noise rate."""
    pairs, t, weight = task.pairs, task.t, task.weight
    # Weights are relative; together they count as the pairs that they are worth.
    weight = weight * weight.sum() / (weight @ weight)
    left, right = scores[pairs.left], scores[pairs.right]
    unknown = np.isnan(left + right).reshape(len(t), -1).any(axis=1)
    known = ~unknown & (weight > 0)
    judged = left[known], right[known], t[known], weight[known]
    two = pairs.left != pairs.right
    evidence = two & (weight > 0)
    scale = fit_scale(*judged)
    shares_points = not pairs[evidence].is_disjoint()
    for _ in range(_ROUNDS):
        p = class_probabilities(scores, scale)
        probability = same_class(p[pairs.left], p[pairs.right])
        probability[~two] = 1.0
        same = probability.copy()
        if shares_points:
            same[evidence] = cavity(p, pairs.index[evidence], t[evidence], scale.rate)
        suspicion = wrong(same, t, scale.rate)
        rate = expected_rate(suspicion[evidence], weight[evidence])
        if not shares_points or abs(rate - scale.rate) < 1e-3:
            break
        scale = fit_scale(*judged, rate=rate)
    return probability, suspicion, scale.rate


def _word(answer: float) -> str:
    if abs(answer) == 1:
        return "same" if answer > 0 else "different"
    return f"{answer:+.2f}"
