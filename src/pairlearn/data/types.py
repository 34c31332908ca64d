"""Names for the array types that run through the package."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]
# Points may be a NumPy array, a SciPy sparse matrix or array, or a data frame;
# their common type is what they can do, which no static type describes.
PointsLike = Any
