"""What a job on ranks would take: memory of the first rank and of the others, and seconds.

A model of the code in this package, made by reading it; no measurement has tried it yet. Edges are
taken to join nodes at random, the worst there is: the e entries of a rank then lead to
``(N − n) (1 − exp(−e / N))`` different nodes of other ranks, its ghosts.
"""

from __future__ import annotations

import math

from isotherm import ParameterError
from isotherm.engines.api import size_text

PROCESS = 170e6  # bytes of a rank without a graph: isotherm, SciPy, mpi4py and PETSc
PER_ENTRY = 12 + 12 + 4  # PETSc's, and while they are made; ends of own rows numbered anew
PER_NODE_FIRST = 30  # of the first rank: masks, codes, margins, status, exit times
LEFT_OUT = 16  # columns in which seeds are left out
VECTORS = 9  # of own nodes: those of conjugate gradients, units, exit times
SECONDS_PER_ENTRY = 4.5e-9  # of a step of one column, with its share of vectors
PROOFS = 1.5  # in times of a step, for each column
SECONDS_PER_NUMBER = 10e-9  # of temperatures, to make labels of them and to write them


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
    memory: 40.0 GiB on the first rank (temperatures of all nodes are there), 17.8 GiB on others
    the graph: 8.9 GiB, in a file that all ranks can read
    about 11 × 20 steps; seconds: computing 532, sending 131, on the first rank alone 10
    """
    if not (nodes >= 1 and edges >= 1 and classes >= 1 and ranks >= 1 and bandwidth > 0):
        raise ParameterError(
            "nodes, edges, classes and ranks must be at least 1, and the bandwidth above 0; got "
            f"nodes {nodes:g}, edges {edges:g}, classes {classes}, ranks {ranks}, bandwidth "
            f"{bandwidth:g}"
        )
    n, e = nodes / ranks, 2 * edges / ranks
    ghosts = 0.0 if ranks == 1 else (nodes - n) * -math.expm1(-e / nodes)
    share = PROCESS + PER_ENTRY * e + 8 * VECTORS * n + (n + ghosts) * 32
    alone = PROCESS + nodes * (8 * classes + PER_NODE_FIRST + 8 * LEFT_OUT)
    first = share + alone - PROCESS
    columns = classes + 1
    hops = 2 * math.ceil(math.log2(ranks))
    computing = columns * (steps + PROOFS) * SECONDS_PER_ENTRY * e
    sending = columns * steps * (8 * ghosts / bandwidth + hops * latency)
    labelling = SECONDS_PER_NUMBER * nodes * classes
    lines = [
        f"{int(nodes):,} nodes, {int(edges):,} edges, {classes} classes on {ranks:,} ranks",
        (
            f"memory: {size_text(int(first))} on the first rank (temperatures of all nodes are "
            f"there), {size_text(int(share))} on others"
        ),
        f"the graph: {size_text(int(8 * edges + 16 * nodes))}, in a file that all ranks can read",
        (
            f"about {columns} × {steps} steps; seconds: computing {computing:,.0f}, sending "
            f"{sending:,.0f}, on the first rank alone {labelling:,.0f}"
        ),
    ]
    if memory is not None:
        fits = "fits" if first <= memory else "does not fit"
        lines.append(f"{fits} into {size_text(int(memory))} per rank")
        if first > memory:
            least = f"the first one alone needs {size_text(int(alone))} of temperatures"
            lines.append(f"more ranks would {'' if alone <= memory else 'not '}help: {least}")
    return lines
