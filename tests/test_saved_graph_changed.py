"""A saved graph that is written over while it is open: noticed, and never a false proof."""

import copy
import os
import pickle
import stat
import time

import numpy as np
import pytest

import isotherm
from isotherm.classifier import diagnostics, stack
from isotherm.engines.session import HostSession
from isotherm.errors import FileError, GraphError
from isotherm.graph import Graph
from isotherm.graph.saved import open_graph
from isotherm.graph.saved.file import TICK

pytestmark = pytest.mark.hostile

KNOWN = {f"n{k}": k % 3 for k in range(9)}


def some_graph(seed, *, weighted=True, n=60, m=240):
    rng = np.random.default_rng(seed)
    i, j = rng.integers(0, n, (2, m))
    weight = rng.random(m) + 0.5 if weighted else None
    return Graph.from_edges(i, j, weight, nodes=range(n)).renamed(
        np.array([f"n{k}" for k in range(n)], dtype=object)
    )


@pytest.fixture
def path(tmp_path):
    """A graph in a file that was not written just now."""
    path = tmp_path / "graph.iso"
    some_graph(1).save(path)
    path.chmod(0o644)
    time.sleep(2 * TICK / 1e9)
    return path


def overwrite(path, name, edit):
    """Change a part of the file in place."""
    part = open_graph(path).rows.file.header.parts[name]
    with path.open("r+b") as file:
        file.seek(part.offset)
        data = np.frombuffer(file.read(part.size), np.uint8)
        file.seek(part.offset)
        file.write(edit(data).tobytes())


def other_graph(path):
    other = path.with_name("other.iso")
    some_graph(2).save(other, force=True)
    path.write_bytes(other.read_bytes())


HARMFUL = {
    "ends": lambda path: overwrite(path, "ends", lambda data: data.reshape(-1, 4)[::-1]),
    "ends outside": lambda path: overwrite(path, "ends", lambda data: np.full_like(data, 63)),
    "weights": lambda path: overwrite(path, "weights", lambda data: data.reshape(-1, 8)[::-1]),
    "degrees": lambda path: overwrite(path, "degrees", lambda data: data.reshape(-1, 8)[::-1]),
    "names": lambda path: overwrite(path, "name_bytes", lambda data: data[::-1]),
    "another graph": other_graph,
    "cut off": lambda path: os.truncate(path, 4096),
    "made empty": lambda path: os.truncate(path, 0),
}
HARMLESS = {
    "replaced": lambda path: some_graph(2).save(path, force=True),
    "chmod": lambda path: path.chmod(0o600),
    "link": lambda path: os.link(path, path.with_name("link")),
    "touch": os.utime,
    "deleted": lambda path: path.unlink(),
}
LATER = {
    "fit": lambda fitted: isotherm.DirichletClassifier().fit(fitted.problem_.graph, KNOWN),
    "update": lambda fitted: fitted.update({"n30": 1}),
    "leave_one_out": lambda fitted: fitted.leave_one_out(),
    "explain": lambda fitted: fitted.explain("n40"),
    "suggest": lambda fitted: fitted.suggest(2),
    "predict": lambda fitted: fitted.predict(),
    "predict_proba": lambda fitted: fitted.predict_proba(),
    "expected_accuracy": lambda fitted: fitted.expected_accuracy(),
    "coverage": lambda fitted: fitted.coverage(),
    "names": lambda fitted: fitted.names_,
    "components": lambda fitted: fitted.problem_.graph.components,
    "degrees": lambda fitted: fitted.problem_.graph.degrees,
    "adjacency": lambda fitted: fitted.problem_.graph.adjacency,
    "one row": lambda fitted: fitted.problem_.graph.rows.ends[:3],
}


@pytest.mark.parametrize("change", HARMFUL.values(), ids=HARMFUL)
def test_a_file_written_over_is_noticed_before_all_that_comes_after(path, change):
    graph = open_graph(path)
    fitted = isotherm.DirichletClassifier().fit(graph, KNOWN)
    known = [name for name in LATER if name in vars(graph)]  # components, without the core
    change(path)
    for later in (LATER[name] for name in LATER if name not in known):
        with pytest.raises(GraphError, match="was written over while it was open"):
            later(fitted)


@pytest.mark.parametrize("change", HARMFUL.values(), ids=HARMFUL)
def test_a_file_written_over_before_it_is_first_used_is_noticed(path, change):
    graph = open_graph(path)
    change(path)
    for use in (lambda: graph.positions(["n3"]), lambda: graph.rows.start, lambda: graph.degrees):
        with pytest.raises(GraphError, match="was written over while it was open"):
            use()


@pytest.mark.parametrize("change", HARMLESS.values(), ids=HARMLESS)
def test_what_leaves_the_bytes_alone_changes_no_answer(path, change):
    right = isotherm.DirichletClassifier().fit(some_graph(1), KNOWN)
    graph = open_graph(path)
    fitted = isotherm.DirichletClassifier().fit(graph, KNOWN)
    change(path)
    assert isotherm.DirichletClassifier().fit(graph, KNOWN).predict().tolist() == (
        right.predict().tolist()
    )
    assert fitted.update({"n30": 1}).predict().tolist() == (
        right.update({"n30": 1}).predict().tolist()
    )
    assert [one.node for one in fitted.suggest(2)] == [one.node for one in right.suggest(2)]


def test_a_write_at_the_moment_of_saving_is_noticed(tmp_path):
    """Times of files are no finer than a tick: a second write within it leaves them as they are."""
    path = tmp_path / "graph.iso"
    some_graph(1).save(path)
    path.chmod(0o644)
    before = path.stat()
    graph = open_graph(path)
    fitted = isotherm.DirichletClassifier().fit(graph, KNOWN)
    overwrite(path, "ends", lambda data: data.reshape(-1, 4)[::-1])
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises((GraphError, FileError), match=r"was written over|has been changed"):
        fitted.update({"n30": 1})


def test_what_is_written_during_a_solve_is_no_answer(path, monkeypatch):
    graph = open_graph(path)
    fitted = isotherm.DirichletClassifier().fit(graph, KNOWN)
    solve = HostSession._solve

    def disturbed(*args):
        found, before = solve(*args), path.read_bytes()
        overwrite(path, "weights", lambda data: data.reshape(-1, 8)[::-1])
        path.write_bytes(before)  # as if nothing had been
        return found

    monkeypatch.setattr(HostSession, "_solve", disturbed)
    with pytest.raises(GraphError, match="was written over"):
        isotherm.DirichletClassifier().fit(graph, KNOWN)
    monkeypatch.undo()
    with pytest.raises(GraphError, match="was written over"):  # and stays so
        fitted.update({"n30": 1})


@pytest.mark.parametrize("reads", ["embed", "explain"])
def test_what_is_written_while_something_else_than_a_solve_reads_is_no_answer(
    reads, path, monkeypatch
):
    known = {f"n{k}": k % 3 for k in range(15)}
    fitted = isotherm.StackedDirichletClassifier().fit(open_graph(path), known)
    assert fitted.fallback_ == ""
    found = {"embed": stack.embed, "explain": diagnostics.mixed_shares}[reads]
    calls = {
        "embed": lambda: copy.copy(fitted).fit(fitted.problem_.graph, known),
        "explain": lambda: fitted.explain("n40"),
    }

    def disturbed(*args, **kwargs):
        before = path.read_bytes()
        overwrite(path, "weights", lambda data: data.reshape(-1, 8)[::-1])
        path.write_bytes(before)
        return found(*args, **kwargs)

    monkeypatch.setattr(stack, "embed", disturbed)
    monkeypatch.setattr(diagnostics, "mixed_shares", disturbed)
    with pytest.raises(GraphError, match="was written over"):
        calls[reads]()


def test_what_fails_on_arrays_that_changed_is_said_to_be_their_fault(path):
    def fails(rows, change):
        with rows.steady():
            change(path)
            raise ValueError("start does not fit ends")

    with pytest.raises(ValueError, match="does not fit"):
        fails(open_graph(path).rows, HARMLESS["chmod"])
    with pytest.raises(GraphError, match="was written over"):
        fails(open_graph(path).rows, other_graph)


def test_a_pickle_of_a_fit_looks_at_the_file_again(path):
    packed = pickle.dumps(isotherm.DirichletClassifier().fit(open_graph(path), KNOWN))
    path.chmod(0o600)
    pickle.loads(packed).update({"n30": 1})  # noqa: S301  # our own
    for name in ("weights", "degrees"):  # a graph, but another one
        overwrite(path, name, lambda data: data.view(np.float64) * 2)
    fitted = pickle.loads(packed)  # noqa: S301  # our own
    with pytest.raises((GraphError, FileError), match="changed or damaged"):
        fitted.update({"n30": 1})


@pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")
def test_a_saved_graph_is_read_only_and_as_readable_as_other_files(tmp_path):
    path, before = tmp_path / "graph.iso", os.umask(0o027)
    try:
        for _ in range(2):  # a file that is read-only is replaced, too
            some_graph(1).save(path, force=True)
            assert stat.S_IMODE(path.stat().st_mode) == 0o440
    finally:
        os.umask(before)
    path.unlink()


def test_a_file_that_is_open_is_closed_with_its_graph(path):
    graph = open_graph(path)
    number = graph.rows.file._number
    os.fstat(number)
    del graph
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(number)
