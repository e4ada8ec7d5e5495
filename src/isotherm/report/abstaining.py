"""How sure a label must be: what a least probability leaves, and how often that is right."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from isotherm.report import charts
from isotherm.report.parts import Figure, Group, Section
from isotherm.report.probabilities import within
from isotherm.report.tables import Table
from isotherm.report.words import counted, percent
from isotherm.trust.abstain import LEAST
from isotherm.trust.drawn import FEWEST

if TYPE_CHECKING:
    from isotherm.report.findings import Findings
    from isotherm.trust.abstain import Coverage

WORDS = (
    "A node can be left without a label where none is probable enough (--min-probability, or "
    "labels_at in Python): then fewer nodes get a label, and more of the labels are right. "
    "“Labelled” is the share of all free nodes, unreached ones included. “Right” is the share of "
    "seeds left out that get their own label, among those whose label is at least that probable."
)
OF_DRAWN = (
    "Only seeds drawn at random are checked, and nothing is said where fewer than "
    f"{FEWEST} of them have such a label."
)
CAPTION = "Share labelled and share right, by least probability"


def abstaining(title: str, found: Findings) -> Section:
    """The section about labels that are not probable enough."""
    used = found.min_probability
    rows = found.model.coverage(sorted({*LEAST, used}))
    table = Table(
        "Least probability of a label",
        ("at least", "nodes labelled", "share", "seeds checked", "right", "95 % interval"),
        [_row(one, used=one.min_probability == used) for one in rows],
        ["Each seed was checked with probabilities fitted to other seeds."],
    )
    known = [one for one in rows if not isnan(one.right.value)]
    n_drawn = found.n_drawn
    words = WORDS if n_drawn is None else f"{WORDS} {OF_DRAWN}"
    if not known:
        why = "No seed could be checked."
        if n_drawn:
            seeds = f"{counted(n_drawn, 'seed')} drawn at random could be checked"
            why = f"How many are right is not known: {seeds}, {FEWEST} are needed."
        return Section(title, f"{words} {why}", [table])
    chart = Figure(CAPTION, charts.trade(known, CAPTION))
    return Section(title, words, [Group("pair", [chart, table])])


def _row(one: Coverage, *, used: bool) -> tuple[str, ...]:
    name = f"{one.min_probability:g}{' (in use)' if used else ''}"
    right = f"{one.right.value:.2f}", within(one.right)
    return (
        name,
        f"{one.n_labelled:,}",
        percent(one.labelled),
        f"{one.n_judged:,}",
        *(("–", "–") if isnan(one.right.value) else right),
    )
