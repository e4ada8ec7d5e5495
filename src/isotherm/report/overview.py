"""What a reader wants first: what was found, how much of it is right, and what to look at."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from isotherm.report.findings import size_table
from isotherm.report.node_lists import listed_classes
from isotherm.report.parts import KeyNumbers, Notice, Paragraph, Part, Section
from isotherm.report.words import counted, percent
from isotherm.trust.drawn import FEWEST, IF_DRAWN

if TYPE_CHECKING:
    from isotherm.report.findings import Findings
    from isotherm.report.tables import Table


def overview_section(found: Findings) -> Section:
    """The first section of a page."""
    parts: list[Part] = [_numbers(found), *_to_look_at(found), _sizes(found)]
    return Section("What was found", expected(found), [*parts, Paragraph(found.summary())])


def expected(found: Findings) -> str:
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
