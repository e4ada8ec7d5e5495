"""What float64 can do: the constants of every error bound in this package.

One operation is off by at most `UNIT_ROUNDOFF` times its result, or by `UNDERFLOW` where the result
is too small to have all its digits. A sum of N terms, in whatever order, is off by at most N times
`UNIT_ROUNDOFF` times the sum of their absolute values (to first order; bounds here have room to
spare for the rest).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

UNIT_ROUNDOFF = float(np.finfo(np.float64).eps) / 2
UNDERFLOW = float(np.finfo(np.float64).smallest_subnormal)
# Stands for it in bounds that are worked out for every node: it has all its digits, without which
# processors are slow, and is as good as 0 beside all numbers that are covered.
QUICK_UNDERFLOW = float(np.finfo(np.float64).smallest_normal)

# Probabilities come from exp, log and sums, whose last digits differ from processor to processor:
# those that differ by no more than this are level.
LEVEL = 1e-9

OTHERS = 8  # operations besides the additions of a sum
ROOM = 1.01  # for the rounding of a bound itself


def rounding_of_sums(
    n_terms: NDArray[np.integer],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """By how much sums of so many products of a weight and a difference may be off.

    N additions, and `OTHERS` for the difference and the products that make a term, the degree and
    the last operations. The same bound is in `native/prover.cpp`.

    Returns
    -------
    relative : array
        To the sum of the sizes of the terms.
    absolute : array
        By underflow, in units of 1 plus the number that is subtracted.

    Examples
    --------
    >>> relative, absolute = rounding_of_sums(np.array([2]))
    >>> float(relative[0] / UNIT_ROUNDOFF), float(absolute[0] / QUICK_UNDERFLOW)
    (10.1, 10.0)
    """
    operations = n_terms.astype(np.float64) + OTHERS
    return ROOM * operations * UNIT_ROUNDOFF, operations * QUICK_UNDERFLOW
