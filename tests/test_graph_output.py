"""Workbooks and graph files: opened by other programs as they were meant, whatever the names."""

import io
import json
import math
import sys
import warnings
import zipfile

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from openpyxl import load_workbook

from isotherm import (
    BlockModel,
    DirichletClassifier,
    DirichletRegressor,
    FileError,
    Graph,
    IsothermWarning,
    MissingLibrary,
    MultiLabelDirichletClassifier,
    NotEnoughMemory,
    ParameterError,
    read_graph,
    write_predictions,
)
from isotherm.colours import COLOURS, OTHER
from isotherm.fit_files import predict_values
from isotherm.job import Job
from isotherm.listing import list_nodes
from isotherm.pipeline import Silent, do
from isotherm.report.page import TEMPLATES
from isotherm.write import write_list, write_records
from isotherm.writers.workbook import write_workbook

HOSTILE = ["=1+1", "007", "a\x01", "a\x02", "<b>'\"", "]]>", "tab\there", "new\nline", "_x0041_"]
HOSTILE += ["é\u202e", "\ufffe", " padded ", "</node><node id='x'/>", "&amp;"]
VALUES = dict.fromkeys(("leak", "tol", "solver", "engine", "threads", "unreached"))
GRAPHS = ("gexf", "graphml", "gml")
READERS = {".gexf": nx.read_gexf, ".graphml": nx.read_graphml}


def colour_of(data):
    if "viz" not in data:
        assert data["color"] == "#{:02x}{:02x}{:02x}".format(*(data[part] for part in "rgb"))
        return data["color"]
    return "#{:02x}{:02x}{:02x}".format(*(data["viz"]["color"][part] for part in "rgb"))


@pytest.fixture(scope="module")
def blocks():
    graph, truth = BlockModel([30, 20, 10], p=0.3, q=0.05).sample(np.random.default_rng(0))
    names = [f"node {k}" for k in range(60)]
    source, target = graph.adjacency.nonzero()
    once = source < target
    weights = np.random.default_rng(1).random(once.sum()) + 0.5
    ends = [[names[k] for k in end[once]] for end in (source, target)]
    named = Graph.from_edges(*ends, weights, nodes=[*names, "alone"])
    return DirichletClassifier().fit(
        named, {names[k]: f"class {truth[k]}" for k in range(0, 60, 4)}
    )


@pytest.mark.parametrize("rows", [7, 1 << 17])
@pytest.mark.parametrize("ending", READERS)
def test_a_graph_file_has_what_was_found_and_all_edges(blocks, tmp_path, monkeypatch, ending, rows):
    monkeypatch.setattr("isotherm.write.rows.ROWS", rows)
    monkeypatch.setattr("isotherm.writers.graphs.ENTRIES", 3 * rows)
    path = tmp_path / f"p{ending}"
    write_predictions(blocks, path)
    found, expected = READERS[ending](path), blocks.to_networkx()
    assert set(found) == set(expected)
    assert {frozenset(edge) for edge in found.edges} == {frozenset(edge) for edge in expected.edges}
    for a, b, weight in expected.edges(data="weight"):
        assert found.edges[a, b]["weight"] == weight
    colours = dict(zip(blocks.classes_.tolist(), COLOURS, strict=False)) | {None: OTHER}
    for node, data in found.nodes(data=True):
        known = expected.nodes[node]
        assert data["label"] == node
        assert data.get("class") == known.get("label")
        assert data.get("probability") == pytest.approx(known.get("probability"), abs=1e-4)
        assert data["status"] == known["status"]
        assert data["certified"] is known["certified"]
        assert colour_of(data) == colours[known.get("label")]


def test_igraph_opens_graphml_with_colours_to_draw_by(blocks, tmp_path):
    igraph = pytest.importorskip("igraph")
    write_predictions(blocks, tmp_path / "p.graphml", temperatures=True)
    found = igraph.Graph.Read_GraphML(str(tmp_path / "p.graphml"))
    assert found.vs["label"] == blocks.names_.tolist()
    assert found.vs["class"][:60] == blocks.labels_.tolist()[:60]
    assert set(found.vs["color"]) == {*COLOURS[:3], OTHER}
    assert found.ecount() == blocks.problem_.graph.n_edges
    T = [found.vs[f"temperature_class {k}"] for k in range(3)]
    assert np.allclose(np.array(T).T, blocks.temperatures_, atol=1e-6, equal_nan=True)
    gexf = tmp_path / "p.gexf"
    write_predictions(blocks, gexf)
    assert igraph.Graph.from_networkx(nx.read_gexf(gexf)).ecount() == found.ecount()


@pytest.mark.parametrize("ending", [f".{kind}{gz}" for kind in GRAPHS for gz in ("", ".gz")])
def test_isotherm_reads_the_graphs_that_it_writes(blocks, tmp_path, ending):
    write_predictions(blocks, tmp_path / f"p{ending}")
    again = read_graph(tmp_path / f"p{ending}")
    order = [again.nodes.positions([node])[0] for node in blocks.names_.tolist()]
    assert (again.adjacency[order][:, order] != blocks.problem_.graph.adjacency).nnz == 0


@pytest.mark.parametrize("ending", READERS)
def test_hostile_names_stay_names_and_apart(tmp_path, ending):
    model = DirichletClassifier().fit(
        Graph.from_edges(HOSTILE, [*HOSTILE[1:], "end"], nodes=[*HOSTILE, "end"]),
        {"=1+1": "</gexf>", "end": "bell \x07"},
    )
    with pytest.warns(IsothermWarning, match=r"XML cannot hold; each is written as �"):
        write_predictions(model, tmp_path / f"h{ending}")
    found = READERS[ending](tmp_path / f"h{ending}")
    assert (len(found), found.number_of_edges()) == (len(HOSTILE) + 1, len(HOSTILE))
    assert nx.is_path(found, list(found))
    labels = [data["label"] for _, data in found.nodes(data=True)]
    changed = str.maketrans(dict.fromkeys("\x01\x02\ufffe", "\ufffd"))
    assert labels == [name.translate(changed) for name in [*HOSTILE, "end"]]
    assert {data["class"] for _, data in found.nodes(data=True)} == {"</gexf>", "bell �"}


def test_gml_has_what_was_found_and_all_edges(blocks, tmp_path):
    path = tmp_path / "p.gml"
    write_predictions(blocks, path, temperatures=True)
    found, expected = nx.read_gml(path), blocks.to_networkx()
    assert list(found) == list(expected)
    assert {frozenset(edge) for edge in found.edges} == {frozenset(edge) for edge in expected.edges}
    for a, b, weight in expected.edges(data="weight"):
        assert found.edges[a, b]["weight"] == weight
    colours = dict(zip(blocks.classes_.tolist(), COLOURS, strict=False)) | {None: OTHER}
    for k, (node, data) in enumerate(found.nodes(data=True)):
        known = expected.nodes[node]
        assert data.get("class") == known.get("label")
        assert data["certified"] == known["certified"]
        assert data["graphics"]["fill"] == colours[known.get("label")]
        if node != "alone":
            T = [data[f"temperature_class_{j}"] for j in range(3)]
            assert pytest.approx(blocks.temperatures_[k].tolist(), abs=1e-6) == T
    again = read_graph(path)
    assert (again.adjacency != blocks.problem_.graph.adjacency).nnz == 0


def test_igraph_opens_gml_with_colours_to_draw_by(blocks, tmp_path):
    igraph = pytest.importorskip("igraph")
    path = tmp_path / "p.gml"
    write_predictions(blocks, path, temperatures=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of igraph, which does not look into graphics
        opened = igraph.Graph.Read_GML(str(path))
    expected = blocks.to_networkx()
    assert opened.vs["label"] == list(expected)
    assert set(opened.vs["color"]) == {*COLOURS[:3], OTHER}
    assert (opened.vcount(), opened.ecount()) == (61, expected.number_of_edges())


def test_hostile_names_stay_names_and_apart_in_gml(tmp_path):
    model = DirichletClassifier().fit(
        Graph.from_edges(HOSTILE, [*HOSTILE[1:], "end"], nodes=[*HOSTILE, "end"]),
        {"=1+1": "]", "end": 'bell \x07 "'},
    )
    write_predictions(model, tmp_path / "h.gml")
    found = nx.read_gml(tmp_path / "h.gml")
    assert list(found) == [*HOSTILE, "end"]
    assert nx.is_path(found, list(found))
    assert {data["class"] for _, data in found.nodes(data=True)} == {"]", 'bell \x07 "'}
    assert read_graph(tmp_path / "h.gml").names.tolist() == [*HOSTILE, "end"]


def test_gml_that_takes_too_much_memory_is_refused_before_the_solve(tmp_path, monkeypatch):
    monkeypatch.setattr("isotherm.writers.graphs.SMALL", 0)
    monkeypatch.setattr("isotherm.writers.graphs.free_memory", lambda: 10_000)
    monkeypatch.setattr("isotherm.pipeline.fit", lambda *_: pytest.fail("it was solved"))
    (tmp_path / "e.csv").write_text("source,target\na,b\nb,c\nc,d\nd,e\n")
    (tmp_path / "l.csv").write_text("node,label\na,x\ne,y\n")
    files = [str(tmp_path / name) for name in ("e.csv", "l.csv", "p.gml")]
    with pytest.raises(
        NotEnoughMemory, match=r"p\.gml: GML of 5 nodes and 4 edges .*: write Graph"
    ):
        do(Job(*files))


def test_gml_needs_networkx_which_is_said_before_anything_is_read(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(MissingLibrary, match=r"p\.gml is GML, and writing it needs networkx.*pip"):
        do(Job("nothing.csv", "nothing.csv", str(tmp_path / "p.gml")))


def test_gml_that_takes_long_names_what_does_not(blocks, tmp_path, monkeypatch):
    monkeypatch.setattr("isotherm.writers.graphs.PATIENCE", 0)
    with pytest.warns(IsothermWarning, match=r"p\.gml: GML of this size takes .* GraphML and GEXF"):
        write_predictions(blocks, tmp_path / "p.gml")


def test_a_workbook_keeps_texts_as_texts(tmp_path):
    nodes = [*HOSTILE, "x" * 40_000]
    graph = Graph.from_edges(HOSTILE, nodes[1:], nodes=nodes)
    model = DirichletClassifier().fit(graph, {"=1+1": "@SUM(A1)", "007": "2.50"})
    with pytest.warns(IsothermWarning, match=r"a workbook cannot hold.*1 cell has more than the"):
        write_predictions(model, tmp_path / "h.xlsx")
    sheet = load_workbook(tmp_path / "h.xlsx").active
    nodes = sheet["A"][1:]
    assert {cell.data_type for cell in nodes} <= {"s", "inlineStr"}
    changed = str.maketrans(dict.fromkeys("\x01\x02\ufffe", "\ufffd"))
    expected = [name.translate(changed) for name in HOSTILE] + ["x" * 32_767]
    expected[HOSTILE.index("_x0041_")] = "_x005F_x0041_"  # which Excel shows as _x0041_
    assert [cell.value for cell in nodes] == expected
    assert {cell.value for cell in sheet["B"][1:]} == {"@SUM(A1)", "2.50"}
    assert sheet.freeze_panes == "A2"
    assert sheet.auto_filter.ref == f"A1:H{len(expected) + 1}"


def test_values_and_rankings_are_coloured_on_a_scale(tmp_path):
    path = Graph.from_edges("abcd", "bcde")
    model = DirichletRegressor().fit(path, {"a": -1.0, "e": 3.0})
    write_predictions(model, tmp_path / "v.graphml")
    found = nx.read_graphml(tmp_path / "v.graphml")
    assert [data["value"] for _, data in found.nodes(data=True)] == pytest.approx([-1, 0, 1, 2, 3])
    shown = [data["color"] for _, data in found.nodes(data=True)]
    assert (shown[0], shown[-1], len(set(shown))) == ("#3fa3dc", "#d55e00", 5)
    ranked = DirichletClassifier().fit(path, {"a": "fraud"})
    write_predictions(ranked, tmp_path / "r.gexf")
    nodes = nx.read_gexf(tmp_path / "r.gexf").nodes(data=True)
    assert next((data["label"], data["status"]) for _, data in nodes) == ("a", "seed")
    assert colour_of(nodes["a"]) == "#d55e00"


def test_sets_of_labels_have_the_colour_of_the_first(tmp_path):
    path = Graph.from_edges("abcd", "bcde")
    model = MultiLabelDirichletClassifier().fit(path, {"a": ["red", "round"], "e": ["round"]})
    write_predictions(model, tmp_path / "m.graphml")
    nodes = nx.read_graphml(tmp_path / "m.graphml").nodes(data=True)
    assert (nodes["a"]["labels"], nodes["a"]["color"]) == ("red;round", COLOURS[0])
    assert (nodes["e"]["labels"], nodes["e"]["color"]) == ("round", COLOURS[1])


@pytest.mark.parametrize("ending", READERS)
def test_a_list_has_the_edges_among_its_nodes(blocks, tmp_path, ending):
    listed = list_nodes(blocks, "class 0", top=9, reasons=False)
    write_list(listed, tmp_path / f"l{ending}", blocks)
    found = READERS[ending](tmp_path / f"l{ending}")
    assert list(found) == [one.node for one in listed]
    among = blocks.to_networkx().subgraph(found)
    assert {frozenset(edge) for edge in found.edges} == {frozenset(edge) for edge in among.edges}
    assert all(found.edges[edge]["weight"] == among.edges[edge]["weight"] for edge in found.edges)
    assert found.nodes[listed[0].node]["rank"] == 1


@pytest.mark.parametrize(
    "name", [f"l.{end}" for end in ("csv", "xlsx", "json", "gexf", "graphml", "gml", "jsonl")]
)
def test_a_list_of_nobody_is_a_file_without_rows(blocks, tmp_path, name):
    write_list([], tmp_path / name, blocks)
    if name == "l.csv":
        assert (tmp_path / name).read_text().startswith("rank,node,label,probability")
    if name == "l.json":
        assert json.loads((tmp_path / name).read_text()) == []
    if name == "l.xlsx":
        assert load_workbook(tmp_path / name).active.max_row == 1


def test_pages_and_files_have_the_same_colours():
    style = (TEMPLATES / "colours.css").read_text(encoding="utf-8")
    light = style[: style.index("@media")]
    assert all(f"--c{k}: {colour};" in light for k, colour in enumerate(COLOURS))
    assert f"--other: {OTHER};" in light


# --- limits ---------------------------------------------------------------------------------------


def test_more_rows_than_a_sheet_has_are_refused_before_the_solve(tmp_path, monkeypatch):
    monkeypatch.setattr("isotherm.writers.workbook.ROWS", 5)
    monkeypatch.setattr("isotherm.pipeline.fit", lambda *_: pytest.fail("it was solved"))
    (tmp_path / "e.csv").write_text("source,target\na,b\nb,c\nc,d\nd,e\n")
    (tmp_path / "l.csv").write_text("node,label\na,x\ne,y\n")
    files = [str(tmp_path / name) for name in ("e.csv", "l.csv", "p.xlsx")]
    refused = r"p\.xlsx: an Excel sheet holds 4 rows below its headings, and there are "
    with pytest.raises(FileError, match=refused + "5"):
        do(Job(*files))
    with pytest.raises(FileError, match=refused + "5"):
        predict_values(Job(*files, model=VALUES), Silent())
    with pytest.raises(FileError, match=refused + "9"):
        do(Job("nothing.csv", *files[1:], listed="x", top=9))
    assert not (tmp_path / "p.xlsx").exists()


def test_more_columns_than_a_sheet_has_are_refused(blocks, tmp_path, monkeypatch):
    monkeypatch.setattr("isotherm.writers.workbook.COLUMNS", 10)
    with pytest.raises(FileError, match=r"t\.xlsx: an Excel sheet holds 10 columns.* are 11"):
        write_predictions(blocks, tmp_path / "t.xlsx", temperatures=True)
    write_predictions(blocks, tmp_path / "t.xlsx")


def batch(**columns):
    return pa.RecordBatch.from_pydict(columns)


def cells(path):
    return [[cell.value for cell in row] for row in load_workbook(path).active.iter_rows()]


def test_a_sheet_that_is_not_completed_leaves_no_file_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def rows():
        yield batch(node=["a"] * 1000)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_workbook(io.BytesIO(), rows())
    assert list(tmp_path.iterdir()) == []

    class Full(io.BytesIO):
        def write(self, _):
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        write_workbook(Full(), [batch(node=["a"])])
    assert list(tmp_path.iterdir()) == []


def test_two_workbooks_of_the_same_rows_have_the_same_bytes(blocks, tmp_path):
    for name in ("one.xlsx", "other.xlsx"):
        write_predictions(blocks, tmp_path / name)
    assert (tmp_path / "one.xlsx").read_bytes() == (tmp_path / "other.xlsx").read_bytes()


MARKUP = "<r><t>x</t></r></is></c><c r='C1'><f>1+1</f></c><c><is><r></r>"
ODD = [MARKUP, "<r></r>", "=1+1", "@x", "#N/A", "#REF!", "{=1}", "http://x.org", "1e5", "0007"]
ODD += ["TRUE", "  padded", "-1", "+1", "mailto:x", "internal:x!A1", "<r>&amp;</r>"]


def test_no_text_becomes_anything_else_in_a_workbook(tmp_path):
    names = [MARKUP, f"{MARKUP}1", f"{MARKUP}2"]
    written = io.BytesIO()
    columns = {"node": ODD, **dict.fromkeys(names, ODD)}
    assert write_workbook(written, [batch(**columns)]) is None
    (tmp_path / "w.xlsx").write_bytes(written.getvalue())
    assert cells(tmp_path / "w.xlsx") == [[*columns], *([text] * 4 for text in ODD)]
    kinds = {cell.data_type for row in load_workbook(tmp_path / "w.xlsx").active for cell in row}
    assert kinds <= {"s", "inlineStr"}
    with zipfile.ZipFile(written) as archive:
        sheet = archive.read("xl/worksheets/sheet1.xml")
        assert b"<f>" not in sheet
        assert not any("externalLink" in name for name in archive.namelist())


def test_numbers_that_a_sheet_does_not_have_are_texts(tmp_path):
    written = io.BytesIO()
    values = [0.1, math.inf, -math.inf, math.nan, None, 1e300]
    write_workbook(written, [batch(a=values, b=[1, 2, 3, 4, None, 2**40], c=[True, False] * 3)])
    (tmp_path / "w.xlsx").write_bytes(written.getvalue())
    _, *rows = cells(tmp_path / "w.xlsx")
    assert [row[0] for row in rows] == [0.1, "inf", "-inf", "nan", None, 1e300]
    assert [row[1] for row in rows] == [1, 2, 3, 4, None, 2**40]
    assert [row[2] for row in rows] == [True, False] * 3


def test_cells_that_are_cut_are_counted(monkeypatch, tmp_path):
    written = io.BytesIO()
    long = ["x" * 32_767, "x" * 32_768, "é" * 40_000, "🙂" * 20_000, f"<r>{'x' * 40_000}</r>"]
    said = write_workbook(written, [batch(node=long)])
    (tmp_path / "w.xlsx").write_bytes(written.getvalue())
    found = [row[0] for row in cells(tmp_path / "w.xlsx")[1:]]
    assert said.startswith("4 cells have more than the 32,767 characters that a workbook can hold")
    assert [len(text.encode("utf-16-le")) // 2 <= 32_767 for text in found] == [True] * 5
    assert all(text.startswith(cell) for text, cell in zip(long, found, strict=True))
    monkeypatch.setattr("isotherm.writers.workbook.PATIENCE", 0)
    said = write_workbook(io.BytesIO(), [batch(node=["a"])])
    assert (
        said == "a workbook of 1 rows takes about 0 seconds to write, CSV or Parquet less than one"
    )


@pytest.mark.parametrize("name", ["r.csv", "r.tsv", "r.parquet", "r.xlsx", "r.json", "r.jsonl"])
def test_records_are_written_in_every_format_of_tables(tmp_path, name):
    records = [{"a": 1, "b": None, "c": "x"}, {"a": 2.5, "b": None, "c": 7}]
    write_records(records, ("a", "b", "c"), tmp_path / name)
    if name == "r.csv":
        assert (tmp_path / name).read_text() == "a,b,c\n1,,x\n2.5,,7\n"
    with pytest.raises(ParameterError, match=r"must be one of \.csv.*\.jsonl, \.ndjson$"):
        write_records(records, ("a",), tmp_path / "r.gexf")
