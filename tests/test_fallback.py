"""What is said where the SciPy engine is used for want of the core."""

import json
import subprocess
import sys

import pytest

from html_page import Page
from isotherm import DirichletClassifier, Graph, IsothermWarning, __version__, engines
from isotherm.engines import engine_for, fallback_reason
from isotherm.fit_files import predict_values
from isotherm.graph.rows import Rows
from isotherm.job import Job
from isotherm.pipeline import Silent, do

SAID = "the SciPy engine was used, which is slower and takes more memory: isotherm was installed"
WITHOUT_CORE = """
import sys, warnings
sys.modules["isotherm._core"] = None  # importing it fails
from isotherm import DirichletClassifier, Graph
graph = Graph.from_edges("ab", "bc")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(3):
        DirichletClassifier().fit(graph, {"a": 1, "c": 2})
print(*(f"{warning.filename}: {warning.message}" for warning in caught), sep="\\n")
from isotherm.__main__ import main
sys.argv = ["isotherm", "--version"]
main()
"""


@pytest.fixture
def without_core(monkeypatch):
    """As if the core had not been built: "auto" takes SciPy."""
    monkeypatch.setattr(engines, "ENGINES", {"scipy": engines.ENGINES["scipy"]})
    monkeypatch.setattr(engines, "core", None)
    monkeypatch.setattr(Rows, "compiled", False)
    engines._warn_once.cache_clear()


def test_without_the_core_the_first_fit_and_the_version_say_so():
    script = [sys.executable, "-c", WITHOUT_CORE]
    said = subprocess.run(script, capture_output=True, text=True, check=True).stdout.splitlines()
    *fits, version = [line for line in said if "few labels" not in line]
    assert [line.partition(": ")[2] for line in fits] == [
        f"{SAID} without the core; install a C++ compiler, then isotherm again"
    ]
    assert version == f"isotherm {__version__} without the core"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "e.csv").write_text("source,target\na,b\nb,c\nc,d\nd,e\n")
    (tmp_path / "l.csv").write_text("node,label\na,1\ne,2\n")
    return [str(tmp_path / name) for name in ("e.csv", "l.csv")]


@pytest.mark.usefixtures("without_core")
def test_falling_back_is_said_in_the_report_and_in_the_summary(files, tmp_path):
    report, summary = str(tmp_path / "r.html"), str(tmp_path / "s.json")
    with pytest.warns(IsothermWarning, match=SAID):
        run = do(Job(*files, report=report, summary=summary))
    assert run.fallback.startswith(SAID)
    found = json.loads((tmp_path / "s.json").read_text())
    assert found["solved"]["engine"] == "scipy"
    assert found["solved"]["why_not_native"] == run.fallback
    assert run.fallback in found["warnings"]
    assert SAID in Page((tmp_path / "r.html").read_text(encoding="utf-8")).words


@pytest.mark.usefixtures("without_core")
def test_falling_back_is_said_of_values_too(files, tmp_path):
    model = {"leak": 0.0, "tol": 1e-6, "solver": "auto", "engine": "auto", "threads": None}
    job = Job(*files, out=str(tmp_path / "v.csv"), model={**model, "unreached": "abstain"})
    with pytest.warns(IsothermWarning, match=SAID):
        predict_values(job, Silent())


def test_nothing_is_said_of_an_engine_that_was_asked_for():
    graph = Graph.from_edges("ab", "bc")
    model = DirichletClassifier(engine="scipy").fit(graph, {"a": 1, "c": 2})
    assert fallback_reason(model.engine, model.solution_.engine, graph) == ""
    assert fallback_reason("auto", "native", graph) == ""


def test_an_estimate_is_for_the_engine_that_will_be_used(monkeypatch):
    assert engine_for("scipy", 10) == "scipy"
    monkeypatch.setattr(engines, "core", object())
    assert engine_for("auto", 10) == "native"
    assert engine_for("auto", 2**31) == "scipy"
    monkeypatch.setattr(engines, "core", None)
    assert engine_for("auto", 10) == "scipy"
