"""Part files of the predictions: a folder that is there as a whole, or not at all."""

from __future__ import annotations

import secrets
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING

from isotherm.errors import FileError, IsothermError, ParameterError
from isotherm.files import written
from isotherm.write import write_predictions

if TYPE_CHECKING:
    from pathlib import Path

    from isotherm.distributed.answers import OwnAnswers
    from isotherm.engines.mpi.ranks import Ranks

SUCCESS = "_SUCCESS"
FORMATS = ("parquet", "csv", "tsv", "jsonl")


def check_folder(folder: Path, *, force: bool) -> None:
    """Find what is in the way of the results, before any work is done.

    Raises
    ------
    FileError
        If something is there already, other than an empty folder; by `force` a folder of results
        may be replaced.
    """
    if not folder.exists() and not folder.is_symlink():
        return
    if folder.is_symlink() or not folder.is_dir():
        raise FileError(f"{folder} is not a folder; name one for the part files")
    if not any(folder.iterdir()):
        return
    if not force:
        raise FileError(
            f"{folder} already has files; it is replaced only with --force (force=True)"
        )
    strange = [one.name for one in folder.iterdir() if not _is_result(one)]
    if strange:
        raise FileError(
            f"{folder} has files that are not results, such as {strange[0]}, so it is not "
            "replaced; name another folder"
        )


def _is_result(path: Path) -> bool:
    return path.name == SUCCESS or (path.is_file() and path.name.startswith("part-"))


def write_parts(
    ranks: Ranks,
    answers: OwnAnswers,
    folder: Path,
    *,
    format: str = "parquet",  # noqa: A002
    temperatures: bool = False,
    min_probability: float = 0.0,
    force: bool = False,
) -> None:
    """Write a file for each rank, and ``_SUCCESS``, into a folder that appears when all is there.

    Raises
    ------
    FileError
        On all ranks, if a file cannot be written; then nothing is left.
    """
    if format not in FORMATS:
        ranks.refuse(ParameterError.unknown("format of part files", format, FORMATS))
    token = ranks.from_first(secrets.token_hex(4))
    hidden = folder.with_name(f".{folder.name}.{token}.part")
    error: BaseException | None = None
    try:
        with written(str(folder)):
            hidden.mkdir(parents=True, exist_ok=True)
        if len(answers.temperatures_):  # there may be more ranks than nodes
            name = f"part-{ranks.rank:05d}-of-{ranks.size:05d}.{format}"
            write_predictions(
                answers, hidden / name, temperatures=temperatures, min_probability=min_probability
            )
    except (IsothermError, OSError) as found:
        error = found
    try:
        ranks.agree(error)
        if ranks.rank == 0:
            error = _publish(hidden, folder, force=force)
        ranks.agree(error)
    finally:
        with suppress(OSError):
            shutil.rmtree(hidden)


def _publish(hidden: Path, folder: Path, *, force: bool) -> BaseException | None:
    """Give the folder its name; what went wrong."""
    try:
        with written(str(folder)):
            (hidden / SUCCESS).touch()
            check_folder(folder, force=force)
            old = hidden.with_suffix(".old")
            if folder.exists():
                folder.rename(old)
            hidden.rename(folder)
            shutil.rmtree(old, ignore_errors=True)
    except (IsothermError, OSError) as found:
        return found
    return None
