"""Figure 1: the karate club, two seeds: ground truth beside temperatures at equilibrium."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.classifier import DirichletClassifier
from isotherm.datasets import load_dataset

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.graph import Graph

SEEDS = (0, 33)  # the two rivals


@dataclass(frozen=True, eq=False)
class Picture:
    """What the figure shows.

    Attributes
    ----------
    graph : Graph
    positions : array of shape (n, 2)
    truth : array of shape (n,)
    seeds : tuple of int
    temperatures : array of shape (n,)
        Of the class of the first seed: 1 there, 0 at the other.
    labels : array of shape (n,)
        By the paper's decision.
    """

    graph: Graph
    positions: NDArray[np.float64]
    truth: NDArray[Any]
    seeds: tuple[int, ...]
    temperatures: NDArray[np.float64]
    labels: NDArray[Any]


def picture() -> Picture:
    """Solve for the temperatures and lay the club out in the plane."""
    club = load_dataset("karate")
    known = {node: club.labels[node] for node in SEEDS}
    model = DirichletClassifier().fit(club.graph, known)
    first = list(model.classes_).index(club.labels[SEEDS[0]])
    return Picture(
        club.graph,
        layout(club.graph),
        club.labels,
        SEEDS,
        np.asarray(model.temperatures_[:, first], dtype=np.float64),
        model.labels_,
    )


def layout(graph: Graph, steps: int = 300) -> NDArray[np.float64]:
    """Positions whose distances resemble those in the graph: stress majorisation.

    Each step puts a node where the others want it, with the weight 1 / distance² (Gansner, Koren
    and North, Graph Drawing by Stress Majorization, 2004).
    """
    from scipy.sparse.csgraph import shortest_path

    D = np.asarray(shortest_path(graph.adjacency, unweighted=True))
    far = D[np.isfinite(D)].max(initial=1.0) + 1
    D = np.where(np.isfinite(D), D, far)
    W = 1 / np.where(D > 0, D, 1) ** 2
    np.fill_diagonal(W, 0)
    angle = 2 * np.pi * np.arange(len(D)) / len(D)
    X = np.column_stack([np.cos(angle), np.sin(angle)]) * D.max() / 2
    for _ in range(steps):
        difference = X[:, np.newaxis] - X
        length = np.linalg.norm(difference, axis=2)
        pull = W * D / np.where(length > 1e-9, length, 1)
        X = (W @ X + np.einsum("ij,ijk->ik", pull, difference)) / W.sum(axis=1, keepdims=True)
    return np.asarray(X)
