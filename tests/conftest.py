import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from scipy import sparse

from command_server import run_command
from isotherm import BlockModel, DirichletClassifier, Graph
from isotherm.compiled import core
from skipped import pytest_sessionfinish  # noqa: F401, a hook

# Deterministic: the same examples in every run, and no time limit on a slow machine.
settings.register_profile(
    "repeatable",
    derandomize=True,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("repeatable")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """Tests run on all processors where pytest-xdist is installed, unless -n says otherwise."""
    is_there = config.pluginmanager.hasplugin("xdist") and not hasattr(config, "workerinput")
    if is_there and config.option.numprocesses is None and not config.option.usepdb:
        config.option.numprocesses, config.option.dist = "auto", "worksteal"


ROOT = Path(__file__).parents[1]
# Real graphs, NAME.npz, where there are any: CONTRIBUTING.md says how to get them.
_beside = ROOT.parent / "shared" / "data"
SHARED_DATA = Path(
    os.environ.get("ISOTHERM_SHARED_DATA", _beside if _beside.is_dir() else ROOT / "paper-data")
)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def real_graph():
    """Loads a labelled graph of the shared data by name, or skips where there is none."""

    def load(name):
        path = SHARED_DATA / f"{name}.npz"
        if not path.exists():
            pytest.skip(f"the shared data set {name} is not here (looked for {path.name})")
        with np.load(path) as file:
            parts = (np.ones(len(file["indices"])), file["indices"], file["indptr"])
            return Graph.from_matrix(sparse.csr_array(parts)), file["labels"]

    return load


@pytest.fixture(scope="module")
def blocks():
    """A classifier fitted to three blocks of sixty nodes."""
    rng = np.random.default_rng(5)
    graph, truth = BlockModel([60, 60, 60], 0.08, 0.01).sample(rng)
    known = np.where(rng.random(180) < 0.15, truth, -1)
    return DirichletClassifier().fit(graph, known)


FALLBACK = "warning: the SciPy engine was used"


class CliRun:
    """Runs commands in a folder."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, *arguments, stdin=None, columns=200):
        result = run_command(
            arguments,
            folder=self.folder,
            environment=os.environ | {"COLUMNS": str(columns), "NO_COLOR": "1"},
            stdin=stdin,
        )
        if core is None:  # then every solve says so: `test_fallback` is about that
            lines = result.stderr.splitlines(keepends=True)
            result.stderr = "".join(line for line in lines if not line.startswith(FALLBACK))
        return result
