"""Files as people have them: several columns, odd numbers, ids and labels; nothing is guessed."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conftest import CliRun
from isotherm import (
    Graph,
    GraphError,
    IsothermWarning,
    LabelError,
    ParameterError,
    UnknownNode,
    read_graph,
    read_labels,
)
from isotherm.estimate import count_edges
from isotherm.read.load import load_graph, load_labels
from isotherm.read.numbers import NumberParser
from isotherm.read.options import NumberOptions, TextOptions

pytestmark = pytest.mark.hostile

ACCOUNTS = ["0017", "0004", "0023", "0017", "0030", "0004"]
PAYMENTS = [(f"T{k:04d}", f"1{k}.10.2025", *ACCOUNTS[k : k + 2], 12.5 + k) for k in range(5)]


def written(folder, text, name="edges.csv"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def payments(header, mark=","):
    rows = [header, *PAYMENTS]
    return "".join(mark.join(map(str, row)) + "\n" for row in rows)


# --- which columns --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "header",
    [
        ("txn_id", "date", "sender_account", "receiver_account", "amount"),
        ("no", "when", "fromId", "toId", "paid"),
        (":ID", "day", ":START_ID", ":END_ID", "amount:double"),
        ("id", "date", "payer", "payee", "sum"),
    ],
)
def test_columns_whose_names_are_a_pair_are_the_ends(tmp_path, header):
    graph, report = load_graph(written(tmp_path, payments(header)))
    assert report.columns == header[2:4]
    assert set(graph.names) == set(ACCOUNTS)
    assert report.remarks() == []
    assert f"edges run from {header[2]!r} to {header[3]!r}, without weights" in report.hints[0]
    assert f"not used: {header[0]!r}, {header[1]!r}, {header[4]!r}" in report.hints[0]


def test_columns_that_share_ids_are_the_ends_and_that_is_said(tmp_path):
    path = written(tmp_path, payments(("nr", "am", "konto", "gegenkonto", "betrag")))
    with pytest.warns(IsothermWarning, match="edges run from 'konto' to 'gegenkonto'"):
        assert set(read_graph(path).names) == set(ACCOUNTS)


def test_where_it_is_not_clear_columns_are_listed_with_what_they_hold(tmp_path):
    rows = [f"{k}.10.2025;A{k % 4};N{k % 2};A{k % 3};N{k % 3}\n" for k in range(10, 20)]
    path = written(tmp_path, "day;konto;name;konto2;name2\n" + "".join(rows))
    with pytest.raises(GraphError) as found:
        read_graph(path)
    said = str(found.value)
    assert "5 columns, and it is not clear which two" in said
    assert "--source and --target (source=, target=)" in said
    assert "  'day' (dates): '10.10.2025', '11.10.2025', '12.10.2025'" in said
    assert "  'konto': 'A2', 'A3', 'A0'" in said


@pytest.mark.parametrize("bad", ["2025-10-{:02d}", "1{}.10.2025 08:00", "{}.75", "${},300.00"])
def test_dates_and_amounts_are_no_ids_even_of_two_columns(tmp_path, bad):
    rows = "".join(f'"{bad.format(k)}";x{k % 2}\n' for k in range(1, 9))
    path = written(tmp_path, "when;who\n" + rows)
    with pytest.raises(GraphError, match="not clear which two hold the ends"):
        read_graph(path)
    assert read_graph(path, source="when", target="who").n_edges == 8


def test_row_numbers_are_no_ids_and_nodes_in_order_are(tmp_path):
    rows = "".join(f"{k} {a} {b}\n" for k, (a, b) in enumerate(["ab", "bc", "ca", "ad"]))
    with pytest.warns(IsothermWarning, match="from '2' to '3'"):
        assert set(read_graph(written(tmp_path, rows)).names) == set("abcd")
    path = "".join(f"{k} {k + 1} 0.5\n" for k in range(9))
    assert read_graph(written(tmp_path, path)).degrees.tolist() == [0.5, *[1.0] * 8, 0.5]


def test_three_columns_of_numbers_may_be_a_row_number_and_two_ends(tmp_path):
    path = written(tmp_path, "1 17 5\n2 5 9\n3 9 17\n4 5 17\n", "e.txt")
    with pytest.raises(GraphError, match="not clear which two"):
        read_graph(path)
    assert read_graph(path, source=2, target=3).n_edges == 3
    assert read_graph(path, source=1, target=2, weight=3).degrees.sum() == 2 * 48


def test_an_estimate_says_what_it_took_for_the_ends(tmp_path):
    path = written(tmp_path, payments(("nr", "am", "konto", "gegenkonto", "betrag")))
    with pytest.warns(IsothermWarning, match="from 'konto' to 'gegenkonto'"):
        assert count_edges(str(path), {}, TextOptions()).nodes == 4


def test_a_named_pair_with_rivals_is_asked_about(tmp_path):
    rows = "".join(f"B{k % 2},A{k % 5},B{k % 3},A{k % 7},USD,USD\n" for k in range(20))
    header = "From Bank,Account,To Bank,Account.1,Payment Currency,Receiving Currency\n"
    with pytest.raises(GraphError, match="not clear which two"):
        read_graph(written(tmp_path, header + rows))


def test_numbered_nodes_in_the_first_line_are_no_header(tmp_path):
    assert read_graph(written(tmp_path, "user1,user2\nuser2,user3\n")).n_nodes == 3
    assert read_graph(written(tmp_path, "node_a,node_b\nnode_b,node_c\n")).n_nodes == 3
    assert read_graph(written(tmp_path, "Sender No.,Receiver No.\nx,y\ny,z\n")).n_nodes == 3


def test_a_first_line_that_tells_the_separator_is_no_row(tmp_path):
    path = written(tmp_path, "sep=;\nvon;nach;betrag\na;b;1,5\nb;c;2,5\n")
    assert read_graph(path, weight="betrag", decimal=",").degrees.tolist() == [1.5, 4.0, 2.5]


def test_an_index_without_a_name_is_a_row_number(tmp_path):
    path = written(tmp_path, ",x,y\n0,a,b\n1,b,c\n2,c,d\n")
    with pytest.warns(IsothermWarning, match="from 'x' to 'y'"):
        assert read_graph(path).n_edges == 3


def test_times_in_seconds_are_no_weights(tmp_path):
    rows = "".join(f"{k} {k + 1} {1_217_567_877 + 5 * k}\n" for k in range(9))
    with pytest.warns(IsothermWarning, match="without weights; not used: '3'"):
        assert read_graph(written(tmp_path, rows)).degrees.max() == 2
    with pytest.warns(IsothermWarning, match="without weights; not used: '3'"):
        assert read_graph(written(tmp_path, rows), source=1).degrees.max() == 2


def test_tables_of_typed_columns_are_chosen_from_alike(tmp_path):
    columns = dict(
        zip(("no", "day", "one", "other", "sum"), zip(*PAYMENTS, strict=True), strict=True)
    )
    pq.write_table(pa.table({key: list(cells) for key, cells in columns.items()}), tmp_path / "p")
    with pytest.warns(IsothermWarning, match="from 'one' to 'other'"):
        assert set(read_graph(tmp_path / "p").names) == set(ACCOUNTS)


def test_nodes_of_labels_are_in_the_column_with_ids_of_the_graph(tmp_path):
    graph = read_graph(written(tmp_path, "0017,0004\n0004,0023\n"))
    rows = "".join(
        f"{k},Ann,{a},{v}\n" for k, (a, v) in enumerate([("0017", "bad"), ("0023", "ok")])
    )
    known = written(tmp_path, "case,name,account,verdict\n" + rows, "known.csv")
    with pytest.warns(
        IsothermWarning, match="labels are read from 'verdict', nodes from 'account'"
    ):
        assert read_labels(known, graph, label="verdict") == {"0017": "bad", "0023": "ok"}
    with pytest.raises(
        LabelError, match=r"not clear which one holds the labels(.|\n)*'verdict': 'bad'"
    ):
        read_labels(known, graph)


def test_what_was_chosen_is_one_line_on_stderr(tmp_path):
    written(tmp_path, payments(("txn", "date", "sender", "receiver", "amount")))
    written(tmp_path, "account,class\n0017,bad\n0023,ok\n", "known.csv")
    run = CliRun(tmp_path)
    result = run("classify", "edges.csv", "known.csv", "-o", "out.csv", "--report", "page.html")
    notes = [line for line in result.stderr.splitlines() if line.startswith("note:")]
    assert len(notes) == 1
    assert "edges.csv: edges run from 'sender' to 'receiver'" in notes[0]
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "edges run from &#39;sender&#39; to &#39;receiver&#39;" in page
    assert "note:" not in run("classify", "edges.csv", "known.csv", "-o", "2.csv", "-q").stderr


# --- rows left out --------------------------------------------------------------------------------


def test_rows_left_out_are_counted_by_their_reason(tmp_path):
    rows = ["a,b,1", "b,c,$", "b,c,?", "c,d,-2", "c,,1", "c,a,2"]
    path = written(tmp_path, "source,target,weight\n" + "\n".join(rows))
    with pytest.warns(IsothermWarning) as said:
        read_graph(path, on_error="skip")
    text = str(said[0].message)
    assert "4 malformed rows were left out: a weight must be a number (2); " in text
    assert "a weight must be ≥ 0 (1)" in text
    assert "an empty cell (1)" in text
    assert "line 3: a weight must be a number, got '$'" in text


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_where_no_row_is_left_the_error_says_why(tmp_path, kind):
    path = tmp_path / f"edges.{kind}"
    if kind == "csv":
        path.write_text("source;target;weight\n" + "a;b;12,50\n" * 40)
    else:
        pq.write_table(
            pa.table({"source": ["a"] * 40, "target": ["b"] * 40, "weight": ["12,50"] * 40}), path
        )
    with pytest.raises(
        GraphError, match=r"no edges left: 40 malformed rows .*must be a number \(40\)"
    ):
        read_graph(path, on_error="skip")
    assert read_graph(path, decimal=",").degrees.tolist() == [500.0, 500.0]


# --- numbers --------------------------------------------------------------------------------------

AS_WRITTEN = [
    (".", None, "12", 12), (".", None, "1e-3", 0.001), (".", None, "$1,234.50", 1234.5),
    (".", None, "1 234.5 USD", 1234.5), (".", None, "1'234", 1234), (".", None, "€ 7.5", 7.5),
    (",", None, "12,5", 12.5), (",", None, "1.234,50 €", 1234.5), (",", None, "1.234", 1234),
    (",", None, "EUR 1\u00a0234,5", 1234.5), (".", ",", "1,234", 1234),
    (",", " ", "1 234,5", 1234.5),
]  # fmt: skip
NO_NUMBERS = [
    (".", None, "1,234"), (".", None, "12,5"), (",", None, "1.5"), (".", None, "1,23.5"),
    (".", None, "(5.00)"), (".", None, "five"), (".", None, "1_000"), (".", None, ""),
    (".", None, "nan"), (".", None, "inf"), (",", " ", "1.234"), (".", ",", "1,23"),
    (".", None, "$"),
]  # fmt: skip


@pytest.mark.parametrize(("decimal", "thousands", "text", "value"), AS_WRITTEN)
def test_numbers_are_read_as_people_write_them(decimal, thousands, text, value):
    parser = NumberParser(NumberOptions(decimal, thousands))
    assert parser.parse_one(text) == value
    assert parser.parse(pa.array([text])).tolist() == [value]


@pytest.mark.parametrize(("decimal", "thousands", "text"), NO_NUMBERS)
def test_what_is_no_number_or_could_be_two_is_refused(decimal, thousands, text):
    parser = NumberParser(NumberOptions(decimal, thousands))
    assert np.isnan(parser.parse(pa.array([text]))).all()
    with pytest.raises(ValueError, match="a weight must be a number, got"):
        parser.parse_one(text)


def test_a_cell_of_many_blanks_takes_no_time():
    with pytest.raises(ValueError, match="must be a number"):
        NumberParser(NumberOptions()).parse_one("1" + " " * 200_000 + "1")


def test_a_number_that_could_be_two_says_how_to_tell(tmp_path):
    path = written(tmp_path, 'source,target,weight\na,b,"1,234"\n')
    said = r"got '1,234' \(with --decimal , it is 1.234, with --thousands , it is 1234\)"
    with pytest.raises(GraphError, match=said):
        read_graph(path)
    assert read_graph(path, thousands=",").degrees.tolist() == [1234, 1234]
    assert read_graph(path, decimal=",").degrees.tolist() == [1.234, 1.234]


def test_two_currencies_are_not_added_up(tmp_path):
    path = written(tmp_path, "source;target;weight\na;b;$5\nb;c;5 €\n")
    with pytest.raises(GraphError, match="more than one currency, '\\$' and '€'"):
        read_graph(path)
    _, report = load_graph(written(tmp_path, "source;target;weight\na;b;$5\nb;c;5\n"))
    assert report.hints == [f"{tmp_path / 'edges.csv'}: weights are in '$'"]


@pytest.mark.parametrize("given", [{"decimal": ";"}, {"thousands": "x"}, {"thousands": "."}])
def test_marks_of_numbers_that_there_are_not_are_refused(tmp_path, given):
    with pytest.raises(ParameterError):
        read_graph(written(tmp_path, "a,b\n"), **given)


def test_decimals_of_databases_are_weights(tmp_path):
    weight = pa.array([1, 2], pa.decimal128(10, 2))
    pq.write_table(
        pa.table({"source": ["a", "b"], "target": ["b", "c"], "weight": weight}), tmp_path / "t"
    )
    assert read_graph(tmp_path / "t").degrees.tolist() == [1, 3, 2]


# --- ids ------------------------------------------------------------------------------------------


def test_ids_that_differ_by_case_blanks_or_zeros_are_counted_and_matched_if_asked_for(tmp_path):
    graph = read_graph(written(tmp_path, "0017,Ann Lee\nAnn Lee,x3\n"))
    known = written(tmp_path, "17,bad\nANN  LEE,ok\nX3,ok\nnobody,ok\n", "known.csv")
    said = (
        "3 of them differ only by case, spaces, leading zeros .*'17' here and '0017' .*--ids norm"
    )
    with pytest.raises(UnknownNode, match=said):
        read_labels(known, graph)
    with pytest.warns(IsothermWarning, match="1 of 4 labels are for nodes .* 'nobody'"):
        found = read_labels(known, graph, ids="normalised")
    assert found == {"0017": "bad", "Ann Lee": "ok", "x3": "ok"}


def test_normalised_ids_are_one_node_named_as_it_first_was(tmp_path):
    path = written(tmp_path, "source,target,weight\nAnn,bob,1\nann ,Bob,2\n007,7,1\nBOB,007,4\n")
    with pytest.warns(
        IsothermWarning, match="4 ids were merged with another that differs only by case"
    ):
        graph = read_graph(path, ids="normalised")
    assert graph.names.tolist() == ["Ann", "007", "BOB"]
    assert graph.degrees.tolist() == [3, 5, 7]
    with pytest.raises(ParameterError, match="unknown ids 'fuzzy'"):
        read_graph(path, ids="fuzzy")


def test_an_id_that_could_be_two_nodes_is_none_of_them(tmp_path):
    graph = read_graph(written(tmp_path, "7,07\n07,x\n"))
    known = written(tmp_path, "007,a\n7,b\nX,c\n", "known.csv")
    with pytest.warns(IsothermWarning, match="'007'"):
        assert read_labels(known, graph, ids="normalised") == {"7": "b", "x": "c"}


# --- labels ---------------------------------------------------------------------------------------


@pytest.fixture
def triangle(tmp_path):
    return read_graph(written(tmp_path, "a,b\nb,c\nc,d\nd,a\n"))


def test_labels_that_differ_by_case_are_said_and_merged_if_asked_for(tmp_path, triangle):
    known = written(tmp_path, "node,label\na,Fraud\nb,fraud\nc,Fraud\nd,ok\n", "known.csv")
    with pytest.warns(IsothermWarning, match="separate classes: 'Fraud', 'fraud' .*--merge-case"):
        assert read_labels(known, triangle)["b"] == "fraud"
    with pytest.warns(IsothermWarning, match="merged: 'Fraud', 'fraud'"):
        merged = read_labels(known, triangle, merge_case=True)
    assert merged == {"a": "Fraud", "b": "Fraud", "c": "Fraud", "d": "ok"}


@pytest.mark.parametrize("word", ["N/A", "unknown", "?", "-", "NULL", "nan"])
def test_placeholders_mean_that_a_label_is_not_known(tmp_path, triangle, word):
    known = written(tmp_path, f"node,label\na,x\nb,{word}\n", "known.csv")
    with pytest.warns(IsothermWarning, match="1 node.* treated as unknown; --keep-placeholders"):
        assert read_labels(known, triangle) == {"a": "x"}
    assert read_labels(known, triangle, keep_placeholders=True) == {"a": "x", "b": word}
    only = written(tmp_path, f"node,label\na,{word}\n", "known.csv")
    with pytest.raises(LabelError, match="There is no other label"):
        read_labels(only, triangle)


def test_two_labels_of_a_node_are_said_with_their_rows_and_a_way_out(tmp_path, triangle):
    known = written(tmp_path, "node,label\na,x\nb,y\na,y\nc,y\n", "known.csv")
    with pytest.raises(LabelError, match=r"node 'a' .*rows 1 and 3.*Correct.*--on-error skip"):
        read_labels(known, triangle)
    with pytest.warns(IsothermWarning, match=r"2 malformed rows .*two labels \(2\)"):
        assert read_labels(known, triangle, on_error="skip") == {"b": "y", "c": "y"}


def test_an_attribute_that_names_nodes_is_not_taken_for_a_class(tmp_path):
    nodes = "".join(
        f'<node id="n{k}"><data key="l">Person {k}</data><data key="s">{"ab"[k % 2]}</data></node>'
        for k in range(30)
    )
    path = written(
        tmp_path,
        '<graphml><key id="l" attr.name="label" for="node"/>'
        '<key id="s" attr.name="status" for="node"/>'
        f'<graph edgedefault="undirected">{nodes}<edge source="n0" target="n1"/></graph></graphml>',
        "g.graphml",
    )
    graph = read_graph(path)
    with pytest.raises(LabelError, match=r"which attribute .* 'label', 'status'"):
        read_labels(path, graph)
    assert set(read_labels(path, graph, label="status").values()) == {"a", "b"}


def test_remarks_of_several_kinds_at_the_top_are_no_rows(tmp_path):
    text = "# exported\n# rows: 2\n// internal use\n\nsender receiver amount\na b 1.5\nb c 2.5\n"
    for comment in (None, "//", "#"):
        assert read_graph(written(tmp_path, text, "e.txt"), comment=comment).n_edges == 2


# --- two kinds of nodes ---------------------------------------------------------------------------


def shops(folder):
    rng = np.random.default_rng(0)
    rows = [f"{k % 40 + 1},{rng.integers(1, 9)}\n" for k in range(200)]
    return written(folder, "customer,shop\n" + "".join(rows))


def test_two_kinds_of_nodes_keep_their_own_ids(tmp_path):
    graph = read_graph(shops(tmp_path), bipartite=True)
    assert graph.n_nodes == 48
    assert graph.sides == ("customer", "shop")
    assert {"customer:7", "shop:7"} <= set(graph.names)
    known = written(tmp_path, "customer,class\n7,bad\n8,ok\n", "known.csv")
    assert read_labels(known, graph) == {"customer:7": "bad", "customer:8": "ok"}
    known = written(tmp_path, "node,class\nshop:7,bad\n33,ok\n", "known.csv")
    assert read_labels(known, graph) == {"shop:7": "bad", "customer:33": "ok"}
    known = written(tmp_path, "node,class\n7,bad\n8,ok\n", "known.csv")
    with pytest.raises(LabelError, match=r"'7' are on both sides .*Name their column 'customer'"):
        read_labels(known, graph)


def test_two_series_of_numbers_are_pointed_out_and_one_is_not(tmp_path):
    with pytest.warns(
        IsothermWarning, match="look like two separate series of numbers.* --bipartite"
    ):
        read_graph(shops(tmp_path))
    ring = "".join(f"{k},{(k + 1) % 40}\n" for k in range(40))
    assert read_graph(written(tmp_path, ring)).n_nodes == 40


def test_columns_without_an_id_in_common_get_a_hint(tmp_path):
    rows = "".join(f"c{k % 9},s{k % 7}\n" for k in range(60))
    _, report = load_graph(written(tmp_path, "source,target\n" + rows))
    assert "have no id in common" in report.hints[0]
    assert "--bipartite" in report.hints[0]


def test_a_bipartite_graph_from_columns_is_the_one_of_the_file(tmp_path):
    frame = pd.read_csv(shops(tmp_path))
    graph = Graph.from_edges(frame["customer"], frame["shop"], bipartite=True)
    other = read_graph(tmp_path / "edges.csv", bipartite=True)
    assert graph.sides == other.sides
    assert sorted(graph.names) == sorted(other.names)
    order = other.positions(graph.names)
    assert (graph.adjacency != other.adjacency[order][:, order]).nnz == 0
    weighted = Graph.from_edges([1, 1], [1, 2], [0.0, 3.0], bipartite=True)
    assert weighted.degrees.tolist() == [3, 0, 3]
    with pytest.raises(GraphError, match="nodes= and bipartite=True do not go together"):
        Graph.from_edges([1], [2], nodes=[1, 2], bipartite=True)


def test_a_biadjacency_frame_keeps_its_names():
    frame = pd.DataFrame([[1, 0], [2, 1]], index=["ann", "bob"], columns=["tea", "milk"])
    graph = Graph.from_biadjacency(frame)
    assert graph.names.tolist() == ["ann", "bob", "tea", "milk"]
    assert graph.degrees.tolist() == [1, 3, 3, 1]
    same = pd.DataFrame([[1]], index=pd.Index(["7"], name="customer"), columns=["7"])
    assert Graph.from_biadjacency(same).names.tolist() == ["customer:7", "column:7"]
    assert Graph.from_biadjacency(pd.DataFrame([[1, 2]])).names.tolist() == [0, 1, 2]


def test_bipartite_is_for_tables(tmp_path):
    path = written(
        tmp_path, "graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 ] ]", "g.gml"
    )
    with pytest.raises(ParameterError, match=r"--bipartite \(bipartite=True\) is for tables"):
        read_graph(path, bipartite=True)


@pytest.mark.parametrize(
    "text",
    [
        "<graphml><graph edgedefault='directed'><node id='a'/></graph></graphml>",
        "graph [ directed 1 node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 ] ]",
    ],
)
def test_a_file_of_a_directed_graph_says_that_directions_are_lost(tmp_path, text):
    with pytest.warns(IsothermWarning, match="direction of edges is ignored"):
        read_graph(written(tmp_path, text, "g"))


def test_labels_may_be_loaded_with_all_options_at_once(tmp_path, triangle):
    known = written(tmp_path, 'node,label,sure\nA,X,1\nb,x,"0,5"\nb,y,"0,25"\nC,?,1\n', "known.csv")
    options = TextOptions(
        numbers=NumberOptions(","), ids="normalised", merge_case=True, on_error="skip"
    )
    labels, report = load_labels(known, triangle, {"confidence": "sure"}, options)
    assert labels == {"a": "X", "b": "X"}
    assert report.confidence == {"a": 1.0, "b": 0.5}
