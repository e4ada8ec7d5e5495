"""Figure 1: the karate club, two seeds: ground truth beside temperatures at equilibrium."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from isotherm.classifier.classify import DirichletClassifier
from isotherm.datasets import load_dataset
from isotherm.errors import IsothermWarning

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
    truth : array of shape (n,)
    seeds : tuple of int
    temperatures : array of shape (n,)
        Of the class of the first seed: 1 there, 0 at the other.
    labels : array of shape (n,)
        By the paper's decision.
    """

    graph: Graph
    truth: NDArray[np.generic]
    seeds: tuple[int, ...]
    temperatures: NDArray[np.float64]
    labels: NDArray[np.generic]


def picture() -> Picture:
    """Solve for the temperatures of the club."""
    club = load_dataset("karate")
    known = {node: club.labels[node] for node in SEEDS}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IsothermWarning)  # two labels are few, as in the paper
        model = DirichletClassifier().fit(club.graph, known)
    first = list(model.classes_).index(club.labels[SEEDS[0]])
    return Picture(
        club.graph,
        club.labels,
        SEEDS,
        np.asarray(model.temperatures_[:, first], dtype=np.float64),
        model.labels_,
    )
