"""How much memory a job takes at its peak, by engine and model.

The shapes follow what is held; the bytes were measured, see `benchmarks/estimates_hold.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

from isotherm.memory import lanes_within, memory_of_solve
from isotherm.stacking.embedding import fits, memory_of_embedding
from isotherm.trust.hot_seeds import columns_at_once

PER_LABEL, PER_LABEL_AND_CLASS = 160, 9
STACKED_PER_NODE, STACKED_PER_CLASS, STACKED_PER_ENTRY = 766, 25, 19


@dataclass
class Counts:
    """What is in a file, or about what.

    Attributes
    ----------
    rows, nodes : int
    name_bytes : int
        Of all ids.
    weighted : bool
    exact : bool
    seconds : float
        To read it.
    on_disk : int
        Bytes of a saved graph, which are not read but mapped; 0 of other files.
    """

    rows: int
    nodes: int
    name_bytes: int
    weighted: bool
    exact: bool
    seconds: float
    on_disk: int = 0


@dataclass(frozen=True)
class Solving:
    """Bytes that an engine takes to solve, to leave seeds out and to write labels.

    Attributes
    ----------
    per_node, per_class, per_entry : int
        Of each node; of each node and class; of each entry of the adjacency matrix.
    per_column : int
        Of each node and seed, where seeds are left out one at a time.
    """

    per_node: int
    per_class: int
    per_entry: int
    per_column: int


SOLVING = {"native": Solving(285, 26, 7, 17), "scipy": Solving(285, 60, 16, 54)}


def memory_of_building(counts: Counts) -> int:
    """Bytes that a graph takes while it is made of its edges."""
    weight = 8 if counts.weighted else 0
    names = counts.name_bytes + 8 * counts.nodes
    return (8 + weight + 2 * (4 + weight)) * counts.rows + 24 * counts.nodes + names


def memory_of_job(
    counts: Counts,
    classes: int,
    labels: int = 0,
    *,
    engine: str = "native",
    stacked: bool = False,
    left_out: int = 0,
    limit: int | None = None,
) -> int:
    """Bytes that a job takes at its peak, beyond those of the program.

    Parameters
    ----------
    counts : Counts
        Of the graph.
    classes, labels : int
    engine : str
        Its name.
    stacked : bool
        Whether several flows are combined, and an embedding.
    left_out : int
        Seeds that are left out one at a time.
    limit : int, optional
        Bytes that are allowed: fewer columns are then solved at once.
    """
    n, entries = counts.nodes, 2 * counts.rows
    weight = 8 if counts.weighted else 0
    names = counts.name_bytes + 8 * n
    building = memory_of_building(counts)
    graph = (4 + weight) * entries + 16 * n + names
    if counts.on_disk:  # nothing of it is read into memory of its own
        building = graph = 0
    of = SOLVING.get(engine, SOLVING["native"])  # on a GPU, the host's part is no more than that
    columns = min(left_out, columns_at_once(n))
    columns = max(of.per_class * classes, of.per_column * columns)  # one after the other
    solving = n * (of.per_node + columns) + of.per_entry * entries
    if counts.on_disk or limit is not None:
        solving = memory_of_solve(n, classes, 0, lanes_within(limit, n, classes))
    if stacked:
        flows = n * (STACKED_PER_NODE + STACKED_PER_CLASS * classes) + STACKED_PER_ENTRY * entries
        embedding = memory_of_embedding(n) if fits(n, entries) else 0
        more = of.per_class - SOLVING["native"].per_class  # a solve on the side
        solving = max(solving, flows + max(embedding, more * classes * n))
    known = labels * (PER_LABEL + PER_LABEL_AND_CLASS * classes)
    return max(building, graph + solving + known)
