"""Engines of other distributions: found by an entry point, before anything is read or done."""

import ast
import importlib.metadata
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import isotherm
from conftest import CliRun
from dense_engine import DenseEngine
from isotherm import (
    DirichletClassifier,
    DirichletRegressor,
    Graph,
    MultiLabelDirichletClassifier,
    engines,
)
from isotherm.engines import api
from isotherm.errors import MissingLibrary, ParameterError

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "engines.md").read_text(encoding="utf-8")


@pytest.fixture
def installed(monkeypatch):
    """An engine "toy" that another distribution brings."""
    toy = importlib.metadata.EntryPoint("toy", "dense_engine:DenseEngine", engines.GROUP)

    def found(*, group, name=None):
        assert group == engines.GROUP
        return [toy] if name in (None, "toy") else []

    monkeypatch.setattr(engines, "entry_points", found)


@pytest.fixture
def nothing_installed(monkeypatch):
    monkeypatch.setattr(engines, "entry_points", lambda **_: [])


@pytest.mark.usefixtures("installed")
def test_an_engine_of_another_distribution_is_used_by_its_name():
    path = Graph.from_edges("abcd", "bcde")
    clf = DirichletClassifier(engine="toy").fit(path, {"a": "left", "e": "right"})
    assert clf.solution_.engine == DenseEngine.name
    assert clf.labels_[1] == "left"


@pytest.mark.usefixtures("installed")
def test_engines_that_are_installed_are_among_the_choices():
    with pytest.raises(ParameterError, match="'cuda', 'toy'"):
        engines.find_engine("no such")


@pytest.mark.usefixtures("nothing_installed")
@pytest.mark.parametrize(
    "estimator", [DirichletClassifier, DirichletRegressor, MultiLabelDirichletClassifier]
)
def test_a_missing_engine_is_told_before_the_graph_is_looked_at(estimator):
    with pytest.raises(MissingLibrary, match=r"extras/isotherm_petsc.*mpiexec -n 4 python -m"):
        estimator(engine="petsc").fit("this is no graph", None)


@pytest.mark.parametrize("engine", ["petsc", "no such"])
def test_a_command_tells_of_its_engine_before_it_reads_a_file(tmp_path, engine):
    result = CliRun(tmp_path)(
        "classify", "no_such.csv", "none.csv", "-o", "out.csv", "--engine", engine
    )
    assert result.returncode != 0
    assert "no_such" not in result.stderr
    wanted = "mpiexec -n 4 python -m isotherm_petsc" if engine == "petsc" else "choose one of"
    assert wanted in " ".join(result.stderr.split())


def test_the_engine_of_commands_may_come_from_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("ISOTHERM_ENGINE", "no such")
    result = CliRun(tmp_path)("classify", "no_such.csv", "none.csv", "-o", "out.csv")
    assert result.returncode == 2
    assert "unknown engine 'no such'" in result.stderr


def test_a_problem_looks_for_what_heat_reaches_only_when_it_is_asked(monkeypatch):
    asked = []
    found = isotherm.dirichlet.reaching.reached
    monkeypatch.setattr(
        isotherm.dirichlet.reaching, "reached", lambda *given: asked.append(1) or found(*given)
    )
    path = Graph.from_edges("abcd", "bcde")
    problem = isotherm.dirichlet.DirichletProblem(path, np.array([0, 4]), np.eye(2))
    others = problem.with_leak(0.1), problem.with_values(np.ones((2, 1)))
    assert not asked
    assert problem.free.tolist() == [1, 2, 3]
    assert all(other.free.tolist() == [1, 2, 3] for other in others)
    assert len(asked) == 1


def test_a_problem_that_was_told_does_not_look_at_the_graph():
    path = Graph.from_edges("abcdx", "bcdey")
    problem = isotherm.dirichlet.DirichletProblem(path, np.array([0, 4]), np.eye(2))
    is_reached = np.array([True] * 5 + [False] * 2)
    told = problem.told(
        is_reached=is_reached,
        is_touching=np.array([True, True]),
        seed_components=np.array([0, 0]),
    )
    for name in ("is_free", "is_unreached", "is_touching", "seed_components", "is_heated"):
        np.testing.assert_array_equal(getattr(told, name), getattr(problem, name))
    path.rows = SimpleNamespace(has_weights=False)
    assert told.without(np.array([0])).boundary.tolist() == [4]


def test_what_a_job_would_take_on_ranks_is_asked_of_their_engine(monkeypatch):
    asked = []

    class OnRanks(DenseEngine):
        @staticmethod
        def cost_lines(*sizes, **options):
            asked.append((sizes, options))
            return ["a lot"]

    point = SimpleNamespace(name="petsc", load=lambda: OnRanks)
    monkeypatch.setattr(engines, "entry_points", lambda **_: [point])
    assert engines.cost_on_ranks(1e6, 1e7, 10, 4, memory=5) == ["a lot"]
    assert asked == [((1e6, 1e7, 10, 4), {"memory": 5})]
    monkeypatch.setattr(engines, "entry_points", lambda **_: [])
    with pytest.raises(MissingLibrary, match="distribution of its own"):
        engines.cost_on_ranks(1e6, 1e7, 10, 4)


def test_a_job_is_estimated_by_an_engine_of_this_machine(monkeypatch):
    monkeypatch.setattr(engines, "entry_points", lambda **_: [])
    assert engines.engine_for("petsc", 10) == engines.engine_for("auto", 10)


def test_extras_import_only_what_engines_may():
    allowed = {
        "isotherm": set(isotherm.__all__),
        "isotherm.engines.api": set(api.__all__),
        "isotherm.__main__": {"run"},
    }
    paths = sorted((ROOT / "extras").glob("*/src/**/*.py"))
    assert paths
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "isotherm":
                names = {alias.name for alias in node.names}
                assert names <= allowed.get(node.module, set()), path
            elif isinstance(node, ast.Import):
                assert not [a.name for a in node.names if a.name.split(".")[0] == "isotherm"], path


def test_what_engines_may_import_is_on_their_page_and_in_one_place():
    assert not set(api.__all__) & set(isotherm.__all__)
    for name in api.__all__:
        assert getattr(api, name) is not None
        assert f"`{name}`" in PAGE


def test_the_engine_on_the_page_is_the_one_that_is_tested():
    code = (ROOT / "tests" / "dense_engine.py").read_text(encoding="utf-8")
    assert f"```python\n{code[code.index('from dataclasses') :]}```" in PAGE
