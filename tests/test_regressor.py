"""DirichletRegressor: real values, negative ones too."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from isotherm import DirichletRegressor, Graph, Sweeps
from isotherm.errors import GraphError, LabelError, ParameterError, UnknownNode
from oracle import dense_temperatures, grid, random_graph


def test_values_are_those_of_the_equilibrium(rng):
    graph = random_graph(rng, 50, degree=4)
    values = np.full(50, np.nan)
    values[:6] = rng.normal(size=6) * 10
    r = DirichletRegressor().fit(graph, values)
    exact = dense_temperatures(graph, np.arange(6), values[:6])[:, 0]
    assert np.allclose(r.predict(), exact, atol=1e-6, equal_nan=True)
    assert r.temperatures_.shape == (50,)
    assert np.isclose(r.mean_temperatures_, np.nanmean(exact))


def test_minus_one_is_a_value_like_any_other():
    r = DirichletRegressor().fit(nx.path_graph(3), [-1, None, 1])
    assert r.predict().tolist() == [-1, 0, 1]


@pytest.mark.parametrize(
    "values",
    [{0: 4, 3: -2}, [4.0, None, None, -2.0], pd.Series({0: 4.0, 3: -2.0}), [4, np.nan, np.nan, -2]],
    ids=str,
)
def test_values_of_every_kind_are_taken(values):
    assert np.allclose(DirichletRegressor().fit_predict(nx.path_graph(4), values), [4, 2, 0, -2])


def test_unreached_nodes_are_nan_or_zero():
    graph = Graph.from_edges([0], [1], nodes=range(3))
    r = DirichletRegressor().fit(graph, {0: 5.0})
    assert r.status_.tolist() == ["seed", "predicted", "unreached"]
    assert r.predict()[:2].tolist() == [5, 5]
    assert np.isnan(r.predict()[2])
    assert DirichletRegressor(unreached="zero").fit_predict(graph, {0: 5.0}).tolist() == [5, 5, 0]


def test_new_nodes_take_the_mean_of_their_neighbours():
    r = DirichletRegressor().fit(nx.path_graph(3), [-1, None, 1])
    assert r.predict([[1, 0, 3], [0, 1, 0]]).tolist() == [0.5, 0.0]
    with pytest.raises(GraphError, match="expecting 3 features"):
        r.predict([[1, 2]])


def test_a_leak_draws_values_towards_zero():
    r = DirichletRegressor(leak=1.0).fit(nx.path_graph(2), [-3.0, None])
    assert np.allclose(r.predict(), [-3.0, -1.5])


def test_a_value_not_proven_to_tol_is_not_certified():
    with pytest.warns(ConvergenceWarning, match="proven to"):
        r = DirichletRegressor(solver=Sweeps(3)).fit(grid(9, 9), {0: -5.0, 80: 5.0})
    assert not r.certified_.all()
    assert r.certified_[[0, 80]].all()
    assert DirichletRegressor().fit(grid(9, 9), {0: -5.0, 80: 5.0}).certified_.all()


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ([1.0], LabelError, "1 labels for a graph of 3"),
        ([None] * 3, LabelError, "no seed"),
        (["a", None, None], LabelError, "real numbers"),
        ([np.inf, None, None], LabelError, "finite"),
        ({7: 1.0}, UnknownNode, "7"),
        (pd.Series([1.0, 2.0], index=[0, 0]), LabelError, "conflict"),
    ],
)
def test_bad_values_get_a_clear_error(values, error, message):
    with pytest.raises(error, match=message):
        DirichletRegressor().fit(nx.path_graph(3), values)


def test_bad_parameters_are_found_in_fit():
    with pytest.raises(ParameterError, match="tol"):
        DirichletRegressor(tol=0).fit(nx.path_graph(3), [1, None, None])
    with pytest.raises(NotFittedError):
        DirichletRegressor().predict()
