"""What a job on many machines would take: memory of a rank, bytes sent, steps and time.

A model of the code in this package; docs/many-machines.md holds it against measurements.

Edges are taken to join nodes at random, the worst there is: the e entries of a rank then lead to
``(N − n) (1 − exp(−e / N))`` different nodes of other ranks, its ghosts, each of which is a row to
be sent at every step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from isotherm.engines.blocks import LANES, blocks_of
from isotherm.engines.mpi.lanes import (
    bytes_of_vectors,
    lanes_within,
    stride_within_lines,
    width_for,
)
from isotherm.errors import ParameterError
from isotherm.memory import size_text

STEPS = 20  # of block models and R-MAT graphs at 1e-6; citation graphs take 60 to 130

# Rounded from runs on two busy processors, or counted from the arrays that are held. Memory
# was within a twentieth, and time up to 1.6 times what they give: see docs/many-machines.md, and
# results/benchmarks/ranks_share_the_work.json.
PROCESS = 116e6  # bytes of a rank without a graph; pandas, in a script that loads it, has 45e6 more
KEPT = 20e6  # that libraries keep for later use, and what is on its way
TEXTS = 45e6  # of the edges that are read at once
NAME_IN_TABLE = 35  # bytes of an id, besides its letters, while edges are read
NAME_OF_NODE = 8  # likewise, of own nodes afterwards
PER_ENTRY_READ, PER_ENTRY_BUILT = 12, 16  # while edges are read, and while rows are made of them
PER_WEIGHT = 8
PER_OWN = 50  # of own nodes, besides their names: degrees, gauge, diagonal, exits, exit times
PER_OWN_LEFT_OUT = 40  # more while seeds are left out: bounds, margins, another gauge
PER_GHOST = 13  # besides the start of its row, which is empty
PER_GHOST_FOUND = 32  # while ghosts are found: their numbers, four times
SECONDS_PER_ENTRY, SECONDS_PER_NUMBER = 3.2e-9, 0.36e-9  # of a step: an entry, and a row's numbers
SECONDS_PER_NODE = 60e-9  # likewise, besides its entries, for 16 columns
PROOFS = 3.0  # products in float64 beside the steps, in times of two steps each
SECONDS_PER_EDGE = 0.7e-6  # to read an edge and find its ends
NAME = 10  # letters of an id


@dataclass(frozen=True)
class Cost:
    """What a job would take on each of its ranks.

    Attributes
    ----------
    nodes, edges, classes, ranks : int
    ghosts : float
        Nodes of others that the rows of a rank lead to.
    memory : float
        Bytes of a rank at its peak.
    sent : float
        Bytes that a rank sends at each step, of the first block of columns.
    steps, blocks : int
        Steps of each block of columns, and how many blocks are solved one after the other.
    reading, computing, sending : float
        Seconds: of reading, and of the steps.
    bandwidth : float
        Bytes a second of a rank's network.
    limit : float or None
        Bytes that a rank may use.
    """

    nodes: int
    edges: int
    classes: int
    ranks: int
    ghosts: float
    memory: float
    sent: float
    steps: int
    blocks: int
    reading: float
    computing: float
    sending: float
    bandwidth: float
    limit: float | None

    @property
    def fits(self) -> bool | None:
        """Whether a rank has room for it; None if it was not asked."""
        return None if self.limit is None else self.memory <= self.limit

    @property
    def seconds(self) -> float:
        """Of everything."""
        return self.reading + self.computing + self.sending

    def lines(self) -> list[str]:
        """The same for a person."""
        size = f"{self.nodes:,} nodes, {self.edges:,} edges, {self.classes} classes"
        network = f"at {size_text(int(self.bandwidth))} per second"
        took = (self.reading, self.computing, self.sending)
        reading, computing, sending = (f"{seconds:,.0f}" for seconds in took)
        times = f"reading {reading}, computing {computing}, sending {sending}"
        lots = f"{self.blocks} × " if self.blocks > 1 else ""
        ghosts = f"{self.ghosts:,.0f} ghosts (nodes of other ranks)"
        found = [
            f"{size} on {self.ranks:,} ranks",
            f"memory per rank: {size_text(int(self.memory))}, with {ghosts}",
            f"each rank sends {size_text(int(self.sent))} per step, {network}",
            f"about {lots}{self.steps} steps; seconds: {times}",
        ]
        if self.limit is not None and self.fits:
            found.append(f"fits into {size_text(int(self.limit))} per rank")
        elif self.limit is not None:
            found.append(
                f"does not fit into {size_text(int(self.limit))} per rank; about "
                f"{self.least_ranks():,} ranks would be enough"
            )
        return found

    def least_ranks(self) -> int:
        """How many ranks would have room enough: a power of two times as many."""
        ranks = self.ranks
        while ranks < 2**24 and self.limit is not None:
            ranks *= 2
            there = cost(
                self.nodes, self.edges, self.classes, ranks, memory=self.limit, steps=self.steps
            )
            if there.fits:
                break
        return ranks


def cost(
    nodes: float,
    edges: float,
    classes: int,
    ranks: int,
    *,
    memory: float | None = None,
    bandwidth: float = 1e9,
    latency: float = 2e-5,
    steps: int = STEPS,
    weighted: bool = False,
) -> Cost:
    """What a job would take.

    Parameters
    ----------
    nodes, edges : float
    classes, ranks : int
    memory : float, optional
        Bytes that a rank may use.
    bandwidth : float
        Bytes a second that a rank can send.
    latency : float
        Seconds until a message arrives.
    steps : int
    weighted : bool

    Raises
    ------
    ParameterError
        On numbers that make no job.

    Examples
    --------
    Twice the ranks hold half of the rows, but nearly as many ghosts.

    >>> one, other = cost(1e8, 1e9, 10, 8), cost(1e8, 1e9, 10, 16)
    >>> 0.5 < other.memory / one.memory < 1.0
    True
    >>> cost(1e6, 1e7, 10, 1).sent
    0.0
    """
    if not (nodes >= 1 and edges >= 1 and classes >= 1 and ranks >= 1 and bandwidth > 0):
        raise ParameterError(
            "nodes, edges, classes and ranks must be at least 1, and the bandwidth above 0; got "
            f"nodes {nodes:g}, edges {edges:g}, classes {classes}, ranks {ranks}, bandwidth "
            f"{bandwidth:g}"
        )
    n, e = nodes / ranks, 2 * edges / ranks
    ghosts = 0.0 if ranks == 1 else (nodes - n) * -math.expm1(-e / nodes)
    lanes = lanes_within(n, n + ghosts, n_classes=classes, n_columns=classes)
    blocks = blocks_of(classes, one_hot=False, lanes=lanes)
    widths = [width_for(block.columns + block.exits) for block in blocks]
    a_step, sent = 0.0, 0.0
    for width in widths:
        stride = stride_within_lines(width)  # of P
        a_step += (SECONDS_PER_ENTRY + SECONDS_PER_NUMBER * stride) * e
        a_step += SECONDS_PER_NODE * n * width / LANES
        sent += 4.0 * stride * ghosts
    hops = 2 * math.ceil(math.log2(ranks)) if ranks > 1 else 0
    return Cost(
        int(nodes),
        int(edges),
        classes,
        ranks,
        ghosts,
        _memory(n, e, ghosts, classes, weighted=weighted),
        4.0 * stride_within_lines(widths[0]) * ghosts,
        steps,
        len(blocks),
        reading=SECONDS_PER_EDGE * edges / ranks,
        computing=(steps + 2 * PROOFS) * a_step,
        sending=(steps + 2 * PROOFS) * (sent / bandwidth + len(blocks) * hops * latency),
        bandwidth=bandwidth,
        limit=memory,
    )


def _memory(n: float, e: float, ghosts: float, classes: int, *, weighted: bool) -> float:
    """The most that a rank of so many nodes, entries and ghosts has at once: of four stages."""
    weights = PER_WEIGHT * e if weighted else 0.0
    reading = PER_ENTRY_READ * e + weights + (NAME + NAME_IN_TABLE) * n + TEXTS
    names = (NAME + NAME_OF_NODE) * n
    building = PER_ENTRY_BUILT * e + 2 * weights + names + PER_GHOST_FOUND * ghosts + KEPT
    held = 4 * e + weights + 8 * (n + ghosts) + names + PER_OWN * n + PER_GHOST * ghosts + KEPT
    held += 8 * classes * n  # the temperatures

    def vectors(n_columns: int, n_beside: int = 0) -> tuple[float, int]:
        all_nodes = n + ghosts
        lanes = lanes_within(
            n, all_nodes, n_classes=classes, n_columns=n_columns, n_beside=n_beside
        )
        at_once = min(n_columns, lanes - 1)  # and the exit times
        return bytes_of_vectors(n, all_nodes, width_for(at_once + 1)), at_once

    solving = held + vectors(classes)[0]
    steps, at_once = vectors(min(classes, LANES), n_beside=classes)
    leaving_out = held + PER_OWN_LEFT_OUT * n + 8 * at_once * n + steps
    return PROCESS + max(reading, building, solving, leaving_out)
