"""The folder where data sets are kept, and the checksums of what was put there.

A file takes its place whole or not at all. Its SHA-256 is noted in ``checksums.json`` and must
be the same ever after. A file put there by hand has none there and is taken as it is, unless the
catalogue has its checksum.
"""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path

from isotherm.datasets.formats.archives import MOST_BYTES
from isotherm.errors import DatasetError, ParameterError
from isotherm.files import replacing

VARIABLE = "ISOTHERM_DATA"
RECORDS = "checksums.json"
RAW = "raw"  # the folder of the files as they were downloaded


class Cache:
    """A folder of data sets: ``NAME.npz``, what these were made from, and checksums.

    Parameters
    ----------
    folder : Path
        Need not exist before something is written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def names(self) -> list[str]:
        """Names of the data sets that are here, sorted."""
        return sorted(path.stem for path in self.folder.glob("[!.]*.npz") if path.is_file())

    def path(self, name: str) -> Path:
        """Where a data set is, or would be."""
        return self.folder / f"{name}.npz"

    def raw(self, name: str) -> Path:
        """Where a downloaded file is, or would be."""
        return self.folder / RAW / name

    def read(self, path: Path, *, pinned: str | None = None) -> bytes:
        """Contents of a file of the cache: those recorded or, where that is given, pinned.

        Raises
        ------
        DatasetError
            If the file cannot be read, or is not what it was.
        """
        try:
            with path.open("rb") as file:
                data = file.read(MOST_BYTES + 1)
        except OSError as error:
            raise DatasetError(f"cannot read {path}: {error.strerror or error}") from None
        if len(data) > MOST_BYTES:
            raise DatasetError(f"{path} is larger than a data set may be, {MOST_BYTES:,} bytes")
        expected, found = pinned or self.recorded(path), sha256(data).hexdigest()
        if expected not in (None, found):
            raise DatasetError(
                f"{path} has changed: its SHA-256 {'should be' if pinned else 'was'} {expected} "
                f"but is {found}; delete the file to download it again"
            )
        return data

    def write(self, path: Path, data: bytes) -> None:
        """Write a file and record its checksum."""
        with replacing(path) as file:
            file.write(data)
            self.record(path, sha256(data).hexdigest())

    def recorded(self, path: Path) -> str | None:
        """The checksum recorded for a file."""
        return self._records().get(self._key(path))

    def record(self, path: Path, checksum: str | None) -> None:
        """Record the checksum of a file; None forgets it."""
        records = self._records() | {self._key(path): checksum}
        known = {key: value for key, value in sorted(records.items()) if value is not None}
        with replacing(self.folder / RECORDS) as file:
            file.write(json.dumps(known, indent=1).encode() + b"\n")

    def _key(self, path: Path) -> str:
        return path.relative_to(self.folder).as_posix()

    def _records(self) -> dict[str, str]:
        path = self.folder / RECORDS
        try:
            records = json.loads(path.read_bytes())
        except FileNotFoundError:
            return {}
        except (ValueError, OSError) as error:
            raise DatasetError(f"cannot read the checksums in {path}: {error}") from None
        if not isinstance(records, dict) or not all(isinstance(c, str) for c in records.values()):
            raise DatasetError(
                f"{path} should hold a checksum for each file name, but does not: delete it"
            )
        return records


def find_cache(data_home: str | os.PathLike[str] | None = None) -> Cache | None:
    """The cache in `data_home`, in ISOTHERM_DATA, or in the platform's place for such things.

    None if that place is not known, which is where pooch is not installed.

    Raises
    ------
    ParameterError
        A folder ``~name/…`` of somebody who is not there.
    """
    chosen = data_home or os.environ.get(VARIABLE)
    if not chosen:
        try:
            import pooch
        except ImportError:
            return None
        chosen = pooch.os_cache("isotherm")
    try:
        return Cache(Path(chosen).expanduser())
    except RuntimeError as error:
        raise ParameterError(
            f"the folder for data sets, {os.fspath(chosen)!r}, cannot be found: {error} Name "
            f"another with data_home (--data) or {VARIABLE}"
        ) from None
