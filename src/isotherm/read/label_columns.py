"""Further columns of files of labels: how sure each is, its status in a result, whether drawn.

Of results given as labels only rows that were given are labels; guesses must not become seeds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from isotherm.read.report import ReadReport

STATUS = "status"
GIVEN = frozenset({"seed", "given", "", None})  # also a row that was added by hand
GUESSED = frozenset({"predicted", "tie", "unreached", "unsure", "guessed", "ranked"})
DRAWN = "drawn"
YES, NO = ("true", "yes", "y", "1", "1.0", "x"), ("false", "no", "n", "0", "0.0", "")
SHOWN = 5


def words_of_weight(name: str, column: str) -> str:
    """That a column of weights says nothing of labels, and how it would."""
    return (
        f"{name}: column {column!r} is not read; if it says how sure each label is, above 0 and at "
        f"most 1, use --confidence {column}"
    )


def has_status(names: Collection[str], *taken: str, also: str = "label") -> bool:
    """Whether there are columns as results have them, and the status is none of those taken."""
    ours = not {"label", "labels", "value", also}.isdisjoint(names)
    return ours and {"node", STATUS} <= {*names} and STATUS not in taken


def words_of_guesses(left_out: int, total: int) -> str:
    """What is left out of a result, and how a correction is given.

    Examples
    --------
    >>> words_of_guesses(540, 600)[:83]
    "a result of isotherm: 540 of 600 labels were not given but found (by column 'status"
    """
    return (
        f"a result of isotherm: {left_out:,} of {total:,} labels were not given but found (by "
        f"column {STATUS!r}), and are left out. To correct some, write 'given' into their status, "
        "or put them into a file of their own; --results-as-labels (results_as_labels=True) takes "
        "all rows as labels"
    )


def words_of_others(kinds: Collection[str | None]) -> str:
    """What is said where a column looks like the status of a result, but has other words, too."""
    others = ", ".join(sorted(repr(kind) for kind in kinds if kind not in GIVEN | GUESSED)[:5])
    return (
        f"column {STATUS!r} has words that isotherm does not write ({others}): all rows are "
        "labels, also those that were 'predicted' if this is a result. Write 'given' for a label "
        "that counts"
    )


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
