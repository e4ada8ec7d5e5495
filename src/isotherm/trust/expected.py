"""How many labels of free nodes are right: an estimate that holds for seeds of any kind.

Leave-one-out is the accuracy of the *seeds*. Seeds that were picked because they are in doubt fare
worse than free nodes, clear cases that were labelled first fare better. Two corrections lead from
one to the other. Free nodes have probabilities p, calibrated on seeds left out; and seeds left out
show what these are off by::

    accuracy = mean of p over free nodes + Σ w (right − p) / Σ w

with weights w of the seeds under which they look like free nodes, by the probability of their label
and by their degree: the odds of a logistic model that tells free nodes from seeds.

The interval is Wilson's for as many seeds as the weights leave, fewer by a factor since labels that
are wrong are often neighbours, and since probabilities were learnt from the same seeds. Corrections
may fall short: the interval is wider by as much as they have moved the estimate, on the far side
of leave-one-out. Both rules were chosen by experiment, and `benchmarks/expected_accuracy_holds.py`
checks them.

Where it is known which seeds were drawn at random there is no need for weights: these alone are
judged; see `isotherm.trust.drawn`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from isotherm.trust.drawn import ALIKE
from isotherm.trust.interval import Interval, proportion
from isotherm.trust.minimum import minimum

if TYPE_CHECKING:
    from numpy.typing import NDArray

PRIOR = 3.0  # precision of the prior of the coefficients: few seeds look like free nodes
CLEAREST = 7.0  # log odds of a probability that are as good as any
ENOUGH = 1e-10  # relative change of the loss that ends the search


class Labelled(NamedTuple):
    """Nodes that got a label, arrays of shape (m,).

    Attributes
    ----------
    probability : of the label that each got
    degree : of the node
    """

    probability: NDArray[np.float64]
    degree: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        P: NDArray[np.float64],
        codes: NDArray[np.signedinteger],
        degree: NDArray[np.float64],
    ) -> Labelled:
        """From the probabilities of all classes, shape (m, K), and the class that each got."""
        return cls(P[np.arange(len(codes)), codes], degree)

    def features(self) -> NDArray[np.float64]:
        """What nodes are told apart by, shape (m, 2)."""
        least = 1 / (1 + math.exp(CLEAREST))
        p = np.clip(self.probability, least, 1 - least)
        return np.column_stack([np.log(p / (1 - p)), np.log(self.degree)])


class Expected(NamedTuple):
    """What seeds left out say of free nodes.

    Attributes
    ----------
    accuracy : Interval
        Of the free nodes that get a label.
    weights : array of shape (m,)
        Of the seeds, 1 on average: under them they look like free nodes.
    """

    accuracy: Interval
    weights: NDArray[np.float64]


def expect(free: Labelled, seeds: Labelled, right: NDArray[np.bool_]) -> Expected:
    """Estimate the accuracy on free nodes.

    Parameters
    ----------
    free : Labelled
        Free nodes, or a random sample of them.
    seeds : Labelled
        Seeds left out, with the label that each got then.
    right : bool array of shape (m,)
        Whether it is their own.

    Examples
    --------
    Half of the seeds are in doubt and right half of the time, but one free node in ten is:

    >>> in_doubt = np.arange(200) < 100
    >>> seeds = Labelled(np.where(in_doubt, 0.5, 0.99), np.ones(200))
    >>> free = Labelled(np.where(np.arange(1000) < 100, 0.5, 0.99), np.ones(1000))
    >>> right = ~in_doubt | (np.arange(200) % 2 == 0)
    >>> round(float(right.mean()), 2), round(expect(free, seeds, right).accuracy.value, 2)
    (0.75, 0.95)
    """
    if len(right) == 0 or len(free.degree) == 0:
        return Expected(Interval(math.nan, 0.0, 1.0), np.ones(len(right)))
    w = _weights(free.features(), seeds.features())
    off = w @ (right - seeds.probability) / len(w)
    value = float(np.clip(free.probability.mean() + off, 0.0, 1.0))
    n_worth = len(w) ** 2 / float(w @ w) / ALIKE
    _, low, high = proportion(value * n_worth, n_worth)
    moved = value - float(right.mean())
    low, high = max(low + min(moved, 0.0), 0.0), min(high + max(moved, 0.0), 1.0)
    return Expected(Interval(value, low, high), w)


def _weights(free: NDArray[np.float64], seeds: NDArray[np.float64]) -> NDArray[np.float64]:
    """How much more often nodes like each seed are free, 1 on average."""
    centre, spread = free.mean(axis=0), free.std(axis=0) + 1e-9

    def design(features: NDArray[np.float64]) -> NDArray[np.float64]:
        # A seed far from all free nodes is no more telling than one at the edge.
        scaled = np.clip((features - centre) / spread, -5.0, 5.0)
        return np.column_stack([np.ones(len(scaled)), scaled])

    X, own = design(free), design(seeds)
    share = len(own) / len(X)  # free nodes count as much as seeds, all together
    precision = np.array([0.0, PRIOR, PRIOR])

    def loss(b: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Minus the logarithm of the posterior, and its gradient."""
        z, y = X @ b, own @ b
        value = share * np.logaddexp(0, -z).sum() + np.logaddexp(0, y).sum()
        slope = own.T @ _logistic(y) - share * (X.T @ _logistic(-z))
        return float(value + precision @ b**2 / 2), slope + precision * b

    odds = np.exp(own @ minimum(loss, np.zeros(3), enough=ENOUGH))
    return np.asarray(odds / odds.mean())


def _logistic(z: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.exp(-np.logaddexp(0, -z)))
