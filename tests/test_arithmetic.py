"""Proofs are given, and true, whatever other libraries have made of the processor's arithmetic."""

import ctypes
import platform
import shutil
import subprocess
import sys
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from isotherm import (
    DirichletClassifier,
    DirichletProblem,
    Graph,
    SolveOptions,
    StackedDirichletClassifier,
    arithmetic,
)
from isotherm.engines import ENGINES, choose_engine
from isotherm.graph import rows
from isotherm.graph.saved import mapped, open_graph
from isotherm.stacking.model import Stack
from oracle import exact_temperatures, random_graph

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64",
    reason="the state is set by its bits, which are those of x86-64 and of glibc here",
)

NATIVE = Path(__file__).parents[1] / "native"
STANDARD, MXCSR = 0x1F80, 28  # the register, and its place in fenv_t
STATES = {
    "FTZ": 0x9F80,
    "DAZ": 0x1FC0,
    "FTZ and DAZ": 0x9FC0,
    "down": 0x3F80,
    "up": 0x5F80,
    "to zero": 0x7F80,
    "up, FTZ and DAZ": 0xDFC0,
}


def state():
    environment = ctypes.create_string_buffer(256)
    ctypes.CDLL(None).fegetenv(environment)
    return int.from_bytes(environment[MXCSR : MXCSR + 4], sys.byteorder) & 0xFFC0


@contextmanager
def in_state(bits):
    library, environment = ctypes.CDLL(None), ctypes.create_string_buffer(256)
    library.fegetenv(environment)
    before = environment.raw
    environment[MXCSR : MXCSR + 4] = bits.to_bytes(4, sys.byteorder)
    library.fesetenv(environment)
    try:
        yield
        assert state() == bits & 0xFFC0, "the state of the thread was changed"
    finally:
        library.fesetenv(before)


@pytest.fixture(params=STATES, ids=[name.replace(" ", "_") for name in STATES])
def bits(request):
    return STATES[request.param]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("solver", ["direct", "cg", "elimination"])
def test_proofs_are_given_and_true_in_all_states(engine, solver, bits, rng):
    n, held = 12, [0, 1, 2]
    ring = np.arange(n)
    weights = rng.random(2 * n) + 0.1
    ends = np.r_[(ring + 1) % n, rng.permutation(n)]
    graph = Graph.from_edges(np.r_[ring, ring], ends, weights)
    values = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    with in_state(bits):
        problem = DirichletProblem(graph, np.array(held), values)
        session = choose_engine(engine, graph).prepare(problem, SolveOptions(1e-9, solver))
        solution = session.solve()
    errors = solution.certificate.errors()
    assert errors.max() <= 1e-9
    exact = exact_temperatures(graph, held, values)
    for i, row in enumerate(exact):
        for k in (0, 1):
            off = abs(Fraction(float(solution.temperatures[i, k])) - row[k])
            assert off <= Fraction(float(errors[i, k]))


@pytest.mark.parametrize("engine", ENGINES)
def test_answers_are_those_of_standard_arithmetic_to_the_last_bit(engine, bits, rng):
    ends = rng.integers(0, 2000, (2, 40_000))  # which several threads share
    graph = Graph.from_edges(*ends, rng.random(40_000) + 0.1, nodes=range(2000))
    labels = {i: i % 3 for i in range(100)}
    found = []
    for given in (STANDARD, bits):
        with in_state(given):
            model = DirichletClassifier(engine=engine, threads=2).fit(graph, labels)
            certified = model.certified_.copy()
            model.update({200: 1})
            hidden = model.leave_one_out().temperatures
        found.append((model.temperatures_, model.solution_.error_bound, certified, hidden))
    for standard, other in zip(*found, strict=True):
        assert np.array_equal(standard, other, equal_nan=True)


def test_threads_do_not_keep_the_state_of_the_one_that_starts_them():
    """In a process of its own, which has no thread yet when the state is set."""
    code = f"""
import sys
sys.path[:0] = [{str(Path(__file__).parent)!r}]
from test_arithmetic import in_state
import numpy as np
from isotherm import DirichletClassifier, Graph
rng = np.random.default_rng(0)
graph = Graph.from_edges(*rng.integers(0, 9000, (2, 90_000)))
labels = {{i: i % 3 for i in range(300)}}
with in_state(0xDFC0):
    found = DirichletClassifier(threads=4).fit(graph, labels).temperatures_
assert np.array_equal(found, DirichletClassifier(threads=1).fit(graph, labels).temperatures_)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_what_fails_leaves_the_state_as_it_was(bits):
    @arithmetic.in_standard_arithmetic
    def fails():
        assert state() == STANDARD
        raise KeyError

    with in_state(bits), pytest.raises(KeyError):
        fails()


@pytest.mark.parametrize("has_core", [True, False])
def test_a_sound_saved_graph_is_sound_in_all_states(has_core, bits, monkeypatch, tmp_path, rng):
    graph = random_graph(rng, 200, degree=6)
    assert graph.rows.has_weights
    graph.save(tmp_path / "graph.iso")
    for module in (rows, mapped):
        monkeypatch.setattr(module, "core", module.core if has_core else None)
    with in_state(bits):
        found = open_graph(tmp_path / "graph.iso").rows.ends
    assert np.array_equal(found, graph.rows.ends)


def test_a_stack_is_proven_in_standard_arithmetic(bits, monkeypatch, rng):
    seen, bounds = set(), Stack.bounds

    def watched(self, *views):
        seen.add(state())
        return bounds(self, *views)

    monkeypatch.setattr(Stack, "bounds", watched)
    graph, labels = random_graph(rng, 200, degree=4), {i: i % 3 for i in range(60)}
    with in_state(bits):
        model = StackedDirichletClassifier().fit(graph, labels)
    assert model.stack_ is not None
    assert seen == {STANDARD}


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("solver", ["direct", "elimination"])
def test_where_the_state_cannot_be_set_nothing_false_is_proven(state, solver, monkeypatch, rng):
    monkeypatch.setattr(arithmetic, "_standardised", lambda: None)
    graph = random_graph(rng, 100, degree=4)
    problem = DirichletProblem(graph, np.arange(10), np.arange(10.0)[:, np.newaxis])
    with in_state(STATES[state]):
        options = SolveOptions(1e-6, solver)
        solution = choose_engine("scipy", graph).prepare(problem, options).solve()
        assert not solution.converged
    assert np.isinf(np.nanmin(solution.error_bound[10:]))


@pytest.mark.skipif(not NATIVE.exists(), reason="without the core's sources")
@pytest.mark.parametrize("option", ["-ffast-math", "-ffinite-math-only"])
@pytest.mark.parametrize("file", ["rounding.hpp", "prover.cpp"])
def test_compilers_that_may_break_the_rules_are_refused(option, file):
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    command = [compiler, "-std=c++17", "-x", "c++", "-fsyntax-only", "-DISOTHERM_KERNELS=plain"]
    ended = subprocess.run(
        [*command, option, str(NATIVE / file)], capture_output=True, text=True, check=False
    )
    assert ended.returncode != 0
    assert "without -ffast-math" in ended.stderr
