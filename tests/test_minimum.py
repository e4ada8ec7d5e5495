"""The minimum of a function, against that of SciPy and against what is known of it."""

import numpy as np
import pytest
from scipy.optimize import minimize, rosen, rosen_der

from isotherm.trust.minimum import minimum


@pytest.mark.parametrize("p", [2, 5, 20])
def test_the_bottom_of_a_curved_valley_is_found(p):
    found = minimum(lambda x: (rosen(x), rosen_der(x)), np.full(p, 0.5), enough=1e-15)
    assert np.allclose(found, 1, atol=1e-5)


def test_a_logistic_model_is_that_of_scipy(rng):
    X, y = rng.normal(size=(80, 6)), rng.random(80) < 0.3

    def loss(w):
        z = X @ w
        p = 1 / (1 + np.exp(-z))
        return float(np.logaddexp(0, z).sum() - z[y].sum() + w @ w / 2), X.T @ (p - y) + w

    exact = minimize(loss, np.zeros(6), jac=True, method="BFGS", options={"gtol": 1e-10}).x
    assert np.allclose(minimum(loss, np.zeros(6), enough=1e-14), exact, atol=1e-6)


def test_a_start_at_the_minimum_stays_there():
    start = np.array([3.0, -1.0])
    assert minimum(lambda _: (0.0, np.zeros(2)), start, enough=1e-12) is start


def test_where_the_function_is_no_number_is_too_far():
    def loss(x):
        return float(np.sum(x - np.log(x))), 1 - 1 / x

    with np.errstate(invalid="ignore", divide="ignore"):
        assert np.allclose(minimum(loss, np.array([0.01, 50.0]), enough=1e-15), 1)


def test_a_gradient_that_points_the_wrong_way_ends_the_search():
    start = np.array([1.0])
    assert minimum(lambda x: (float(x @ x), -2 * x), start, enough=1e-12) is start
