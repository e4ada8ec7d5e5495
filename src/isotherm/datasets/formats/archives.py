"""Compressed files and archives from the network → bytes, with a limit on what they unpack to.

Nothing is extracted to disk: the members wanted are read into memory.
"""

from __future__ import annotations

import tarfile
import zlib
from io import BytesIO
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from isotherm.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Collection

MOST_BYTES = 2**30  # the largest set named here unpacks to a tenth of this

_GZIP = b"\x1f\x8b"
_ANY_GZIP_HEADER = 31  # zlib's code for: a gzip header, the largest window


def gunzip(data: bytes, *, most: int = MOST_BYTES) -> bytes:
    """Unpack gzip data; data that are not gzip come back as they are.

    Some servers call such a file an encoding, and then it arrives unpacked.

    Raises
    ------
    DatasetError
        Data that are damaged, end too early, or unpack to more than `most` bytes.

    Examples
    --------
    >>> import gzip
    >>> gunzip(gzip.compress(b"0 1")), gunzip(b"0 1")
    (b'0 1', b'0 1')
    """
    if not data.startswith(_GZIP):
        return data
    parts, room = [], most
    while data.startswith(_GZIP):  # a gzip file may be several, one after the other
        stream = zlib.decompressobj(_ANY_GZIP_HEADER)
        try:
            part = stream.decompress(data, room + 1)
        except zlib.error as error:
            raise DatasetError(f"damaged gzip data: {error}") from None
        room -= len(part)
        if room < 0:
            raise DatasetError(f"it unpacks to more than {most:,} bytes")
        if not stream.eof:
            raise DatasetError("the gzip data ends too early")
        parts.append(part)
        data = stream.unused_data
    return b"".join(parts)


def tar_members(
    data: bytes, wanted: Collection[str], *, most: int = MOST_BYTES
) -> dict[str, bytes]:
    """Contents of the files named `wanted` in a tar archive, in whatever folder of it.

    Parameters
    ----------
    data : bytes
        The archive, gzipped or not.
    wanted : collection of str
        File names; those that the archive does not have are left out.
    most : int
        The most bytes that the archive may unpack to.

    Raises
    ------
    DatasetError
        A damaged archive, one with two files of a wanted name, or one that no honest person
        makes: a member with an absolute path or one through "..", a link, a device.
    """
    found: dict[str, bytes] = {}
    try:
        with tarfile.open(fileobj=BytesIO(gunzip(data, most=most)), mode="r:") as archive:
            for member in archive:
                _refuse_hostile(member, most)
                name = PurePosixPath(member.name).name
                if name not in wanted or member.isdir():
                    continue
                if name in found:
                    raise DatasetError(f"the archive has two files named {name!r}")
                file = archive.extractfile(member)
                found[name] = b"" if file is None else file.read()
    except (tarfile.TarError, EOFError, ValueError, OverflowError) as error:
        raise DatasetError(f"damaged tar archive: {error}") from None
    return found


def _refuse_hostile(member: tarfile.TarInfo, most: int) -> None:
    path = PurePosixPath(member.name)
    if path.is_absolute() or ".." in path.parts:
        raise DatasetError(f"the archive has a member outside its folder: {member.name!r}")
    if not (member.isreg() or member.isdir()) or member.issparse():
        raise DatasetError(f"the archive has a link, a device or a sparse file: {member.name!r}")
    if member.size > most:
        raise DatasetError(
            f"archive member {member.name!r} has {member.size:,} bytes, more than {most:,}"
        )
