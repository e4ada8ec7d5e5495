"""Which columns of a table hold the edges or the labels: those that names or contents tell.

Nothing is guessed: where several columns could be meant they are listed, with some of their cells,
for the user to name one.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from isotherm.errors import GraphError, LabelError, ParameterError
from isotherm.read.column_kinds import (
    NEVER_IDS,
    find_pair,
    is_named_like_ids,
    share_of_common,
    stands_beside,
    why_no_ids,
)
from isotherm.read.label_columns import find_drawn
from isotherm.read.report import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from isotherm.read.layout import Layout
    from isotherm.read.table import Columns, Table

    Known = Callable[[Sequence[str]], float]  # the share of some ids that a graph has

SHARED = 0.1  # of the values of two columns, if both are to hold ids of the same nodes
SHOWN = 3  # cells of a column in a message
MOST_LISTED = 20  # columns in a message


class Choice(NamedTuple):
    """The columns of a table that are read."""

    columns: list[int]  # the two ends, or the node and its label; and the weight, if there is one
    why: str = ""  # what tells it, for the user to see; empty where there was nothing to choose
    guessed: bool = False  # by what the columns hold, not by the user or a name


def choose_edge_columns(table: Table, columns: Columns, name: str) -> Choice:
    """Positions of the source, the target and, if there is one, the weight."""
    layout = table.layout
    weight = layout.find(columns.get("weight"), "weight", name)
    ends = [layout.find(columns.get(role), role, name) for role in ("source", "target")]
    _check_different(ends, weight, layout, name)
    left = _left(ends, weight, layout, name, GraphError)
    guessed = False
    cells = _Cells(table)
    if ends.count(None) == len(left) and not any(map(cells.holds_no_ids, left)):
        chosen = _filled(ends, left)
    elif _is_plain_list(layout) and ends == [None, None] and weight in (None, 2):
        if cells.may_begin_with_row_numbers():
            raise _not_clear(cells, name)
        chosen = [0, 1]
    else:
        ends = [
            None if end is not None and not columns.get(role) and cells.holds_no_ids(end) else end
            for role, end in zip(("source", "target"), ends, strict=True)
        ]
        found = _ends_by_name(ends, weight, cells, name)
        guessed = found is None
        chosen = found or _ends_by_contents(ends, weight, cells, name)
    if weight is None and chosen == [0, 1] and _is_plain_list(layout):
        weight = 2
    why = (
        ""
        if columns.get("source") and columns.get("target")
        else _edge_words(layout, chosen, weight)
    )
    return Choice(chosen if weight is None else [*chosen, weight], why, guessed)


def choose_label_columns(
    table: Table, columns: Columns, name: str, known: Known | None = None
) -> Choice:
    """Positions of the node, its label and, if asked for, its confidence.

    A column of weights is taken for neither. The column of nodes is the one of whose ids the graph
    has the most, where that is `known`.
    """
    layout = table.layout
    weight = layout.find(columns.get("confidence"), "weight", name)
    found = [layout.find(columns.get(role), role, name) for role in ("node", "label")]
    _check_different(found, weight, layout, name)
    drawn = find_drawn(layout.columns) if layout.header else None
    drawn = None if drawn is None or layout.columns.index(drawn) in found else drawn
    left = _left(found, weight, layout, name, LabelError)
    many = len(layout.columns) > 2 + (weight is not None) + (drawn is not None)
    guessed = False
    if many and known is not None and columns.get("node") is None:
        best = _node_by_contents(table, [k for k in (found[0], *left) if k is not None], known)
        if best is not None:
            guessed = best != found[0]
            found[0] = best
            left = [k for k in range(len(layout.columns)) if k not in (*found, weight)]
    if found[1] is None and many and (layout.header or len(layout.columns) > 3):
        raise LabelError(
            f"{name} has {len(layout.columns)} columns, and it is not clear which one holds the "
            f"labels; name it with --label (label=):\n{_listed(_Cells(table))}"
        )
    chosen = _filled(found, [k for k in left if layout.columns[k] != drawn])
    why = ""
    if many and not (columns.get("node") and columns.get("label")):
        node, label = (layout.columns[k] for k in chosen)
        why = (
            f"labels are read from {label!r}, nodes from {node!r} "
            "(--node and --label choose others)"
        )
    if weight is not None and columns.get("confidence") is not None:
        chosen.append(weight)
    return Choice(chosen, why, guessed)


class _Cells:
    """The first cells of the columns of a table, and what they tell."""

    def __init__(self, table: Table) -> None:
        self.names = table.layout.columns if table.layout.header else ()
        self.count = len(table.layout.columns)
        rows = table.first_rows()
        self.columns = [[row[k] for row in rows if k < len(row)] for k in range(self.count)]

    def why_no_ids(self, column: int) -> str:
        name = self.names[column] if self.names else ""
        return why_no_ids(name, self.columns[column])

    def holds_no_ids(self, column: int) -> bool:
        return self.why_no_ids(column) in NEVER_IDS

    def may_begin_with_row_numbers(self) -> bool:
        """Whether three columns of numbers may be a row number and two ends, with no weight."""
        counting = [self.why_no_ids(k) == "row numbers" for k in (0, 1)]
        return counting == [True, False] and self.share(1, 2) >= SHARED

    def share(self, one: int, other: int) -> float:
        return share_of_common(self.columns[one], self.columns[other])


def _is_plain_list(layout: Layout) -> bool:
    """Whether this is a list of ``node node weight`` without a header, as programs write it."""
    if layout.header or len(layout.columns) != 3 or not layout.numbers(2):
        return False
    return why_no_ids("", [row[2] for row in layout.sample]) != "dates"


def _ends_by_name(
    ends: Sequence[int | None], weight: int | None, cells: _Cells, name: str
) -> list[int] | None:
    """The two ends, by the names of the columns alone, if no others could be meant as well."""
    if None not in ends:
        return [end for end in ends if end is not None]
    able = [k for k in range(len(cells.names)) if k != weight and not cells.holds_no_ids(k)]
    pair = find_pair([cells.names[k] for k in able])
    if pair is None:
        return None
    chosen = [able[k] for k in pair]
    given = [end for end in ends if end is not None]
    if not set(given) <= set(chosen):
        return None
    if not given and _has_rivals(chosen, weight, cells):
        raise _not_clear(cells, name)
    return chosen


def _has_rivals(chosen: list[int], weight: int | None, cells: _Cells) -> bool:
    """Whether other columns share ids, too, and the names of those chosen leave room for doubt."""
    one, other = (cells.names[k] for k in chosen)
    if is_named_like_ids(one, other):
        return False
    able = [
        k
        for k in range(cells.count)
        if k not in (*chosen, weight)
        and not cells.why_no_ids(k)
        and not stands_beside(cells.names[k])
    ]
    return any(cells.share(*pair) >= SHARED for pair in combinations(able, 2))


def _ends_by_contents(
    ends: Sequence[int | None], weight: int | None, cells: _Cells, name: str
) -> list[int]:
    """The two ends, by the ids that columns share, or since the others hold no ids."""
    given = [end for end in ends if end is not None]
    able = [
        k for k in range(cells.count) if k in given or (k != weight and not cells.why_no_ids(k))
    ]
    if len(able) < 2:  # nodes may be numbered like rows
        able = [k for k in range(cells.count) if k != weight and not cells.holds_no_ids(k)]
    pairs = [pair for pair in combinations(able, 2) if set(given) <= set(pair)]
    alike = [pair for pair in pairs if cells.share(*pair) >= SHARED]
    found = alike if len(alike) == 1 else pairs if len(pairs) == 1 else []
    if not found:
        raise _not_clear(cells, name)
    one, other = found[0]
    return [other, one] if ends[0] == other or ends[1] == one else [one, other]


def _node_by_contents(table: Table, able: Sequence[int], known: Known) -> int | None:
    """The one column whose cells are nodes of the graph; None where there is none, or several."""
    cells = _Cells(table)
    shares = {k: known([cell for cell in cells.columns[k] if cell]) for k in able}
    best = [k for k, share in shares.items() if share > 0 and share == max(shares.values())]
    return best[0] if len(best) == 1 else None


def _check_different(
    found: Sequence[int | None], weight: int | None, layout: Layout, name: str
) -> None:
    taken = [k for k in (*found, weight) if k is not None]
    twice = next((k for k in taken if taken.count(k) > 1), None)
    if twice is not None:
        raise ParameterError(
            f"{name}: column {layout.columns[twice]!r} was chosen twice: choose another for one of "
            "them"
        )


def _left(
    found: Sequence[int | None],
    weight: int | None,
    layout: Layout,
    name: str,
    error: type[GraphError | LabelError],
) -> list[int]:
    """Columns of which nothing is known; enough of them for what was not found."""
    left = [k for k in range(len(layout.columns)) if k not in (*found, weight)]
    if list(found).count(None) > len(left):
        raise error(
            f"{name} has {len(layout.columns)} column(s), but two are needed; if the columns were "
            "not split as they should be, name the delimiter"
        )
    return left


def _filled(found: Sequence[int | None], left: Sequence[int]) -> list[int]:
    """Columns found, and for those that were not the first ones left."""
    others = iter(left)
    return [next(others) if k is None else k for k in found]


def _edge_words(layout: Layout, chosen: Sequence[int], weight: int | None) -> str:
    """What was chosen, where there was a choice."""
    unused = [k for k in range(len(layout.columns)) if k not in (*chosen, weight)]
    if not unused:
        return ""
    one, other = (layout.columns[k] for k in chosen)
    weights = (
        "without weights" if weight is None else f"with weights from {layout.columns[weight]!r}"
    )
    names = ", ".join(repr(layout.columns[k]) for k in unused[:MOST_LISTED])
    more = ", …" if len(unused) > MOST_LISTED else ""
    return (
        f"edges run from {one!r} to {other!r}, {weights}; not used: {names}{more} "
        "(--source, --target and --weight choose others)"
    )


def _not_clear(cells: _Cells, name: str) -> GraphError:
    return GraphError(
        f"{name} has {cells.count} columns, and it is not clear which two hold the ends of the "
        f"edges; name them with --source and --target (source=, target=):\n{_listed(cells)}"
    )


def _listed(cells: _Cells) -> str:
    """Each column with some of its cells, and what it cannot be; a line each."""
    lines = []
    for k in range(min(cells.count, MOST_LISTED)):
        name = repr(cells.names[k]) if cells.names else f"column {k + 1}"
        why = cells.why_no_ids(k)
        some = ", ".join(shown(cell) for cell in cells.columns[k][:SHOWN])
        lines.append(f"  {name}{f' ({why})' if why else ''}: {some}")
    if cells.count > MOST_LISTED:
        lines.append(f"  and {cells.count - MOST_LISTED} more")
    return "\n".join(lines)
