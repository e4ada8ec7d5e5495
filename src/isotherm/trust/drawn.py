"""Labels drawn at random: they alone say how often the labels of other nodes are right.

Labels that were chosen, such as those of nodes in doubt, are of nodes unlike the others. Where it
is known which labels were drawn, only these are judged; of fewer than 20 no interval is given.

The interval is Wilson's, for fewer seeds than there are: labels that are wrong are often
neighbours, and what is asked for is a share of so many free nodes, itself a matter of chance.
`tests/test_drawn.py` checks that it holds.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from isotherm.trust.interval import Interval, proportion

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FEWEST = 20  # labels drawn at random, or nothing is said by them
ALIKE = 1.5  # seeds that are worth one independent seed
IF_DRAWN = "if the labels were drawn at random"


def accuracy_of_drawn(right: NDArray[np.bool_], n_free: int) -> Interval:
    """How many labels of so many free nodes are right, by whether those of drawn seeds are.

    Examples
    --------
    >>> import numpy as np
    >>> print(accuracy_of_drawn(np.arange(40) > 3, 10_000))
    0.900 (0.732 to 0.967)
    >>> print(accuracy_of_drawn(np.ones(19, dtype=bool), 10_000))
    nan (0.000 to 1.000)
    """
    m = len(right)
    if m < FEWEST or n_free == 0:
        return Interval(math.nan, 0.0, 1.0)
    n_worth = 1 / (ALIKE / m + 1 / n_free)
    return proportion(float(right.mean()) * n_worth, n_worth)


def in_words(score: object, n_drawn: int | None) -> str:
    """A score with what it rests on: so many labels drawn at random; None if that is not known.

    Examples
    --------
    >>> in_words("0.900 (0.769 to 0.960)", 40)
    '0.900 (0.769 to 0.960), by 40 labels drawn at random'
    >>> in_words("0.900 (0.769 to 0.960)", None)
    '0.900 (0.769 to 0.960), if the labels were drawn at random'
    >>> in_words("nan", 7)
    'not known (7 labels drawn at random can be judged, 20 are needed)'
    """
    if n_drawn is None:
        return f"{score}, {IF_DRAWN}"
    labels = f"{n_drawn:,} label{'' if n_drawn == 1 else 's'} drawn at random"
    if n_drawn < FEWEST:
        return f"not known ({labels} can be judged, {FEWEST} are needed)"
    return f"{score}, by {labels}"
