"""The files of NumPy and of SciPy's sparse matrices → arrays, every claim of theirs checked.

`numpy.load` believes the header of a file and makes room for what it promises. Here the promise
must agree with the bytes that are there.
"""

from __future__ import annotations

import zipfile
from io import BytesIO
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.lib import format as npy

from isotherm.datasets.formats.archives import MOST_BYTES
from isotherm.datasets.formats.unpickle import load_array
from isotherm.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    Array = NDArray[np.generic]  # of numbers or of strings

NODES_PER_ENTRY = 100  # of an honest matrix, most of whose rows may be empty
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def read_npy(data: bytes, *, objects: bool = False) -> Array:
    """The array of numbers or strings in a ``.npy`` file.

    Parameters
    ----------
    data : bytes
    objects : bool
        Whether strings may be stored as objects: that is a pickle, read without running it.

    Raises
    ------
    DatasetError
        A damaged file, one with other contents than its header says, or one of objects.
    """
    stream = BytesIO(data)
    try:
        header = _HEADERS[npy.read_magic(stream)]
        shape, by_column, dtype = header(stream)
    except Exception as error:  # a header is Python code, and may be wrong in as many ways
        raise DatasetError(f"not a .npy file: {error}") from None
    start = stream.tell()
    if dtype.hasobject:
        if not objects:
            raise DatasetError("an array of objects, which is a pickle")
        return load_array(data[start:])
    if dtype.kind not in "biufUS" or dtype.itemsize == 0:
        raise DatasetError(f"an array of type {dtype.str!r}, not of numbers or strings")
    if min(shape, default=0) < 0 or len(data) - start != prod(shape) * dtype.itemsize:
        raise DatasetError(
            f"a .npy file whose {len(data) - start} bytes do not match its shape {shape}"
        )
    if max(shape, default=0) > np.iinfo(np.intp).max:  # of no entries at all
        raise DatasetError(f"a .npy file of shape {shape}, which no array can have")
    flat = np.frombuffer(data, dtype=dtype, offset=start)
    try:
        return flat.reshape(shape, order="F" if by_column else "C")
    except ValueError as error:
        raise DatasetError(f"a .npy file of shape {shape}: {error}") from None


def unpacked_size(data: bytes) -> int:
    """Bytes that all members of a zip archive unpack to, as it says; 0 of what is no archive."""
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            return sum(member.file_size for member in archive.infolist())
    except Exception:  # `read_npz` says what is wrong
        return 0


def read_npz(data: bytes, wanted: Collection[str], *, most: int = MOST_BYTES) -> dict[str, Array]:
    """The arrays named `wanted` in a ``.npz`` file; those that it lacks are left out.

    Raises
    ------
    DatasetError
        A damaged file, one that unpacks to more than `most` bytes, one with pickles.
    """
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            members = {
                member.filename.removesuffix(".npy"): member for member in archive.infolist()
            }
            members = {name: member for name, member in members.items() if name in wanted}
            # A member that says too little is cut there.
            fits = sum(member.file_size for member in members.values()) <= most
            found = {name: archive.read(member) for name, member in members.items() if fits}
    except Exception as error:  # each way of packing has errors of its own
        raise DatasetError(f"not a .npz file: {error}") from None
    if not fits:
        raise DatasetError(f"a .npz file that unpacks to more than {most} bytes")
    arrays = {}
    for name, contents in found.items():
        try:
            arrays[name] = read_npy(contents)
        except DatasetError as error:
            raise DatasetError(f"{name!r} is {error}") from None
    return arrays


def write_npz(arrays: dict[str, Array], *, small: bool = False) -> bytes:
    """A ``.npz`` file; the same arrays give the same bytes.

    Parameters
    ----------
    arrays : dict
    small : bool
        LZMA in place of deflate: half the size for ten times the work. `numpy.load` reads both.
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


def read_sparse(
    data: bytes, *, most: int = MOST_BYTES
) -> tuple[int, NDArray[np.int64], NDArray[np.int64], Array]:
    """Number of nodes, the two ends and the weight of each edge of `scipy.sparse.save_npz`.

    Raises
    ------
    DatasetError
        A damaged file, or a matrix that is not square or has entries outside.
    """
    parts = read_npz(
        data, {"format", "shape", "indptr", "indices", "row", "col", "data"}, most=most
    )
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
    """Where each row of a CSR matrix starts, if that goes up from 0 to a number in reason.

    Raises
    ------
    DatasetError
        If it does not; nothing has made room for the entries by then.
    """
    start = indptr.astype(np.int64)
    # Compared, not subtracted: differences of hostile numbers can overflow.
    if len(start) < 2 or start[0] != 0 or (start[1:] < start[:-1]).any():
        raise DatasetError("row pointers that do not increase from 0")
    if start[-1] > MOST_BYTES:
        raise DatasetError(f"row pointers up to {start[-1]}, more than any data set has")
    return start
