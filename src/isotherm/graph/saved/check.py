"""Reads all of a saved graph to see whether it is as it was written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isotherm.graph.saved.file import open_file
from isotherm.graph.saved.header import changed
from isotherm.graph.saved.mapped import MappedRows
from isotherm.graph.saved.names import check_names, sound_texts

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from isotherm.graph.saved.file import SavedFile

    Progress = Callable[[int, int | None], None]


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
    name = file.damaged(progress)
    if name is not None:
        raise changed(str(path), f"the checksum of {name!r} does not match")
    _ = MappedRows(file).start, file.sides  # looks at all of them
    if file.header.names != "positions":
        check_names(file, table=True)
    if file.header.names == "texts":
        sound_texts(file)
    return file
