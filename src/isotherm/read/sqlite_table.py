"""SQLite databases → tables: one of theirs, a view, or what a query finds. Nothing is written."""

from __future__ import annotations

import re
import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING
from weakref import finalize

from isotherm.errors import FileError, ParameterError
from isotherm.read.row_table import table_of_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isotherm.read.arrow_table import ArrowTable
    from isotherm.read.options import TextOptions
    from isotherm.read.row_table import Rows
    from isotherm.read.source import Source

PATIENCE = 2.0  # seconds that a lock of another program is waited for
STEPS = 1_000_000  # of SQLite's machine, after which Python may see Ctrl-C
MOST_LISTED = 20
_QUERY = re.compile(r"\s*(select|with|values)\b", re.IGNORECASE)
# All that reading takes. Whatever else a query, a view or a trigger asks for is denied.
_ALLOWED = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
}
_REACH_OUT = {"load_extension", "readfile", "writefile", "edit", "fts3_tokenizer"}


def open_sqlite(source: Source, options: TextOptions, _: Sequence[str | None] = ()) -> ArrowTable:
    """A table, a view or a query of a database."""
    with _faults(source.name):
        database = _opened(source)
        query = _query(database, options.table, source.name)

    def rows() -> Rows:
        with _faults(source.name, options.table):
            cursor = database.execute(query)
            names = [column[0] for column in cursor.description]
        return names, _read(cursor, source.name, options.table)

    return table_of_rows(source, options, rows)


def _opened(source: Source) -> sqlite3.Connection:
    file = source.everything()
    if source.path is None:
        database = sqlite3.connect(":memory:")
    else:
        address = f"{source.path.absolute().as_uri()}?mode=ro"
        database = sqlite3.connect(address, uri=True, timeout=PATIENCE)
    finalize(source, database.close)  # as long as the file is read, and whatever goes wrong
    if source.path is None:
        database.deserialize(file.read())
    database.execute("PRAGMA query_only = ON")
    database.execute("PRAGMA trusted_schema = OFF")
    database.execute("PRAGMA cell_size_check = ON")
    database.text_factory = lambda data: data.decode(errors="replace")
    database.set_authorizer(_authorised)
    database.set_progress_handler(lambda: 0, STEPS)
    return database


def _authorised(action: int, _one: str | None, name: str | None, *_: str | None) -> int:
    if action == sqlite3.SQLITE_FUNCTION and (name or "").lower() in _REACH_OUT:
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY


def _query(database: sqlite3.Connection, wanted: str | None, name: str) -> str:
    """The query that gives the table that is wanted."""
    if wanted is not None and _QUERY.match(wanted):
        return wanted
    found = database.execute(
        "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') "
        "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
    )
    tables = [table for (table,) in found]
    if wanted is None:
        if len(tables) != 1:
            raise FileError(
                f"{name} has {len(tables)} tables; name one, or a query, with --table (for labels "
                f"--label-table; table=): {_listed(tables)}"
            )
        wanted = tables[0]
    if wanted not in tables:
        raise ParameterError(f"{name} has no table {wanted!r}; choose one of: {_listed(tables)}")
    quoted = wanted.replace('"', '""')
    return f'SELECT * FROM "{quoted}"'  # noqa: S608  # a name of the database's own, in quotes


def _read(cursor: sqlite3.Cursor, name: str, wanted: str | None) -> Iterator[Sequence[object]]:
    with _faults(name, wanted):
        yield from cursor


def _listed(tables: Sequence[str]) -> str:
    more = ", …" if len(tables) > MOST_LISTED else ""
    return (", ".join(map(repr, tables[:MOST_LISTED])) or "none") + more


def _is_of_the_file(error: Exception) -> bool:
    """Whether it is the file that is wrong, rather than the query."""
    of_query = sqlite3.OperationalError | sqlite3.ProgrammingError | sqlite3.Warning
    return not isinstance(error, of_query)


@contextmanager
def _faults(name: str, wanted: str | None = None) -> Iterator[None]:
    """What SQLite finds wrong becomes an error that says what to do."""
    try:
        yield
    except (sqlite3.Error, sqlite3.Warning) as error:
        text = str(error)
        if "locked" in text or "busy" in text:
            raise FileError(
                f"{name} is locked: another program is writing to it. Close that program, or copy "
                "the file"
            ) from None
        if "not authorized" in text or "prohibited" in text or "readonly" in text:
            raise ParameterError(
                f"{name}: {wanted or 'a view'!r} does more than read, which is not allowed: use a "
                "plain SELECT"
            ) from None
        if wanted is not None and not _is_of_the_file(error):
            raise ParameterError(f"{name}: {wanted!r} cannot be read: {text}") from None
        if "not a database" in text:
            raise FileError(f"{name} is damaged or encrypted: {text}") from None
        raise FileError(f"{name} cannot be read: {text}") from None
