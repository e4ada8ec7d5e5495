"""The join of what ranks found, where rows are cut, and what a job would take."""

import sys

import numpy as np
import pytest

from isotherm import Graph
from isotherm.errors import MissingLibrary
from isotherm.graph.rows import Rows
from isotherm.graph.saved.file import open_file
from isotherm.solvers.imbalance import Imbalance
from isotherm_petsc.cost import cost_lines
from isotherm_petsc.petsc import petsc
from isotherm_petsc.rows import cuts_of, with_ghosts

pytest.importorskip("mpi4py")


def numbers(levels, n_nodes=5, *, stray=False, degrees=(1.0, 2.0), exits=(3.0, 4.0)):
    levels, low, high = np.array(levels), np.full(len(levels), 0.25), np.full(len(levels), 0.5)
    return Imbalance(levels, levels, levels, low, high, degrees, exits, n_nodes, stray)


def test_a_level_that_is_no_number_on_one_rank_is_none_for_all():
    for parts in ([[1.0, np.nan], [2.0, 3.0]], [[2.0, 3.0], [1.0, np.nan]]):
        whole = Imbalance.joined([numbers(levels) for levels in parts])
        assert whole.level[0] == 2.0
        assert np.isnan(whole.level[1])


def test_extremes_counts_and_strays_are_those_of_all_ranks():
    one = numbers([1.0])
    other = numbers([0.5], n_nodes=2, stray=True, degrees=(0.5, 1.0), exits=(4.0, 5.0))
    whole = Imbalance.joined([one, other])
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
    ends = np.array([0, 3, 5, 9, 1, 2, 4, 8, 9], dtype=np.int32)  # the rank has 4 and 5
    rows, numbers = with_ghosts(Rows(np.array([0, 4, 9]), ends, None), 4, 6)
    assert numbers.tolist() == [0, 1, 2, 3, 4, 5, 8, 9]
    assert numbers[rows.ends].tolist() == ends.tolist()
    assert rows.start.tolist() == [0, 0, 0, 0, 0, 4, 9, 9, 9]
    whole, numbers = with_ghosts(Rows(np.array([0, 1, 3]), ends[:3] % 2, None), 0, 2)
    assert (numbers.tolist(), whole.start.tolist()) == ([0, 1], [0, 1, 3])


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
