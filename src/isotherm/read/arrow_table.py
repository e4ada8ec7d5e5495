"""Parquet and Arrow files → columns, batch by batch; what they claim is checked."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from isotherm.errors import FileError, IsothermError, ParameterError
from isotherm.read.layout import Layout
from isotherm.read.numbers import NumberParser
from isotherm.read.report import fault_kind
from isotherm.read.table import Batch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from isotherm.read.options import TextOptions
    from isotherm.read.report import ReadReport
    from isotherm.read.source import Source

    # What Arrow makes of a file.
    ArrowFile: TypeAlias = (
        pq.ParquetFile | pa.ipc.RecordBatchFileReader | pa.RecordBatchReader | pa.Table
    )

ROWS = 1 << 17  # of a batch
FIRST_ROWS = 200  # that are looked at to see what columns hold
BUFFER = 1 << 20
# What Arrow makes of damaged files: of memory, it asks for as much as they say.
_FAULTS = (pa.ArrowException, MemoryError, OSError, ValueError, KeyError, OverflowError)
BYTES_PER_ROW = 16  # about, of two ids
MIXED = pa.struct([("number", pa.float64()), ("text", pa.string())])  # of a cell; one is null


def open_parquet(source: Source, options: TextOptions, _: Sequence[str | None] = ()) -> ArrowTable:
    """A Parquet file."""
    # Column by column in small pieces: a group of rows at once is far more than is needed.
    return ArrowTable(
        source,
        options,
        lambda: pq.ParquetFile(source.everything(), buffer_size=BUFFER, pre_buffer=False),
    )


def open_arrow(source: Source, options: TextOptions, _: Sequence[str | None] = ()) -> ArrowTable:
    """An Arrow file, also of the first version of Feather."""
    if source.head.startswith(b"FEA1"):
        from pyarrow import feather

        return ArrowTable(source, options, lambda: feather.read_table(source.everything()))
    return ArrowTable(source, options, lambda: pa.ipc.open_file(source.everything()))


def open_arrow_stream(
    source: Source, options: TextOptions, _: Sequence[str | None] = ()
) -> ArrowTable:
    """A stream of Arrow's."""
    return ArrowTable(source, options, lambda: pa.ipc.open_stream(source.everything()))


class ArrowTable:
    """A table of typed columns, of a file that is opened anew each time it is `opened`."""

    def __init__(
        self, source: Source, options: TextOptions, opened: Callable[[], ArrowFile]
    ) -> None:
        self._source, self._options = source, options
        self._n_unpacked = 0
        self._numbers, self._currencies = NumberParser(options.numbers), set[str]()
        self.format = source.format.name
        with _damage(source.name):
            self._file = opened()
            schema = _schema(self._file)
            names = tuple(schema.names)
        self._opened = opened
        self.layout = Layout("", names, 0, None, header=True, sample=())

    @property
    def n_rows(self) -> int | None:
        """Rows of the file, where it says so."""
        metadata = getattr(self._file, "metadata", None)
        return getattr(metadata, "num_rows", None)

    def first_rows(self) -> Sequence[Sequence[str]]:
        """See `Table.first_rows`."""
        with _damage(self._source.name):
            self._check_promise(list(self.layout.columns))
            part = next(_parts(self._file, list(self.layout.columns), rows=FIRST_ROWS), None)
            if not isinstance(self._file, pa.Table):
                self._file = self._opened()  # a stream is read but once
            if part is None:
                return ()
            columns = [_cells(column) for column in part.slice(0, FIRST_ROWS).columns]
        return list(zip(*columns, strict=True))

    def batches(
        self,
        columns: Sequence[int],
        report: ReadReport,
        *,
        error: type[IsothermError],
        empty: bool = False,
        also: Sequence[int] = (),
    ) -> Iterator[Batch]:
        """See `Table.batches`; rows with gaps or faulty weights are faults."""
        if len(set(self.layout.columns)) != len(self.layout.columns):
            names = self.layout.columns
            twice = next(name for name in names if names.count(name) > 1)
            raise FileError(f"{self._source.name} has two columns named {twice!r}: rename one")
        raised = error if self._options.on_error == "raise" else None
        row = 0
        for batch in self._batches(columns, also=also):
            n = len(batch.first)
            report.check_currencies(self._currencies, error)
            good = _good(batch, empty=empty)
            if good is not None:
                for rows in _faults(batch, good).values():
                    place, fault = f"row {row + rows[0] + 1}", _why(batch, rows[0])
                    report.take_fault(place, fault, raised, len(rows))
                batch = _kept(batch, good)
            row += n
            report.n_rows += len(batch.first)
            yield batch

    def progress(self, report: ReadReport) -> tuple[int, int | None]:
        """How many rows were read, and how many there are."""
        return report.n_rows, self.n_rows

    def pieces(
        self, columns: Sequence[int], most: int, count: int
    ) -> Iterator[tuple[Batch, float]]:
        """See `Table.pieces`; they are groups of rows."""
        total, seen = self.n_rows, 0
        groups = getattr(self._file, "num_row_groups", 0)
        chosen = None
        if total and total * BYTES_PER_ROW > most and groups > 1:
            wanted = max(2, round(groups * most / (total * BYTES_PER_ROW)))
            chosen = np.unique(np.linspace(0, groups - 1, min(wanted, count)).round().astype(int))
        for batch in self._batches(columns, None if chosen is None else chosen.tolist()):
            seen += len(batch.first)
            good = _good(batch, empty=False)
            yield batch if good is None else _kept(batch, good), seen / total if total else 1.0

    def _batches(
        self, columns: Sequence[int], groups: list[int] | None = None, also: Sequence[int] = ()
    ) -> Iterator[Batch]:
        """The columns wanted, of all rows or of some groups, checked."""
        names = [self.layout.columns[k] for k in (*columns, *also)]
        weight = names[2] if len(columns) == 3 else None
        with _damage(self._source.name):
            self._check_promise(names)
            for part in _parts(self._file, names, groups, weight=weight):
                self._n_unpacked += part.nbytes
                self._source.check_unpacked(self._n_unpacked)
                yield self._batch(part, len(columns))

    def _batch(self, part: pa.RecordBatch, width: int) -> Batch:
        numbers = self._weights(part.column(2)) if width == 3 else None
        also = (as_text(part.column(k)) for k in range(width, part.num_columns))
        return Batch(as_text(part.column(0)), as_text(part.column(1)), numbers, tuple(also))

    def _weights(self, column: pa.Array) -> NDArray[np.float64]:
        """Numbers as they are, and texts as the user says they are written."""
        if pa.types.is_dictionary(column.type):
            return self._weights(column.dictionary_decode())
        if column.type == MIXED:
            known = self._weights(column.field(0))
            return np.where(np.isnan(known), self._weights(column.field(1)), known)
        if _is_numeric(column.type):
            found = pc.cast(column, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
            return np.asarray(found)
        texts = as_text(column)
        self._currencies |= self._numbers.currencies(texts)
        return self._numbers.parse(texts)

    def _check_promise(self, names: list[str]) -> None:
        """Refuse a Parquet file that says it unpacks to too much."""
        metadata = getattr(self._file, "metadata", None)
        if metadata is None or metadata.num_row_groups == 0:
            return
        paths = [
            metadata.row_group(0).column(k).path_in_schema for k in range(metadata.num_columns)
        ]
        chosen = [k for k, path in enumerate(paths) if path in names]
        groups = map(metadata.row_group, range(metadata.num_row_groups))
        self._source.check_unpacked(
            sum(group.column(k).total_uncompressed_size for group in groups for k in chosen)
        )


def _schema(file: ArrowFile) -> pa.Schema:
    return file.schema_arrow if hasattr(file, "schema_arrow") else file.schema


def _parts(
    file: ArrowFile,
    names: list[str],
    groups: list[int] | None = None,
    rows: int = ROWS,
    weight: str | None = None,
) -> Iterator[pa.RecordBatch]:
    if hasattr(file, "iter_batches"):
        many = file.iter_batches(rows, columns=names, row_groups=groups)
    elif isinstance(file, pa.Table):
        many = file.select(names).to_batches(rows)
    elif hasattr(file, "num_record_batches"):
        many = map(file.get_batch, range(file.num_record_batches))
    elif hasattr(file, "batches"):  # of rows
        many = file.batches(weight)
    else:
        many = file
    for batch in many:
        chosen = batch.select(names)
        # The offsets of a damaged file may lead anywhere, and its texts need not be UTF-8.
        chosen.validate(full=True)
        yield chosen


def _cells(column: pa.Array) -> list[str]:
    """A column as text, as far as it can be one; absent cells are empty."""
    try:
        return pc.fill_null(as_text(column), "").to_pylist()  # type: ignore[no-any-return]
    except (ParameterError, pa.ArrowException):
        return [""] * len(column)


def as_text(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """A column of ids or labels as text; whole numbers as they are written, 7 and not 7.0."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    kind = column.type
    if pa.types.is_dictionary(kind):
        return as_text(column.dictionary_decode())
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return column
    if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        raise ParameterError(f"ids and labels must be text or numbers, got {kind}")
    return pc.cast(column, pa.string())


def _good(batch: Batch, *, empty: bool) -> NDArray[np.bool_] | None:
    """A mask of the rows without a fault; None if all are."""
    masks = [_filled(batch.first)]
    if not empty:
        masks.append(_filled(batch.second))
    if batch.numbers is not None:
        masks.append((batch.numbers >= 0) & (batch.numbers < np.inf))
    whole = np.logical_and.reduce(masks)
    return None if whole.all() else whole


def _filled(column: pa.Array) -> NDArray[np.bool_]:
    lengths = pc.fill_null(pc.binary_length(column), 0).to_numpy(zero_copy_only=False)
    return np.asarray(lengths > 0)


def _faults(batch: Batch, good: NDArray[np.bool_]) -> dict[str, list[int]]:
    """Rows with a fault, by what is wrong with them."""
    found: dict[str, list[int]] = {}
    for row in np.flatnonzero(~good).tolist():
        found.setdefault(fault_kind(_why(batch, row)), []).append(row)
    return found


def _why(batch: Batch, row: int) -> str:
    cells = [batch.first[row].as_py(), batch.second[row].as_py()]
    if batch.numbers is None or (0 <= batch.numbers[row] < np.inf):
        return f"an empty cell: {cells}"
    if np.isnan(batch.numbers[row]):
        return f"a weight must be a number: {cells}"
    return f"a weight must be ≥ 0 and finite, got {batch.numbers[row]:g}: {cells}"


def _kept(batch: Batch, good: NDArray[np.bool_]) -> Batch:
    mask = pa.array(good)
    numbers = None if batch.numbers is None else batch.numbers[good]
    also = tuple(column.filter(mask) for column in batch.also)
    return Batch(batch.first.filter(mask), batch.second.filter(mask), numbers, also)


def _is_numeric(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_decimal(kind)
    )


@contextmanager
def _damage(name: str) -> Iterator[None]:
    """What Arrow makes of damaged files becomes one kind of error, which names the file."""
    try:
        yield
    except IsothermError:
        raise
    except _FAULTS as error:
        lines = str(error).splitlines() or [type(error).__name__]
        raise FileError(f"{name} is damaged or in another format: {lines[0]}") from None
