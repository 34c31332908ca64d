"""An objective whose flip rates are learned together with the weights."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy.special import expit

from pairlearn.engine.objective import count_evaluation
from pairlearn.engine.risks import LikelihoodRisk

if TYPE_CHECKING:
    from pairlearn.data.types import Floats
    from pairlearn.engine.objective import PairObjective

__all__ = ["NoisyObjective"]


@dataclass(frozen=True, eq=False)
class NoisyObjective:
    r"""J as a function of the weights and of the flip rates together.

    The vector is (u, logit r1, logit r0), or (u, logit of the rate e) for symmetric
    noise, r1 = 1 - e and r0 = e. With s the sigmoid, dJ/dlogit = s (1 - s) dJ/drate.

    Parameters
    ----------
    objective : PairObjective
        The objective, with a `LikelihoodRisk`.
    symmetric : bool
        Whether both kinds of answers are wrong at one rate.
    """

    objective: PairObjective
    symmetric: bool
    n_evaluations: int = field(default=0, init=False)
    smooth: ClassVar[bool] = True

    def split(self, v: Floats) -> tuple[Floats, tuple[float, float]]:
        """Return the weights' part and the flip rates (r1, r0)."""
        # A rate of exactly 0 or 1 would make one wrong answer impossible.
        rates = np.clip(expit(v[-1:] if self.symmetric else v[-2:]), 1e-10, 1 - 1e-10)
        if self.symmetric:
            return v[:-1], (float(1 - rates[0]), float(rates[0]))
        return v[:-2], (float(rates[0]), float(rates[1]))

    def join(self, u: Floats, flip_rates: tuple[float, float]) -> Floats:
        """Return the vector of weights and flip rates."""
        rates = np.array(flip_rates[1:] if self.symmetric else flip_rates)
        return np.concatenate([u, np.log(rates) - np.log1p(-rates)])

    def __call__(self, v: Floats) -> tuple[float, Floats]:
        """Return the objective and its gradient in the weights and the logits."""
        count_evaluation(self)
        u, (r1, r0) = self.split(v)
        risk = LikelihoodRisk(self.objective.risk.link, (r1, r0))
        value, gradient = self.objective.value_and_gradient(risk, u)
        w, b = self.objective.weights(u)
        d_1, d_0 = self.objective.risk_sum.rate_gradient(risk, w, b)
        if self.symmetric:
            d_rates = np.array([(d_0 - d_1) * r0 * r1])
        else:
            d_rates = np.array([d_1 * r1 * (1 - r1), d_0 * r0 * (1 - r0)])
        return value, np.concatenate([gradient, d_rates])
