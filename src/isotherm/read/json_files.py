"""JSON: parsed whole or line by line → tables of edges, labels, and graphs of nodes and links."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from isotherm.errors import FileError, GraphError, LabelError
from isotherm.read.column_kinds import NAMES
from isotherm.read.graph_files import contents_of
from isotherm.read.label_columns import STATUS, find_drawn, has_status, words_of_weight
from isotherm.read.row_table import as_cell, is_nan, peek_rows, table_of_rows
from isotherm.read.table import LabelRows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from isotherm.errors import IsothermError
    from isotherm.read.arrow_table import ArrowTable
    from isotherm.read.graph_files import Contents
    from isotherm.read.options import TextOptions
    from isotherm.read.report import ReadReport
    from isotherm.read.row_table import Rows
    from isotherm.read.source import Source
    from isotherm.read.table import Columns

EDGES = (
    'edges in JSON must be a list of records, [{"source": …, "target": …}], one record per line, '
    'or a graph with "nodes" and "links"'
)


def parse_json(source: Source, error: type[IsothermError] = FileError) -> object:
    """What a file holds; of JSON lines a list."""
    data = source.whole()
    source.check_room(len(data))
    try:
        return _parsed(data)
    except RecursionError:
        raise error(
            f"{source.name} is nested too deeply: a graph or labels do not need that"
        ) from None
    except ValueError as fault:
        raise error(f"{source.name} is not JSON: {fault}") from None


def parse_lines(source: Source) -> Iterator[object]:
    """The values of JSON lines, one after the other."""
    for number, text in enumerate(source.lines(), start=1):
        if not text.strip():
            continue
        try:
            yield json.loads(text)
        except RecursionError:
            raise FileError(f"{source.name}, line {number} is nested too deeply") from None
        except ValueError as fault:
            raise FileError(f"{source.name}, line {number} is not JSON: {fault}") from None


def is_lines(source: Source) -> bool:
    """Whether each line is a value of its own: the first one is, and more follow."""
    first, _, rest = source.recoded_head("utf-8").decode().lstrip().partition("\n")
    if not rest.strip():
        return False
    try:
        return isinstance(json.loads(first), dict | list)
    except (ValueError, RecursionError):
        return False


def _parsed(data: bytes) -> object:
    text = data.decode("utf-8-sig")
    try:
        return json.loads(text, object_pairs_hook=_once)
    except json.JSONDecodeError:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) < 2:
            raise
        return [json.loads(line) for line in lines]


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object in which no key has two values."""
    found: dict[str, object] = {}
    for key, value in pairs:
        first = found.setdefault(key, value)
        if first is not value and first != value and not (is_nan(first) and is_nan(value)):
            raise ValueError(f"{key!r} has two values, {found[key]!r} and {value!r}")
    return found


def open_json(source: Source, options: TextOptions, _: Sequence[str | None] = ()) -> ArrowTable:
    """A table of a list of records, or of one per line."""
    if is_lines(source):
        return table_of_rows(source, options, lambda: _rows(parse_lines(source), source.name))
    found = parse_json(source)
    if isinstance(found, dict) and found and all(isinstance(v, list) for v in found.values()):
        names, columns = list(found), list(found.values())
        if len({len(column) for column in columns}) > 1:
            lengths = ", ".join(map(str, sorted({len(column) for column in columns})))
            raise FileError(
                f"{source.name} has columns of different lengths ({lengths}): they must be equal"
            )
        return table_of_rows(source, options, lambda: (names, list(zip(*columns, strict=True))))
    if not isinstance(found, list):
        raise FileError(f"{source.name}: {EDGES}")
    return table_of_rows(source, options, lambda: _rows(found, source.name))


def _rows(values: Iterable[object], name: str) -> Rows:
    """Names of columns, and rows, of records or lists."""
    first, rows = peek_rows(values)
    if not first:
        raise FileError(f"{name} has no rows")
    if isinstance(first[0], list):
        names = [str(k) for k in range(1, len(first[0]) + 1)]
    else:
        keys = (key for record in first if isinstance(record, dict) for key in record)
        names = list(dict.fromkeys(keys))
        if not names:
            raise FileError(f"{name}: {EDGES}, got {str(first[0])[:40]!r}")
    return names, _cells(rows, names, name)


def _cells(rows: Iterable[object], names: list[str], name: str) -> Iterator[Sequence[object]]:
    for number, row in enumerate(rows, start=1):
        if isinstance(row, dict):
            yield [row.get(key) for key in names]
        elif isinstance(row, list) and len(row) == len(names):
            yield row
        else:
            raise FileError(f"{name}, row {number} is not like the first: {str(row)[:80]}")


def read_labels(source: Source, columns: Columns, report: ReadReport) -> LabelRows:
    """Nodes and labels of ``{"node": "label"}``, of a list of records, or of JSON lines."""
    found = parse_json(source, LabelError)
    if isinstance(found, dict) and set(found) in ({"node", "label"}, {"node", "label", "weight"}):
        found = [found]  # one line of JSON lines
    if isinstance(found, dict) and not any(isinstance(v, dict | list) for v in found.values()):
        report.columns = ("node", "label")
        return LabelRows(list(found), [_text(label) for label in found.values()])
    if not isinstance(found, list) or not all(isinstance(record, dict) for record in found):
        raise LabelError(
            f'{source.name}: labels in JSON must be {{"node": "label", …}} or a list of '
            '{"node": …, "label": …}'
        )
    there = list(found[0]) if found else []
    keys = _keys(there, columns)
    is_asked = columns.get("confidence") is not None
    is_there = any(keys[2] in record for record in found)
    if is_asked and not is_there:
        raise LabelError(f"{source.name}: no record has {keys[2]!r}; the first has {there}")
    if is_there and not is_asked:
        report.notes.append(words_of_weight(source.name, keys[2]))
    report.columns = tuple(keys[: 2 + is_asked])
    of_result = has_status({key for record in found for key in record}, *keys[:2])
    for number, record in enumerate(found, start=1):
        if record.get(keys[0]) is None or isinstance(record[keys[0]], dict | list):
            raise LabelError(
                f"{source.name}, record {number} has no {keys[0]!r}; it has "
                f"{', '.join(map(repr, record)) or 'nothing'}"
            )
    nodes = [_text(record[keys[0]]) or "" for record in found]
    labels = [_text(record.get(keys[1])) for record in found]
    sure = [_number(record.get(keys[2], 1.0), source.name) for record in found if is_asked]
    status = [_text(record.get(STATUS)) for record in found] if of_result else None
    drawn = find_drawn([key for key in there if key not in keys])
    words = None if drawn is None else [_text(record.get(drawn)) for record in found]
    return LabelRows(nodes, labels, sure if is_asked else None, status, words)


def _keys(there: list[str], columns: Columns) -> list[str]:
    """Keys of the node, its label and a weight: those wanted, those named so, or the only two."""
    roles = ("node", "label", "weight")
    wanted = columns.get("node"), columns.get("label"), columns.get("confidence")
    found = [
        name or next((key for key in there if key.lower() in NAMES[role]), None)
        for name, role in zip(wanted, roles, strict=True)
    ]
    others = [key for key in there if key != find_drawn(there)]
    left = [key for key in others if key not in found] if len(others) == 2 else []
    return [key or (left.pop(0) if left else role) for key, role in zip(found, roles, strict=True)]


def _text(value: object) -> str | None:
    if value is None or is_nan(value):
        return None
    if isinstance(value, dict | list):
        raise LabelError(f"a label must be text or a number, got {str(value)[:40]!r}")
    return value if isinstance(value, str) else json.dumps(value)


def _number(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e300:
        raise LabelError(f"{name}: a confidence must be a number ≥ 0, got {value!r}")
    return float(value)


def read_node_link(source: Source) -> Contents:
    """Nodes and edges of a file."""
    return node_link_contents(parse_json(source), source.name)


def node_link_contents(found: object, name: str) -> Contents:
    """Nodes and edges of what was parsed.

    Nodes are called by their ``id``; where they have none their ``name``, and then links have the
    positions of nodes in the list, as D3 has them.

    Examples
    --------
    >>> nodes, links = [{"id": 1, "club": "x"}, {"id": 2}], [{"source": 1, "target": 2}]
    >>> contents = node_link_contents({"nodes": nodes, "links": links}, "g.json")
    >>> contents.nodes, contents.source, contents.target, contents.column("club")
    (['1', '2'], ['1'], ['2'], ['x', None])
    """
    whole = found if isinstance(found, dict) else {}
    parts = whole.get("elements", whole)  # of Cytoscape
    parts = parts if isinstance(parts, dict) else {}
    nodes = _records(parts.get("nodes"))
    links = _records(parts.get("links", parts.get("edges")))
    if nodes is None or links is None:
        raise GraphError(f'{name} needs lists of records called "nodes" and "links" (or "edges")')
    by_place = not any("id" in node for node in nodes)
    ids = [as_cell(node.get("name" if by_place else "id")) for node in nodes]
    places = ids if by_place else None
    edges = (
        (_end(link.get("source"), places), _end(link.get("target"), places), link.get("weight"))
        for link in links
    )
    others = ({key: value for key, value in node.items() if key != "id"} for node in nodes)
    directed = whole.get("directed") is True
    return contents_of(name, zip(ids, others, strict=True), edges, directed=directed)


def _records(found: object) -> list[dict[str, object]] | None:
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        return None
    inner = [one.get("data", one) for one in found]  # of Cytoscape
    return inner if all(isinstance(one, dict) for one in inner) else None


def _end(value: object, ids: list[str | None] | None) -> str | None:
    if ids is not None and isinstance(value, int) and 0 <= value < len(ids):
        return ids[value]
    return as_cell(value)
