"""Findings: a fitted classifier → counts over all nodes, of each class and status, and words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from isotherm.classifier.answers import Tally
from isotherm.classifier.estimator import slices
from isotherm.read_only import cached_property
from isotherm.report.page import Bars, Cell, Table
from isotherm.report.palette import Palette, colour
from isotherm.report.words import counted, percent, short

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from isotherm.classifier.algorithm import HeatClassifier
    from isotherm.graph import Graph
    from isotherm.trust.interval import Interval
    from isotherm.trust.scoring import LeaveOneOut

    Masks = Mapping[str, NDArray[np.bool_]]

MOST_DOUBTFUL = 20
MOST_LABELS = 4  # of neighbours, that are named
LONGEST_LABEL = 30
MOST_CLASSES = 30  # in the table of their sizes
SIZES_NOTE = "Outlined bars: seeds. Full bars: all labelled nodes, seeds included."
STATUS_COLUMNS = ("status", "nodes", "share", "numerically exact", "not")
STATUS_NOTE = "Unreached nodes have no path to a seed."


class Findings:
    """What a classifier found, counted once; nodes whose label is not probable enough have none.

    Arrays are of shape (n,), with an entry for each node, or of shape (K,), one for each class.
    """

    def __init__(
        self, classifier: HeatClassifier, graph: Graph, min_probability: float = 0.0
    ) -> None:
        self.model, self.graph, self.min_probability = classifier, graph, min_probability
        self.names = [short(name, LONGEST_LABEL) for name in classifier.classes_]
        self.codes, status = classifier.codes(slice(None))  # (n,): −1 without a class
        self.probability = np.empty(len(self.codes))  # (n,): of the label; NaN without one
        self.tally = self._look_at_all(self.codes, status)
        self.masks = {name: status == k for k, name in enumerate(classifier.STATUS)}  # (n,)
        # (n,): the free nodes that heat reached, those that are unsure aside.
        self.is_found = self.masks["predicted"] | self.masks["tie"]
        self.seeds = classifier.seeds_
        self.n_seeds = len(self.seeds.nodes)
        self.n_found = int(np.count_nonzero(self.is_found))
        self.n_exact = int(np.count_nonzero(self.is_found & classifier.certified_))
        self.n_unreached = int(np.count_nonzero(self.masks["unreached"]))
        self.n_unsure = int(np.count_nonzero(self.masks["unsure"]))
        self.before = np.bincount(self.seeds.codes, minlength=len(self.names))  # (K,): seeds
        self.after = self._per_class(self.codes >= 0)  # (K,): labelled nodes
        self.order = np.lexsort((-self.before, -self.after))  # (K,): the largest class first
        classes = classifier.classes_.tolist()
        palette = Palette(classes, self.before.tolist())
        self.colour_of = np.array([palette.number(label) for label in classes])  # (K,)

    def _look_at_all(self, codes: NDArray[np.intp], status: NDArray[np.intp]) -> Tally:
        """Count nodes of each kind; those that are unsure are changed in both arrays."""
        parts = []
        for rows in slices(len(codes)):
            said = self.model.answers(rows, self.min_probability)
            codes[rows], status[rows] = said.codes, said.status
            self.probability[rows] = said.probability
            parts.append(said.tally())
        return Tally.sum(parts)

    def _per_class(self, mask: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.bincount(self.codes[mask], minlength=len(self.names))

    def summary(self) -> str:
        """The run in a sentence."""
        start = (
            f"{counted(self.graph.n_nodes, 'node')}, labelled from {counted(self.n_seeds, 'seed')} "
            f"into {counted(len(self.names), 'class', 'classes')}"
        )
        proof = (
            f"{'all' if self.n_exact == self.n_found else f'{self.n_exact:,} of the'} "
            f"{counted(self.n_found, 'label')} found are numerically exact (not necessarily "
            "correct)"
        )
        if self.n_found <= 1:
            proof = f"{counted(self.n_found, 'label')} found, {self.n_exact} numerically exact"
        heat = "heat reached every node"
        if self.n_unreached:
            zero = self.model.unreached == "zero"
            left = "which counts as temperature 0" if zero else "left without a label"
            heat = f"no heat reached {counted(self.n_unreached, 'node')}, {left}"
        if self.n_unsure:
            heat += (
                f"; {counted(self.n_unsure, 'node')} left without a label, because the probability "
                f"of the label is below {self.min_probability:g}"
            )
        return f"{start}; {proof}; {heat}."

    @property
    def doubts(self) -> list[str]:
        """Why there may be too few labels to go by, in sentences."""
        sentences = []
        for doubt in self.model.doubts_:
            for name in self.model.classes_.tolist():
                if len(repr(name)) > LONGEST_LABEL:
                    doubt = doubt.replace(repr(name), f"“{short(name, LONGEST_LABEL)}”")
            sentences.append(f"{short(doubt[:1].upper() + doubt[1:], 500)}.")
        return sentences

    @cached_property
    def expected_accuracy(self) -> Interval:
        """How many labels of free nodes are right."""
        return self.model.expected_accuracy()

    @cached_property
    def check(self) -> LeaveOneOut:
        """What seeds would get that are left out."""
        return self.model.spot_check()

    @property
    def n_drawn(self) -> int | None:
        """How many seeds drawn at random were judged; None if it is not known which were."""
        return self.check.n_drawn

    @cached_property
    def doubtful(self) -> NDArray[np.intp]:
        """The found nodes of least margins, the least first."""
        margins = self.model.margins_
        some = np.flatnonzero(self.is_found & np.isfinite(margins))
        if len(some) > MOST_DOUBTFUL:
            last = np.partition(margins[some], MOST_DOUBTFUL - 1)[MOST_DOUBTFUL - 1]
            some = some[margins[some] <= last]
        return some[np.argsort(margins[some], kind="stable")][:MOST_DOUBTFUL]

    @cached_property
    def marked(self) -> frozenset[int]:
        """The doubtful nodes that a drawing points to: at most a tenth of those found."""
        return frozenset(self.doubtful[: max(self.n_found // 10, 1)].tolist())

    def colours(self, nodes: NDArray[np.intp]) -> NDArray[np.intp]:
        """The colour of each node's class by its number; −1 without one, or without a label."""
        return np.append(self.colour_of, -1)[self.codes[nodes]]

    def class_cell(self, code: int) -> Cell:
        """The name of a class, with its colour."""
        return Cell(self.names[code], colour(int(self.colour_of[code])))

    def name(self, node: int, longest: int = 40) -> str:
        """The name of a node."""
        texts = self.graph.nodes.texts  # of a few nodes: all may be many
        return short(self.model.names_[node] if texts is None else texts[node], longest)

    def label(self, node: int) -> str:
        """The label of a node."""
        return self.names[self.codes[node]] if self.codes[node] >= 0 else "none"

    def status(self, node: int) -> str:
        """What became of a node."""
        return next(name for name, mask in self.masks.items() if mask[node])

    def line(self, node: int) -> str:
        """A few words about a node."""
        margin = self.model.margins_[node]
        words = f", margin {margin:.3g}" if self.is_found[node] and np.isfinite(margin) else ""
        return f"{self.name(node)}: {self.label(node)} ({self.status(node)}{words})"

    def runners_up(self, nodes: NDArray[np.intp]) -> list[int]:
        """The best class of each node but its own."""
        S = self.model.some_scores(nodes)
        S[np.arange(len(nodes)), self.codes[nodes]] = -np.inf
        return [int(k) for k in S.argmax(axis=1)]

    def labels_around(self, node: int) -> str:
        """How many neighbours of a node have which label."""
        start, stop = self.graph.rows.start[node : node + 2]
        others = self.graph.rows.ends[start:stop]
        codes = self.codes[others[others != node]]
        counts = np.bincount(codes + 1, minlength=1)  # those without a label first
        order = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
        words = [
            f"{self.names[k - 1] if k else 'none'}:\u00a0{counts[k]:,}" for k in order[:MOST_LABELS]
        ]
        rest = counts[order[MOST_LABELS:]].sum()
        return ", ".join([*words, f"others:\u00a0{rest:,}"] if rest else words) or "–"


def size_table(
    what: str, groups: Sequence[tuple[Cell, int, int]], totals: tuple[int, int]
) -> Table:
    """The largest classes, or labels, each with its seeds and its nodes; all others as one.

    Groups come the largest first; `totals` are the seeds and the nodes that shares are taken of.
    """
    shown, others = list(groups[:MOST_CLASSES]), groups[MOST_CLASSES:]
    if others:
        many = f"{what}es" if what.endswith("s") else f"{what}s"
        name = Cell(counted(len(others), f"other {what}", f"other {many}"), colour(-1))
        shown.append((name, sum(before for _, before, _ in others), sum(n for *_, n in others)))
    n_before, n_after = (max(total, 1) for total in totals)
    most = max(max(before / n_before, after / n_after) for _, before, after in shown)
    rows = []
    for name, before, after in shown:
        shares = before / n_before, after / n_after
        bars = Bars(shares[0] / most, shares[1] / most, name.colour)
        numbers = f"{before:,}", percent(shares[0]), f"{after:,}", percent(shares[1])
        rows.append((name, bars, *numbers))
    columns = (what, "", "seeds", "share", "labelled", "share")
    return Table(f"Size of each {what}", columns, rows, [SIZES_NOTE])


def status_table(masks: Masks, is_exact: NDArray[np.bool_], notes: Sequence[str] = ()) -> Table:
    """A row for each status, by the nodes that have it; notes are sentences that belong below."""
    rows = []
    for status, mask in masks.items():
        n, exact = np.count_nonzero(mask), np.count_nonzero(mask & is_exact)
        rows.append((status, f"{n:,}", percent(n / len(mask)), f"{exact:,}", f"{n - exact:,}"))
    return Table("Nodes by status", STATUS_COLUMNS, rows, [STATUS_NOTE, *notes])
