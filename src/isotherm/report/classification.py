"""A classification → one page: what was found, who, how sure it is, how to repeat it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from isotherm.classifier.estimator import UNSURE
from isotherm.report import charts, drawing
from isotherm.report.findings import Findings, status_table
from isotherm.report.node_lists import class_lists
from isotherm.report.overview import overview_section
from isotherm.report.palette import colour
from isotherm.report.parts import Figure, Group, Part, Section
from isotherm.report.ranking import ranking_sections, ranking_summary
from isotherm.report.record import Record, reading_section, record_section
from isotherm.report.tables import Table
from isotherm.report.template import page
from isotherm.report.trust import trust_sections
from isotherm.report.words import counted

if TYPE_CHECKING:
    from isotherm.classifier.algorithm import HeatClassifier
    from isotherm.job import Run

LOG = " Counts are on a logarithmic scale."
MOST_HISTOGRAMS = 12
MOST_DRAWINGS = 6


def classification_page(run: Run) -> str:
    """One HTML document that needs nothing but itself."""
    return labels_page(run.classifier, Record.of_run(run), run.min_probability)


def labels_page(model: HeatClassifier, record: Record, min_probability: float = 0.0) -> str:
    """The same for a fitted model, wherever it comes from.

    Parameters
    ----------
    model : HeatClassifier
        Fitted.
    record : Record
    min_probability : float
        Of a label; nodes whose label is less probable have none.
    """
    origin = [reading_section(model, record), record_section(model, record)]
    if len(model.classes_) == 1:
        sections = [*ranking_sections(model), *origin]
        return page(record.titled("Ranking"), ranking_summary(model), sections)
    found = Findings(model, model.problem_.graph, min_probability)
    sections = [overview_section(found), class_lists(found), _drawing(found)]
    sections += [*trust_sections(found), *(make(found) for make in (_doubts, _margins))]
    sections += [_temperatures(found), *origin]
    return page(record.titled("Labels"), record.asked("Labels", "the labels"), sections)


def _margins(found: Findings) -> Section:
    margins = found.model.margins_[found.masks["predicted"]]
    finite = margins[np.isfinite(margins)]
    words = (
        "The margin of a node is the score of its class minus that of the runner-up. Every "
        f"temperature is within {found.model.solution_.certificate.bound:.1e} of the exact "
        "equilibrium, rounding included. A label is numerically exact if no error of that size "
        "could change it. That says nothing about whether it is correct. "
    )
    parts: list[Part] = []
    if len(finite):
        high = charts.round_up(float(finite.max()))
        counts = charts.bin_counts(finite, high)
        chart = charts.Histogram(high, int(counts.max()), charts.is_uneven(counts))
        caption = f"Margins of {counted(len(finite), 'predicted node')}"
        parts.append(Figure(caption, chart.draw(counts, caption)))
        words += f"Half of the margins are at most {np.median(finite):.3g}."
        words += LOG if chart.log else ""
    else:
        words += "There is no margin to draw."
    return Section("Margins and certificate", words, [Group("pair", [*parts, _statuses(found)])])


def _statuses(found: Findings) -> Table:
    notes = ["Seeds keep their labels."]
    masks = dict(found.masks)
    if found.min_probability:
        notes.append(
            f"Unsure nodes have no label with a probability of at least {found.min_probability:g}."
        )
    else:
        del masks[UNSURE]
    return status_table(masks, found.model.certified_, notes)


def _temperatures(found: Findings) -> Section:
    T = found.model.temperatures_
    free = ~found.masks["seed"] & ~np.isnan(T[:, 0])
    words = (
        "The temperatures of the free nodes for each class. The dashed line is the mean "
        "over all nodes, seeds included: this is what the decision “centered” subtracts."
    )
    if not free.any():
        return Section("Temperatures", "Heat reached no free node.")
    shown = found.order[:MOST_HISTOGRAMS].tolist()
    high = charts.round_up(max(float(T[free, k].max()) for k in shown))
    counts = np.array([charts.bin_counts(T[free, k], high) for k in shown])
    chart = charts.Histogram(high, int(counts.max()), charts.is_uneven(counts), width=260)
    figures = []
    for k, count in zip(shown, counts, strict=True):
        mean = float(found.model.mean_temperatures_[k])
        caption = f"{found.names[k]}, mean {mean:.3g}"
        told, shade = f"Temperatures of the class {caption}", colour(int(found.colour_of[k]))
        figures.append(Figure(caption, chart.draw(count, told, shade, mean)))
    if len(shown) < len(found.names):
        words += f" The {len(shown)} largest of {len(found.names):,} classes are shown."
    return Section("Temperatures", words + (LOG if chart.log else ""), [Group("many", figures)])


def _doubts(found: Findings) -> Section:
    title, nodes = "The most doubtful nodes", found.doubtful
    if not len(nodes):
        return Section(title, "There is no node that another class comes close to.")
    rows = [
        (
            found.name(node),
            found.class_cell(found.codes[node]),
            found.class_cell(runner_up),
            f"{found.model.margins_[node]:.3g}",
            "yes" if found.model.certified_[node] else "no",
            f"{found.graph.degrees[node]:g}",
            found.labels_around(node),
        )
        for node, runner_up in zip(nodes.tolist(), found.runners_up(nodes), strict=True)
    ]
    columns = ("node", "label", "runner-up", "margin", "exact", "degree", "labels around it")
    words = "The nodes with the smallest margins. “Exact” means numerically exact."
    return Section(title, words, [Table("Smallest margins", columns, rows, kind="words3 doubts")])


def _drawing(found: Findings) -> Section:
    graph, n = found.graph, found.graph.n_nodes
    title, legend = "The picture", drawing.legend(found)
    shades = "Edges within a class have its colour."
    if n <= drawing.MOST_NODES:
        words = f"The whole graph. {shades}"
        if graph.n_edges > drawing.MOST_EDGES:
            words += f" About {drawing.MOST_EDGES:,} of the {graph.n_edges:,} edges are drawn."
        picture = drawing.draw(found, np.arange(n), width=640, named=True)
        return Section(title, words, [Figure("", picture), legend])
    nodes = found.doubtful[:MOST_DRAWINGS]
    if not len(nodes):
        return Section(title, "The graph is too large to draw, and no node is doubtful.")
    figures = []
    for node, runner_up in zip(nodes.tolist(), found.runners_up(nodes), strict=True):
        near = drawing.neighbourhood(graph, node)
        picture = drawing.draw(found, near, width=300, named=False)
        caption = f"{found.name(node)}: {found.label(node)}, or {found.names[runner_up]}"
        figures.append(Figure(caption, picture))
    words = (
        "The most doubtful nodes and their neighbours; only some neighbours of hubs are shown. "
        f"{shades}"
    )
    return Section(title, words, [Group("many", figures), legend])
