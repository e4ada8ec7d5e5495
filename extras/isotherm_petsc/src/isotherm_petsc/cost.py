"""What a job on ranks would take: memory of the first rank and of the others, and seconds.

A model of the code in this package. benchmarks/ranks_take_what_is_estimated.py holds its memory
against what jobs took. Edges are taken to join nodes at random, the worst there is: the e entries
of a rank then lead to ``(N − n) (1 − exp(−e / N))`` different nodes of other ranks, its ghosts.
"""

from __future__ import annotations

import math

from isotherm import ParameterError
from isotherm.engines.api import size_text
from isotherm_petsc.petsc import FEW_STEPS

PROCESS, FIRST = 40e6, 30e6  # bytes of a rank without a graph, and of what reads and writes
PER_ENTRY = 12 + 12 + 4 + 4  # PETSc's, and while they are made; ends of own rows numbered anew
MULTIGRID = 70  # per entry and node, once the diagonal has taken too many steps
VECTORS = 20  # of own nodes: those of conjugate gradients and of the proof, degrees, exit times
PER_GHOST = 50  # and per own node: its number, row, component, and what is sent of it
PER_NODE_FIRST = 75  # of the first rank: masks, codes, margins, status, exit times
TIMES = 2  # that it has temperatures of all nodes, while seeds are left out
SECONDS_PER_ENTRY = 4.5e-9  # of a step of one column, with its share of vectors
PROOFS = 1.5  # in times of a step, for each column
SECONDS_PER_NUMBER = 10e-9  # of temperatures, to make labels of them and to write them


def ghosts_of(nodes: float, edges: float, ranks: int) -> float:
    """How many nodes of others the rows of a rank lead to."""
    return nodes * (1 - 1 / ranks) * -math.expm1(-2 * edges / ranks / nodes)


def memory_of_ranks(
    nodes: float, edges: float, classes: int, ranks: int, *, steps: int = 20
) -> tuple[float, float]:
    """Bytes that the first rank has of its own at its peak, and each of the others."""
    n, e = nodes / ranks, 2 * edges / ranks
    share = PROCESS + 8 * VECTORS * n + PER_GHOST * (n + ghosts_of(nodes, edges, ranks))
    share += PER_ENTRY * e + MULTIGRID * (steps > FEW_STEPS) * (n + e)
    return share + FIRST + nodes * (8 * TIMES * classes + PER_NODE_FIRST), share


def cost_lines(
    nodes: float,
    edges: float,
    classes: int,
    ranks: int,
    *,
    memory: float | None = None,
    bandwidth: float = 1e9,
    latency: float = 2e-5,
    steps: int = 20,
) -> list[str]:
    """What a job would take, for a person.

    Each rank may use so much `memory`, sends `bandwidth` bytes a second, and takes so many steps
    for each column; a message arrives after `latency` seconds.

    Examples
    --------
    >>> for line in cost_lines(1e8, 1e9, 10, 4):
    ...     print(line)
    100,000,000 nodes, 1,000,000,000 edges, 10 classes on 4 ranks
    memory: 45.2 GiB on the first rank (temperatures of all nodes are there), 23.3 GiB on others
    the graph: 8.9 GiB, in a file that all ranks can read
    about 11 × 20 steps; seconds: computing 532, sending 131, on the first rank alone 10
    """
    if not (nodes >= 1 and edges >= 1 and classes >= 1 and ranks >= 1 and bandwidth > 0):
        raise ParameterError(
            "nodes, edges, classes and ranks must be at least 1, and the bandwidth above 0; got "
            f"nodes {nodes:g}, edges {edges:g}, classes {classes}, ranks {ranks}, bandwidth "
            f"{bandwidth:g}"
        )
    first, share = memory_of_ranks(nodes, edges, classes, ranks, steps=steps)
    e, ghosts = 2 * edges / ranks, ghosts_of(nodes, edges, ranks)
    columns, hops = classes + 1, 2 * math.ceil(math.log2(ranks))
    computing = columns * (steps + PROOFS) * SECONDS_PER_ENTRY * e
    sending = columns * steps * (8 * ghosts / bandwidth + hops * latency)
    labelling = SECONDS_PER_NUMBER * nodes * classes
    alone, sizes = first - share, (first, share, 8 * edges + 16 * nodes)
    one, other, file = (size_text(int(size)) for size in sizes)
    work = f"about {columns} × {steps} steps; seconds: computing {computing:,.0f}, sending "
    lines = [
        f"{int(nodes):,} nodes, {int(edges):,} edges, {classes} classes on {ranks:,} ranks",
        f"memory: {one} on the first rank (temperatures of all nodes are there), {other} on others",
        f"the graph: {file}, in a file that all ranks can read",
        f"{work}{sending:,.0f}, on the first rank alone {labelling:,.0f}",
    ]
    if memory is not None:
        fits = "fits" if first <= memory else "does not fit"
        lines.append(f"{fits} into {size_text(int(memory))} per rank")
        if first > memory:
            least = f"the first one alone needs {size_text(int(alone))} of temperatures"
            lines.append(f"more ranks would {'' if alone <= memory else 'not '}help: {least}")
    return lines
