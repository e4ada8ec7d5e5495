"""Labels as they are written → one class for each node: placeholders, spellings, conflicts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from isotherm.errors import LabelError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.read.report import ReadReport

SHOWN = 5
PLACEHOLDERS = (
    "?", "??", "???", "-", "--", "---", "–", "—", ".", "n/a", "#n/a", "na", "n.a.", "nan", "null",
    "none", "nil", "unknown", "not known", "undefined", "missing", "unlabeled", "unlabelled",
    "tbd", "(blank)", "<na>",
)  # fmt: skip
MAY_BE_UNKNOWN = "-1"  # which is also a class, beside 1


@dataclass(frozen=True)
class KnownLabels:
    """Rows of a file that have a label."""

    nodes: pa.Array
    labels: pa.Array
    rows: NDArray[np.int64]  # their numbers in the file, from 1 on; the header is none
    confidence: NDArray[np.float64] | None
    drawn: NDArray[np.bool_] | None = None

    def kept(self, mask: NDArray[np.bool_]) -> KnownLabels:
        """Those where the mask is true."""
        if mask.all():
            return self
        chosen = pa.array(mask)
        confidence = None if self.confidence is None else self.confidence[mask]
        nodes, labels = self.nodes.filter(chosen), self.labels.filter(chosen)
        drawn = None if self.drawn is None else self.drawn[mask]
        return KnownLabels(nodes, labels, self.rows[mask], confidence, drawn)


def note_placeholders(known: KnownLabels, report: ReadReport, *, keep: bool) -> KnownLabels:
    """Labels without those that only say that none is known, which is noted."""
    words = pc.utf8_lower(pc.utf8_trim_whitespace(known.labels))
    found = pc.is_in(words, value_set=pa.array(PLACEHOLDERS, words.type))
    n_found = pc.sum(found).as_py()
    if keep or not n_found:
        return known
    counts = Counter(known.labels.filter(found).to_pylist())
    listed = ", ".join(f"{word!r} ({_nodes(count)})" for word, count in counts.most_common(SHOWN))
    message = (
        f"{report.name}: {listed}{', …' if len(counts) > SHOWN else ''} treated as unknown; "
        "--keep-placeholders (keep_placeholders=True) keeps such words as classes"
    )
    left = known.kept(~found.to_numpy(zero_copy_only=False))
    if len(left.nodes) == 0:
        raise LabelError(f"{message}. There is no other label")
    report.notes.append(message)
    return left


def note_minus_one(known: KnownLabels, report: ReadReport) -> None:
    """Note labels that are −1, which elsewhere stands for an unknown one."""
    n_odd = pc.sum(pc.equal(known.labels, MAY_BE_UNKNOWN)).as_py()
    if n_odd:
        report.notes.append(
            f"{report.name}: {MAY_BE_UNKNOWN!r} was treated as a class ({_nodes(n_odd)}); leave "
            "the cell empty where a label is not known"
        )


def note_case(known: KnownLabels, report: ReadReport, *, merge: bool) -> KnownLabels:
    """Labels of which some differ only by case or blanks, which is noted; merged if asked for."""
    counted = pc.value_counts(known.labels).to_pylist()
    # The most frequent spelling first; of equals the same one, whatever the order of rows.
    counted.sort(key=lambda found: (-found["counts"], found["values"]))
    spellings: dict[str, list[str]] = {}
    for label in (found["values"] for found in counted):
        spellings.setdefault(" ".join(label.split()).casefold(), []).append(label)
    several = [found for found in spellings.values() if len(found) > 1]
    if not several:
        return known
    shown = "; ".join(", ".join(map(repr, found[:SHOWN])) for found in several[:SHOWN])
    if not merge:
        report.notes.append(
            f"{report.name}: labels that differ only by case or spaces are separate classes: "
            f"{shown} (--merge-case or merge_case=True makes them one)"
        )
        return known
    one = {label: found[0] for found in several for label in found}
    report.notes.append(
        f"{report.name}: labels that differ only by case or spaces were merged: {shown}"
    )
    merged = pa.array([one.get(label, label) for label in known.labels.to_pylist()])
    return replace(known, labels=merged.cast(known.labels.type))


def without_conflicts(known: KnownLabels, report: ReadReport) -> KnownLabels:
    """Labels without those of nodes that have two, which are counted as skipped."""
    if known.confidence is not None:
        return known  # the surest counts
    first: dict[str, str] = {}
    pairs = list(zip(known.nodes.to_pylist(), known.labels.to_pylist(), strict=True))
    bad = dict.fromkeys(node for node, label in pairs if first.setdefault(node, label) != label)
    if not bad:
        return known
    mask = np.array([node not in bad for node, _ in pairs])
    fault = f"{report.name}: node {next(iter(bad))!r} has two labels"
    report.skip("a node has two labels", fault, int((~mask).sum()))
    return known.kept(mask)


def label_by_node(known: KnownLabels, report: ReadReport) -> dict[str, str]:
    """One label for each node; of several the surest."""
    nodes, labels, sure = known.nodes.to_pylist(), known.labels.to_pylist(), known.confidence
    found = dict(zip(nodes, labels, strict=True))
    if sure is None and len(found) == len(nodes):
        return found
    order = range(len(nodes)) if sure is None else np.argsort(-sure, kind="stable").tolist()
    first: dict[str, int] = {}
    for k in order:
        before = first.setdefault(nodes[k], k)
        as_sure = sure is None or sure[before] == sure[k]
        if labels[before] != labels[k] and as_sure:
            raise _conflict(known, sorted((before, k)), report.name)
    if sure is not None:
        report.confidence = {node: float(sure[first[node]]) for node in nodes}
    return {node: labels[first[node]] for node in nodes}


def _conflict(known: KnownLabels, places: list[int], name: str) -> LabelError:
    one, other = (known.labels[k].as_py() for k in places)
    rows = " and ".join(f"{known.rows[k]:,}" for k in places)
    return LabelError(
        f"{name}: node {known.nodes[places[0]].as_py()!r} has two labels, {one!r} and {other!r} "
        f"(rows {rows}, not counting a header). Correct one of them, or leave such nodes out with "
        "--on-error skip"
    )


def _nodes(count: int) -> str:
    return f"{count:,} node{'' if count == 1 else 's'}"
