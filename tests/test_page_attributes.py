"""What else is known of nodes, from a table in any format."""

import pytest

from isotherm import Graph
from isotherm.errors import FileError
from isotherm.page.attributes import LONGEST, MOST_COLUMNS, read_attributes

pytestmark = [pytest.mark.any_version, pytest.mark.core_free]

GRAPH = Graph.from_edges("abc", "bcd")
ROWS = [("b", "red", "<b>"), ("d", "", "x, y\nz"), ("z", "blue", "")]
KNOWN = {1: {"colour": "red", "note": "<b>"}, 3: {"note": "x, y\nz"}}
HEAD = ("id", "colour", "note")


def text(delimiter):
    rows = [HEAD, *ROWS]
    return "\n".join(delimiter.join(f'"{cell}"' for cell in row) for row in rows) + "\n"


@pytest.mark.parametrize(
    ("name", "data", "encoding"),
    [
        ("about.csv", text(",").encode(), "utf-8"),
        ("about.csv", text(";").encode("utf-8-sig"), "utf-8"),
        ("about.tsv", text("\t").encode(), "utf-8"),
        ("about.txt", text(",").replace("red", "größer").encode("latin-1"), "latin-1"),
        ("about.csv", text(",").encode("utf-16"), "utf-8"),
    ],
)
def test_text_is_read_whatever_its_delimiter_and_encoding(tmp_path, name, data, encoding):
    (tmp_path / name).write_bytes(data)
    found, report = read_attributes(str(tmp_path / name), GRAPH, encoding)
    colour = "größer" if encoding == "latin-1" else "red"
    assert found == KNOWN | {1: KNOWN[1] | {"colour": colour}}
    assert report.remarks() == []


@pytest.mark.parametrize("ending", ["parquet", "json"])
def test_tables_of_other_formats_are_read(tmp_path, ending):
    pd = pytest.importorskip("pandas")
    path = tmp_path / f"about.{ending}"
    frame = pd.DataFrame(ROWS, columns=HEAD)
    frame.to_parquet(path) if ending == "parquet" else frame.to_json(path, orient="records")
    assert read_attributes(str(path), GRAPH)[0] == KNOWN


def test_rows_that_cannot_be_read_are_left_out_and_said(tmp_path):
    path = tmp_path / "about.csv"
    path.write_text("id,colour,note\nb,red\n,green,\na,blue," + "long " * LONGEST + "\n")
    found, report = read_attributes(str(path), GRAPH)
    assert found == {0: {"colour": "blue", "note": ("long " * LONGEST)[:LONGEST]}}
    (told,) = report.remarks()
    assert "2" in told
    assert "about.csv" in told


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("about.csv", "id,colour\nx,red\n", "none of the ids in its first column, 'id', is a node"),
        ("about.csv", "id\na\nb\n", r"1 to 39 others, got 1 column\(s\)"),
        ("about.csv", ",".join(map(str, range(MOST_COLUMNS + 1))) + "\n", "got 41 column"),
        ("about.csv", "a\0b,c\n", "neither text nor in another format"),
        ("about.graphml", "<graphml/>", "is a GraphML file; what is known of nodes is read from"),
        ("missing.csv", None, "missing.csv"),
    ],
)
def test_what_is_no_table_of_nodes_is_refused(tmp_path, name, text, message):
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(FileError, match=message):
        read_attributes(str(tmp_path / name), GRAPH)
