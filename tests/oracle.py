"""Slow and obvious references, and the random graphs they are compared on."""

from fractions import Fraction

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from isotherm import Graph


def random_graph(rng, n=30, degree=3.0, *, weighted=True, spread=1.0):
    """A random graph with self loops and, often, several components."""
    upper = np.triu(rng.random((n, n)) < degree / n)
    weights = 10 ** (spread * rng.uniform(-1, 1, (n, n))) if weighted else np.ones((n, n))
    half = np.where(upper, weights, 0.0)
    return Graph.from_matrix(half + np.triu(half, 1).T)


def random_seeds(rng, graph, n_seeds, n_classes):
    """Labels with −1 for unknown: `n_seeds` seeds, of at most `n_classes` classes."""
    labels = np.full(graph.n_nodes, -1)
    seeds = rng.choice(graph.n_nodes, n_seeds, replace=False)
    labels[seeds] = rng.integers(0, n_classes, n_seeds)
    return labels


def grid(rows, columns):
    """A grid: a graph on which diffusion is slow."""
    across, down = sparse.eye_array(rows, k=1), sparse.eye_array(columns, k=1)
    half = sparse.kron(across, sparse.eye_array(columns)) + sparse.kron(
        sparse.eye_array(rows), down
    )
    return Graph.from_matrix(half + half.T)


def dense_temperatures(graph, boundary, values, leak=0.0):
    """Equation (4) by a dense solve; NaN at unreached nodes."""
    A = graph.adjacency.toarray()
    values = np.asarray(values, dtype=float).reshape(len(boundary), -1)
    _, component = connected_components(A != 0, directed=False)
    reached = np.isin(component, component[boundary])
    free = np.setdiff1d(np.flatnonzero(reached), boundary)
    M = np.diag((1 + leak) * A.sum(axis=1)) - A
    T = np.full((graph.n_nodes, values.shape[1]), np.nan)
    T[boundary] = values
    T[free] = np.linalg.solve(M[np.ix_(free, free)], A[np.ix_(free, boundary)] @ values)
    return T


def exact_temperatures(graph, boundary, values, leak=0):
    """Equation (4) by Gauss-Jordan elimination in rational arithmetic."""
    A = [[Fraction(w) for w in row] for row in graph.adjacency.toarray().tolist()]
    nodes, boundary = range(graph.n_nodes), list(boundary)
    values = [[Fraction(v) for v in np.atleast_1d(row).tolist()] for row in values]
    free = [i for i in nodes if i not in set(boundary)]
    rows = []
    for i in free:
        row = [-A[i][j] for j in free]
        row[free.index(i)] += (1 + Fraction(leak)) * sum(A[i])
        sources = [
            sum(A[i][j] * y[k] for j, y in zip(boundary, values, strict=True))
            for k in range(len(values[0]))
        ]
        rows.append(row + sources)
    for c in range(len(free)):
        pivot = next(r for r in range(c, len(free)) if rows[r][c] != 0)
        rows[c], rows[pivot] = rows[pivot], rows[c]
        rows[c] = [x / rows[c][c] for x in rows[c]]
        for r in range(len(free)):
            if r != c and rows[r][c] != 0:
                factor = rows[r][c]
                rows[r] = [x - factor * y for x, y in zip(rows[r], rows[c], strict=True)]
    T = {i: row[len(free) :] for i, row in zip(free, rows, strict=True)}
    T.update(zip(boundary, values, strict=True))
    return [T[i] for i in nodes]


def one_hot(labels):
    """Boundary and values of the K Dirichlet problems of Algorithm 1."""
    seeds = np.flatnonzero(labels >= 0)
    classes = np.unique(labels[seeds])
    return seeds, np.equal.outer(labels[seeds], classes).astype(float)
