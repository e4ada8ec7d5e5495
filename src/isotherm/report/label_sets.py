"""Several labels a node → one page: how many have which, who, and how far to trust it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from isotherm.classifier.estimator import NO_HEAT, PREDICTED, SEED
from isotherm.report.findings import LONGEST_LABEL, size_table, status_table
from isotherm.report.node_lists import (
    FEWEST_OF_A_CLASS,
    LONGEST_NODE,
    MOST_LISTS,
    MOST_NODES,
    MOST_OF_A_CLASS,
    Surroundings,
    finder,
    neighbours,
    shown_of,
)
from isotherm.report.page import (
    Cell,
    Column,
    KeyNumbers,
    NodeList,
    NodeRow,
    Notice,
    Part,
    Section,
    Table,
    page,
)
from isotherm.report.palette import Palette
from isotherm.report.probabilities import within
from isotherm.report.record import Record, reading_section, record_section
from isotherm.report.words import counted, percent, short
from isotherm.trust.interval import proportion

if TYPE_CHECKING:
    from isotherm.classifier.multilabel import MultiLabelDirichletClassifier
    from isotherm.trust.interval import Interval

MOST_SCORED = 30
FEWEST_JUDGED = 4

COLUMNS = (
    Column("#", is_number=True),
    Column("node"),
    Column("probability", is_number=True),
    Column("other labels"),
    Column("neighbours", is_number=True, is_extra=True),
)


def label_sets_page(model: MultiLabelDirichletClassifier, record: Record) -> str:
    """One HTML document that needs nothing but itself."""
    found = _Found(model)
    sections = [
        _overview(found),
        _lists(found),
        _trust(found),
        reading_section(model, record),
        record_section(model, record),
    ]
    asked = record.asked("Labels, several or none,", "the labels")
    return page(record.titled("Labels"), asked, sections)


class _Found:
    """What was found, counted once."""

    def __init__(self, model: MultiLabelDirichletClassifier) -> None:
        self.model, self.probability = model, model.predict_proba()
        labels = model.classes_.tolist()
        self.names = [short(label, LONGEST_LABEL) for label in labels]
        self.is_free = model.status_ == PREDICTED
        self.n_seeds = model.indicator_[model.problem_.boundary].sum(axis=0)
        self.n_nodes = model.indicator_.sum(axis=0)
        self.n_found = model.indicator_[self.is_free].sum(axis=0)
        self.order = np.lexsort((-self.n_seeds, -self.n_nodes)).tolist()
        palette = Palette(labels, self.n_seeds.tolist())
        self.colours = [palette.colour(label) for label in labels]
        self.listed = [k for k in self.order[:MOST_LISTS] if self.n_found[k]]
        self.got, self.has, self.judged = model.spot_check()

    def cell(self, k: int) -> Cell:
        return Cell(self.names[k], self.colours[k], k if k in self.listed else -1)

    def precision(self) -> Interval:
        """Of the labels that seeds left out get: how many they have."""
        given = self.got & self.judged
        return proportion(int((given & self.has).sum()), int(given.sum()))

    def recall(self) -> Interval:
        """Of the labels that they have: how many they get."""
        own = self.has & self.judged
        return proportion(int((own & self.got).sum()), int(own.sum()))


def _overview(found: _Found) -> Section:
    model, status = found.model, found.model.status_
    n_free = int(found.is_free.sum())
    numbers = [
        (f"{n_free:,}", "nodes labelled"),
        (f"{(status == SEED).sum():,}", "seeds"),
        (f"{len(found.names):,}", "labels"),
    ]
    if n_free:
        mean = found.n_found.sum() / n_free
        numbers.append((f"{mean:.2f}", "labels per node found"))
    items = []
    if n := int((found.is_free & ~model.indicator_.any(axis=1)).sum()):
        items.append(f"{counted(n, 'node')} got none of the labels.")
    if n := int((status == NO_HEAT).sum()):
        items.append(f"{counted(n, 'node')} cannot be reached from any seed: label one of them.")
    parts: list[Part] = [KeyNumbers(numbers)]
    parts += [Notice("What to look at", items)] if items else []
    groups = [(found.cell(k), int(found.n_seeds[k]), int(found.n_nodes[k])) for k in found.order]
    totals = len(model.problem_.boundary), int((status != NO_HEAT).sum())
    parts.append(size_table("label", groups, totals))
    return Section("What was found", _expected(found), parts)


def _expected(found: _Found) -> str:
    if len(found.got) < FEWEST_JUDGED or not found.judged.any():
        return "It is not known how many labels are right: too few seeds could be left out."
    precision, recall = found.precision(), found.recall()
    words = f"{len(found.got):,} seeds were left out and labelled from the others. "
    if not np.isnan(precision.value):
        words += f"Of the labels they got, {_share(precision)} are right. "
    if not np.isnan(recall.value):
        words += f"Of the labels they have, {_share(recall)} were found. "
    return (words + "In brackets are 95 % intervals.").replace(" %", "\u00a0%")


def _share(interval: Interval) -> str:
    low, high = percent(interval.low), percent(interval.high)
    return f"{percent(interval.value)} ({low} to {high})"


def _lists(found: _Found) -> Section:
    if not found.listed:
        return Section("The lists", "Only the seeds have a label.")
    top = min(MOST_OF_A_CLASS, max(MOST_NODES // len(found.listed), FEWEST_OF_A_CLASS))
    lists = [_list(found, k, top) for k in found.listed]
    words = (
        "The nodes with each label, the most probable first; seeds are not listed. Open a line to "
        "see what speaks for a node."
    )
    if len(found.names) > MOST_LISTS:
        words += f" The {MOST_LISTS} largest of {len(found.names):,} labels are shown."
    return Section("The lists", words, [finder(lists, "probability", "label"), *lists])


def _list(found: _Found, k: int, top: int) -> NodeList:
    nodes = np.flatnonzero(found.is_free & found.model.indicator_[:, k])
    order = nodes[np.argsort(-found.probability[nodes, k], kind="stable")]
    around = Surroundings(found.model, found.model.indicator_[:, k], "nodes with this label")
    rows = [
        _row(found, k, node, rank, around)
        for rank, node in enumerate(order[:top].tolist(), start=1)
    ]
    count = shown_of(len(rows), len(nodes))
    return NodeList(k, found.names[k], count, COLUMNS, rows, found.colours[k])


def _row(found: _Found, k: int, node: int, rank: int, around: Surroundings) -> NodeRow:
    model, P = found.model, found.probability[node]
    others = [j for j in np.flatnonzero(model.indicator_[node]).tolist() if j != k]
    others.sort(key=lambda j: -P[j])
    ends, _ = neighbours(model.problem_.graph, node)
    facts = [
        ("Other labels", ", ".join(f"{found.names[j]} ({P[j]:.3f})" for j in others) or "none"),
        ("Neighbours", f"{len(ends):,}"),
        ("Label numerically exact", "yes" if model.certified_[node, k] else "no"),
    ]
    also = ", ".join(found.names[j] for j in others) or "–"
    name = short(model.names_[node], LONGEST_NODE)
    cells = (f"{rank:,}", name, f"{P[k]:.3f}", short(also, 2 * LONGEST_LABEL), f"{len(ends):,}")
    return NodeRow(cells, around.sentence(node), facts)


def _trust(found: _Found) -> Section:
    model = found.model
    rows: list[list[str | Cell]] = []
    for k in found.order[:MOST_SCORED]:
        judged = found.judged[:, k]
        got, has = found.got[judged, k], found.has[judged, k]
        right = int((got & has).sum())
        precision, recall = proportion(right, int(got.sum())), proportion(right, int(has.sum()))
        numbers = [f"{has.sum():,}", f"{got.sum():,}", f"{right:,}"]
        for share, n in ((precision, got.sum()), (recall, has.sum())):
            numbers += [f"{share.value:.2f}", within(share)] if n else ["–", "–"]
        rows.append([found.cell(k), *numbers])
    columns = ("label", "have it", "got it", "both", "precision", "95 % interval")
    note = (
        "Precision: of the seeds that got the label, how many have it. Recall: of those that have "
        "it, how many got it."
    )
    table = Table(
        "Seeds left out, label by label", (*columns, "recall", "95 % interval"), rows, [note]
    )
    masks = {status: model.status_ == status for status in (SEED, PREDICTED, NO_HEAT)}
    exact = status_table(masks, np.asarray(model.certified_.all(axis=1)))
    words = (
        "Seeds left out, and labelled from the others, tell how often labels are right. Whether a "
        "node has a label is numerically exact if no error of the computation, at most "
        f"{model.solution_.certificate.bound:.1e}, could change it. That says nothing about "
        "whether it is correct."
    )
    return Section("How far to trust it", words, [table, exact])
