"""Rows of node, label and perhaps confidence → one label for each node of a graph."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from isotherm.errors import LabelError, UnknownNode
from isotherm.read.bipartite import find_side
from isotherm.read.known_labels import (
    KnownLabels,
    label_by_node,
    note_case,
    note_minus_one,
    note_placeholders,
    without_conflicts,
)
from isotherm.read.label_columns import GIVEN, GUESSED, are_drawn, words_of_guesses, words_of_others
from isotherm.read.similar_ids import advice, find_normalised

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.graph import Graph
    from isotherm.read.options import TextOptions
    from isotherm.read.report import ReadReport
    from isotherm.read.table import LabelRows

Found = TypeVar("Found")

MOST_COMPARED = 5_000_000  # ids of a graph, with those that are not in it
SHOWN = 5


class LabelList:
    """Labels as they come; rows with an empty label do not count."""

    def __init__(self) -> None:
        self._nodes: list[pa.Array] = []
        self._labels: list[pa.Array] = []
        self._confidence: list[NDArray[np.float64]] = []
        self._numbers: list[NDArray[np.int64]] = []  # of rows, from 1 on
        self._status: list[pa.Array] = []  # of a result
        self._drawn: list[pa.Array] = []  # in words
        self._n_rows = 0

    def add(self, rows: LabelRows) -> None:
        """Take in some rows."""
        nodes, labels = (
            column.cast(pa.large_string())
            if isinstance(column, pa.Array)
            else pa.array(column, pa.large_string())
            for column in (rows.nodes, rows.labels)
        )
        known = pc.fill_null(pc.greater(pc.binary_length(labels), 0), False)
        if rows.confidence is not None:
            sure = np.asarray(rows.confidence)
            known = pc.and_(known, pa.array(sure > 0))
            self._confidence.append(sure[known.to_numpy(zero_copy_only=False)])
        kept = known.to_numpy(zero_copy_only=False)
        self._numbers.append(self._n_rows + 1 + np.flatnonzero(kept))
        self._n_rows += len(nodes)
        self._nodes.append(nodes.filter(known))
        self._labels.append(labels.filter(known))
        if rows.status is not None:
            words = pa.array(rows.status, pa.large_string())
            self._status.append(pc.utf8_trim_whitespace(words).filter(known))
        if rows.drawn is not None:
            self._drawn.append(pa.array(rows.drawn, pa.large_string()).filter(known))

    def leave_out_guesses(self, report: ReadReport) -> None:
        """Keep only what was given, where these are the rows of a result, which is noted."""
        kinds = {kind for part in self._status for kind in pc.unique(part).to_pylist()}
        if not kinds & GUESSED:
            return
        if kinds - GUESSED - GIVEN:
            report.notes.append(f"{report.name}: {words_of_others(kinds)}")
            return
        status = pa.concat_arrays(self._status)
        given = pc.invert(pc.is_in(status, pa.array(GUESSED, status.type)))
        kept = given.to_numpy(zero_copy_only=False)
        left = int(kept.sum())
        message = f"{report.name}: {words_of_guesses(len(kept) - left, len(kept))}"
        if left == 0:
            raise LabelError(f"{message}. There is no other label")
        report.notes.append(message)
        self._nodes = [pa.concat_arrays(self._nodes).filter(given)]
        self._labels = [pa.concat_arrays(self._labels).filter(given)]
        self._numbers = [np.concatenate(self._numbers)[kept]]
        if self._confidence:
            self._confidence = [np.concatenate(self._confidence)[kept]]
        self._drawn = [pa.concat_arrays(self._drawn).filter(given)] if self._drawn else []

    def count(self) -> tuple[int, int]:
        """How many labels there are, and of how many classes."""
        classes = {label for part in self._labels for label in pc.unique(part).to_pylist()}
        return sum(map(len, self._labels)), len(classes)

    def of_nodes(
        self, graph: Graph, report: ReadReport, options: TextOptions, *, strict: bool
    ) -> dict[Any, str]:
        """The label of each node; what is odd about them is noted or raised."""
        there = self._located(graph, report, options, strict=strict)
        return self._one_of_each(there, graph, report, options)

    def numbers_of_nodes(
        self, graph: Graph, report: ReadReport, options: TextOptions, *, strict: bool
    ) -> dict[Any, float]:
        """The value of each node."""
        there = self._located(graph, report, options, strict=strict, classes=False)
        texts = self._one_of_each(there, graph, report, options)
        return {node: _number(text, node, report) for node, text in texts.items()}

    def sets_of_nodes(
        self,
        graph: Graph,
        report: ReadReport,
        options: TextOptions,
        *,
        strict: bool,
        separator: str | None = None,
    ) -> dict[Any, set[str]]:
        """All labels of each node: of each of its rows, and of each part of a cell."""
        there = self._located(graph, report, options, strict=strict)
        found: dict[str, set[str]] = {}
        for node, text in zip(there.nodes.to_pylist(), there.labels.to_pylist(), strict=True):
            parts = [text] if separator is None else map(str.strip, text.split(separator))
            found.setdefault(node, set()).update(part for part in parts if part)
        return by_own_id(found, graph)

    def _one_of_each(
        self, rows: KnownLabels, graph: Graph, report: ReadReport, options: TextOptions
    ) -> dict[Any, str]:
        found = label_by_node(_checked(rows, report, options), report)
        report.confidence = by_own_id(report.confidence, graph)
        if rows.drawn is not None:
            nodes = set(rows.nodes.filter(pa.array(rows.drawn)).to_pylist()) & found.keys()
            report.drawn = frozenset(graph.nodes.ids_of(list(nodes)))
        return by_own_id(found, graph)

    def _located(
        self,
        graph: Graph,
        report: ReadReport,
        options: TextOptions,
        *,
        strict: bool,
        classes: bool = True,
    ) -> KnownLabels:
        """All rows that say something, but those of nodes that are not in the graph.

        What may be wrong with names of classes is noted where labels are such.
        """
        rows = self._rows(report)
        if classes:
            note_minus_one(rows, report)
        rows = note_placeholders(rows, report, keep=options.keep_placeholders)
        if classes:
            rows = note_case(rows, report, merge=options.merge_case)
        rows = replace(rows, nodes=find_side(rows.nodes, graph, report))
        if options.ids == "exact":
            places = graph.nodes.find_texts(rows.nodes)
        else:
            places = find_normalised(rows.nodes, graph.nodes.as_texts())
        if (places < 0).any():
            strangers, texts = rows.nodes.filter(pa.array(places < 0)), graph.nodes.as_texts()
            _note_strangers(strangers, texts.slice(0, MOST_COMPARED), report, strict=strict)
        there = rows.kept(places >= 0)
        if options.ids != "exact":
            own = graph.nodes.as_texts().take(pa.array(places[places >= 0]))
            there = replace(there, nodes=own)
        return there

    def _rows(self, report: ReadReport) -> KnownLabels:
        nodes = pa.concat_arrays(self._nodes) if self._nodes else pa.array([], pa.large_string())
        if len(nodes) == 0:
            why = f": {report.skipped_words()}" if report.n_skipped else ""
            raise LabelError(
                f"{report.name} has no label{why or ': at least one node needs a known label'}"
            )
        report.n_rows = len(nodes)
        sure = np.concatenate(self._confidence) if self._confidence else None
        rows = np.concatenate(self._numbers)
        drawn = are_drawn(pa.concat_arrays(self._drawn), report) if self._drawn else None
        return KnownLabels(nodes, pa.concat_arrays(self._labels), rows, sure, drawn)


def by_own_id(found: dict[str, Found], graph: Graph) -> dict[Any, Found]:
    """What was found of nodes of the graph, by their ids there: these may be numbers."""
    return dict(zip(graph.nodes.ids_of(list(found)), found.values(), strict=True))


def _checked(rows: KnownLabels, report: ReadReport, options: TextOptions) -> KnownLabels:
    """Without nodes of two labels, where rows at fault may be skipped."""
    return without_conflicts(rows, report) if options.on_error == "skip" else rows


def _number(text: str, node: object, report: ReadReport) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise LabelError(
            f"{report.name}: the value of node {node!r} must be a number, got {text!r}; leave the "
            "cell empty where it is not known"
        )
    return value


def _note_strangers(
    strangers: pa.Array, texts: pa.Array, report: ReadReport, *, strict: bool
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
