"""Values of all nodes → one page: what was found, the highest and the lowest, how exact it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from isotherm.classifier.estimator import NO_HEAT, PREDICTED, SEED
from isotherm.report import charts
from isotherm.report.findings import status_table
from isotherm.report.node_lists import MOST_OF_A_CLASS, cut, finder, neighbours, shown_of
from isotherm.report.page import (
    Column,
    Figure,
    Group,
    KeyNumbers,
    NodeList,
    NodeRow,
    Notice,
    Paragraph,
    Part,
    Section,
    Table,
    page,
)
from isotherm.report.record import Record, reading_section, record_section
from isotherm.report.words import counted, short

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.classifier.regress import DirichletRegressor
    from isotherm.trust.values import ValuesLeftOut

LONGEST_NODE = 60
NAMED = 3  # neighbours of a node
MOST_SEEDS = 20
FEWEST_JUDGED = 4  # seeds left out, to say anything by

COLUMNS = (
    Column("#", is_number=True),
    Column("node"),
    Column("value", is_number=True),
    Column("error at most", is_number=True, is_extra=True),
    Column("neighbours", is_number=True, is_extra=True),
)


def values_page(model: DirichletRegressor, record: Record) -> str:
    """One HTML document that needs nothing but itself."""
    check = model.spot_check()
    sections = [
        _found(model, check),
        _lists(model),
        _picture(model),
        _exactness(model, check),
        _seeds(check),
        reading_section(model, record),
        record_section(model, record),
    ]
    return page(record.titled("Values"), record.asked("Values", "the values"), sections)


def _found(model: DirichletRegressor, check: ValuesLeftOut) -> Section:
    status = model.status_
    found = model.temperatures_[status == PREDICTED]
    numbers = [(f"{len(found):,}", "values found"), (f"{(status == SEED).sum():,}", "seeds")]
    if len(found):
        numbers.append((f"{found.min():.4g} to {found.max():.4g}", "lowest and highest found"))
        numbers.append((f"{found.mean(dtype=np.float64):.4g}", "mean of the values found"))
    parts: list[Part] = [KeyNumbers(numbers)]
    if n := int((status == NO_HEAT).sum()):
        what = "its value counts as 0" if model.unreached == "zero" else "it has no value"
        if n > 1:
            what = "their values count as 0" if model.unreached == "zero" else "they have no value"
        item = f"{counted(n, 'node')} cannot be reached from any seed: {what}."
        parts.append(Notice("What to look at", [item]))
    return Section("What was found", _expected(check), parts)


def _expected(check: ValuesLeftOut) -> str:
    """How far off values may be, in a sentence or two."""
    m = len(check.values)
    if m < FEWEST_JUDGED:
        return "It is not known how far off the values are: too few seeds could be left out."
    half, most = np.quantile(check.errors, [0.5, 0.9])
    guess = np.median(np.abs(check.values - np.median(check.values)))
    return (
        f"{m:,} seeds were left out and given a value from the others. Half of these values are "
        f"within {half:.3g} of the true ones, and nine in ten within {most:.3g}. For comparison, "
        f"the median of all these seeds is within {guess:.3g} of half of them."
    )


def _lists(model: DirichletRegressor) -> Section:
    values = model.temperatures_.astype(np.float64)
    found = np.flatnonzero(model.status_ == PREDICTED)
    if not len(found):
        return Section("The lists", "Only the seeds have a value.")
    order = found[np.argsort(-values[found], kind="stable")]
    if len(order) <= MOST_OF_A_CLASS:
        groups = {"All values found, the highest first": order}
    else:
        groups = {"The highest values": order, "The lowest values": order[::-1]}
    lists = [
        NodeList(
            number,
            title,
            shown_of(min(len(nodes), MOST_OF_A_CLASS), len(nodes)),
            COLUMNS,
            [
                _row(model, values, node, rank)
                for rank, node in enumerate(nodes[:MOST_OF_A_CLASS].tolist(), start=1)
            ],
        )
        for number, (title, nodes) in enumerate(groups.items())
    ]
    words = "Seeds are not listed. Open a line to see the neighbours that a value comes from."
    return Section("The lists", words, [finder(lists, "value", "list"), *lists])


def _row(model: DirichletRegressor, values: NDArray[np.float64], node: int, rank: int) -> NodeRow:
    ends, weights = neighbours(model.problem_.graph, node)
    names = model.names_[ends[:NAMED]].tolist()
    told = ", ".join(
        f"{cut(name)} ({values[i]:.4g})" for name, i in zip(names, ends.tolist(), strict=False)
    )
    told += ", …" if len(ends) > NAMED else ""
    around = values[ends]
    gist = (
        f"Its {len(ends):,} neighbours have values from {around.min():.4g} to {around.max():.4g}: "
        f"{told}"
        if len(ends) > 1
        else f"Its only neighbour is {told}"
    )
    error = f"{model.solution_.error_bound[node]:.1e}"
    facts = [
        ("Neighbours", f"{len(ends):,}"),
        ("Their mean, by weight", f"{np.average(around, weights=weights):.6g}"),
        ("Error at most", error),
    ]
    name = short(model.names_[node], LONGEST_NODE)
    cells = (f"{rank:,}", name, f"{values[node]:.6g}", error, f"{len(ends):,}")
    return NodeRow(cells, gist, facts)


def _picture(model: DirichletRegressor) -> Section:
    known = np.isfinite(model.temperatures_)
    if not known.any():
        return Section("The picture", "There is no value to draw.")
    low, high = (float(end(model.temperatures_[known])) for end in (np.min, np.max))
    if not high > low:
        low, high = low - 0.5, high + 0.5
    counts = {}
    for status, caption in ((PREDICTED, "Values found"), (SEED, "Values of the seeds")):
        values = model.temperatures_[known & (model.status_ == status)].astype(np.float64)
        if len(values):
            bars = charts.bin_counts(values - low, high - low)
            counts[f"{caption}: {len(values):,}, mean {values.mean():.4g}"] = (bars, values.mean())
    figures = []
    for caption, (bars, mean) in counts.items():
        log = charts.is_uneven(bars)
        chart = charts.Histogram(high, int(bars.max()), log, low=low)
        picture = chart.draw(bars, caption, mean=float(mean))
        figures.append(Figure(caption + (" (logarithmic scale)" if log else ""), picture))
    words = "How many nodes have which value. The dashed line is the mean."
    return Section("The picture", words, [Group("two", figures)])


def _exactness(model: DirichletRegressor, check: ValuesLeftOut) -> Section:
    words = (
        "Every value is the mean of those of its neighbours, by weight. It is computed to within "
        f"{model.solution_.certificate.bound:.1e} of that, rounding included; a value is "
        f"numerically exact if it is within {model.tol:g}. That says nothing about how near it is "
        "to the true one: for this, seeds were left out."
    )
    masks = {status: model.status_ == status for status in (SEED, PREDICTED, NO_HEAT)}
    parts: list[Part] = [status_table(masks, model.certified_)]
    if len(check.values) >= FEWEST_JUDGED:
        rows = [
            (f"{share:.0%}".replace("%", "\u00a0%"), f"{np.quantile(check.errors, share):.4g}")
            for share in (0.5, 0.75, 0.9, 1.0)
        ]
        parts.append(Table("Errors of seeds left out", ("share of them", "error at most"), rows))
    return Section("How exact it is", words, [Group("two", parts)])


def _seeds(check: ValuesLeftOut) -> Section:
    """The seeds that differ most from what the others say."""
    if not len(check.values):
        words = "No seed could be left out: nothing can be said against any of them."
        return Section("The seeds", words)
    order = np.argsort(-check.errors, kind="stable")[:MOST_SEEDS]
    columns = (check.nodes, check.values, check.found, check.found - check.values)
    rows = [
        (short(node, LONGEST_NODE), f"{value:.6g}", f"{found:.6g}", f"{difference:+.4g}")
        for node, value, found, difference in zip(
            *(column[order].tolist() for column in columns), strict=True
        )
    ]
    names = ("node", "its value", "from the others", "difference")
    words = (
        "The seeds whose values differ most from what all others say. Often that is a mistake in "
        "the file; others are right and only unlike the nodes around them."
    )
    table = Table("Values to check", names, rows)
    note = f"{shown_of(len(rows), len(check.values))} left out are shown."
    return Section("The seeds", words, [table, Paragraph(note)])
