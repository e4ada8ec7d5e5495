"""The scripts that guard moves of code: what is counted, and what is taken for lost."""

import importlib.util
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


size, claims = script("size"), script("claims")


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
