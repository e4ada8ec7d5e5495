"""What the checks are held to: all packages, all Pythons, half an hour."""

import importlib.util
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

pytestmark = pytest.mark.core_free

ROOT = Path(__file__).parents[1]
RUN, STEP = ROOT / ".ci" / "run", ROOT / ".ci" / "step"
_spec = importlib.util.spec_from_file_location("budget", ROOT / "scripts" / "budget.py")
budget = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(budget)
NO_GPU = "def test_a(): pytest.skip('no GPU: none was found')"
NO_LIBRARY = "def test_a(): pytest.importorskip('a_library', reason='in other words')"
NO_MODULE = "pytest.importorskip('a_library')"
NO_CASE = "@pytest.mark.parametrize('case', [])\ndef test_a(case): pass"


@pytest.mark.parametrize("all_packages", ["", "1"])
@pytest.mark.parametrize("text", [NO_GPU, NO_LIBRARY, NO_MODULE, NO_CASE])
def test_where_all_packages_are_installed_a_test_that_is_skipped_fails(
    tmp_path, text, all_packages
):
    (tmp_path / "test_a.py").write_text(f"import pytest\n{text}\n")
    (tmp_path / "test_b.py").write_text("def test_b(): pass\n")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "skipped", "--rootdir", tmp_path, tmp_path],
        env=os.environ | {"PYTHONPATH": str(ROOT / "tests"), "ISOTHERM_ALL_PACKAGES": all_packages},
        capture_output=True,
        text=True,
        check=False,
    )
    is_wrong = bool(all_packages) and text != NO_GPU
    assert run.returncode == is_wrong, run.stdout
    assert ("although ISOTHERM_ALL_PACKAGES is set" in run.stdout) is is_wrong


def test_the_pythons_that_are_tested_are_those_that_are_promised():
    """The checks take them from the classifiers, and run the tests on each that is installed."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project, tools = settings["project"], settings["tool"]
    named = re.findall(r"Python :: (3\.\d+)$", "\n".join(project["classifiers"]), re.MULTILINE)
    support = (ROOT / "docs" / "support.md").read_text(encoding="utf-8")
    promised = re.search(r"^\| Python \| (.*?);", support, re.MULTILINE)[1]
    assert promised == f"{', '.join(named[:-1])} and {named[-1]}"
    assert project["requires-python"] == f">={named[0]}"
    assert tools["mypy"]["python_version"] == named[0]
    assert {f"cp{version.replace('.', '')}-*" for version in named} <= {
        *tools["cibuildwheel"]["build"]
    }


def budgets():
    return budget.read((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))


@pytest.mark.skipif(not RUN.exists(), reason=".ci/ is in the repository alone")
def test_each_step_of_the_checks_has_a_budget_and_nothing_else_has():
    run = RUN.read_text(encoding="utf-8")
    alone = re.findall(r"^begin (\w+) ", run, re.MULTILINE)
    beside = re.search(r"^printf '%s\\n' (.*) \|$", run, re.MULTILINE)[1].split()
    steps = re.findall(r"^(\w+)\(\) { # ", STEP.read_text(encoding="utf-8"), re.MULTILINE)
    assert set(beside) == set(steps)
    assert [*budgets()] == [*alone, *beside, "all"]


def test_the_checks_may_take_30_minutes_and_the_readmes_tests_5():
    assert {name: one.seconds for name, one in budgets().items() if one.is_limit} == {
        "tests": 300,
        "all": 1800,
    }


@pytest.mark.parametrize(
    ("took", "said", "code"),
    [
        ({"lint": 1, "tests": 300, "all": 1800}, "", 0),
        ({"lint": 1799, "tests": 300, "all": 1800}, "lint WARNING", 0),
        ({"lint": 1, "tests": 450, "all": 1800}, "tests WARNING", 0),
        ({"lint": 1, "tests": 451, "all": 1800}, "tests FAILED", 1),
        ({"lint": 1, "tests": 300, "all": 2700}, "all WARNING", 0),
        ({"lint": 1, "tests": 300, "all": 2701}, "all FAILED", 1),
    ],
)
def test_only_the_whole_and_the_readmes_tests_fail_by_their_time(
    tmp_path, monkeypatch, capsys, took, said, code
):
    (tmp_path / "took").write_text("".join(f"{name} {n}\n" for name, n in took.items()))
    monkeypatch.setattr(sys, "argv", ["budget.py", str(tmp_path / "took")])
    assert budget.main() == code
    lines = capsys.readouterr().out.splitlines()
    words = [line.split() for line in lines]
    over = [f"{first} {last}" for first, *_, last in words if last in ("WARNING", "FAILED")]
    assert over == [said] * bool(said)
    assert {first for first, *_ in words} >= {*took}
