"""The engine of PETSc against that of mpi4py; on one rank here, on several by mpiexec."""

import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from isotherm import Graph
from isotherm.dirichlet import DirichletProblem
from isotherm.engines.mpi.ranks import Ranks
from isotherm.errors import MissingLibrary, ParameterError
from isotherm.solvers import SolveOptions
from shared_graphs import a_case, assert_same, by_node, of_one_machine, shared_problem

pytestmark = pytest.mark.petsc
HAS_PETSC = find_spec("petsc4py") is not None
needs_petsc = pytest.mark.skipif(
    not HAS_PETSC, reason="petsc4py is missing: Debian has python3-petsc4py, conda petsc4py"
)
MPIEXEC = shutil.which("mpiexec")
RUN = Path(__file__).parent / "shared_run.py"


def a_grid(width):
    """A grid, held at one corner and the other."""
    places = np.arange(width * width).reshape(width, width)
    source = np.concatenate([places[:, :-1].ravel(), places[:-1].ravel()])
    target = np.concatenate([places[:, 1:].ravel(), places[1:].ravel()])
    return Graph.from_edges(source, target), np.array([0, width * width - 1]), np.eye(2)


def solved(preconditioner, width=24, tol=1e-8):
    from isotherm.engines.petsc import PetscEngine

    graph, boundary, values = a_grid(width)
    problem = shared_problem(graph, Ranks(), boundary, values)
    with PetscEngine(preconditioner).prepare(problem, SolveOptions(tol)) as session:
        found = session.solve()
    exact = DirichletProblem(graph, boundary, values)
    inner = np.diag(exact.diagonal) - exact.inner.toarray()
    expected = exact.start()
    expected[exact.free] = np.linalg.solve(inner, exact.sources)
    return found, expected


@needs_petsc
@pytest.mark.parametrize("preconditioner", ["diagonal", "gamg"])
def test_every_temperature_is_within_its_proven_bound(preconditioner):
    found, expected = solved(preconditioner)
    assert found.converged
    assert found.engine == "petsc"
    off = np.abs(found.temperatures - expected).max(axis=1)
    assert (off <= found.error_bound + 1e-13).all()


@needs_petsc
def test_multigrid_takes_fewer_steps_on_a_grid():
    steps = [solved(each, width=40)[0].n_iter for each in ("diagonal", "gamg")]
    assert steps[1] < steps[0] / 2


@needs_petsc
@pytest.mark.slow
@pytest.mark.skipif(MPIEXEC is None or find_spec("mpi4py") is None, reason="there is no MPI")
@pytest.mark.parametrize("size", [1, 2, 3])
def test_labels_are_those_of_one_machine(tmp_path, size):
    case = a_case(tmp_path)
    asked = {"edges": case.edges, "labels": case.labels, "output": str(tmp_path / "out")}
    asked |= {"temperatures": True, "model": {"engine": "petsc"}}
    allowed = {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "OMP_NUM_THREADS": "1",
    }
    run = subprocess.run(
        [MPIEXEC, "-n", str(size), sys.executable, str(RUN), json.dumps(asked)],
        capture_output=True,
        text=True,
        env={**os.environ, **allowed},
        timeout=100,
    )
    assert run.returncode == 0, run.stderr
    assert_same(by_node(tmp_path / "out"), of_one_machine(case))


def test_without_petsc_it_is_said_how_to_install_it(monkeypatch):
    from isotherm.engines.petsc import PetscEngine

    monkeypatch.setitem(sys.modules, "petsc4py", None)
    with pytest.raises(MissingLibrary, match="python3-petsc4py"):
        PetscEngine()


def test_unknown_preconditioners_are_refused():
    from isotherm.engines.petsc import PetscEngine

    with pytest.raises(ParameterError, match="unknown preconditioner"):
        PetscEngine("magic")
