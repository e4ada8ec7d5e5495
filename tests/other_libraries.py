"""Objects of polars and igraph, which `isotherm[test]` leaves out: tests skip them without."""

import pytest


def polars_frame(columns):
    return pytest.importorskip("polars").DataFrame(columns)


def polars_series(values):
    return pytest.importorskip("polars").Series(values)


def polars_categories(values):
    return polars_series(values).cast(pytest.importorskip("polars").Categorical)


def igraph_path(n):
    """The path of n nodes, as `networkx.path_graph` makes it."""
    return pytest.importorskip("igraph").Graph([(node, node + 1) for node in range(n - 1)])
