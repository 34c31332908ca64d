r"""What an answer is expected to settle, about a new point or about an old one.

Both are measured by one number: how much the variance of the class probabilities,
summed over all candidates, is expected to fall (:mod:`pairlearn.ask.scores`). An answer
about the point x, of a person with the coins r1 and r0, compares x with a partner:

* Let pi be the probability that x is of the partner's class, given all that is known of
  x, *its own answers included*. For a point that nobody was asked about that is what
  the model says of it; for one that was, it is the belief after its answers.
* Let b be the probability that the partner is of the class that it seems to be of. Of C
  classes, the two points are the same with the probability

  .. math:: s = b \pi + (1 - b) \frac{1 - \pi}{C - 1} .

* The person says "same" with the probability P = r0 + (r1 - r0) s.

If the score f of x moves, log(pi / (1 - pi)) moves by as much, whatever was answered
about x before: an earlier answer adds a constant to the logarithm of the odds. So

.. math:: \frac{\partial P}{\partial f} = (r_1 - r_0) \, \frac{C b - 1}{C - 1} \,
          \pi (1 - \pi)

and the answer tells about f, as Fisher's information,

.. math:: w = \frac{(\partial P / \partial f)^2}{P (1 - P)} ,

which is pi (1 - pi) for one who is always right. With c = z^T S G S z and
v = z^T S z of the scores, the variance falls by

.. math:: g(x) = \frac{c(x)}{v(x) + 1 / w} ,

the formula of the scores, in which w = p (1 - p) is that of an answer which is surely
right. A second opinion about an old point is worth more than an answer about a new one
where its answers leave its class open (pi far from 0 and 1), where many other points
hang on it, and where the person who would give it is right more often than those who
answered before; after an answer that is believed, w is nearly 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pairlearn.ask.worth import Rates
    from pairlearn.data.types import Floats

__all__ = ["answer_weight", "gain"]

_LEAST = 1e-12


def answer_weight(
    pi: Floats, b: Floats, rates: Rates = (1.0, 0.0), n_classes: int = 2
) -> Floats:
    """Return w: what an answer of a person tells about the score of a point.

    Parameters
    ----------
    pi : ndarray
        Probability that the point is of its partner's class.
    b : ndarray
        Probability that the partner is of that class.
    rates : tuple of float
        (r1, r0) of the person.
    n_classes : int
        C.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> half, sure = np.array([0.5]), np.ones(1)
    >>> answer_weight(half, sure), answer_weight(half, sure, (0.8, 0.2)).round(3)
    (array([0.25]), array([0.09]))
    >>> answer_weight(half, sure, (0.5, 0.5))
    array([0.])
    """
    r1, r0 = rates
    others = n_classes - 1
    same = b * pi + (1 - b) * (1 - pi) / others
    says = r0 + (r1 - r0) * same
    slope = (r1 - r0) * (n_classes * b - 1) / others * pi * (1 - pi)
    return np.asarray(slope**2 / np.maximum(says * (1 - says), _LEAST))


def gain(variance: Floats, influence: Floats, weight: Floats) -> Floats:
    """Return g: by how much the variance of all probabilities is expected to fall.

    Parameters
    ----------
    variance, influence : ndarray
        v and c of the points.
    weight : ndarray
        w of answers about them.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> gain(np.ones(2), np.ones(2), np.array([0.25, 0.0]))
    array([0.2, 0. ])
    """
    return np.asarray(influence * weight / (variance * weight + 1))
