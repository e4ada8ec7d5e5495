"""What every writer gives, beside the same rows written slowly: texts to the byte."""

import csv
import gzip
import io
import json
from xml.sax.saxutils import escape

import openpyxl
import pyarrow.parquet as pq
import pytest

from isotherm import DirichletClassifier, Graph, write_predictions
from isotherm.read import formats

NODES = ["ann", "b,c", "=d", "e<f>&", 'g"h"', "0007", "alone"]
COLUMNS = ["node", "label", "probability", "most_probable", "its_probability", "margin"]
COLUMNS += ["status", "certified"]
ROWS = [
    ["ann", "red", 1, None, None, 1, "seed", True],
    ["b,c", "red", 0.9009, None, None, 0.6, "predicted", True],
    ["=d", "red", 0.7041, None, None, 0.2, "predicted", True],
    ["e<f>&", "blue", 0.7041, None, None, 0.2, "predicted", True],
    ['g"h"', "blue", 0.9009, None, None, 0.6, "predicted", True],
    ["0007", "blue", 1, None, None, 1, "seed", True],
    ["alone", None, None, None, None, None, "unreached", True],
]
RECORDS = [dict(zip(COLUMNS, row, strict=True)) for row in ROWS]
COLOURS = {"red": (213, 94, 0), "blue": (0, 114, 178), None: (139, 146, 154)}
KINDS = ["string", "double", "string", "double", "double", "string", "boolean"]
HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'


@pytest.fixture(scope="module")
def model():
    graph = Graph.from_edges(NODES[:5], NODES[1:6], [2.0] * 5, nodes=NODES)
    return DirichletClassifier().fit(graph, {"ann": "red", "0007": "blue"})


def said(value):
    return "" if value is None else "true" if value is True else str(value)


def delimited(delimiter):
    file = io.StringIO()
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    writer.writerows([COLUMNS, *([said(cell) for cell in row] for row in ROWS)])
    return file.getvalue()


def json_line(record):
    return json.dumps(record, separators=(",", ":"))


def xml(text):
    return escape(str(text), {'"': "&quot;"})


def attributes():
    return [("class" if name == "label" else name) for name in COLUMNS[1:]]


def gexf():
    keys = [
        f'<attribute id="{k}" title="{name}" type="{kind}"/>\n'
        for k, (name, kind) in enumerate(zip(attributes(), KINDS, strict=True))
    ]
    nodes = []
    for node, *cells in ROWS:
        values = "".join(
            f'<attvalue for="{k}" value="{xml(said(cell))}"/>'
            for k, cell in enumerate(cells)
            if cell is not None
        )
        r, g, b = COLOURS[cells[0]]
        nodes.append(
            f'<node id="{xml(node)}" label="{xml(node)}"><attvalues>{values}</attvalues>'
            f'<viz:color r="{r}" g="{g}" b="{b}"/></node>\n'
        )
    edges = [
        f'<edge id="{k}" source="{xml(NODES[k])}" target="{xml(NODES[k + 1])}" weight="2"/>\n'
        for k in range(5)
    ]
    return (
        f'{HEAD}<gexf xmlns="http://www.gexf.net/1.2draft" '
        'xmlns:viz="http://www.gexf.net/1.2draft/viz" version="1.2">\n'
        "<meta><creator>isotherm</creator></meta>\n"
        '<graph defaultedgetype="undirected" mode="static">\n<attributes class="node">\n'
        f"{''.join(keys)}</attributes>\n<nodes>\n{''.join(nodes)}</nodes>\n"
        f"<edges>\n{''.join(edges)}</edges>\n</graph>\n</gexf>\n"
    )


def graphml():
    named = zip([*attributes(), "color"], [*KINDS, "string"], strict=True)
    keys = [(f"d{k}", name, kind) for k, (name, kind) in enumerate(named)]
    keys += [("name", "label", "string"), *((part, part, "long") for part in "rgb")]
    declared = [
        f'<key id="{key}" for="node" attr.name="{name}" attr.type="{kind}"/>\n'
        for key, name, kind in keys
    ]
    declared.append('<key id="weight" for="edge" attr.name="weight" attr.type="double"/>\n')
    nodes = []
    for node, *cells in ROWS:
        r, g, b = COLOURS[cells[0]]
        cells = [*cells, f"#{r:02x}{g:02x}{b:02x}"]
        values = [("name", node)]
        values += [(f"d{k}", said(cell)) for k, cell in enumerate(cells) if cell is not None]
        values += [("r", r), ("g", g), ("b", b)]
        data = "".join(f'<data key="{key}">{xml(value)}</data>' for key, value in values)
        nodes.append(f'<node id="{xml(node)}">{data}</node>\n')
    edges = [
        f'<edge source="{xml(NODES[k])}" target="{xml(NODES[k + 1])}">'
        '<data key="weight">2</data></edge>\n'
        for k in range(5)
    ]
    return (
        f'{HEAD}<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n{"".join(declared)}'
        f'<graph edgedefault="undirected">\n{"".join(nodes)}{"".join(edges)}</graph>\n</graphml>\n'
    )


def gml():
    lines = ["graph ["]
    for number, (node, *cells) in enumerate(ROWS):
        escaped = node.replace("&", "&#38;").replace('"', "&#34;")
        lines += ["  node [", f"    id {number}", f'    label "{escaped}"']
        for name, cell in zip(attributes(), cells, strict=True):
            if cell is not None:
                number = float(cell) if name in ("probability", "margin") else int(cell is True)
                value = f'"{cell}"' if isinstance(cell, str) else str(number)
                lines.append(f"    {name} {value}")
        r, g, b = COLOURS[cells[0]]
        colour = f"#{r:02x}{g:02x}{b:02x}"
        lines += [
            f'    color "{colour}"',
            "    graphics [",
            f'      fill "{colour}"',
            "    ]",
            "  ]",
        ]
    for k in range(5):
        lines += ["  edge [", f"    source {k}", f"    target {k + 1}", "    weight 2.0", "  ]"]
    return "\n".join([*lines, "]", ""])


TEXTS = {
    ".csv": delimited(","),
    ".tsv": delimited("\t"),
    ".json": "[\n" + ",\n".join(map(json_line, RECORDS)) + "\n]\n",
    ".jsonl": "".join(f"{json_line(record)}\n" for record in RECORDS),
    ".gexf": gexf(),
    ".graphml": graphml(),
    ".gml": gml(),
}


@pytest.mark.parametrize("ending", TEXTS)
def test_a_text_is_written_to_the_byte(model, tmp_path, ending):
    write_predictions(model, tmp_path / f"p{ending}")
    assert (tmp_path / f"p{ending}").read_text(encoding="utf-8") == TEXTS[ending]
    write_predictions(model, tmp_path / f"p{ending}.gz")
    assert gzip.decompress((tmp_path / f"p{ending}.gz").read_bytes()).decode() == TEXTS[ending]


def test_a_parquet_file_has_the_rows_and_the_types(model, tmp_path):
    write_predictions(model, tmp_path / "p.parquet")
    found = pq.read_table(tmp_path / "p.parquet")
    assert found.to_pylist() == RECORDS
    kinds = {str(kind).removeprefix("large_") for kind in found.schema.types}
    assert kinds == {"string", "double", "bool"}


def test_a_workbook_has_the_rows_and_the_types(model, tmp_path):
    write_predictions(model, tmp_path / "p.xlsx")
    book = openpyxl.load_workbook(tmp_path / "p.xlsx")
    head, *rows = book.active.iter_rows(values_only=True)
    assert book.sheetnames == ["isotherm"]
    assert [dict(zip(head, row, strict=True)) for row in rows] == RECORDS
    assert [cell.font.bold for cell in book.active[1]] == [True] * 8
    assert book.active["A6"].value == 'g"h"'
    assert (book.active["A7"].value, book.active["A7"].data_type) == ("0007", "s")
    assert book.active.column_dimensions["A"].width == pytest.approx(24, abs=1)


def test_every_writer_is_among_them():
    endings = {output.endings[0] for entry in formats.FORMATS for output in entry.outputs}
    assert endings == {*TEXTS, ".parquet", ".xlsx"}
