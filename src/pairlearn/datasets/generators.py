"""Data made by formulas: Breiman's waveforms and the Gaussians of the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pairlearn.data.checks import check_choice, check_integer, check_prior

if TYPE_CHECKING:
    from numpy.random import RandomState

    from pairlearn.data.types import Floats, Ints

__all__ = ["make_gaussians", "make_waveform"]


def make_waveform(
    n_points: int,
    *,
    positive: int | None = 0,
    random_state: int | RandomState | None = None,
) -> tuple[Floats, Ints]:
    """Draw points of Breiman's waveform problem.

    Three waves, triangles of height 6, peak at the samples 7, 11 and 15 of 21:
    ``w_p(i) = max(6 - |i - p|, 0)``. A point is u w_p + (1 - u) w_q plus standard
    normal noise, with u uniform in [0, 1] and (p, q) = (7, 15), (7, 11) and (11, 15)
    for class 0, 1 and 2. All classes are equally likely.

    Parameters
    ----------
    n_points : int
        How many to draw.
    positive : {0, 1, 2} or None, default=0
        The class that is named +1, the others being -1. None: name them 0, 1, 2.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_points, 21)
    y : ndarray of shape (n_points,)

    References
    ----------
    L. Breiman, J. Friedman, R. Olshen, C. Stone, "Classification and Regression
    Trees", 1984.

    Examples
    --------
    >>> from pairlearn.datasets import make_waveform
    >>> X, y = make_waveform(6, random_state=0)
    >>> X.shape, y
    ((6, 21), array([ 1, -1,  1, -1, -1, -1]))
    """
    from sklearn.utils import check_random_state

    check_choice("positive", positive, (0, 1, 2, None))
    rng = check_random_state(random_state)
    classes = rng.randint(3, size=check_integer("n_points", n_points))
    peaks = np.array([[7, 15], [7, 11], [11, 15]])[classes]
    distance = np.abs(np.arange(1, 22) - peaks[:, :, None])
    first, second = np.maximum(6 - distance, 0).transpose(1, 0, 2)
    share = rng.uniform(size=(n_points, 1))
    X = share * first + (1 - share) * second + rng.normal(size=(n_points, 21))
    return X, classes if positive is None else np.where(classes == positive, 1, -1)


def make_gaussians(
    n_points: int,
    prior: float,
    *,
    means: tuple[float, float] = (1.0, -1.0),
    scales: tuple[float, float] = (1.0, 2.0),
    random_state: int | RandomState | None = None,
) -> tuple[Floats, Ints]:
    """Draw points on a line from two normal distributions.

    The defaults are those of the paper's experiment on class assignment: mean 1 and
    standard deviation 1 for class +1, mean -1 and standard deviation 2 for class -1.

    Parameters
    ----------
    n_points : int
        How many to draw.
    prior : float
        The probability of class +1. Each class is drawn anew, so the share of +1
        differs from it by chance.
    means, scales : tuple of two floats
        Mean and standard deviation of class +1, then of class -1.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_points, 1)
    y : ndarray of shape (n_points,)

    Examples
    --------
    >>> from pairlearn.datasets import make_gaussians
    >>> X, y = make_gaussians(6, prior=0.7, random_state=0)
    >>> X.shape, y
    ((6, 1), array([ 1, -1,  1,  1,  1,  1]))
    """
    from sklearn.utils import check_random_state

    rng = check_random_state(random_state)
    if min(scales) <= 0:
        raise ValueError(
            f"scales are standard deviations and must be above 0; got {scales}"
        )
    check_integer("n_points", n_points)
    positive = rng.uniform(size=n_points) < check_prior(prior)
    mean, scale = np.where(positive, *means), np.where(positive, *scales)
    X = mean + scale * rng.normal(size=n_points)
    return X[:, None], np.where(positive, 1, -1)
