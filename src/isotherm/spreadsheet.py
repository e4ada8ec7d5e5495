"""Cells that a spreadsheet would run: a text that begins like a formula.

Opened in Excel or LibreOffice, a CSV file whose cell is ``=HYPERLINK(…)`` runs it. With an
apostrophe before it the cell is text.
"""

from __future__ import annotations

import re

# Both for Python and for Arrow's regular expressions.
FORMULA = r"^[=+\-@\t\r]"
NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"


def as_text_cell(cell: str) -> str:
    """The cell, with an apostrophe before it if it begins like a formula; numbers stay numbers.

    Examples
    --------
    >>> as_text_cell("=1+1"), as_text_cell("-5.2"), as_text_cell("@ann"), as_text_cell("bob")
    ("'=1+1", '-5.2', "'@ann", 'bob')
    """
    if not re.match(FORMULA, cell) or (re.match(NUMBER, cell) and not cell.endswith("\n")):
        return cell
    return f"'{cell}"
