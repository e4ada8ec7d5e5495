"""What reports need of a classifier that has no public name yet; only this module reaches in."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from isotherm.classifier import DirichletClassifier
    from isotherm.trust.left_out import LeftOut


class SeedFacts(NamedTuple):
    """The seeds of a classifier.

    Attributes
    ----------
    nodes : int array of shape (m,)
        Positions of all seeds, also of those that are not certain and count as predicted.
    codes : int array of shape (m,)
        Their classes.
    left_out : callable
        Gives what the seeds of `DirichletClassifier.spot_check` would get; found when asked for.
    """

    nodes: NDArray[np.intp]
    codes: NDArray[np.intp]
    left_out: Callable[[], LeftOut]


def seed_facts(classifier: DirichletClassifier) -> SeedFacts:
    """The facts, from the classifier's own attributes."""
    seeds = classifier._seeds
    return SeedFacts(seeds.nodes, seeds.codes, classifier._left_sample)
