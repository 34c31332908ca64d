r"""How many kinds there are, from answers alone.

Two kinds are taken for granted unless something speaks against them: the answers
themselves (:mod:`pairlearn.trust.more_kinds`); a model of two kinds that explains the
answers better if pairs of the same kind are often answered "different" while the others
are seldom answered "same", which is how a third kind looks to a model that has to put
it into a group with another; or a quick look at models with a few groups more.

If so, models with K = 2, 3, ... groups are fitted
(:mod:`pairlearn.models.auto.groups`), and two things are known of each: the objective
J_K of the model that saw all answers, and the mean log-likelihood L_K of answers that
the models of the folds have not seen. With n answers about m points,

.. math:: \mu = \max\left(1, \frac{n}{m}\right) \log n ,

K' > K kinds are preferred to K if J_K - J_K' and n (L_K' - L_K) are both above mu / 2,
and 2 mu together; the smallest K to which none is preferred is chosen. A group too many
lowers J by next to nothing, since the answers about its two halves must be explained,
too; L alone would do, but fewer answers are in it and it varies more. The factor of
log n is there because a point that lies among those of another kind contradicts all of
its answers at once.

With the words of texts there are more features than points, so that two groups explain
any answers that the model has seen, and J says nothing: L alone must gain 2 mu then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from scipy.special import softmax

from pairlearn.models.auto.groups import find_groups
from pairlearn.models.auto.likelihood import CERTAIN
from pairlearn.models.auto.path import score
from pairlearn.models.auto.several import best_of_each, explains, scouts, soft
from pairlearn.models.auto.stack import estimate_rates

if TYPE_CHECKING:
    from collections.abc import Callable

    from pairlearn.data.types import Floats
    from pairlearn.models.auto.choice import Choice
    from pairlearn.models.auto.choose import Chooser
    from pairlearn.models.auto.likelihood import Rates
    from pairlearn.trust.more_kinds import KindsEvidence

__all__ = ["Kinds", "KindsTried", "doubt", "find_kinds", "settle_kinds"]

# No more groups than this are tried, and no more than a third of the points.
MOST_KINDS = 60
# The search ends where so many times log n nats are lost already.
_HOPELESS = 4
# With so many groups the quick look begins.
_LOOK = 5
# A gain by flip rates that is worth a look, and how one-sided they are then.
_GAIN, _ONE_SIDED, _LEAST_MISSED = 2.0, 2.0, 0.02


@dataclass(frozen=True)
class KindsTried:
    """One number of kinds, and how well it explains the answers.

    Attributes
    ----------
    n_classes : int
        The number of kinds.
    objective : float or None
        J of the model that saw all answers: smaller is better. None if only two kinds
        were tried.
    log_likelihood : float
        Mean log-likelihood of a held-out answer.
    chosen : bool
        Whether it was chosen.
    """

    n_classes: int
    objective: float | None
    log_likelihood: float
    chosen: bool


class Kinds(Sequence[KindsTried]):
    """The numbers of kinds that were tried, and why one was chosen.

    Parameters
    ----------
    rows : iterable of KindsTried
        What was tried.
    reason : str
        Why.

    Examples
    --------
    >>> Kinds([KindsTried(2, 90.0, -0.4, False), KindsTried(3, 16.0, -0.1, True)], "")
    kinds  objective  held-out log-likelihood
        2       90.0                  -0.4000
        3       16.0                  -0.1000  chosen
    """

    def __init__(self, rows: Any, reason: str = "") -> None:
        self._rows = sorted(rows, key=lambda row: row.n_classes)
        self.reason = reason

    @overload
    def __getitem__(self, item: int) -> KindsTried: ...
    @overload
    def __getitem__(self, item: slice) -> list[KindsTried]: ...
    def __getitem__(self, item: Any) -> Any:
        """Return one number of kinds that was tried, or a list of them."""
        return self._rows[item]

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def chosen(self) -> int:
        """The number of kinds that was chosen."""
        return int(next(row.n_classes for row in self._rows if row.chosen))

    def to_dict(self) -> list[dict[str, Any]]:
        """Return the rows as dictionaries, which pandas.DataFrame takes as they are.

        Returns
        -------
        list of dict
        """
        return [asdict(row) for row in self._rows]

    def __repr__(self) -> str:
        lines = ["kinds  objective  held-out log-likelihood"]
        for row in self._rows:
            objective = "" if row.objective is None else f"{row.objective:.1f}"
            line = f"{row.n_classes:>5}{objective:>11}{row.log_likelihood:>25.4f}"
            lines.append(line + "  chosen" * bool(row.chosen))
        return "\n".join([*lines, self.reason]).rstrip()


def doubt(chooser: Chooser, choice: Choice, rates: Rates | None) -> str | None:
    """Return what models say against two kinds, if anything.

    `choice` is the model of two kinds. Rates that were given are believed.
    """
    if chooser.problem.shared.any():
        seen_together = chooser.find_wrong_answers(choice)
        (r1, r0), gain = seen_together.rates, seen_together.gain
    else:
        (r1, r0), gain = estimate_rates(choice.p, choice.held_out)
    one_sided = 1 - r1 > max(_ONE_SIDED * r0, _LEAST_MISSED)
    if rates is None and gain > _GAIN and one_sided:
        return (
            f"with two kinds, {1 - r1:.0%} of pairs of the same kind would have been "
            f"answered 'different', but only {r0:.0%} of the others 'same'"
        )
    likelihood: Any = chooser.apart().likelihood(soft(rates or CERTAIN))
    # The last model is the one that sees all answers.
    only = replace(
        likelihood,
        same=likelihood.same[:, -1:],
        different=likelihood.different[:, -1:],
        labels=None,
    )
    rng = np.random.RandomState(chooser.seed)
    for trial in scouts(chooser.trials):
        features = trial.features.astype(np.float32)
        values = [
            float(value[0]) for *_, value in find_groups(features, only, _LOOK, 2, rng)
        ]
        if values[-1] - min(values) > _margin(chooser):
            return "models with more groups explain the answers better"
    return None


def _margin(chooser: Chooser) -> float:
    """Return mu, by how much more kinds must explain the answers better."""
    problem = chooser.problem
    total = float(problem.same.sum() + problem.different.sum())
    n_points = len(np.unique(problem.index))
    return float(max(1.0, total / n_points) * np.log(max(total, 2.0)))


def find_kinds(
    chooser: Chooser, rates: Rates, reason: str
) -> tuple[Kinds, Floats | None]:
    """Find how many kinds there are.

    Parameters
    ----------
    chooser : Chooser
        The pairs, their folds, and the features of the candidates.
    rates : tuple of float
        (r1, r0), or those of certain answers if nothing is known.
    reason : str
        Why more than two kinds are tried.

    Returns
    -------
    kinds : Kinds
        What was tried and chosen.
    groups : ndarray of shape (n_points, n_models, n_classes) or None
        The groups that were found, where the models with this number begin; None for
        two.
    """
    problem = chooser.problem
    total = float(problem.same.sum() + problem.different.sum())
    margin = _margin(chooser)
    limit = max(3, min(MOST_KINDS, problem.X.shape[0] // 3))
    share = max(float(problem.same.sum()) / total, 1 / limit)
    most = min(limit, int(np.ceil(1.5 / share)) + 2)
    while True:
        found = [
            _search(chooser, trial, rates, most, margin)
            for trial in scouts(chooser.trials)
        ]
        # The scout that explains held-out answers best, with any number of kinds.
        best = max(found, key=lambda tried: max(each[1] for each in tried.values()))
        chosen = _smallest(best, margin, total, by_folds=bool(chooser.blocks))
        if chosen < most or most == limit:
            break
        most = min(limit, 2 * most)
    rows = [
        KindsTried(k, float(J), float(fit), k == chosen)
        for k, (J, fit, *_) in best.items()
    ]
    kinds = Kinds(rows, f"more than two were tried because {reason}")
    if chosen == 2:
        return kinds, None
    known = [tried[chosen][2:] for tried in found if chosen in tried]
    return kinds, best_of_each(known)


# For each number of groups: J and L, and probabilities and J of each model.
_Tried = dict[int, "tuple[float, float, Floats, Floats]"]


def _search(
    chooser: Chooser, trial: Any, rates: Rates, most: int, margin: float
) -> _Tried:
    """Return what a scout finds with each number of groups that may be chosen."""
    features = trial.features.astype(np.float32)
    smooth = soft(rates)
    given: Any = chooser.likelihood(smooth)
    likelihood = replace(given, labels=None)
    held_out = chooser.held_out(smooth)
    rng = np.random.RandomState(chooser.seed)
    tried: _Tried = {}
    for n_groups, w, value in find_groups(features, likelihood, most, 2, rng):
        scores = score(features, w.astype(np.float32))
        fit = explains(chooser, scores, held_out) / held_out.total
        tried[n_groups] = float(value[-1]), fit, softmax(scores, axis=2), value
        lowest = min(each[0] for each in tried.values())
        highest = max(each[1] for each in tried.values())
        worse = value[-1] - lowest, (highest - fit) * held_out.total
        if min(worse) > _HOPELESS * margin:
            break
    return tried


def _smallest(
    tried: _Tried, margin: float, total: float, *, by_folds: bool = False
) -> int:
    """Return the smallest number of kinds to which no larger one is preferred."""
    for k in sorted(tried):
        gains = [
            (tried[k][0] - tried[more][0], total * (tried[more][1] - tried[k][1]))
            for more in tried
            if more > k
        ]
        if by_folds:
            # Half of the gain of held-out answers stands in for that of J.
            gains = [(gain / 2, gain / 2) for _, gain in gains]
        if not any(min(g) > margin / 2 and sum(g) > 2 * margin for g in gains):
            return k
    return max(tried)


def settle_kinds(
    chooser: Chooser,
    rates: Rates | None,
    evidence: KindsEvidence,
    choose: Callable[[Chooser, Rates | None], tuple[Choice, Rates]],
) -> tuple[Kinds, Choice, Rates]:
    """Choose models with two kinds, or with more if something speaks for them.

    Parameters
    ----------
    chooser : Chooser
        Of two kinds.
    rates : tuple of float or None
        (r1, r0); None: they are estimated.
    evidence : KindsEvidence
        What the answers alone say.
    choose : callable
        From a chooser and rates to the outcome, and the rates that were used.

    Returns
    -------
    kinds : Kinds
        What was tried and chosen.
    choice : Choice
        The models with that number of kinds.
    rates : tuple of float
        The rates.
    """
    reason = evidence.in_words() if evidence.doubtful else None
    outcome = None
    if not evidence.refuted:
        outcome = choose(chooser, rates)
        reason = reason or doubt(chooser, outcome[0], rates)
    if reason is None or not chooser.trials:
        outcome = outcome or choose(chooser, rates)
        choice = outcome[0]
        fit = choice.log_likelihood / choice.held_out.total
        return Kinds([KindsTried(2, None, fit, True)], evidence.in_words()), *outcome
    apart = chooser.apart()
    kinds, groups = find_kinds(apart, rates or CERTAIN, reason)
    if kinds.chosen == 2:
        return kinds, *(outcome or choose(chooser, rates))
    more = apart.for_classes(kinds.chosen)
    more.groups = groups
    return kinds, *choose(more, rates)
