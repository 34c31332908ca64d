r"""How often answers are wrong, by the classifier and by cycles of answers together.

With class probabilities p of points that the models have not seen, the joint likelihood
Z of all answers is a function of the rates r1 = P(answer same | same) and
r0 = P(answer same | different). It holds all there is to know of them: a cycle of
answers that cannot be all right speaks for wrong answers whatever p is, and so does an
answer that p contradicts. Rates that raise log Z are found by expectation maximisation:
with P_k the probability that the two points of answer k are the same given all answers,

.. math:: r_1 = \frac{\sum_k v_k P_k s_k}{\sum_k v_k P_k}, \qquad
          r_0 = \frac{\sum_k v_k (1 - P_k) s_k}{\sum_k v_k (1 - P_k)}

for answers s = (1 + t) / 2 with weights v; each round raises log Z.

The interval is that of the likelihood ratio for a rate e of wrong answers that is the
same for both kinds of pairs: all e with 2 [max log Z - log Z(1 - e, e)] <= 3.84. It
takes the probabilities p for right.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.stats import chi2

from pairlearn.engine.components.likelihood import Answers, Components
from pairlearn.models.auto.likelihood import CERTAIN

if TYPE_CHECKING:
    from pairlearn.data.types import Floats, Ints
    from pairlearn.models.auto.likelihood import Rates

__all__ = ["WrongAnswers", "find_wrong_answers"]

_STARTS = ((0.9, 0.1), (0.7, 0.02), (0.98, 0.3))
_ROUNDS = 60
# Rates of the interval: e from hardly ever to half of the time.
_GRID = np.append(np.geomspace(CERTAIN[1], 0.02, 10), np.linspace(0.03, 0.48, 24))


class WrongAnswers(NamedTuple):
    """What the answers say about themselves.

    Attributes
    ----------
    rates : tuple of float
        The rates with the largest likelihood.
    gain : float
        By how much their log-likelihood exceeds that of answers that are right.
    symmetric : float
        The rate of wrong answers with the largest likelihood, if it is the same for
        both kinds of pairs.
    interval : tuple of float
        Of the rate of wrong answers, 95 % confidence.
    """

    rates: Rates
    gain: float
    symmetric: float
    interval: tuple[float, float]


def find_wrong_answers(
    index: Ints, same: Floats, different: Floats, p: Floats
) -> WrongAnswers:
    """Return how often answers are wrong.

    Parameters
    ----------
    index : ndarray of shape (n_pairs, 2)
        The pairs.
    same, different : ndarray of shape (n_pairs,)
        How much either answer counts.
    p : ndarray of shape (n_points, n_classes)
        Class probabilities, by models that have not seen the points.

    Returns
    -------
    WrongAnswers

    Examples
    --------
    Six points that nothing is known of, and all fifteen answers about them, one of
    which contradicts the others:

    >>> import numpy as np
    >>> index = np.array([[i, j] for i in range(6) for j in range(i)])
    >>> same = (index % 2 == 0).all(axis=1) | (index % 2 == 1).all(axis=1)
    >>> same = np.where(np.arange(15) == 3, ~same, same).astype(float)
    >>> found = find_wrong_answers(index, same, 1 - same, np.full((6, 2), 0.5))
    >>> [round(rate, 2) for rate in found.rates], found.gain > 3
    ([1.0, 0.11], True)
    """
    graph = Components(index, len(p), p.shape[1])
    log_p = np.log(np.maximum(p, 1e-12)).T[:, :, None]

    def answers(n_models: int) -> Answers:
        each = np.ones((1, n_models))
        return Answers(same[:, None] * each, different[:, None] * each)

    def look(r1: Floats, r0: Floats) -> tuple[Floats, Floats]:
        tables = graph.tables(answers(len(r1)), (r1, r0))
        found = graph(np.repeat(log_p, len(r1), axis=2), tables)
        return found.log_z, found.links

    r1, r0 = (np.array(rates) for rates in zip(*_STARTS, strict=True))
    says = graph.at_links(same, different)
    for _ in range(_ROUNDS):
        _, alike = look(r1, r0)
        before = r1, r0
        r1, r0 = _bounded(*_shares(alike, *says))
        if max(np.abs(r1 - before[0]).max(), np.abs(r0 - before[1]).max()) < 1e-4:
            break
    fit = look(r1, r0)[0]
    best = int(fit.argmax())
    along = look(1 - _GRID, _GRID)[0]
    within = np.flatnonzero(2 * (along.max() - along) <= chi2.ppf(0.95, 1))
    # The ends lie between numbers of the grid: the outer ones are on the safe side.
    low = 0.0 if within[0] == 0 else float(_GRID[within[0] - 1])
    high = float(_GRID[min(within[-1] + 1, len(_GRID) - 1)])
    return WrongAnswers(
        (float(r1[best]), float(r0[best])),
        float(fit[best] - along[0]),
        float(_GRID[along.argmax()]),
        (low, high),
    )


def _shares(alike: Floats, same: Floats, different: Floats) -> tuple[Floats, Floats]:
    """Return how often the answer is "same" where points are the same, and not."""
    same, different = same[:, None], different[:, None]
    rates = [
        (chance * same).sum(axis=0)
        / np.maximum((chance * (same + different)).sum(axis=0), 1e-12)
        for chance in (alike, 1 - alike)
    ]
    return rates[0], rates[1]


def _bounded(r1: Floats, r0: Floats) -> tuple[Floats, Floats]:
    r1 = np.clip(r1, 0.05, CERTAIN[0])
    return r1, np.clip(r0, CERTAIN[1], np.minimum(r1 - 0.02, 0.5))
