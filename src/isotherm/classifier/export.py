"""What was found, for other libraries: a DataFrame of pandas, a graph of networkx."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from isotherm.errors import MissingLibrary

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from isotherm.classifier.estimator import DirichletEstimator
    from isotherm.dirichlet import DirichletProblem
    from isotherm.trust.rank import Ranking

SEPARATOR = ";"  # between the labels of a node, where these are one text
DIGITS = 4  # of probabilities in such a text
RANKED = ("seed", "ranked", "unreached")


class Exporting:
    """An estimator that can hand over what it has found."""

    problem_: DirichletProblem

    def columns(self) -> dict[str, list[Any]]:
        """What is known of each node, by the name of the column, in plain Python objects."""
        raise NotImplementedError

    def to_frame(self) -> Any:
        """What is known about each node, as a pandas DataFrame with a row for each.

        Its columns are those of the files that `isotherm.write_predictions` writes, with ids,
        labels and numbers as they are.

        Raises
        ------
        MissingLibrary
            If pandas is not installed.

        Examples
        --------
        >>> from isotherm import DirichletClassifier, Graph
        >>> path = Graph.from_edges("abcd", "bcde")
        >>> clf = DirichletClassifier().fit(path, {"a": "left", "e": "right"})
        >>> print(clf.to_frame()[["node", "label", "margin", "status"]].round(3).head(3))
          node label  margin     status
        0    a  left     1.0       seed
        1    b  left     0.5  predicted
        2    c  left     0.0        tie
        """
        columns = self.columns()
        return _library("pandas", "to_frame").DataFrame(columns)

    def to_networkx(self) -> Any:
        """The graph as a networkx graph, with what is known about each node as its attributes.

        They are named as the columns of `to_frame`, and hold plain texts, numbers and truth values,
        so that networkx can write them to files; what a node does not have is left out. Edges have
        a weight if the graph is weighted.

        Raises
        ------
        MissingLibrary
            If networkx is not installed.

        Examples
        --------
        >>> from isotherm import DirichletClassifier, Graph
        >>> path = Graph.from_edges("abcd", "bcde")
        >>> clf = DirichletClassifier().fit(path, {"a": "left", "e": "right"})
        >>> clf.to_networkx().nodes["b"]["label"]
        'left'
        """
        columns = self.columns()
        graph = _library("networkx", "to_networkx").Graph()
        for node, *cells in zip(columns.pop("node"), *columns.values(), strict=True):
            known = zip(columns, map(as_text, cells), strict=True)
            graph.add_node(node, **{name: cell for name, cell in known if cell is not None})
        rows, names = self.problem_.graph.rows, self.problem_.graph.names.tolist()
        source = np.repeat(np.arange(rows.n_nodes), np.diff(rows.start))
        once = source <= rows.ends
        ends = [[names[i] for i in end[once].tolist()] for end in (source, rows.ends)]
        if rows.weights is None:
            graph.add_edges_from(zip(*ends, strict=True))
        else:
            graph.add_weighted_edges_from(zip(*ends, rows.weights[once].tolist(), strict=True))
        return graph

    def report(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write a web page about what was found: one file that needs nothing else.

        Parameters
        ----------
        path : str or Path
        **options
            ``force=True`` replaces an existing file; see `isotherm.write_report`.

        Examples
        --------
        >>> import os, tempfile
        >>> from isotherm import DirichletClassifier, load_dataset
        >>> club = load_dataset("karate")
        >>> clf = DirichletClassifier().fit(club.graph, {0: "Mr. Hi", 33: "Officer"})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     clf.report(f"{folder}/club.html")
        ...     print(os.listdir(folder))
        ['club.html']
        """
        import isotherm  # pages are made far above: see `isotherm.report`

        isotherm.write_report(cast("DirichletEstimator", self), path, **options)


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
