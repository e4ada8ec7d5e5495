"""The table of nodes: searched, filtered, sorted, and given a page at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow.compute as pc

from isotherm.errors import ParameterError
from isotherm.rounding import LEVEL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.graph import Graph
    from isotherm.page.snapshot import Snapshot

PAGE = 50  # rows, unless another number is asked for
MOST = 200
SORTS = ("name", "label", "probability", "degree")
STATES = ("all", "given", "predicted", "unsure", "none", "skipped")


class Query(NamedTuple):
    """What is asked of the table.

    Attributes
    ----------
    search : str
        A part of the name, whatever its case.
    label : str
        A class; empty for all.
    state : str
        One of `STATES`.
    sort : str
        One of `SORTS`.
    descending : bool
    page, size : int
    below : float
        What is unsure: a label of less probability.
    """

    search: str = ""
    label: str = ""
    state: str = "all"
    sort: str = "probability"
    descending: bool = False
    page: int = 0
    size: int = PAGE
    below: float = 0.8

    def check(self) -> Query:
        """Itself, if it makes sense.

        Raises
        ------
        ParameterError
        """
        if self.sort not in SORTS:
            raise ParameterError.unknown("sort", self.sort, SORTS)
        if self.state not in STATES:
            raise ParameterError.unknown("state", self.state, STATES)
        if self.page < 0 or not 1 <= self.size <= MOST:
            raise ParameterError(
                f"page must be ≥ 0 and size from 1 to {MOST}, got page {self.page} and size "
                f"{self.size}"
            )
        if not 0 <= self.below <= 1:
            raise ParameterError(f"below must be from 0 to 1, got {self.below}")
        return self


class NodeTable:
    """All nodes, to look for some.

    Parameters
    ----------
    graph : Graph
    """

    def __init__(self, graph: Graph) -> None:
        self._texts = graph.nodes.as_texts()
        self._folded = pc.utf8_lower(self._texts)
        self._degree = np.diff(graph.rows.start)
        self._rank = np.empty(graph.n_nodes, dtype=np.intp)
        self._rank[np.asarray(pc.sort_indices(self._folded))] = np.arange(graph.n_nodes)

    def find(
        self, query: Query, snapshot: Snapshot, skipped: NDArray[np.intp]
    ) -> tuple[list[int], int]:
        """The positions on a page of the table, and how many there are on all pages."""
        keep = np.ones(snapshot.n_nodes, dtype=bool)
        if query.search:
            part = query.search.lower()
            keep &= np.asarray(pc.match_substring(self._folded, part), dtype=bool)
        if query.label:
            known = query.label in snapshot.classes
            code = snapshot.classes.index(query.label) if known else snapshot.n_classes
            keep &= snapshot.codes == code
        keep &= self._in_state(query, snapshot, skipped)
        found = np.flatnonzero(keep)
        last = snapshot.codes[found] < 0 if query.sort in ("label", "probability") else found * 0
        keys = [self._rank[found], self._keys(query, snapshot)[found], last]
        if query.search:  # the node of that very name first
            exact = pc.not_equal(self._folded.take(found), query.search.lower())
            keys.append(np.asarray(exact))
        order = found[np.lexsort(keys)]
        first = query.page * query.size
        return order[first : first + query.size].tolist(), len(found)

    def _in_state(
        self, query: Query, snapshot: Snapshot, skipped: NDArray[np.intp]
    ) -> NDArray[np.bool_]:
        labelled, seed = snapshot.codes >= 0, snapshot.is_seed
        if query.state == "given":
            return seed
        if query.state == "predicted":
            return np.asarray(labelled & ~seed)
        if query.state == "unsure":
            return np.asarray(~seed & (snapshot.certainty < query.below - LEVEL))
        if query.state == "none":
            return ~labelled
        every = np.full(snapshot.n_nodes, query.state == "all")
        if query.state == "skipped":
            every[skipped] = True
        return every

    def _keys(self, query: Query, snapshot: Snapshot) -> NDArray[Any]:
        keys: dict[str, NDArray[Any]] = {
            "name": self._rank,
            "label": snapshot.codes,
            "probability": snapshot.certainty,
            "degree": self._degree,
        }
        return -keys[query.sort] if query.descending else keys[query.sort]
