"""A classification → one page: what was found, who, how sure it is, how to repeat it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from isotherm.classifier.estimator import UNSURE
from isotherm.report.pages import charts, drawing
from isotherm.report.pages.findings import Findings
from isotherm.report.pages.overview import overview_sections
from isotherm.report.pages.ranking import ranking_section, ranking_summary
from isotherm.report.pages.trust import trust_sections
from isotherm.report.palette import colour
from isotherm.report.parts import Command, Figure, Group, Part, Section
from isotherm.report.tables import Table
from isotherm.report.template import page
from isotherm.report.words import counted, percent, short

if TYPE_CHECKING:
    from isotherm.job import Run

LOG = " Counts are on a logarithmic scale."
MOST_HISTOGRAMS = 12
MOST_DRAWINGS = 6


def classification_page(run: Run) -> str:
    """One HTML document that needs nothing but itself."""
    if len(run.classifier.classes_) == 1:
        sections = [_reading(run), ranking_section(run), _record(run)]
        return page(f"Ranking of {short(run.edges.name)}", ranking_summary(run), sections)
    found = Findings(run.classifier, run.graph, run.min_probability)
    sections = [*overview_sections(found), _drawing(found), *trust_sections(found)]
    sections += [make(found) for make in (_doubts, _margins, _temperatures)]
    sections += [_reading(run), _record(run)]
    asked = (
        f"Labels for the nodes of {short(run.edges.name)}, from those in {short(run.labels.name)}."
    )
    return page(f"Labels of {short(run.edges.name)}", asked, sections)


def _reading(run: Run) -> Section:
    rows, notes = [], []
    for what, file in (("edges", run.edges), ("labels", run.labels)):
        name, used = short(file.name), short(", ".join(file.columns) or "–", 120)
        numbers = f"{file.n_rows:,}", f"{file.n_skipped:,}"
        rows.append((name, what, short(file.format), used, *numbers))
        faults = [f"skipped: {fault}" for fault in file.faults]
        if faults and file.n_skipped > len(faults):
            faults.append(f"{counted(file.n_skipped - len(faults), 'more row')} skipped")
        notes += [short(f"{name}: {note}", 300) for note in (*faults, *file.notes)]
    graph = run.graph
    n_components = int(graph.components.max()) + 1
    seeded = len(np.unique(graph.components[run.classifier.seeds_.nodes]))
    facts = [
        ("nodes", f"{graph.n_nodes:,}"),
        ("edges", f"{graph.n_edges:,}"),
        ("duplicates merged", f"{max(run.edges.n_rows - run.edges.n_empty - graph.n_edges, 0):,}"),
        ("self loops", f"{graph.rows.n_loops():,}"),
        ("components", f"{n_components:,}"),
        ("components without seeds", f"{n_components - seeded:,}"),
        ("nodes unreached", f"{np.count_nonzero(run.classifier.solution_.unreached):,}"),
    ]
    columns = ("file", "holds", "format", "columns", "rows", "skipped")
    words = "Each file with the columns that were used, and the graph that its edges make."
    files = Table("Files", columns, rows, notes, kind="words4")
    return Section("What was read", words, [files, Table("The graph", ("what", "how many"), facts)])


def _margins(found: Findings) -> Section:
    margins = found.model.margins_[found.masks["predicted"]]
    finite = margins[np.isfinite(margins)]
    words = (
        "The margin of a node is the score of its class minus that of the runner-up. Every "
        f"temperature is proven to be within {found.model.solution_.certificate.bound:.1e} of the "
        "exact equilibrium; a label is certified where no error of that size could change it. "
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
    rows = []
    for status, mask in found.masks.items():
        if status == UNSURE and not found.min_probability:
            continue
        n, proven = np.count_nonzero(mask), np.count_nonzero(mask & found.model.certified_)
        rows.append((status, f"{n:,}", percent(n / len(mask)), f"{proven:,}", f"{n - proven:,}"))
    columns = ("status", "nodes", "share", "certified", "not certified")
    notes = ["Seeds keep their labels, and no solving brings heat to the unreached."]
    if found.min_probability:
        notes.append(f"The unsure have a label less probable than {found.min_probability:g}.")
    return Table("What became of the nodes", columns, rows, notes)


def _temperatures(found: Findings) -> Section:
    T = found.model.temperatures_
    free = ~found.masks["seed"] & ~np.isnan(T[:, 0])
    words = (
        "How warm the free nodes are in the problem of each class. The dashed line is the mean "
        "over all nodes, seeds among them: what the decision “centered” takes away."
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
        return Section(title, "No node has a label that another class comes close to.")
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
    columns = ("node", "label", "runner-up", "margin", "certified", "degree", "labels around it")
    words = "The nodes whose labels hang by the least margins."
    return Section(title, words, [Table("Least margins", columns, rows, kind="words3 doubts")])


def _drawing(found: Findings) -> Section:
    graph, n = found.graph, found.graph.n_nodes
    title, legend = "The drawing", drawing.legend(found)
    shades = "Edges within a class have its colour."
    if n <= drawing.MOST_NODES:
        words = f"The whole graph. {shades}"
        if graph.n_edges > drawing.MOST_EDGES:
            words += f" About {drawing.MOST_EDGES:,} of the {graph.n_edges:,} edges are drawn."
        picture = drawing.draw(found, np.arange(n), width=640, named=True)
        return Section(title, words, [Figure("", picture), legend])
    nodes = found.doubtful[:MOST_DRAWINGS]
    if not len(nodes):
        return Section(title, "The graph is too large to draw, and no node of it is in doubt.")
    figures = []
    for node, runner_up in zip(nodes.tolist(), found.runners_up(nodes), strict=True):
        near = drawing.neighbourhood(graph, node)
        picture = drawing.draw(found, near, width=300, named=False)
        caption = f"{found.name(node)}: {found.label(node)}, or {found.names[runner_up]}"
        figures.append(Figure(caption, picture))
    words = f"The most doubtful nodes and their neighbours, of hubs some of these. {shades}"
    return Section(title, words, [Group("many", figures), legend])


def _record(run: Run) -> Section:
    solution = run.classifier.solution_
    solved = [
        ("solver", solution.solver),
        ("engine", "; ".join(filter(None, (solution.engine, run.fallback)))),
        ("steps", f"{solution.n_iter:,}"),
        ("residual, relative to degrees", f"{solution.residual:.1e}"),
        ("proven error bound", f"{solution.certificate.bound:.1e}"),
        *((f"seconds, {stage}", f"{seconds:.3f}") for stage, seconds in run.seconds.items()),
        ("most memory", f"{run.memory / 1e6:,.0f} MB" if run.memory else "not known"),
    ]
    tables = [
        ("Options", ("option", "value"), run.options.items()),
        ("Solver", ("what", "value"), solved),
        ("Versions", ("program", "version"), run.versions.items()),
        ("Input files", ("file", "SHA-256"), run.inputs.items()),
    ]
    *small, inputs = (
        Table(title, columns, [(short(a), short(b, 200)) for a, b in rows], kind="facts")
        for title, columns, rows in tables
    )
    words = "With the same files and versions this line makes the same again:"
    command = Command(short(run.command, 2000))
    return Section("The record of the run", words, [command, Group("many", small), inputs])
