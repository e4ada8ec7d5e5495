"""The tree is the list of concepts, and data flow one way through it."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import isotherm

pytestmark = pytest.mark.core_free

ROOT = Path(isotherm.__file__).parent

# A module imports only from those above it (`__init__` and `__main__` stand outside).
ORDER = [
    "errors",
    "caller",
    "masked",
    "printable",
    "memory",
    "rounding",
    "arithmetic",
    "compiled",
    "read_only",
    "locks",
    "blas",
    "environment",
    "files",
    "text_data",
    "colours",
    "graph",
    "writers",
    "classes",
    "labels",
    "read",
    "datasets",
    "dirichlet",
    "solvers",
    "engines",
    "equilibrium",
    "networkx_backend",
    "decision",
    "trust",
    "stacking",
    "classifier",
    "listing",
    "write",
    "block_model",
    "experiments",
    "job",
    "job_memory",
    "estimate",
    "report",
    "pipeline",
    "fit_files",
    "build",
    "page",
    "cli",
]


def modules():
    for path in sorted(ROOT.rglob("*.py")):
        yield path.relative_to(ROOT).with_suffix(""), ast.parse(path.read_text(encoding="utf-8"))


def imports(tree):
    """Names of the package's modules imported, for type checking too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            package, _, rest = name.partition(".")
            home = isotherm._HOME.get(rest, rest).split(".")[0]
            if package == "isotherm" and home not in {"", "__version__", "_core"}:
                yield home


def test_modules_import_only_from_those_above_them():
    for path, tree in modules():
        home = path.parts[0]
        if home in {"__init__", "__main__"}:
            continue
        assert home in ORDER, f"{path} has no place in the order of modules"
        for imported in imports(tree):
            assert ORDER.index(imported) <= ORDER.index(home), f"{path} imports {imported}"


def test_the_compiled_core_is_imported_in_one_place():
    users = [path for path, tree in modules() if "isotherm._core" in ast.unparse(tree)]
    assert [str(path) for path in users] == ["compiled"]


def test_reports_do_not_reach_into_other_objects():
    reaching = {
        path.as_posix()
        for path, tree in modules()
        for node in ast.walk(tree)
        if path.parts[0] == "report"
        and isinstance(node, ast.Attribute)
        and node.attr.startswith("_")
        and not node.attr.startswith("__")
        and ast.unparse(node.value) != "self"
    }
    assert not reaching


def test_markup_is_made_in_one_place():
    users = {
        path.as_posix()
        for path, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Markup"
    }
    assert users == {"report/svg"}
    for path, tree in modules():
        texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
        if path.parts[0] == "report" and path.as_posix() != "report/svg":
            assert not [t for t in texts if isinstance(t, str) and re.search("</?[a-z]+[ >]", t)]
    for path in (ROOT / "report" / "templates").rglob("*.html"):
        assert not re.search(r"\bsafe\b|autoescape", path.read_text(encoding="utf-8"))


def test_no_module_is_a_drawer_for_odds_and_ends():
    names = {part for path, _ in modules() for part in path.parts}
    assert not names & {"utils", "util", "common", "helpers", "misc"}


def test_no_module_is_longer_than_a_reader_can_hold():
    for path in ROOT.rglob("*.py"):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 350, path


def test_every_public_name_can_be_imported():
    for name in isotherm.__all__:
        assert getattr(isotherm, name) is not None
    assert set(isotherm.__all__) <= set(dir(isotherm))


def test_an_unknown_public_name_is_an_attribute_error():
    assert not hasattr(isotherm, "DirichletOracle")


def test_importing_the_package_loads_no_heavy_library():
    code = "import isotherm, sys; print({'numpy', 'scipy', 'sklearn'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"


def test_the_package_is_typed():
    assert (ROOT / "py.typed").exists()
