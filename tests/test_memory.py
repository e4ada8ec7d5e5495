"""What does not fit into memory is refused before the work, and says what would fit."""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from isotherm import (
    DirichletClassifier,
    Graph,
    IsothermError,
    MultiLabelDirichletClassifier,
    NotEnoughMemory,
    memory,
    read_graph,
    solve_dirichlet,
)
from isotherm.job import Job
from isotherm.pipeline import do
from isotherm.read.npz import LabelledGraph

MANY = 100_000


@pytest.fixture
def little_memory(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 1 << 30)


@pytest.fixture(scope="module")
def long_path():
    return Graph.from_edges(np.arange(MANY - 1), np.arange(1, MANY))


@pytest.mark.usefixtures("little_memory")
def test_as_many_classes_as_seeds_are_refused_at_once(long_path):
    started = time.perf_counter()
    with pytest.raises(NotEnoughMemory) as caught:
        DirichletClassifier().fit(long_path, np.arange(MANY))
    assert time.perf_counter() - started < 5  # nothing was allocated, let alone solved
    message = str(caught.value)
    assert "100,000 classes on 100,000 nodes need about 158.4 GiB" in message
    assert "1.0 GiB is free; about 631 classes would fit" in message
    assert "DirichletRegressor" in message
    assert isinstance(caught.value, IsothermError)
    assert isinstance(caught.value, MemoryError)


@pytest.mark.usefixtures("little_memory")
def test_so_are_distributions_sets_and_indicators(long_path):
    distributions = {k: {k: 1, k + 1: 1} for k in range(50_000)}
    with pytest.raises(NotEnoughMemory, match="classes would fit"):
        DirichletClassifier().fit(long_path, distributions)
    model = MultiLabelDirichletClassifier()
    with pytest.raises(NotEnoughMemory, match="labels would fit"):
        model.fit(long_path, {k: {k} for k in range(50_000)})
    with pytest.raises(NotEnoughMemory, match="100,000 labels on 100,000 nodes"):
        model.fit(long_path, sparse.eye_array(MANY, format="csr"))


def test_so_are_more_columns_than_temperatures_fit(long_path, monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 1 << 28)
    with pytest.raises(NotEnoughMemory, match=r"1,000 columns .* columns would fit"):
        solve_dirichlet(long_path, [0, 1], np.ones((2, 1000)))


def test_a_small_fit_does_not_ask_how_much_is_free(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: pytest.fail("asked"))
    DirichletClassifier().fit(Graph.from_edges("ab", "bc"), {"a": 0, "c": 1})


def test_the_command_names_the_column_even_of_a_data_set(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "SMALL", 0)
    monkeypatch.setattr(memory, "free_memory", lambda: 300)
    packed = LabelledGraph.from_edges(
        3, np.array([0, 1]), np.array([1, 2]), labels=np.array([0, -1, 1])
    )
    path = tmp_path / "set.npz"
    path.write_bytes(packed.to_bytes())
    assert read_graph(path).n_nodes == 3
    with pytest.raises(
        NotEnoughMemory, match=r"If column 'labels' of .*set\.npz does not hold the labels"
    ):
        do(Job(str(path), str(path)))


def test_free_memory_is_the_least_of_all_limits(monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "_CGROUPS", tmp_path)
    machine = memory.free_memory()
    assert machine is None or machine > 0
    (tmp_path / "memory.max").write_text("1000000\n")
    (tmp_path / "memory.current").write_text("700000\n")
    (tmp_path / "memory.stat").write_text("anon 500000\ninactive_file 200000\n")
    assert memory.free_memory() == 500_000
    (tmp_path / "memory.max").write_text("max\n")
    assert memory._of_container() is None


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
def test_free_memory_knows_the_limit_of_the_address_space():
    code = (
        "import resource, isotherm.memory as m\n"
        "resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))\n"
        "print(m.free_memory())"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 0 < int(run.stdout) < 1 << 30
