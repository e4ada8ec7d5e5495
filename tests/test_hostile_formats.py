"""Files of every format, and their hostile twins: read as they are meant, or refused by name."""

import io
import json
import subprocess
import sys
import time
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from isotherm import FileError, GraphError, NotEnoughMemory, read_graph, read_labels
from isotherm.read.arrays import read_npz
from isotherm.read.formats import recognise

pytestmark = [pytest.mark.any_version, pytest.mark.core_free]

PAIR_XML = "<graph><node id='é'/><node id='b'/><edge source='é' target='b'/></graph>"


def sparse_npz(path, **arrays):
    np.savez_compressed(path, **arrays)
    return path


# --- arrays ---------------------------------------------------------------------------------------

CSR = {"format": np.array(b"csr"), "shape": np.array([2, 2]), "indptr": np.array([0, 1, 2])}
COO = {"format": np.array(b"coo"), "row": np.array([1]), "col": np.array([0]), "data": np.ones(1)}


@pytest.mark.parametrize("column", [99_999_999, -1, 2])
@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_a_matrix_with_an_entry_outside_is_refused(tmp_path, kind, column):
    if kind == "coo":
        arrays = COO | {"shape": np.array([2, 2]), "col": np.array([column])}
    else:
        indices = np.array([1, column])
        arrays = CSR | {"format": np.array(kind), "indices": indices, "data": np.ones(2)}
    path = sparse_npz(tmp_path / "m.npz", **arrays)
    with pytest.raises(GraphError, match=r"m\.npz: .*2 rows with an entry outside"):
        read_graph(path)


@pytest.mark.parametrize("n", [2 * 10**9, 10**12, -1, 1_000_101])
def test_a_matrix_that_claims_more_rows_than_it_can_use_asks_for_no_memory(tmp_path, n):
    path = sparse_npz(tmp_path / "m.npz", shape=np.array([n, n]), **COO)
    with pytest.raises(GraphError, match=rf"m\.npz: a sparse matrix of {n} rows with 1 entries"):
        read_graph(path)
    sparse.save_npz(path, sparse.coo_array(([1.0], ([9], [0])), shape=(10, 10)))
    assert read_graph(path).n_nodes == 10


ODD = {
    "big": np.arange(6, dtype=">i4"),
    "columns": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "one": np.array(7),
    "none": np.zeros((0, 3), dtype="f2"),
    "flags": np.array([True, False]),
    "texts": np.array(["é", "", "abc"]),
    "bytes": np.array([b"ab", b"c"]),
}


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_arrays_are_read_as_numpy_loads_them(tmp_path, save):
    save(tmp_path / "a.npz", **ODD)
    found = read_npz(io.BytesIO((tmp_path / "a.npz").read_bytes()), [*ODD, "absent"])
    with np.load(tmp_path / "a.npz", allow_pickle=False) as expected:
        assert [*found] == expected.files
        for name, array in found.items():
            assert array.dtype == expected[name].dtype
            assert array.shape == expected[name].shape
            assert np.array_equal(array, expected[name])


def test_of_two_members_of_one_name_the_checked_one_is_read(tmp_path):
    plain, path = io.BytesIO(), tmp_path / "two.npz"
    np.save(plain, np.arange(3))
    with zipfile.ZipFile(path, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of zipfile, about the name
        for name in ("labels", "labels.npy", "labels.npy"):
            archive.writestr(name, plain.getvalue() if name == "labels.npy" else b"not an array")
    assert read_npz(io.BytesIO(path.read_bytes()), ["labels"])["labels"].tolist() == [0, 1, 2]


def test_arrays_and_json_that_do_not_fit_are_refused_before_they_are_unpacked(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("isotherm.read.source.free_memory", lambda: 10**7)
    monkeypatch.setattr("isotherm.read.arrays._unpacked", lambda *_: pytest.fail("it was unpacked"))
    monkeypatch.setattr("json.loads", lambda *_, **__: pytest.fail("it was parsed"))
    path = sparse_npz(tmp_path / "m.npz", data=np.zeros(3 * 10**6))
    with pytest.raises(NotEnoughMemory, match=r"reading .*m\.npz, .* of npz, takes about"):
        read_graph(path)
    (tmp_path / "e.json").write_bytes(b"[" + b" " * 8_000_000 + b"]")
    with pytest.raises(NotEnoughMemory, match=r"reading .*e\.json, .* of JSON, takes about"):
        read_graph(tmp_path / "e.json")
    with pytest.raises(NotEnoughMemory, match=r"reading .*e\.json, .* of JSON, takes about"):
        read_labels(tmp_path / "e.json", None)


# --- texts in UTF-16 ------------------------------------------------------------------------------

IN_UTF16 = {
    "g.graphml": f"<?xml version='1.0' encoding='utf-16'?><graphml>{PAIR_XML}</graphml>",
    "g.gexf": "<gexf><graph><nodes><node id='é'/><node id='b'/></nodes>"
    "<edges><edge source='é' target='b'/></edges></graph></gexf>",
    "e.json": json.dumps([{"source": "é", "target": "b"}], ensure_ascii=False),
    "e.jsonl": '{"source": "é", "target": "b"}\n{"source": "b", "target": "é"}\n',
    "g.json": '{"nodes": [{"id": "é"}, {"id": "b"}], "links": [{"source": "é", "target": "b"}]}',
    "e.csv": "source,target\né,b\n",
}


@pytest.mark.parametrize("order", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("name", IN_UTF16)
def test_a_text_in_utf16_is_told_by_its_contents_like_any_other(tmp_path, name, order):
    path = tmp_path / name
    path.write_bytes(("\ufeff" + IN_UTF16[name]).encode(order))
    assert read_graph(path).names.tolist() == ["é", "b"]


def test_a_matrix_in_utf16_is_read(tmp_path):
    text = "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n"
    (tmp_path / "m.mtx").write_text(text, encoding="utf-16")
    assert read_graph(tmp_path / "m.mtx").n_edges == 1


def test_labels_in_utf16_are_read(tmp_path):
    (tmp_path / "e.csv").write_text("é,b\n")
    (tmp_path / "l.json").write_text('{"é": "red"}', encoding="utf-16")
    graph = read_graph(tmp_path / "e.csv")
    assert read_labels(tmp_path / "l.json", graph) == {"é": "red"}


# --- what begins like XML -------------------------------------------------------------------------


@pytest.mark.parametrize("first", ["<a@x.org>", "<graph", "<http://x/y>", "<", "<gexfa>"])
def test_ids_that_begin_like_an_element_are_ids(tmp_path, first):
    (tmp_path / "e.txt").write_text(f"{first} <b@x.org>\n<b@x.org> <c@x.org>\n")
    assert read_graph(tmp_path / "e.txt").names.tolist() == [first, "<b@x.org>", "<c@x.org>"]


@pytest.mark.parametrize(
    "before",
    [
        "",
        " \n",
        "<?xml version='1.0'?>\n",
        "<?xml version='1.0'?><!-- by <x> --><?style x?>\n<!-- 2 --> ",
        "<!DOCTYPE graphml SYSTEM 'http://graphml.graphdrawing.org/dtds/graphml.dtd'>",
        "<!DOCTYPE g [<!ENTITY a 'b'>]>",
    ],
)
def test_graph_files_are_told_by_their_outermost_element(before):
    assert recognise(f"{before}<graphml>".encode(), "", "x").name == "GraphML"
    assert recognise(f"{before}<g:graphml ".encode(), ".xml", "x").name == "GraphML"
    assert recognise(f"{before}<gexf ".encode(), "", "x").name == "GEXF"
    with pytest.raises(FileError, match="x is a web page"):
        recognise(f"{before}<html>".encode(), "", "x")


def test_other_xml_is_refused_with_a_way_out(tmp_path):
    (tmp_path / "x.xml").write_text("<?xml version='1.0'?><svg/>")
    with pytest.raises(FileError, match=r"neither <graphml> nor <gexf>.*save it as GraphML, or"):
        read_graph(tmp_path / "x.xml")


@pytest.mark.parametrize("part", ["<!---->", "<??>", "<!-- ", "<!DOCTYPE x [ ", "#\n\n", "] "])
def test_a_hostile_beginning_is_looked_at_once(part):
    started = time.perf_counter()
    for start in ("", "<!DOCTYPE x [", "<!--"):
        try:
            recognise((start + part * (200_000 // len(part))).encode(), "", "x")
        except FileError:
            continue
    assert time.perf_counter() - started < 5


# --- files made to harm ---------------------------------------------------------------------------

GIB = 4  # of addresses, in which a process with all libraries loaded has little more than two left
HARMLESS = {"attributes of their own.graphml"}  # which is read


def test_no_file_made_to_harm_does_any(tmp_path):
    """Each is an error of ours that names the file, in little time and memory."""
    command = [sys.executable, str(Path(__file__).parent / "hostile_files.py")]
    run = subprocess.run(
        [*command, str(tmp_path), str(GIB)], capture_output=True, text=True, check=False
    )
    lines = [line.split("\t") for line in run.stdout.splitlines()]
    assert run.returncode == 0, (lines[-1:], run.stderr[-500:])
    assert len(lines) > 35
    for name, seconds, found in lines:
        assert float(seconds) < 20, name
        assert "NOT OURS" not in found, (name, found)
        if name in HARMLESS:
            assert found.endswith(" nodes'")
        else:
            assert name in found, (name, found)
    assert list(tmp_path.iterdir()) == []
