"""Which labels of a file were drawn at random: a column ``drawn`` of yes and no."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from isotherm.read.report import ReadReport

DRAWN = "drawn"
YES, NO = ("true", "yes", "y", "1", "1.0", "x"), ("false", "no", "n", "0", "0.0", "")
SHOWN = 5


def find_drawn(names: Sequence[str]) -> str | None:
    """The column that says it, if there is one.

    Examples
    --------
    >>> find_drawn(["node", "label", "Drawn"])
    'Drawn'
    """
    return next((name for name in names if name.strip().lower() == DRAWN), None)


def are_drawn(words: pa.Array, report: ReadReport) -> NDArray[np.bool_] | None:
    """Which rows say so, which is noted; None if these are other words, which is noted, too."""
    words = pc.fill_null(pc.utf8_lower(pc.utf8_trim_whitespace(words)), "")
    others = pc.unique(words.filter(pc.invert(pc.is_in(words, pa.array(YES + NO, words.type)))))
    if len(others):
        shown = ", ".join(map(repr, others.slice(0, SHOWN).to_pylist()))
        report.notes.append(
            f"{report.name}: column {DRAWN!r} has words other than true and false ({shown}), so it "
            "is not taken to say which labels were drawn at random"
        )
        return None
    found: NDArray[np.bool_] = pc.is_in(words, pa.array(YES, words.type)).to_numpy(
        zero_copy_only=False
    )
    report.hint(
        f"{int(found.sum()):,} of {len(found):,} labels were drawn at random, by column {DRAWN!r}"
    )
    return found
