"""A file of rows and columns, whatever its format: what readers of tables have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from isotherm.errors import IsothermError
    from isotherm.read.layout import Layout
    from isotherm.read.report import ReadReport

    Columns = Mapping[str, str | None]  # the column that a user names for each role


class Batch(NamedTuple):
    """Some rows: two columns of text and, perhaps, one of numbers; and further ones of text."""

    first: pa.Array
    second: pa.Array
    numbers: NDArray[np.float64] | None
    also: tuple[pa.Array, ...] = ()

    @property
    def nbytes(self) -> int:
        """Of the texts."""
        return int(self.first.nbytes + self.second.nbytes)


class LabelRows(NamedTuple):
    """Nodes, their labels and, perhaps, how sure these are; an empty label is unknown.

    Where the rows may be a result of isotherm: also the status of each. Where a column says it:
    whether a label was drawn at random, in words.
    """

    nodes: Sequence[str] | pa.Array
    labels: Sequence[str | None] | pa.Array
    confidence: Sequence[float] | NDArray[np.float64] | None = None
    status: Sequence[str | None] | pa.Array | None = None
    drawn: Sequence[str | None] | pa.Array | None = None


class Table(Protocol):
    """Rows of a file, read some at a time."""

    layout: Layout
    format: str  # as reports call it

    def first_rows(self) -> Sequence[Sequence[str]]:
        """Some rows from the beginning, all cells as text, to see what the columns hold."""

    def batches(
        self,
        columns: Sequence[int],
        report: ReadReport,
        *,
        error: type[IsothermError],
        empty: bool = False,
        also: Sequence[int] = (),
    ) -> Iterator[Batch]:
        """All rows, some at a time; the report gets their count and what is wrong with them.

        Of three columns the last one holds weights. Cells of the second may be `empty`, those of
        the further ones, `also`, in any case.
        """

    def pieces(
        self, columns: Sequence[int], most: int, count: int
    ) -> Iterator[tuple[Batch, float]]:
        """Some of the rows, about `most` bytes of them, and the share of all seen so far.

        From `count` places of the file where it can be read in any order; else from its beginning.
        """

    def progress(self, report: ReadReport) -> tuple[int, int | None]:
        """How much was read, and how much there is, if that is known."""
