"""Formats that people have: databases, workbooks, JSON, archives, part files, formats of graphs."""

import gzip
import hashlib
import io
import json
import os
import sqlite3
import struct
import subprocess
import sys
import zipfile
from dataclasses import replace
from inspect import signature

import networkx as nx
import openpyxl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

from conftest import CliRun
from format_samples import SAMPLES
from isotherm import (
    FileError,
    GraphError,
    IsothermError,
    IsothermWarning,
    LabelError,
    MissingLibrary,
    ParameterError,
    read_graph,
    read_labels,
)
from isotherm.estimate import count_edges
from isotherm.fit_files import predict_label_sets, predict_values
from isotherm.job import Job
from isotherm.pipeline import Silent, do
from isotherm.read import formats
from isotherm.read.load import gather_labels, load_graph
from isotherm.read.opening import open_source
from isotherm.read.options import TextOptions
from other_libraries import polars_frame

pytestmark = pytest.mark.core_free

EDGES = [("007", "b", 1.0), ("b", "c", 2.5), ("c", "007", 4.0)]
DEGREES = {"007": 5.0, "b": 3.5, "c": 6.5}


def degrees(graph):
    return dict(zip(graph.names.tolist(), graph.degrees.tolist(), strict=True))


def csv_text(rows=EDGES):
    return "source,target,weight\n" + "".join(f"{a},{b},{w}\n" for a, b, w in rows)


def zipped(path, members, **how):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, **how) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


# --- SQLite ---------------------------------------------------------------------------------------


@pytest.fixture
def bank(tmp_path):
    path = tmp_path / "bank.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE tx (source TEXT, target TEXT, weight REAL)")
        database.executemany("INSERT INTO tx VALUES (?, ?, ?)", EDGES)
        database.execute("CREATE TABLE known (node TEXT, label TEXT)")
        database.execute("INSERT INTO known VALUES ('007', 'bad'), ('c', NULL)")
        database.execute("CREATE VIEW large AS SELECT * FROM tx WHERE weight > 2")
    database.close()
    return path


def test_a_table_a_view_and_a_query_of_a_database_are_read(bank):
    graph = read_graph(bank, table="tx")
    assert degrees(graph) == DEGREES
    assert read_labels(bank, graph, table="known") == {"007": "bad"}
    assert degrees(read_graph(bank, table="large")) == {"b": 2.5, "c": 6.5, "007": 4.0}
    query = "SELECT source AS a, target AS b FROM tx WHERE weight < 2"
    assert degrees(read_graph(bank, table=query)) == {"007": 1.0, "b": 1.0}


def test_a_database_of_one_table_needs_no_name(tmp_path, bank):
    with pytest.raises(
        FileError, match=r"has 3 tables; name one, .*--table .*'known', 'large', 'tx'"
    ):
        read_graph(bank)
    with sqlite3.connect(tmp_path / "one.db") as database:
        database.execute("CREATE TABLE e AS SELECT 'a' AS source, 7 AS target")
    database.close()
    assert degrees(read_graph(tmp_path / "one.db")) == {"a": 1.0, "7": 1.0}
    packed = zipped(tmp_path / "one.zip", {"one.db": (tmp_path / "one.db").read_bytes()})
    assert degrees(read_graph(packed)) == {"a": 1.0, "7": 1.0}


@pytest.mark.parametrize(
    "query",
    [
        "WITH x AS (SELECT 1) DELETE FROM tx",
        "WITH x AS (SELECT 1) INSERT INTO tx SELECT 'x', 'y', 1",
        "SELECT load_extension('x')",
        "SELECT name AS source, file AS target FROM pragma_database_list",
        "SELECT 1, 2; DROP TABLE tx",
        "DELETE FROM tx",
        "ATTACH 'other.db' AS other",
        "PRAGMA writable_schema = ON",
        "SELECT nonsense FROM tx",
        "nothing",
    ],
)
def test_a_query_only_reads(bank, query):
    before = bank.read_bytes()
    with pytest.raises(ParameterError, match=r"bank\.db"):
        read_graph(bank, table=query)
    assert bank.read_bytes() == before


def test_a_database_that_is_locked_damaged_or_cut_off_is_refused(bank, tmp_path, monkeypatch):
    monkeypatch.setattr("isotherm.read.sqlite_table.PATIENCE", 0.01)
    writer = sqlite3.connect(bank, isolation_level=None)
    writer.execute("BEGIN EXCLUSIVE")
    with pytest.raises(FileError, match="is locked: another program is writing to it"):
        read_graph(bank, table="tx")
    writer.execute("ROLLBACK")
    writer.close()
    data = bank.read_bytes()
    for broken in (data[:4096], data[:100] + b"\xff" * 3000 + data[3100:]):
        (tmp_path / "broken.db").write_bytes(broken)
        with pytest.raises(IsothermError, match=r"broken\.db"):
            read_graph(tmp_path / "broken.db", table="tx")


def test_a_table_is_named_only_where_there_are_several(tmp_path):
    (tmp_path / "e.csv").write_text(csv_text())
    with pytest.raises(ParameterError, match="no tables or sheets to choose from"):
        read_graph(tmp_path / "e.csv", table="tx")


# --- workbooks ------------------------------------------------------------------------------------


def workbook(path, **sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_sheets_are_read_by_name_or_number(tmp_path):
    names = ("source", "target", "weight")
    known = [("node", "label"), ("007", "bad"), ("c", None)]
    path = workbook(tmp_path / "b.xlsx", Tx=[names, (), *EDGES], Known=known, Empty=[])
    graph = read_graph(path, table="Tx")
    assert degrees(graph) == DEGREES
    assert degrees(read_graph(path, table="1")) == DEGREES
    assert read_labels(path, graph, table="Known") == {"007": "bad"}
    with pytest.raises(FileError, match=r"2 sheets that are not empty; .*'Tx', 'Known', 'Empty'"):
        read_graph(path)
    with pytest.raises(ParameterError, match="no sheet 'X'; choose one of: 'Tx'"):
        read_graph(path, table="X")
    only = workbook(tmp_path / "one.xlsx", Tx=[(1, 2, 0.5), (2, 3, 1.5)], Empty=[])
    assert degrees(read_graph(only, source=1, target=2, weight=3)) == {"1": 0.5, "2": 2.0, "3": 1.5}


def test_a_workbook_that_is_hostile_or_broken_is_refused(tmp_path):
    good = workbook(tmp_path / "good.xlsx", Tx=[("source", "target"), ("a", "b")])
    data, path = good.read_bytes(), tmp_path / "bad.xlsx"
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(FileError, match=r"bad\.xlsx is damaged, cut off"):
        read_graph(path)
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(5000))
    with pytest.raises(FileError, match="with a password, or from Excel before 2007"):
        read_graph(path)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    zipped(path, {**members, "xl/vbaProject.bin": b"x"})
    with pytest.raises(FileError, match="has macros: save it without them"):
        read_graph(path)
    entities = b'<!DOCTYPE x [<!ENTITY a "aaaa">]>'
    sheet = members["xl/worksheets/sheet1.xml"]
    zipped(path, {**members, "xl/worksheets/sheet1.xml": entities + sheet})
    with pytest.raises(FileError, match="declares XML entities"):
        read_graph(path)
    zipped(path, {**members, "xl/sharedStrings.xml": bytes(5_000_000)})
    with pytest.raises(FileError, match="unpacks to more than"):
        read_graph(path, unpack_limit=1_000_000)


def test_a_cell_far_away_takes_no_memory(tmp_path):
    book = openpyxl.Workbook()
    book.active.append(("source", "target"))
    book.active.append(("a", "b"))
    book.active["C900000"] = "x"
    book.save(tmp_path / "far.xlsx")
    with pytest.raises(GraphError, match="row 2: an empty cell"):
        read_graph(tmp_path / "far.xlsx")


NEEDED = {
    "b.xlsx": ("openpyxl", r"b\.xlsx is Excel"),
    "g.graphml": ("networkx", r"g\.graphml is GraphML"),
    "g.gexf": ("networkx", r"g\.gexf is GEXF"),
    "g.gml": ("networkx", r"g\.gml is GML"),
    "e.edgelist": ("networkx", r"e\.edgelist is networkx edge list"),
}


@pytest.mark.parametrize("name", NEEDED)
def test_without_the_library_the_message_says_how_to_get_it(tmp_path, monkeypatch, name):
    library, said = NEEDED[name]
    entry = said.split(" is ")[1]
    (tmp_path / name).write_bytes(SAMPLES[entry][0])
    (tmp_path / "e.csv").write_text("a,b\n")
    monkeypatch.setitem(sys.modules, library, None)
    message = f"{said}, and reading it needs {library}.*: pip install networkx openpyxl"
    with pytest.raises(MissingLibrary, match=message):
        read_graph(tmp_path / name)
    # Before anything is read, where it is the second file that needs it.
    monkeypatch.setattr("isotherm.pipeline.load_graph", lambda *_, **__: pytest.fail("it was read"))
    with pytest.raises(MissingLibrary, match=message):
        do(Job(str(tmp_path / "e.csv"), str(tmp_path / name)))
    with pytest.raises(MissingLibrary, match=message):
        predict_values(Job(str(tmp_path / "e.csv"), str(tmp_path / name)), Silent())


# --- JSON -----------------------------------------------------------------------------------------

RECORDS = [{"from": a, "to": b, "weight": w} for a, b, w in EDGES]
NODES = [{"id": "007", "club": "x"}, {"id": "b"}, {"id": "c"}, {"id": "alone"}]
LINKS = [{"source": a, "target": b, "weight": w} for a, b, w in EDGES]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(RECORDS),
        "\n".join(map(json.dumps, RECORDS)),
        json.dumps(RECORDS, indent=2),
        json.dumps({"from": ["007", "b", "c"], "to": ["b", "c", "007"], "weight": [1, 2.5, 4]}),
    ],
)
def test_edges_in_json_are_records_lines_or_columns(tmp_path, text):
    (tmp_path / "e.json").write_text(text)
    assert degrees(read_graph(tmp_path / "e.json")) == DEGREES


@pytest.mark.parametrize("key", ["links", "edges"])
def test_a_graph_in_json_keeps_nodes_without_edges_and_labels(tmp_path, key):
    path = tmp_path / "g.json"
    path.write_text(json.dumps({"directed": False, "graph": {}, "nodes": NODES, key: LINKS}))
    graph = read_graph(path)
    assert degrees(graph) == {**DEGREES, "alone": 0.0}
    assert read_labels(path, graph, label="club") == {"007": "x"}


def test_what_networkx_d3_and_cytoscape_write_is_read(tmp_path):
    graph, path = nx.karate_club_graph(), tmp_path / "g.json"
    for found in (nx.node_link_data(graph, edges="links"), nx.cytoscape_data(graph)):
        path.write_text(json.dumps(found))
        back = read_graph(path)
        assert (back.n_nodes, back.n_edges) == (34, 78)
        assert set(read_labels(path, back, label="club").values()) == {"Mr. Hi", "Officer"}
    d3 = {"nodes": [{"name": "ann"}, {"name": "bob"}], "links": [{"source": 0, "target": 1}]}
    path.write_text(json.dumps(d3))
    assert read_graph(path).names.tolist() == ["ann", "bob"]
    path.write_text(json.dumps({**d3, "directed": True}))
    with pytest.warns(IsothermWarning, match="direction of edges is ignored"):
        read_graph(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('["a", "b", "c"]', "edges in JSON must be a list of records"),
        ("[" * 10**6, "nested too deep"),
        ('{"a":' * 10**6, "nested too deep"),
        ('{"nodes": [' + "[" * 10**6, "nested too deep"),
        ('[{"source": "a"', "is not JSON"),
        ('{"source": "a", "target": "b"}\n{"source": \n', "line 2 is not JSON"),
        ('{"nodes": [{"id": 1}], "links": [{"source": 1, "target": 2}]}', "'2', which is not decl"),
        ('{"nodes": [1, 2], "links": []}', "needs lists of records"),
        ('{"x": "y"}', "edges in JSON must be a list of records"),
        ("[]", "has no rows"),
        ('[{"source": "a", "target": "b"}, 7]', "row 2 is not like the first"),
        ('{"source": ["a"], "target": []}', "columns of different lengths"),
    ],
)
def test_json_that_is_no_graph_is_refused(tmp_path, text, said):
    (tmp_path / "e.json").write_text(text)
    with pytest.raises(IsothermError, match=said):
        read_graph(tmp_path / "e.json")


def test_records_of_two_keys_are_nodes_and_labels_whatever_they_are_called(tmp_path):
    (tmp_path / "e.csv").write_text("007,b\n")
    (tmp_path / "l.json").write_text('[{"account": "007", "status": "bad"}]')
    graph = read_graph(tmp_path / "e.csv")
    assert read_labels(tmp_path / "l.json", graph) == {"007": "bad"}


def test_deep_json_of_labels_is_refused(tmp_path):
    (tmp_path / "e.csv").write_text("a,b\n")
    (tmp_path / "l.json").write_text("[" * 10**6)
    with pytest.raises(LabelError, match="nested too deep"):
        read_labels(tmp_path / "l.json", read_graph(tmp_path / "e.csv"))


# --- zip archives ---------------------------------------------------------------------------------


def test_an_archive_of_one_file_is_read_as_that_file(tmp_path):
    path = zipped(tmp_path / "e.zip", {"data/e.csv": csv_text(), "__MACOSX/data/._e.csv": b"x"})
    graph, report = load_graph(path, hashed=True)
    assert degrees(graph) == DEGREES
    assert (report.format, len(report.checksum)) == ("CSV", 64)
    pq.write_table(pa.table({"source": ["a"], "target": ["b"]}), tmp_path / "t.parquet")
    inner = (tmp_path / "t.parquet").read_bytes()
    assert read_graph(zipped(tmp_path / "t.zip", {"t.parquet": inner})).n_edges == 1


def test_an_archive_on_standard_input_is_read(tmp_path):
    zipped(tmp_path / "e.zip", {"e.csv": csv_text()})
    (tmp_path / "known.csv").write_text("node,label\n007,x\nc,y\n")
    data = (tmp_path / "e.zip").read_bytes()
    command = [sys.executable, "-m", "isotherm", "classify", "-", "known.csv", "-o", "-"]
    result = subprocess.run(command, input=data, capture_output=True, cwd=tmp_path, check=True)
    assert b"007,x,1" in result.stdout


def test_archives_of_several_files_broken_or_with_a_password_are_refused(tmp_path):
    path = tmp_path / "e.zip"
    with pytest.raises(FileError, match="archive of 2 files: 'a"):
        read_graph(zipped(path, {"a.csv": "a,b\n", "b.csv": "a,b\n"}))
    data = zipped(path, {"a.csv": csv_text(EDGES * 500)}).read_bytes()
    path.write_bytes(data[:-40])
    with pytest.raises(FileError, match="damaged zip archive"):
        read_graph(path)
    path.write_bytes(data[:60] + b"\0\0\0" + data[63:])
    with pytest.raises(FileError, match="damaged zip archive"):
        read_graph(path)
    protected = bytearray(data)
    protected[6] |= 1
    protected[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(protected)
    with pytest.raises(FileError, match="protected by a password: unpack it first"):
        read_graph(path)


def test_an_archive_of_a_file_without_a_name_is_refused(tmp_path):
    path = zipped(tmp_path / "e.zip", {"e": csv_text()})
    data = bytearray(path.read_bytes())
    directory = data.index(b"PK\x01\x02")
    struct.pack_into("<HH", data, directory + 28, 0, 1)  # bytes of the name, and of what follows
    for bad in (bytes(data), zipped(path, {".": csv_text()}).read_bytes()):
        path.write_bytes(bad)
        with pytest.raises(FileError, match=r"e\.zip is a damaged .*: a file in it has no"):
            read_graph(path)


def test_an_archive_that_fills_the_memory_is_refused(tmp_path):
    path = zipped(tmp_path / "e.zip", {"e.csv": b"a,b\n" * 500_000})
    with pytest.raises(FileError, match="unpacks to more than"):
        read_graph(path, unpack_limit=1_000_000)


# --- part files -----------------------------------------------------------------------------------


def test_folders_and_patterns_of_part_files_are_one_table(tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    for k, row in enumerate(EDGES):
        (folder / f"part-{k}.csv").write_text(csv_text([row]))
    (folder / "_SUCCESS").write_text("")
    (folder / ".part-0.csv.crc").write_text("x")
    (folder / "part-9.csv").write_text("")
    for name in (folder, folder / "part-*.csv", tmp_path / "*" / "part-?.csv"):
        graph, report = load_graph(name, hashed=True)
        assert degrees(graph) == DEGREES
        assert report.n_rows == 3
        assert report.format == "CSV, 3 files"
        assert len(report.checksum) == 64
    counts = count_edges(str(folder), {}, TextOptions())
    assert (counts.rows, counts.nodes, counts.exact) == (3, 3, True)


@pytest.mark.parametrize("writer", ["polars", "arrow"])
def test_hive_folders_are_read_and_their_keys_are_no_columns(tmp_path, writer):
    columns = {
        "source": ["007", "b", "c"], "target": ["b", "c", "007"], "weight": [1.0, 2.5, 4.0],
        "year": [2024, 2025, 2025],
    }  # fmt: skip
    if writer == "polars":
        frame = polars_frame(columns)
        if "mkdir" not in signature(frame.write_parquet).parameters:
            pytest.skip("this version of polars writes no folders")
        frame.write_parquet(tmp_path / "tx", partition_by="year", mkdir=True)
    else:
        pa.dataset.write_dataset(
            pa.table(columns), tmp_path / "tx", format="parquet", partitioning=["year"],
            partitioning_flavor="hive",
        )  # fmt: skip
    graph = read_graph(tmp_path / "tx")
    assert degrees(graph) == DEGREES
    assert read_graph(tmp_path / "tx" / "year=2025" / "*.parquet").n_edges == 2
    assert read_graph(tmp_path / "tx" / "year=*").n_edges == 3
    if writer == "polars":  # which has the year in the files, too
        by_year = read_graph(tmp_path / "tx", source="source", target="year")
        assert by_year.degrees[by_year.positions(["2025"])] == [6.5]
        return
    with pytest.raises(ParameterError, match="tx has no column 'year'; its columns are 'source'"):
        read_graph(tmp_path / "tx", source="source", target="year")


def test_faults_in_part_files_are_counted_and_named_by_the_file(tmp_path):
    for k, rows in enumerate(("a,b,1\n", "b,c,x\nc,d,2\n", "d,e,y\n")):
        (tmp_path / f"p{k}.csv").write_text("source,target,weight\n" + rows)
    with pytest.raises(GraphError, match=r"p1\.csv, line 2: a weight must be a number"):
        read_graph(tmp_path / "p*.csv")
    with pytest.warns(
        IsothermWarning, match=r"2 malformed rows .*\(2\)\. The first: .*p1\.csv, line 2"
    ):
        assert read_graph(tmp_path / "p*.csv", on_error="skip").n_edges == 2


def test_parts_that_are_none_or_of_two_layouts_are_refused(tmp_path):
    with pytest.raises(FileError, match=r"no file matches .*part-\*\.parquet.* contains: noth"):
        read_graph(tmp_path / "part-*.parquet")
    with pytest.raises(FileError, match="is a folder that has no files"):
        read_graph(tmp_path)
    (tmp_path / "a.csv").write_text("source,target\na,b\n")
    (tmp_path / "b.csv").write_text("payer,payee,sum\na,b,1.5\n")
    with pytest.raises(FileError, match="have different columns, 'source', 'target' and 'payer'"):
        read_graph(tmp_path)
    (tmp_path / "b.csv").write_text("<graphml/>")
    with pytest.raises(FileError, match=r"b\.csv is GraphML, and only tables"):
        read_graph(tmp_path)
    (tmp_path / "b.csv").unlink()
    (tmp_path / "x=1").mkdir()
    (tmp_path / "x=1" / "c.csv").write_text("payer,payee,sum\na,b,1.5\n")
    with pytest.raises(FileError, match="have different columns"):
        read_graph(tmp_path)


def test_a_name_with_brackets_is_a_file_if_there_is_one(tmp_path):
    path = tmp_path / "edges[1].csv"
    path.write_text(csv_text())
    assert degrees(read_graph(path)) == DEGREES


# --- formats of graphs ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
def test_gexf_that_networkx_writes_is_read_back(tmp_path, kind):
    graph = kind(nx.karate_club_graph())
    nx.set_node_attributes(graph, {k: str(k % 3) for k in graph}, "third")
    nx.write_gexf(graph, tmp_path / "g.gexf")
    if kind is nx.DiGraph:
        with pytest.warns(IsothermWarning, match="direction of edges is ignored"):
            read_graph(tmp_path / "g.gexf")
        return
    back = read_graph(tmp_path / "g.gexf")
    expected = {str(k): float(d) for k, d in graph.degree(weight="weight")}
    assert degrees(back) == pytest.approx(expected)
    labels = read_labels(tmp_path / "g.gexf", back, label="third")
    assert labels == {str(k): str(k % 3) for k in graph}


def test_a_pajek_file_is_refused_with_a_way_out(tmp_path):
    nx.write_pajek(nx.Graph([("a", "b")]), tmp_path / "g.net")
    with pytest.raises(FileError, match=r"g\.net is a Pajek file, .*save it as GraphML or as"):
        read_graph(tmp_path / "g.net")


GEXF = "<gexf><graph defaultedgetype='undirected'>{}</graph></gexf>"
PAIR = "<nodes><node id='a'/><node id='b'/></nodes><edges><edge source='a' target='b'/></edges>"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            GEXF.format(
                "<attributes class='node' mode='dynamic'><attribute id='0' title='s'/></attributes>"
                "<nodes><node id='a'><attvalues><attvalue for='0' value='x' start='1' end='2'/>"
                "<attvalue for='0' value='y' start='2'/></attvalues></node></nodes>"
            ),
            "attributes that change over time are not read",
        ),
        (
            "<!DOCTYPE gexf [<!ENTITY a 'x'>]>" + GEXF.format(PAIR),
            "document type with its own declarations",
        ),
        (
            GEXF.format("<nodes><node id='a'><nodes><node id='b'/></nodes></node></nodes>"),
            "inside a",
        ),
        (GEXF.format("<nodes><node id='a'/><node id='a'/></nodes>"), "a second node with the id"),
        (GEXF.format(PAIR) + "<x/>", "not well-formed XML"),
        ("<gexf></gexf>", "no <graph> inside"),
        (GEXF.format(PAIR.replace("target='b'", "target='z'")), "'z', which is not declared"),
    ],
)
def test_graph_files_that_are_no_graph_are_refused(tmp_path, text, said):
    (tmp_path / "g").write_text(text)
    with pytest.raises(GraphError, match=said):
        read_graph(tmp_path / "g")


GRAPH_FILES = ["GraphML", "GEXF", "GML", "JSON graph"]


@pytest.mark.parametrize("entry", GRAPH_FILES)
@pytest.mark.parametrize("packed", [False, True])
def test_a_file_of_both_edges_and_labels_is_parsed_once(tmp_path, monkeypatch, entry, packed):
    data = SAMPLES[entry][0]
    path = tmp_path / "g"
    path.write_bytes(gzip.compress(data) if packed else data)
    with open_source(path) as source:
        read, counted = source.format.read_contents, []
    rows = [
        replace(row, read_contents=lambda found: (counted.append(1), read(found))[1])
        if row.name == entry
        else row
        for row in formats.FORMATS
    ]
    monkeypatch.setattr(formats, "FORMATS", rows)
    job = Job(str(path), str(path), label_columns={"label": "class"}, summary=str(tmp_path / "s"))
    run = do(job)
    assert (len(counted), run.classifier.classes_.tolist()) == (1, ["blue", "red"])
    assert (
        run.edges.checksum == run.labels.checksum == hashlib.sha256(path.read_bytes()).hexdigest()
    )
    predict_label_sets(
        replace(job, summary=None, model={"decision": "centered"}), Silent(), separator=None
    )
    assert len(counted) == 2
    # A file that has changed between is another one.
    parsed = {}
    load_graph(path, parsed=parsed)
    path.write_bytes(data.replace(b"blue", b"green"))
    labels, _ = gather_labels(path, {"label": "class"}, parsed=parsed)
    assert len(counted) == 4
    assert labels.count() == (2, 2)


@pytest.mark.parametrize("entry", ["GraphML", "GEXF", "GML", "Excel"])
def test_what_takes_long_to_read_names_what_does_not(tmp_path, monkeypatch, entry):
    monkeypatch.setattr("isotherm.read.load.PATIENCE", 1e-9)
    (tmp_path / "g").write_bytes(SAMPLES[entry][0])
    graph, report = load_graph(tmp_path / "g")
    assert graph.n_edges == 3
    assert len(report.hints) == 1
    assert f"of {entry} take about 0 seconds to read; as a list of edges in CSV" in report.hints[0]
    assert report.remarks() == []


@pytest.mark.parametrize("delimiter", [" ", "\t"])
def test_lists_of_edges_with_attributes_are_read(tmp_path, delimiter):
    graph = nx.Graph()
    graph.add_weighted_edges_from(EDGES)
    nx.set_edge_attributes(graph, "it's", "note")
    nx.write_edgelist(graph, tmp_path / "e.txt", delimiter=delimiter)
    assert degrees(read_graph(tmp_path / "e.txt")) == DEGREES
    nx.write_edgelist(graph, tmp_path / "bare.txt", data=["weight"])
    assert degrees(read_graph(tmp_path / "bare.txt")) == DEGREES
    plain = nx.Graph([("a", "b")])
    nx.write_edgelist(plain, tmp_path / "plain.txt", delimiter=delimiter)
    assert degrees(read_graph(tmp_path / "plain.txt")) == {"a": 1.0, "b": 1.0}


@pytest.mark.parametrize(
    "line", ["a b {'weight': __import__('os')}", "a {'weight': 1}", "a b {" * 999]
)
def test_attributes_are_no_programs(tmp_path, line):
    (tmp_path / "e.txt").write_text("a b {'weight': 1}\n" + line + "\n")
    with pytest.raises(FileError, match="line 2: expected two ids with blanks between them"):
        read_graph(tmp_path / "e.txt")


def test_lists_of_edges_keep_their_order_and_their_parallel_edges(tmp_path):
    text = "z y {'weight': 2}\n# a remark\ny x {'weight': 1, 'note': '# {1}'}\nz y {'weight': 3}\n"
    for data in (text.encode(), text.encode("utf-16"), text.replace("\n", "\r\n").encode()):
        (tmp_path / "e.txt").write_bytes(data)
        graph = read_graph(tmp_path / "e.txt")
        assert graph.names.tolist() == ["z", "y", "x"]
        assert degrees(graph) == {"z": 5.0, "y": 6.0, "x": 1.0}
    (tmp_path / "e.txt").write_text(text + "x#1 w {'weight': 1}\n")
    assert "x#1" in read_graph(tmp_path / "e.txt").names
    (tmp_path / "e.txt").write_text("a,b,{'weight': 1}\n")
    with pytest.raises(FileError, match="line 1: expected two ids with blanks between them"):
        read_graph(tmp_path / "e.txt")


def test_many_lines_of_edges_are_parsed_some_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr("isotherm.read.networkx_edges.LINES", 7)
    graph = nx.path_graph(50)
    nx.write_edgelist(graph, tmp_path / "e.txt", data=True)
    (tmp_path / "e.txt").write_text("0 1 {}\n" + (tmp_path / "e.txt").read_text())
    assert read_graph(tmp_path / "e.txt").n_edges == 49


def test_a_web_page_called_a_workbook_is_refused_with_a_way_out(tmp_path):
    (tmp_path / "export.xls").write_text("<html><table><tr><td>a</td></tr></table></html>")
    with pytest.raises(FileError, match=r"is a web page, .*save it as \.xlsx or CSV"):
        read_graph(tmp_path / "export.xls")


def test_an_opendocument_file_is_refused_with_a_way_out(tmp_path):
    zipped(tmp_path / "t.ods", {"mimetype": "application/vnd.oasis", "content.xml": "<x/>"})
    with pytest.raises(FileError, match="OpenDocument file, which isotherm does not read; save it"):
        read_graph(tmp_path / "t.ods")


@pytest.mark.skipif(os.name == "nt", reason="folders are read as files there")
def test_part_files_as_labels_and_edges_of_a_command(tmp_path):
    for k, row in enumerate(EDGES):
        (tmp_path / f"part-{k}.csv").write_text(csv_text([row]))
    (tmp_path / "known.json").write_text('{"007": "x", "c": "y"}')
    result = CliRun(tmp_path)(
        "classify", "part-*.csv", "known.json", "-o", "out.csv", "--report", "r.html"
    )
    assert result.returncode == 0
    assert "CSV, 3 files" in (tmp_path / "r.html").read_text()
