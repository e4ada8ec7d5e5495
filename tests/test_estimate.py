"""Estimates: counted where a file is small, close where it is sampled, true to what happens."""

import os
import re
import subprocess
import sys
import threading

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from isotherm.compiled import core
from isotherm.estimate import count_edges, estimate_job
from isotherm.graph.texts import TextNumbers
from isotherm.job import Job
from isotherm.job_memory import memory_of_job
from isotherm.read.options import TextOptions


def write_edges(folder, n, m, *, ordered=False):
    rng = np.random.default_rng(n)
    edges = rng.integers(0, n, (m, 2))
    if ordered:
        edges = edges[np.argsort(edges[:, 0], kind="stable")]
    path = folder / "edges.csv"
    path.write_text("source,target\n" + "".join(f"node{a},node{b}\n" for a, b in edges.tolist()))
    table = pa.table({name: [f"node{k}" for k in edges[:, i]] for i, name in enumerate("st")})
    pq.write_table(table, folder / "edges.parquet", row_group_size=m // 20)
    return edges


@pytest.mark.parametrize("name", ["edges.csv", "edges.parquet"])
@pytest.mark.parametrize("ordered", [False, True])
def test_a_large_file_is_estimated_from_pieces(tmp_path, name, ordered):
    edges = write_edges(tmp_path, 20_000, 200_000, ordered=ordered)
    n = len(np.unique(edges))
    whole = count_edges(str(tmp_path / name), {}, TextOptions())
    assert (whole.rows, whole.nodes, whole.exact) == (200_000, n, True)
    part = count_edges(str(tmp_path / name), {}, TextOptions(), small=600_000)
    assert not part.exact
    assert part.rows == pytest.approx(200_000, rel=0.05)
    assert part.nodes == pytest.approx(n, rel=0.25)
    assert part.name_bytes == pytest.approx(whole.name_bytes, rel=0.3)


def test_a_packed_file_is_estimated_from_its_beginning(tmp_path):
    import gzip

    write_edges(tmp_path, 20_000, 200_000)
    packed = tmp_path / "edges.csv.gz"
    packed.write_bytes(gzip.compress((tmp_path / "edges.csv").read_bytes(), 1))
    part = count_edges(str(packed), {}, TextOptions(), small=1_000_000)
    assert part.rows == pytest.approx(200_000, rel=0.15)
    assert part.nodes == pytest.approx(20_000, rel=0.25)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_what_comes_through_a_pipe_is_read_once(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    text = "graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 ] ]"
    writer = threading.Thread(target=pipe.write_text, args=(text,), daemon=True)
    writer.start()
    counts = count_edges(str(pipe), {}, TextOptions())
    assert (counts.rows, counts.nodes, counts.exact) == (1, 2, True)


def test_more_of_anything_takes_more_memory(tmp_path):
    write_edges(tmp_path, 1000, 5000)
    counts = count_edges(str(tmp_path / "edges.csv"), {}, TextOptions())
    assert memory_of_job(counts, 2) < memory_of_job(counts, 10) < memory_of_job(counts, 100)
    more = count_edges(str(tmp_path / "edges.csv"), {}, TextOptions())
    more.rows *= 10
    assert memory_of_job(more, 2) > memory_of_job(counts, 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("engine", "model", "nodes", "classes"),
    [
        ("native", "paper", 150_000, 40),
        ("native", "stacked", 40_000, 10),
        ("scipy", "paper", 30_000, 58),
    ],
)
def test_memory_is_what_was_estimated(tmp_path, engine, model, nodes, classes):
    if engine == "native" and core is None:
        pytest.skip("needs the native engine")
    write_edges(tmp_path, nodes, 5 * nodes)
    labels = "".join(f"node{k},class{k // 20 % classes}\n" for k in range(0, nodes, 20))
    (tmp_path / "labels.csv").write_text("node,label\n" + labels)
    files = [str(tmp_path / name) for name in ("edges.csv", "labels.csv")]
    asked = [*files, "--engine", engine, "--model", model]
    told = subprocess.run(
        [sys.executable, "-m", "isotherm", "estimate", *asked],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    rows = dict(line.split(maxsplit=1) for line in told.splitlines())
    assert rows["engine"] == engine
    number, unit = rows["memory"].split()[-2:]
    estimated = float(number) * {"MiB": 2**20, "GiB": 2**30}[unit]
    command = [sys.executable, "-m", "isotherm", "classify", *asked, "-o", str(tmp_path / "o.csv")]
    # By a small process in between: the memory of one's own counts in that of a child.
    code = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    found = subprocess.run(
        [sys.executable, "-c", code, *command], capture_output=True, text=True, check=True
    )
    memory = int(found.stdout) * (1 if sys.platform == "darwin" else 1024)
    assert 1 / 1.3 <= estimated / memory <= 1.3


def test_a_job_without_labels_has_as_many_classes_as_said(tmp_path):
    write_edges(tmp_path, 100, 500)
    estimate = estimate_job(Job(str(tmp_path / "edges.csv"), ""), classes=7)
    assert (estimate.classes, estimate.labels, estimate.exact) == (7, 0, True)
    assert estimate.seconds > 0


def test_texts_are_numbered_alike_with_the_core_and_without(rng):
    with_core, without = TextNumbers(), TextNumbers()
    without._core = None
    for kind in (pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())):
        words = ["", "a", "é" * 5, *(f"node {k}" for k in rng.integers(0, 500, 2000))]
        column = pa.array(words, pa.string()).cast(kind)
        for part in (column, column.slice(7, 900), column.slice(0, 0)):
            expected: list[int] = with_core.encode(part).tolist()
            assert without.encode(part).tolist() == expected
    assert with_core.texts().to_pylist() == without.texts().to_pylist()


def test_what_a_gpu_would_hold_is_told(tmp_path, monkeypatch):
    from isotherm.engines.cuda import device, plan
    from isotherm.report.terminal import estimate_lines
    from stand_in_device import StandInDevice

    write_edges(tmp_path, 2000, 20_000)
    here = StandInDevice(1 << 34)
    monkeypatch.setattr(device, "find_device", lambda: here)
    monkeypatch.setattr(plan, "LEAST_CHUNK", 1 << 10)
    job = Job(str(tmp_path / "edges.csv"), "", model={"engine": "cuda"})
    whole = estimate_job(job, classes=20)
    assert (whole.gpu.lanes, whole.gpu.chunk_bytes) == (16, None)
    assert any(re.fullmatch(r"on GPU   about \d+ MiB", line) for line in estimate_lines(whole))
    here.free_bytes = plan.RESERVE + 2000 * (plan.BYTES_OF_NODE + 60) + 10_000
    part = estimate_job(job, classes=20)
    said = "2 columns at a time, with the edges streamed to it"
    assert any(said in line for line in estimate_lines(part))
