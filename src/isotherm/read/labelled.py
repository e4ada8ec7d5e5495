"""Rows of node, label and perhaps weight → one label for each node of a graph."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from isotherm.errors import LabelError, UnknownNode
from isotherm.read.alike import advice
from isotherm.read.layout import NAMES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from isotherm.graph import Graph
    from isotherm.read.record import Reading
    from isotherm.read.source import Source

SHOWN = 5
ODD = (
    "NA",
    "N/A",
    "nan",
    "NaN",
    "null",
    "NULL",
    "None",
    "-1",
    "?",
)  # may mean: unknown


class Labelled:
    """Labels as they come; rows with an empty label do not count."""

    def __init__(self) -> None:
        self._nodes: list[pa.Array] = []
        self._labels: list[pa.Array] = []
        self._weights: list[NDArray[np.float64]] = []

    def add(self, nodes: Any, labels: Any, weights: Any = None) -> None:
        """Take in some rows."""
        nodes, labels = (
            column.cast(pa.large_string())
            if isinstance(column, pa.Array)
            else pa.array(column, pa.large_string())
            for column in (nodes, labels)
        )
        known = pc.fill_null(pc.greater(pc.binary_length(labels), 0), False)
        if weights is not None:
            known = pc.and_(known, pa.array(np.asarray(weights) > 0))
            self._weights.append(np.asarray(weights)[known.to_numpy(zero_copy_only=False)])
        self._nodes.append(nodes.filter(known))
        self._labels.append(labels.filter(known))

    def count(self) -> tuple[int, int]:
        """How many labels there are, and of how many classes."""
        classes = {label for part in self._labels for label in pc.unique(part).to_pylist()}
        return sum(map(len, self._labels)), len(classes)

    def of_nodes(self, graph: Graph, reading: Reading, *, strict: bool) -> dict[str, str]:
        """The label of each node; what is odd about them is noted or raised.

        Raises
        ------
        LabelError, UnknownNode
            See `isotherm.read_labels`.
        """
        nodes = pa.concat_arrays(self._nodes) if self._nodes else pa.array([], pa.large_string())
        if len(nodes) == 0:
            raise LabelError(f"{reading.name} has no label: nothing is known to begin with")
        labels = pa.concat_arrays(self._labels)
        reading.n_rows = len(nodes)
        for odd in ODD:
            count = pc.sum(pc.equal(labels, odd)).as_py()
            if count:
                reading.notes.append(
                    f"{reading.name}: {odd!r} is taken for a class, of {count} node(s); where "
                    "a label is not known the cell is left empty"
                )
        texts = graph.nodes.as_texts()
        is_there = pc.is_in(nodes, value_set=texts)
        strangers = nodes.filter(pc.invert(is_there))
        if len(strangers):
            self._note(strangers, texts, reading, strict=strict)
            nodes, labels = nodes.filter(is_there), labels.filter(is_there)
        weights = None
        if self._weights:
            weights = np.concatenate(self._weights)[is_there.to_numpy(zero_copy_only=False)]
        return _by_node(nodes.to_pylist(), labels.to_pylist(), weights, reading)

    def _note(
        self, strangers: pa.Array, texts: pa.Array, reading: Reading, *, strict: bool
    ) -> None:
        """Say that labels are there for nodes that are not in the graph."""
        shown = ", ".join(map(repr, strangers.slice(0, SHOWN).to_pylist()))
        message = (
            f"{reading.name}: {len(strangers)} of {reading.n_rows} labels are for nodes that are "
            f"not in the graph: {shown}{', …' if len(strangers) > SHOWN else ''} "
            f"({advice(strangers, texts)})"
        )
        if strict or len(strangers) == reading.n_rows:
            raise UnknownNode(message)
        reading.notes.append(message)


def _by_node(
    nodes: list[str], labels: list[str], weights: NDArray[np.float64] | None, reading: Reading
) -> dict[str, str]:
    """One label for each node; of several the one of the greatest weight."""
    if weights is not None:
        order = np.argsort(-weights, kind="stable").tolist()
        ranked: dict[str, tuple[str, float]] = {}
        for k in order:
            label, weight = ranked.setdefault(nodes[k], (labels[k], float(weights[k])))
            if label != labels[k] and weight == weights[k]:
                raise _conflict(reading.name, nodes[k], label, labels[k])
        reading.weights = {node: ranked[node][1] for node in nodes}
        return {node: ranked[node][0] for node in nodes}
    found = dict(zip(nodes, labels, strict=True))
    if len(found) < len(nodes):
        for node, label in zip(nodes, labels, strict=True):
            if found[node] != label:
                raise _conflict(reading.name, node, label, found[node])
    return found


def _conflict(name: str, node: str, one: str, other: str) -> LabelError:
    return LabelError(f"{name}: node {node!r} has two labels, {one!r} and {other!r}")


def read_json(
    source: Source, columns: Mapping[str, str | None], reading: Reading
) -> tuple[list[str], list[str | None], list[float] | None]:
    """Nodes, labels and weights of ``{"node": "label"}``, of a list of records, or of JSON lines.

    Raises
    ------
    LabelError
        If it is not JSON, or neither of these.
    """
    try:
        found = _parsed(source.whole())
    except (ValueError, RecursionError) as error:
        raise LabelError(f"{source.name} is not JSON: {error}") from None
    if isinstance(found, dict) and set(found) in ({"node", "label"}, {"node", "label", "weight"}):
        found = [found]  # one line of JSON lines
    if isinstance(found, dict) and not any(isinstance(v, dict | list) for v in found.values()):
        reading.columns = ("node", "label")
        return list(found), [_text(label) for label in found.values()], None
    if not isinstance(found, list) or not all(isinstance(record, dict) for record in found):
        raise LabelError(
            f'{source.name}: labels in JSON are {{"node": "label", …}} or a list of '
            '{"node": …, "label": …}'
        )
    there = list(found[0]) if found else []
    keys = [
        columns.get(role) or next((key for key in there if str(key).lower() in NAMES[role]), role)
        for role in ("node", "label", "weight")
    ]
    weighted = any(keys[2] in record for record in found)
    reading.columns = tuple(keys[: 2 + weighted])
    for number, record in enumerate(found, start=1):
        if record.get(keys[0]) is None or isinstance(record[keys[0]], dict | list):
            raise LabelError(
                f"{source.name}, record {number} has no {keys[0]!r}; it has "
                f"{', '.join(map(repr, record)) or 'nothing'}"
            )
    nodes = [_text(record[keys[0]]) or "" for record in found]
    labels = [_text(record.get(keys[1])) for record in found]
    weights = [_number(record.get(keys[2], 1.0), source.name) for record in found]
    return nodes, labels, weights if weighted else None


def _parsed(data: bytes) -> Any:
    text = data.decode("utf-8-sig")
    try:
        return json.loads(text, object_pairs_hook=_once)
    except json.JSONDecodeError:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) < 2:
            raise
        return [json.loads(line) for line in lines]


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object in which no key has two values."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        first = found.setdefault(key, value)
        if first is not value and first != value and not (_is_nan(first) and _is_nan(value)):
            raise ValueError(f"{key!r} has two values, {found[key]!r} and {value!r}")
    return found


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and value != value


def _text(value: Any) -> str | None:
    if value is None or _is_nan(value):
        return None
    if isinstance(value, dict | list):
        raise LabelError(f"a label is a text or a number, not {str(value)[:40]!r}")
    return value if isinstance(value, str) else json.dumps(value)


def _number(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e300:
        raise LabelError(f"{name}: a weight is a number that is not negative, not {value!r}")
    return float(value)
