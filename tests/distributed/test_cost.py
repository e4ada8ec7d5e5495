import json
from pathlib import Path

import pytest

from isotherm.distributed.cost import cost

RESULTS = Path(__file__).parents[2] / "results" / "benchmarks" / "ranks_share_the_work.json"


def measured():
    whole, *rows = json.loads(RESULTS.read_text())["rows"]
    return [(whole["nodes"], whole["edges"], row) for row in rows]


@pytest.mark.parametrize(("nodes", "edges", "row"), measured())
def test_memory_and_what_is_sent_are_as_measured(nodes, edges, row):
    model = cost(nodes, edges, 10, row["ranks"])
    assert 0.9 <= model.memory / row["memory"] <= 1.1
    assert model.sent == pytest.approx(row["sent_a_step"], rel=0.01)
    assert model.blocks == row["blocks_of_columns"]


def test_each_further_rank_needs_less_memory_however_many_there_are():
    needed = [cost(1e9, 1e11, 20, 2**k).memory for k in range(4, 16)]
    assert needed == sorted(needed, reverse=True)


def test_columns_in_several_lots_are_told_of():
    assert cost(1e6, 1e7, 10, 2).lines()[3].startswith("about 20 steps")
    assert cost(1e6, 1e7, 10, 4).lines()[3].startswith("about 2 × 20 steps")
