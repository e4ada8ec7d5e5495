"""Edges between nodes of two kinds, such as customers and shops, each with ids of its own.

Customer 7 and shop 7 are two nodes, ``customer:7`` and ``shop:7``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from isotherm.errors import LabelError
from isotherm.read.column_kinds import plain

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.graph import Graph
    from isotherm.read.report import ReadReport

FEWEST = 20  # edges that tell something about the two columns
BLOCK = 1 << 22  # edges that are looked at at once
FIRST = 10_000  # edges that are looked at before all are
DENSE = 0.9  # share of the numbers from the first to the last, if they count rows
OTHER = 1.5  # times as many on one side, at least, if the two count different things


def on_side(side: str, ids: pa.Array) -> pa.Array:
    """Ids with the side that they are of.

    Examples
    --------
    >>> on_side("customer", pa.array(["7", "12"])).to_pylist()
    ['customer:7', 'customer:12']
    """
    return pc.binary_join_element_wise(pa.scalar(side, ids.type), ids, pa.scalar(":", ids.type))


def find_side(nodes: pa.Array, graph: Graph, report: ReadReport) -> pa.Array:
    """Ids of labels as a bipartite graph has them, with the side that they are of.

    It is the one that the column of the nodes is named like, or else the one that has the ids.
    """
    if graph.sides is None:
        return nodes
    bare = graph.nodes.find_texts(nodes) < 0
    column = plain(report.columns[0]) if report.columns else ""
    named = [side for side in graph.sides if plain(side) == column]
    fitting = named or [
        side
        for side in graph.sides
        if (graph.nodes.find_texts(on_side(side, nodes))[bare] >= 0).any()
    ]
    if len(fitting) > 1:
        one, other = graph.sides
        raise LabelError(
            f"{report.name}: ids such as {nodes[int(np.flatnonzero(bare)[0])].as_py()!r} are on "
            f"both sides of the graph. Name their column {one!r} or {other!r}, or write them as "
            f"'{one}:…' or '{other}:…'"
        )
    if not fitting:
        return nodes
    return pc.if_else(pa.array(bare), on_side(fitting[0], nodes), nodes)


def note_two_kinds(
    ends: tuple[NDArray[np.int32], NDArray[np.int32]], texts: pa.Array, report: ReadReport
) -> None:
    """Say where the two ends of edges, by position, look like nodes of two kinds."""
    if len(ends[0]) < FEWEST:
        return
    if np.isin(ends[0][:FIRST], ends[1][:FIRST]).any() and not _are_numbers(texts.slice(0, FEWEST)):
        return  # as a rule, and found by a few edges
    sides = np.zeros((2, len(texts)), dtype=bool)
    for side, end in zip(sides, ends, strict=True):
        for first in range(0, len(end), BLOCK):  # they may be on a disk
            side[end[first : first + BLOCK]] = True
    one, other = report.columns[:2]
    keeps = "--bipartite (bipartite=True) keeps them apart"
    if not sides.all(axis=0).any():
        report.hint(
            f"{one!r} and {other!r} have no id in common; if they are two kinds of nodes that "
            f"might share one later, {keeps}"
        )
    elif _count_different_things(sides, texts):
        report.notes.append(
            f"{report.name}: {one!r} and {other!r} look like two separate series of numbers, but "
            f"equal numbers are treated as the same node; if these are two kinds of nodes, {keeps}"
        )


def _count_different_things(sides: NDArray[np.bool_], texts: pa.Array) -> bool:
    """Whether each side has nearly all numbers from 0 or 1 to its own last one."""
    if not _are_numbers(texts):
        return False
    numbers = pc.cast(texts, pa.int64()).to_numpy()
    lasts = []
    for side in sides:
        first, last = numbers[side].min(), numbers[side].max()
        if first not in (0, 1) or np.count_nonzero(side) < DENSE * (last - first + 1):
            return False
        lasts.append(int(last))
    return max(lasts) >= OTHER * min(lasts)


def _are_numbers(texts: pa.Array) -> bool:
    """Whether all ids are whole numbers."""
    return bool(pc.all(pc.match_substring_regex(texts, "^[0-9]{1,18}$")).as_py())
