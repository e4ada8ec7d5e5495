"""Nodes with what is known of them, and their edges → GEXF and GraphML, some at a time; and GML.

GML is written by networkx, from a graph in memory. Gephi, Cytoscape, networkx and igraph open
these. There a ``label`` is the name that is drawn beside a node: so the label that a node was given
is its ``class``.
"""

from __future__ import annotations

import re
from typing import IO, TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from isotherm.errors import NotEnoughMemory
from isotherm.memory import SMALL, free_memory, size_text
from isotherm.writers.tables import joined, lines_of, schema_of
from isotherm.writers.xml_text import XmlText, is_replaced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from isotherm.graph.rows import Rows

ENTRIES = 1 << 17  # of the matrix that are written at once
GML_BYTES_PER_NODE, GML_BYTES_PER_EDGE = 2000, 450  # of a graph of networkx
GML_SECONDS = 13e-6  # to write a node or an edge
PATIENCE = 10.0  # seconds of writing for which no better format is named
NODE, COLOUR = "node", "color"  # columns that are no attributes like others
_XML = '<?xml version="1.0" encoding="UTF-8"?>\n'
_KINDS = (
    (pa.types.is_boolean, "boolean"),
    (pa.types.is_integer, "long"),
    (pa.types.is_floating, "double"),
)


class Edges(NamedTuple):
    """The edges of a graph."""

    names: pa.Array
    rows: Rows

    def batches(self) -> Iterator[tuple[NDArray[np.intp], NDArray[np.int32], pa.Array | None]]:
        """Positions of both ends, and weights; each edge once, some edges at a time."""
        start, ends, weights = self.rows.start, self.rows.ends, self.rows.weights
        for first in range(0, len(ends), ENTRIES):
            some = slice(first, min(first + ENTRIES, len(ends)))
            source = np.searchsorted(start, np.arange(some.start, some.stop), side="right") - 1
            once = source <= ends[some]
            if not once.any():
                continue
            given = None if weights is None else pa.array(weights[some][once])
            yield source[once], ends[some][once], given


class _Ids:
    """The ids of nodes in a file: their names, which stay different where XML changes them."""

    def __init__(self, names: pa.Array) -> None:
        self._changed = names.filter(is_replaced(names))
        mark = " #"
        while len(self._changed):
            given = XmlText().escaped(self._changed).to_pylist()
            self._given = pa.array([f"{one}{mark}{k}" for k, one in enumerate(given)], names.type)
            if not pc.any(pc.is_in(names, self._given)).as_py():
                break
            mark += "#"

    def of(self, nodes: pa.Array) -> pa.Array:
        """Those of some nodes, escaped."""
        ids = XmlText().escaped(nodes)
        if not len(self._changed):
            return ids
        place = pc.index_in(nodes, self._changed)
        return pc.coalesce(pc.cast(self._given, ids.type).take(place), ids)


def write_gexf(file: IO[bytes], batches: Iterable[pa.RecordBatch], edges: Edges) -> str | None:
    """Write GEXF 1.2; what cannot be written is returned as a sentence."""
    text, ids, (schema, rows) = XmlText(), _Ids(edges.names), schema_of(batches)
    names = [name for name in schema.names if name not in (NODE, COLOUR)]
    file.write(
        f'{_XML}<gexf xmlns="http://www.gexf.net/1.2draft" '
        'xmlns:viz="http://www.gexf.net/1.2draft/viz" version="1.2">\n'
        "<meta><creator>isotherm</creator></meta>\n"
        '<graph defaultedgetype="undirected" mode="static">\n<attributes class="node">\n'.encode()
    )
    for k, (name, title) in enumerate(zip(names, _titles(names, text), strict=True)):
        kind = _kind(schema.field(name).type)
        file.write(f'<attribute id="{k}" title="{title}" type="{kind}"/>\n'.encode())
    file.write(b"</attributes>\n<nodes>\n")
    for batch in rows:
        if not batch.num_rows:
            continue
        node = text.escaped(batch.column(NODE))
        parts = ['<node id="', ids.of(batch.column(NODE)), '" label="', node, '"><attvalues>']
        for k, name in enumerate(names):
            cell = [f'<attvalue for="{k}" value="', text.escaped(batch.column(name)), '"/>']
            parts.append(pc.fill_null(joined(cell), ""))
        parts += ["</attvalues>", _painted(batch.column(COLOUR), _viz), "</node>\n"]
        file.write(lines_of(parts))
    file.write(b"</nodes>\n<edges>\n")
    count, ends = 0, ids.of(edges.names)
    for source, target, weights in edges.batches():
        number = pc.cast(pa.array(np.arange(count, count + len(source))), pa.large_string())
        parts = ['<edge id="', number, '" source="', ends.take(pa.array(source))]
        parts += ['" target="', ends.take(pa.array(target))]
        if weights is not None:
            parts += ['" weight="', pc.cast(weights, pa.large_string())]
        file.write(lines_of([*parts, '"/>\n']))
        count += len(source)
    file.write(b"</edges>\n</graph>\n</gexf>\n")
    return text.remark("XML")


def write_graphml(file: IO[bytes], batches: Iterable[pa.RecordBatch], edges: Edges) -> str | None:
    """Write GraphML; what cannot be written is returned as a sentence.

    A colour is there twice: as ``color``, for Cytoscape and igraph, and as ``r``, ``g`` and ``b``,
    for Gephi.
    """
    text, ids, (schema, rows) = XmlText(), _Ids(edges.names), schema_of(batches)
    names = [name for name in schema.names if name != NODE]
    file.write(f'{_XML}<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'.encode())
    keys = [(f"d{k}", name, _kind(schema.field(name).type)) for k, name in enumerate(names)]
    keys += [("name", "label", "string"), *((part, part, "long") for part in "rgb")]
    titles = _titles([name for _, name, _ in keys], text)
    for (key, _, kind), title in zip(keys, titles, strict=True):
        file.write(
            f'<key id="{key}" for="node" attr.name="{title}" attr.type="{kind}"/>\n'.encode()
        )
    if edges.rows.weights is not None:
        file.write(b'<key id="weight" for="edge" attr.name="weight" attr.type="double"/>\n')
    file.write(b'<graph edgedefault="undirected">\n')
    for batch in rows:
        if not batch.num_rows:
            continue
        node = text.escaped(batch.column(NODE))
        parts = ['<node id="', ids.of(batch.column(NODE)), '"><data key="name">', node, "</data>"]
        for k, name in enumerate(names):
            cell = [f'<data key="d{k}">', text.escaped(batch.column(name)), "</data>"]
            parts.append(pc.fill_null(joined(cell), ""))
        file.write(lines_of([*parts, _painted(batch.column(COLOUR), _rgb), "</node>\n"]))
    ends = ids.of(edges.names)
    for source, target, weights in edges.batches():
        parts = ['<edge source="', ends.take(pa.array(source))]
        parts += ['" target="', ends.take(pa.array(target))]
        if weights is None:
            parts += ['"/>\n']
        else:
            written = pc.cast(weights, pa.large_string())
            parts += ['"><data key="weight">', written, "</data></edge>\n"]
        file.write(lines_of(parts))
    file.write(b"</graph>\n</graphml>\n")
    return text.remark("XML")


def write_gml(file: IO[bytes], batches: Iterable[pa.RecordBatch], edges: Edges) -> str | None:
    """Write GML, by networkx; what cannot be written is returned as a sentence.

    A colour is there twice: as ``color``, for igraph, and in ``graphics``, for Gephi and yEd.
    """
    import networkx as nx

    graph = nx.Graph()
    for batch in batches:
        keys = _gml_keys(batch.schema.names)
        for row in batch.to_pylist():
            found = {keys[name]: value for name, value in row.items() if value is not None}
            colour = {"graphics": {"fill": found[keys[COLOUR]]}}
            graph.add_nodes_from([(found.pop(NODE), found | colour)])
    for source, target, weights in edges.batches():
        ends = (edges.names.take(pa.array(end)).to_pylist() for end in (source, target))
        if weights is None:
            graph.add_edges_from(zip(*ends, strict=True))
        else:
            graph.add_weighted_edges_from(zip(*ends, weights.to_pylist(), strict=True))
    for line in nx.generate_gml(graph):
        file.write(line.encode("ascii") + b"\n")
    seconds = GML_SECONDS * (len(graph) + graph.number_of_edges())
    if seconds <= PATIENCE:
        return None
    return f"GML of this size takes about {seconds:.0f} seconds to write, GraphML and GEXF take one"


def check_gml_size(n_rows: int, _n_columns: int, n_edges: int) -> None:
    """Refuse a graph for which there is no room in memory."""
    needed = GML_BYTES_PER_NODE * n_rows + GML_BYTES_PER_EDGE * n_edges
    free = free_memory() if needed > SMALL else None
    if free is not None and needed > free:
        raise NotEnoughMemory(
            f"GML of {n_rows:,} nodes and {n_edges:,} edges takes about {size_text(needed)} of "
            f"memory, and {size_text(free)} is free: write GraphML or GEXF"
        )


def _gml_keys(names: list[str]) -> dict[str, str]:
    """Names as GML has them, of letters and digits that are ASCII; all different.

    Examples
    --------
    >>> _gml_keys(["temperature_é", "temperature_è"])
    {'temperature_é': 'temperature__', 'temperature_è': 'temperature___2'}
    """
    keys: dict[str, str] = {}
    for number, name in enumerate(names, start=1):
        key = re.sub(r"[^0-9A-Za-z_]", "_", name)
        keys[name] = key if key not in keys.values() else f"{key}_{number}"
    return keys


def _titles(names: list[str], text: XmlText) -> list[str]:
    return list(text.escaped(pa.array(names, pa.large_string())).to_pylist())


def _kind(type_: pa.DataType) -> str:
    """What both formats call a type."""
    return next((name for matches, name in _KINDS if matches(type_)), "string")


def _painted(colours: pa.Array, written: Callable[[int, int, int], str]) -> pa.Array:
    """A piece of XML for each colour, of which there are few."""
    found = colours.dictionary_encode()
    pieces = [written(*_parts(colour)) for colour in found.dictionary.to_pylist()]
    return pa.array(pieces, pa.large_string()).take(found.indices)


def _parts(colour: str) -> tuple[int, int, int]:
    """Red, green and blue."""
    r, g, b = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return r, g, b


def _viz(r: int, g: int, b: int) -> str:
    return f'<viz:color r="{r}" g="{g}" b="{b}"/>'


def _rgb(r: int, g: int, b: int) -> str:
    cells = zip("rgb", (r, g, b), strict=True)
    return "".join(f'<data key="{key}">{value}</data>' for key, value in cells)
