"""Ids that look like one but are two: ``a`` and ``a␣``, ``1`` and ``1.0``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from isotherm.text_data import may_have

if TYPE_CHECKING:
    from isotherm.graph import Graph
    from isotherm.read.report import ReadReport

SHOWN = 3
_ODD = r"\s|^[+-]?\d+\.0*$"
_IN_ODD = " \t\n\f\r."  # one of these is in each


def note_similar_ids(graph: Graph, report: ReadReport) -> None:
    """Note ids of a graph that differ only by spaces or by type."""
    pairs = similar_pairs(graph.nodes.as_texts())
    if pairs:
        shown = ", ".join(f"{a!r} and {b!r}" for a, b in pairs[:SHOWN])
        report.notes.append(
            f"{report.name}: {len(pairs)} id{'s differ' if len(pairs) > 1 else ' differs'} from "
            f"another only by spaces or type, and so names another node: {shown}"
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


def advice(strangers: pa.Array, texts: pa.Array) -> str:
    """What to say where ids of labels are not those of the graph, but are like them."""
    plain = plain_form(strangers.slice(0, 10_000))
    found = pc.index_in(plain, value_set=plain_form(texts))
    at = next((k for k, there in enumerate(found.is_valid().to_pylist()) if there), None)
    if at is None:
        own = ", ".join(map(repr, texts.slice(0, SHOWN).to_pylist()))
        return f"ids of the graph look like {own}"
    other = texts[found[at].as_py()].as_py()
    return f"ids differ by spaces or type: {strangers[at].as_py()!r} here is {other!r} in the graph"
