"""Edges in temporary files → the rows of the graph, range by range."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from isotherm.build.spill import BLOCK, Spill, put
from isotherm.compiled import core, n_threads
from isotherm.graph.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from isotherm.build.plan import Plan
    from isotherm.graph.saved.writer import GraphWriter

    Progress = Callable[[int, int | None], None]

BINS = 1 << 20  # of rows, in which entries are counted before these are cut into ranges


class Range(NamedTuple):
    """Consecutive rows; their own number of the first one is 0."""

    first: int
    rows: Rows


def write_rows(
    spill: Spill, n_nodes: int, writer: GraphWriter, plan: Plan, progress: Progress
) -> int:
    """Write all rows, and what follows from them; returns the number of self loops."""
    start = np.zeros(n_nodes + 1, dtype=np.int64)
    degrees = np.empty(n_nodes)
    n_loops, ones = 0, True
    beside = Spill(spill.folder, "sums", weighted=True).paths[2]
    with writer.part("ends") as put_ends, beside.open("xb") as sums:
        for first, rows in sorted_ranges(spill, n_nodes, plan, progress):
            put_ends(rows.ends)
            if rows.weights is not None:
                put(sums, rows.weights)
                ones = ones and bool((rows.weights == 1).all())
            some = slice(first, first + rows.n_nodes)
            degrees[some] = rows.sums()
            start[first + 1 : first + rows.n_nodes + 1] = start[first] + rows.start[1:]
            n_loops += rows.n_loops(first)
            del rows  # room for the next ones
    if not ones:
        with writer.part("weights") as put_weights:
            total = beside.stat().st_size // 8
            for at in range(0, total, BLOCK):
                put_weights(np.fromfile(beside, count=BLOCK, offset=8 * at))
    beside.unlink()
    writer.put_array("starts", start)
    writer.put_array("degrees", degrees)
    return n_loops


def sorted_ranges(spill: Spill, n_nodes: int, plan: Plan, progress: Progress) -> Iterator[Range]:
    """The rows of the graph, as many at a time as there is room for; `spill` is used up."""
    cuts = cut_rows(spill, n_nodes, plan)
    if len(cuts) == 2:
        source, target, weights = spill.arrays()
        yield Range(0, Rows(*core.from_edges(n_nodes, source, target, weights, n_threads())))
        return
    total = spill.n_edges
    parts = [Spill(spill.folder, f"rows-{k}", spill.weighted) for k in range(len(cuts) - 1)]
    done = 0
    for source, target, weights in spill.blocks():
        first, rows, ends, sums = core.scatter(source, target, weights, cuts)
        for part, a, b in zip(parts, first[:-1].tolist(), first[1:].tolist(), strict=True):
            part.append(rows[a:b], ends[a:b], None if sums is None else sums[a:b])
        done += len(source)
        progress(done, 2 * total)
    spill.remove()
    for k, part in enumerate(parts):
        rows, ends, sums = part.arrays()
        n_rows = int(cuts[k + 1] - cuts[k])
        first_row = int(cuts[k])
        yield Range(
            first_row,
            Rows(*core.from_entries(first_row, n_rows, n_nodes, rows, ends, sums, n_threads())),
        )
        part.remove()
        progress(total + total * (k + 1) // len(parts), 2 * total)


def cut_rows(spill: Spill, n_nodes: int, plan: Plan) -> NDArray[np.int32]:
    """Where ranges of rows begin, none larger than there is room for; the last is n."""
    per_entry = 12 if spill.weighted else 4
    most = max(1, plan.room_for_rows(n_nodes) // per_entry)
    if 2 * spill.n_edges <= most:
        return np.array([0, n_nodes], dtype=np.int32)
    width = -(-n_nodes // BINS)
    counts = np.zeros(-(-n_nodes // width), dtype=np.int64)
    for source, target, _ in spill.blocks():
        for end in (source, target):
            counts += np.bincount(end // np.int32(width), minlength=len(counts))
    if counts.max() > most:
        raise plan.too_long(int(counts.max()), int(counts.max() - most) * per_entry)
    cuts, held = [0], 0
    for k, count in enumerate(counts.tolist()):
        if held + count > most:
            cuts.append(k * width)
            held = 0
        held += count
    return np.array([*cuts, n_nodes], dtype=np.int32)
