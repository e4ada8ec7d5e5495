"""What guards moves of code: ten fits as they were, and how two versions are compared."""

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from isotherm.compiled import core

ROOT = Path(__file__).parents[1]
TEN = ROOT / "golden" / "ten.json"
pytestmark = pytest.mark.skipif(not TEN.exists(), reason="golden/ is in the repository alone")


def load(path):
    spec = importlib.util.spec_from_file_location(f"golden_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


if TEN.exists():
    made, golden = load(ROOT / "golden" / "made.py"), load(ROOT / "scripts" / "golden.py")
    KEPT = json.loads(TEN.read_text(encoding="utf-8"))
else:
    KEPT = {}


@pytest.mark.parametrize("name", KEPT)
def test_ten_fits_are_as_they_were(name):
    """Up to the tolerance of the fits, since processors differ in last digits."""
    if core is None and name.endswith("native"):
        pytest.skip("isotherm was built without its core")
    found, kept = made.fit(*name.split("-")), KEPT[name]
    some = slice(None, None, made.EVERY)
    assert np.allclose(
        found["temperatures_"][some], kept["temperatures"], atol=4e-6, equal_nan=True
    )
    if "labels" in kept:
        sure = np.asarray(kept["margins"]) > 1e-4
        labels = np.array(list(map(str, found["predict"][some])))
        assert np.array_equal(labels[sure], np.array(kept["labels"])[sure])
        assert sure.sum() > 8


def test_the_same_is_no_difference_and_a_digit_is_one(tmp_path):
    for side, T, text in (("base", 1.0, "took 3 s"), ("head", 1.0, "took 12.5 s")):
        folder = tmp_path / side / "made"
        folder.mkdir(parents=True)
        np.savez(folder / "fit.npz", T=np.array([T, np.nan]), labels=np.array(["a", "b"]))
        (folder / "0.txt").write_text(f"{folder}/a.csv {text}, 12 MiB, isotherm 0.2.0", "utf-8")
        (folder / "a.csv").write_text(f"node,seconds\na,{len(side) + len(text)}\n", "utf-8")
        (folder / "a.html").write_text(f"<p> {len(text) * ' '}a</p>", "utf-8")
    base, head = (tmp_path / side / "made" for side in ("base", "head"))
    assert golden.differences(base, head) == []
    np.savez(head / "fit.npz", T=np.array([1 + 2**-52, np.nan]), labels=np.array(["a", "c"]))
    (head / "a.csv").write_text("node,seconds\nb,1\n", "utf-8")
    (head / "a.html").unlink()
    found = golden.differences(base, head)
    assert [line.partition(":")[0] for line in found] == ["a.csv", "a.html", "fit.npz", "fit.npz"]
    assert "only in base" in found[1]
    assert found[2:] == ["fit.npz: T: differs by 2.2e-16 at most", "fit.npz: labels: 1 of 2 differ"]
