"""What may be thought of the points before anybody's answers are looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import softmax

if TYPE_CHECKING:
    from pairlearn.data.types import Floats

__all__ = ["View", "bent_views", "blind_views"]

# How much more or less certain models may be, and the spread of that as a logarithm.
_BENDS, _BEND_SPREAD = (1.0, 0.75, 0.55, 1.35, 1.8), 0.35
# The share of the largest class, where nothing is known.
_LARGEST = (0.5, 0.65, 0.77, 0.88)


class View(NamedTuple):
    """Class probabilities of all points, and how likely they are the right ones.

    Attributes
    ----------
    p : ndarray of shape (n_points, n_classes)
        Class probabilities.
    log_weight : float
        Logarithm of the prior weight.
    """

    p: Floats
    log_weight: float = 0.0


def bent_views(p: Floats) -> list[View]:
    """Return class probabilities as they are, and more and less certain ones.

    How certain models may be of points that they have not seen was learned from
    answers that somebody may have given wrong: where all people are worse than they
    were taken for, models should have been more certain, and the other way round.
    """
    log_p = np.log(np.maximum(p, 1e-12))
    return [
        View(
            np.asarray(softmax(bend * log_p, axis=1)),
            -(np.log(bend) ** 2) / (2 * _BEND_SPREAD**2),
        )
        for bend in _BENDS
    ]


def blind_views(n_points: int, n_classes: int = 2) -> list[View]:
    """Return class probabilities that are the same for all points.

    Nothing is known of the points; but where one class is larger than the others, more
    pairs are the same.
    """
    views = []
    for largest in _LARGEST:
        share = max(largest, 1 / n_classes)
        p = np.full(n_classes, (1 - share) / (n_classes - 1))
        p[0] = share
        views.append(View(np.tile(p, (n_points, 1))))
    return views
