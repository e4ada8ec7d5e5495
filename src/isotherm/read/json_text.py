"""JSON, parsed: a whole document, or one value per line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from isotherm.errors import FileError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isotherm.errors import IsothermError
    from isotherm.read.source import Source


def parse_json(source: Source, error: type[IsothermError] = FileError) -> object:
    """What a file holds; of JSON lines a list.

    Raises
    ------
    IsothermError
        Of the type given, if it is not JSON, or nested too deep.
    NotEnoughMemory
        If what it becomes does not fit.
    """
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
    """The values of JSON lines, one after the other.

    Raises
    ------
    FileError
        A line that is not JSON, with its number.
    """
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


def is_nan(value: object) -> bool:
    """Whether a value is NaN, which JSON does not have but many write."""
    return isinstance(value, float) and value != value
