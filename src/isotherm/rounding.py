"""What float64 can do: the constants of every error bound in this package.

One operation is off by at most `UNIT_ROUNDOFF` times its result, or by `UNDERFLOW` where the result
is too small to have all its digits. A sum of N terms, in whatever order, is off by at most N times
`UNIT_ROUNDOFF` times the sum of their absolute values (to first order; bounds here have room to
spare for the rest).
"""

from __future__ import annotations

import numpy as np

UNIT_ROUNDOFF = float(np.finfo(np.float64).eps) / 2
UNDERFLOW = float(np.finfo(np.float64).smallest_subnormal)
