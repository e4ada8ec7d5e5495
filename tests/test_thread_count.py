"""`threads=` is what every part of a call uses, whatever the environment says."""

import sys
from threading import Thread

import numpy as np
import pytest

from isotherm import (
    DirichletClassifier,
    DirichletProblem,
    DirichletRegressor,
    Graph,
    LabelError,
    MultiLabelDirichletClassifier,
    NativeEngine,
    ParameterError,
    SolveOptions,
    StackedDirichletClassifier,
    compiled,
    solve_dirichlet,
    write_predictions,
)
from isotherm.dirichlet import boundary
from isotherm.engines import ENGINES
from oracle import random_graph

pytestmark = [
    pytest.mark.skipif(compiled.core is None, reason="isotherm was built without its core"),
    pytest.mark.filterwarnings("ignore"),
]
ASKED, ELSEWHERE = 3, 4
KINDS = [
    DirichletClassifier,
    StackedDirichletClassifier,
    MultiLabelDirichletClassifier,
    DirichletRegressor,
]
PARTS = {"graph.rows", "dirichlet.boundary", "engines.native.engine"}
OF_LABELS = {"classifier.verdict", "decision", "trust.freed"}


@pytest.fixture
def told(monkeypatch):
    """Which module was told of how many threads; the environment says something else."""
    monkeypatch.setenv("OMP_NUM_THREADS", str(ELSEWHERE))
    monkeypatch.setattr(boundary, "FEW_ENTRIES", 0)  # else components are found instead
    found = set()

    def telling(home):
        def n_threads(threads=None):
            found.add((home, N_THREADS(threads)))
            return N_THREADS(threads)

        return n_threads

    for name, module in list(sys.modules.items()):
        if name.startswith("isotherm.") and getattr(module, "n_threads", None) is N_THREADS:
            monkeypatch.setattr(module, "n_threads", telling(name.removeprefix("isotherm.")))
    return found


N_THREADS = compiled.n_threads


@pytest.fixture
def matrix(rng):
    return random_graph(rng, 60, degree=5).adjacency


def labels_for(kind):
    if kind is MultiLabelDirichletClassifier:
        return {i: [i % 3] for i in range(12)}
    return {i: i % 3 for i in range(12)}


@pytest.mark.parametrize("by", ["parameter", "engine"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_model_uses_the_threads_that_it_was_given(kind, by, matrix, told, tmp_path):
    asked = {"threads": ASKED} if by == "parameter" else {"engine": NativeEngine(threads=ASKED)}
    model = kind(**asked).fit(matrix, labels_for(kind))
    write_predictions(model, tmp_path / "out.csv")
    if kind is not DirichletRegressor:
        model.predict_proba()
    if kind in (DirichletClassifier, StackedDirichletClassifier):
        model.leave_one_out(max_seeds=5)
        model.explain(40)
        model.update({30: 1})
        model.suggest(2)
    assert {count for _, count in told} == {ASKED}
    assert {home for home, _ in told} >= PARTS
    if kind is DirichletClassifier:
        assert {home for home, _ in told} >= OF_LABELS


def test_a_solve_and_a_session_use_the_threads_that_they_were_given(matrix, told):
    solve_dirichlet(matrix, [0, 1], [0.0, 1.0], threads=ASKED)
    solve_dirichlet(matrix, [0, 1], [0.0, 1.0], engine=NativeEngine(threads=ASKED))
    assert {count for _, count in told} == {ASKED}
    graph = Graph.from_matrix(matrix)
    problem = DirichletProblem(graph, np.array([0, 1]), np.array([0.0, 1.0]))
    told.clear()
    with ENGINES["native"].prepare(problem, SolveOptions(threads=ASKED)) as session:
        session.solve()
        session.hold(7, [0.5])
        session.release(7)
    assert {count for _, count in told} == {ASKED}


def test_threads_are_asked_for_by_one_call_and_by_one_thread_only(matrix, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", str(ELSEWHERE))
    seen = []

    def work():
        beside = Thread(target=lambda: seen.append(N_THREADS()))
        beside.start()
        beside.join()
        seen.append(N_THREADS())
        seen.append(compiled.on_threads(None, N_THREADS))
        seen.append(compiled.on_threads(2, N_THREADS))

    compiled.on_threads(ASKED, work)
    assert seen == [ELSEWHERE, ASKED, ASKED, 2]
    with pytest.raises(LabelError):
        DirichletClassifier(threads=ASKED).fit(matrix, {})
    assert N_THREADS() == ELSEWHERE


@pytest.mark.parametrize("count", [0, -1, 1.0, True, "2"])
def test_a_number_of_threads_that_is_none_is_refused(count, matrix):
    with pytest.raises(ParameterError, match="threads must be a whole number"):
        DirichletClassifier(threads=count).fit(matrix, labels_for(DirichletClassifier))
    with pytest.raises(ParameterError, match="threads must be a whole number"):
        solve_dirichlet(matrix, [0, 1], [0.0, 1.0], threads=count)
