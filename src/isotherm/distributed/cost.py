"""What a job on many machines would take: memory of a rank, bytes sent, steps and time.

A model of the code in this package; docs/many-machines.md holds it against measurements.

Edges are taken to join nodes at random, the worst there is: the e entries of a rank then lead to
``(N − n) (1 − exp(−e / N))`` different nodes of other ranks, its ghosts, each of which is a row to
be sent at every step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from isotherm.engines.blocks import LANES
from isotherm.engines.mpi.lanes import stride_within_lines, width_for
from isotherm.errors import ParameterError
from isotherm.memory import size_text

STEPS = 20  # of block models and R-MAT graphs at 1e-6; citation graphs take 60 to 130

# Rounded from runs on two busy processors, or counted from the arrays that are held. Memory
# was within a tenth, and time up to 1.7 times what they give: see docs/many-machines.md, and
# results/benchmarks/ranks_share_the_work.json.
PROCESS = 135e6  # bytes of a rank before it has read anything
BYTES_PER_ENTRY = 24.0  # while rows are made of what was read, without weights
BYTES_PER_WEIGHT = 24.0  # more with weights: two copies of them, and their order
BYTES_PER_NAME = 3.0  # of an id, in times of its length, at the two ranks that know it
SECONDS_PER_ENTRY = 9e-9  # of a step, 16 columns
SECONDS_PER_NODE = 60e-9  # likewise, besides its entries
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
        Bytes that a rank sends at each step.
    steps : int
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
        ghosts = f"{self.ghosts:,.0f} ghosts (nodes of other ranks)"
        found = [
            f"{size} on {self.ranks:,} ranks",
            f"memory per rank: {size_text(int(self.memory))}, with {ghosts}",
            f"each rank sends {size_text(int(self.sent))} per step, {network}",
            f"about {self.steps} steps; seconds: {times}",
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
    lanes = min(classes + 1, LANES)
    width = width_for(lanes)
    stride = stride_within_lines(width)  # of P
    blocks = math.ceil((classes + 1) / LANES)
    graph = 4 * e + 8 * (n + ghosts) + (8 * e if weighted else 0) + BYTES_PER_NAME * NAME * n
    building = (BYTES_PER_ENTRY + (BYTES_PER_WEIGHT if weighted else 0)) * e
    # X and P of all nodes, V, D and R of own ones, the result; and as much again as X and P for
    # ghosts, since what was measured is above the sum of the arrays.
    of_all = 8 * width + 4 * stride
    vectors = of_all * (n + ghosts) + 12 * width * n + (of_all + 16) * ghosts
    room = PROCESS + max(building + BYTES_PER_NAME * NAME * n, graph + vectors + 16 * classes * n)
    a_step = (SECONDS_PER_ENTRY * e * stride + SECONDS_PER_NODE * n * width) / LANES
    sent = 4.0 * stride * ghosts
    hops = 2 * math.ceil(math.log2(ranks)) if ranks > 1 else 0
    return Cost(
        int(nodes),
        int(edges),
        classes,
        ranks,
        ghosts,
        room,
        sent,
        steps,
        reading=SECONDS_PER_EDGE * edges / ranks,
        computing=blocks * (steps + 2 * PROOFS) * a_step,
        sending=blocks * (steps + 2 * PROOFS) * (sent / bandwidth + hops * latency),
        bandwidth=bandwidth,
        limit=memory,
    )
