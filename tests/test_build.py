"""``isotherm build``: the graph that reading makes, bit for bit, in whatever memory."""

import errno
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import namedtuple

import numpy as np
import pytest

import isotherm
from isotherm.build import build_graph, folder, plan, sorting, spill
from isotherm.compiled import core
from isotherm.errors import FileError, GraphError, NotEnoughMemory
from isotherm.graph.rows import rows_from_edges
from isotherm.graph.saved.check import check_file
from isotherm.read.options import TextOptions

pytestmark = pytest.mark.skipif(core is None, reason="the compiled core is not there")


def write_edges(path, rng, *, weighted=False, words=False, n=60, m=400, header=True):
    """Edges with duplicates, both ways, self loops, and weights that do not add up exactly."""
    i, j = rng.integers(0, n, (2, m)) ** 2 // n
    i[:20], j[:20] = j[20:40], i[20:40]
    i[40:60] = j[40:60]
    weight = np.where(rng.random(m) < 0.1, 0.0, rng.random(m) ** 9)
    name = (lambda k: f"node {k} é") if words else str
    lines = ["source,target,weight"[: None if weighted else 13]] if header else []
    for a, b, w in zip(i.tolist(), j.tolist(), weight.tolist(), strict=True):
        lines.append(f"{name(a)},{name(b)}" + (f",{w!r}" if weighted else ""))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def tiny_ranges(monkeypatch, size):
    """Sort so few bytes of rows at once."""
    monkeypatch.setattr(plan, "LEAST_RANGE", size)
    monkeypatch.setattr(plan, "PROGRAM", 0)
    monkeypatch.setattr(plan.Plan, "room_for_rows", lambda *_: size)
    monkeypatch.setattr(spill, "BLOCK", 37)
    monkeypatch.setattr(sorting, "BLOCK", 37)


def in_memory(edges, out, **options):
    isotherm.read_graph(edges, **options).save(out)
    return out.read_bytes()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("size", [1 << 30, 2000, 900])
@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("bipartite", [False, True])
def test_a_build_gives_the_bytes_that_reading_and_saving_give(
    tmp_path, monkeypatch, weighted, words, size, bipartite
):
    tiny_ranges(monkeypatch, size)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        edges = write_edges(tmp_path / "e.csv", rng, weighted=weighted, words=words, m=400)
        expected = in_memory(edges, tmp_path / f"{seed}.iso", bipartite=bipartite)
        sized = size if not weighted else 3 * size
        tiny_ranges(monkeypatch, sized)
        out = tmp_path / f"{seed}-built.iso"
        options = TextOptions(bipartite=bipartite)
        graph, _ = build_graph([str(edges)], str(out), options=options, memory=1 << 33)
        assert out.read_bytes() == expected
        assert graph.rows.is_mapped
        check_file(out)


@pytest.mark.filterwarnings("ignore")
def test_weights_that_add_up_to_1_are_left_out(tmp_path, monkeypatch):
    edges = tmp_path / "e.csv"
    lines = [f"a{k},b{k % 7},0.5\nb{k % 7},a{k},0.5" for k in range(50)]
    edges.write_text("source,target,weight\n" + "\n".join(lines), encoding="utf-8")
    expected = in_memory(edges, tmp_path / "read.iso")
    tiny_ranges(monkeypatch, 300)
    graph, _ = build_graph([str(edges)], str(tmp_path / "built.iso"), memory=1 << 33)
    assert not graph.rows.has_weights
    assert (tmp_path / "built.iso").read_bytes() == expected


@pytest.mark.filterwarnings("ignore")
def test_part_files_are_read_as_one(tmp_path, monkeypatch):
    parts = [
        write_edges(tmp_path / f"part-{k}.csv", np.random.default_rng(k), weighted=True)
        for k in range(3)
    ]
    expected = in_memory(tmp_path / "part-*.csv", tmp_path / "read.iso")
    tiny_ranges(monkeypatch, 9000)
    for k, edges in enumerate((list(map(str, parts)), [str(tmp_path / "part-*.csv")])):
        out = tmp_path / f"built-{k}.iso"
        build_graph(edges, str(out), memory=1 << 33)
        assert out.read_bytes() == expected
    with pytest.raises(FileError, match="there is no file"):
        build_graph([str(parts[0]), str(tmp_path / "absent.csv")], str(tmp_path / "x.iso"))
    other = tmp_path / "other.csv"
    other.write_text("from,to,since\n1,2,3\n", encoding="utf-8")
    with pytest.raises(FileError, match="have different columns"):
        build_graph([str(parts[0]), str(other)], str(tmp_path / "x.iso"))
    assert not (tmp_path / "x.iso").exists()


@pytest.mark.filterwarnings("ignore")
def test_what_is_no_table_is_built_in_memory(tmp_path):
    edges = tmp_path / "g.mtx"
    edges.write_text("%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n2 3\n")
    expected = in_memory(edges, tmp_path / "read.iso")
    build_graph([str(edges)], str(tmp_path / "built.iso"))
    assert (tmp_path / "built.iso").read_bytes() == expected
    with pytest.raises(NotEnoughMemory, match="read as a whole"):
        build_graph([str(edges)], str(tmp_path / "x.iso"), memory=1000)
    alike = tmp_path / "alike.csv"
    alike.write_text("source,target\nAnn,bob\nANN,cyd\n", encoding="utf-8")
    options = TextOptions(ids="normalised")
    graph, _ = build_graph([str(alike)], str(tmp_path / "alike.iso"), options=options)
    assert graph.names.tolist() == ["Ann", "bob", "cyd"]


def test_rows_of_entries_are_those_of_the_whole():
    rng = np.random.default_rng(0)
    for _ in range(30):
        n, m = int(rng.integers(2, 30)), int(rng.integers(0, 80))
        source, target = rng.integers(0, n, (2, m)).astype(np.int32)
        weights = rng.random(m) if rng.random() < 0.5 else None
        whole = rows_from_edges(n, source, target, weights)
        cuts = np.unique([0, *rng.integers(0, n, 3), n]).astype(np.int32)
        first, rows, ends, sums = core.scatter(source, target, weights, cuts)
        both = sorted(
            [*zip(source, target, strict=True)]
            + [(j, i) for i, j in zip(source, target, strict=True) if i != j]
        )
        assert sorted(zip(rows, ends, strict=True)) == both
        for k in range(len(cuts) - 1):
            some = slice(first[k], first[k + 1])
            assert ((rows[some] >= cuts[k]) & (rows[some] < cuts[k + 1])).all()
            start, found, added = core.from_entries(
                int(cuts[k]),
                int(cuts[k + 1] - cuts[k]),
                n,
                rows[some],
                ends[some],
                None if sums is None else sums[some],
                2,
            )
            entries = slice(whole.start[cuts[k]], whole.start[cuts[k + 1]])
            np.testing.assert_array_equal(found, whole.ends[entries])
            np.testing.assert_array_equal(
                np.diff(start), np.diff(whole.start)[cuts[k] : cuts[k + 1]]
            )
            if weights is not None and whole.weights is not None:
                np.testing.assert_array_equal(added, whole.weights[entries])
    for bad in (np.array([5], np.int32), np.array([-1], np.int32)):
        with pytest.raises(IndexError):
            core.scatter(bad, bad, None, np.array([0, 3], np.int32))
        with pytest.raises(IndexError):
            core.from_entries(1, 2, 4, bad, bad, None, 1)


def test_too_little_memory_says_how_much_would_do(tmp_path):
    edges = write_edges(tmp_path / "e.csv", np.random.default_rng(0))
    out = str(tmp_path / "g.iso")
    with pytest.raises(NotEnoughMemory, match=r"use --memory \d+M \(memory=") as caught:
        build_graph([str(edges)], out, memory=1 << 20)
    enough = int(re.search(r"memory=(\d+)", str(caught.value)).group(1))
    build_graph([str(edges)], out, memory=enough)


def test_names_that_outgrow_the_memory_end_a_build(tmp_path, monkeypatch):
    edges = write_edges(tmp_path / "e.csv", np.random.default_rng(0))
    monkeypatch.setattr(plan, "memory_of_build", lambda _: 0)
    with pytest.raises(NotEnoughMemory, match="number the nodes"):
        build_graph([str(edges)], str(tmp_path / "g.iso"), memory=plan.PROGRAM + 10)
    assert [entry.name for entry in tmp_path.iterdir()] == ["e.csv"]


def test_a_node_of_too_many_edges_ends_a_build(tmp_path, monkeypatch):
    edges = tmp_path / "star.csv"
    lines = [f"hub,leaf{k}" for k in range(500)]
    edges.write_text("source,target\n" + "\n".join(lines), encoding="utf-8")
    tiny_ranges(monkeypatch, 1000)
    with pytest.raises(NotEnoughMemory, match="alone have"):
        build_graph([str(edges)], str(tmp_path / "g.iso"), memory=1 << 33)
    assert [entry.name for entry in tmp_path.iterdir()] == ["star.csv"]


def test_too_little_disk_is_said_before_anything_is_done(tmp_path, monkeypatch):
    edges = write_edges(tmp_path / "e.csv", np.random.default_rng(0))
    usage = namedtuple("usage", "total used free")(10, 10, 10)
    monkeypatch.setattr(plan.shutil, "disk_usage", lambda _: usage)
    with pytest.raises(FileError, match="not enough room on the disk"):
        build_graph([str(edges)], str(tmp_path / "g.iso"))
    assert [entry.name for entry in tmp_path.iterdir()] == ["e.csv"]


@pytest.mark.parametrize(
    "raised", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()]
)
@pytest.mark.parametrize("place", ["build.spill.put", "build.sorting.put", "build.spill_edges"])
def test_a_build_that_ends_early_leaves_nothing(tmp_path, monkeypatch, place, raised):
    edges = write_edges(tmp_path / "e.csv", np.random.default_rng(0), weighted=True)

    def fail(*_):
        raise raised

    monkeypatch.setattr(f"isotherm.{place}", fail)
    expected = FileError if isinstance(raised, OSError) else KeyboardInterrupt
    with pytest.raises(expected):
        build_graph([str(edges)], str(tmp_path / "deep" / "er" / "g.iso"))
    assert [entry.name for entry in tmp_path.iterdir()] == ["e.csv"]


def test_what_a_killed_build_left_goes_and_what_others_use_stays(tmp_path):
    out = tmp_path / "g.iso"
    left = tmp_path / ".g.iso.abc.building"
    left.mkdir()
    (left / "lock").touch()
    other = tmp_path / ".other.iso.abc.building"
    shutil.copytree(left, other)
    with folder.BuildFolder(out) as used:
        assert not left.exists()
        folder.remove_left_behind(out)
        assert used.exists()
        assert other.exists()
    assert not used.exists()


def test_a_bad_row_and_no_rows_are_named(tmp_path):
    edges = tmp_path / "e.csv"
    edges.write_text("source,target,weight\na,b,1\nb,c,-2\n", encoding="utf-8")
    with pytest.raises(GraphError, match="line 3"):
        build_graph([str(edges)], str(tmp_path / "g.iso"))
    edges.write_text("source,target\n", encoding="utf-8")
    with pytest.raises(GraphError, match="no edges"):
        build_graph([str(edges)], str(tmp_path / "g.iso"))
    assert [entry.name for entry in tmp_path.iterdir()] == ["e.csv"]


def run(*arguments):
    """The command line, in this process; its exit code."""
    from isotherm.cli import app, run_command

    return run_command(lambda **how: app([str(part) for part in arguments], **how))


@pytest.fixture
def files(tmp_path):
    write_edges(tmp_path / "e.csv", np.random.default_rng(0), weighted=True, words=True)
    lines = [f"node {k} é,{'xy'[k % 2]}" for k in range(12)]
    (tmp_path / "l.csv").write_text("node,label\n" + "\n".join(lines), encoding="utf-8")
    return tmp_path


def test_every_command_takes_a_saved_graph(files, capfd):
    edges, labels, graph = files / "e.csv", files / "l.csv", files / "g.iso"
    assert run("build", edges, "-o", graph, "--check", "-q") == 0
    assert "is sound" in capfd.readouterr().out
    for command, *more in (
        ("classify", "-o", "-"),
        ("classify", "-o", "-", "--memory", "1M", "--model", "paper"),
        ("explain", "node 0 é", "--model", "paper"),
        ("suggest", "--model", "paper"),
    ):
        said = []
        for path in (edges, graph):
            assert run(command, path, labels, *more, "-q") == 0, command
            said.append(capfd.readouterr().out)
        assert said[0] == said[1], command
    assert run("estimate", graph, labels, "--memory", "10M") == 0
    assert "read at each step" in capfd.readouterr().out


def test_the_command_line_says_what_is_wrong(files, capfd):
    edges, graph = files / "e.csv", files / "g.iso"
    assert run("build", edges) == 2
    assert run("build", edges, "-o", graph, "--memory", "lots") == 2
    assert run("build", edges, "-o", graph, "--memory", "1M") == 1
    assert "use --memory" in " ".join(capfd.readouterr().err.split())
    assert run("build", edges, "-o", edges, "--force") == 1
    assert "one of the edge files" in " ".join(capfd.readouterr().err.split())
    assert run("build", edges, "-o", graph) == 0
    assert "of disk beside g.iso" in " ".join(capfd.readouterr().err.split())
    assert run("build", edges, "-o", graph) == 1
    assert "--force" in capfd.readouterr().err
    data = bytearray(graph.read_bytes())
    data[-1] ^= 1
    graph.chmod(0o644)
    graph.write_bytes(data)
    assert run("build", graph, "--check") == 1
    assert "has been changed or damaged" in " ".join(capfd.readouterr().err.split())
    assert run("classify", graph, files / "l.csv", "-o", "-", "--model", "stacked") == 1


def test_a_stacked_model_is_used_only_where_there_is_room(files, capfd):
    edges, labels = files / "e.csv", files / "l.csv"
    little = ("-o", "-", "--memory", "30K")
    assert run("classify", edges, labels, *little) == 0
    assert "not enough memory for a stacked model" in " ".join(capfd.readouterr().err.split())
    assert run("classify", edges, labels, *little, "--model", "stacked") == 1
    assert "use --memory 1M" in " ".join(capfd.readouterr().err.split())


@pytest.mark.slow
def test_killed_at_any_time_a_build_leaves_no_half_graph(tmp_path):
    edges = write_edges(tmp_path / "e.csv", np.random.default_rng(0), n=40_000, m=100_000)
    out = tmp_path / "g.iso"
    command = [sys.executable, "-m", "isotherm", "build", str(edges), "-o", str(out), "-q"]
    started = time.perf_counter()
    subprocess.run([*command, "--force"], check=True)
    lasts = time.perf_counter() - started
    whole = out.read_bytes()
    rng = np.random.default_rng(1)
    for number, share in enumerate(rng.random(5)):
        if number % 2:
            out.unlink(missing_ok=True)
        killed = subprocess.Popen([*command, "--force"])
        time.sleep(lasts * share)
        killed.send_signal(signal.SIGKILL if number < 4 else signal.SIGINT)
        killed.wait()
        assert not out.exists() or out.read_bytes() == whole
        left = [each.name for each in tmp_path.iterdir() if each.name not in ("e.csv", "g.iso")]
        assert all(re.fullmatch(r"\.g\.iso\.\w+\.building", name) for name in left)
        assert number < 4 or not left
        if number == 3:
            subprocess.run([*command, "--force"], check=True)
            assert sorted(each.name for each in tmp_path.iterdir()) == ["e.csv", "g.iso"]
            assert out.read_bytes() == whole
