"""Models, and how often answers are wrong, each found from what the other says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pairlearn.models.auto.likelihood import CERTAIN
from pairlearn.models.auto.stack import estimate_rates

if TYPE_CHECKING:
    from pairlearn.models.auto.choice import Choice
    from pairlearn.models.auto.choose import Chooser
    from pairlearn.models.auto.likelihood import Rates

__all__ = ["Rounds", "bounded"]

# Rounds of estimating flip rates and fitting with them.
_ROUNDS = 3
# Rates that move by less than this are not worth another round: where pairs share no
# point, and where they do.
_SETTLED, _SETTLED_JOINTLY = 0.01, 0.015


class Rounds:
    """Chooses models with rates of wrong answers that are given, or found on the way.

    Attributes
    ----------
    interval : tuple of float or None
        Between which limits the rate of wrong answers lies, where pairs share points
        and rates were to be found.
    """

    def __init__(self) -> None:
        self.interval: tuple[float, float] | None = None

    def choose(self, chooser: Chooser, rates: Rates | None) -> tuple[Choice, Rates]:
        """Choose with the given rates, or with estimated ones if that explains more."""
        if rates is None and chooser.problem.shared.any() and chooser.folds.honest:
            return self._choose_jointly(chooser)
        choice = chooser.choose(rates or CERTAIN)
        if rates is not None:
            return choice, rates
        best, best_rates = choice, CERTAIN
        for _ in range(_ROUNDS):
            found, gain = estimate_rates(choice.p, choice.held_out)
            if gain < np.log(choice.held_out.total):
                break
            choice = chooser.choose(bounded(found))
            if choice.log_likelihood <= best.log_likelihood:
                break
            moved = np.abs(np.subtract(found, best_rates)).max()
            best, best_rates = choice, bounded(found)
            if moved < _SETTLED:
                break
        return best, best_rates

    def _choose_jointly(self, chooser: Chooser) -> tuple[Choice, Rates]:
        """Choose with the rates that cycles of answers and the models speak for.

        Cycles tell of wrong answers before there is a model.
        """
        found = chooser.find_wrong_answers(None)
        enough = np.log(chooser.problem.same.sum() + chooser.problem.different.sum())
        e = found.symmetric
        used = bounded((1 - e, e)) if found.gain > enough else CERTAIN
        choice = chooser.choose(used)
        for _ in range(_ROUNDS):
            found = chooser.find_wrong_answers(choice)
            rates = bounded(found.rates) if found.gain > enough else CERTAIN
            moved = np.abs(np.subtract(rates, used)).max()
            if moved < _SETTLED_JOINTLY:
                break
            used = rates
            choice = chooser.choose(used)
        self.interval = found.interval
        return choice, used


def bounded(rates: tuple[float, float]) -> Rates:
    """Keep rates away from certainty."""
    return min(rates[0], CERTAIN[0]), max(rates[1], CERTAIN[1])
