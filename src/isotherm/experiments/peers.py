"""Classifiers of other libraries, each where its library is installed.

A peer gets the graph and the known labels as ours do and answers with a label for every node. It
runs with its own defaults but for what is said here. Whatever it raises, and scores that are no
numbers, are no answer: a comparison goes on without.
"""

from __future__ import annotations

import contextlib
import io
import warnings
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from isotherm.errors import NoAnswer, ParameterError
from isotherm.labels import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from isotherm.graph import Graph

    Codes = NDArray[np.intp]

ALL = "all"
SPREADING = (
    0.8  # of label spreading, what comes from the neighbours; its default is made for points
)
STEPS = 100  # of label spreading, at the most


@dataclass(frozen=True)
class Peer:
    """A classifier of another library.

    Attributes
    ----------
    name, title : str
    library : str
        What to install.
    module : str
        What to import.
    answer : callable
        Its module, the adjacency matrix and the known labels, 0 … K − 1 and −1 → all labels.
    """

    name: str
    title: str
    library: str
    module: str
    answer: Callable[[Any, sparse.csr_matrix, Codes], Codes]

    @property
    def is_installed(self) -> bool:
        """Whether its library is there; nothing is loaded to find out."""
        return find_spec(self.module.partition(".")[0]) is not None

    @property
    def version(self) -> str:
        """Of its library."""
        return version(self.library)

    def labels(self, graph: Graph, known: Codes) -> Codes:
        """A label for every node; −1 where it has no answer.

        Parameters
        ----------
        graph : Graph
        known : int array of shape (n,)
            −1 where unknown.

        Warns
        -----
        NoAnswer
            If it failed, with what it said.
        """
        found, failure = self._answered(graph, known)
        free = known == UNKNOWN
        if not failure and free.any() and (found[free] == UNKNOWN).all():
            failure = "none of its scores is a number"
        if failure:
            warnings.warn(f"{self.name} gave no answer: {failure}", NoAnswer, stacklevel=2)
        return found

    def load(self) -> Any:
        """Its module."""
        return import_module(self.module)

    def _answered(self, graph: Graph, known: Codes) -> tuple[Codes, str]:
        """Its answer, or what it raised; it neither warns nor prints, nor does it end the run."""
        A = sparse.csr_matrix(graph.adjacency)  # not every library takes an array
        try:
            with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
                warnings.simplefilter("ignore")
                return _numbered(partial(self.answer, self.load()), A, known), ""
        except (Exception, SystemExit) as error:  # GraphLearning ends the program where it is lost
            return np.full(len(known), UNKNOWN), f"{type(error).__name__}: {error}"


def _numbered(
    answer: Callable[[sparse.csr_matrix, Codes], Codes], A: sparse.csr_matrix, known: Codes
) -> Codes:
    """An answer to whom classes are 0 … K − 1, K at least 2, whatever they are here."""
    seeds = known != UNKNOWN
    classes, inverse = np.unique(known[seeds], return_inverse=True)
    if len(classes) == 1:  # nothing to decide, which some libraries refuse
        return np.full(len(known), classes[0])
    codes = np.full(len(known), UNKNOWN)
    codes[seeds] = inverse
    found = answer(A, codes)
    return np.where(found == UNKNOWN, UNKNOWN, classes[found])


def _diffusion(sknetwork: Any, A: sparse.csr_matrix, codes: Codes) -> Codes:
    """Ten sweeps of heat, then centred."""
    return np.asarray(sknetwork.DiffusionClassifier().fit_predict(A, codes))


def _pagerank(sknetwork: Any, A: sparse.csr_matrix, codes: Codes) -> Codes:
    """What `PageRankClassifier` does, without the pool of processes it starts for each fit."""
    rank = sknetwork.PageRankClassifier().algorithm
    scores = [rank.fit_predict(A, (codes == k).astype(int)) for k in range(codes.max() + 1)]
    return _highest(np.column_stack(scores))


def _poisson(ssl: Any, A: sparse.csr_matrix, codes: Codes) -> Codes:
    """Each component by itself, those without seeds left out.

    On several at once its equations have no solution, and its solver takes all of its 100,000
    steps.
    """
    _, part = csgraph.connected_components(A, directed=False)
    components = np.split(np.argsort(part, kind="stable"), np.cumsum(np.bincount(part))[:-1])
    found = np.full(len(codes), UNKNOWN)
    for number in np.unique(part[codes != UNKNOWN]):
        nodes = components[number]
        found[nodes] = _numbered(partial(_connected_poisson, ssl), A[nodes][:, nodes], codes[nodes])
    return found


def _connected_poisson(ssl: Any, A: sparse.csr_matrix, codes: Codes) -> Codes:
    return _by_graphlearning(ssl.poisson(A), codes)


def _laplace(ssl: Any, A: sparse.csr_matrix, codes: Codes) -> Codes:
    return _by_graphlearning(ssl.laplace(A), codes)


def _by_graphlearning(model: Any, codes: Codes) -> Codes:
    """The class of the highest score; `predict` would give class 0 where scores are not numbers."""
    seeds = np.flatnonzero(codes != UNKNOWN)
    return _highest(model.fit(seeds, codes[seeds]))


def _spreading(semi_supervised: Any, A: sparse.csr_matrix, codes: Codes) -> Codes:
    """`LabelSpreading` itself, which is made for points: the graph takes the place of its kernel.

    It repeats F ← α S F + (1 − α) Y, with S the adjacency matrix scaled by the roots of the degrees
    and without self loops, towards (1 − α) (I − α S)⁻¹ Y (Zhou et al. 2004).
    """
    model = semi_supervised.LabelSpreading(lambda *_: A, alpha=SPREADING, max_iter=STEPS)
    return np.asarray(model.fit(np.zeros((len(codes), 1)), codes).transduction_)


def _highest(scores: NDArray[np.floating]) -> Codes:
    """The column of the highest score in each row; −1 where one is no number."""
    finite = np.isfinite(scores).all(axis=1)
    return np.where(finite, np.where(finite[:, np.newaxis], scores, 0.0).argmax(axis=1), UNKNOWN)


_SKNETWORK = "scikit-network", "sknetwork.classification"
_GRAPHLEARNING = "graphlearning", "graphlearning.ssl"
_SKLEARN = "scikit-learn", "sklearn.semi_supervised"

PEERS = {
    peer.name: peer
    for peer in (
        Peer("diffusion", "DiffusionClassifier of scikit-network", *_SKNETWORK, _diffusion),
        Peer("pagerank", "PageRankClassifier of scikit-network", *_SKNETWORK, _pagerank),
        Peer("poisson", "Poisson learning of GraphLearning", *_GRAPHLEARNING, _poisson),
        Peer("laplace", "Laplace learning of GraphLearning", *_GRAPHLEARNING, _laplace),
        Peer("spreading", "LabelSpreading of scikit-learn", *_SKLEARN, _spreading),
    )
}


def installed() -> list[Peer]:
    """The peers whose libraries are there.

    Examples
    --------
    >>> [peer.name for peer in installed() if peer.library == "scikit-learn"]
    ['spreading']
    """
    return [peer for peer in PEERS.values() if peer.is_installed]


def choose_peers(names: Iterable[str]) -> list[Peer]:
    """The peers of these names, in the order of the table; "all" stands for all installed.

    Raises
    ------
    ParameterError
        If there is none of that name, or its library is not installed.

    Examples
    --------
    >>> [peer.title for peer in choose_peers(["spreading"])]
    ['LabelSpreading of scikit-learn']
    """
    wanted = set(names)
    for name in sorted(wanted - {ALL}):
        if name not in PEERS:
            raise ParameterError.unknown("peer", name, [*PEERS, ALL])
        if not PEERS[name].is_installed:
            library, here = PEERS[name].library, ", ".join(peer.name for peer in installed())
            raise ParameterError(
                f"{name!r} needs {library}, which is not installed: pip install {library}. "
                f"Installed: {here}"
            )
    return [
        peer
        for peer in PEERS.values()
        if peer.name in wanted or (ALL in wanted and peer.is_installed)
    ]
