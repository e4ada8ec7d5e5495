"""A saved graph, written part by part: whole, or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

import numpy as np

from isotherm.compiled import MOST_NODES
from isotherm.errors import GraphError
from isotherm.files import check_output, replacing, written
from isotherm.graph.saved.header import PAGE, Header, Part
from isotherm.graph.saved.lookup import make_lookup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from isotherm.graph import Graph
    from isotherm.graph.nodes import NodeIndex

    Names = Literal["texts", "numbers", "positions"]


def save_graph(graph: Graph, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """See `isotherm.Graph.save`."""
    place, rows = Path(path), graph.rows
    if rows.n_nodes > MOST_NODES:
        raise GraphError(
            f"a saved graph can have at most {MOST_NODES:,} nodes, got {rows.n_nodes:,}"
        )
    with written(str(path)):
        check_output(place, force=force)
        with replacing(place) as file:
            writer = GraphWriter(file)
            writer.put_nodes(graph.nodes)
            blocks = list(rows.blocks())
            with writer.part("ends") as put:
                for first, last in blocks:
                    put(rows.ends[rows.start[first] : rows.start[last]])
            if rows.weights is not None:
                with writer.part("weights") as put:
                    for first, last in blocks:
                        put(rows.weights[rows.start[first] : rows.start[last]])
            writer.put_array("starts", rows.start)
            writer.put_array("degrees", graph.degrees)
            writer.finish(rows.n_loops(), graph.sides)
        sync_folder(place.parent)


class GraphWriter:
    """Writes the parts of a graph, in any order, then the header.

    Parameters
    ----------
    file : binary file
        Empty.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._parts: dict[str, Part] = {}
        self._names: Names = "positions"
        self._given, self._key = True, 0
        file.write(bytes(PAGE))  # until all is known; no graph has such a header

    @contextmanager
    def part(self, name: str) -> Iterator[Callable[[NDArray[Any]], None]]:
        """A part: a function that writes the next piece of it."""
        self._file.write(bytes(-self._file.tell() % PAGE))
        offset, digest = self._file.tell(), hashlib.sha256()

        def put(piece: NDArray[Any]) -> None:
            data = np.ascontiguousarray(piece).reshape(-1).view(np.uint8).data
            digest.update(data)
            self._file.write(data)

        yield put
        self._parts[name] = Part(offset, self._file.tell() - offset, digest.hexdigest())

    def put_array(self, name: str, values: NDArray[Any]) -> None:
        """A part that is in memory as a whole."""
        with self.part(name) as put:
            put(values)

    def put_nodes(self, nodes: NodeIndex) -> None:
        """The ids of the nodes, and a table to find them by.

        Raises
        ------
        GraphError
            If they are neither texts nor whole numbers.
        """
        self._given = nodes.given
        if nodes.are_positions:
            return
        if nodes.texts is None and nodes.ids.dtype.kind in "iu":
            numbers = nodes.ids.astype(np.int64)
            if nodes.ids.dtype.kind == "u" and (numbers < 0).any():
                raise GraphError(
                    f"whole numbers as ids must be below 2⁶³ in a saved graph, got "
                    f"{nodes.ids.max()}; Graph.renamed gives other ids"
                )
            self.put_numbers(numbers)
        else:
            self.put_texts(*_buffers(_as_texts(nodes)))

    def put_texts(self, starts: NDArray[np.int64], data: NDArray[np.uint8]) -> None:
        """Ids that are texts: where each begins, from 0 on, and the bytes."""
        self._names = "texts"
        self.put_array("name_starts", starts)
        self.put_array("name_bytes", data)
        self._put_lookup(starts, data)

    def put_numbers(self, numbers: NDArray[np.int64]) -> None:
        """Ids that are whole numbers."""
        self._names = "numbers"
        self.put_array("name_numbers", numbers)
        self._put_lookup(None, numbers.view(np.uint8))

    def _put_lookup(self, starts: NDArray[np.int64] | None, data: NDArray[np.uint8]) -> None:
        table = make_lookup(starts, data)
        if table is not None:
            self._key = table[0]
            self.put_array("lookup", table[1])

    def finish(self, n_loops: int, sides: tuple[str, str] | None = None) -> None:
        """Write the header; the file is on the disk, and read-only, when this returns."""
        if sides is not None:
            text = json.dumps(list(sides)).encode()
            self.put_array("sides", np.frombuffer(text, dtype=np.uint8))
        header = Header(
            n_nodes=self._parts["degrees"].size // 8,
            n_entries=self._parts["ends"].size // 4,
            n_loops=n_loops,
            names=self._names,
            given=self._given,
            key=self._key,
            parts=self._parts,
        )
        self._file.seek(0)
        self._file.write(header.pack())
        self._file.flush()
        number = self._file.fileno()
        if os.name == "posix":  # elsewhere such a file could not be replaced
            os.fchmod(number, stat.S_IMODE(os.fstat(number).st_mode) & ~0o222)
        os.fsync(number)


def sync_folder(folder: Path) -> None:
    """See to it that a file that was renamed has its name on the disk, too."""
    if os.name != "posix":
        return
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _as_texts(nodes: NodeIndex) -> Any:
    import pyarrow as pa

    if nodes.texts is not None:
        return nodes.texts
    ids = nodes.ids.tolist()
    other = next((node for node in ids if not isinstance(node, str)), None)
    if other is not None:
        raise GraphError(
            f"ids in a saved graph must be text or whole numbers, got {other!r} "
            f"({type(other).__name__}); Graph.renamed gives other ids"
        )
    try:
        return pa.array(ids, pa.large_string())
    except UnicodeEncodeError as error:
        raise GraphError(
            f"the id {error.object!r} is not valid Unicode and cannot be saved; Graph.renamed "
            "gives other ids"
        ) from None


def _buffers(texts: Any) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Where each text starts, from 0 on, and the bytes."""
    import pyarrow as pa

    from isotherm.graph.texts import buffers_of

    starts, data = buffers_of(texts.cast(pa.large_string()))
    first, last = int(starts[0]), int(starts[-1])
    return starts - first if first else starts, data[first:last]
