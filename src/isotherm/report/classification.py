"""A classification → one page: what was found, who, how sure it is, how to repeat it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from isotherm.classifier.estimator import UNSURE
from isotherm.report import charts, network
from isotherm.report.findings import Findings, size_table, status_table
from isotherm.report.node_lists import class_lists, listed_classes, ranked_list
from isotherm.report.page import (
    Figure,
    Group,
    KeyNumbers,
    Notice,
    Paragraph,
    Part,
    Section,
    Table,
    page,
)
from isotherm.report.palette import colour
from isotherm.report.record import Record, reading_section, record_section
from isotherm.report.trust import trust_sections
from isotherm.report.words import counted, percent, short
from isotherm.trust.drawn import FEWEST, IF_DRAWN

if TYPE_CHECKING:
    from isotherm.classifier.algorithm import HeatClassifier

LOG = " Counts are on a logarithmic scale."
MOST_HISTOGRAMS = 12
MOST_DRAWINGS = 6
LONGEST_NAME = 40


def labels_page(model: HeatClassifier, record: Record, min_probability: float = 0.0) -> str:
    """One HTML document that needs nothing but itself; less probable labels count as none."""
    origin = [reading_section(model, record), record_section(model, record)]
    if len(model.classes_) == 1:
        sections = [*_ranking(model), *origin]
        return page(record.titled("Ranking"), _ranking_summary(model), sections)
    found = Findings(model, model.problem_.graph, min_probability)
    sections = [_overview(found), class_lists(found), _drawing(found)]
    sections += [*trust_sections(found), *(make(found) for make in (_doubts, _margins))]
    sections += [_temperatures(found), *origin]
    return page(record.titled("Labels"), record.asked("Labels", "the labels"), sections)


def _overview(found: Findings) -> Section:
    """What a reader wants first: what was found, how much of it is right, what to look at."""
    parts: list[Part] = [_numbers(found), *_to_look_at(found), _sizes(found)]
    return Section("What was found", _expected(found), [*parts, Paragraph(found.summary())])


def _expected(found: Findings) -> str:
    """How many labels are right, in a sentence."""
    accuracy = found.expected_accuracy
    if not found.n_found:
        return "No node without a label got one."
    if np.isnan(accuracy.value) and found.n_drawn is not None:
        return (
            f"It is not known how many labels are right: {counted(found.n_drawn, 'label')} drawn "
            f"at random could be checked, and {FEWEST} are needed."
        )
    if np.isnan(accuracy.value):
        return (
            "It is not known how many labels are right: no seed could be left out to check. Add a "
            "second seed of each class."
        )
    low, high = percent(accuracy.low), percent(accuracy.high)
    return (
        f"About {percent(accuracy.value)} of the labels found are expected to be right: between "
        f"{low} and {high}, with 95 % confidence"
        + (
            f", {IF_DRAWN}. This was checked on seeds left out."
            if found.n_drawn is None
            else f". This was checked on {found.n_drawn:,} seeds drawn at random, left out."
        )
    ).replace(" %", "\u00a0%")


def _numbers(found: Findings) -> KeyNumbers:
    accuracy = found.expected_accuracy
    right, words = "not known", "share expected to be right"
    if not np.isnan(accuracy.value):
        right = percent(accuracy.value)
        words = f"expected to be right ({percent(accuracy.low)} to {percent(accuracy.high)})"
    n_labels = int(np.count_nonzero(found.is_found & (found.codes >= 0)))
    numbers = [
        (f"{n_labels:,}", "labels found"),
        (right.replace(" %", "\u00a0%"), words.replace(" %", "\u00a0%")),
        (f"{found.n_seeds:,}", "seeds"),
        (f"{len(found.names):,}", "classes"),
    ]
    if n := found.graph.n_nodes - found.n_seeds - n_labels:
        numbers.append((f"{n:,}", "nodes without a label"))
    return KeyNumbers(numbers)


def _to_look_at(found: Findings) -> list[Part]:
    """What deserves a look, if anything does."""
    items = []
    if n := len(found.check.suspects()):
        items.append(f"{counted(n, 'seed')} may have a wrong label: see Suspects.")
    if found.n_unsure:
        unsure = counted(found.n_unsure, "node")
        items.append(f"{unsure} got no label: it would not be probable enough.")
    if found.n_unreached:
        items.append(
            f"{counted(found.n_unreached, 'node')} cannot be reached from any seed: label one "
            "of them."
        )
    items += found.doubts
    return [Notice("What to look at", items)] if items else []


def _sizes(found: Findings) -> Table:
    """How large the classes are."""
    listed = set(listed_classes(found))
    groups = [
        (replace(found.class_cell(k), list_number=k if k in listed else -1), before, after)
        for k, before, after in zip(
            found.order.tolist(),
            found.before[found.order].tolist(),
            found.after[found.order].tolist(),
            strict=True,
        )
    ]
    return size_table("class", groups, (found.before.sum(), found.after.sum()))


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
    title, legend = "The picture", network.legend(found)
    shades = "Edges within a class have its colour."
    if n <= network.MOST_NODES:
        words = f"The whole graph. {shades}"
        if graph.n_edges > network.MOST_EDGES:
            words += f" About {network.MOST_EDGES:,} of the {graph.n_edges:,} edges are drawn."
        picture = network.draw(found, np.arange(n), width=640, named=True)
        return Section(title, words, [Figure("", picture), legend])
    nodes = found.doubtful[:MOST_DRAWINGS]
    if not len(nodes):
        return Section(title, "The graph is too large to draw, and no node is doubtful.")
    figures = []
    for node, runner_up in zip(nodes.tolist(), found.runners_up(nodes), strict=True):
        near = network.neighbourhood(graph, node)
        picture = network.draw(found, near, width=300, named=False)
        caption = f"{found.name(node)}: {found.label(node)}, or {found.names[runner_up]}"
        figures.append(Figure(caption, picture))
    words = (
        "The most doubtful nodes and their neighbours; only some neighbours of hubs are shown. "
        f"{shades}"
    )
    return Section(title, words, [Group("many", figures), legend])


def _ranking_summary(model: HeatClassifier) -> str:
    """What was asked for, in a sentence or two."""
    (name,) = model.classes_.tolist()
    return (
        f"Only one class is known, “{short(name, LONGEST_NAME)}”, so nodes are ranked by how near "
        "they are to its seeds. There are no probabilities: nothing is known about other classes."
    )


def _ranking(model: HeatClassifier) -> list[Section]:
    """The nodes that come first, and how scores are spread."""
    found = model.ranking_
    n_nodes, n_seeds = model.problem_.graph.n_nodes, len(model.seeds_.nodes)
    numbers = [(f"{len(found.nodes):,}", "nodes ranked"), (f"{n_seeds:,}", "seeds")]
    if left := n_nodes - n_seeds - len(found.nodes):
        numbers.append((f"{left:,}", "nodes without a path to a seed"))
    if not len(found.nodes):
        words = "Heat reached no free node, so there is nothing to rank."
        return [Section("Ranking", words, [KeyNumbers(numbers)])]
    words = "The nodes nearest to the seeds: look at the first ones first."
    ranking = Section("Ranking", words, [KeyNumbers(numbers), *ranked_list(model)])
    words = (
        "The score of a node is its temperature if all seeds are held at 1 and every free node "
        f"loses a little heat (leak {found.leak:g}): the chance that a random walk from it meets a "
        "seed before it ends. Many short paths to seeds make it high. It says which nodes to look "
        "at first, not how many of them have the class. Every score is numerically exact to "
        f"{found.error_bound:.1e}, before it is rounded."
    )
    counts = charts.bin_counts(found.scores, 1.0)
    chart = charts.Histogram(1.0, int(counts.max()), charts.is_uneven(counts))
    caption = f"Scores of {counted(len(found.scores), 'free node')}"
    words += LOG if chart.log else ""
    figure = Figure(caption, chart.draw(counts, caption))
    return [ranking, Section("The scores", words, [figure])]
