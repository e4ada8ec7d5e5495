"""Probabilities by seeds left out: whether they are what they say, and what a least one leaves."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from isotherm.report import charts
from isotherm.report.page import Figure, Group, Section, Table
from isotherm.report.words import counted, percent
from isotherm.trust.abstain import LEAST
from isotherm.trust.calibrate import calibration_error, reliability
from isotherm.trust.drawn import FEWEST

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.report.findings import Findings
    from isotherm.trust.abstain import Coverage
    from isotherm.trust.interval import Interval

FEWEST_DRAWN = 20  # seeds of a reliability diagram
BINS, FEWEST_BINS = 10, 4
SEEDS_PER_BIN = 10  # from which on there are as many bins as that

CALIBRATION = (
    "This shows whether probabilities can be taken at face value. Seeds left out are grouped by "
    "the probability of the label they got. Each point is a group, larger if it has more seeds; "
    "its bar is the 95 % interval of the share that is right. On the dashed line, labels with a "
    "probability of 80 % are right four times in five. Points below the line promise too much, "
    "points above it too little. The expected calibration error is the mean distance from the "
    "line, over seeds. "
)
FROM_THESE = (
    "Our probabilities were fitted to these same seeds, with a few numbers for each class, and may "
    "be slightly worse on other nodes."
)
FROM_OTHERS = "Our probabilities come from models fitted to other seeds."
LEAST_PROBABILITY = (
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


def calibration(title: str, found: Findings) -> Section:
    """The section about what probabilities are worth."""
    probability, is_right = _judged(found)
    check, m = found.check, len(probability)
    how = "" if check.drawn is None else " drawn at random"
    if m < FEWEST_DRAWN:
        words = (
            f"{counted(m, 'seed') if m else 'No seed'}{how} could be checked: too few to say "
            "whether probabilities can be taken at face value. With "
            f"{FEWEST_DRAWN} or more there is a diagram here."
        )
        return Section(title, words)
    bins = max(FEWEST_BINS, min(BINS, m // SEEDS_PER_BIN))
    points = reliability(probability, is_right, bins)
    error = calibration_error(probability, is_right, bins)
    seeds = f"seeds{how and how + ','} left out"
    caption = f"{m:,} labels of {seeds}: expected calibration error {error:.3f}"
    rows = []
    for n, said, right in points:
        cells = (
            f"{said:.2f}",
            f"{n:,}",
            f"{right:.2f}",
            within(check.basis.share(round(right * n), n)),
        )
        rows.append(cells)
    columns = ("predicted", "seeds", "right", "95 % interval")
    picture = charts.reliability(points, caption, check.basis)
    pair = Group("pair", [Figure(caption, picture), Table("Predicted and observed", columns, rows)])
    learnt = FROM_OTHERS if found.model.views_ else FROM_THESE
    return Section(title, CALIBRATION + learnt, [pair])


def _judged(found: Findings) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Of the labels that seeds left out get: how probable they are, and whether they are right."""
    check, left = found.check, found.model.left_out_
    counts = left.reached if check.drawn is None else left.reached & check.drawn
    some = np.flatnonzero(counts)
    return check.certainty[some], check.labels[some] == check.truth[some]


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
    words = LEAST_PROBABILITY if n_drawn is None else f"{LEAST_PROBABILITY} {OF_DRAWN}"
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


def within(interval: Interval) -> str:
    """The ends of an interval."""
    return f"{interval.low:.2f} to {interval.high:.2f}"
