"""A small file that unpacks to much is stopped as soon as it is too much, however it is packed."""

import bz2
import gzip
import io
import lzma
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer

from isotherm import (
    FileError,
    Graph,
    GraphError,
    LabelError,
    NotEnoughMemory,
    ParameterError,
    read_graph,
    read_labels,
)
from isotherm.cli.parse import parse_size
from isotherm.cli.reading_options import LIMIT, RATIO
from isotherm.read import source as reading
from isotherm.read import unpacking
from isotherm.read.opening import open_source
from isotherm.read.unpacking import MOST_BYTES, MOST_TIMES, UnpackLimit
from npz_files import npz_of

pytestmark = pytest.mark.core_free

SIZE = 1 << 25
PACKERS = {
    "gz": gzip.compress,
    "bz2": lambda data: bz2.compress(data[: 1 << 23]),  # slow, and packs far better
    "xz": lzma.compress,
    "zst": lambda data: pa.compress(data, codec="zstd", asbytes=True),
}
BOMBS = {  # how they begin, and what then comes again and again
    "edges": (b"a,b\nb,c\n", b"a,b\n"),
    "npz": (b"PK\x03\x04", b"\0"),
    "parquet": (b"PAR1", b"\0"),
    "json": (b"{", b" "),
    "graphml": (b"<graphml>", b"\n"),
    "mtx": (b"%%MatrixMarket matrix coordinate real general\n2 2 1\n", b" "),
}


@pytest.fixture
def sharp(monkeypatch):
    """Ratios count from a megabyte on, so that bombs can be small."""
    monkeypatch.setattr(unpacking, "RATIO_COUNTS_FROM", 1 << 20)


@pytest.mark.usefixtures("sharp")
@pytest.mark.parametrize("packer", PACKERS)
@pytest.mark.parametrize("kind", BOMBS)
def test_a_bomb_is_stopped_early_and_told_by_both_limits(tmp_path, packer, kind, monkeypatch):
    path = tmp_path / f"bomb.{kind}.{packer}"
    start, more = BOMBS[kind]
    path.write_bytes(PACKERS[packer](start + more * (SIZE // len(more))))
    most = []
    check = UnpackLimit.check
    monkeypatch.setattr(
        UnpackLimit,
        "check",
        lambda self, n, count, p: (most.append(count), check(self, n, count, p)),
    )
    read = (lambda p: read_labels(p, Graph.from_edges("a", "b"))) if kind == "json" else read_graph
    with pytest.raises(FileError) as caught:
        read(path)
    message = str(caught.value)
    assert "more than 200 times its size" in message
    for word in ("--unpack-limit (unpack_limit, now 64.0 GiB)", "--unpack-ratio (unpack_ratio"):
        assert word in message
    assert max(most) < SIZE  # stopped on the way


def test_an_absolute_limit_holds_whatever_the_ratio(tmp_path):
    path = tmp_path / "edges.csv.gz"
    path.write_bytes(gzip.compress(b"".join(b"n%d,n%d\n" % (k, k + 1) for k in range(50_000))))
    assert read_graph(path).n_nodes == 50_001
    with pytest.raises(FileError, match=r"unpacks to more than 97 KiB|more than 100000 bytes"):
        read_graph(path, unpack_limit=100_000)
    labels = tmp_path / "labels.csv.gz"
    labels.write_bytes(gzip.compress(b"node,label\n" + b"n1,x\n" * 50_000))
    with pytest.raises(FileError, match="--unpack-limit"):
        read_labels(labels, Graph.from_edges(["n1"], ["n2"]), unpack_limit=100_000)


@pytest.mark.usefixtures("sharp")
def test_a_trusted_file_is_read_with_a_higher_ratio(tmp_path):
    path = tmp_path / "edges.csv.gz"
    path.write_bytes(gzip.compress(b"source,target\n" + b"a,b\n" * 300_000))
    with pytest.raises(FileError, match="--unpack-ratio"):
        read_graph(path)
    assert read_graph(path, unpack_ratio=1e4).n_nodes == 2


@pytest.mark.usefixtures("sharp")
def test_the_members_of_an_npz_are_counted_before_they_are_unpacked(tmp_path):
    path = tmp_path / "bomb.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("indptr.npy", bytes(SIZE))
    with pytest.raises(FileError, match=r"bomb\.npz unpacks to more than 200 times its size"):
        read_graph(path)
    path.write_bytes(gzip.compress(path.read_bytes()))  # packed once more
    with pytest.raises(FileError, match="more than 200 times its size"):
        read_labels(path, Graph.from_edges("a", "b"))


@pytest.mark.usefixtures("sharp")
@pytest.mark.parametrize("limit", ["promise", "count"])
def test_a_parquet_file_is_bound_by_what_it_says_and_by_what_it_does(tmp_path, limit, monkeypatch):
    path = tmp_path / "bomb.parquet"
    word = "x" * 4000
    table = pa.table({"source": [word] * 20_000, "target": [word + "y"] * 20_000})
    pq.write_table(table, path, compression="zstd", use_dictionary=limit == "count")
    if limit == "promise":
        monkeypatch.setattr("isotherm.read.arrow_table._parts", lambda *_: pytest.fail("unpacked"))
    with pytest.raises(FileError, match="more than 200 times its size"):
        read_graph(path)


def test_a_stream_has_a_limit_too(monkeypatch):
    class Standard:
        buffer = io.BufferedReader(io.BytesIO(b"a,b\n" * 100_000))

    monkeypatch.setattr(reading.sys, "stdin", Standard)
    with pytest.raises(FileError, match=r"- unpacks to more than 1000 bytes"):
        read_graph("-", unpack_limit=1000)


def test_what_is_held_whole_must_fit_into_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "BLOCK", 1 << 18)
    monkeypatch.setattr(reading, "free_memory", lambda: 1000)
    path = tmp_path / "x.parquet.gz"
    path.write_bytes(gzip.compress(b"PAR1" + bytes(1 << 20)))
    with pytest.raises(
        NotEnoughMemory, match=r"x\.parquet\.gz needs more than .* of memory, and .* is free"
    ):
        read_graph(path)


@pytest.mark.parametrize("bad", [{"unpack_limit": 0}, {"unpack_limit": 1.5}, {"unpack_ratio": 0.5}])
def test_limits_that_are_none_are_refused(bad):
    with pytest.raises(ParameterError, match=next(iter(bad))):
        read_graph("edges.csv", **bad)


def test_sizes_are_read_as_people_write_them_and_defaults_agree():
    assert (parse_size(LIMIT), RATIO) == (MOST_BYTES, MOST_TIMES)
    assert [parse_size(text) for text in ("1", "2k", "2KB", "3 MiB", ".5g")] == [
        1,
        2048,
        2000,
        3 << 20,
        1 << 29,
    ]
    for text in ("", "many", "-1", "1e9", "5 X"):
        with pytest.raises(typer.BadParameter, match="a number of bytes such as 500MB"):
            parse_size(text)


def test_honest_files_are_far_from_the_limits(tmp_path):
    path = tmp_path / "e.csv.xz"
    path.write_bytes(lzma.compress(b"".join(b"%d,%d\n" % (k, k + 1) for k in range(1000))))
    with open_source(path) as source:
        assert source.format.name == "text"


# --- what hostile files made "a fault of isotherm" ------------------------------------------------


def parquet_with_bad_text(path, columns):
    table = pa.table({name: pa.array(cells, pa.binary()) for name, cells in columns.items()})
    pq.write_table(table, path, store_schema=False, use_dictionary=False)
    # The same bytes, said to be text: the one place where the two schemas differ.
    whole = pq.read_table(path)
    texts = [
        pa.Array.from_buffers(pa.string(), len(c), c.chunk(0).buffers()) for c in whole.columns
    ]
    pq.write_table(pa.table(texts, names=whole.column_names), path)


@pytest.mark.parametrize("place", [0, 1])
def test_text_in_parquet_that_is_no_utf8_is_a_damaged_file(tmp_path, place):
    cells = [[b"a", b"b", b"c"], [b"b", b"c", b"d"]]
    cells[place][1] = b"\xff\xfe"
    path = tmp_path / "bad.parquet"
    parquet_with_bad_text(path, {"source": cells[0], "target": cells[1]})
    with pytest.raises(FileError, match=r"bad\.parquet is damaged .* UTF8"):
        read_graph(path)
    parquet_with_bad_text(path, {"node": cells[0], "label": cells[1]})
    with pytest.raises(FileError, match=r"bad\.parquet is damaged .* UTF8"):
        read_labels(path, Graph.from_edges("abc", "bcd"))


def test_an_array_of_no_entries_and_an_impossible_shape_is_refused(tmp_path):
    path = tmp_path / "bad.npz"
    for shape in ((0, 99999999999999999999), (0, 1 << 62, 4)):
        file = io.BytesIO()
        header = {"descr": "<i8", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        path.write_bytes(npz_of(indptr=file.getvalue()).getvalue())
        with pytest.raises(GraphError, match="shape"):
            read_graph(path)
        with pytest.raises(LabelError, match="shape"):
            read_labels(path, Graph.from_edges("a", "b"))
    path.write_bytes(npz_of(indptr=file.getvalue().replace(b")", b"(")).getvalue())
    with pytest.raises(GraphError, match=r"not a \.npy file"):
        read_graph(path)  # no Python at all


def test_nan_in_json_is_no_label_and_is_not_two_values(tmp_path):
    path = tmp_path / "labels.json"
    graph = Graph.from_edges("ab", "bc")
    path.write_text('{"a": NaN, "b": "x"}')
    assert read_labels(path, graph) == {"b": "x"}
    path.write_text('{"a": NaN, "a": NaN, "b": "x"}')
    assert read_labels(path, graph) == {"b": "x"}
    path.write_text('{"a": NaN, "a": "y"}')
    with pytest.raises(Exception, match=r"'a' has two values, nan and 'y'"):
        read_labels(path, graph)


def test_a_cell_as_long_as_a_file_is_said_to_be_long(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_bytes(b"x" * 300_000 + b",b\n")
    with pytest.raises(FileError, match=r"line 1: a cell of more than 128 KiB"):
        read_graph(path)
