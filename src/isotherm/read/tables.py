"""Parquet and Arrow files → columns, batch by batch; what they claim is checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from isotherm.errors import FileError, IsothermError, ParameterError
from isotherm.read.layout import Layout
from isotherm.read.parse import Batch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isotherm.read.record import Reading, Said
    from isotherm.read.source import Source

ROWS = 1 << 17  # of a batch
BUFFER = 1 << 20
# What Arrow makes of damaged files: of memory, it asks for as much as they say.
_FAULTS = (pa.ArrowException, MemoryError, OSError, ValueError, KeyError, OverflowError)
BYTES_PER_ROW = 16  # about, of two ids


class ArrowTable:
    """A table of typed columns: Parquet, Arrow (Feather) or an Arrow stream.

    Parameters
    ----------
    source : Source
    said : Said

    Attributes
    ----------
    layout : Layout
        The names of its columns, and a row that stands for all.
    format : str
    """

    def __init__(self, source: Source, said: Said) -> None:
        self._source, self._said = source, said
        self._n_unpacked = 0
        self.format = source.format
        try:
            self._file = _opened(source)
            schema = _schema(self._file)
            names = tuple(schema.names)
            numeric = [_is_numeric(field.type) for field in schema]
        except IsothermError:
            raise
        except _FAULTS as error:
            raise _damaged(source.name, error) from None
        # One row stands for all: it has a number where the column is one of numbers.
        row = tuple("0" if number else "text" for number in numeric)
        self.layout = Layout("", names, 0, None, header=True, sample=(row,))
        if len(names) < 2:
            raise FileError(f"{source.name} has {len(names)} column(s); two are needed")

    @property
    def n_rows(self) -> int | None:
        """Rows of the file, where it says so."""
        metadata = getattr(self._file, "metadata", None)
        return getattr(metadata, "num_rows", None)

    def batches(
        self,
        columns: Sequence[int],
        reading: Reading,
        *,
        error: type[IsothermError],
        empty: bool = False,
    ) -> Iterator[Batch]:
        """Batches of the columns wanted; rows with gaps or faulty weights are faults."""
        names = [self.layout.columns[k] for k in columns]
        if len(set(self.layout.columns)) != len(self.layout.columns):
            raise FileError(f"{self._source.name} has two columns of one name")
        row = 0
        try:
            self._check_promise(names)
            for part in _parts(self._file, names):
                self._count(part)
                batch, n = _batch(part), len(part)
                good = _good(batch, empty=empty)
                if good is not None:
                    first_fault = int(np.flatnonzero(~good)[0])
                    fault = (
                        f"{reading.name}, row {row + first_fault + 1}: {_why(batch, first_fault)}"
                    )
                    if self._said.on_error == "raise":
                        raise error(fault)
                    reading.skip(fault)
                    reading.n_skipped += int((~good).sum()) - 1
                    batch = _kept(batch, good)
                row += n
                reading.n_rows += len(batch.first)
                yield batch
        except IsothermError:
            raise
        except _FAULTS as fault:
            raise _damaged(self._source.name, fault) from None

    def progress(self, reading: Reading) -> tuple[int, int | None]:
        """How many rows were read, and how many there are."""
        return reading.n_rows, self.n_rows

    def pieces(
        self, columns: Sequence[int], most: int, count: int
    ) -> Iterator[tuple[Batch, float]]:
        """Some of the rows and the share of all seen so far; see `TextTable.pieces`."""
        names = [self.layout.columns[k] for k in columns]
        total, seen = self.n_rows, 0
        groups = getattr(self._file, "num_row_groups", 0)
        parts = _parts(self._file, names)
        if total and total * BYTES_PER_ROW > most and groups > 1:
            wanted = max(2, round(groups * most / (total * BYTES_PER_ROW)))
            chosen = np.unique(np.linspace(0, groups - 1, min(wanted, count)).round().astype(int))
            parts = self._file.iter_batches(ROWS, columns=names, row_groups=chosen.tolist())
        try:
            self._check_promise(names)
            for part in parts:
                self._count(part)
                batch = _batch(part)
                good = _good(batch, empty=False)
                batch = batch if good is None else _kept(batch, good)
                seen += len(part)
                yield batch, seen / total if total else 1.0
        except IsothermError:
            raise
        except _FAULTS as fault:
            raise _damaged(self._source.name, fault) from None

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

    def _count(self, part: pa.RecordBatch) -> None:
        """Refuse a file that does unpack to too much."""
        self._n_unpacked += part.nbytes
        self._source.check_unpacked(self._n_unpacked)


def _opened(source: Source) -> Any:
    if source.format == "Parquet":
        import pyarrow.parquet as pq

        # Column by column in small pieces: a group of rows at once is far more than is needed.
        return pq.ParquetFile(source.everything(), buffer_size=BUFFER, pre_buffer=False)
    if source.format == "Arrow stream":
        return pa.ipc.open_stream(source.everything())
    if source.head.startswith(b"FEA1"):
        import pyarrow.feather

        return pyarrow.feather.read_table(source.everything())
    return pa.ipc.open_file(source.everything())


def _schema(file: Any) -> pa.Schema:
    return file.schema_arrow if hasattr(file, "schema_arrow") else file.schema


def _parts(file: Any, names: list[str]) -> Iterator[pa.RecordBatch]:
    if hasattr(file, "iter_batches"):
        many = file.iter_batches(ROWS, columns=names)
    elif isinstance(file, pa.Table):
        many = file.select(names).to_batches(ROWS)
    elif hasattr(file, "num_record_batches"):
        many = map(file.get_batch, range(file.num_record_batches))
    else:
        many = file
    for batch in many:
        chosen = batch.select(names)
        # The offsets of a damaged file may lead anywhere, and its texts need not be UTF-8.
        chosen.validate(full=True)
        yield chosen


def as_text(column: Any) -> pa.Array:
    """A column of ids or labels as text; whole numbers as they are written, 7 and not 7.0."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    kind = column.type
    if pa.types.is_dictionary(kind):
        return as_text(column.dictionary_decode())
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return column
    if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        raise ParameterError(f"ids and labels are text or numbers, not {kind}")
    return pc.cast(column, pa.string())


def _batch(part: pa.RecordBatch) -> Batch:
    numbers = None
    if part.num_columns == 3:
        column = part.column(2)
        if not _is_numeric(column.type):
            raise ParameterError(f"weights are numbers, not {column.type}")
        numbers = pc.cast(column, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return Batch(as_text(part.column(0)), as_text(part.column(1)), numbers)


def _good(batch: Batch, *, empty: bool) -> Any:
    """A mask of the rows without a fault; None if all are."""
    masks = [_filled(batch.first)]
    if not empty:
        masks.append(_filled(batch.second))
    if batch.numbers is not None:
        masks.append((batch.numbers >= 0) & (batch.numbers < np.inf))
    whole = np.logical_and.reduce(masks)
    return None if whole.all() else whole


def _filled(column: pa.Array) -> Any:
    lengths = pc.fill_null(pc.binary_length(column), 0)
    return lengths.to_numpy(zero_copy_only=False) > 0


def _why(batch: Batch, row: int) -> str:
    cells = [batch.first[row].as_py(), batch.second[row].as_py()]
    if batch.numbers is None or not all(cells):
        return f"an empty cell: {cells}"
    return f"a weight is finite and not negative, {batch.numbers[row]} is not: {cells}"


def _kept(batch: Batch, good: Any) -> Batch:
    mask = pa.array(good)
    numbers = None if batch.numbers is None else batch.numbers[good]
    return Batch(batch.first.filter(mask), batch.second.filter(mask), numbers)


def _is_numeric(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    )


def _damaged(name: str, error: Exception) -> FileError:
    said = str(error).splitlines() or [type(error).__name__]
    return FileError(f"{name} is damaged or not what it says: {said[0]}")
