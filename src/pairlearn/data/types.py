"""Names for the array types that run through the package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from pairlearn.data.pairs import Pairs

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]
# Points may be a NumPy array, a SciPy sparse matrix or array, or a data frame;
# their common type is what they can do, which no static type describes.
PointsLike = Any
# `Pairs`, or an array of shape (n_pairs, 2, n_features).
PairsLike: TypeAlias = "Pairs | ArrayLike"
