"""Which rank reads which files: part files, or groups of rows where there are few files."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from isotherm.errors import FileError
from isotherm.read.faults import reading
from isotherm.read.parts import find_parts
from isotherm.read.source import open_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from isotherm.engines.mpi.ranks import Ranks
    from isotherm.errors import IsothermError
    from isotherm.read.columns import Choice
    from isotherm.read.options import TextOptions
    from isotherm.read.report import ReadReport
    from isotherm.read.table import Batch, Table

    Choose = Callable[[Table, str], Choice]


class Unit(NamedTuple):
    """What is read in one go: a file, or some groups of its rows."""

    path: str
    groups: list[int] | None = None


@dataclass(frozen=True)
class Layout:
    """What the first file says of all.

    Attributes
    ----------
    path : str
        That file.
    columns : tuple of str
        All of them.
    chosen : list of str
        Those that are read.
    options : TextOptions
    """

    path: str
    columns: tuple[str, ...]
    chosen: list[str]
    options: TextOptions


def find_files(names: Sequence[str]) -> list[str]:
    """The files of some names, folders and patterns; without empty ones.

    Raises
    ------
    FileError
        If there are none.
    """
    found: list[str] = []
    for name in names:
        with reading(name):
            parts = find_parts(name)
            if parts is not None:
                found += [str(part.path) for part in parts.parts]
            elif Path(name).stat().st_size:
                found.append(name)
    if not found:
        raise FileError(f"there is nothing to read in {', '.join(names)}: name other files")
    return found


def agree_on_layout(
    ranks: Ranks, files: Sequence[str], options: TextOptions, choose: Choose, wanted: Sequence[str]
) -> Layout:
    """Let the first rank look at the first file, and tell the others."""
    layout = error = None
    if ranks.rank == 0:
        try:
            with _opened(files[0], options, wanted) as table:
                choice = choose(table, files[0])
                own = table.layout
                if own.delimiter:
                    options = replace(options, header=own.header, delimiter=own.delimiter)
                chosen = [own.columns[k] for k in choice.columns]
                layout = Layout(files[0], tuple(own.columns), chosen, options)
        except Exception as found:
            error = found
    ranks.agree(error)
    agreed: Layout = ranks.from_first(layout)
    return agreed


def units_of(ranks: Ranks, files: Sequence[str], options: TextOptions) -> list[Unit]:
    """What this rank reads: every so manieth file, or so many of the groups of each."""
    if len(files) >= ranks.size:
        return [Unit(path) for path in files[ranks.rank :: ranks.size]]
    units: list[Unit] = []
    turn = 0  # at which rank the next piece goes
    for path in files:
        with _opened(path, options, ()) as table:
            n_groups = getattr(table, "n_groups", 0)
        if n_groups < 2:
            units += [Unit(path)] if turn % ranks.size == ranks.rank else []
            turn += 1
            continue
        own = [k for k in range(n_groups) if (turn + k) % ranks.size == ranks.rank]
        units += [Unit(path, own)] if own else []
        turn += n_groups
    return units


def batches_of(
    units: Sequence[Unit],
    layout: Layout,
    report: ReadReport,
    *,
    error: type[IsothermError],
    empty: bool = False,
) -> Iterator[Batch]:
    """The rows of some units, the columns chosen of them, some at a time.

    Raises
    ------
    FileError
        If a file is not like the first one.
    """
    for unit in units:
        with _opened(unit.path, layout.options, layout.chosen) as table:
            there = list(table.layout.columns)
            if set(there) != set(layout.columns):
                one, other = (", ".join(map(repr, some)) for some in (layout.columns, there))
                raise FileError(
                    f"{layout.path} and {unit.path} have different columns, {one} and {other}; "
                    "name files with the same columns"
                )
            if unit.groups is not None:
                table.only(unit.groups)  # type: ignore[attr-defined]  # it told their number
            own = type(report)(unit.path)
            columns = [there.index(name) for name in layout.chosen]
            yield from table.batches(columns, own, error=error, empty=empty)
            report.add(own, error)


@contextmanager
def _opened(path: str, options: TextOptions, wanted: Sequence[str]) -> Iterator[Table]:
    with open_file(path, options.unpacking) as source:
        if source.format.open_table is None:
            raise FileError(
                f"{path} is {source.format.name}; many machines read tables only, such as Parquet "
                "and CSV. Convert it, or use one machine"
            )
        yield source.format.open_table(source, options, list(wanted))
