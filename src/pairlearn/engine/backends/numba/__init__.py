"""Compiled loops; they need numba (extra `fast`) and are never required.

Each does what NumPy code elsewhere in the package does, to the last digits but a few.
They release the GIL and start no threads of their own: who calls them divides the work.
They are written for a short compilation: few statements, no slices, and arrays for
intermediate results passed in.
"""

from pairlearn.engine.backends.numba.distances import city_block
from pairlearn.engine.backends.numba.epochs import RISKS, pair_epoch, point_epoch
from pairlearn.engine.backends.numba.exponentials import exponentials
from pairlearn.engine.backends.numba.products import (
    ALONE,
    WITH_POINTS,
    pair_block,
    pair_slopes,
    pull_rows,
    score_rows,
    workspace,
)

__all__ = [
    "ALONE",
    "RISKS",
    "WITH_POINTS",
    "city_block",
    "exponentials",
    "pair_slopes",
    "pair_block",
    "pair_epoch",
    "point_epoch",
    "pull_rows",
    "workspace",
    "score_rows",
]
