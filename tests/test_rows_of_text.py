"""Rows of text files end where RFC 4180 has them end, wherever a block or a piece begins."""

import csv
import io

import numpy as np
import pytest

from isotherm import FileError, GraphError, IsothermWarning, read_graph, read_labels
from isotherm.read import source as source_module
from isotherm.read import text_table as text_module
from isotherm.read.layout import find_layout
from isotherm.read.load import gather_labels, load_graph
from isotherm.read.options import TextOptions
from isotherm.read.row_splitter import RowSplitter
from isotherm.read.source import open_file
from isotherm.read.text_table import TextTable

pytestmark = pytest.mark.hostile


def written(folder, text, name="edges.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def edges_of(graph):
    names, part = graph.names.tolist(), graph.adjacency.tocoo()
    pairs = zip(part.row.tolist(), part.col.tolist(), strict=True)
    return {frozenset((names[i], names[j])) for i, j in pairs}


def pairs(*texts):
    return {frozenset(text.split("-")) for text in texts}


@pytest.fixture(params=[1 << 22, 16])
def block(request, monkeypatch):
    """Bytes that are read at once: also so few that most cells lie across two blocks."""
    monkeypatch.setattr(text_module, "BLOCK", request.param)
    if request.param < 100:
        monkeypatch.setattr(source_module, "HEAD", 40)
    return request.param


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("on_error", ["raise", "skip"])
@pytest.mark.usefixtures("block")
def test_a_line_break_in_a_cell_plants_no_edge_and_no_label(tmp_path, end, line_break, on_error):
    note = line_break.join(['"one', "evil,edge,planted", 'two ""quoted"" words"'])
    rows = ["source,target,note", f"a,b,{note}", f"{note},c,x", 'c,d,"y"', ""]
    graph = read_graph(written(tmp_path, end.join(rows)), on_error=on_error)
    cell = note[1:-1].replace('""', '"')
    assert edges_of(graph) == {frozenset("ab"), frozenset((cell, "c")), frozenset("cd")}
    rows = ["node,label,note", f"a,x,{note}", "c,y,z", ""]
    known = read_labels(written(tmp_path, end.join(rows), "labels.csv"), graph, on_error=on_error)
    assert known == {"a": "x", "c": "y"}


@pytest.mark.parametrize("distance", [0, 7, 30])
def test_a_cell_across_the_border_of_a_block_is_one_cell(tmp_path, distance):
    lead, cell = b"source,target,note\n", b'a,b,"note\n'
    filler = b"c,d,e\n" * ((text_module.BLOCK - distance - len(lead) - len(cell)) // 6 - 2)
    lead += filler
    rest = text_module.BLOCK - distance - len(lead) - len(cell)
    lead += b"c,d," + b"e" * (rest - 5) + b"\n"
    planted = b'evil,edge,planted and much more than that"\nf,g,h\n'
    path = written(tmp_path, lead + cell + planted)
    assert edges_of(read_graph(path)) == pairs("a-b", "c-d", "f-g")


def test_a_line_break_in_a_heading_is_part_of_a_name(tmp_path):
    path = written(tmp_path, 'source,target,"amount\n(EUR)"\na,b,1\nb,c,2\n')
    graph = read_graph(path, weight="amount\n(EUR)")
    assert graph.degrees.tolist() == [1, 3, 2]
    path = written(tmp_path, '"source\naccount",target,weight\na,b,1\nb,c\n')
    with pytest.raises(GraphError, match="line 4: 2 column"):
        read_graph(path)


@pytest.mark.parametrize("text", [
    'source,target\na,b\nb,"c\nc,d\nd,e\n',
    'source,target,note\na,b,x\nb,c,"12 inch\nc,d,y\nd,e,z\n',
])  # fmt: skip
@pytest.mark.parametrize("on_error", ["raise", "skip"])
@pytest.mark.usefixtures("block")
def test_a_quotation_mark_never_closed_is_refused_with_its_line(tmp_path, text, on_error):
    with pytest.raises(GraphError, match="line 3: cannot be split: a quotation mark") as found:
        read_graph(written(tmp_path, text), on_error=on_error)
    assert "skip" not in str(found.value)  # which would plant the lines that follow


def test_a_quotation_mark_never_closed_is_refused_early(tmp_path, monkeypatch):
    monkeypatch.setattr(text_module, "LONGEST_LINE", 1 << 20)
    path = written(tmp_path, 'source,target\na,b\nb,"c\n' + "c,d\n" * (1 << 21))
    with pytest.raises(GraphError, match="line 3: cannot be split: a quotation mark"):
        read_graph(path)


def test_rows_at_fault_are_passed_over_whole(tmp_path):
    text = 'source,target,note\na,b,x\nb,"c\nevil,edge,planted\n"\nc,d,y\n'
    with pytest.raises(GraphError, match="line 3: 2 column"):
        read_graph(written(tmp_path, text))
    with pytest.warns(IsothermWarning, match="1 malformed row was left out"):
        graph = read_graph(written(tmp_path, text), on_error="skip")
    assert edges_of(graph) == pairs("a-b", "c-d")


def test_line_breaks_in_cells_are_noted(tmp_path):
    path = written(tmp_path, 'source,target,note\na,b,"x\ny"\nb,c,z\n')
    _, report = load_graph(path)
    assert any("line breaks" in hint for hint in report.hints)


@pytest.mark.parametrize("seed", range(6))
def test_rows_are_those_of_the_csv_module(tmp_path, monkeypatch, seed):
    rng = np.random.default_rng(seed)
    cells = ["a", "b", "ü", 'x"y', '""', '"', "p,q", "u\nv", "w\r\nz", "", "k" * 30, 'n"\n,"m']
    cells += ["q\n", "\r\nr", " s", "t\xa0", "\u2003u", "v\t"]
    for trial in range(40):
        rows = [[f"i{k}", *rng.choice(cells, 2).tolist()] for k in range(rng.integers(3, 30))]
        out = io.StringIO(newline="")
        quoting = csv.QUOTE_ALL if trial % 3 == 0 else csv.QUOTE_MINIMAL
        end = "\r\n" if trial % 2 else "\n"
        csv.writer(out, quoting=quoting, lineterminator=end).writerows(
            [["node", "note", "label"], *rows]
        )
        text = out.getvalue()
        if trial % 5 == 0:  # marks within a cell that has none around it are letters
            text += f'j"1,5" long,a{end}'
            rows.append(['j"1', '5" long', "a"])
        monkeypatch.setattr(text_module, "BLOCK", int(rng.integers(8, 200)))
        monkeypatch.setattr(source_module, "HEAD", int(rng.integers(60, 200)))
        labels, _ = gather_labels(
            written(tmp_path, text), {"node": "node", "label": "label"}, TextOptions(delimiter=",")
        )
        found = labels._rows(_)
        known = [(row[0], row[2].strip()) for row in rows if row[2].strip()]
        assert list(zip(found.nodes.to_pylist(), found.labels.to_pylist(), strict=True)) == known


@pytest.mark.filterwarnings("ignore::isotherm.IsothermWarning")  # of the row at fault
@pytest.mark.parametrize("blank", [chr(k) for k in range(0x3001) if chr(k).isspace()], ids=ascii)
def test_white_space_around_a_cell_does_not_count_whatever_else_is_in_its_block(
    tmp_path, monkeypatch, blank
):
    """One node, be its row beside others with blanks or marks, beside a fault, or alone."""
    monkeypatch.setattr(text_module, "BLOCK", 64)
    cell = f'"x{blank}"'
    beside = ["c,d,e\n", "c,d,two words\n", 'c,d,"e"\n', 'c,d,"e\nf"\n', "c,d\n"]
    text = "source,target,note\n" + "".join(
        30 * "c,d,e\n" + f"{cell},s{k},n\n" + row + 30 * "c,d,e\n" for k, row in enumerate(beside)
    )
    graph = read_graph(written(tmp_path, text), on_error="skip", delimiter=",")
    ids = set(graph.names.tolist())
    assert ids == {"x", "c", "d", *(f"s{k}" for k in range(len(beside)))}


@pytest.mark.parametrize("seed", range(4))
def test_pieces_from_anywhere_have_no_row_that_the_file_has_not(tmp_path, seed):
    rng = np.random.default_rng(seed)
    rows = [[f"s{k}", f"t{k}", 'say "hi"\nevil,edge,planted\n'] for k in range(4000)]
    for k in rng.choice(len(rows), 2000, replace=False):
        rows[k][2] = "plain"
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows([["source", "target", "note"], *rows])
    path = written(tmp_path, out.getvalue())
    with open_file(str(path)) as source:
        table = TextTable(source, TextOptions())
        seen = list(table.pieces([0, 1], 40_000, 40))
    assert len(seen) > 30
    for batch, _ in seen:
        ends = zip(batch.first.to_pylist(), batch.second.to_pylist(), strict=True)
        assert all(one[0] == "s" and other == "t" + one[1:] for one, other in ends)
    assert 0.3 < seen[-1][1] * path.stat().st_size / 40_000 <= 1


def test_a_mark_of_utf8_in_the_middle_is_a_fault(tmp_path):
    text = "source,target\na,b\n\ufeffsource,target\nb,c\n"
    with pytest.raises(GraphError, match=r"line 3: a mark of UTF-8 \(BOM\), so two files"):
        read_graph(written(tmp_path, text))
    with pytest.warns(IsothermWarning, match="1 malformed row was left out"):
        graph = read_graph(written(tmp_path, text), on_error="skip")
    assert graph.names.tolist() == ["a", "b", "c"]
    within = written(tmp_path, "source,target\na,b\ufeffb\n")
    assert read_graph(within).names.tolist() == ["a", "b\ufeffb"]


@pytest.mark.parametrize("delimiter", [",", " "])
def test_a_nul_character_is_a_fault_wherever_it_stands(tmp_path, delimiter):
    near = written(tmp_path, "source,target\na,b\nc\0,d\n".replace(",", delimiter))
    with pytest.raises(FileError, match="neither text"):
        read_graph(near)
    rows = ["source,target", *["a,b"] * 100_000, "c\0x,d", ""]
    far = written(tmp_path, "\n".join(rows).replace(",", delimiter))
    with pytest.raises(GraphError, match="line 100002: a NUL character"):
        read_graph(far)


def test_a_comment_begins_outside_of_quotation_marks(tmp_path):
    text = '# "list\nsource,target\n"x # y",b # said "so"\nb,"c # d\n# e"\n# "all of it\n'
    graph = read_graph(written(tmp_path, text), comment="#")
    assert edges_of(graph) == {frozenset(("x # y", "b")), frozenset(("b", "c # d\n# e"))}


def test_where_blanks_delimit_a_quotation_mark_is_a_letter(tmp_path):
    path = written(tmp_path, '"a b\nb c"\nc" "d\n', "edges.txt")
    assert read_graph(path).names.tolist() == ['"a', "b", 'c"', '"d']


def test_the_first_row_is_skipped_with_all_of_its_lines():
    lines = ['"x\ny",b', "a,b"]
    assert find_layout(lines, "x", header=True).skipped == 2


def test_a_piece_that_does_not_tell_where_cells_end_is_left_out():
    splitter = RowSplitter(",")
    assert splitter.from_outside(b'of it",x\na,b\nc,"d"') == b',x\na,b\nc,"d"'
    assert splitter.from_outside(b'a","","\n') == b""


def test_part_files_keep_their_cells(tmp_path):
    for name in ("one", "two"):
        written(tmp_path, f'source,target,note\n{name},b,"x\nevil,edge,z"\n', f"{name}.csv")
    assert edges_of(read_graph(tmp_path)) == pairs("one-b", "two-b")
    written(tmp_path, 'source,target,note\nc,d,"x\nevil,edge,z\n', "zero.csv")
    with pytest.raises(GraphError, match=r"zero\.csv, line 2: cannot be split"):
        read_graph(tmp_path)
