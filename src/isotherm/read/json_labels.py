"""Labels in JSON: an object, a list of records, or a record per line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from isotherm.errors import LabelError
from isotherm.read.drawn import find_drawn
from isotherm.read.json_text import is_nan, parse_json
from isotherm.read.known_labels import words_of_weight
from isotherm.read.layout import NAMES
from isotherm.read.results import STATUS, has_status
from isotherm.read.table import LabelRows

if TYPE_CHECKING:
    from isotherm.read.report import ReadReport
    from isotherm.read.source import Source
    from isotherm.read.table import Columns


def read_labels(source: Source, columns: Columns, report: ReadReport) -> LabelRows:
    """Nodes and labels of ``{"node": "label"}``, of a list of records, or of JSON lines.

    Raises
    ------
    LabelError
        If it is not JSON, or neither of these.
    """
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
    rows = LabelRows(nodes, labels, sure if is_asked else None, status)
    if drawn is None:
        return rows
    return rows._replace(drawn=[_text(record.get(drawn)) for record in found])


def _keys(there: list[str], columns: Columns) -> list[str]:
    """Keys of the node, its label and a weight: those wanted, those named so, or the only two."""
    roles = ("node", "label", "weight")
    wanted = columns.get("node"), columns.get("label"), columns.get("confidence")
    found = [
        name or next((key for key in there if key.lower() in NAMES[role]), None)
        for name, role in zip(wanted, roles, strict=True)
    ]
    left = [key for key in there if key not in (*found, find_drawn(there))]
    left = left if len(there) - (find_drawn(there) is not None) == 2 else []
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
