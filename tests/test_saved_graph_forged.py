"""Saved graphs that `Graph.save` would not write, with checksums that match: refused in words."""

import numpy as np
import pytest

from isotherm import DirichletClassifier, Graph
from isotherm.compiled import core
from isotherm.errors import FileError
from isotherm.graph.saved import lookup, mapped, names, open_graph
from isotherm.graph.saved.check import check_file
from isotherm.graph.saved.lookup import make_lookup, slow_lookup
from isotherm.graph.saved.writer import GraphWriter

needs_core = pytest.mark.skipif(core is None, reason="the compiled core is not there")
pytestmark = pytest.mark.hostile
ALL = 2**64 - 1
STEPS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1))  # of SplitMix64


@pytest.fixture(params=["with", "without"])
def with_or_without_core(request, monkeypatch):
    if request.param == "without":
        for module in (lookup, mapped, names):
            monkeypatch.setattr(module, "core", None)
    return request.param


def write(path, rows, *, n_loops=0, **parts):
    """A file of these rows, and of parts of which names are one kind."""
    path.unlink(missing_ok=True)
    with path.open("wb") as file:
        writer = GraphWriter(file)
        for name in ("start", "ends", "weights"):
            if getattr(rows, name) is not None:
                writer.put_array(name.replace("start", "starts"), getattr(rows, name))
        for name, values in ({"degrees": rows.sums()} | parts).items():
            writer.put_array(name, np.asarray(values))
        writer._names = (
            "texts"
            if "name_bytes" in parts
            else "numbers"
            if "name_numbers" in parts
            else "positions"
        )
        if "lookup" in parts:
            starts = parts.get("name_starts")
            data = parts["name_numbers"] if starts is None else parts["name_bytes"]
            writer._key = slow_lookup(starts, data.view(np.uint8))[0]
        writer.finish(n_loops)
    return path


def refused(path, reason):
    with pytest.raises(FileError, match=reason):
        check_file(path)
    graph = open_graph(path)
    with pytest.raises(FileError, match=reason):
        DirichletClassifier().fit(
            graph, dict(zip(graph.names[[0, -1]].tolist(), "ab", strict=True))
        )


def texts(*words):
    data = [word if isinstance(word, bytes) else word.encode() for word in words]
    starts = np.cumsum([0, *map(len, data)])
    return {"name_starts": starts, "name_bytes": np.frombuffer(b"".join(data), np.uint8)}


PATH = Graph.from_edges(range(7), range(1, 8)).rows


def mixed(z):
    for shift, factor in STEPS:
        z = (z ^ (z >> shift)) * factor & ALL
    return z


def unmixed(z):
    for shift, factor in reversed(STEPS):
        z = z * pow(factor, -1, 2**64) & ALL
        z ^= z >> shift ^ z >> 2 * shift
    return z


def one_way(rng, n=300, n_hubs=30):
    """A path with hubs whose entries lead to all of it, and none of which lead back.

    One weight is solved for, so that marks of all entries without a key add up to 0.
    """
    path = Graph.from_edges(range(n - n_hubs - 1), range(1, n - n_hubs), nodes=range(n)).adjacency
    dense = path.toarray()
    dense[n - n_hubs :, : n - n_hubs] = 1 + rng.random((n_hubs, n - n_hubs))
    base = [
        [mixed((j << 32 | i) + 0x9E3779B97F4A7C15 & ALL) for j in range(n - n_hubs)]
        for i in range(n - n_hubs, n)
    ]
    bits = dense[n - n_hubs :, : n - n_hubs].view(np.uint64).tolist()
    marks = [
        [mixed(b + w & ALL) for b, w in zip(*row, strict=True)]
        for row in zip(base, bits, strict=True)
    ]
    total = sum(map(sum, marks))
    for i in range(n_hubs):  # the first entry whose weight may be solved for
        for j in range(n - n_hubs):
            wanted = unmixed(marks[i][j] - total & ALL) - base[i][j] & ALL
            weight = float(np.uint64(wanted).view(np.float64))
            if 1e-30 < weight < 1e30:
                dense[n - n_hubs + i, j] = weight
                i, j = np.nonzero(dense)
                start = np.searchsorted(i, np.arange(n + 1)).astype(np.int64)
                return type(PATH)(start, j.astype(np.int32), dense[i, j])
    raise AssertionError("none of them")


def test_a_matrix_that_is_not_symmetric_is_refused_though_its_marks_without_a_key_say_so(
    tmp_path, rng
):
    """The core relied on symmetry: such files, which --check called sound, ended the process."""
    path = write(tmp_path / "forged.iso", one_way(rng))
    with pytest.raises(FileError, match="in one direction only"):
        check_file(path)
    with pytest.raises(FileError, match="in one direction only"):
        DirichletClassifier().fit(open_graph(path), {k: k % 2 for k in range(270, 300)})


@pytest.mark.usefixtures("with_or_without_core")
@pytest.mark.parametrize(
    "parts",
    [
        texts(*"aabcdefg"),
        texts(*"abcdefga"),
        texts("", "", *"abcdef"),
        {"name_numbers": np.array([5, 5, 0, 1, 2, 3, 4, 7])},
    ],
)
def test_names_that_are_there_twice_are_refused(tmp_path, parts):
    path = write(tmp_path / "forged.iso", PATH, **parts)
    refused(path, "1 names of nodes occur more than once")
    data = next(reversed(parts.values()))
    slots = slow_lookup(parts.get("name_starts"), data.view(np.uint8))[1]
    refused(write(path, PATH, **parts, lookup=slots), "1 names of nodes occur more than once")


@pytest.mark.usefixtures("with_or_without_core")
def test_a_wrong_number_of_self_loops_is_refused(tmp_path):
    refused(write(tmp_path / "forged.iso", PATH, n_loops=3), "number of self loops")


@pytest.mark.usefixtures("with_or_without_core")
@pytest.mark.parametrize(
    "text", [b'{"a": 1}', b'{"a": 1, "b": 2}', b'"ab"', b"[1, 2]", b'["a"]', b"", b"[" * 9999]
)
def test_sides_that_are_no_pair_are_refused(tmp_path, text):
    path = write(tmp_path / "forged.iso", PATH, sides=np.frombuffer(text, np.uint8))
    for use in (check_file, open_graph):
        with pytest.raises(FileError, match="its sides"):
            use(path)


@pytest.mark.usefixtures("with_or_without_core")
@pytest.mark.parametrize("words", [[b"\xff\xfe", *"bcdefgh"], [b"\xc3", b"\xa9", *"cdefgh"]])
def test_names_that_are_no_texts_are_refused(tmp_path, words):
    refused(write(tmp_path / "forged.iso", PATH, **texts(*words)), "its names")


@pytest.mark.parametrize(
    "slots", [[2**31 - 1] * 16, [-5] * 16, [1] * 16, [1, 2, 3], [0] * 16, [*range(1, 9), *[0] * 8]]
)
def test_a_table_of_names_that_does_not_fit_is_refused(tmp_path, slots, with_or_without_core):
    parts = texts(*"abcdefgh") | {"lookup": np.array(slots, np.int32)}
    path = write(tmp_path / "forged.iso", PATH, **parts)
    with pytest.raises(FileError, match="the table of names does not match"):
        check_file(path)
    if core is not None and with_or_without_core == "with":
        with pytest.raises(FileError, match="the table of names does not match"):
            open_graph(path).positions(["c"])
    else:
        assert open_graph(path).positions(["c"]).tolist() == [2]  # without the table


@needs_core
@pytest.mark.parametrize("n", [1, 7, 500])
def test_a_table_is_the_same_without_the_core(rng, n):
    words = {bytes(rng.integers(0, 256, rng.integers(0, 30)).astype(np.uint8)) for _ in range(n)}
    named = texts(*words)
    for starts, data in (
        (named["name_starts"], named["name_bytes"]),
        (None, rng.permutation(10 * n)[:n].view(np.uint8)),
    ):
        key, slots = slow_lookup(starts, data)
        right_key, right = make_lookup(starts, data)
        assert key == right_key
        np.testing.assert_array_equal(slots, right)
