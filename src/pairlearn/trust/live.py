r"""The certificate of a model that goes on learning while audits come in.

A model that learns has versions 1, 2, 3, ..., and each has an error of its own. If the
audits are random pairs that no version has learned from, every version may be judged by
all of them, also by those that were answered before it existed. Each gets a confidence
sequence, which holds at all looks, and a part of the risk,

.. math:: \alpha_v = \frac{s \, \alpha}{(v + s - 1)(v + s)}, \qquad
    \sum_{v \ge 1} \alpha_v = \alpha ,

with s = 10. For s = 1 this is the usual 1 / (v (v + 1)), which leaves little for later
versions, the ones that matter: 1/420 for the 20th, where s = 10 leaves 1/87.

The proof, and what it does not cover, is in ``docs/theory.md``.
"""

from __future__ import annotations

from pairlearn.data.checks import check_integer, check_share

# The first so many versions get about the same part of the risk.
_EVEN = 10

__all__ = ["live_confidence"]


def live_confidence(confidence: float, version: int) -> float:
    """Return the confidence for one version, so that all hold together.

    Parameters
    ----------
    confidence : float
        The probability, at least, with which the intervals of all versions at all looks
        contain the errors of these versions.
    version : int
        The number of the version, beginning with 1. Each model gets the next number; it
        must not depend on the answers to audits.

    Returns
    -------
    float
        For a confidence sequence: ``certify(..., anytime=True)``.

    Examples
    --------
    >>> [round(live_confidence(0.95, version), 4) for version in (1, 2, 3)]
    [0.9955, 0.9962, 0.9968]
    """
    check_share("confidence", confidence)
    check_integer("version", version, minimum=1)
    last = version + _EVEN
    return 1 - (1 - confidence) * _EVEN / (last * (last - 1))
