"""Random graphs: edges of many shapes, weights over the whole range of float64."""

from __future__ import annotations

import numpy as np

LEAST = 5e-324


def few_edges(rng: np.random.Generator, n: int) -> list[tuple[int, int]]:
    """Edges of a small graph: loops, parallel edges and several parts are common."""
    shape = rng.integers(0, 8)
    chain = [(i, i + 1) for i in range(n - 1)]
    if shape == 0:
        return chain
    if shape == 1:
        return [(0, i) for i in range(1, n)]
    if shape == 2:
        return [(i, j) for i in range(n) for j in range(i + 1, n)]
    if shape == 3 and n > 2:
        return [*chain, (n - 1, 0)]
    m = int(rng.integers(0, 2 * n + 1))
    some = list(map(tuple, rng.integers(0, n, (m, 2)).tolist()))
    return some if shape < 7 else chain + some


def many_edges(rng: np.random.Generator, n: int) -> np.ndarray:
    """Edges of a larger graph, an array of shape (m, 2), its nodes shuffled."""
    shape = rng.choice(
        ["random", "grid", "tree", "star", "caterpillar", "clique", "power", "parts"]
    )
    i = np.arange(1, n)
    if shape == "random" or n < 4:
        m = int(min(n, 2000) * rng.uniform(1, 3))
        edges = rng.integers(0, n, (m, 2))
    elif shape == "grid":
        width = max(2, round(np.sqrt(n) * 10 ** rng.uniform(-0.5, 0.5)))
        right = i[i % width != 0]
        down = np.arange(width, n)
        edges = np.concatenate(
            [np.column_stack([right - 1, right]), np.column_stack([down - width, down])]
        )
    elif shape == "tree":
        edges = np.column_stack([i, rng.integers(0, i)])
    elif shape == "star":
        edges = np.column_stack([i, 0 * i])
    elif shape == "caterpillar":
        spine = max(2, n // int(rng.integers(2, 6)))
        edges = np.column_stack([i, np.where(i < spine, i - 1, rng.integers(0, spine, n - 1))])
    elif shape == "clique":
        size = min(n // 2, 30)
        first, second = np.triu_indices(size, 1)
        tail = np.arange(size, n)
        edges = np.concatenate(
            [np.column_stack([first, second]), np.column_stack([tail - 1, tail])]
        )
    elif shape == "power":
        ends = (n * rng.random((2 * min(n, 2000), 2)) ** 2.5).astype(np.intp)
        edges = np.concatenate(
            [ends, np.column_stack([i, (i * rng.random(n - 1)).astype(np.intp)])]
        )
    else:  # several parts, of which some may have no seed
        size = max(2, n // int(rng.integers(2, 9)))
        same = i % size != 0
        edges = np.column_stack([i - 1, i])[same]
    return rng.permutation(n)[edges]


def weights(rng: np.random.Generator, m: int, *, mild: bool = False) -> np.ndarray:
    """Weights of m edges; `mild` ones are within 1e±6 for the most part."""
    kind = rng.choice(MILD if mild else list(KINDS))
    return np.maximum(KINDS[kind](rng, m), LEAST)


def _spread(decades: float):
    return lambda rng, m: 10 ** rng.uniform(-decades, decades, m)


def _levels(rng: np.random.Generator, m: int) -> np.ndarray:
    """Three sizes far apart."""
    return 10.0 ** (int(rng.choice([6, 18, 30, 150])) * rng.integers(-1, 2, m))


def _denormal(rng: np.random.Generator, m: int) -> np.ndarray:
    least = LEAST * rng.integers(1, 1 << int(rng.integers(1, 20)), m)
    return np.where(rng.random(m) < rng.choice([0.3, 1.0]), least, 1.0)


KINDS = {
    "ones": lambda _, m: np.ones(m),
    "uniform": lambda rng, m: 1 - rng.random(m),
    "1e±3": _spread(3),
    "1e±30": _spread(30),
    "1e±150": _spread(150),
    "1e±300": _spread(300),
    "powers of two": lambda rng, m: 2.0 ** rng.integers(-20, 21, m),
    "small numbers": lambda rng, m: rng.integers(1, 4, m).astype(float),
    "equal": lambda rng, m: np.full(m, 10 ** rng.uniform(-2, 2)),
    "equal, extreme": lambda rng, m: np.full(m, 10 ** rng.uniform(-307, 300)),
    "levels": _levels,
    "denormal": _denormal,
}
MILD = ["ones"] * 4 + ["uniform", "1e±3", "1e±3", "powers of two", "small numbers", "levels"]
