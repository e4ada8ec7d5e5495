"""Packed files, and how much they may unpack to: a few bytes can be made to fill any memory."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import math
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from isotherm.errors import FileError, ParameterError
from isotherm.memory import size_text

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_BYTES = 64 << 30
LARGEST_DATA_SET = 1 << 30  # bytes, also unpacked; the largest seen here has a tenth of this
MOST_TIMES = 200.0
RATIO_COUNTS_FROM = 1 << 28  # bytes: below this any ratio will do


@dataclass(frozen=True)
class UnpackLimit:
    """The most that a packed file, or a stream, may turn out to be."""

    size: int = MOST_BYTES
    ratio: float = MOST_TIMES  # times the size of the file as it is stored; counts above 256 MiB

    def __post_init__(self) -> None:
        whole = isinstance(self.size, int) and not isinstance(self.size, bool)
        if not whole or self.size < 1:
            raise ParameterError(
                f"unpack_limit must be a whole number of bytes ≥ 1, got {self.size!r}"
            )
        number = isinstance(self.ratio, int | float) and not isinstance(self.ratio, bool)
        if not number or not 1 <= self.ratio < math.inf:
            raise ParameterError(f"unpack_ratio must be a number ≥ 1, got {self.ratio!r}")

    def check(self, name: str, unpacked: int, packed: int | None) -> None:
        """Refuse so many bytes of so many packed ones, or of a stream, if they are too many."""
        if unpacked > self.size:
            over = f"more than {size_text(self.size)}"
        elif packed and unpacked > max(RATIO_COUNTS_FROM, self.ratio * packed):
            over = f"more than {self.ratio:g} times its size, {size_text(unpacked)} so far"
        else:
            return
        raise FileError(
            f"{name} unpacks to {over}: is it damaged, or made to fill the memory? If you trust "
            f"it, allow more with --unpack-limit (unpack_limit, now {size_text(self.size)}) and "
            f"--unpack-ratio (unpack_ratio, now {self.ratio:g})"
        )


class Counted(io.RawIOBase):
    """A file whose bytes are counted as they are read, and hashed where that is asked for."""

    def __init__(self, raw: Any, *, hashed: bool = False) -> None:
        self._source, self.count = raw, 0
        self.sha256 = hashlib.sha256() if hashed else None

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data: bytes = self._source.read(size)
        self.count += len(data)
        if self.sha256 is not None:
            self.sha256.update(data)
        return data


class _Zstd:
    """Zstandard, by Arrow's codec, which does not tell by itself when the data end too early."""

    def __init__(self, file: IO[bytes]) -> None:
        import pyarrow as pa

        self._stream = pa.CompressedInputStream(file, "zstd")

    def read(self, count: int) -> bytes:
        return bytes(self._stream.read(count))


# By the first bytes of a file: a stream of what is packed in it.
UNPACKERS: dict[bytes, Callable[[Any], Any]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"\x28\xb5\x2f\xfd": _Zstd,
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\0": lzma.LZMAFile,
}
