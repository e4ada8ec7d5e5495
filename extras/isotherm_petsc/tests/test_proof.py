"""The join of what ranks found, where rows are cut, and what a job would take."""

import sys

import numpy as np
import pytest

from isotherm import Graph
from isotherm.errors import MissingLibrary
from isotherm.graph.saved.file import open_file
from isotherm_petsc.cost import cost_lines
from isotherm_petsc.part import joined
from isotherm_petsc.petsc import petsc
from isotherm_petsc.rows import _own_first, cuts_of

pytest.importorskip("mpi4py")


def numbers(levels, n_nodes=5.0, stray=0.0, ends=(-1.0, 2.0, -3.0, 4.0)):
    found = np.full((7, 4), -np.inf)
    found[:3, : len(levels)] = levels
    found[3:5, : len(levels)] = np.array([[-0.25], [0.5]])
    found[5] = ends
    found[6] = n_nodes, stray, 0.0, 0.0
    return found


def test_a_level_that_is_no_number_on_one_rank_is_none_for_all():
    whole = joined(np.array([numbers([1.0, np.nan]), numbers([2.0, 3.0])]), 2)
    assert whole.level[0] == 2.0
    assert np.isnan(whole.level[1])


def test_extremes_counts_and_strays_are_those_of_all_ranks():
    nothing = np.full((7, 4), -np.inf)
    nothing[6] = 0.0
    one = numbers([1.0], ends=(-1.0, 2.0, -3.0, 4.0))
    other = numbers([0.5], n_nodes=2.0, stray=1.0, ends=(-0.5, 1.0, -4.0, 5.0))
    whole = joined(np.array([one, nothing, other]), 1)
    assert whole.degrees == (0.5, 2.0)
    assert whole.exits == (3.0, 5.0)
    assert (whole.low[0], whole.high[0]) == (0.25, 0.5)
    assert whole.n_nodes == 7
    assert whole.stray


@pytest.mark.parametrize("size", [1, 2, 3, 7, 50])
def test_ranks_get_about_the_same_and_at_least_one_node_each(tmp_path, size):
    rng = np.random.default_rng(size)
    i, j = rng.integers(0, 40, (2, 300))
    source, target = np.append(i, np.zeros(39)), np.append(j, np.arange(1, 40))
    Graph.from_edges(source, target, nodes=range(40)).save(tmp_path / "g.iso")
    file = open_file(tmp_path / "g.iso")
    cuts = cuts_of(file, size)
    assert cuts[0] == 0
    assert cuts[-1] == 40
    assert (np.diff(cuts) >= (size <= 40)).all()
    if size == 3:
        entries = np.diff(file.part("starts")[cuts])
        assert entries.max() < 1.3 * entries.mean()


def test_rows_are_sorted_by_the_numbers_that_a_rank_gives():
    ends = np.array([0, 3, 5, 9, 1, 2, 4, 8, 9])  # two rows; the rank has 4 to 7
    at = _own_first(np.array([0, 4, 9]), ends < 4, ends < 8)
    found = np.empty_like(ends)
    found[at] = ends
    assert found.tolist() == [5, 0, 3, 9, 4, 1, 2, 8, 9]


def test_the_price_of_the_first_rank_is_told():
    few, many = (cost_lines(1e9, 1e10, 20, ranks, memory=64e9) for ranks in (8, 64))
    assert "on the first rank (temperatures of all nodes are there)" in few[1]
    assert "does not fit" in many[-2]
    assert "would not help" in many[-1]
    assert cost_lines(1e6, 1e7, 10, 2, memory=64e9)[-1] == "fits into 59.6 GiB per rank"


def test_without_petsc_it_is_said_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "petsc4py", None)
    with pytest.raises(MissingLibrary, match="python3-petsc4py"):
        petsc()
