"""What was found, for other libraries: a DataFrame of pandas, a graph of networkx."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from isotherm.errors import MissingLibrary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.graph import Graph
    from isotherm.trust.rank import Ranking

SEPARATOR = ";"  # between the labels of a node, where these are one text
DIGITS = 4  # of probabilities in such a text
RANKED = ("seed", "ranked", "unreached")


def frame_of(columns: dict[str, list[Any]]) -> Any:
    """A DataFrame of pandas with these columns."""
    return _library("pandas", "to_frame").DataFrame(columns)


def networkx_of(graph: Graph, columns: dict[str, list[Any]]) -> Any:
    """The same graph as one of networkx, its nodes with these columns as their attributes."""
    made = _library("networkx", "to_networkx").Graph()
    for node, *cells in zip(columns.pop("node"), *columns.values(), strict=True):
        known = zip(columns, map(as_text, cells), strict=True)
        made.add_node(node, **{name: cell for name, cell in known if cell is not None})
    rows, names = graph.rows, graph.names.tolist()
    source = np.repeat(np.arange(rows.n_nodes), np.diff(rows.start))
    once = source <= rows.ends
    ends = [[names[i] for i in end[once].tolist()] for end in (source, rows.ends)]
    if rows.weights is None:
        made.add_edges_from(zip(*ends, strict=True))
    else:
        made.add_weighted_edges_from(zip(*ends, rows.weights[once].tolist(), strict=True))
    return made


class RankedRows(NamedTuple):
    """The rows of a ranking: seeds, ranked nodes, nodes that no heat reaches.

    Attributes
    ----------
    nodes : int array of shape (n,)
        Positions.
    status : int array of shape (n,)
        Numbers in `RANKED`.
    scores : array of shape (n,)
        NaN where no heat reaches.
    ranks : int array of shape (n,)
        0 where there is none.
    """

    nodes: NDArray[np.intp]
    status: NDArray[np.intp]
    scores: NDArray[np.float64]
    ranks: NDArray[np.intp]

    @classmethod
    def of(cls, ranking: Ranking, problem: DirichletProblem) -> RankedRows:
        """Those of a problem."""
        groups = problem.boundary, ranking.positions, problem.unreached
        status = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
        scores = np.select([status == 0, status == 2], [1.0, np.nan], 0.0)
        ranks = np.zeros(len(status), dtype=np.intp)
        scores[status == 1], ranks[status == 1] = ranking.scores, ranking.ranks
        return cls(np.concatenate(groups), status, scores, ranks)

    def columns(self, names: NDArray[np.generic]) -> dict[str, list[Any]]:
        """The rows in plain Python objects, by the name of the column, given the ids of nodes."""
        return {
            "node": names[self.nodes].tolist(),
            "score": self.scores.tolist(),
            "rank": [rank or None for rank in self.ranks.tolist()],
            "status": [RANKED[k] for k in self.status.tolist()],
        }


def as_text(cell: Any) -> Any:
    """A cell that a file can hold: several things as one text; None for what is not there.

    Examples
    --------
    >>> as_text(("red", "round")), as_text((0.25, 1.0)), as_text(0.5), as_text(float("nan"))
    ('red;round', '0.25;1.0', 0.5, None)
    """
    if isinstance(cell, tuple):
        rounded = (round(one, DIGITS) if isinstance(one, float) else one for one in cell)
        return SEPARATOR.join(map(str, rounded))
    return None if cell != cell else cell  # NaN


def _library(name: str, method: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise MissingLibrary(
            f"{method} needs {name}, which is not installed: pip install {name}"
        ) from None
