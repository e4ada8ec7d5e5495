"""What is built and installed: folders of builds, and what a solve loads."""

import importlib.util
import subprocess
import sys
import threading
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BACKEND = ROOT / "packaging" / "build_backend.py"


def test_a_solve_on_a_matrix_loads_no_library_of_tables_terminals_or_pages():
    code = """
import sys
import numpy as np, scipy.sparse
import isotherm
path = scipy.sparse.diags_array([1.0, 1.0, 1.0], offsets=1, shape=(4, 4))
found = isotherm.solve_dirichlet(path + path.T, [0, 3], [0.0, 1.0]).temperatures
assert np.allclose(found.ravel(), [0, 1 / 3, 2 / 3, 1])
print(*({name.partition(".")[0] for name in sys.modules}))
"""
    loaded = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    assert not {"pyarrow", "typer", "click", "rich", "jinja2", "sklearn"} & {*loaded.stdout.split()}


@pytest.mark.skipif(not BACKEND.exists(), reason="packaging/ is in the repository alone")
def test_only_editable_builds_share_a_folder():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    build = settings["scikit-build"]
    shared = [one for one in build["overrides"] if one.get("build-dir")]
    assert "build-dir" not in build
    assert [one["if"] for one in shared] == [{"state": "editable"}]


@pytest.mark.skipif(not BACKEND.exists(), reason="packaging/ is in the repository alone")
def test_two_editable_builds_of_a_checkout_wait_for_each_other(tmp_path):
    pytest.importorskip("scikit_build_core", reason="what builds isotherm is not installed")
    spec = importlib.util.spec_from_file_location("build_backend", BACKEND)
    backend = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(backend)
    inside, may_leave, others = threading.Event(), threading.Event(), []

    def first():
        with backend.alone_in(tmp_path / "build"):
            inside.set()
            may_leave.wait(10)
            others.append("first")

    def second():
        with backend.alone_in(tmp_path / "build"):
            others.append("second")

    threads = [threading.Thread(target=first), threading.Thread(target=second)]
    threads[0].start()
    assert inside.wait(10)
    threads[1].start()
    threads[1].join(0.1)
    assert others == []
    may_leave.set()
    for thread in threads:
        thread.join(10)
    assert others == ["first", "second"]
