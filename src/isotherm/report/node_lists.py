"""Nodes worth a look → lists that a reader can search, sort and filter, each node with reasons."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from isotherm.listing import list_each, list_labelled
from isotherm.report.findings import LONGEST_LABEL
from isotherm.report.page import Cell, Column, Finder, NodeList, NodeRow, Part, Section, page
from isotherm.report.palette import colour
from isotherm.report.words import counted, percent, short

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from isotherm.classifier.algorithm import HeatClassifier
    from isotherm.classifier.estimator import DirichletEstimator
    from isotherm.graph import Graph
    from isotherm.job import Run
    from isotherm.listing import Listed
    from isotherm.report.findings import Findings

    ClassCell = Callable[[object], str | Cell]

MOST_LISTS = 50
MOST_NODES = 1000  # in all lists of a page
MOST_OF_A_CLASS = 100
FEWEST_OF_A_CLASS = 10
MOST_EXPLAINED = 200
ENTRIES_EXPLAINED = 3_000_000  # of the matrix, times the nodes explained: a few seconds
MOST_WEIGHTS = 6  # classes of neighbours named
NAMED = 3  # neighbours
LONGEST_NODE = 60
LONGEST_REASON = 500
AFTER = 3  # columns that the label comes after

COLUMNS = (
    Column("#", is_number=True),
    Column("node"),
    Column("probability", is_number=True),
    Column("runner-up"),
    Column("its probability", is_number=True, is_extra=True),
    Column("neighbours", is_number=True, is_extra=True),
)
RANKED_COLUMNS = (
    Column("#", is_number=True),
    Column("node"),
    Column("score", is_number=True),
    Column("neighbours", is_number=True, is_extra=True),
)


def class_lists(found: Findings) -> Section:
    """The most probable nodes of each class."""
    shown = listed_classes(found)
    if not shown:
        return Section("The lists", "Only the seeds have a label.")
    top = min(MOST_OF_A_CLASS, max(MOST_NODES // len(shown), FEWEST_OF_A_CLASS))
    each, left = divmod(_n_explained(found.graph), len(shown))
    lists = [_class_list(found, k, top, each + (j < left)) for j, k in enumerate(shown)]
    words = (
        "The nodes of each class, the most probable first; seeds are not listed. Open a line to "
        "see what speaks for a node."
    )
    if any(len(one.rows) > each for one in lists):
        words += " The first nodes of each list name the seeds that speak for them." if each else ""
        words += " isotherm explain shows which seeds and paths the heat of any node comes from."
    if len(found.names) > MOST_LISTS:
        words += f" The {MOST_LISTS} largest of {len(found.names):,} classes are shown."
    return Section("The lists", words, [finder(lists, "probability"), *lists])


def listed_classes(found: Findings) -> list[int]:
    """The numbers of the classes that have a list, the largest first."""
    labelled = found.codes[found.is_found & (found.codes >= 0)]
    counts = np.bincount(labelled, minlength=len(found.names))
    return [k for k in found.order[:MOST_LISTS].tolist() if counts[k]]


def _n_explained(graph: Graph) -> int:
    """How many nodes of a page have their seeds and paths named."""
    return min(MOST_EXPLAINED, ENTRIES_EXPLAINED // max(len(graph.rows.ends), 1))


def _class_list(found: Findings, k: int, top: int, explained: int) -> NodeList:
    nodes = np.flatnonzero(found.is_found & (found.codes == k))
    listed = list_labelled(
        found.model,
        k,
        nodes,
        found.probability[nodes],
        top=top,
        explained=explained,
        name=cut,
    )
    code_of = {label: code for code, label in enumerate(found.model.classes_.tolist())}
    return NodeList(
        k,
        found.names[k],
        shown_of(len(listed), len(nodes)),
        COLUMNS,
        rows_of(
            listed,
            lambda label: found.class_cell(code_of[label]),
            Surroundings(found.model, found.codes == k, f"{found.names[k]} nodes"),
        ),
        colour(int(found.colour_of[k])),
    )


def ranked_list(model: HeatClassifier) -> list[Part]:
    """Where one class is known: the nodes nearest to its seeds."""
    (label,) = model.classes_.tolist()
    explained = _n_explained(model.problem_.graph)
    (listed,) = list_each(model, [label], MOST_OF_A_CLASS, explained=explained, name=cut)
    count = shown_of(len(listed), len(model.ranking_.nodes))
    is_seed = np.zeros(model.problem_.graph.n_nodes, dtype=bool)
    is_seed[model.seeds_.nodes] = True
    rows = rows_of(listed, cut, Surroundings(model, is_seed, "seeds"))
    ranked = NodeList(0, "The nearest nodes", count, RANKED_COLUMNS, rows)
    return [finder([ranked], "score"), ranked]


def list_page(listed: Sequence[Listed], label: str, run: Run) -> str:
    """One HTML document that needs nothing but itself, about the nodes of a class in a run."""
    name = short(label, LONGEST_NODE)
    title = f"The {len(listed):,} nodes most likely to be {name}"
    ranked = len(run.classifier.classes_) == 1
    how = (
        "Ranked by how near they are to the seeds. There are no probabilities: nothing is known of "
        "other classes."
        if ranked
        else "Ranked by the probability of the class. A node may have another label."
    )
    rows = rows_of(listed, cut)
    columns: tuple[Column, ...] = RANKED_COLUMNS if ranked else COLUMNS
    if not ranked:
        rows = [_labelled(row, one) for row, one in zip(rows, listed, strict=True)]
        columns = (*columns[:AFTER], Column("label"), *columns[AFTER:])
    count = shown_of(len(listed), run.graph.n_nodes)
    found = NodeList(0, name, count, columns, rows)
    words = "Seeds are not listed. Open a line to see what speaks for a node."
    parts: list[Part] = [finder([found], columns[AFTER - 1].name), found]
    return page(title, how, [Section("The list", words, parts)])


def _labelled(row: NodeRow, one: Listed) -> NodeRow:
    """With the label that a node has, which may be another."""
    return replace(row, cells=(*row.cells[:AFTER], cut(one.label), *row.cells[AFTER:]))


def finder(lists: Sequence[NodeList], number_name: str, group_name: str = "class") -> Finder:
    """Search and filters over lists."""
    return Finder(number_name, [(one.number, one.title) for one in lists], group_name)


def shown_of(shown: int, there: int) -> str:
    """How many of the nodes that are there are shown.

    Examples
    --------
    >>> shown_of(3, 3), shown_of(100, 5230)
    ('3 nodes', '100 of 5,230 nodes')
    """
    return counted(there, "node") if shown == there else f"{shown:,} of {counted(there, 'node')}"


@dataclass(frozen=True)
class Surroundings:
    """The neighbours that speak for a node, where its seeds and paths are not known."""

    model: DirichletEstimator
    is_like: NDArray[np.bool_]  # (n,): the nodes that would speak for a neighbour
    what: str  # these, in words

    def sentence(self, node: int) -> str:
        """Which neighbours of the node at a position speak for it."""
        problem, (ends, weights) = self.model.problem_, neighbours(self.model.problem_.graph, node)
        like = self.is_like[ends]
        share = float(weights[like].sum() / weights.sum()) if len(ends) else 0.0
        words = f"{percent(share)} of the weight of its edges goes to {self.what}"
        named = [
            cut(name) + (" (seed)" if is_seed else "")
            for name, is_seed in zip(
                self.model.names_[ends[like][:NAMED]].tolist(),
                ~problem.is_free[ends[like][:NAMED]],
                strict=True,
            )
        ]
        more = ", …" if np.count_nonzero(like) > NAMED else ""
        return words + (f": {', '.join(named)}{more}" if named else "")


def rows_of(
    listed: Sequence[Listed], class_cell: ClassCell, around: Surroundings | None = None
) -> list[NodeRow]:
    """Nodes with a probability, or a score; those without a reason have one from `around`."""
    if around is None:
        return [_row(one, class_cell, one.why) for one in listed]
    places = around.model.problem_.graph.positions([one.node for one in listed]) if listed else ()
    return [
        _row(one, class_cell, one.why or around.sentence(int(i)))
        for one, i in zip(listed, places, strict=True)
    ]


def _row(one: Listed, class_cell: ClassCell, why: str) -> NodeRow:
    name, neighbours = short(one.node, LONGEST_NODE), f"{one.neighbours:,}"
    gist = short(why, LONGEST_REASON)
    facts = [("Neighbours", neighbours), ("Weight of its edges to", _weights(one))]
    if one.probability is None:
        return NodeRow((f"{one.rank:,}", name, f"{one.score:.6f}", neighbours), gist, facts)
    rival = class_cell(one.runner_up)
    numbers = f"{one.probability:.3f}", f"{one.its_probability:.3f}"
    facts = [
        ("Runner-up", f"{rival if isinstance(rival, str) else rival.text} ({numbers[1]})"),
        *facts,
        ("Label numerically exact", "yes" if one.certified else "no"),
    ]
    return NodeRow((f"{one.rank:,}", name, numbers[0], rival, numbers[1], neighbours), gist, facts)


def _weights(one: Listed) -> str:
    """The weight of the edges to neighbours of each label, the greatest first."""
    ranked = sorted(one.weights.items(), key=lambda item: -item[1])
    words = [f"{cut(label)}:\u00a0{weight:.6g}" for label, weight in ranked[:MOST_WEIGHTS]]
    if rest := sum(weight for _, weight in ranked[MOST_WEIGHTS:]):
        words.append(f"others:\u00a0{rest:.6g}")
    return ", ".join(words) or "no labelled node"


def neighbours(graph: Graph, node: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The neighbours of a node, the heaviest first, and the weights to them; not itself."""
    rows = graph.rows
    some = slice(rows.start[node], rows.start[node + 1])
    ends = rows.ends[some].astype(np.intp)
    weights = np.ones(len(ends)) if rows.weights is None else rows.weights[some]
    order = np.argsort(-weights, kind="stable")
    order = order[ends[order] != node]
    return ends[order], weights[order].astype(np.float64)


def cut(name: object) -> str:
    """A name within a sentence."""
    return short(name, LONGEST_LABEL)
