"""What finished cells found, in a file to which each is added as soon as it is done."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from isotherm.files import check_replaceable

if TYPE_CHECKING:
    from pathlib import Path

    Rows = list[dict[str, Any]]


class Store:
    """A file of JSON lines, one per cell.

    A line that a stopped run left unfinished is not read, and the next one starts afresh after it.

    Parameters
    ----------
    path : pathlib.Path
        Made, with its folder, when the first cell is added.

    Raises
    ------
    FileError
        If there is a link or a pipe in the place of the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._found: dict[str, Rows] = {}
        self._torn = False  # the last line has no end
        check_replaceable(path)
        if path.exists():
            text = path.read_text(encoding="utf-8", errors="replace")
            self._torn = bool(text) and not text.endswith("\n")
            for line in text.splitlines():
                self._read(line)

    def _read(self, line: str) -> None:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            return
        rows = record.get("rows") if isinstance(record, dict) else None
        if isinstance(rows, list) and all(isinstance(row, dict) for row in rows):
            self._found[str(record.get("key"))] = rows

    def __contains__(self, key: str) -> bool:
        return key in self._found

    def __getitem__(self, key: str) -> Rows:
        return self._found[key]

    def add(self, key: str, rows: Rows) -> None:
        """Keep what a cell found."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps({"key": key, "rows": rows}, ensure_ascii=False) + "\n"
        with self.path.open("a", encoding="utf-8") as file:
            file.write("\n" + line if self._torn else line)
        self._torn = False
        self._found[key] = rows
