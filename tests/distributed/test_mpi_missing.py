import os
import subprocess
import sys

import pytest

from isotherm import DirichletClassifier, Graph
from isotherm.cli.machines import MachineOptions, launch
from isotherm.distributed import Ranks
from isotherm.errors import MissingLibrary, ParameterError


def test_without_mpiexec_it_is_said_how_to_install_it(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    with pytest.raises(MissingLibrary, match=r"needs mpiexec.*pip install 'isotherm\[mpi\]'"):
        launch(2)


def test_without_mpi4py_it_is_said_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    with pytest.raises(MissingLibrary, match=r"need mpi4py.*pip install 'isotherm\[mpi\]'"):
        Ranks.world()


def test_engines_of_many_machines_are_not_for_a_graph_in_memory():
    graph = Graph.from_edges("ab", "bc")
    with pytest.raises(ParameterError, match=r"isotherm\.distributed\.classify"):
        DirichletClassifier(engine="mpi").fit(graph, {"a": 0, "c": 1})


def test_a_checkpoint_needs_ranks():
    with pytest.raises(ParameterError, match="--checkpoint works on many machines only"):
        MachineOptions(checkpoint="kept").check_alone()


def test_a_watchdog_ends_a_process_that_waits_for_too_long():
    code = (
        "import time; from isotherm.engines.mpi.watchdog import Watchdog\n"
        "with Watchdog('rank 1 of 2', 0.2).waiting('the halo'): time.sleep(20)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ
    )
    assert run.returncode == 75
    assert "rank 1 of 2 has waited 0 s for the halo" in run.stderr
