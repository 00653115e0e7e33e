"""Types of NumPy arrays, as signatures name them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
"""Times, numbers of rows, sizes: 64 bits, signed."""

Ids = NDArray[np.int32]
"""Ids of terms in a dictionary."""

Mask = NDArray[np.bool_]
"""One truth value per row."""
