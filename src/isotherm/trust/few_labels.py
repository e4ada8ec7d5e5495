"""Whether there are labels enough to go by, said in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEWEST = 10  # seeds left out from which chance can be told
LISTED = 3  # classes named


def lonely(codes: NDArray[np.intp], classes: NDArray[np.generic]) -> str | None:
    """Classes that have but one seed."""
    (alone,) = (np.bincount(codes, minlength=len(classes)) == 1).nonzero()
    if len(alone) == 0:
        return None
    names = ", ".join(map(_quoted, classes[alone[:LISTED]].tolist()))
    names += ", …" if len(alone) > LISTED else ""
    if len(alone) == 1:
        return f"class {names} has only one seed: nothing shows whether it is typical"
    return (
        f"{len(alone)} classes have only one seed each ({names}): nothing shows whether it is "
        "typical"
    )


def collapsed(warmest: int | None, classes: NDArray[np.generic], decision: str) -> str | None:
    """Free nodes that are all warmest in the same class, if there is one."""
    if warmest is None:
        return None
    name = classes[warmest]
    what = f"all free nodes are warmest in class {_quoted(name)}"
    if decision == "plain":
        return f"{what}, so the plain decision gives all of them this label; try 'centered'"
    return f"{what}: the plain decision would give all of them this label"


def can_be_told_from_chance(codes: NDArray[np.intp]) -> bool:
    """Whether seeds left out can say: enough share their class, one of several, with others."""
    if len(codes) < FEWEST:
        return False
    counts = np.bincount(codes)
    shared = counts[counts > 1]
    return len(shared) > 1 and bool(shared.sum() >= FEWEST)


def no_better_than_chance(
    truth: NDArray[np.intp], found: NDArray[np.intp], *, together: bool = False
) -> str | None:
    """Seeds that, left out, get their own label back no more often than by chance.

    Chance is what the same labels would reach if they were dealt out at random; one standard
    error above it is no better.
    """
    m = len(truth)
    if m < FEWEST:
        return None
    most = max(truth.max(), found.max()) + 1
    asked, given = (
        np.bincount(truth, minlength=most),
        np.bincount(found[found >= 0], minlength=most),
    )
    if np.count_nonzero(asked) < 2:
        return None
    chance = float(asked @ given) / m**2
    right = int(np.count_nonzero(truth == found))
    if right > m * chance + math.sqrt(m * chance * (1 - chance)):
        return None
    way = "several at a time" if together else "one at a time"
    return (
        f"left out {way}, {right} of {m} seeds get their label back, no more than "
        f"by chance ({m * chance:.1f}): the graph may say nothing about these labels"
    )


def _quoted(name: Any) -> str:
    """A label as it would be typed; NumPy's own types are no matter here."""
    return repr(name.item() if isinstance(name, np.generic) else name)
