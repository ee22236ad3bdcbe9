"""Type aliases of the arrays that kernels take and return."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Codes = NDArray[np.int32]
Words = NDArray[np.uint64]
Bytes = NDArray[np.uint8]
AnyInts = NDArray[np.integer[Any]]
Values = NDArray[Any]
