r"""What the model and all other answers together say about each answer.

The model: point i is of class c with probability p_i(c), as a classifier has it that
has seen no answer about the point. Two points of a pair are the same, or not; the
answer says so, or is wrong with probability e, the noise rate, whatever the points. A
soft answer t says "same" with probability s = (1 + t) / 2. Given the classes, answer k
has the likelihood

.. math:: \psi_k = \begin{cases}
          (1 - e) s + e (1 - s) & \text{if the two are the same} \\
          (1 - e) (1 - s) + e s & \text{if they are different.}
          \end{cases}

Let Q_k be the probability that the two points of pair k are the same given everything
but answer k: the probabilities p of all points and all other answers. The answer agrees
with that with probability A = s Q + (1 - s)(1 - Q), and by Bayes' rule it is wrong with
probability e (1 - A) / [e (1 - A) + (1 - e) A].

Q is what takes work. Where the pair shares no point with another, it is the sum over c
of p_i(c) p_j(c). Else other answers count: two answers that lead from i by way of a
third point to j are evidence on i and j, and more so if they confirm what p says. The
probability P of "same" given *all* answers comes from the likelihood of components
(:mod:`pairlearn.engine.components.likelihood`), which is exact on trees and on small
components, and belief propagation on others; and by Bayes' rule

.. math:: \frac{Q_k}{1 - Q_k} = \frac{P_k}{1 - P_k}
          \frac{\psi_k(\text{different})}{\psi_k(\text{same})} .
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit

from pairlearn.engine.components.likelihood import Answers, Components
from pairlearn.trust.probabilities import agree

if TYPE_CHECKING:
    from pairlearn.data.types import Floats, Ints

__all__ = ["cavity", "wrong"]


def wrong(same: Floats, t: Floats, rate: float) -> Floats:
    """Return the probability that each answer is wrong.

    Parameters
    ----------
    same : ndarray of shape (n_pairs,)
        Probability that the points are the same, by everything but the answer.
    t : ndarray of shape (n_pairs,)
        Answers.
    rate : float
        The noise rate.

    Returns
    -------
    ndarray of shape (n_pairs,)

    Examples
    --------
    >>> import numpy as np
    >>> same, t = np.array([0.9, 0.9, 0.5, 0.9]), np.array([1.0, -1.0, -1.0, 0.0])
    >>> wrong(same, t, 0.1).round(3)
    array([0.012, 0.5  , 0.1  , 0.1  ])
    """
    right = agree((1 + t) / 2, same)
    return rate * (1 - right) / (rate * (1 - right) + (1 - rate) * right)


def cavity(p: Floats, index: Ints, t: Floats, rate: float) -> Floats:
    """Return for each pair P(same) given all probabilities and all *other* answers.

    Parameters
    ----------
    p : ndarray of shape (n_points, n_classes)
        Class probabilities of the points.
    index : ndarray of shape (n_pairs, 2)
        Pairs of two different points.
    t : ndarray of shape (n_pairs,)
        Answers.
    rate : float
        The noise rate.

    Returns
    -------
    ndarray of shape (n_pairs,)

    Examples
    --------
    Two answers "same" that lead from one end of the third pair to the other:

    >>> import numpy as np
    >>> p = np.full((3, 2), 0.5)
    >>> index = np.array([[0, 1], [1, 2], [0, 2]])
    >>> cavity(p, index, np.array([1.0, 1.0, -1.0]), rate=0.1).round(2)[2:]
    array([0.82])
    """
    graph = Components(index, *p.shape)
    share = (1 + t[:, None]) / 2
    tables = graph.tables(Answers(share, 1 - share), (1 - rate, rate))
    found = graph(np.log(np.clip(p, 1e-12, None)).T[:, :, None], tables)
    alike = np.clip(graph.at_pairs(found.links)[:, 0], 1e-300, 1 - 1e-16)
    own = logit(agree(1 - rate, share[:, 0]))
    return np.asarray(expit(logit(alike) - own))
