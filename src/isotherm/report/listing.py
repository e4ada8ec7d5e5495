"""A list of nodes to act on, as a page."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from isotherm.report.node_lists import COLUMNS, RANKED_COLUMNS, cut, finder, rows_of, shown_of
from isotherm.report.parts import Column, NodeList, NodeRow, Part, Section
from isotherm.report.template import page
from isotherm.report.words import short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isotherm.job import Run
    from isotherm.listing import Listed

LONGEST = 60
AFTER = 3  # columns that the label comes after


def list_page(listed: Sequence[Listed], label: str, run: Run) -> str:
    """One HTML document that needs nothing but itself.

    Parameters
    ----------
    listed : sequence of Listed
    label : str
        The class asked for.
    run : Run
        That found them.
    """
    name = short(label, LONGEST)
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
