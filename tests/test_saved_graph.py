"""Saved graphs: the same graph from the file, and no harm from what a file may hold."""

import copy
import hashlib
import json
import pickle
import struct
from contextlib import suppress

import numpy as np
import pyarrow as pa
import pytest

import isotherm
from conftest import CliRun
from isotherm.compiled import core
from isotherm.errors import FileError, GraphError, NotEnoughMemory, ParameterError
from isotherm.files import SAVED_GRAPH
from isotherm.graph import Graph
from isotherm.graph.rows import Rows
from isotherm.graph.saved import open_graph
from isotherm.graph.saved.check import check_file
from isotherm.graph.saved.file import open_file
from isotherm.graph.saved.header import PAGE
from isotherm.graph.saved.mapped import _slow_fault, fault_of
from isotherm.graph.saved.writer import GraphWriter
from isotherm.solvers.options import SolveOptions

needs_core = pytest.mark.skipif(core is None, reason="the compiled core is not there")
pytestmark = pytest.mark.hostile


def some_graph(rng, kind="texts", *, weighted=True, n=40, m=150):
    i, j = rng.integers(0, n, (2, m))
    weight = rng.random(m) if weighted else None
    if kind == "positions":
        return Graph.from_edges(i, j, weight, nodes=range(n))
    if kind == "numbers":
        return Graph.from_edges(7 * i - 50, 7 * j - 50, weight)
    names = np.array([f"node {k} é" for k in range(n)] + [""], dtype=object)
    return Graph.from_edges(names[i], names[j], weight)


def saved(graph, folder, name="graph.iso"):
    path = folder / name
    graph.save(path, force=True)
    path.chmod(0o644)  # some tests write into it
    return path


def assert_same(one, other):
    assert (one.n_nodes, one.n_edges) == (other.n_nodes, other.n_edges)
    assert one.names.tolist() == other.names.tolist()
    assert one.sides == other.sides
    assert one.has_names == other.has_names
    np.testing.assert_array_equal(one.rows.start, other.rows.start)
    np.testing.assert_array_equal(one.rows.ends, other.rows.ends)
    np.testing.assert_array_equal(one.degrees, other.degrees)
    if one.rows.weights is None:
        assert other.rows.weights is None
    else:
        np.testing.assert_array_equal(one.rows.weights, other.rows.weights)


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("kind", ["texts", "numbers", "positions"])
def test_a_graph_comes_back_as_it_was_saved(tmp_path, kind, weighted):
    graph = some_graph(np.random.default_rng(0), kind, weighted=weighted)
    path = saved(graph, tmp_path)
    found = isotherm.read_graph(path)
    assert found.rows.is_mapped
    assert_same(found, graph)
    assert found.positions(graph.names.tolist()).tolist() == list(range(graph.n_nodes))
    strangers = (
        np.array(["node 99 é", "x"], dtype=object) if kind == "texts" else np.array([-3, 999])
    )
    assert found.nodes.find(strangers).tolist() == [-1, -1]
    mixed = np.array([graph.names[3], None, ("a", 1)], dtype=object)
    assert found.nodes.find(mixed).tolist() == graph.nodes.find(mixed).tolist() == [3, -1, -1]
    check_file(path)


def test_two_sides_come_back(tmp_path):
    graph = Graph.from_edges([7, 8], [7, 7], bipartite=True)
    assert_same(open_graph(saved(graph, tmp_path)), graph)


def test_texts_are_found_as_in_memory(tmp_path):
    graph = some_graph(np.random.default_rng(1))
    found = open_graph(saved(graph, tmp_path))
    wanted = pa.array(["node 3 é", None, "x", "", "node 3 é"])
    expected = graph.nodes.find_texts(wanted).tolist()
    assert found.nodes.find_texts(wanted).tolist() == expected
    assert found.nodes.find_texts(wanted.slice(2, 3)).tolist() == expected[2:]
    numbers = open_graph(saved(some_graph(np.random.default_rng(1), "numbers"), tmp_path))
    own = pa.array([str(numbers.names[5]), "-050", "x"])
    assert numbers.nodes.find_texts(own).tolist() == [5, -1, -1]


def test_opening_reads_neither_edges_nor_names(tmp_path, monkeypatch):
    path = saved(some_graph(np.random.default_rng(0)), tmp_path)
    looked = []
    monkeypatch.setattr("isotherm.graph.saved.mapped.fault_of", lambda _: looked.append("edges"))
    monkeypatch.setattr("isotherm.graph.saved.names.texts_of", lambda *_: looked.append("names"))
    graph = isotherm.read_graph(path)
    assert "n_nodes" in repr(graph)
    if core is not None:
        assert graph.positions(["node 3 é"]).tolist() == [graph.positions(["node 3 é"])[0]]
    assert not looked
    assert len(graph.rows.ends) == graph.rows.n_entries
    assert looked == ["edges"]


def test_arrays_of_a_file_are_read_only(tmp_path):
    graph = open_graph(saved(some_graph(np.random.default_rng(0)), tmp_path))
    for array in (graph.rows.start, graph.rows.ends, graph.rows.weights, graph.degrees):
        assert not array.flags.writeable


def test_a_graph_in_a_file_is_pickled_as_where_it_is(tmp_path):
    path = saved(some_graph(np.random.default_rng(0), n=400, m=4000), tmp_path)
    graph = open_graph(path)
    _ = graph.adjacency, graph.degrees
    packed = pickle.dumps(graph)
    assert len(packed) < 3 * PAGE
    assert_same(pickle.loads(packed), graph)  # noqa: S301  # our own
    assert_same(copy.deepcopy(graph), graph)
    renamed = copy.deepcopy(graph.renamed(np.arange(graph.n_nodes)))
    assert renamed.rows.is_mapped
    assert renamed.names[3] == 3
    saved(some_graph(np.random.default_rng(1)), tmp_path)
    with pytest.raises(FileError, match="replaced by another graph"):
        pickle.loads(packed)  # noqa: S301  # our own


def test_what_was_open_stays_when_the_file_is_replaced(tmp_path):
    one = some_graph(np.random.default_rng(0))
    graph = open_graph(saved(one, tmp_path))
    saved(some_graph(np.random.default_rng(1)), tmp_path)
    assert_same(graph, one)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda data: b"source,target\n" + data, "not a saved graph"),
        (lambda data: data[:-1], "truncated"),
        (lambda data: data[:100], "truncated"),
        (lambda data: data + b"\0", "changed"),
        (lambda data: data[:16] + struct.pack("=I", 0x04030201) + data[20:], "other byte order"),
        (lambda data: data[:20] + struct.pack("=I", 2) + data[24:], "version 2"),
        (lambda data: data[:20] + struct.pack("=I", 0) + data[24:], "changed"),
        (lambda data: data[:90] + b"\0" + data[91:], "changed"),
    ],
)
def test_what_is_no_saved_graph_is_refused_with_a_reason(tmp_path, change, reason):
    path = saved(some_graph(np.random.default_rng(0)), tmp_path)
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(FileError, match=reason):
        open_graph(path)


def rewritten(path, edit):
    """A file with another header, whose checksum is right."""
    data = path.read_bytes()
    length = struct.unpack_from("=I", data, 28)[0]
    header = json.loads(data[64 : 64 + length])
    edited = edit(header)
    text = json.dumps(header if edited is None else edited).encode()
    head = data[:28] + struct.pack("=I", len(text)) + hashlib.sha256(text).digest() + text
    path.write_bytes(head.ljust(PAGE, b"\0") + data[PAGE:])
    return path


@pytest.mark.parametrize(
    "edit",
    [
        lambda header: header.update(n_nodes=header["n_nodes"] + 1),
        lambda header: header.update(n_nodes=-1),
        lambda header: header.update(n_nodes=1 << 40),
        lambda header: header.update(n_entries=10**18),
        lambda header: header.update(n_entries=1.5),
        lambda header: header.update(names="pickles"),
        lambda header: header.update(names="numbers"),
        lambda header: header.update(more=1),
        lambda header: header["parts"].__delitem__("ends"),
        lambda header: header["parts"].update(ends=[0, 4, "x"]),
        lambda header: header["parts"].update(ends=header["parts"]["starts"]),
        lambda header: header["parts"]["ends"].__setitem__(0, 1 << 62),
        lambda header: header["parts"].update(odd=[PAGE, 0, ""]),
        lambda _: [],
        lambda _: {"parts": 3},
    ],
)
def test_a_header_that_does_not_fit_is_refused(tmp_path, edit):
    path = saved(some_graph(np.random.default_rng(0)), tmp_path)
    with pytest.raises(FileError, match=r"changed|truncated"):
        open_graph(rewritten(path, edit))


@needs_core
def test_each_byte_that_changes_is_found_by_a_check_and_harms_nobody(tmp_path):
    rng = np.random.default_rng(0)
    graph = some_graph(rng, n=12, m=25)
    path = saved(graph, tmp_path)
    data, parts = path.read_bytes(), open_file(path).header.parts
    ids = graph.names.tolist()
    for part in parts.values():
        for at in rng.integers(part.offset, part.offset + part.size, min(part.size, 40)):
            changed = bytearray(data)
            changed[at] ^= 1 << rng.integers(8)
            path.write_bytes(changed)
            with pytest.raises(FileError, match="changed or damaged"):
                check_file(path)
            found = open_graph(path)
            for use in (
                lambda found: found.nodes.find(np.array(ids, dtype=object)),
                lambda found: found.names.tolist(),
                lambda found: found.components,
                lambda found: found.adjacency,
            ):
                with suppress(FileError):
                    use(found)


def forged(folder, graph, **arrays):
    """A file whose checksums are right, and some of whose arrays are not."""
    parts = {"starts": graph.rows.start, "ends": graph.rows.ends, "weights": graph.rows.weights}
    parts = parts | {"degrees": graph.degrees} | arrays
    path = folder / "forged.iso"
    path.unlink(missing_ok=True)  # it is read-only
    with path.open("wb") as file:
        writer = GraphWriter(file)
        if "name_starts" in arrays:
            writer._names = "texts"
        else:
            writer.put_nodes(graph.nodes)
        for name, values in parts.items():
            if values is not None:
                writer.put_array(name, values)
        writer.finish(0)
    return path


@pytest.mark.parametrize(
    ("name", "edit", "reason"),
    [
        ("ends", lambda ends: np.full_like(ends, 10**9), "name a node outside"),
        ("ends", lambda ends: np.full_like(ends, -1), "name a node outside"),
        ("ends", lambda ends: ends[::-1].copy(), "not sorted"),
        ("starts", lambda start: start[::-1].copy(), "do not follow"),
        ("starts", lambda start: np.where(start == start[3], 10**12, start), "do not follow"),
        ("starts", lambda start: start + 1, "do not follow"),
        ("weights", lambda weights: -weights, "not all above 0"),
        ("weights", lambda weights: weights * np.nan, "not all above 0"),
        ("weights", lambda weights: np.arange(1.0, len(weights) + 1), "in one direction only"),
        ("degrees", lambda degrees: degrees + 1, "degrees"),
    ],
)
def test_the_core_never_gets_arrays_that_lead_outside(tmp_path, name, edit, reason):
    graph = some_graph(np.random.default_rng(0))
    own = {"starts": graph.rows.start, "ends": graph.rows.ends, "weights": graph.rows.weights}
    path = forged(tmp_path, graph, **{name: edit((own | {"degrees": graph.degrees})[name])})
    for use in (lambda graph: graph.components, lambda graph: graph.rows.weights):
        with pytest.raises(FileError, match=reason):
            use(open_graph(path))
    with pytest.raises(FileError, match="changed or damaged"):
        check_file(path)


@needs_core
def test_names_that_lead_outside_are_not_read(tmp_path):
    graph = some_graph(np.random.default_rng(0), "positions")
    n = graph.n_nodes
    for starts, data in (
        (np.arange(n + 1) * 10**9, b"x" * n),
        (np.arange(n, -1, -1), b"x" * n),
        (np.full(n + 1, -5), b"x" * n),
        (np.arange(n + 1), bytes(range(128, 128 + n))),
    ):
        slots = np.arange(1, 2 * n + 1, dtype=np.int32)  # no free one
        arrays = {"name_starts": starts.astype(np.int64), "lookup": slots}
        path = forged(tmp_path, graph, **arrays, name_bytes=np.frombuffer(data, np.uint8))
        found = open_graph(path)
        with pytest.raises(FileError, match=r"its names|the table of names"):
            found.nodes.find(np.array(["y", "xx"], dtype=object))
        with pytest.raises(FileError, match=r"its names|the table of names"):
            _ = found.names
        with pytest.raises(FileError, match="changed or damaged"):
            check_file(path)


def test_the_slow_look_at_rows_finds_the_same():
    good = some_graph(np.random.default_rng(3)).rows
    assert fault_of(good) is None
    assert _slow_fault(good) is None
    for bad in (
        Rows(good.start, np.full_like(good.ends, 10**9), good.weights),
        Rows(good.start, good.ends[::-1].copy(), good.weights),
        Rows(good.start, good.ends, -good.weights),
        Rows(good.start, good.ends, np.arange(1.0, len(good.ends) + 1)),
    ):
        assert fault_of(bad) == _slow_fault(bad) is not None


def test_self_loops_are_counted():
    rng = np.random.default_rng(0)
    for _ in range(20):
        graph = some_graph(rng, "positions", n=9, m=30)
        assert graph.rows.n_loops() == np.count_nonzero(graph.adjacency.diagonal())


def test_a_save_that_fails_leaves_the_file_as_it_was(tmp_path, monkeypatch):
    graph = some_graph(np.random.default_rng(0))
    path = saved(graph, tmp_path)
    before = path.read_bytes()
    with pytest.raises(FileError, match="already exists"):
        graph.save(path)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(GraphWriter, "finish", full)
    with pytest.raises(FileError, match="No space left"):
        some_graph(np.random.default_rng(1)).save(path, force=True)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_ids_that_a_file_cannot_hold_are_refused(tmp_path):
    for ids in ([1.5, 2.5], [("a", 1), ("b", 2)]):
        column = np.empty(2, dtype=object)
        column[:] = ids
        with pytest.raises(GraphError, match="text or whole numbers"):
            Graph.from_edges(column[:1], column[1:]).save(tmp_path / "graph.iso")
    big = Graph.from_edges(np.array([2**63 + 1], np.uint64), np.array([2**63 + 2], np.uint64))
    with pytest.raises(GraphError, match="below 2"):
        big.save(tmp_path / "graph.iso")
    with pytest.raises(GraphError, match="Unicode"):
        Graph.from_edges(["\ud800"], ["b"]).save(tmp_path / "graph.iso")
    assert not list(tmp_path.iterdir())


def test_a_packed_saved_graph_is_refused(tmp_path):
    import gzip

    path = saved(some_graph(np.random.default_rng(0)), tmp_path)
    packed = tmp_path / "graph.iso.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    with pytest.raises(FileError, match="must be an unpacked file on disk"):
        isotherm.read_graph(packed)
    assert path.read_bytes().startswith(SAVED_GRAPH)


@needs_core
@pytest.mark.parametrize("kind", ["positions", "numbers", "texts"])
def test_labels_of_a_table_are_found_whatever_the_ids_of_the_graph_are(tmp_path, rng, kind):
    graph = some_graph(rng, kind)
    graph.save(tmp_path / "graph.iso")
    names = graph.names.tolist()
    known = {names[0]: ("cold", 0.5), names[-1]: ("warm", 1.0)}
    rows = [f"{node},{label},{sure}" for node, (label, sure) in known.items()]
    (tmp_path / "labels.csv").write_text("\n".join(["node,label,sure", *rows]), encoding="utf-8")
    opened = isotherm.read_graph(tmp_path / "graph.iso")
    read = isotherm.read_labels(tmp_path / "labels.csv", opened)
    if kind == "texts" and core is not None:  # the file's own table finds them
        assert "_ids" not in vars(opened.nodes)
    assert read == {node: label for node, (label, _) in known.items()}
    expected = isotherm.DirichletClassifier().fit(graph, read).labels_.tolist()
    assert isotherm.DirichletClassifier().fit(opened, read).labels_.tolist() == expected
    files = ["graph.iso", "labels.csv", "-o", "out.csv"]
    ended = CliRun(tmp_path)("classify", *files, "--model", "paper", "--confidence", "sure")
    assert ended.returncode == 0, ended.stderr
    written = (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()
    assert len(written) == 1 + graph.n_nodes
    free = next(node for node in map(str, names) if node not in map(str, known) and node)
    why = CliRun(tmp_path)("explain", *files[:2], "--model", "paper", "--", free)
    assert why.returncode == 0, why.stderr
    assert free in why.stdout


def test_labels_from_a_file_are_those_from_memory(tmp_path):
    rng = np.random.default_rng(0)
    graph = some_graph(rng, n=600, m=2400)
    found = open_graph(saved(graph, tmp_path))
    labels = dict(zip(graph.names[:60].tolist(), rng.integers(0, 4, 60).tolist(), strict=True))
    one, other = (isotherm.DirichletClassifier().fit(each, labels) for each in (graph, found))
    for name in ("labels_", "margins_", "certified_", "temperatures_", "status_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


@needs_core
@pytest.mark.parametrize("n_classes", [2, 3, 4, 7, 20])
def test_little_memory_changes_how_but_not_what(tmp_path, n_classes):
    """With no room for copies, steps are made on the file, a few columns at a time."""
    rng = np.random.default_rng(n_classes)
    graph = open_graph(saved(some_graph(rng, n=3000, m=12_000), tmp_path))
    labels = dict(
        zip(graph.names[:300].tolist(), rng.integers(0, n_classes, 300).tolist(), strict=True)
    )
    lots = isotherm.DirichletClassifier().fit(graph, labels)
    little = 3000 * (8 * n_classes + 60)
    few = isotherm.DirichletClassifier(memory=little).fit(graph, labels)
    assert few.solution_.converged
    assert few.session().operator.copies is False
    assert few.session().operator.eliminates is False
    np.testing.assert_allclose(few.temperatures_, lots.temperatures_, atol=2e-6)
    sure = lots.certified_ & few.certified_
    assert sure.mean() > 0.99
    np.testing.assert_array_equal(few.labels_[sure], lots.labels_[sure])


@needs_core
def test_memory_that_does_not_do_is_refused_with_what_would(tmp_path):
    graph = open_graph(saved(some_graph(np.random.default_rng(0), "positions"), tmp_path))
    boundary, values = [0, 1], [0.0, 1.0]
    with pytest.raises(NotEnoughMemory, match=r"use --memory 1M \(memory="):
        isotherm.solve_dirichlet(graph, boundary, values, memory=1000)
    for how in ({"engine": "scipy"}, {"solver": "direct"}):
        with pytest.raises(NotEnoughMemory, match="copies all edges"):
            isotherm.solve_dirichlet(graph, boundary, values, memory=5000, **how)
    with pytest.raises(ParameterError, match="number of bytes"):
        SolveOptions(memory=0)


@pytest.mark.parametrize("weighted", [False, True])
def test_some_rows_of_a_file_are_those_of_its_graph(rng, tmp_path, weighted):
    graph = some_graph(rng, weighted=weighted)
    path, n = saved(graph, tmp_path), graph.n_nodes
    for first, last in [(0, n), (0, 7), (7, 30), (30, n), (5, 5)]:
        rows, whole = open_file(path).rows(first, last), graph.rows
        entries = slice(whole.start[first], whole.start[last])
        np.testing.assert_array_equal(rows.start, whole.start[first : last + 1] - entries.start)
        np.testing.assert_array_equal(rows.ends, whole.ends[entries])
        if weighted:
            np.testing.assert_array_equal(rows.weights, whole.weights[entries])
        else:
            assert rows.weights is None


def test_rows_near_some_nodes_have_what_these_nodes_have(rng, tmp_path):
    graph = some_graph(rng)
    opened, nodes = open_graph(saved(graph, tmp_path)), np.array([30, 3, 3, 11])
    near = opened.rows.near(nodes)
    assert near is not opened.rows
    assert near.n_nodes == graph.n_nodes
    (mine, counts), (theirs, other) = near.entries(nodes), graph.rows.entries(nodes)
    np.testing.assert_array_equal(counts, other)
    np.testing.assert_array_equal(near.ends[mine], graph.rows.ends[theirs])
    np.testing.assert_array_equal(near.weights[mine], graph.rows.weights[theirs])
    assert near.n_entries == np.diff(graph.rows.start)[[3, 11, 30]].sum()
    assert opened.rows.start[-1] == graph.rows.n_entries  # all of it is looked at now
    assert opened.rows.near(nodes) is opened.rows


@pytest.mark.parametrize(
    ("part", "value", "said"),
    [
        ("ends", 1000, "not sorted, or name a node outside"),
        ("ends", -1, "not sorted, or name a node outside"),
        ("starts", -8, "do not follow each other"),
        ("starts", 2**60, "do not follow each other"),
        ("weights", np.nan, "not all above 0 and finite"),
        ("weights", 1e9, "degrees do not match"),
    ],
)
def test_rows_that_were_forged_are_refused_and_others_are_not(rng, tmp_path, part, value, said):
    graph = some_graph(rng)
    starts = graph.rows.start
    array = {"starts": starts, "ends": graph.rows.ends, "weights": graph.rows.weights}[part].copy()
    array[20 if part == "starts" else starts[20]] = value
    file = open_file(forged(tmp_path, graph, **{part: array}))
    file.rows(25, graph.n_nodes)
    file.rows_of(np.array([25, 30]))
    with pytest.raises(FileError, match=said):
        file.rows(15, 25)
    with pytest.raises(FileError, match=said):
        file.rows_of(np.array([19, 20]))


def test_weights_that_would_be_copied_without_room_are_refused_with_their_bytes(
    rng, tmp_path, monkeypatch
):
    graph = some_graph(rng)
    huge = Graph.from_matrix(graph.adjacency * 2.0**300)
    opened = open_graph(saved(huge, tmp_path))
    monkeypatch.setattr(isotherm.dirichlet.boundary, "SMALL", 0)
    monkeypatch.setattr(isotherm.dirichlet.boundary, "free_memory", lambda: 100)
    with pytest.raises(NotEnoughMemory, match=f"{16 * huge.rows.n_entries:,} bytes"):
        isotherm.dirichlet.DirichletProblem(opened, np.array([0]), np.ones((1, 1)))
