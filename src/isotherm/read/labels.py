"""Rows of node, label and perhaps weight → one label for each node of a graph."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from isotherm.errors import LabelError, UnknownNode
from isotherm.graph.texts import find_texts
from isotherm.read.similar_ids import advice

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.graph import Graph
    from isotherm.read.report import ReadReport
    from isotherm.read.table import LabelRows

SHOWN = 5
ODD = ("NA", "N/A", "nan", "NaN", "null", "NULL", "None", "-1", "?")  # may mean: unknown


class LabelList:
    """Labels as they come; rows with an empty label do not count."""

    def __init__(self) -> None:
        self._nodes: list[pa.Array] = []
        self._labels: list[pa.Array] = []
        self._weights: list[NDArray[np.float64]] = []

    def add(self, rows: LabelRows) -> None:
        """Take in some rows."""
        nodes, labels = (
            column.cast(pa.large_string())
            if isinstance(column, pa.Array)
            else pa.array(column, pa.large_string())
            for column in (rows.nodes, rows.labels)
        )
        known = pc.fill_null(pc.greater(pc.binary_length(labels), 0), False)
        if rows.weights is not None:
            weights = np.asarray(rows.weights)
            known = pc.and_(known, pa.array(weights > 0))
            self._weights.append(weights[known.to_numpy(zero_copy_only=False)])
        self._nodes.append(nodes.filter(known))
        self._labels.append(labels.filter(known))

    def count(self) -> tuple[int, int]:
        """How many labels there are, and of how many classes."""
        classes = {label for part in self._labels for label in pc.unique(part).to_pylist()}
        return sum(map(len, self._labels)), len(classes)

    def of_nodes(self, graph: Graph, report: ReadReport, *, strict: bool) -> dict[str, str]:
        """The label of each node; what is odd about them is noted or raised.

        Raises
        ------
        LabelError, UnknownNode
            See `isotherm.read_labels`.
        """
        nodes, labels, weights = self._located(graph, report, strict=strict)
        _note_odd(labels, report)
        return _by_node(nodes.to_pylist(), labels.to_pylist(), weights, report)

    def numbers_of_nodes(
        self, graph: Graph, report: ReadReport, *, strict: bool
    ) -> dict[str, float]:
        """The value of each node.

        Raises
        ------
        LabelError, UnknownNode
            As `of_nodes`, and where a value is not a number.
        """
        nodes, labels, weights = self._located(graph, report, strict=strict)
        texts = _by_node(nodes.to_pylist(), labels.to_pylist(), weights, report)
        return {node: _number(text, node, report) for node, text in texts.items()}

    def sets_of_nodes(
        self, graph: Graph, report: ReadReport, *, strict: bool, separator: str | None = None
    ) -> dict[str, set[str]]:
        """All labels of each node: of each of its rows, and of each part of a cell.

        Raises
        ------
        LabelError, UnknownNode
            As `of_nodes`.
        """
        nodes, labels, _ = self._located(graph, report, strict=strict)
        _note_odd(labels, report)
        found: dict[str, set[str]] = {}
        for node, text in zip(nodes.to_pylist(), labels.to_pylist(), strict=True):
            parts = [text] if separator is None else map(str.strip, text.split(separator))
            found.setdefault(node, set()).update(part for part in parts if part)
        return found

    def _located(
        self, graph: Graph, report: ReadReport, *, strict: bool
    ) -> tuple[pa.Array, pa.Array, NDArray[np.float64] | None]:
        """Nodes, labels and weights of all rows but those of nodes that are not in the graph."""
        nodes = pa.concat_arrays(self._nodes) if self._nodes else pa.array([], pa.large_string())
        if len(nodes) == 0:
            raise LabelError(f"{report.name} has no label: nothing is known to begin with")
        labels = pa.concat_arrays(self._labels)
        report.n_rows = len(nodes)
        texts = graph.nodes.as_texts()
        is_there = pa.array(find_texts(nodes, texts) >= 0)
        strangers = nodes.filter(pc.invert(is_there))
        if len(strangers):
            self._note(strangers, texts, report, strict=strict)
            nodes, labels = nodes.filter(is_there), labels.filter(is_there)
        weights = None
        if self._weights:
            weights = np.concatenate(self._weights)[is_there.to_numpy(zero_copy_only=False)]
        return nodes, labels, weights

    def _note(
        self, strangers: pa.Array, texts: pa.Array, report: ReadReport, *, strict: bool
    ) -> None:
        """Say that labels are there for nodes that are not in the graph."""
        shown = ", ".join(map(repr, strangers.slice(0, SHOWN).to_pylist()))
        message = (
            f"{report.name}: {len(strangers)} of {report.n_rows} labels are for nodes that are "
            f"not in the graph: {shown}{', …' if len(strangers) > SHOWN else ''} "
            f"({advice(strangers, texts)})"
        )
        if strict or len(strangers) == report.n_rows:
            raise UnknownNode(message)
        report.notes.append(message)


def _note_odd(labels: pa.Array, report: ReadReport) -> None:
    """Say what may have been meant for an unknown label."""
    for odd in ODD:
        count = pc.sum(pc.equal(labels, odd)).as_py()
        if count:
            report.notes.append(
                f"{report.name}: {odd!r} is taken for a class, of {count} node(s); where "
                "a label is not known the cell is left empty"
            )


def _number(text: str, node: str, report: ReadReport) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise LabelError(
            f"{report.name}: the value of node {node!r} must be a number, got {text!r}; where it "
            "is not known the cell is left empty"
        )
    return value


def _by_node(
    nodes: list[str], labels: list[str], weights: NDArray[np.float64] | None, report: ReadReport
) -> dict[str, str]:
    """One label for each node; of several the one of the greatest weight."""
    if weights is not None:
        order = np.argsort(-weights, kind="stable").tolist()
        ranked: dict[str, tuple[str, float]] = {}
        for k in order:
            label, weight = ranked.setdefault(nodes[k], (labels[k], float(weights[k])))
            if label != labels[k] and weight == weights[k]:
                raise _conflict(report.name, nodes[k], label, labels[k])
        report.weights = {node: ranked[node][1] for node in nodes}
        return {node: ranked[node][0] for node in nodes}
    found = dict(zip(nodes, labels, strict=True))
    if len(found) < len(nodes):
        for node, label in zip(nodes, labels, strict=True):
            if found[node] != label:
                raise _conflict(report.name, node, label, found[node])
    return found


def _conflict(name: str, node: str, one: str, other: str) -> LabelError:
    return LabelError(f"{name}: node {node!r} has two labels, {one!r} and {other!r}")
