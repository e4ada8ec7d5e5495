"""Reads all of a saved graph to see whether it is as it was written."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from isotherm.errors import GraphError
from isotherm.graph.saved.header import changed
from isotherm.graph.saved.lookup import make_lookup
from isotherm.graph.saved.mapped import MappedRows, SavedNodes, open_file

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from isotherm.graph.saved.mapped import SavedFile

    Progress = Callable[[int, int | None], None]

BLOCK = 1 << 24  # bytes that are hashed at once


def check_file(path: str | os.PathLike[str], progress: Progress | None = None) -> SavedFile:
    """See whether a saved graph is sound: checksums of all parts, edges, degrees, names.

    Parameters
    ----------
    path : str or Path
    progress : callable, optional
        Called with how many bytes were hashed so far, and how many there are.

    Raises
    ------
    FileError
        Saying what is wrong.
    """
    file = open_file(path)
    header, done = file.header, 0
    total = sum(part.size for part in header.parts.values())
    for name, part in header.parts.items():
        digest = hashlib.sha256()
        for first in range(0, part.size, BLOCK):
            last = min(first + BLOCK, part.size)
            digest.update(memoryview(file.memory)[part.offset + first : part.offset + last])
            if progress is not None:
                progress(done + last, total)
        done += part.size
        if digest.hexdigest() != part.checksum:
            raise changed(str(path), f"the checksum of {name!r} does not match")
    rows = MappedRows(file)
    if super(MappedRows, rows).n_loops() != header.n_loops:
        raise changed(str(path), "the number of self loops does not match")
    _check_names(file)
    return file


def _check_names(file: SavedFile) -> None:
    """Whether all names are texts, all are different, and each can be found."""
    kind, slots = file.header.names, file.optional("lookup")
    if kind == "positions":
        return
    if kind == "texts":
        _ = SavedNodes(file).texts  # looks at all of them
    starts = file.optional("name_starts")
    data = file.part("name_bytes") if kind == "texts" else file.part("name_numbers").view(np.uint8)
    try:
        table = make_lookup(starts, data)
    except GraphError as error:
        raise changed(file.path, str(error)) from None
    if table is None or slots is None:
        return
    if table[0] != file.header.key or not np.array_equal(table[1], slots):
        raise changed(file.path, "the table of names does not match")
