"""The scripts that guard moves of code: what is counted, taken for lost, and planted."""

import importlib.util
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def script(name):
    path = ROOT / "scripts" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"script_{name}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


size, claims, faults = script("size"), script("claims"), script("faults")


@pytest.mark.parametrize(
    ("suffix", "text", "count"),
    [
        (".py", '"""Text."""\n\na = 1; b = 2\n', 2),
        (".py", 'def f():\n    """Text."""\n    if f:\n        return 1\n', 3),
        (".py", "x = (1,\n     2)  # one; two\n", 1),
        (".cpp", 'int f() { return 1; }  // one; {\n/* ; */ const char* s = "a;\\"{";', 3),
        (".ts", "const a = `x;{`; const b = ';';", 2),
        (".html", "<p>a; b</p>", 0),
    ],
)
def test_statements_are_counted_however_they_are_written(suffix, text, count):
    assert size.statements_of(suffix, text) == count


def test_lines_that_are_too_long_count_as_several(tmp_path):
    path = tmp_path / "a.hpp"
    path.write_text("a;\n\n" + 250 * "b" + ";\n", encoding="utf-8")
    assert size.size_of(path) == (1, 5, 2)


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("src/isotherm/graph/rows.py", "src"),
        ("src/isotherm/engines/cuda/kernels.cu", "native"),
        ("src/isotherm/report/templates/page.html", "templates"),
        ("src/isotherm/page/static/page.js", None),
        ("page/src/main.ts", "templates"),
        ("native/peel.cpp", "native"),
        ("native/test_graph.cpp", "native tests"),
        ("tests/fuzz/exact.py", "tests"),
        ("extras/isotherm_petsc/tests/test_solve.py", "tests"),
        ("extras/isotherm_petsc/src/isotherm_petsc/serve.py", "extras"),
        ("paper/algorithm1.py", "paper"),
        ("benchmarks/graphs.py", "scripts"),
        ("docs/first.md", None),
    ],
)
def test_each_file_belongs_to_one_part(name, part):
    assert size.part_of(name) == part


def test_asserts_are_found_in_every_form():
    found = claims.of_python(
        "def test_one():\n    assert a\n    with pytest.raises(E):\n        f()\n"
        "    np.testing.assert_allclose(a, b)\n"
        "class TestMore:\n    def test_two(self):\n        f()\n"
        "def helper():\n    assert a\n"
    )
    assert found == {"test_one": 3, "test_two": 1}
    found = claims.of_cpp(
        "template <class T>\nvoid a_is_b(int k) {\n    if (k) {\n        CHECK(a == b);\n    }\n}\n"
        "void helper() {\n    f();\n}\nvoid c_is_d() {\n    CHECK(c);\n    CHECK(d);\n}\n"
    )
    assert found == {"a_is_b": 1, "c_is_d": 2}


def test_what_is_gone_or_says_less_is_lost_unless_explained():
    before = Counter({"test_a": 3, "test_b": 2, "test_c": 1, "test_d": 1})
    here = Counter({"test_a": 2, "test_b": 5, "test_e": 1})
    assert claims.lost(before, here, set()) == [
        "test_a: 2 of 3 asserts",
        "test_c: gone",
        "test_d: gone",
    ]
    assert claims.lost(before, here, {"test_a", "test_c", "test_d"}) == []


@pytest.mark.skipif(not claims.LIST.exists(), reason="golden/ is in the repository alone")
def test_no_claim_of_the_tests_is_lost(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["claims.py"])
    assert claims.main() == 0, capsys.readouterr().out
    assert len(claims.read(claims.LIST)) > 1000


@pytest.mark.skipif(
    not (faults.LIST.exists() and (ROOT / "src").exists()),
    reason="golden/ or src/ is not here: an installed package is tested",
)
def test_every_fault_can_still_be_planted_and_names_tests_that_are_there():
    found = faults.read(faults.LIST)
    assert len(found) >= 40
    parts = re.findall(
        r'{"(\w+)", isotherm::test_', (ROOT / "native" / "test_core.cpp").read_text()
    )
    for fault in found:
        text = (ROOT / fault.file).read_text("utf-8")
        assert fault.planted(text) != text, fault.name
        assert fault.tests or fault.core, fault.name
        assert set(fault.core) <= set(parts), fault.name
        assert all((ROOT / test).exists() for test in fault.tests), fault.name


def test_a_fault_is_planted_in_one_place_alone():
    fault = faults.Fault("a-sign-is-turned", "a.py", "a + b", "a - b")
    assert fault.planted("x = a + b") == "x = a - b"
    for text in ("x = a * b", "x = a + b\ny = a + b"):
        with pytest.raises(ValueError, match=r"places in a\.py instead of one"):
            fault.planted(text)


@pytest.mark.slow
def test_a_planted_fault_is_noticed_and_taken_away_again(tmp_path, monkeypatch, capsys):
    copy = object.__new__(faults.Copy)
    copy.tree, copy._python = tmp_path, sys.executable
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "adding.py").write_text("def add(a, b):\n    return a + b\n")
    (tmp_path / "test_it.py").write_text(
        "from adding import add\n\n\ndef test_sums():\n    assert add(2, 0) == 2\n"
    )
    monkeypatch.setattr(copy, "_run", lambda command: subprocess.run(
        [*map(str, command)], cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)}, check=False,
        capture_output=True,
    ).returncode, raising=False)  # fmt: skip
    seen = faults.Fault("seen", "adding.py", "a + b", "a - b - 1", ("test_it.py",))
    unseen = faults.Fault("unseen", "adding.py", "a + b", "a - b", ("test_it.py",))
    text = (tmp_path / "adding.py").read_text()
    assert faults.is_noticed(seen, copy)
    assert not faults.is_noticed(unseen, copy)
    assert (tmp_path / "adding.py").read_text() == text
    assert capsys.readouterr().out == "noticed: seen\nNOT NOTICED: unseen\n"
    nowhere = faults.Fault("nowhere", "adding.py", "a + b", "a - b", ("test_other.py",))
    with pytest.raises(RuntimeError, match="are these tests there"):
        faults.is_noticed(nowhere, copy)
