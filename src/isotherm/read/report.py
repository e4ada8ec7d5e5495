"""What became of a file: for messages, reports and repeating a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from isotherm.errors import IsothermError

SHOWN = 5  # faults that are kept with their text
LONGEST_TEXT = 80


@dataclass
class ReadReport:
    """What was found in a file, and what was left out."""

    name: str  # as the user wrote it
    format: str = "text"
    columns: tuple[str, ...] = ()  # that were used: the two ends, or node and label; the weight
    n_rows: int = 0  # edges, or labels, that were read
    n_skipped: int = 0  # malformed rows that were left out, where that was asked for
    faults: list[str] = field(default_factory=list)  # the first few of these
    notes: list[str] = field(default_factory=list)  # sentences about what may not be expected
    n_empty: int = 0  # edges of weight 0, which are none
    confidence: dict[Any, float] = field(default_factory=dict)  # in the label of each node
    drawn: frozenset[Any] | None = None  # nodes whose labels were drawn at random, if known
    checksum: str = "not known"  # SHA-256 of the bytes that were read, or why it is not known
    reasons: dict[str, int] = field(default_factory=dict)  # how many rows were left out for each
    currencies: set[str] = field(default_factory=set)  # the sign of the weights, if they have one
    hints: list[str] = field(default_factory=list)  # those notes that are no warnings

    def skip(self, reason: str, fault: str, count: int = 1) -> None:
        """Count malformed rows of one kind, the first of which has this fault."""
        self.n_skipped += count
        self.reasons[reason] = self.reasons.get(reason, 0) + count
        if len(self.faults) < SHOWN:
            self.faults.append(fault)

    def take_fault(
        self, place: str, fault: str, error: type[IsothermError] | None, count: int = 1
    ) -> None:
        """Raise the error or, if there is none, count such rows, the first of which is here."""
        message = f"{self.name}, {place}: {fault}"
        if error is not None:
            raise error(f"{message} (--on-error skip leaves such rows out)")
        self.skip(fault_kind(fault), message, count)

    def hint(self, sentence: str) -> None:
        """Note what is as it should be, for the user to check."""
        self.notes.append(f"{self.name}: {sentence}")
        self.hints.append(self.notes[-1])

    def check_currencies(self, found: set[str], error: type[IsothermError]) -> None:
        """Keep the sign of currency that weights have; two of them cannot be added up."""
        if len(found | self.currencies) > 1:
            signs = " and ".join(map(repr, sorted(found | self.currencies)))
            raise error(
                f"{self.name}: weights are in more than one currency, {signs}; convert them to "
                "one, or leave the column out"
            )
        if found > self.currencies:
            self.hint(f"weights are in {next(iter(found))!r}")
            self.currencies |= found

    def add(self, other: ReadReport, error: type[IsothermError]) -> None:
        """Take in what became of a part of the file."""
        self.n_rows += other.n_rows
        self.n_skipped += other.n_skipped
        for reason, count in other.reasons.items():
            self.reasons[reason] = self.reasons.get(reason, 0) + count
        self.faults = [*self.faults, *other.faults][:SHOWN]
        self.check_currencies(other.currencies, error)

    def skipped_words(self) -> str:
        """How many rows were left out, for which reasons, and the first of them."""
        rows = "row was" if self.n_skipped == 1 else "rows were"
        counts = sorted(self.reasons.items(), key=lambda item: -item[1])
        reasons = "; ".join(f"{reason} ({count:,})" for reason, count in counts)
        return (
            f"{self.n_skipped:,} malformed {rows} left out: {reasons}. The first: {self.faults[0]}"
        )

    def remarks(self) -> list[str]:
        """All that a user should be warned of, in sentences."""
        skipped = [f"{self.name}: {self.skipped_words()}"] if self.n_skipped else []
        return skipped + [note for note in self.notes if note not in self.hints]


def fault_kind(fault: str) -> str:
    """What rows with the same kind of fault have in common: what was expected, not what was got."""
    return fault.split(", got ")[0].split(":")[0]


def shown(text: str) -> str:
    """A text for a message, in quotes and cut where it is long.

    Examples
    --------
    >>> shown("a,b"), len(shown("x" * 500))
    ("'a,b'", 82)
    """
    return repr(text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…")
