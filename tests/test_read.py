"""Graphs and labels from files of all kinds, whole and broken."""

import bz2
import gzip
import io
import json
import lzma
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from scipy import io as scipy_io
from scipy import sparse

from isotherm import (
    FileError,
    Graph,
    GraphError,
    IsothermError,
    IsothermWarning,
    LabelError,
    ParameterError,
    UnknownNode,
    read_graph,
    read_labels,
)
from isotherm.read import source as source_module
from isotherm.read import text_table as text_module
from isotherm.read.layout import find_layout
from isotherm.read.load import load_graph, load_labels
from isotherm.read.options import TextOptions
from isotherm.read.parse import Parser
from other_libraries import polars_categories, polars_series


def written(folder, contents, name="edges.csv"):
    path = folder / name
    data = contents.encode() if isinstance(contents, str) else contents
    pack = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}.get(path.suffix)
    if path.suffix == ".zst":
        data = pa.Codec("zstd").compress(data, asbytes=True)
    path.write_bytes(pack(data) if pack else data)
    return path


def edges_of(graph):
    names = graph.names.tolist()
    i, j = sparse.triu(graph.adjacency).nonzero()
    return {tuple(sorted((names[a], names[b]))) for a, b in zip(i, j, strict=True)}


PATH = {("a", "b"), ("b", "c")}


# --- lists of edges -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("edges.csv", "a,b\nb,c\n"),
        ("edges.csv", "source,target\na,b\n\nb,c\n"),
        ("edges.csv", '"a",b\r\nb , c\r\n'),
        ("edges.csv", "from;to\na;b\nb;c\n"),
        ("edges.csv", "\ufeffsource,target\na,b\nb,c\n"),
        ("edges.csv", "#source,target\na,b\nb,c\n"),
        ("edges.tsv", "from\tto\na\tb\nb\tc\n"),
        ("edges.txt", "# made by hand\n#\n# from to\na b\n  b\t c\n"),
        ("edges.txt", "% sym unweighted\na b\nb c\n"),
        ("edges.txt", "a|b\nb|c\n"),
        ("edges.csv.gz", "Source,Target\na,b\nb,c"),
        ("edges.csv.bz2", "Source,Target\na,b\nb,c"),
        ("edges.csv.xz", "Source,Target\na,b\nb,c"),
        ("edges.csv.zst", "Source,Target\na,b\nb,c"),
        ("edges", "a b\nb c"),
        ("edges.csv", "when,to,from\n1,a,b\n2,b,c\n"),
    ],
)
def test_edges_are_found_however_they_are_written(tmp_path, name, text):
    graph = read_graph(written(tmp_path, text, name))
    assert edges_of(graph) == PATH
    assert sorted(graph.degrees.tolist()) == [1, 1, 2]


def test_utf_16_and_latin_1_are_read(tmp_path):
    assert edges_of(read_graph(written(tmp_path, "a\tb\nb\tc\n".encode("utf-16"), "x.txt"))) == PATH
    path = written(tmp_path, "é,b\nb,c\n".encode("latin-1"))
    assert "é" in read_graph(path, encoding="latin-1").names
    with pytest.raises(GraphError, match="line 1: not UTF-8"):
        read_graph(path)
    with pytest.raises(ParameterError, match="no text encoding 'klingon'"):
        read_graph(path, encoding="klingon")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-7", "shift_jis"])
@pytest.mark.parametrize("count", [1, 100_000])
def test_an_encoding_that_lies_is_said_to_be_wrong(tmp_path, encoding, count):
    path = written(tmp_path, b"source,target\n" + count * b"a,b\n" + "+,ü\n".encode("latin-1"))
    known = Graph.from_edges(["a"], ["b"])
    for read in (read_graph, lambda *args, **how: read_labels(*args, known, **how)):
        with pytest.raises(FileError, match=f"edges.csv is not {encoding}: .*; name its encoding"):
            read(path, encoding=encoding)


@pytest.mark.parametrize("encoding", ["idna", "punycode", "hex", "undefined", "a\0b", ""])
def test_what_encodes_no_text_is_no_encoding(tmp_path, encoding):
    with pytest.raises(ParameterError, match="there is no text encoding"):
        read_graph(written(tmp_path, "source,target\na,b\n"), encoding=encoding)


def test_ids_stay_as_they_are_written(tmp_path):
    graph = read_graph(written(tmp_path, "007,7\n7,#1\n7.50,NA\nnull,1e3\n"))
    assert graph.names.tolist() == ["007", "7", "7.50", "null", "#1", "NA", "1e3"]


def test_a_hash_is_part_of_an_id_unless_it_is_said_to_begin_a_comment(tmp_path):
    path = written(tmp_path, "#a b#1\nb#1 c\n", "tags.txt")
    assert read_graph(path).names.tolist() == ["#a", "b#1", "c"]
    path = written(tmp_path, "a b # of old\n# all of this\nb c\n", "c.txt")
    assert edges_of(read_graph(path, comment="#")) == PATH


def test_columns_are_chosen_by_name_or_number(tmp_path):
    path = written(tmp_path, "id,payer,payee,amount\n1,a,b,2\n2,b,c,3\n")
    graph = read_graph(path, source="payer", target="payee", weight="amount")
    assert graph.degrees.tolist() == [2.0, 5.0, 3.0]
    assert edges_of(read_graph(path, source="2", target="3")) == PATH
    with pytest.raises(ParameterError, match="no column 'buyer'; its columns are 'id', 'payer'"):
        read_graph(path, source="buyer")
    bare = written(tmp_path, "x a b\ny b c\n", "bare.txt")
    with pytest.raises(ParameterError, match="no column '7'; its columns are 1 to 3"):
        read_graph(bare, source="7")


def test_weights_are_a_column_so_named_or_the_third_of_numbers(tmp_path):
    named = written(tmp_path, "source,target,weight\na,b,0.5\nb,c,2\n")
    assert read_graph(named).degrees.tolist() == [0.5, 2.5, 2.0]
    third = written(tmp_path, "a b 0.5\nb c 2\n", "third.txt")
    assert read_graph(third).degrees.tolist() == [0.5, 2.5, 2.0]
    other = written(tmp_path, "source,target,year\na,b,1999\nb,c,2000\n")
    assert read_graph(other).degrees.tolist() == [1, 2, 1]
    zero = written(tmp_path, "a b 0\nb c 2\n", "zero.txt")
    assert read_graph(zero).degrees.tolist() == [0, 2, 2]


def test_the_user_knows_better(tmp_path):
    path = written(tmp_path, "source,target\nb,c\n")
    assert len(read_graph(path, header=False).names) == 4
    assert len(read_graph(written(tmp_path, "x,y\nb,c\n"), header=True).names) == 2
    path = written(tmp_path, "a b,c d\nc d,e f\n")
    assert read_graph(path).names.tolist() == ["a b", "c d", "e f"]
    assert "b,c" in read_graph(path, source=1, target=2, delimiter="space", header=False).names
    for delimiter in ("", "tab", "\\t"):
        read_graph(written(tmp_path, "a\tb\n", "t.txt"), delimiter=delimiter)
    with pytest.raises(ParameterError, match="a delimiter must be one character"):
        read_graph(path, delimiter="ab")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\nb\n", "line 2: 1 column.* where the others have 2: 'b'"),
        ("a,b\n\nb,c,1,2\nc,d\nd,e\n", "line 3: 4 column"),
        ("a,b,1\nb,c,2\nb,c,heavy\n", "line 3: a weight must be a number, got 'heavy'"),
        ("source,target,weight\na,b,1\nb,c,\n", "line 3: a weight must be a number, got ''"),
        ("source,target\na,b\n,c\n", "line 3: an empty cell"),
        ("a,b,1\nb,c,-1\n", "line 2: a weight must be ≥ 0, got '-1'"),
        ("a,b,1\nb,c,inf\n", "line 2: a weight must be a number"),
        ("a,b,1\nb,c,nan\n", "line 2: a weight must be a number"),
        ('a,b\n"b,c\nc,d\n', "line 2: cannot be split"),
        ("source,target\n", "no edges"),
        ("one\ntwo\n", "1 column.*, but two are needed"),
        ("a,b\nb,c" + ",x" * 300 + "\n", "line 2: 302 column.*…'"),
    ],
)
def test_a_malformed_row_is_refused_with_its_line(tmp_path, text, said):
    with pytest.raises(GraphError, match=said) as found:
        read_graph(written(tmp_path, text))
    assert "edges.csv" in str(found.value)
    assert len(str(found.value)) < 400


def test_blank_lines_and_quotation_marks_go_together(tmp_path):
    path = written(tmp_path, '"a",b\n\n\r\nb,"c"\n\n')
    assert edges_of(read_graph(path)) == PATH


def test_a_header_of_unknown_words_is_pointed_out(tmp_path):
    path = written(tmp_path, "person,friend\nann,bob\nbob,cyd\n")
    with pytest.warns(IsothermWarning, match="first line, 'person' and 'friend', was taken"):
        read_graph(path)
    assert read_graph(path, header=True).n_nodes == 3
    assert read_graph(path, header=False).n_nodes == 5


def test_a_decimal_comma_is_no_delimiter(tmp_path):
    path = written(tmp_path, "a;b;1,5\nb;c;2,5\n", "x.txt")
    with pytest.warns(IsothermWarning, match="edges run from '1' to '2', without weights"):
        assert edges_of(read_graph(path)) == PATH


def test_carriage_returns_alone_end_lines(tmp_path):
    assert edges_of(read_graph(written(tmp_path, "a,b\rb,c\r"))) == PATH


def test_columns_by_number_may_be_numbers(tmp_path):
    path = written(tmp_path, "x,a,b\ny,b,c\n")
    assert edges_of(read_graph(path, source=2, target=3)) == PATH
    with pytest.raises(ParameterError, match="column '2' was chosen twice"):
        read_graph(path, source=2, target=2)
    with pytest.raises(ParameterError, match="column '2' was chosen twice"):
        read_graph(path, source=2, target=3, weight=2)


def test_an_index_that_pandas_wrote_is_a_column(tmp_path):
    frame = pd.DataFrame({"src": ["a", "b"], "dst": ["b", "c"], "w": [1, 2]}).set_index("src")
    frame.to_parquet(tmp_path / "x.parquet")
    assert edges_of(read_graph(tmp_path / "x.parquet")) == PATH


def test_malformed_rows_can_be_left_out(tmp_path):
    rows = ["a,b,1", "b,c", "b,c,x", "b,c,2", ",z,1", "b,q,-3"]
    path = written(tmp_path, "source,target,weight\n" + "\n".join(rows) + "\n")
    with pytest.warns(
        IsothermWarning, match=r"4 malformed rows .*: 2 column.* \(1\); .*line 3: 2 column"
    ):
        graph = read_graph(path, on_error="skip")
    assert graph.names.tolist() == ["a", "b", "c"]
    assert graph.degrees.tolist() == [1, 3, 2]
    with pytest.raises(ParameterError, match="unknown on_error 'ignore'"):
        read_graph(path, on_error="ignore")


def test_lines_are_counted_across_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(text_module, "BLOCK", 64)
    monkeypatch.setattr(source_module, "HEAD", 32)
    rows = [f"n{k},n{k + 1}" for k in range(500)]
    good = read_graph(written(tmp_path, "\n".join(rows)))
    assert good.n_edges == 500
    assert good.names.tolist() == [f"n{k}" for k in range(501)]
    rows[417] = "alone"
    with pytest.raises(GraphError, match="line 418: 1 column"):
        read_graph(written(tmp_path, "\n".join(rows)))


def test_a_line_that_never_ends_is_refused_early(tmp_path, monkeypatch):
    monkeypatch.setattr(text_module, "LONGEST_LINE", 1 << 20)
    path = written(tmp_path, "a,b\n" + "x" * (6 << 20))
    with pytest.raises(FileError, match="line 2 is longer than 1 MB"):
        read_graph(path)


@pytest.mark.parametrize("delimiter", [",", "\t", "white space"])
@pytest.mark.parametrize("columns", [(0, 1), (1, 2), (0, 1, 3)])
def test_the_fast_parser_agrees_with_the_careful_one(delimiter, columns):
    rng = np.random.default_rng(len(columns))
    mark = " " if delimiter == "white space" else delimiter
    for _ in range(60):
        lines = []
        for _ in range(rng.integers(1, 12)):
            cells = [str(rng.choice(["a", "b", "ü", "0", "x#", "10.0"])) for _ in range(3)]
            cells.append(repr(float(rng.integers(0, 9)) / 4))
            blank = " " * int(rng.integers(0, 2))
            lines.append((blank + mark + blank).join(cells) + "\r" * int(rng.integers(0, 2)))
            lines += [""] * int(rng.integers(0, 2))
        layout = find_layout(lines, "x", delimiter=mark, header=False)
        parser = Parser(layout, columns)
        block = "\n".join(lines).encode()
        careful, faults = parser.careful(block)
        fast = parser.fast(block)
        assert not faults
        assert fast is not None
        assert fast.first.to_pylist() == careful.first.to_pylist()
        assert fast.second.to_pylist() == careful.second.to_pylist()
        if len(columns) == 3:
            assert fast.numbers.tolist() == careful.numbers.tolist()


def test_ids_that_look_alike_are_pointed_out(tmp_path):
    with pytest.warns(IsothermWarning, match=r"1 id differs .*'1\.0' and '1'"):
        graph = read_graph(written(tmp_path, "1,2\n1.0,3\n"))
    assert graph.n_nodes == 4
    table = pa.table({"source": ["a", "a "], "target": ["b", "c"]})
    pq.write_table(table, tmp_path / "x.parquet")
    with pytest.warns(IsothermWarning, match="'a ' and 'a'"):
        read_graph(tmp_path / "x.parquet")


# --- other formats --------------------------------------------------------------------------------


def tables(folder):
    table = pa.table({"source": ["a", "b"], "target": ["b", "c"], "weight": [1.0, 2.0]})
    pq.write_table(table, folder / "t.parquet")
    pa.feather.write_feather(table, folder / "t.feather")
    with pa.ipc.new_stream(str(folder / "t.arrows"), table.schema) as stream:
        stream.write_table(table)
    written(folder, (folder / "t.parquet").read_bytes(), "t.parquet.gz")
    return [folder / name for name in ("t.parquet", "t.feather", "t.arrows", "t.parquet.gz")]


def test_tables_of_arrow_are_read(tmp_path):
    for path in tables(tmp_path):
        graph = read_graph(path)
        assert graph.names.tolist() == ["a", "b", "c"]
        assert graph.degrees.tolist() == [1, 3, 2]


def test_whole_numbers_in_tables_become_texts(tmp_path):
    table = pa.table({"u": pa.array([7, 8]), "v": pa.array(["8", "9"]).dictionary_encode()})
    pq.write_table(table, tmp_path / "t.parquet")
    assert read_graph(tmp_path / "t.parquet").names.tolist() == ["7", "8", "9"]


def test_gaps_in_tables_are_faults(tmp_path):
    table = pa.table({"source": ["a", None, "b"], "target": ["b", "c", "c"]})
    pq.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(GraphError, match=r"t\.parquet, row 2: an empty cell"):
        read_graph(tmp_path / "t.parquet")
    with pytest.warns(IsothermWarning, match="1 malformed row was left out"):
        assert read_graph(tmp_path / "t.parquet", on_error="skip").n_edges == 2
    table = pa.table({"source": ["a"], "target": ["b"], "weight": [-1.5]})
    pq.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(GraphError, match=r"row 1: a weight must be ≥ 0 and finite, got -1\.5"):
        read_graph(tmp_path / "t.parquet")
    with pytest.raises(ParameterError, match="no column 'x'; its columns are 'source'"):
        read_graph(tmp_path / "t.parquet", source="x")


def test_matrices_are_read_and_named_as_their_format_counts(tmp_path):
    matrix = sparse.coo_array(np.array([[0, 2.0, 0], [2.0, 0, 1], [0, 1, 0]]))
    scipy_io.mmwrite(tmp_path / "m.mtx", matrix, symmetry="symmetric")
    sparse.save_npz(tmp_path / "m.npz", matrix.tocsr())
    for name, first in (("m.mtx", 1), ("m.npz", 0)):
        graph = read_graph(tmp_path / name)
        assert graph.names.tolist() == [str(k) for k in range(first, first + 3)]
        assert graph.degrees.tolist() == [2, 3, 1]
    packed = written(tmp_path, (tmp_path / "m.mtx").read_bytes(), "m.mtx.gz")
    assert read_graph(packed).degrees.tolist() == [2, 3, 1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 2 1\n",
            "must be square, got 2 × 3",
        ),
        ("%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 2 1 1\n", "got complex"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 1\n", "1 entries but claims 2"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 3 1\n", "outside"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 x 1\n", "whole numbers"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2\n", "line 3: 2 column"),
        ("%%MatrixMarket matrix coordinate real general\n2 x 1\n1 2\n", "line 2: expected 3 sizes"),
        ("%%MatrixMarket matrix array real general\n2 2\n0\n1\n1\n0\n", "has all numbers of a"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 -1\n", "must be ≥ 0"),
        ("%%MatrixMarket matrix coordinate real general\n9 9 99999999\n1 2 1\n", "damaged"),
        (
            "%%MatrixMarket matrix coordinate real general\n99999999999 99999999999 1\n1 2 1\n",
            "dam",
        ),
        ("%%MatrixMarket what is this\n", "not a MatrixMarket file"),
    ],
)
def test_a_matrix_that_is_no_graph_is_refused(tmp_path, text, said):
    with pytest.raises(IsothermError, match=said):
        read_graph(written(tmp_path, text, "m.mtx"))


@pytest.mark.parametrize("symmetry", ["general", "symmetric"])
def test_matrices_are_those_that_scipy_wrote(tmp_path, symmetry):
    rng = np.random.default_rng(3)
    dense = np.round(rng.random((7, 7)) * (rng.random((7, 7)) < 0.4), 3)
    dense = dense + dense.T
    scipy_io.mmwrite(tmp_path / "m.mtx", sparse.coo_array(dense), symmetry=symmetry)
    assert np.allclose(read_graph(tmp_path / "m.mtx").adjacency.toarray(), dense)


def test_data_sets_of_our_own_format_are_graphs_and_labels(tmp_path):
    np.savez(
        tmp_path / "d.npz",
        indptr=np.array([0, 1, 3, 4]),
        indices=np.array([1, 0, 2, 1]),
        labels=np.array([0, -1, 1]),
    )
    graph = read_graph(tmp_path / "d.npz")
    assert graph.names.tolist() == ["0", "1", "2"]
    assert read_labels(tmp_path / "d.npz", graph) == {"0": "0", "2": "1"}


def test_graph_files_are_read_and_labels_taken_from_their_nodes(tmp_path):
    gml = 'graph [ node [ id 1 club "red" ] node [ id 2 ] edge [ source 1 target 2 weight 2.5 ] ]'
    path = written(tmp_path, gml, "g.gml")
    graph = read_graph(path)
    assert (graph.names.tolist(), graph.degrees.tolist()) == (["1", "2"], [2.5, 2.5])
    assert read_labels(path, graph, label="club") == {"1": "red"}
    with pytest.raises(ParameterError, match="no attribute 'colour'; choose one of: 'club'"):
        read_labels(path, graph, label="colour")
    with pytest.raises(LabelError, match="which attribute"):
        read_labels(path, graph)
    xml = (
        '<graphml><key id="k" for="node" attr.name="class"/><graph><node id="a"><data key="k">red'
        '</data></node><node id="b"/><edge source="a" target="b"/></graph></graphml>'
    )
    path = written(tmp_path, xml, "g.graphml.gz")
    graph = read_graph(path)
    assert graph.names.tolist() == ["a", "b"]
    assert read_labels(path, graph) == {"a": "red"}


@pytest.mark.parametrize("ending", ["graphml", "gml"])
def test_names_that_igraph_keeps_apart_are_used(tmp_path, ending):
    igraph = pytest.importorskip("igraph")
    graph = igraph.Graph([(0, 1), (1, 2)])
    graph.vs["name"] = ["ann", "bob", "cyd"]
    graph.vs["class"] = ["x", "y", "x"]
    graph.write(str(tmp_path / f"g.{ending}"))
    with pytest.warns(IsothermWarning, match="named by their attribute 'name'"):
        found = read_graph(tmp_path / f"g.{ending}")
    assert found.names.tolist() == ["ann", "bob", "cyd"]
    with pytest.warns(IsothermWarning):
        assert read_labels(tmp_path / f"g.{ending}", found) == {"ann": "x", "bob": "y", "cyd": "x"}


def test_pickles_are_refused_with_advice(tmp_path):
    import pickle

    path = written(tmp_path, pickle.dumps({"a": 1}), "g.gpickle")
    with pytest.raises(FileError, match="is a pickle, which can run any program"):
        read_graph(path)
    with pytest.raises(FileError, match="from_networkx"):
        read_graph(written(tmp_path, pickle.dumps([1]), "plain-name"))


@pytest.mark.parametrize(
    ("name", "contents", "said"),
    [
        ("x.csv", b"", "is empty"),
        ("x.csv", b" \n\n", "is empty"),
        ("x.csv", b"\x00\x01\x02\x03binary", "is neither text nor"),
        ("x.h5", b"\x89HDF\r\n\x1a\n", "HDF5"),
        ("x.parquet", b"PAR1 not really", "damaged"),
        ("x.feather", b"ARROW1 not really", "damaged"),
        ("x.npz", b"PK\x03\x04 not really", "not a .npz"),
        ("x.json", b'{"a": 1}', "edges in JSON must be a list of records"),
    ],
)
def test_what_is_no_graph_is_refused(tmp_path, name, contents, said):
    with pytest.raises(IsothermError, match=said):
        read_graph(written(tmp_path, contents, name))


@pytest.mark.parametrize("ending", ["gz", "bz2", "xz", "zst"])
def test_a_file_cut_off_is_refused(tmp_path, ending):
    rng = np.random.default_rng(0)
    text = "".join(f"{a},{b}\n" for a, b in rng.integers(0, 10**9, (20_000, 2)))
    path = written(tmp_path, text, f"x.csv.{ending}")
    path.write_bytes(path.read_bytes()[:-1000])
    with pytest.raises(FileError, match=r"cut off|damaged"):
        read_graph(path)


def test_files_that_are_not_there(tmp_path):
    written(tmp_path, "a,b\n", "edges.csv")
    with pytest.raises(FileError, match=r"there is no file .*edgs\.csv; did you mean .*edges\.csv"):
        read_graph(tmp_path / "edgs.csv")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileError, match="is a folder that has no files to read"):
        read_graph(tmp_path / "empty")


def test_standard_input(monkeypatch):
    stream = io.TextIOWrapper(io.BufferedReader(io.BytesIO(gzip.compress(b"a,b\nb,c\n"))))
    monkeypatch.setattr("sys.stdin", stream)
    assert edges_of(read_graph("-")) == PATH


def test_progress_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(text_module, "BLOCK", 64)
    monkeypatch.setattr(source_module, "HEAD", 32)
    path = written(tmp_path, "".join(f"{k},{k + 1}\n" for k in range(300)))
    told = []
    load_graph(path, progress=lambda *seen: told.append(seen))
    assert len(told) > 5
    assert told[-1] == (path.stat().st_size, path.stat().st_size)
    assert told == sorted(told)


# --- labels ---------------------------------------------------------------------------------------


GRAPH = Graph.from_edges(["a", "b", "c", "7"], ["b", "c", "d", "a"])
SURE = """[{"node": "a", "label": "x", "sure": 0.5}, {"node": "a", "label": "red"},
           {"node": "c", "label": "blue", "sure": 0.5}]"""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("l.csv", "node,label\na,red\nc,blue\na,red\n"),
        ("l.csv", "a,red\nb,\nc,blue\n"),
        ("l.tsv", "id\tclass\na\tred\nc\tblue\n"),
        ("l.csv", "name,age,class\na,3,red\nb,4,\nc,5,blue\n"),
        ("l.json", '{"a": "red", "c": "blue", "b": null}'),
        ("l.json", '[{"node": "a", "label": "red"}, {"node": "c", "label": "blue"}]'),
        ("l.jsonl.gz", '{"node": "a", "label": "red"}\n{"node": "c", "label": "blue"}\n'),
        ("l.json", '[{"id": "a", "class": "red"}, {"id": "c", "class": "blue"}]'),
    ],
)  # fmt: skip
def test_labels_are_found_however_they_are_written(tmp_path, name, text):
    assert read_labels(written(tmp_path, text, name), GRAPH) == {"a": "red", "c": "blue"}


@pytest.mark.parametrize(
    ("name", "text", "confidence"),
    [
        (
            "l.csv",
            "node,label,sure\na,red,.75\na,blue,.5\nc,blue,1\nb,red,0\n",
            {"a": 0.75, "c": 1},
        ),
        ("l.csv", "node,label,sure\na,red,.5\na,red,.75\nc,blue,1\n", {"a": 0.75, "c": 1}),
        ("l.json", SURE, {"a": 1, "c": 0.5}),
    ],
)
def test_of_several_labels_the_surest_counts(tmp_path, name, text, confidence):
    path = written(tmp_path, text, name)
    labels, report = load_labels(path, GRAPH, {"confidence": "sure"})
    assert labels == {"a": "red", "c": "blue"}
    assert report.confidence == confidence
    with pytest.raises((ParameterError, LabelError), match=r"(has|has no column) 'su'"):
        load_labels(path, GRAPH, {"confidence": "su"})


def test_labels_that_are_as_sure_are_refused(tmp_path):
    path = written(tmp_path, "node,label,sure\na,red,1\na,blue,1\n", "l.csv")
    with pytest.raises(LabelError, match="node 'a' has two labels"):
        load_labels(path, GRAPH, {"confidence": "sure"})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("l.csv", "node,label,weight\na,red,2\nc,blue,0\n"),
        ("l.csv", "node,colour,weight\na,red,2\nc,blue,0\n"),
        ("l.json", '[{"node": "a", "label": "red"}, {"node": "c", "label": "blue", "weight": 0}]'),
    ],
)
def test_a_column_of_weights_says_nothing_of_labels_and_that_is_said(tmp_path, name, text):
    with pytest.warns(IsothermWarning, match="column 'weight' is not read; .* --confidence weight"):
        assert read_labels(written(tmp_path, text, name), GRAPH) == {"a": "red", "c": "blue"}


def test_labels_are_a_column_of_a_table_of_nodes(tmp_path):
    table = pa.table({"key": ["a", "b", "c"], "x": [1, 2, 3], "kind": ["red", None, "blue"]})
    pq.write_table(table, tmp_path / "nodes.parquet")
    with pytest.raises(LabelError, match="which one holds the labels"):
        read_labels(tmp_path / "nodes.parquet", GRAPH)
    found = read_labels(tmp_path / "nodes.parquet", GRAPH, label="kind")
    assert found == {"a": "red", "c": "blue"}
    with pytest.raises(ParameterError, match="no column 'colour'"):
        read_labels(tmp_path / "nodes.parquet", GRAPH, label="colour")


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("a,red\na,blue\n", LabelError, "node 'a' has two labels, 'red' and 'blue'"),
        ("a\n", LabelError, "but two are needed"),
        ("node,label\n", LabelError, "no label"),
        ("a,\nb,\n", LabelError, "no label: at least one node needs a known label"),
        ("a,red\nb\n", LabelError, "line 2: 1 column"),
        (
            "x,red\ny,blue\n",
            UnknownNode,
            "2 of 2 labels are for nodes .* 'x', 'y' .*look like '7', 'a'",
        ),
        ("7.0,red\n", UnknownNode, r"1 of them .*as '7\.0' here and '7' in the graph: --ids norm"),
    ],
)
def test_labels_that_make_no_sense_are_refused(tmp_path, text, error, said):
    with pytest.raises(error, match=said):
        read_labels(written(tmp_path, text, "l.csv"), GRAPH)


@pytest.mark.parametrize(
    "text",
    ["{", "[1, 2]", '{"a": {"b": 1}}', '[{"label": "x"}]', '[{"node": [1], "label": "x"}]',
     '[{"node": "a", "label": {"x": 1}}]',
     '{"a": "x", "a": "y"}', "[" * 100_000],
)  # fmt: skip
def test_json_that_is_no_labels_is_refused(tmp_path, text):
    path = written(tmp_path, '[{"node": "a", "label": "x", "sure": -1}]', "w.json")
    with pytest.raises(LabelError, match="a confidence must be a number ≥ 0, got -1"):
        load_labels(path, GRAPH, {"confidence": "sure"})
    with pytest.raises(LabelError, match=r"l\.json|a label must be"):
        read_labels(written(tmp_path, text, "l.json"), GRAPH)


def test_labels_of_strangers_are_pointed_out(tmp_path):
    path = written(tmp_path, "a,red\nzoe,blue\n", "l.csv")
    with pytest.warns(IsothermWarning, match="1 of 2 labels are for nodes .*'zoe'"):
        assert read_labels(path, GRAPH) == {"a": "red"}
    with pytest.raises(UnknownNode, match="zoe"):
        read_labels(path, GRAPH, strict=True)


# --- tables of other libraries --------------------------------------------------------------------


@pytest.mark.parametrize(
    "column",
    [
        pa.array,
        lambda items: pa.chunked_array([items[:2], items[2:]]),
        lambda items: pa.array(items).dictionary_encode(),
        polars_series,
        polars_categories,
        lambda items: pd.Series(items, dtype="string"),
        lambda items: pd.Series(items, dtype="string[pyarrow]"),
        pd.Series,
        list,
    ],
)
def test_columns_go_straight_into_a_graph(column):
    source, target = ["b", "a", "é", "b"], ["a", "z", "b", "a"]
    graph = Graph.from_edges(column(source), column(target))
    plain = Graph.from_edges(source, target)
    assert graph.names.tolist() == plain.names.tolist() == ["a", "b", "z", "é"]
    assert (graph.adjacency != plain.adjacency).nnz == 0
    assert graph.positions(["z", "a"]).tolist() == [2, 0]
    with pytest.raises(UnknownNode, match="'q'"):
        graph.positions(["q"])
    with pytest.raises(UnknownNode, match="3"):
        graph.positions([3])
    weighted = Graph.from_edges(column(source), column(target), [1.0, 2.0, 0.0, 4.0])
    assert weighted.degrees.tolist() == [7, 5, 2, 0]


def test_names_in_columns_that_no_row_has_are_no_nodes():
    column = pa.DictionaryArray.from_arrays([0, 2], ["a", "unused", "c"])
    assert Graph.from_edges(column, pa.array(["c", "a"])).names.tolist() == ["a", "c"]


# --- broken files ---------------------------------------------------------------------------------


def samples(folder):
    """Small files of every kind."""
    tables(folder)
    matrix = sparse.coo_array(np.array([[0, 2.0], [2.0, 0]]))
    scipy_io.mmwrite(folder / "m.mtx", matrix)
    sparse.save_npz(folder / "m.npz", matrix.tocsr())
    written(folder, 'source,target,weight\n"a, b",c,1.5\nc,d,2\n', "q.csv")
    written(folder, "# x\na b 1\nb c 2\nc  d 3\n", "s.txt")
    written(folder, "a\tb\nb\tc\n".encode("utf-16"), "u.txt")
    written(folder, "a;b\nb;c\n" * 20, "z.csv.gz")
    written(folder, "a;b\nb;c\n" * 20, "z.csv.zst")
    written(folder, "graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 ] ]", "g.gml")
    written(folder, json.dumps({"a": "x", "b": "y"}), "l.json")
    return sorted(path for path in folder.iterdir())


def broken(data, rng):
    """The same with something changed, or nearly so."""
    data = bytearray(data)
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(0, len(data) + 1))
        kind = rng.integers(0, 6)
        if kind == 0:
            data[at : at + 1] = bytes([int(rng.integers(0, 256))])
        elif kind == 1:
            del data[at : at + int(rng.integers(1, 9))]
        elif kind == 2:
            data[at:at] = data[: int(rng.integers(1, 40))]
        elif kind == 3:
            del data[at:]
        elif kind == 4:
            words = [b",", b"\n", b'"', b"\r", b"\0", b"#", b"-1", b"nan", b"1e999", b"\xff", b" "]
            data[at:at] = words[int(rng.integers(0, len(words)))] * int(rng.integers(1, 3))
        else:
            data[at : at + 4] = bytes(rng.integers(0, 256, 4, dtype=np.uint8))
        data = data or bytearray(b"x")
    return bytes(data)


@pytest.mark.slow
def test_any_file_is_a_graph_and_labels_or_an_error_of_ours(tmp_path):
    rng = np.random.default_rng(5)
    (tmp_path / "whole").mkdir()
    files = samples(tmp_path / "whole")
    outcomes = {"graph": 0, "labels": 0, "refused": 0}

    def attempt(what, read, *arguments, **rule):
        try:
            found = read(*arguments, **rule)
        except IsothermError as error:
            outcomes["refused"] += bool(str(error))
        else:
            assert isinstance(found, Graph if what == "graph" else dict)
            outcomes[what] += 1

    for k in range(4000):
        path = files[k % len(files)]
        damaged = tmp_path / path.name
        damaged.write_bytes(broken(path.read_bytes(), rng))
        on_error = ("raise", "skip")[k % 2]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", IsothermWarning)
            attempt("graph", read_graph, damaged, on_error=on_error)
            attempt("labels", read_labels, damaged, GRAPH, on_error=on_error)
    assert sum(outcomes.values()) == 8000
    assert min(outcomes.values()) > 50


def test_what_is_said_of_a_file_is_checked():
    assert TextOptions().on_error == "raise"
    with pytest.raises(ParameterError):
        TextOptions(encoding="base64")
