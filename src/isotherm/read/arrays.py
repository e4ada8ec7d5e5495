"""The files of NumPy and of SciPy's sparse matrices → arrays, under limits, and → Graph.

NumPy believes the header of an array and makes room for what that promises. Here the promise must
agree with the bytes that are there before NumPy sees it.
"""

from __future__ import annotations

import lzma
import zipfile
import zlib
from functools import partial
from io import BytesIO
from math import prod
from typing import IO, TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.lib import format as npy

from isotherm.errors import DatasetError, GraphError
from isotherm.graph import Graph
from isotherm.graph.nodes import NodeIndex
from isotherm.graph.rows import rows_from_matrix
from isotherm.graph.weights import as_csr
from isotherm.read.unpacking import LARGEST_DATA_SET
from isotherm.read.zip_archives import open_archive

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from numpy.typing import NDArray
    from scipy import sparse

    Array = NDArray[np.generic]  # of numbers or of strings

NODES_PER_ENTRY = 100  # of an honest matrix, most of whose rows may be empty
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def read_npz(
    file: IO[bytes],
    wanted: Collection[str],
    *checks: Callable[[int], None],
    most: float = LARGEST_DATA_SET,
) -> dict[str, Array]:
    """The arrays named `wanted` in a ``.npz`` file that are there, as `numpy.load` reads them."""
    try:
        with open_archive(file, *checks) as archive:
            found = {name: archive.NameToInfo.get(f"{name}.npy") for name in wanted}
            members = {name: member for name, member in found.items() if member is not None}
            if sum(member.file_size for member in members.values()) > most:
                raise DatasetError(f"a .npz file that unpacks to more than {most} bytes")
            return {name: _unpacked(archive, member, name) for name, member in members.items()}
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise DatasetError(f"not a .npz file: {error}") from None


def _unpacked(archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str) -> Array:
    try:
        # What a member says of its size is the most that is read of it.
        return _checked_array(partial(archive.open, member), member.file_size)
    except DatasetError as error:
        raise DatasetError(f"{name!r} is {error}") from None
    except Exception as error:  # each way of packing has errors of its own
        raise DatasetError(f"not a .npz file: {error}") from None


def _checked_array(opened: Callable[[], IO[bytes]], size: int) -> Array:
    """The array of a stream of so many bytes, which is opened twice."""
    with opened() as stream:
        shape, dtype = _header(stream)
        held = size - stream.tell()
    if dtype.hasobject:
        raise DatasetError("an array of objects, which is a pickle")
    if dtype.kind not in "biufUS" or dtype.itemsize == 0:
        raise DatasetError(f"an array of type {dtype.str!r}, not of numbers or strings")
    if min(shape, default=0) < 0 or held != prod(shape) * dtype.itemsize:
        raise DatasetError(f"a .npy file whose {held} bytes do not match its shape {shape}")
    if max(shape, default=0) > np.iinfo(np.intp).max:  # of no entries at all
        raise DatasetError(f"a .npy file of shape {shape}, which no array can have")
    with opened() as stream:
        try:
            array: Array = npy.read_array(stream, allow_pickle=False)
        except ValueError as error:
            raise DatasetError(f"a .npy file of shape {shape}: {error}") from None
    return array


def _header(stream: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[np.generic]]:
    """The shape and the type that the header of an array promises."""
    try:
        shape, _, dtype = _HEADERS[npy.read_magic(stream)](stream)
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError):
        raise
    except Exception as error:  # a header is Python code, and may be wrong in as many ways
        raise DatasetError(f"not a .npy file: {error}") from None
    return shape, dtype


def write_npz(arrays: dict[str, Array], *, small: bool = False) -> bytes:
    """A ``.npz`` file; the same arrays give the same bytes.

    By LZMA it is `small`: half the size for ten times the work. `numpy.load` reads both.
    """
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            contents = BytesIO()
            npy.write_array(contents, np.ascontiguousarray(array), allow_pickle=False)
            # A fixed date and system, so that nothing but the arrays matters.
            member = zipfile.ZipInfo(f"{name}.npy")
            member.create_system = 3
            member.compress_type = zipfile.ZIP_LZMA if small else zipfile.ZIP_DEFLATED
            archive.writestr(member, contents.getvalue())
    return file.getvalue()


SPARSE = frozenset({"format", "shape", "indptr", "indices", "row", "col", "data"})


def sparse_edges(
    parts: dict[str, Array],
) -> tuple[int, NDArray[np.int64], NDArray[np.int64], Array]:
    """Number of nodes, the two ends and the weight of each edge of `scipy.sparse.save_npz`."""
    try:
        kind = parts["format"].item()
        kind = kind.decode("latin-1") if isinstance(kind, bytes) else str(kind)
        n, n_columns = (int(side) for side in parts["shape"])
        if kind == "coo":
            ends = [parts["row"], parts["col"]]
        elif kind in {"csr", "csc"}:
            ends = [_expanded(parts["indptr"], n), parts["indices"]]
        else:
            raise DatasetError(f"a sparse matrix of unknown format {kind!r}")
        weights = parts["data"]
    except (KeyError, TypeError, ValueError) as error:
        raise DatasetError(f"not a SciPy sparse matrix: {error}") from None
    if n != n_columns:
        raise DatasetError(f"an adjacency matrix must be square, got {n} × {n_columns}")
    if any(end.dtype.kind not in "iu" or end.shape != (weights.size,) for end in ends):
        raise DatasetError("a sparse matrix whose arrays do not fit together")
    if not 0 <= n <= NODES_PER_ENTRY * (weights.size + 10_000):
        raise DatasetError(f"a sparse matrix of {n} rows with {weights.size} entries")
    if weights.size and not all(0 <= end.min() <= end.max() < n for end in ends):
        raise DatasetError(f"a sparse matrix of {n} rows with an entry outside")
    source, target = (end.astype(np.int64) for end in ends)
    there = weights.ravel() != 0
    return n, source[there], target[there], weights.ravel()[there]


def _expanded(indptr: Array, n: int) -> Array:
    """The row of every entry."""
    if len(indptr) != n + 1:
        raise DatasetError(f"row pointers of length {len(indptr)} for {n} rows")
    start = check_pointers(indptr)
    return np.repeat(np.arange(n), start[1:] - start[:-1])


def check_pointers(indptr: Array) -> NDArray[np.int64]:
    """Where each row of a CSR matrix starts, if that goes up from 0 to a number in reason."""
    start = indptr.astype(np.int64)
    # Compared, not subtracted: differences of hostile numbers can overflow.
    if len(start) < 2 or start[0] != 0 or (start[1:] < start[:-1]).any():
        raise DatasetError("row pointers that do not increase from 0")
    if start[-1] > LARGEST_DATA_SET:
        raise DatasetError(f"row pointers up to {start[-1]}, more than any data set has")
    return start


def graph_of_matrix(matrix: sparse.csr_array, name: str, *, first: int) -> Graph:
    """The graph of a matrix in the file `name`; its nodes are counted from `first` on."""
    try:
        return named_by_position(Graph(rows_from_matrix(as_csr(matrix))), first=first)
    except GraphError as error:
        raise GraphError(f"{name}: {error}") from None


def named_by_position(graph: Graph, *, first: int) -> Graph:
    """The same with positions, counted from `first` on and written out, as ids."""
    numbers = pa.array(np.arange(first, first + graph.n_nodes))
    return Graph(graph.rows, NodeIndex(pc.cast(numbers, pa.large_string())))
