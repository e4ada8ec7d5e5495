"""Labels of part files → the seeds that each rank owns."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from isotherm.distributed.entries import in_step
from isotherm.distributed.ownership import owner_of
from isotherm.errors import LabelError, UnknownNode
from isotherm.read.known_labels import MAY_BE_UNKNOWN, PLACEHOLDERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from isotherm.distributed.entries import SharedGraph
    from isotherm.engines.mpi.ranks import Ranks
    from isotherm.read.options import TextOptions
    from isotherm.read.table import Batch

SHOWN = 5
MOST_CLASSES = 100_000


class OwnSeeds(NamedTuple):
    """The seeds of one rank.

    Attributes
    ----------
    nodes : int array of shape (s,)
        Places among own nodes, sorted.
    codes : int array of shape (s,)
        Their classes.
    classes : list of str
        Of all ranks, sorted.
    counts : int array of shape (K,)
        Seeds of each class on all ranks.
    notes : list of str
        What a user should know of the labels.
    """

    nodes: NDArray[np.intp]
    codes: NDArray[np.intp]
    classes: list[str]
    counts: NDArray[np.int64]
    notes: list[str]

    @property
    def shares(self) -> NDArray[np.float64]:
        """The share of each class among all seeds."""
        return np.asarray(self.counts / self.counts.sum())


class _Rows(NamedTuple):
    nodes: pa.Array
    labels: pa.Array


def read_seeds(
    ranks: Ranks,
    graph: SharedGraph,
    batches: Iterable[Batch],
    options: TextOptions,
    *,
    strict: bool = False,
) -> OwnSeeds:
    """Give every seed to the rank that owns its node.

    Raises
    ------
    LabelError
        If there is no label, or a node has two.
    UnknownNode
        If no label is of a node of the graph; with `strict`, if any is not.
    """
    none = pa.array([], pa.large_string())
    rows = list(in_step(ranks, _known(batches), _Rows(none, none)))
    classes, code_of, notes = _classes(ranks, rows, options)
    bounds = graph.share.bounds
    parts: list[NDArray[np.int64]] = []
    n_strange, strangers = 0, list[str]()
    for some in rows:
        labels = some.labels.dictionary_encode()
        codes = np.array([code_of.get(label, -1) for label in labels.dictionary.to_pylist()] + [-1])
        own = codes[labels.indices.to_numpy(zero_copy_only=False)]
        known = own >= 0
        nodes = some.nodes.filter(pa.array(known))
        numbers = graph.names.find(nodes)
        strange = numbers < 0
        n_strange += int(np.count_nonzero(strange))
        if len(strangers) < SHOWN and strange.any():
            strangers += nodes.filter(pa.array(strange)).slice(0, SHOWN).to_pylist()
        pairs = np.column_stack([numbers, own[known]])[~strange]
        parts.append(_to_owners(ranks, pairs, bounds))
    notes += _of_strangers(ranks, n_strange, strangers, _n_rows(ranks, rows), strict=strict)
    pairs = np.concatenate([*parts, np.empty((0, 2), np.int64)])
    nodes, codes = _one_each(ranks, graph, pairs, classes)
    counts = ranks.sums(np.bincount(codes, minlength=len(classes)))
    # A class all of whose nodes are strangers is none.
    kept = np.flatnonzero(counts > 0)
    new = np.full(len(classes), -1)
    new[kept] = np.arange(len(kept))
    return OwnSeeds(nodes, new[codes], [classes[k] for k in kept], counts[kept], notes)


def _known(batches: Iterable[Batch]) -> Iterator[_Rows]:
    """Rows with a label."""
    for batch in batches:
        labels = pc.fill_null(batch.second.cast(pa.large_string()), "")
        known = pc.greater(pc.binary_length(labels), 0)
        yield _Rows(batch.first.cast(pa.large_string()).filter(known), labels.filter(known))


def _n_rows(ranks: Ranks, rows: list[_Rows]) -> int:
    return ranks.total(sum(len(some.nodes) for some in rows))


def _classes(
    ranks: Ranks, rows: list[_Rows], options: TextOptions
) -> tuple[list[str], dict[str, int], list[str]]:
    """All classes, the number that each spelling stands for, and what was odd about them."""
    own: Counter[str] = Counter()
    for some in rows:
        for found in pc.value_counts(some.labels).to_pylist():
            own[found["values"]] += found["counts"]
    if ranks.any(len(own) > MOST_CLASSES):
        ranks.refuse(
            LabelError(
                f"there are more than {MOST_CLASSES:,} different labels; if this is not the column "
                "of labels, name it with --label (label=)"
            )
        )
    counted: Counter[str] = Counter()
    for one in ranks.objects(own):
        counted.update(one)
    if not counted:
        ranks.refuse(
            LabelError("the label files have no label: at least one node needs a known label")
        )
    notes = []
    if not options.keep_placeholders:
        words = {label for label in counted if label.strip().lower() in PLACEHOLDERS}
        if words:
            notes.append(
                f"labels {', '.join(map(repr, sorted(words)[:SHOWN]))} were treated as unknown; "
                "--keep-placeholders (keep_placeholders=True) keeps such words as classes"
            )
        counted = Counter({one: count for one, count in counted.items() if one not in words})
        if not counted:
            ranks.refuse(LabelError(f"{notes[0]}. There is no other label"))
    if MAY_BE_UNKNOWN in counted:
        notes.append(
            f"{MAY_BE_UNKNOWN!r} was treated as a class; leave the cell empty where a label is not "
            "known"
        )
    spelling = {label: label for label in counted}
    if options.merge_case:
        best: dict[str, str] = {}
        for label, _ in counted.most_common():
            spelling[label] = best.setdefault(" ".join(label.split()).casefold(), label)
    classes = sorted(set(spelling.values()))
    number = {label: k for k, label in enumerate(classes)}
    return classes, {label: number[one] for label, one in spelling.items()}, notes


def _to_owners(
    ranks: Ranks, pairs: NDArray[np.int64], bounds: NDArray[np.int64]
) -> NDArray[np.int64]:
    owner = owner_of(pairs[:, 0], bounds)
    order = np.argsort(owner, kind="stable")
    cuts = np.searchsorted(owner[order], np.arange(1, ranks.size))
    return np.concatenate(ranks.exchange(np.split(pairs[order], cuts), "labels"))


def _of_strangers(
    ranks: Ranks, n_strange: int, strangers: list[str], n_rows: int, *, strict: bool
) -> list[str]:
    """What to say of labels for nodes that are not in the graph."""
    total = ranks.total(n_strange)
    if total == 0:
        return []
    some = [name for own in ranks.objects(strangers) for name in own][:SHOWN]
    message = (
        f"{total:,} of {n_rows:,} labels are for nodes that are not in the graph: "
        f"{', '.join(map(repr, some))}{', …' if total > len(some) else ''}"
    )
    if strict or total >= n_rows:
        ranks.refuse(UnknownNode(message))
    return [message]


def _one_each(
    ranks: Ranks, graph: SharedGraph, pairs: NDArray[np.int64], classes: list[str]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The own nodes that have a label, sorted, and their classes."""
    pairs = np.unique(pairs, axis=0)
    twice = np.flatnonzero(pairs[1:, 0] == pairs[:-1, 0])
    error = None
    if len(twice):
        (node, one), (_, other) = pairs[twice[0]], pairs[twice[0] + 1]
        name = graph.texts[int(node) - graph.share.first].as_py()
        error = LabelError(
            f"node {name!r} has two labels, {classes[one]!r} and {classes[other]!r}; correct one "
            "of them"
        )
    ranks.agree(error)
    return (pairs[:, 0] - graph.share.first).astype(np.intp), pairs[:, 1].astype(np.intp)
