"""What the checks are held to: no test is skipped for want of a package, all Pythons are tested."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

pytestmark = pytest.mark.core_free

ROOT = Path(__file__).parents[1]
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
