"""How many nodes have which status, and how many of these are numerically exact."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from isotherm.report.tables import Table
from isotherm.report.words import percent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Masks = Mapping[str, NDArray[np.bool_]]

COLUMNS = ("status", "nodes", "share", "numerically exact", "not")
NOTE = "Unreached nodes have no path to a seed."


def status_table(masks: Masks, is_exact: NDArray[np.bool_], notes: Sequence[str] = ()) -> Table:
    """A row for each status.

    Parameters
    ----------
    masks : mapping of bool arrays of shape (n,)
        Status → the nodes that have it.
    is_exact : bool array of shape (n,)
    notes : sequence of str
        Sentences that belong below.
    """
    rows = []
    for status, mask in masks.items():
        n, exact = np.count_nonzero(mask), np.count_nonzero(mask & is_exact)
        rows.append((status, f"{n:,}", percent(n / len(mask)), f"{exact:,}", f"{n - exact:,}"))
    return Table("Nodes by status", COLUMNS, rows, [NOTE, *notes])
