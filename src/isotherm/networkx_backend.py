"""A backend for NetworkX: its node classification, at equilibrium and faster.

NetworkX finds it by the entry points in ``pyproject.toml``, and loads this module whenever it is
imported itself: whatever takes time to load is loaded when needed.

NetworkX sweeps `max_iter` times, 30 by default, from where all is cold; a node further from every
label than that gets the first label. Here `max_iter` is not looked at: labels are those that the
sweeps would come to in the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from operator import methodcaller
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.graph import Graph
    from isotherm.solvers import Certificate

NAME = "isotherm"
TOL = 1e-10  # of temperatures that are not told apart any more
ALPHA = 0.99  # where none is given, as in NetworkX
WEIGHT = "weight"  # the attribute of edges that NetworkX looks at

EQUILIBRIUM = "Solved to equilibrium, with a proven error bound: `max_iter` is ignored."
NEGATIVE = "Weights must not be negative."


def get_info() -> dict[str, Any]:
    """What NetworkX is told when it is imported."""
    docs = {"additional_docs": f"{EQUILIBRIUM} {NEGATIVE}"}
    return {
        "backend_name": NAME,
        "project": NAME,
        "package": NAME,
        "short_summary": "Node classification at equilibrium, with a proven error bound.",
        "functions": {"harmonic_function": docs, "local_and_global_consistency": docs},
    }


@dataclass(frozen=True, eq=False)
class Converted:
    """A graph on its way to this backend: that of NetworkX, which is read by each call.

    NetworkX keeps what was converted, and does not notice when a label is set by
    ``G.nodes[node]["label"] = …``; so nothing is kept here that could grow old.
    """

    graph: Any

    __networkx_backend__ = NAME

    def is_directed(self) -> bool:
        return bool(self.graph.is_directed())

    def is_multigraph(self) -> bool:
        return bool(self.graph.is_multigraph())


def convert_from_nx(graph: Any, **_: Any) -> Converted:
    """A graph for this backend."""
    return Converted(graph)


def convert_to_nx(result: Any, **_: Any) -> Any:
    """What a call gives, as NetworkX would."""
    return result.graph if isinstance(result, Converted) else result


def can_run(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    """Whether NetworkX may call it like this."""
    if name != "local_and_global_consistency":
        return True
    alpha = kwargs.get("alpha", args[1] if len(args) > 1 else ALPHA)
    return bool(0 <= alpha < 1)


def harmonic_function(G: Converted, max_iter: int = 30, label_name: str = "label") -> list[Any]:  # noqa: ARG001
    """Labels of all nodes: temperatures at equilibrium, the warmest class wins."""
    import numpy as np

    from isotherm.dirichlet import DirichletProblem

    graph, seeds, codes, classes = _read(G, label_name)
    held = np.equal.outer(codes, np.arange(len(classes))).astype(np.float64)
    return _labels(DirichletProblem(graph, seeds, held), classes)


def local_and_global_consistency(
    G: Converted,
    alpha: float = ALPHA,
    max_iter: int = 30,  # noqa: ARG001
    label_name: str = "label",
) -> list[Any]:
    """Labels of all nodes by Zhou et al. (2004): ``F = (1 − α) (I − α S)⁻¹ Y``.

    With S = D^−½ A D^−½ and F = D^½ T that is ``(D − A) T + τ D (T − D^−½ Y) = 0``, τ = 1/α − 1:
    heat at equilibrium where every node is tied to what is known of it, by the weight τ d.
    """
    import numpy as np

    from isotherm.dirichlet import DirichletProblem, Ties

    graph, seeds, codes, classes = _read(G, label_name)
    tied = np.flatnonzero(graph.degrees > 0)
    alone = np.setdiff1d(seeds, tied)
    known = np.zeros((graph.n_nodes, len(classes)))
    known[seeds, codes] = 1.0
    if alpha == 0:
        return _named(known.argmax(axis=1), classes)
    d = graph.degrees[tied]
    # Temperatures are in units of D^−½: the greatest is made 1, so that `TOL` suits them.
    scale = np.sqrt(d.min(initial=1.0) / d)[:, np.newaxis]
    ties = Ties(tied, (1 / alpha - 1) * d, known[tied] * scale, roundings=graph.rows.longest + 4)
    return _labels(DirichletProblem(graph, alone, known[alone], ties=ties), classes)


def _labels(problem: DirichletProblem, classes: list[Any]) -> list[Any]:
    """The warmest class of each node; of those as warm the first one, as in NetworkX."""
    import numpy as np

    from isotherm.engines import choose_engine
    from isotherm.solvers import SolveOptions

    with choose_engine("auto", problem.graph).prepare(problem, SolveOptions(TOL)) as session:
        solution = session.solve(stop=_unsettled)
    T = np.nan_to_num(solution.temperatures)
    least = T.max(axis=1) - 2 * np.nan_to_num(solution.error_bound)
    return _named((least[:, np.newaxis] <= T).argmax(axis=1), classes)


def _unsettled(T: NDArray[np.floating], certificate: Certificate) -> float:
    """How many times too large errors are to tell the warmest class of every node."""
    import numpy as np

    if T.shape[1] == 1:
        return 0.0
    reached = ~np.isnan(certificate.nodes)
    best = np.partition(T[reached], -2, axis=1)
    lead = best[:, -1] - best[:, -2]
    errors = 2 * certificate.error_bound[reached]
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.max(errors / lead, initial=0.0, where=errors > 0))


def _named(codes: NDArray[np.intp], classes: list[Any]) -> list[Any]:
    return [classes[k] for k in codes.tolist()]


def _read(
    G: Converted, label_name: str
) -> tuple[Graph, NDArray[np.intp], NDArray[np.intp], list[Any]]:
    """The graph; positions and class numbers of the labelled nodes; the classes as they come."""
    import networkx as nx
    import numpy as np

    source = G.graph
    kept = getattr(source, "__networkx_cache__", None) or {}
    kept.get("backends", {}).pop(NAME, None)  # see `Converted`
    numbers: dict[Any, int] = {}
    seeds, codes = [], []
    for position, attributes in enumerate(dict(source.nodes(data=True)).values()):
        if label_name in attributes:
            seeds.append(position)
            codes.append(numbers.setdefault(attributes[label_name], len(numbers)))
    if not seeds:
        raise nx.NetworkXError(f"No node on the input graph is labeled by '{label_name}'.")
    return _graph(source), np.array(seeds), np.array(codes), list(numbers)


def _graph(source: Any) -> Graph:
    """The graph, its nodes numbered as NetworkX has them; parallel edges add up."""
    import numpy as np
    import scipy

    from isotherm.errors import GraphError
    from isotherm.graph import Graph

    position = {node: i for i, node in enumerate(source)}
    rows = [neighbours for _, neighbours in source.adjacency()]
    start = np.cumsum([0, *map(len, rows)])
    ends = np.fromiter(map(position.__getitem__, chain.from_iterable(rows)), np.int64, start[-1])
    edges = chain.from_iterable(neighbours.values() for neighbours in rows)
    weight_of = methodcaller("get", WEIGHT, 1)
    weights: Iterator[Any] = map(weight_of, edges)
    if source.is_multigraph():
        weights = (sum(map(weight_of, parallel.values())) for parallel in edges)
    n = len(position)
    try:
        data = np.fromiter(weights, np.float64, start[-1])
        return Graph.from_matrix(scipy.sparse.csr_array((data, ends, start), shape=(n, n)))
    except (GraphError, TypeError, ValueError) as error:
        # NetworkX then does it itself, if it may.
        raise NotImplementedError(f"{NAME}: {error}") from None


class Backend:
    """What NetworkX loads: the functions that are there."""

    convert_from_nx = staticmethod(convert_from_nx)
    convert_to_nx = staticmethod(convert_to_nx)
    can_run = staticmethod(can_run)
    harmonic_function = staticmethod(harmonic_function)
    local_and_global_consistency = staticmethod(local_and_global_consistency)
