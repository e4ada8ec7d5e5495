"""A list of nodes to act on, as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isotherm.report.parts import Section
from isotherm.report.tables import Table
from isotherm.report.template import page
from isotherm.report.words import counted, short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isotherm.job import Run
    from isotherm.listing import Listed

LONGEST = 60
LONGEST_REASON = 400


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
    title = f"The {len(listed):,} nodes most likely of class {name}"
    ranked = len(run.classifier.classes_) == 1
    how = (
        "Ranked by how near they are to the seeds. No probability is given: nothing is known of "
        "other classes."
        if ranked
        else "Ranked by the probability of the class, which was learnt from seeds left out."
    )
    words = f"{counted(len(listed), 'node')} of {run.graph.n_nodes:,}; seeds are not listed. {how}"
    number = "score" if ranked else "probability"
    columns = ("rank", "node", "label", number, "runner-up", "neighbours", "why")
    rows = [
        (
            f"{one.rank:,}",
            short(one.node, LONGEST),
            short(one.label, LONGEST),
            f"{one.score if ranked else one.probability:.3f}",
            "–"
            if one.runner_up is None
            else f"{short(one.runner_up, LONGEST)} ({one.its_probability:.2f})",
            f"{one.neighbours:,}",
            short(one.why, LONGEST_REASON),
        )
        for one in listed
    ]
    table = Table("", columns, rows, kind="words3 doubts")
    return page(title, words, [Section("The list", "", [table])])
