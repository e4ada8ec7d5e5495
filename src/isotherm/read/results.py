"""Results given as labels: only rows that were given are labels; guesses must not become seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

STATUS = "status"
GIVEN = frozenset({"seed", "given", "", None})  # also a row that was added by hand
GUESSED = frozenset({"predicted", "tie", "unreached", "unsure", "guessed", "ranked"})


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
