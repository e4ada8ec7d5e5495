"""Ids that look like one but are two: ``a`` and ``a␣``, ``1`` and ``1.0``, ``007`` and ``7``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy

from isotherm.graph.texts import find_texts
from isotherm.text_data import may_have

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.graph import Graph
    from isotherm.read.report import ReadReport

SHOWN = 3
_ODD = r"\s|^[+-]?\d+\.0*$"
_IN_ODD = " \t\n\f\r."  # one of these is in each


def note_similar_ids(texts: pa.Array, report: ReadReport) -> None:
    """Note ids of nodes that differ only by spaces or by type."""
    pairs = similar_pairs(texts)
    if pairs:
        shown = ", ".join(f"{a!r} and {b!r}" for a, b in pairs[:SHOWN])
        report.notes.append(
            f"{report.name}: {len(pairs)} id{'s differ' if len(pairs) > 1 else ' differs'} from "
            f"another only by spaces or type, but each names its own node: {shown}"
            + (", …" if len(pairs) > SHOWN else "")
        )


def similar_pairs(texts: pa.Array) -> list[tuple[str, str]]:
    """Pairs of different texts that are alike: the odd one and the other.

    Examples
    --------
    >>> similar_pairs(pa.array(["1", "2", "1.0", "a b", "a  b"]))
    [('1.0', '1'), ('a  b', 'a b')]
    """
    if not may_have(texts, _IN_ODD):
        return []
    odd = texts.filter(pc.match_substring_regex(texts, _ODD))
    if len(odd) == 0:
        return []
    plain = plain_form(odd)
    changed = pc.not_equal(plain, odd)
    odd, plain = odd.filter(changed), plain.filter(changed)
    there = pc.is_in(plain, value_set=texts)
    pairs = list(zip(odd.filter(there).to_pylist(), plain.filter(there).to_pylist(), strict=True))
    # Those that are like another odd one, with no plain one there.
    first: dict[str, str] = {}
    alone = pc.invert(there)
    for text, form in zip(
        odd.filter(alone).to_pylist(), plain.filter(alone).to_pylist(), strict=True
    ):
        other = first.setdefault(form, text)
        if other != text:
            pairs.append((text, other))
    return pairs


def plain_form(texts: pa.Array) -> pa.Array:
    """Texts with single spaces, none around them, and whole numbers without a point."""
    single = pc.replace_substring_regex(texts, r"\s+", " ")
    trimmed = pc.utf8_trim_whitespace(single)
    return pc.replace_substring_regex(trimmed, r"^([+-]?\d+)\.0*$", r"\1")


def normal_form(texts: pa.Array) -> pa.Array:
    """Texts in small letters, in `plain_form`, numbers without leading zeros.

    Examples
    --------
    >>> normal_form(pa.array(["00017", " Ann  Lee", "ANN LEE", "0", "A-007"])).to_pylist()
    ['17', 'ann lee', 'ann lee', '0', 'a-007']
    """
    small = pc.utf8_lower(plain_form(texts))
    return pc.replace_substring_regex(small, r"(^|:)0+([0-9]+)$", r"\1\2")


def find_normalised(wanted: pa.Array, texts: pa.Array) -> NDArray[np.intp]:
    """The place of each text wanted among others, by normal form; −1 if it has none, or several.

    A text that is there as it is has its own place.

    Examples
    --------
    >>> texts = pa.array(["007", "Ann", "ann"])
    >>> find_normalised(pa.array(["7", "ann", "ANN", "x"]), texts).tolist()
    [0, 2, -1, -1]
    """
    exact = find_texts(wanted, texts)
    forms = normal_form(texts)
    counts = pc.value_counts(forms)
    doubled = counts.field(0).filter(pc.greater(counts.field(1), 1))
    once = np.flatnonzero(~pc.is_in(forms, value_set=doubled).to_numpy(zero_copy_only=False))
    found = find_texts(normal_form(wanted), forms.take(pa.array(once)))
    near = np.where(found >= 0, once[found] if len(once) else -1, -1)
    return np.where(exact >= 0, exact, near)


def merge_ids(graph: Graph, report: ReadReport) -> Graph:
    """The graph whose nodes are the ids of one normal form; each is named as it first was."""
    texts = graph.nodes.as_texts()
    coded = normal_form(texts).dictionary_encode()
    number = coded.indices.to_numpy()
    n_merged = len(texts) - len(coded.dictionary)
    if n_merged == 0:
        return graph
    _, first = np.unique(number, return_index=True)
    whole = scipy.sparse.triu(graph.adjacency, format="coo")
    weights = None if graph.rows.weights is None else whole.data
    ends = (number[whole.row], number[whole.col])
    merged = type(graph).from_edges(*ends, weights, nodes=range(len(first)))
    report.notes.append(
        f"{report.name}: {n_merged:,} id{'s were' if n_merged > 1 else ' was'} merged with another "
        "that differs only by case, spaces or leading zeros (--ids normalised)"
    )
    return merged.renamed(texts.take(pa.array(first)), graph.sides)


def advice(strangers: pa.Array, texts: pa.Array) -> str:
    """What to say where ids of labels are not those of the graph, but may be like them."""
    found = find_normalised(strangers, texts)
    places = np.flatnonzero(found >= 0)
    if len(places) == 0:
        own = ", ".join(map(repr, texts.slice(0, SHOWN).to_pylist()))
        return f"ids of the graph look like {own}"
    here, there = strangers[int(places[0])].as_py(), texts[int(found[places[0]])].as_py()
    return (
        f"{len(places):,} of them differ only by case, spaces, leading zeros or type, such as "
        f"{here!r} here and {there!r} in the graph: --ids normalised (ids='normalised') matches "
        "these"
    )
