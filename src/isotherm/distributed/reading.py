"""Files → a graph and labels that ranks share, each reading its own part of them."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from isotherm.distributed.entries import Entries
from isotherm.distributed.files import agree_on_layout, batches_of, find_files, units_of
from isotherm.distributed.labels import read_seeds
from isotherm.errors import GraphError, IsothermWarning, LabelError, ParameterError
from isotherm.read.columns import choose_edge_columns, choose_label_columns
from isotherm.read.report import ReadReport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from isotherm.distributed.entries import SharedGraph
    from isotherm.distributed.labels import OwnSeeds
    from isotherm.engines.mpi.ranks import Ranks
    from isotherm.read.options import TextOptions
    from isotherm.read.table import Batch


def read_edges(
    ranks: Ranks, names: list[str], columns: Mapping[str, str | None], options: TextOptions
) -> SharedGraph:
    """The graph of some files, of which each rank has a share; all call it.

    Parameters
    ----------
    ranks : Ranks
    names : list of str
        Files, folders and patterns.
    columns, options
        See `isotherm.read.load.load_graph`.
    """
    if options.bipartite or options.ids != "exact":
        ranks.refuse(
            ParameterError(
                "--bipartite (bipartite=True) and --ids normalised (ids='normalised') work on one "
                "machine only: leave them out"
            )
        )
    report = ReadReport(names[0])

    def choose(table: Any, name: str) -> Any:
        return choose_edge_columns(table, columns, name)

    batches, width = _batches(ranks, names, options, choose, columns, report, GraphError)
    entries = Entries(ranks, weighted=width == 3)
    entries.read(batches)
    graph = entries.graph()
    tell(ranks, [report.skipped_words()] if report.n_skipped else [])
    return graph


def read_own_labels(
    ranks: Ranks,
    names: list[str],
    graph: SharedGraph,
    columns: Mapping[str, str | None],
    options: TextOptions,
    *,
    strict: bool,
) -> OwnSeeds:
    """The labels of some files, at the owners of their nodes; all call it.

    Parameters
    ----------
    ranks, names
        See `read_edges`.
    graph : SharedGraph
    columns, options, strict
        See `isotherm.read.load.load_labels`.
    """
    if columns.get("weight") is not None:
        ranks.refuse(
            ParameterError(
                "weights of labels (--label-weight) work on one machine only: leave them out"
            )
        )
    report = ReadReport(names[0])

    def choose(table: Any, name: str) -> Any:
        return choose_label_columns(table, columns, name)

    batches, _ = _batches(ranks, names, options, choose, columns, report, LabelError, empty=True)
    seeds = read_seeds(ranks, graph, batches, options, strict=strict)
    if len(seeds.classes) == 1:
        ranks.refuse(
            LabelError(
                f"there is only one class, {seeds.classes[0]!r}, so every node would get it. Add "
                "labels of another class, or rank the nodes on one machine"
            )
        )
    tell(ranks, seeds.notes)
    return seeds


def _batches(
    ranks: Ranks,
    names: list[str],
    options: TextOptions,
    choose: Any,
    columns: Mapping[str, str | None],
    report: ReadReport,
    error: Any,
    *,
    empty: bool = False,
) -> tuple[Iterator[Batch], int]:
    """The rows that this rank reads, and how many columns they have."""
    files = on_first(ranks, lambda: find_files(names))
    wanted = [name for name in columns.values() if name is not None]
    layout = agree_on_layout(ranks, files, options, choose, wanted)

    def batches() -> Iterator[Batch]:
        units = units_of(ranks, files, layout.options)
        yield from batches_of(units, layout, report, error=error, empty=empty)

    return batches(), len(layout.chosen)


def on_first(ranks: Ranks, work: Callable[[], Any]) -> Any:
    """Do something on the first rank; all get what it finds, or raise what it raises."""
    found = error = None
    if ranks.rank == 0:
        try:
            found = work()
        except Exception as failure:
            error = failure
    ranks.agree(error)
    return ranks.from_first(found)


def tell(ranks: Ranks, sentences: Sequence[str]) -> None:
    """Warn, on the first rank, of what any rank has found."""
    for sentence in {one for own in ranks.objects(list(sentences)) for one in own}:
        if ranks.rank == 0:
            warnings.warn(sentence, IsothermWarning, stacklevel=4)
