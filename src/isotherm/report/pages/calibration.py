"""Whether probabilities are what they say, by seeds left out, on the page of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import softmax

from isotherm.report.pages import charts
from isotherm.report.parts import Figure, Group, Section
from isotherm.report.tables import Table
from isotherm.report.words import counted
from isotherm.trust.calibrate import calibration_error, reliability

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.report.pages.findings import Findings
    from isotherm.trust.interval import Interval

    Said = tuple[NDArray[np.float64], NDArray[np.bool_]]  # of labels: probability, is it right

FEWEST_DRAWN = 20  # seeds of a reliability diagram
BINS, FEWEST_BINS = 10, 4
SEEDS_PER_BIN = 10  # from which on there are as many bins as that
SHARPNESS = 5.0  # of the softmax of scikit-network
RIVAL = "softmax of 5 × centred temperature"

CALIBRATION = (
    "This shows whether probabilities can be taken at face value. Seeds left out are grouped by "
    "the probability of the label they got. Each point is a group, larger if it has more seeds; "
    "its bar is the 95 % interval of the share that is right. On the dashed line, labels with a "
    "probability of 80 % are right four times in five. Points below the line promise too much, "
    "points above it too little. The expected calibration error is the mean distance from the "
    "line, over seeds. The thin grey line shows what scikit-network's rule gives for the same "
    "seeds. "
)
FROM_THESE = (
    "Our probabilities were fitted to these same seeds, with a few numbers for each class, and may "
    "be slightly worse on other nodes."
)
FROM_OTHERS = "Our probabilities come from models fitted to other seeds."


def calibration(title: str, found: Findings) -> Section:
    """The section about what probabilities are worth."""
    check, (ours, rival) = found.check, _said(found)
    m, how = len(ours[0]), "" if check.drawn is None else " drawn at random"
    if m < FEWEST_DRAWN:
        words = (
            f"{counted(m, 'seed') if m else 'No seed'}{how} could be checked: too few to say "
            "whether probabilities can be taken at face value. With "
            f"{FEWEST_DRAWN} or more there is a diagram here."
        )
        return Section(title, words)
    bins = max(FEWEST_BINS, min(BINS, m // SEEDS_PER_BIN))
    points, others = reliability(*ours, bins), reliability(*rival, bins)
    errors = [calibration_error(*said, bins) for said in (ours, rival)]
    caption = (
        f"{m:,} labels of seeds{how and how + ','} left out: expected calibration error "
        f"{errors[0]:.3f}; {RIVAL}: {errors[1]:.3f}"
    )
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
    picture = charts.reliability(
        points, others, caption, ("calibrated, in use", RIVAL), check.basis
    )
    pair = Group("pair", [Figure(caption, picture), Table("Predicted and observed", columns, rows)])
    learnt = FROM_OTHERS if found.model.views_ else FROM_THESE
    return Section(title, CALIBRATION + learnt, [pair])


def _said(found: Findings) -> tuple[Said, Said]:
    """Of the labels that seeds left out get: ours, and those of the softmax by its own labels."""
    check, left = found.check, found.model.left_out_
    counts = left.reached if check.drawn is None else left.reached & check.drawn
    some = np.flatnonzero(counts)
    truth, right = check.codes[some], check.labels[some] == check.truth[some]
    Q = softmax(SHARPNESS * left.scores("centered")[some], axis=1)
    return (check.certainty[some], right), (Q.max(axis=1), Q.argmax(1) == truth)


def within(interval: Interval) -> str:
    """The ends of an interval."""
    return f"{interval.low:.2f} to {interval.high:.2f}"
