"""The cuda engine: with a stand-in for the GPU everywhere, and on a GPU where there is one."""

import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from every_engine import needs_gpu
from isotherm import (
    ConjugateGradient,
    DirichletClassifier,
    DirichletProblem,
    Graph,
    NotConverged,
    SolveOptions,
    engines,
    solve_dirichlet,
)
from isotherm.dirichlet import Ties
from isotherm.engines import choose_engine
from isotherm.engines.blocks import blocks_of
from isotherm.engines.cuda import device as device_module
from isotherm.engines.cuda import plan as plan_module
from isotherm.engines.cuda.device import find_device
from isotherm.engines.cuda.kernels import THREADS, instances, proof_instances, source
from isotherm.engines.cuda.plan import RESERVE, plan
from isotherm.engines.cuda.records import RECORDS
from isotherm.engines.cuda.rows import BINS, StreamedRows
from isotherm.engines.cuda.vectors import WIDTHS
from isotherm.errors import (
    DeviceError,
    IsothermWarning,
    MissingLibrary,
    NotEnoughMemory,
    ParameterError,
)
from isotherm.solvers.imbalance import imbalance
from oracle import random_graph
from stand_in_device import StandInDevice, StandInEngine

pytestmark = [pytest.mark.any_version, pytest.mark.core_free]


def labelled(rng, n=300, classes=3, **how):
    graph = random_graph(rng, n, **how)
    labels = np.where(rng.random(n) < 0.2, rng.integers(0, classes, n), -1)
    labels[:classes] = np.arange(classes)
    return graph, labels


def tied_problem(rng, graph, leak):
    ties = Ties(np.array([3, 9]), np.array([0.5, 2.0]), rng.random((2, 20)), 3.0)
    seeds = np.array([0, 7, 30])
    return DirichletProblem(graph, seeds, rng.random((3, 20)), leak=leak, ties=ties)


# --- the kernels' source --------------------------------------------------------------------------


def test_every_kernel_that_is_asked_for_is_in_the_source():
    text = source().replace("__launch_bounds__(THREADS)", "")
    found = re.findall(r"template <([^>]*)>\s*__global__ void\s+(\w+)\(", text)
    defined = {name: parameters for parameters, name in found}
    asked = [
        *instances(8, "float", "__half", weighted=True),
        *proof_instances("double", weighted=False),
    ]
    for name, arguments in (re.fullmatch(r"(\w+)<(.*)>", one).groups() for one in asked):
        assert name in defined
        assert len(arguments.split(",")) == len(defined[name].split(","))
    assert set(defined) == {one.split("<")[0] for one in asked}


def test_structs_are_the_same_on_both_sides():
    for name, record in RECORDS.items():
        body = re.search(rf"struct {name} {{(.*?)}};", source(), re.DOTALL).group(1)
        fields = []
        for line in re.sub(r"//[^\n]*", "", body).split(";"):
            kind, _, names = (
                line.strip().rpartition(" ") if "," not in line else line.strip().partition(" ")
            )
            for one in filter(None, names.split(",")):
                known = re.fullmatch(r"\s*(\w+)(?:\[(\d+)\])?\s*", one)
                size = {"int64": 8, "double": 8, "float": 4, "int": 4}.get(kind.split()[-1], 8)
                fields.append((known[1], (8 if "*" in kind else size) * int(known[2] or 1)))
        assert [(field, record[field].itemsize) for field in record.names] == fields
    assert f"THREADS = {THREADS};" in source()


def test_groups_of_threads_are_what_the_kernels_can_sum_over():
    groups = [group for group, _ in BINS]
    assert all(group == THREADS or (group <= 32 and 32 % group == 0) for group in groups)
    assert groups == sorted(groups)
    assert max(most for _, most in BINS) == np.iinfo(np.int64).max


# --- what fits ------------------------------------------------------------------------------------


def test_all_columns_come_first_then_fewer_then_the_matrix_is_streamed(rng, monkeypatch):
    monkeypatch.setattr(plan_module, "LEAST_CHUNK", 1 << 10)
    rows = random_graph(rng, 4000, degree=30).rows
    plenty = plan(rows, 20, 1 << 40)
    assert (plenty.lanes, plenty.chunk_bytes) == (16, None)
    seen, free = [], plenty.needed
    while True:
        try:
            found = plan(rows, 20, free)
        except NotEnoughMemory:
            break
        assert found.needed <= free
        seen.append((found.chunk_bytes is not None, -found.lanes))
        free -= 1 << 14
    assert seen == sorted(seen)  # never back
    assert {streamed for streamed, _ in seen} == {False, True}
    assert {-lanes for streamed, lanes in seen if not streamed} == set(WIDTHS)


def test_what_is_asked_for_would_do(rng):
    rows = random_graph(rng, 2000, degree=8).rows
    with pytest.raises(
        NotEnoughMemory, match=r"the GPU has 1 MiB of free memory.*at least"
    ) as said:
        plan(rows, 3, 1 << 20)
    needed = float(re.search(r"at least ([\d.]+) MiB", str(said.value)).group(1))
    assert plan(rows, 3, int((needed + 1) * 2**20)).needed <= (needed + 1) * 2**20


@pytest.mark.parametrize("lanes", WIDTHS)
@pytest.mark.parametrize("one_hot", [True, False])
def test_blocks_hold_every_column_once_and_no_more_lanes_than_there_are(lanes, one_hot):
    for count in range(1, 40):
        for exits in (True, False):
            blocks = blocks_of(count, one_hot=one_hot, exits=exits, lanes=lanes)
            columns = [k for block in blocks for k in range(block.first, block.first + block.width)]
            assert columns == list(range(count))
            assert all(1 <= block.columns + block.exits <= lanes for block in blocks)
            assert sum(block.exits for block in blocks) == exits


# --- the same answers -----------------------------------------------------------------------------


@pytest.mark.parametrize("lanes", [2, 4, 16])
@pytest.mark.parametrize("tol", [1e-3, 1e-9])
def test_few_columns_at_a_time_give_the_same_temperatures(lanes, tol, rng, monkeypatch):
    graph, labels = labelled(rng, classes=5)
    engine = StandInEngine()
    monkeypatch.setattr(
        "isotherm.engines.cuda.engine.plan", lambda *of: plan(*of)._replace(lanes=lanes)
    )
    found = DirichletClassifier(tol=tol, solver="cg", engine=engine).fit(graph, labels)
    exact = DirichletClassifier(tol=1e-12, solver="direct", engine="scipy").fit(graph, labels)
    error = np.abs(found.temperatures_ - exact.temperatures_).max(axis=1)
    assert found.solution_.converged
    assert (error <= found.solution_.error_bound + 1e-12)[~found.solution_.unreached].all()
    assert np.array_equal(found.labels_[found.certified_], exact.labels_[found.certified_])


@pytest.mark.parametrize("weights", [True, False])
def test_a_streamed_matrix_gives_the_same_bits(weights, rng, monkeypatch):
    monkeypatch.setattr(plan_module, "LEAST_CHUNK", 1 << 10)
    graph, labels = labelled(rng, n=1000, degree=20)
    if not weights:
        graph = Graph.from_matrix((graph.adjacency > 0).astype(float))
    problem = DirichletProblem(graph, np.flatnonzero(labels >= 0), np.eye(3)[labels[labels >= 0]])
    whole = StandInEngine().prepare(problem, SolveOptions(1e-6, "cg"))
    least = whole.operator.plan.needed - len(graph.rows.ends) * 2
    other = problem.with_boundary(problem.boundary, problem.values)
    other.graph = Graph.from_matrix(graph.adjacency)
    device = StandInDevice(least)
    streamed = StandInEngine(stand_in=device).prepare(other, SolveOptions(1e-6, "cg"))
    chunk = 1 << 12
    monkeypatch.setattr(
        "isotherm.engines.cuda.engine.plan", lambda *of: plan(*of)._replace(chunk_bytes=chunk)
    )
    a, b = whole.solve(), streamed.solve()
    assert isinstance(streamed.operator.rows, StreamedRows)
    assert streamed.operator.rows.n_launches > 4
    assert np.allclose(a.temperatures, b.temperatures, rtol=0, atol=1e-6)
    assert b.converged
    # All entries went to the device once for the residuals, for each step and for the proof.
    assert device.copied >= (b.n_iter + 2) * graph.rows.ends.nbytes


@pytest.mark.parametrize("leak", [0.0, 0.3])
def test_the_proof_is_that_of_the_reference(leak, rng):
    problem = tied_problem(rng, random_graph(rng, 60, degree=4), leak)
    session = StandInEngine().prepare(problem, SolveOptions(1e-3, "cg"))
    X, h = problem.start(), np.where(problem.is_free, 5 + rng.random(60), 0.0)
    X[problem.is_free] = rng.random((problem.n_free, 20))
    got, expected = session.operator.imbalance(problem, X, h), imbalance(problem, X, h)
    for name in ("rounding", "relative", "low", "high"):
        assert np.allclose(getattr(got, name), getattr(expected, name), rtol=1e-9, equal_nan=True)
    assert got.n_nodes == expected.n_nodes
    assert got.stray == expected.stray


def test_everything_above_an_engine_works_on_it(rng):
    graph, labels = labelled(rng, n=120, degree=6)
    on_device = DirichletClassifier(engine=StandInEngine(), solver="cg").fit(graph, labels)
    on_host = DirichletClassifier(engine="scipy", solver="cg").fit(graph, labels)
    seed = int(np.flatnonzero(labels >= 0)[5])
    for one in (on_device, on_host):
        one.update({50: 1, seed: None})
    assert np.array_equal(on_device.labels_, on_host.labels_)
    left_out = [one.leave_one_out() for one in (on_device, on_host)]
    assert np.array_equal(left_out[0].labels, left_out[1].labels)
    advice = [[one.node for one in each.suggest(3)] for each in (on_device, on_host)]
    assert advice[0] == advice[1]
    node = int(np.flatnonzero(on_device.status_ == "predicted")[0])
    shares = [one.explain(node) for one in (on_device, on_host)]
    assert shares[0].label == shares[1].label


def test_steps_that_are_used_up_are_said(rng):
    graph, labels = labelled(rng)
    known = np.flatnonzero(labels >= 0)
    solver = ConjugateGradient(max_iter=2)
    with pytest.raises(NotConverged, match="cg stopped at step 2") as said:
        solve_dirichlet(
            graph, known, np.eye(3)[labels[known]], tol=1e-8, solver=solver, engine=StandInEngine()
        )
    assert said.value.solution.n_iter == 2


def test_a_factor_needs_the_native_engine(rng):
    graph, labels = labelled(rng)
    solver = ConjugateGradient(preconditioner="factor")
    with pytest.raises(ParameterError, match="needs engine='native'"):
        DirichletClassifier(engine=StandInEngine(), solver=solver).fit(graph, labels)


# --- what goes wrong ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "expected"),
    [(MemoryError(), NotEnoughMemory), (DeviceError("the GPU failed"), DeviceError)],
)
def test_a_device_that_fails_leaves_the_estimator_as_it_was(error, expected, rng):
    graph, labels = labelled(rng)
    engine = StandInEngine()
    classifier = DirichletClassifier(engine=engine, solver="cg").fit(graph, labels)
    before = dict(vars(classifier))
    engine.stand_in.fails = error
    with pytest.raises(expected, match="the GPU"):
        classifier.fit(graph, np.roll(labels, 1))
    assert vars(classifier) == before
    classifier.fit(graph, labels)


@pytest.fixture
def fresh():
    find_device.cache_clear()
    yield
    find_device.cache_clear()


@pytest.mark.usefixtures("fresh")
def test_without_cupy_the_engine_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(device_module, "is_installed", lambda: False)
    with pytest.raises(MissingLibrary, match=r"needs CuPy.*pip install 'isotherm\[cuda\]'"):
        solve_dirichlet(Graph.from_edges([0], [1]), [0], [1.0], engine="cuda")


def broken_cupy(error=None, *, compute="90"):
    def fail(*_):
        raise error

    def count():
        return fail() if error else 1

    cuda = SimpleNamespace(
        runtime=SimpleNamespace(getDeviceCount=count),
        Device=lambda: SimpleNamespace(compute_capability=compute),
    )
    return SimpleNamespace(cuda=cuda, zeros=np.zeros)


@pytest.mark.parametrize(
    ("cupy", "said"),
    [
        (
            broken_cupy(RuntimeError("cudaErrorInsufficientDriver: CUDA driver version is old")),
            "Update the NVIDIA driver",
        ),
        (broken_cupy(RuntimeError("cudaErrorNoDevice: no CUDA-capable device")), "no CUDA-capable"),
        (
            broken_cupy(ImportError("libcudart.so.12: cannot open\nsecond")),
            "cupy-cuda12x or cupy-cuda13x",
        ),
        (broken_cupy(compute="61"), "compute capability is 6.1, and at least 7.0 is needed"),
    ],
)
@pytest.mark.usefixtures("fresh")
def test_a_device_that_cannot_be_used_is_said_in_one_line(cupy, said, monkeypatch):
    monkeypatch.setattr(device_module, "is_installed", lambda: True)
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    with pytest.raises(DeviceError, match=said) as found:
        choose_engine("cuda", Graph.from_edges([0], [1]))
    assert "\n" not in str(found.value)
    monkeypatch.setattr(engines, "ENTRIES_FOR_A_GPU", 1)
    with pytest.warns(IsothermWarning, match="The CPU is used instead"):
        solution = solve_dirichlet(Graph.from_edges([0], [1]), [0], [1.0])
    assert solution.engine in engines.ENGINES


def test_auto_takes_a_gpu_for_large_graphs_only(rng, monkeypatch):
    graph, labels = labelled(rng)
    monkeypatch.setattr(device_module, "is_installed", lambda: True)
    monkeypatch.setattr("isotherm.engines.cuda.CudaEngine", StandInEngine)
    assert choose_engine("auto", graph).name != "cuda"
    monkeypatch.setattr(engines, "ENTRIES_FOR_A_GPU", len(graph.rows.ends))
    assert choose_engine("auto", graph).name == "cuda"
    assert DirichletClassifier(solver="cg").fit(graph, labels).solution_.engine == "cuda"


# --- on a GPU -------------------------------------------------------------------------------------


@needs_gpu
@pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-10])
@pytest.mark.parametrize("classes", [2, 3, 7, 8, 20])
def test_answers_agree_with_the_native_engine_within_their_bounds(tol, classes, rng):
    graph, labels = labelled(rng, n=3000, classes=classes, degree=10)
    a, b = (
        DirichletClassifier(tol=tol, solver="cg", engine=engine).fit(graph, labels)
        for engine in ("cuda", "native")
    )
    apart = np.abs(a.temperatures_ - b.temperatures_).max(axis=1)
    allowed = a.solution_.error_bound + b.solution_.error_bound
    assert (apart <= allowed)[~a.solution_.unreached].all()
    both = a.certified_ & b.certified_
    assert np.array_equal(a.labels_[both], b.labels_[both])


@needs_gpu
def test_repeated_runs_give_the_same_bits(rng):
    graph, labels = labelled(rng, n=20_000, classes=5, degree=30)
    runs = [
        DirichletClassifier(tol=1e-6, solver="cg", engine="cuda").fit(graph, labels)
        for _ in range(3)
    ]
    for other in runs[1:]:
        assert np.array_equal(runs[0].temperatures_, other.temperatures_, equal_nan=True)
        assert np.array_equal(runs[0].solution_.error_bound, other.solution_.error_bound)


@needs_gpu
@pytest.mark.parametrize("weights", [True, False])
def test_long_rows_and_short_ones(weights, rng):
    n = 30_000
    hub = np.zeros(n - 1, dtype=int)
    source = np.concatenate([hub, rng.integers(0, n, 2 * n), np.full(900, 5)])
    target = np.concatenate([np.arange(1, n), rng.integers(0, n, 2 * n), rng.integers(6, n, 900)])
    graph = Graph.from_edges(source, target, rng.random(len(source)) if weights else None)
    labels = np.where(rng.random(graph.n_nodes) < 0.1, rng.integers(0, 4, graph.n_nodes), -1)
    a, b = (
        DirichletClassifier(tol=1e-7, solver="cg", engine=engine).fit(graph, labels)
        for engine in ("cuda", "native")
    )
    allowed = a.solution_.error_bound + b.solution_.error_bound
    assert (np.abs(a.temperatures_ - b.temperatures_).max(axis=1) <= allowed).all()


@needs_gpu
@pytest.mark.parametrize("leak", [0.0, 0.3])
def test_the_proof_on_a_gpu_is_that_of_the_reference(leak, rng):
    problem = tied_problem(rng, random_graph(rng, 600, degree=6), leak)
    session = choose_engine("cuda", problem.graph).prepare(problem, SolveOptions(1e-3, "cg"))
    h = np.where(problem.is_free, session.solve().certificate.nodes, 0.0)
    X = problem.start()
    X[problem.is_free] = rng.random((problem.n_free, 20))
    got, expected = session.operator.imbalance(problem, X, h), imbalance(problem, X, h)
    for name in ("level", "rounding", "relative", "low", "high"):
        assert np.allclose(getattr(got, name), getattr(expected, name), rtol=1e-9)
    assert np.allclose(got.degrees, expected.degrees)
    assert (got.exits, got.n_nodes, got.stray) == (expected.exits, expected.n_nodes, False)


@needs_gpu
def test_a_matrix_streamed_to_a_gpu_gives_the_same_bits(rng, monkeypatch):
    graph, labels = labelled(rng, n=20_000, classes=5, degree=30)
    whole = DirichletClassifier(tol=1e-6, solver="cg", engine="cuda").fit(graph, labels)
    other = Graph.from_matrix(graph.adjacency)
    monkeypatch.setattr(
        "isotherm.engines.cuda.engine.plan", lambda *of: plan(*of)._replace(chunk_bytes=1 << 20)
    )
    streamed = DirichletClassifier(tol=1e-6, solver="cg", engine="cuda").fit(other, labels)
    bounds = whole.solution_.error_bound + streamed.solution_.error_bound
    apart = np.abs(whole.temperatures_ - streamed.temperatures_).max(axis=1)
    assert (apart <= bounds)[~whole.solution_.unreached].all()


@needs_gpu
def test_a_graph_too_large_for_the_gpu_is_refused_and_nothing_is_lost(rng):
    graph, labels = labelled(rng)
    engine = engines.cuda.CudaEngine(memory=RESERVE // 2)
    with pytest.raises(NotEnoughMemory, match="the GPU has"):
        DirichletClassifier(engine=engine, solver="cg").fit(graph, labels)
    DirichletClassifier(engine="cuda", solver="cg").fit(graph, labels)
