"""What became of a file: for messages, reports and repeating a run."""

from __future__ import annotations

from dataclasses import dataclass, field

SHOWN = 5  # faults that are kept with their text
LONGEST_TEXT = 80


@dataclass
class ReadReport:
    """What was found in a file, and what was left out.

    Attributes
    ----------
    name : str
        The file, as the user wrote it.
    format : str
        ``"CSV"``, ``"Parquet"`` and the like.
    columns : tuple of str
        Those that were used: of edges the source, the target and perhaps the weight; of labels
        the node, the label and perhaps the weight.
    n_rows : int
        Edges, or labels, that were read.
    n_skipped : int
        Malformed rows that were left out, where that was asked for.
    faults : list of str
        The first few of these, with their line numbers.
    notes : list of str
        Sentences about what a reader may not expect, such as ids that differ only by spaces.
    n_empty : int
        Edges of weight 0, which are none.
    weights : dict of float
        Of labels, those of the label that each node has; empty where no column has any.
    checksum : str
        SHA-256 of the bytes that were read, in hexadecimal digits, or why it is not known.
    """

    name: str
    format: str = "text"
    columns: tuple[str, ...] = ()
    n_rows: int = 0
    n_skipped: int = 0
    faults: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    n_empty: int = 0
    weights: dict[str, float] = field(default_factory=dict)
    checksum: str = "not known"

    def skip(self, fault: str, count: int = 1) -> None:
        """Count malformed rows, the first of which has this fault."""
        self.n_skipped += count
        if len(self.faults) < SHOWN:
            self.faults.append(fault)

    def remarks(self) -> list[str]:
        """All that a user should be told, in sentences."""
        skipped = []
        if self.n_skipped:
            rows = "row was" if self.n_skipped == 1 else "rows were"
            skipped = [f"{self.n_skipped} malformed {rows} left out; {self.faults[0]}"]
        return skipped + self.notes


def shown(text: str) -> str:
    """A text for a message, in quotes and cut where it is long.

    Examples
    --------
    >>> shown("a,b"), len(shown("x" * 500))
    ("'a,b'", 82)
    """
    return repr(text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…")
