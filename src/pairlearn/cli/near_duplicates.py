r"""Finds out whether several rows seem to be about one thing.

Rows of one patient, or of one customer at two dates, lie much closer to each other than
to any other row. Where points have a density in d dimensions, the distances r_k to the
k-th neighbour satisfy P(r_{k+1} / r_k > c) = c^{-dk}: a tenfold jump is rare from two
dimensions on, and happens to one point in ten in one. So many points whose nearest
neighbours are tenfold closer than the next ones are rows of fewer things. Equal rows
are looked at once: they are another matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pairlearn.data.types import Floats, Ints
    from pairlearn.files.tables.answered_pairs import AnsweredPairs

__all__ = ["note_on_near_duplicates", "share_with_near_duplicates"]

# Rows that are looked at, and neighbours of each.
_MOST_ROWS, _NEIGHBOURS = 2000, 33
# A jump in the distances to neighbours, and the share of rows that must have one.
_JUMP, _MANY = 10.0, 0.25


def note_on_near_duplicates(answered: AnsweredPairs) -> list[str]:
    """Return a sentence if rows seem to be about fewer things than there are rows."""
    from pairlearn.cli.judging import warnings_as_notes
    from pairlearn.files.tables.encoders.texts import without_words

    points = answered.points
    if points.group_column is not None or len(points) < 3 * _NEIGHBOURS:
        return []
    rows = np.sort(np.random.RandomState(0).permutation(len(points))[:_MOST_ROWS])
    # Neighbours among all rows: a sample would part what belongs together.
    with warnings_as_notes([]):
        encoder = points.make_encoder(parts=("words",))
        encoded = without_words(encoder.fit_transform(points.frame), encoder)
    share = share_with_near_duplicates(encoded, rows)
    if share < _MANY:
        return []
    note = (
        f"{share:.0%} of the rows have near-duplicates: other rows that are ten times "
        "closer than the next ones. If there are several rows of one patient, customer "
        "or device, say so with --group COLUMN; otherwise the model is tested on "
        "things that it has learned from, and the error is higher than the "
        "certificate says"
    )
    return [note]


def share_with_near_duplicates(X: Floats, rows: Ints) -> float:
    """Return the share of some rows that lie in a tight bunch of a few.

    Parameters
    ----------
    X : ndarray of shape (n_points, n_features)
        Points as numbers.
    rows : ndarray
        Numbers of those to look at.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 3))
    >>> share_with_near_duplicates(X, np.arange(400)) < 0.01
    True
    >>> near = np.repeat(X, 4, axis=0) + 1e-3 * rng.normal(size=(1600, 3))
    >>> share_with_near_duplicates(near, np.arange(1600)) > 0.9
    True
    """
    from sklearn.neighbors import NearestNeighbors
    from sklearn.preprocessing import StandardScaler

    scaled = StandardScaler().fit_transform(X)
    different = np.unique(scaled, axis=0)
    if len(different) < 3 * _NEIGHBOURS:
        return 0.0
    near = NearestNeighbors(n_neighbors=_NEIGHBOURS).fit(different)
    # The first neighbour of a row is the row itself.
    distances = near.kneighbors(scaled[rows])[0][:, 1:]
    jumps = distances[:, 1:] / np.maximum(distances[:, :-1], 1e-12)
    return float(np.mean(np.any(jumps > _JUMP, axis=1)))
