"""Interviews about the points of a table: what `pairlearn ask` and `label` share."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.ask.interview import Interview, TooFewPointsError
from pairlearn.files.tables.errors import OptionError, TableError
from pairlearn.trust.noise import as_noise

if TYPE_CHECKING:
    from pairlearn.data.types import Floats
    from pairlearn.files.tables.points import Points

__all__ = ["begin_interview", "encode", "noise_to_learn_with"]


def encode(points: Points) -> Floats:
    """Return points as numbers, by the encoder that `pairlearn fit` uses.

    Texts become a few numbers each, their leading principal coordinates: which points
    are near to each other decides what is asked.

    Parameters
    ----------
    points : Points
        The points of a table.

    Returns
    -------
    ndarray of shape (n_points, n_features)
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(points.make_encoder(parts=()).fit_transform(points.frame))


def begin_interview(
    X: Floats, ids: list[str], name: str = "the table of points", **options: Any
) -> Interview:
    """Return an interview about the points of a table, with errors in its words.

    Parameters
    ----------
    X : ndarray of shape (n_points, n_features)
        The points, as numbers.
    ids : list of str
        Their ids.
    name : str
        Of the table, for messages.
    **options
        As for :class:`~pairlearn.ask.Interview`.

    Returns
    -------
    Interview
    """
    try:
        return Interview(X, names=ids, **options)
    except TooFewPointsError:
        raise TableError(
            f"{name} has too few points: some of the {len(ids)} are put aside for "
            "audits, and fewer than two are left to ask about. Add points, or put none "
            "aside with --audits 0"
        ) from None
    except ValueError as problem:
        raise OptionError(str(problem).replace("strategy=", "--strategy ")) from None


def noise_to_learn_with(noise: Any, kinds: int | str) -> Any:
    """Return how often answers are wrong, as an interview takes it.

    Of ranges the middle; one rate if both are equal, and for several kinds, where it is
    the mean of both.

    Parameters
    ----------
    noise : "auto", None, float, tuple or FlipRateEstimate
        As the command line understands it.
    kinds : int or "auto"
        How many kinds there are.

    Returns
    -------
    "auto", None, float or tuple

    Examples
    --------
    >>> noise_to_learn_with((0.75, 0.25), 2), noise_to_learn_with((0.75, 0.5), "auto")
    (0.25, 0.375)
    """
    if noise in ("auto", None):
        return noise
    r1, r0 = as_noise(noise).rates
    if kinds != 2 or abs(1 - r1 - r0) < 1e-12:
        return (1 - r1 + r0) / 2
    return r1, r0
