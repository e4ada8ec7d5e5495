"""The record of a run tells what was read: the checksum is that of those very bytes."""

import bz2
import gzip
import hashlib
import lzma
import os
import subprocess
import sys
import threading

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from conftest import CliRun
from isotherm.job import Job
from isotherm.pipeline import Silent, do
from isotherm.read.load import load_graph, load_labels
from isotherm.read.opening import open_source

pytestmark = pytest.mark.core_free

EDGES = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "x"), ("x", "y"), ("y", "z"), ("z", "x")]
CSV = ("source,target\n" + "".join(f"{i},{j}\n" for i, j in EDGES)).encode()
TABLE = pa.table({"source": [i for i, _ in EDGES], "target": [j for _, j in EDGES]})


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def arrow_stream():
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, TABLE.schema) as writer:
        writer.write_table(TABLE)
    return sink.getvalue().to_pybytes()


def written(write):
    sink = pa.BufferOutputStream()
    write(TABLE, sink)
    return sink.getvalue().to_pybytes()


def zstd(data):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as packed:
        packed.write(data)
    return sink.getvalue().to_pybytes()


def npz(path):
    arrays = {"indptr": [0, 1, 3, 4], "indices": [1, 0, 2, 1], "labels": [0, -1, 1]}
    np.savez(path, **{name: np.array(numbers) for name, numbers in arrays.items()})
    return path.read_bytes()


FILES = {
    "e.csv": CSV,
    "long.csv": CSV * 60_000,  # several blocks
    "e.csv.gz": gzip.compress(CSV) + bytes(1000),  # what follows the data belongs to the file
    "e.csv.bz2": bz2.compress(CSV),
    "e.csv.xz": lzma.compress(CSV),
    "e.csv.zst": zstd(CSV),
    "latin.csv": b"\xff\xfe" + CSV.decode().encode("utf-16-le"),
    "e.parquet": written(pa.parquet.write_table),
    "e.parquet.gz": gzip.compress(written(pa.parquet.write_table)),
    "e.arrow": written(pa.feather.write_feather),
    "stream.arrow": arrow_stream(),
    "m.mtx": b"%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n",
    "g.gml": b"graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 ] ]\n\n",
    "g.graphml": b'<graphml><graph><node id="a"/><node id="b"/><edge source="a" target="b"/>'
    b"</graph></graphml>\n\n",
}


@pytest.mark.parametrize("name", [*FILES, "a.npz"])
def test_every_format_is_hashed_whether_file_or_pipe(tmp_path, name):
    path, pipe = tmp_path / name, tmp_path / f"pipe-{name}"
    data = npz(path) if name == "a.npz" else FILES[name]
    path.write_bytes(data)
    assert load_graph(path, hashed=True)[1].checksum == sha256(data)
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(data,))
    writer.start()
    try:
        assert load_graph(pipe, hashed=True)[1].checksum == sha256(data)
    finally:
        writer.join()


@pytest.mark.parametrize(
    ("name", "text"),
    [("l.csv", "node,label\na,x\nz,y\n"), ("l.json", '{"a": "x", "z": "y"}\n\n')],
)
def test_labels_are_hashed_too(tmp_path, name, text):
    (tmp_path / "e.csv").write_bytes(CSV)
    (tmp_path / name).write_text(text)
    graph, _ = load_graph(tmp_path / "e.csv")
    _, read = load_labels(tmp_path / name, graph, hashed=True)
    assert read.checksum == sha256(text.encode())


def test_nothing_is_hashed_unless_asked_for(tmp_path):
    (tmp_path / "e.csv").write_bytes(CSV)
    assert load_graph(tmp_path / "e.csv")[1].checksum == "not known"


@pytest.mark.parametrize("name", ["e.csv", "e.parquet"])
def test_a_file_replaced_after_it_was_read_is_recorded_as_it_was(tmp_path, name):
    edges, labels, report = (tmp_path / part for part in (name, "l.csv", "r.html"))
    edges.write_bytes(FILES[name])
    labels.write_text("node,label\na,x\nz,y\n")

    class Replacing(Silent):
        def solving(self):
            (tmp_path / "other").write_bytes(b"p,q\n")
            (tmp_path / "other").replace(edges)
            return super().solving()

    run = do(Job(str(edges), str(labels), report=str(report)), Replacing())
    assert edges.read_bytes() == b"p,q\n"
    assert run.inputs == {
        str(edges): sha256(FILES[name]),
        str(labels): sha256(b"node,label\na,x\nz,y\n"),
    }
    assert sha256(FILES[name]) in report.read_text(encoding="utf-8")


def test_a_file_written_to_while_it_is_read_in_any_order_has_no_checksum(tmp_path):
    path = tmp_path / "e.parquet"
    path.write_bytes(FILES["e.parquet"])
    with open_source(path, hashed=True) as source:
        source.everything().read()
        with path.open("ab") as file:
            file.write(b"more")
        assert source.checksum() == "not known: the file changed while it was read"


def test_the_report_of_a_pipe_has_the_checksum_of_what_came_through_it(tmp_path):
    here = CliRun(tmp_path)
    (tmp_path / "e.csv").write_bytes(CSV)
    (tmp_path / "l.csv").write_text("node,label\na,x\nz,y\n")
    os.mkfifo(tmp_path / "pipe")
    copy = "import shutil; shutil.copyfileobj(open('e.csv', 'rb'), open('pipe', 'wb'))"
    with subprocess.Popen([sys.executable, "-c", copy], cwd=tmp_path) as writer:
        result = here("classify", "pipe", "l.csv", "--report", "r.html")
        writer.kill()  # should nobody have read
    assert result.returncode == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert sha256(CSV) in page
    assert sha256(b"") not in page


def test_the_report_of_standard_input_has_its_checksum(tmp_path):
    here = CliRun(tmp_path)
    (tmp_path / "l.csv").write_text("node,label\na,x\nz,y\n")
    result = here("classify", "-", "l.csv", "--report", "r.html", stdin=CSV.decode())
    assert result.returncode == 0
    assert sha256(CSV) in (tmp_path / "r.html").read_text(encoding="utf-8")
