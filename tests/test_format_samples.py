"""Every row of the table of formats has a sample: it is read, and what is near it never harms."""

import gzip
import re
import warnings

import numpy as np
import pytest

from format_samples import COUNTED, DEGREES, LABELS, REFUSED, SAMPLES
from isotherm import FileError, IsothermError, IsothermWarning, read_graph, read_labels
from isotherm.read import formats
from isotherm.read.opening import open_source

BY_POSITION = {"MatrixMarket": 1, "npz": 0}


def expected(name):
    first = BY_POSITION.get(name)
    if first is None:
        return DEGREES
    return {str(first + k): degree for k, degree in enumerate(DEGREES.values())}


def degrees(graph):
    found = dict(zip(graph.names.tolist(), graph.degrees.tolist(), strict=True))
    assert found.pop("alone", 0.0) == 0.0
    return found


def written(folder, data, name="sample"):
    path = folder / name
    path.write_bytes(data)
    return path


def test_every_format_has_a_sample_or_is_refused():
    names = [entry.name for entry in formats.FORMATS]
    assert sorted(names) == sorted([*SAMPLES, *REFUSED])
    for entry in formats.FORMATS:
        assert bool(entry.refused) == (entry.name in REFUSED)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_told_by_its_bytes_and_has_its_graph(tmp_path, name):
    edges, labels = SAMPLES[name]
    path = written(tmp_path, edges)
    with open_source(path) as source:
        assert source.format.name == name
    graph = read_graph(path)
    assert degrees(graph) == expected(name)
    if labels is not None:
        label = "class" if labels == edges else None
        assert read_labels(written(tmp_path, labels, "labels"), graph, label=label) == LABELS


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_that_is_packed_has_the_same_graph(tmp_path, name):
    path = written(tmp_path, gzip.compress(SAMPLES[name][0]), "sample.gz")
    if name == "saved graph":  # it is mapped, so it must lie there as it is
        with pytest.raises(FileError, match=r"sample\.gz"):
            read_graph(path)
        return
    assert degrees(read_graph(path)) == expected(name)


def test_a_data_set_is_told_from_a_matrix(tmp_path):
    from format_samples import data_set

    path = written(tmp_path, data_set())
    graph = read_graph(path)
    assert (graph.names.tolist(), graph.n_edges) == (list(COUNTED["graph"]), 3)
    assert read_labels(path, graph) == COUNTED["labels"]


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_read_is_refused_with_a_way_out(tmp_path, name):
    data, ending, said = REFUSED[name]
    path = written(tmp_path, data, f"sample{ending}")
    for read in (read_graph, lambda file: read_labels(file, None)):
        with pytest.raises(FileError, match=rf"sample{re.escape(ending)} is .*{said}"):
            read(path)


def attempts(name, data):
    """The sample cut off at many places, and with some of its bytes changed."""
    rng = np.random.default_rng(sum(name.encode()))
    for cut in np.linspace(1, len(data) - 1, 25).astype(int):
        yield data[:cut]
    for _ in range(25):
        changed = bytearray(data)
        for place in rng.integers(len(data), size=rng.integers(1, 4)):
            changed[place] = rng.integers(256)
        yield bytes(changed)


@pytest.mark.hostile
@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_cut_off_or_changed_is_read_or_an_error_that_names_it(tmp_path, name):
    edges, labels = SAMPLES[name]
    whole = read_graph(written(tmp_path, edges, "whole"))
    path = tmp_path / "sample"
    for data in attempts(name, edges):
        # A file that is mapped is never written to: it would change under the graph.
        path.unlink(missing_ok=True)
        path.write_bytes(data)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", IsothermWarning)
            try:
                read_graph(path)
            except IsothermError as error:
                assert "sample" in str(error)  # noqa: PT017
            if labels is not None:
                try:
                    read_labels(path, whole)
                except IsothermError:
                    continue
