"""Edges, numbered as they come, in temporary files."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.memory import release_unused
from isotherm.read.bipartite import note_two_kinds
from isotherm.read.edges import Numbering
from isotherm.read.similar_ids import note_similar_ids

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import pyarrow as pa
    from numpy.typing import NDArray

    from isotherm.build.plan import Plan
    from isotherm.read.load import EdgeTable
    from isotherm.read.report import ReadReport

    Progress = Callable[[int, int | None], None]

BLOCK = 1 << 20  # edges that are worked on at once
BYTES_TO_COMPARE = 128  # for each name, to find those that are alike


@dataclass(frozen=True)
class Spill:
    """Edges in files, or the entries of some rows.

    Attributes
    ----------
    folder : Path
    name : str
        What the files begin with.
    weighted : bool
    """

    folder: Path
    name: str
    weighted: bool

    @property
    def paths(self) -> list[Path]:
        """Of the sources, the targets and, if there are any, the weights."""
        kinds = ("source", "target", "weight")[: 3 if self.weighted else 2]
        return [self.folder / f"{self.name}.{kind}" for kind in kinds]

    @property
    def n_edges(self) -> int:
        """How many there are."""
        return self.paths[0].stat().st_size // 4 if self.paths[0].exists() else 0

    def append(self, *columns: NDArray[Any] | None) -> None:
        """Put edges behind the others."""
        for path, column in zip(self.paths, columns, strict=False):
            with path.open("ab") as file:
                put(file, column)

    def arrays(
        self,
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64] | None]:
        """All edges; mapped, not read."""
        kinds = (np.int32, np.int32, np.float64)
        found: list[Any] = [
            np.memmap(path, dtype=kind, mode="r") if self.n_edges else np.zeros(0, kind)
            for path, kind in zip(self.paths, kinds, strict=False)
        ]
        return found[0], found[1], found[2] if self.weighted else None

    def blocks(
        self,
    ) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64] | None]]:
        """Some edges at a time."""
        source, target, weights = self.arrays()
        for first in range(0, len(source), BLOCK):
            some = slice(first, first + BLOCK)
            yield source[some], target[some], None if weights is None else weights[some]

    def remove(self) -> None:
        """Give the disk back."""
        for path in self.paths:
            path.unlink(missing_ok=True)


def spill_edges(
    table: EdgeTable, report: ReadReport, folder: Path, plan: Plan, progress: Progress
) -> tuple[Spill, pa.Array]:
    """Read all edges into temporary files; and the names of their nodes, by number."""
    numbering = Numbering(table.sides)
    spill = Spill(folder, "edges", weighted=len(table.columns) == 3)

    def show(done: int, total: int | None) -> None:
        plan.check_names(numbering.names.nbytes, done, total)
        progress(done, total)

    with ExitStack() as stack:
        files = [stack.enter_context(path.open("xb")) for path in spill.paths]
        for batch in table.batches(report, show):
            for file, column in zip(files, numbering.number(batch), strict=False):
                put(file, column)
    release_unused()
    texts = numbering.take_texts(report)
    report.n_empty = numbering.n_rows - numbering.n_kept
    if table.sides is None:
        note_two_kinds(spill.arrays()[:2], texts, report)
    if BYTES_TO_COMPARE * len(texts) <= plan.room_for_rows(len(texts)):
        note_similar_ids(texts, report)
    return spill, texts


def put(file: Any, column: NDArray[Any] | None) -> None:
    """Write the bytes of an array."""
    if column is not None and column.size:
        file.write(np.ascontiguousarray(column).view(np.uint8).data)
