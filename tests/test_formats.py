"""The table of formats: all that is known of a format is in its entry."""

import ast
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pyarrow as pa
import pytest

import isotherm
from isotherm import (
    DirichletClassifier,
    FileError,
    LabelError,
    ParameterError,
    read_graph,
    read_labels,
    write_predictions,
)
from isotherm.estimate import count_edges
from isotherm.read import formats
from isotherm.read.arrow_table import ArrowTable
from isotherm.read.formats import Format, Later, Output
from isotherm.read.options import TextOptions
from test_architecture import ORDER

ROOT = Path(isotherm.__file__).parent


# --- a format that isotherm does not have ---------------------------------------------------------


def open_stars(source, options, _):
    """The rows after a line of stars: ``a * b``."""

    def table():
        rows = [line.split(" * ") for line in source.whole().decode().splitlines()[1:]]
        return pa.table({"one": [row[0] for row in rows], "other": [row[1] for row in rows]})

    return ArrowTable(source, options, table)


def write_stars(file, batches):
    file.write(b"***\n")
    for batch in batches:
        for row in batch.to_pylist():
            file.write(f"{row['node']} * {row['label']}\n".encode())


STARS = Format(
    "Stars",
    recognised=formats.begins(b"***\n"),
    open_table=open_stars,
    outputs=(Output("Stars", (".stars",), write_stars),),
)


@pytest.fixture
def stars(monkeypatch):
    monkeypatch.setattr(formats, "FORMATS", [*formats.FORMATS, STARS])


def test_an_entry_is_all_that_a_new_format_needs(stars, tmp_path):  # noqa: ARG001
    edges, known, out = (tmp_path / name for name in ("edges", "known", "out.stars.gz"))
    edges.write_text("***\na * b\nb * c\nc * d\n")
    known.write_text("***\na * red\nd * blue\n")
    graph = read_graph(edges)
    assert (graph.names.tolist(), graph.n_edges) == (["a", "b", "c", "d"], 3)
    labels = read_labels(known, graph)
    assert labels == {"a": "red", "d": "blue"}
    write_predictions(DirichletClassifier().fit(graph, labels), out)
    assert read_labels(out, graph) == {"a": "red", "b": "red", "c": "blue", "d": "blue"}
    counts = count_edges(str(edges), {}, TextOptions())
    assert (counts.rows, counts.nodes, counts.exact) == (3, 4, True)
    assert formats.edge_formats().endswith("JSON or Stars")
    assert formats.label_formats().endswith("JSON or Stars")
    assert formats.output_formats().endswith("or Stars (.stars)")


def test_faults_of_a_new_format_are_said_as_those_of_any_other(stars, tmp_path):  # noqa: ARG001
    edges = tmp_path / "edges"
    edges.write_text("***\na * b\n * c\n")
    with pytest.raises(isotherm.GraphError, match="edges, row 2: an empty cell"):
        read_graph(edges)
    with pytest.warns(isotherm.IsothermWarning, match="1 malformed row was left out"):
        assert read_graph(edges, on_error="skip").n_edges == 1
    with pytest.raises(ParameterError, match="its columns are 'one', 'other'"):
        read_graph(edges, source="third")


def test_the_help_lists_a_new_format():
    code = (
        "import sys\n"
        "from isotherm.read import formats\n"
        "formats.FORMATS.append(formats.Format('Stars', formats.begins(b'***'), open))\n"
        "sys.argv = ['isotherm', 'classify', '--help']\n"
        "from isotherm.__main__ import main\n"
        "main()\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False,
        env=os.environ | {"COLUMNS": "300", "NO_COLOR": "1"},
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    words = " ".join(run.stdout.replace("│", " ").split())
    assert f"The graph: {formats.edge_formats().replace(' or ', ', ')} or Stars" in words


# --- the table -----------------------------------------------------------------------------------


def test_listing_formats_loads_no_heavy_library():
    code = (
        "from isotherm.read.formats import edge_formats, recognise\n"
        "edge_formats(), recognise(b'PAR1', '', 'x')\n"
        "import sys; print({'numpy', 'scipy', 'pyarrow', 'sklearn'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"


def test_every_function_that_the_table_names_is_there():
    named = [
        value
        for entry in formats.FORMATS
        for value in (
            entry.open_table,
            entry.read_graph,
            entry.read_labels,
            *(output.write for output in entry.outputs),
        )
        if isinstance(value, Later)
    ]
    assert len(named) > 10
    for later in named:
        home = later.module.split(".")[0]  # an import, too, and so of a module above
        assert ORDER.index(home) <= ORDER.index("read")
        assert callable(getattr(import_module(f"isotherm.{later.module}"), later.name))


def test_the_page_of_formats_has_them_all():
    page = (Path(__file__).parents[1] / "docs" / "formats.md").read_text(encoding="utf-8")
    for entry in formats.FORMATS:
        assert all(name in page for name in entry.names if entry.has_edges or entry.has_labels)
        assert all(f"`{output.endings[0]}`" in page for output in entry.outputs)


def test_each_name_and_ending_stands_for_one_format():
    outputs = [output for entry in formats.FORMATS for output in entry.outputs]
    for names in (
        [entry.name for entry in formats.FORMATS],
        [ending for output in outputs for ending in output.endings],
    ):
        assert len(set(names)) == len(names)


def test_no_other_module_asks_for_a_format_by_name():
    outputs = [output.name for entry in formats.FORMATS for output in entry.outputs]
    known = {entry.name for entry in formats.FORMATS} - {"text"} | set(outputs)
    for path in [
        *(ROOT / "read").rglob("*.py"),
        *(ROOT / "write").rglob("*.py"),
        ROOT / "estimate.py",
    ]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Compare):
                said = {leaf.value for leaf in ast.walk(node) if isinstance(leaf, ast.Constant)}
                assert not said & known, f"{path.name}, line {node.lineno}"


@pytest.mark.parametrize(
    ("head", "ending", "name"),
    [
        (b"a,b\n", ".csv", "text"),
        (b"a,b\n", ".parquet", "text"),
        (b"PAR1", ".csv", "Parquet"),
        (b"PAR1", ".p", "Parquet"),
        (b"\xef\xbb\xbf <?xml?><graphml/>", "", "GraphML"),
        (b"# by hand\nCreator x\nGraph [", "", "GML"),
        (b"graph,edge\n", "", "text"),
        (b' {"a": 1}', ".pkl", "JSON"),
        (b"%%MatrixMarket", "", "MatrixMarket"),
        (b"%%matrixmarket", "", "text"),
    ],
)
def test_a_format_is_recognised_by_the_first_bytes(head, ending, name):
    assert formats.recognise(head, ending, "x").name == name


@pytest.mark.parametrize(("head", "ending"), [(b"\x80\x04", ""), (b"abc", ".gpickle")])
def test_a_pickle_is_refused_by_its_bytes_and_by_its_name(head, ending):
    with pytest.raises(FileError, match="x is a pickle, which can run any program"):
        formats.recognise(head, ending, "x")


def test_a_format_without_labels_is_refused_with_those_that_have_some(tmp_path):
    path = tmp_path / "m.mtx"
    path.write_text("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n")
    graph = read_graph(path)
    with pytest.raises(LabelError, match=r"MatrixMarket file; labels are read from CSV, .* or"):
        read_labels(path, graph)


def test_a_symmetric_matrix_that_is_not_square_is_refused(tmp_path):
    path = tmp_path / "m.mtx"
    # SciPy's reader writes beyond its memory here; see docs/dependencies.md.
    path.write_text("%%MatrixMarket matrix array real symmetric\n1 1000\n" + 1000 * "1\n")
    with pytest.raises(isotherm.FileError, match="has all numbers of a matrix"):
        read_graph(path)
    path.write_text("%%MatrixMarket matrix coordinate real symmetric\n1 1000 1\n1 1 1\n")
    with pytest.raises(isotherm.GraphError, match="must be square, got 1 × 1000"):
        read_graph(path)
