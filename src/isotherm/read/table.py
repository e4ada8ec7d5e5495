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
    """Rows of a file, read some at a time.

    Attributes
    ----------
    layout : Layout
        The columns.
    format : str
        As reports call it.
    """

    layout: Layout
    format: str

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
        """All rows, some at a time.

        Parameters
        ----------
        columns : sequence of int
            Two, or three: then the last one holds weights.
        report : ReadReport
            Gets the count of rows and what is wrong with them.
        error : type
            Of the exceptions raised.
        empty : bool
            Whether cells of the second column may be empty.
        also : sequence of int
            Further columns, of texts that may be empty.
        """

    def pieces(
        self, columns: Sequence[int], most: int, count: int
    ) -> Iterator[tuple[Batch, float]]:
        """Some of the rows, about `most` bytes of them, and the share of all seen so far.

        From `count` places of the file where it can be read in any order; else from its beginning.
        """

    def progress(self, report: ReadReport) -> tuple[int, int | None]:
        """How much was read, and how much there is, if that is known."""
