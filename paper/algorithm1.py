"""The paper in NumPy and SciPy, to be read beside it: Sections 2 to 4.

The names are the paper's: the adjacency matrix A of n nodes, their temperatures T, seeds S with
labels y, here 0 … K − 1. As in Section 2.2 the graph is connected, or at least every free node has
a path to a seed. Nothing of isotherm is imported: its tests judge it by this file.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, eye_array
from scipy.sparse.linalg import spsolve

Labels = NDArray[np.intp]
Vector = NDArray[np.float64]


def transitions(A: Any, S: Labels) -> tuple[NDArray[np.bool_], Any, Any]:
    """Which nodes are free, and their rows of P = D⁻¹ A: Q to free nodes, R to seeds."""
    free = np.ones(A.shape[0], dtype=bool)
    free[S] = False
    P = csr_array(diags_array(1 / A.sum(axis=1)) @ A)[free]
    return free, P[:, free], P[:, S]


def dirichlet(A: Any, S: Labels, T: Vector) -> Vector:
    """Dirichlet(S, T): the temperatures at equilibrium, X = (I − Q)⁻¹ R Y (equation 4)."""
    (free, Q, R), T = transitions(A, S), T.copy()
    T[free] = spsolve((eye_array(Q.shape[0]) - Q).tocsc(), R @ T[S])
    return T


def iterate(A: Any, S: Labels, T: Vector, times: int) -> Vector:
    """X ← Q X + R Y (equation 3), so many times, from what T has at the free nodes."""
    (free, Q, R), T = transitions(A, S), T.copy()
    for _ in range(times):
        T[free] = Q @ T[free] + R @ T[S]
    return T


def algorithm1(A: Any, S: Labels, y: Labels) -> Labels:
    """The label of every node, by the Dirichlet classifier (Algorithm 1)."""
    delta = np.empty((A.shape[0], y.max() + 1))
    for k in range(y.max() + 1):  # line 1
        T = np.zeros(A.shape[0])
        T[S[y == k]] = 1
        T = dirichlet(A, S, T)  # line 8
        delta[:, k] = T - T.mean()  # line 9, the mean over all nodes (equation 5)
    labels: Labels = delta.argmax(axis=1)  # line 12
    labels[S] = y
    return labels


def lemma1(sizes: Vector, seeds: Vector, p: float, q: float, hot: int) -> tuple[Vector, float]:
    """Lemma 1: T_k of the free nodes of each block where the seeds of one are hot, and the mean T̄.

    There are n_k nodes in block k, of which s_k are seeds.
    """
    n = sizes.sum()
    held = seeds * (p - q) + n * q
    mean = seeds[hot] / n * (sizes[hot] * (p - q) + n * q) / held[hot]
    mean /= 1 - ((sizes - seeds) * q / held).sum()
    T = n * mean * q / held
    T[hot] += seeds[hot] * (p - q) / held[hot]
    return T, float(mean)
