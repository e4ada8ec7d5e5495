import json
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from isotherm.distributed import DistributedModel, classify, entries
from isotherm.distributed import checkpoint as checkpoints
from isotherm.distributed.ownership import (
    ROW_COST,
    _merged,
    _rows,
    _rows_by_scipy,
    balanced_bounds,
)
from isotherm.distributed.texts import hash_texts
from isotherm.errors import (
    FileError,
    GraphError,
    IsothermWarning,
    LabelError,
    ParameterError,
    UnknownNode,
)
from isotherm.read.table import Batch
from shared_graphs import Case, a_case, assert_same, by_node, of_one_machine, write_case
from thread_ranks import on_ranks


def run(case, size=2, **how):
    """The outcome, and what was written."""
    output = case.folder / "out"
    found = on_ranks(
        size,
        lambda ranks: classify(
            case.edges, case.labels, output, ranks=ranks, temperatures=True, **how
        ),
    )
    assert all(vars(one) == vars(found[0]) for one in found)
    return found[0], by_node(output)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_labels_margins_and_probabilities_are_those_of_one_machine(tmp_path, size):
    case = a_case(tmp_path)
    found, rows = run(case, size)
    assert_same(rows, of_one_machine(case))
    assert found.converged
    assert found.error <= 1e-6
    assert found.n_nodes == len(rows)
    assert found.status["unreached"] == 3
    assert sum(found.status.values()) == found.n_nodes
    assert (case.folder / "out" / "_SUCCESS").exists()
    assert len(list((case.folder / "out").glob("part-*"))) == size
    assert max(found.entries) <= 1.2 * sum(found.entries) / size + 40


@pytest.mark.parametrize("decision", ["plain", "standard", "mass"])
def test_decisions_and_leak_are_those_of_one_machine(tmp_path, decision):
    case = a_case(tmp_path, weighted=True)
    model = {"decision": decision, "leak": 0.05, "unreached": "zero"}
    _, rows = run(case, 3, model=DistributedModel(**model))
    assert_same(rows, of_one_machine(case, **model))


def test_seeds_left_out_together_are_as_many_as_on_one_machine(tmp_path, monkeypatch):
    # On a large graph with many seeds a tenth of them is left out at once.
    case = a_case(tmp_path, n_seeds=120)
    small = "isotherm.trust.sample.FEW_SEEDS", "isotherm.distributed.left_out.FEW_SEEDS"
    for name in small:
        monkeypatch.setattr(name, 3)
    sample = "isotherm.distributed.left_out.columns_of_sample"
    monkeypatch.setattr(sample, lambda *_: 0)
    _, rows = run(case, 3)
    assert_same({n: {**r, "probability": None} for n, r in rows.items()},
                {n: {**r, "probability": None, "most_probable": rows[n]["most_probable"],
                     "its_probability": rows[n]["its_probability"]}
                 for n, r in of_one_machine(case).items()})  # fmt: skip
    assert all(0 < row["probability"] <= 1 for row in rows.values() if row["label"])


def test_text_files_and_groups_of_rows_are_read_too(tmp_path):
    case = a_case(tmp_path, n_parts=1)
    whole = pq.read_table(case.edges)
    pq.write_table(whole, tmp_path / "grouped.parquet", row_group_size=70)
    (tmp_path / "text").mkdir()
    for k in range(3):
        rows = whole.slice(k * len(whole) // 3, (k + 1) * len(whole) // 3 - k * len(whole) // 3)
        lines = [f"{row['source']},{row['target']}" for row in rows.to_pylist()]
        text = "source,target\n" + "\n".join(lines) + "\n"
        (tmp_path / "text" / f"{k}.csv").write_text(text)
    expected = of_one_machine(case)
    for edges in ("grouped.parquet", "text"):
        other = Case(str(tmp_path / edges), case.labels, tmp_path / edges.replace(".", "-"))
        assert_same(run(other, 4)[1], expected)


def test_duplicates_and_both_directions_are_as_on_one_machine(tmp_path):
    source = ["a", "b", "a", "b", "c", "d", "d", "e", "a", "z"]
    target = ["b", "a", "b", "c", "d", "d", "e", "f", "f", "z"]
    weight = [0.1, 0.2, 0.3, 1.0, 1.0, 0.5, 1.0, 1.0, 0.0, 1.0]
    case = write_case(tmp_path / "w", source, target, {"a": "x", "f": "y"}, weight=weight)
    assert_same(run(case, 3)[1], of_one_machine(case))
    case = write_case(tmp_path / "u", source, target, {"a": "x", "f": "y"})
    found, rows = run(case, 3)
    assert_same(rows, of_one_machine(case))
    assert found.n_edges == 8


def test_a_seed_on_every_node(tmp_path):
    case = write_case(tmp_path, "abc", "bcd", dict(zip("abcd", "xyxy", strict=True)))
    found, rows = run(case, 2)
    assert {node: row["label"] for node, row in rows.items()} == dict(
        zip("abcd", "xyxy", strict=True)
    )
    assert found.status["seed"] == 4


def test_ranks_without_a_file_and_more_ranks_than_nodes(tmp_path):
    case = write_case(tmp_path, "ab", "bc", {"a": "x", "c": "y"}, n_parts=1)
    found, rows = run(case, 5)
    assert rows["b"]["status"] == "tie"
    assert found.n_nodes == 3


def test_an_empty_part_and_a_part_without_rows(tmp_path):
    case = a_case(tmp_path)
    (tmp_path / "parts" / "part-7.parquet").touch()
    table = pq.read_table(tmp_path / "parts" / "part-0.parquet")
    pq.write_table(table.slice(0, 0), tmp_path / "parts" / "part-8.parquet")
    assert_same(run(case, 3)[1], of_one_machine(case))


def test_parts_of_different_layouts_are_refused_on_all_ranks(tmp_path):
    case = a_case(tmp_path)
    pq.write_table(pa.table({"from": ["1"], "to": ["2"]}), tmp_path / "parts" / "part-9.parquet")
    with pytest.raises(FileError, match="have different columns"):
        run(case, 3)
    assert not (tmp_path / "out").exists()


def test_labels_of_unknown_nodes_are_told_of(tmp_path):
    case = write_case(tmp_path, "abc", "bcd", {"a": "x", "d": "y", "stranger": "x"})
    with pytest.warns(IsothermWarning, match="1 of 3 labels are for nodes .* 'stranger'"):
        _, rows = run(case, 2)
    assert "stranger" not in rows
    with pytest.raises(UnknownNode, match="not in the graph"):
        run(case, 2, strict=True, force=True)


def test_labels_that_say_nothing_of_the_graph(tmp_path):
    case = write_case(tmp_path, "abc", "bcd", {"u": "x", "v": "y"})
    with pytest.raises(UnknownNode, match="2 of 2"):
        run(case, 2)


def test_a_node_with_two_labels_is_named(tmp_path):
    case = write_case(tmp_path, "abc", "bcd", {"a": "x", "d": "y"})
    pq.write_table(pa.table({"node": ["a", "a"], "label": ["x", "y"]}), case.labels)
    with pytest.raises(LabelError, match="node 'a' has two labels, 'x' and 'y'"):
        run(case, 3)


def test_placeholders_are_no_classes(tmp_path):
    case = write_case(tmp_path, "abcd", "bcde", {"a": "x", "e": "y", "c": "N/A"})
    with pytest.warns(IsothermWarning, match="'N/A' were treated as unknown"):
        found, rows = run(case, 2)
    assert found.classes == ["x", "y"]
    assert rows["c"]["status"] == "tie"


def test_one_class_only(tmp_path):
    case = write_case(tmp_path, "abc", "bcd", {"a": "x"})
    with pytest.raises(LabelError, match="only one class"):
        run(case, 2)


def test_files_without_edges(tmp_path):
    case = write_case(tmp_path, [], [], {"a": "x"}, n_parts=2)
    with pytest.raises(GraphError, match="no edges"):
        run(case, 2)


def test_results_are_not_replaced_unless_asked_for(tmp_path):
    case = a_case(tmp_path)
    run(case, 2)
    with pytest.raises(FileError, match="already has files"):
        run(case, 2)
    run(case, 3, force=True)
    assert len(list((tmp_path / "out").glob("part-*"))) == 3
    (tmp_path / "out" / "thesis.txt").write_text("years of work")
    with pytest.raises(FileError, match=r"not results, such as thesis\.txt"):
        run(case, 2, force=True)


def test_what_cannot_be_written_leaves_nothing(tmp_path, monkeypatch):
    case = a_case(tmp_path)

    def fail(_, path, **__):
        if "00001" in path.name:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("isotherm.distributed.parts.write_predictions", fail)
    with pytest.raises(OSError, match="No space left"):
        run(case, 2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["labels.parquet", "parts"]


@pytest.mark.parametrize(
    ("model", "said"),
    [({"decision": "auto"}, "unknown decision"), ({"leak": "auto"}, "one machine only"),
     ({"engine": "native"}, "unknown engine"), ({"unreached": "guess"}, "unknown rule")],
)  # fmt: skip
def test_what_works_on_one_machine_only_is_said(model, said):
    with pytest.raises(ParameterError, match=said):
        DistributedModel(**model)


# --- checkpoints --------------------------------------------------------------------------------


class Killed(Exception):
    pass


def killed_after(steps):
    def progress(step, _):
        if step >= steps:
            raise Killed

    return progress


@pytest.mark.parametrize(("before", "after"), [(2, 2), (3, 2), (2, 4)])
def test_a_killed_job_goes_on_from_its_checkpoint_with_other_ranks(tmp_path, before, after):
    case = a_case(tmp_path)
    whole, expected = run(case, 2)
    folder = tmp_path / "kept"
    with pytest.raises(Killed):
        run(case, before, force=True, checkpoint=folder, every=0.0, progress=killed_after(10))
    assert len(list(folder.glob("checkpoint-*"))) == 1
    found, rows = run(case, after, force=True, checkpoint=folder)
    assert found.resumed
    assert found.steps < whole.steps - 4
    assert_same(rows, expected)
    assert not folder.exists()  # the work is done


def test_a_job_killed_between_two_blocks_of_columns_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr("isotherm.engines.mpi.session.SharedSession.lanes", lambda *_: 2)
    case = a_case(tmp_path)
    whole, expected = run(case, 2)
    folder = tmp_path / "kept"
    last = whole.steps - 3  # the first column and the exit times are done
    with pytest.raises(Killed):
        run(case, 3, force=True, checkpoint=folder, every=0.0, progress=killed_after(last))
    found, rows = run(case, 2, force=True, checkpoint=folder)
    assert found.resumed
    assert found.steps < whole.steps / 2
    assert_same(rows, expected)


def test_a_checkpoint_of_another_graph_is_refused(tmp_path):
    case = a_case(tmp_path / "one")
    folder = tmp_path / "kept"
    with pytest.raises(Killed):
        run(case, 2, checkpoint=folder, every=0.0, progress=killed_after(3))
    for other in (a_case(tmp_path / "two", seed=1), a_case(tmp_path / "three", n_seeds=24)):
        with pytest.raises(
            FileError, match="of a job with another graph, other labels or another leak"
        ):
            run(other, 2, checkpoint=folder)
    with pytest.raises(FileError, match="another leak"):
        run(case, 2, checkpoint=folder, model=DistributedModel(leak=0.5))
    run(case, 3, checkpoint=folder)


def test_a_damaged_checkpoint_is_refused(tmp_path):
    case = a_case(tmp_path)
    folder = tmp_path / "kept"
    with pytest.raises(Killed):
        run(case, 2, checkpoint=folder, every=0.0, progress=killed_after(3))
    part = next(folder.glob("checkpoint-*/part-00001.parquet"))
    part.write_bytes(part.read_bytes()[:100])
    with pytest.raises(FileError, match="damaged"):
        run(case, 2, checkpoint=folder)
    part.unlink()
    with pytest.raises(FileError, match="damaged"):
        run(case, 2, checkpoint=folder)


def test_a_checkpoint_that_is_not_whole_does_not_count(tmp_path):
    case = a_case(tmp_path)
    (tmp_path / "kept" / ".checkpoint-000003.part").mkdir(parents=True)
    found, _ = run(case, 2, checkpoint=tmp_path / "kept")
    assert not found.resumed


def test_a_full_disk_while_checkpointing_loses_nothing(tmp_path, monkeypatch):
    case = a_case(tmp_path)
    folder = tmp_path / "kept"
    write, count = checkpoints.Checkpoints._write, []

    def fails_later(self, path, *rest):
        count.append(path)
        if len(count) > 4 and "00001" in path.name:
            raise OSError(28, "No space left on device")
        write(self, path, *rest)

    monkeypatch.setattr(checkpoints.Checkpoints, "_write", fails_later)
    told = pytest.warns(IsothermWarning, match="No space left on device; the last one is kept")
    with told, pytest.raises(Killed):
        run(case, 2, checkpoint=folder, every=0.0, progress=killed_after(6))
    kept = [path.name for path in folder.iterdir()]
    assert len(kept) == 1
    assert json.loads((folder / kept[0] / "manifest.json").read_text())["parts"] == 2
    monkeypatch.undo()
    assert run(case, 2, checkpoint=folder)[0].resumed


# --- pieces -------------------------------------------------------------------------------------


def test_rows_by_the_core_are_those_by_scipy():
    rng = np.random.default_rng(0)
    row, ends = rng.integers(0, 20, 300, dtype=np.int32), rng.integers(0, 50, 300, dtype=np.int32)
    for weights in (None, rng.uniform(0.1, 1.0, 300), np.full(300, 0.5)):
        one, other = (make(20, 50, row, ends, weights) for make in (_rows, _rows_by_scipy))
        assert np.array_equal(one.start, other.start)
        assert np.array_equal(one.ends, other.ends)
        if weights is None:
            assert one.weights is other.weights is None
        else:
            assert np.array_equal(one.weights, other.weights)


def test_ghosts_are_merged_as_by_a_union():
    rng = np.random.default_rng(0)
    some, others = np.unique(rng.integers(0, 99, 40)), rng.integers(0, 99, 70)
    assert np.array_equal(_merged(some, others), np.union1d(some, others))
    assert len(_merged(some[:0], others[:0])) == 0


def test_edges_are_read_so_many_at_a_time_at_the_most(monkeypatch):
    monkeypatch.setattr(entries, "ROWS", 10)
    texts = pa.array([str(k) for k in range(57)])
    cuts = [0, 3, 6, 31, 31, 50, 57]
    batches = [
        Batch(texts[a:b], texts[a:b], np.arange(a, b, dtype=float)) for a, b in pairwise(cuts)
    ]
    chunks = list(entries._chunks(batches))
    assert max(len(chunk.first) for chunk in chunks) <= 10
    assert len(chunks) <= 9
    assert [text for chunk in chunks for text in chunk.second.to_pylist()] == texts.to_pylist()
    assert np.concatenate([chunk.numbers for chunk in chunks]).tolist() == list(range(57))


def test_rows_are_balanced_by_entries_not_by_nodes():
    counts = np.ones(1000, dtype=np.int64)
    counts[:10] = 2000  # hubs

    def bounds(ranks):
        cuts = np.linspace(0, 1000, ranks.size + 1).astype(int)
        return balanced_bounds(ranks, counts[cuts[ranks.rank] : cuts[ranks.rank + 1]])

    found = on_ranks(4, bounds)
    assert all(np.array_equal(one, found[0]) for one in found)
    costs = counts + ROW_COST
    shares = [costs[a:b].sum() for a, b in zip(found[0][:-1], found[0][1:], strict=True)]
    assert max(shares) <= costs.sum() / 4 + 2008
    assert found[0][-1] == 1000
    assert (np.diff(found[0]) > 0).all()


def test_hashes_do_not_depend_on_how_texts_are_stored():
    texts = ["", "a", "ab", "b" * 300, "ü"]
    wide = pa.array(texts, pa.large_string())
    expected = hash_texts(wide)
    assert len(set(expected.tolist())) == len(texts)
    assert np.array_equal(hash_texts(pa.array(texts)), expected)
    assert np.array_equal(hash_texts(wide.slice(2)), expected[2:])
