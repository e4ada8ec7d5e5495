"""The data sets that are part of the package."""

import gzip
import runpy
import time
from pathlib import Path

import numpy as np
import pytest

from isotherm import load_dataset
from isotherm.datasets import FOLDER

pytestmark = pytest.mark.core_free

SCRIPT = Path(__file__).parents[2] / "scripts" / "debian_packages.py"


def test_karate_club_is_as_it_was():
    club = load_dataset("karate")
    assert (club.graph.n_nodes, club.graph.n_edges) == (34, 78)
    assert sorted(set(club.labels)) == ["Mr. Hi", "Officer"]
    assert "Zachary" in club.source


@pytest.fixture(scope="module")
def debian():
    start = time.perf_counter()
    found = load_dataset("debian")
    assert time.perf_counter() - start < 5  # 0.2 s; more only where the machine is busy
    return found


def test_debian_is_a_large_graph_in_a_small_file(debian):
    assert 60_000 < debian.graph.n_nodes < 66_000
    assert 250_000 < debian.graph.n_edges < 350_000
    assert 50 <= len(np.unique(debian.labels)) <= 70
    assert (FOLDER / "debian.npz").stat().st_size < 2_000_000


def test_debian_packages_have_names_and_sections(debian):
    names = debian.graph.names
    assert len(np.unique(names)) == debian.graph.n_nodes
    assert not any("/" in section for section in np.unique(debian.labels))
    section = dict(zip(names.tolist(), debian.labels.tolist(), strict=True))
    expected = {"python3": "python", "bash": "shells", "libc6": "libs", "gcc": "devel"}
    assert {name: section[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [("bash", "libc6"), ("bash", "bash-doc"), ("python3", "python3-minimal"), ("gcc", "cpp")],
)
def test_debian_has_well_known_dependencies(debian, one, other):
    i, j = debian.graph.positions([one, other])
    assert debian.graph.adjacency[i, j] == debian.graph.adjacency[j, i] == 1
    assert debian.graph.adjacency.diagonal().sum() == 0


PACKAGES = """\
Package: shell
Section: shells
Depends: libbase (>= 2.36), debianutils (>= 5.6-0.1) | oldutils:any, nowhere
Pre-Depends: libterm [amd64] <!nocheck>
Description: a shell
 Depends: not a field

Package: libbase
Section: contrib/libs
Recommends: libterm,
 libmath+extra
Breaks: oldutils

Package: libterm
Section: libs
Depends: libterm

Package: libmath+extra
Section: math
Enhances: shell

Package: oldutils
Section: utils

Package: shell
Section: admin
Suggests: libmath+extra
"""


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz"])
def test_the_script_makes_a_graph_of_a_package_index(tmp_path, capsys, suffix):
    if not SCRIPT.exists():
        pytest.skip("the scripts of the repository are not here")
    import lzma

    pack = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress}[suffix]
    index, out = tmp_path / f"Packages{suffix}", tmp_path / "out.npz"
    index.write_bytes(pack(PACKAGES.encode()))
    main = runpy.run_path(str(SCRIPT))["main"]
    main([str(index), str(out)])
    assert "n_nodes=5, n_edges=6" in capsys.readouterr().out
    made = load_dataset("out", tmp_path)
    assert made.graph.names.tolist() == ["libbase", "libmath+extra", "libterm", "oldutils", "shell"]
    assert made.labels.tolist() == ["libs", "math", "libs", "utils", "shells"]
    pairs = {("libbase", "libmath+extra"), ("libbase", "libterm"), ("libbase", "shell"),
             ("libmath+extra", "shell"), ("libterm", "shell"), ("oldutils", "shell")}  # fmt: skip
    names = made.graph.names
    found = {(names[i], names[j]) for i, j in zip(*made.graph.adjacency.nonzero(), strict=True)}
    assert {pair for pair in found if pair[0] < pair[1]} == pairs
    first = out.read_bytes()
    main([str(index), str(out)])
    assert out.read_bytes() == first
