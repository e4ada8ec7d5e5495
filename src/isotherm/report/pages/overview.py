"""What a reader wants first: what was found, how much of it is right, and who."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from isotherm.listing import list_each
from isotherm.report.pages.findings import LONGEST_LABEL
from isotherm.report.palette import colour
from isotherm.report.parts import Notice, Paragraph, Part, Section
from isotherm.report.tables import Bars, Cell, Table
from isotherm.report.words import counted, percent, short

if TYPE_CHECKING:
    from isotherm.listing import Listed
    from isotherm.report.pages.findings import Findings

MOST_CLASSES = 30  # in the table of classes
MOST_LISTS = 12
LISTED = 10  # nodes of a class
EXPLAINED = 100_000  # entries of the adjacency matrix, up to which each of them has its reason
LONGEST_NODE = 40


def overview_sections(found: Findings) -> list[Section]:
    """The first two sections."""
    return [_found(found), _lists(found)]


def _found(found: Findings) -> Section:
    parts: list[Part] = [Paragraph(expected(found)), *_to_look_at(found), _sizes(found)]
    return Section("What was found", found.summary(), parts)


def expected(found: Findings) -> str:
    """How many labels are right, in a sentence."""
    accuracy = found.expected_accuracy
    if np.isnan(accuracy.value):
        return "How many labels are right cannot be told: no seed could be left out to judge by."
    low, high = percent(accuracy.low), percent(accuracy.high)
    return (
        f"About {percent(accuracy.value)} of the labels found are expected to be right, between "
        f"{low} and {high} with a confidence of 95 %, judged by seeds left out."
    ).replace(" %", "\u00a0%")


def _to_look_at(found: Findings) -> list[Part]:
    """What deserves a look, if anything does."""
    items = []
    if n := len(found.check.suspects()):
        items.append(f"{counted(n, 'seed')} may have a wrong label: see Suspects.")
    if found.n_unsure:
        items.append(
            f"{counted(found.n_unsure, 'node')} got no label, since none is probable enough."
        )
    if found.n_unreached:
        items.append(
            f"{counted(found.n_unreached, 'node')} cannot be reached from any seed: a label among "
            "them would help."
        )
    items += found.doubts
    return [Notice("What to look at.", items)] if items else []


def _sizes(found: Findings) -> Table:
    """How large the classes are."""
    shown, others = found.order[:MOST_CLASSES], found.order[MOST_CLASSES:]
    groups = [(found.class_cell(k), found.before[k], found.after[k]) for k in shown]
    if len(others):
        name = Cell(counted(len(others), "other class", "other classes"), colour(-1))
        groups.append((name, found.before[others].sum(), found.after[others].sum()))
    n_before, n_after = found.before.sum(), found.after.sum()
    most = max(max(before / n_before, after / n_after) for _, before, after in groups)
    rows = []
    for name, before, after in groups:
        shares = before / n_before, after / n_after
        bars = Bars(shares[0] / most, shares[1] / most, name.colour)
        numbers = f"{before:,}", percent(shares[0]), f"{after:,}", percent(shares[1])
        rows.append((name, bars, *numbers))
    note = "Outlined bars are the seeds, full bars all labelled nodes, the seeds among them."
    columns = ("class", "", "seeds", "share", "labelled", "share")
    return Table("Sizes of the classes", columns, rows, [note])


def _lists(found: Findings) -> Section:
    """The most probable nodes of each class."""
    reasons = found.graph.rows.n_entries <= EXPLAINED
    shown = found.order[:MOST_LISTS].tolist()
    labels = found.model.classes_[shown].tolist()
    parts: list[Part] = []
    lists = list_each(found.model, labels, LISTED, reasons=reasons, name=_cut)
    for k, label, listed in zip(shown, labels, lists, strict=True):
        if own := [one for one in listed if one.label == label]:
            parts.append(_list(found, k, own, reasons=reasons))
    words = (
        "The nodes most likely of each class, seeds aside. isotherm classify --list CLASS writes "
        "as many as you like to a file."
    )
    if len(found.names) > MOST_LISTS:
        words += f" The {MOST_LISTS} largest of {len(found.names):,} classes are shown."
    return Section("Who", words if parts else "No node but the seeds has a label.", parts)


def _cut(name: object) -> str:
    return short(name, LONGEST_LABEL)


def _list(found: Findings, k: int, listed: list[Listed], *, reasons: bool) -> Table:
    rows = []
    for one in listed:
        around = ", ".join(
            f"{_cut(label)}: {weight:g}"
            for label, weight in sorted(one.weights.items(), key=lambda item: -item[1])[:3]
        )
        rival = "–" if one.runner_up is None else _cut(one.runner_up)
        last = short(one.why, 500) if reasons else around or "–"
        rows.append((short(one.node, LONGEST_NODE), f"{one.probability:.3f}", rival, last))
    last = "why" if reasons else "weight of its edges to each label"
    columns = ("node", "probability", "runner-up", last)
    return Table(found.names[k], columns, rows, kind="doubts")
