"""A classification → one page: what was read, what was found, how sure it is, how to repeat it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from isotherm.report import charts, drawing
from isotherm.report.charts import percent
from isotherm.report.findings import Findings
from isotherm.report.page import code, counted, figure, page, section, short
from isotherm.report.tables import table_of_words
from isotherm.report.trust_sections import STYLE as TRUST_STYLE
from isotherm.report.trust_sections import trust_sections

if TYPE_CHECKING:
    from isotherm.job import Run

LOG = " Counts are on a logarithmic scale."
MOST_CLASSES = 30  # in the table of classes
MOST_HISTOGRAMS = 12
MOST_DRAWINGS = 6

STYLE = """
pre { white-space: pre-wrap; overflow-wrap: anywhere; border: 1px solid var(--line);
  border-radius: 6px; padding: .6rem .8rem; font-size: .9rem; }
h1, p { overflow-wrap: anywhere; }
.facts th, .facts td { text-align: left; white-space: normal; overflow-wrap: anywhere;
  vertical-align: top; min-width: 5rem; }
.doubts td:last-child, .doubts th:last-child { text-align: left; white-space: normal;
  min-width: 14rem; }
@media (max-width: 40rem) { table { font-size: .82rem; } th, td { padding: .25rem .4rem; } }
"""


def classification_page(run: Run) -> str:
    """One HTML document that needs nothing but itself."""
    found = Findings(run.classifier, run.graph)
    sections = (_margins, _temperatures, _doubts, _drawing)
    parts = [_reading(run, found), _balance(found), *trust_sections(found)]
    parts += [*(make(found) for make in sections), _record(run)]
    style = charts.STYLE + drawing.STYLE + STYLE + TRUST_STYLE
    return page(f"Labels of {short(run.edges.name)}", found.summary(), parts, style=style)


def _reading(run: Run, found: Findings) -> str:
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
    seeded = len(np.unique(graph.components[found.seeds]))
    facts = [
        ("nodes", f"{graph.n_nodes:,}"),
        ("edges", f"{graph.n_edges:,}"),
        ("duplicates merged", f"{max(run.edges.n_rows - run.edges.n_empty - graph.n_edges, 0):,}"),
        ("self loops", f"{graph.rows.n_loops():,}"),
        ("components", f"{n_components:,}"),
        ("components without seeds", f"{n_components - seeded:,}"),
        ("nodes unreached", f"{found.n_unreached:,}"),
    ]
    columns = ("file", "holds", "format", "columns", "rows", "skipped")
    words = "Each file with the columns that were used, and the graph that its edges make."
    return section(
        "What was read",
        words,
        table_of_words("Files", columns, rows, notes),
        table_of_words("The graph", ("what", "how many"), facts),
    )


def _balance(found: Findings) -> str:
    shown, others = found.order[:MOST_CLASSES], found.order[MOST_CLASSES:]
    names = [found.names[k] for k in shown]
    before, after = found.before.sum(), found.after.sum()
    lines = [(found.names[k], found.before[k], found.after[k]) for k in shown]
    if len(others):
        name = counted(len(others), "other class", "other classes")
        lines.append((name, found.before[others].sum(), found.after[others].sum()))
    rows = [
        (name, f"{seeds:,}", percent(seeds / before), f"{labelled:,}", percent(labelled / after))
        for name, seeds, labelled in lines
    ]
    shares = found.before[shown] / before, found.after[shown] / after
    columns = ("class", "seeds", "share", "labelled", "share")
    words = (
        "How the classes share the seeds (outlined bars) and all labelled nodes, the seeds among "
        "them (full bars, with numbers)."
    )
    return section(
        "Class balance, before and after",
        words,
        '<div class="pair">',
        figure("Shares of the classes", charts.bars(names, *shares, words)),
        table_of_words("Sizes of the classes", columns, rows),
        "</div>\n",
    )


def _margins(found: Findings) -> str:
    margins = found.model.margins_[found.masks["predicted"]]
    finite = margins[np.isfinite(margins)]
    words = (
        "The margin of a node is the score of its class minus that of the runner-up. Every "
        f"temperature is proven to be within {found.model.solution_.certificate.bound:.1e} of the "
        "exact equilibrium; a label is certified where no error of that size could change it. "
    )
    picture = ""
    if len(finite):
        high = charts.round_up(float(finite.max()))
        counts = charts.bin_counts(finite, high)
        log = charts.is_uneven(counts)
        caption = f"Margins of {counted(len(finite), 'predicted node')}"
        picture = figure(caption, charts.histogram(counts, high, caption, log=log))
        words += f"Half of the margins are at most {np.median(finite):.3g}.{LOG if log else ''}"
    elif len(margins) and len(found.names) == 1:
        words += "With one class there is no runner-up, and margins are infinite."
    else:
        words += "There is no margin to draw."
    rows = []
    for status, mask in found.masks.items():
        n, proven = np.count_nonzero(mask), np.count_nonzero(mask & found.model.certified_)
        rows.append((status, f"{n:,}", percent(n / len(mask)), f"{proven:,}", f"{n - proven:,}"))
    columns = ("status", "nodes", "share", "certified", "not certified")
    notes = ("Seeds keep their labels, and no solving brings heat to the unreached.",)
    table = table_of_words("What became of the nodes", columns, rows, notes)
    return section(
        "Margins and certificate", words, '<div class="pair">', picture, table, "</div>\n"
    )


def _temperatures(found: Findings) -> str:
    T = found.model.temperatures_
    free = ~found.masks["seed"] & ~np.isnan(T[:, 0])
    words = (
        "How warm the free nodes are in the problem of each class. The dashed line is the mean "
        "over all nodes, seeds among them: what the decision “centered” takes away."
    )
    if not free.any():
        return section("Temperatures", "Heat reached no free node.")
    shown = found.order[:MOST_HISTOGRAMS].tolist()
    high = charts.round_up(max(float(T[free, k].max()) for k in shown))
    counts = [charts.bin_counts(T[free, k], high) for k in shown]
    top = max(int(count.max()) for count in counts)
    log = charts.is_uneven(np.concatenate(counts))
    parts = []
    for number, (k, count) in enumerate(zip(shown, counts, strict=True)):
        mean = float(found.model.mean_temperatures_[k])
        caption = f"{found.names[k]}, mean {mean:.3g}"
        picture = charts.histogram(
            count,
            high,
            f"Temperatures of the class {caption}",
            number=number,
            log=log,
            top=top,
            mean=mean,
            width=260,
        )
        parts.append(figure(caption, picture))
    if len(shown) < len(found.names):
        words += f" The {len(shown)} largest of {len(found.names):,} classes are shown."
    words += LOG if log else ""
    return section("Temperatures", words, f'<div class="many">{"".join(parts)}</div>\n')


def _doubts(found: Findings) -> str:
    title, nodes = "The most doubtful nodes", found.doubtful
    if not len(nodes):
        return section(title, "No node has a label that another class comes close to.")
    rows = [
        (
            found.name(node),
            found.label(node),
            runner_up,
            f"{found.model.margins_[node]:.3g}",
            "yes" if found.model.certified_[node] else "no",
            f"{found.graph.degrees[node]:g}",
            found.labels_around(node),
        )
        for node, runner_up in zip(nodes.tolist(), found.runners_up(nodes), strict=True)
    ]
    columns = ("node", "label", "runner-up", "margin", "certified", "degree", "labels around it")
    words = "The nodes whose labels hang by the least margins."
    return section(title, words, table_of_words("Least margins", columns, rows, kind="doubts"))


def _drawing(found: Findings) -> str:
    graph, n = found.graph, found.graph.n_nodes
    title, legend = "The drawing", drawing.legend(found)
    shades = "Edges within a class have its colour."
    if n <= drawing.MOST_NODES:
        words = f"The whole graph. {shades}"
        if graph.n_edges > drawing.MOST_EDGES:
            words += f" About {drawing.MOST_EDGES:,} of the {graph.n_edges:,} edges are drawn."
        picture = drawing.draw(found, np.arange(n), width=640, named=True)
        return section(title, words, picture, legend)
    nodes = found.doubtful[:MOST_DRAWINGS]
    if not len(nodes):
        return section(title, "The graph is too large to draw, and no node of it is in doubt.")
    parts = []
    for node, runner_up in zip(nodes.tolist(), found.runners_up(nodes), strict=True):
        near = drawing.neighbourhood(graph, node)
        picture = drawing.draw(found, near, width=300, named=False)
        parts.append(figure(f"{found.name(node)}: {found.label(node)}, or {runner_up}", picture))
    words = f"The most doubtful nodes and their neighbours, of hubs some of these. {shades}"
    return section(title, words, f'<div class="many">{"".join(parts)}</div>\n', legend)


def _record(run: Run) -> str:
    solution = run.classifier.solution_
    solved = [
        ("solver", solution.solver),
        ("engine", solution.engine),
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
        table_of_words(title, columns, [(short(a), short(b, 200)) for a, b in rows], kind="facts")
        for title, columns, rows in tables
    )
    words = "With the same files and versions this line makes the same labels:"
    return section(
        "The record of the run",
        words,
        code(short(run.command, 2000)),
        f'<div class="many">{"".join(small)}</div>\n',
        inputs,
    )
