"""Cases: a graph, what is known of some nodes, and how to ask for the rest."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from isotherm import DirichletClassifier, Graph, NotConverged, solve_dirichlet

Rows = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Case:
    """One problem and one claim about its solution.

    Attributes
    ----------
    claim : str
        A key of `check.CLAIMS`.
    n_nodes : int
    edges : tuple of (source, target, weight)
    seeds : tuple of int
    values : tuple of rows, one per seed
        The temperatures held; for claims about labels, distributions over the classes.
    leak, tol, solver, engine, decision, unreached
        As in `isotherm.DirichletClassifier`.
    weighted : bool
        False: weights are not passed on.
    start : rows, one per node, or None
        Temperatures to start from.
    before : rows, one per seed, or None
        Values of an earlier problem, from whose solution to start.
    confidence : tuple of float, one per seed, or None
    node : int
        To explain.
    order : tuple of int or None
        The nodes in another order.
    """

    claim: str
    n_nodes: int
    edges: tuple[tuple[int, int, float], ...]
    seeds: tuple[int, ...]
    values: Rows
    leak: float = 0.0
    tol: float = 1e-6
    solver: Any = "auto"
    engine: Any = "auto"
    weighted: bool = True
    start: Rows | None = None
    before: Rows | None = None
    decision: str = "centered"
    unreached: str = "abstain"
    confidence: tuple[float, ...] | None = None
    node: int = 0
    order: tuple[int, ...] | None = None

    @property
    def n_classes(self) -> int:
        """Number of columns."""
        return len(self.values[0])

    @property
    def held(self) -> list[bool]:
        """Which seeds are held, not tied."""
        return [c == 1 for c in self.confidence or [1.0] * len(self.seeds)]

    def changed(self) -> dict[str, Any]:
        """The options that are not the default, by name."""
        return {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if field.name not in ("claim", "n_nodes", "edges", "seeds", "values")
            and getattr(self, field.name) != field.default
        }

    # --- the same for isotherm ------------------------------------------------------------------

    def graph(self) -> Graph:
        """The graph."""
        source, target, weight = ([edge[i] for edge in self.edges] for i in range(3))
        columns = (
            np.array(source, dtype=np.intp),
            np.array(target, dtype=np.intp),
            np.array(weight, dtype=np.float64) if self.weighted else None,
        )
        return Graph.from_edges(*columns, nodes=np.arange(self.n_nodes))

    def solve(self, graph: Graph, **changes: Any) -> tuple[Any, bool]:
        """The solution, and whether it met the tolerance; `changes` replace options."""
        options = {name: getattr(self, name) for name in ("tol", "leak", "solver", "engine")}
        options |= changes
        start: Any = None
        if self.start is not None:
            start = np.array(self.start, dtype=np.float64)
        elif self.before is not None:
            start, _ = _attempt(graph, self.seeds, self.before, options)
        return _attempt(graph, self.seeds, self.values, options | {"start": start})

    def labels(self, values: Rows | None = None) -> dict[int, Any]:
        """What is known of each seed: a label, or a distribution over labels."""
        return {
            seed: label_of(row) for seed, row in zip(self.seeds, values or self.values, strict=True)
        }

    def confidences(self) -> dict[int, float] | None:
        """The confidence in each seed, by node."""
        return self.confidence and dict(zip(self.seeds, self.confidence, strict=True))

    def classifier(self, graph: Graph) -> DirichletClassifier:
        """The classifier, fitted; twice, if there is something before."""
        model = self.unfitted()
        if self.before is not None:
            model.fit(graph, self.labels(self.before), self.confidences())
        return model.fit(graph, self.labels(), self.confidences())

    def unfitted(self) -> DirichletClassifier:
        """The classifier as it is made."""
        names = ("leak", "tol", "solver", "engine", "unreached")
        options = {name: getattr(self, name) for name in names}
        return DirichletClassifier(self.decision, warm_start=self.before is not None, **options)

    def updates(self) -> list[dict[int, Any]]:
        """Labels to begin with, and changes after which they are those of the case."""
        final = self.labels()
        rng = np.random.default_rng([self.n_nodes, len(self.edges), self.node])
        first, more = dict(final), self.n_classes + 1
        for i, is_held in zip(self.seeds, self.held, strict=True):
            kind = rng.integers(0, 4)
            if not is_held or isinstance(final[i], dict):
                continue
            if kind == 0 and len(first) > 1:
                del first[i]
            elif kind == 1:
                first[i] = int(rng.integers(0, more))
        free = np.setdiff1d(np.arange(self.n_nodes), self.seeds)
        count = min(len(free), int(rng.integers(0, 4)))
        for i in rng.choice(free, count, replace=False).tolist():
            first[i] = int(rng.integers(0, more))
        changes: dict[int, Any] = {i: y for i, y in final.items() if first.get(i) != y}
        changes |= {i: None for i in first if i not in final}
        cut = int(rng.integers(0, len(changes) + 1))
        nodes = list(changes)
        return [first, *({i: changes[i] for i in part} for part in (nodes[:cut], nodes[cut:]))]

    def refusal(self) -> str | None:
        """Why isotherm may refuse the case, if it may."""
        with np.errstate(over="ignore"):
            if not np.isfinite(2 * np.sum([weight for _, _, weight in self.edges])):
                return "weights that add up to infinity"
            if self.start is not None and not np.isfinite(self.start).all():
                return "a start that is not finite"
            for c in self.confidence or ():
                most = 2 * np.sum([weight for _, _, weight in self.edges])
                if c < 1 and not np.isfinite(4 * max(most, 1.0) * (c / (1 - c))):
                    return "a tie of infinite weight"
        return None


def label_of(row: tuple[float, ...]) -> Any:
    """A class number, or a distribution {class number: share}."""
    shares = {k: share for k, share in enumerate(row) if share}
    return next(iter(shares)) if list(shares.values()) == [1.0] else shares


def _attempt(
    graph: Graph, seeds: tuple[int, ...], values: Rows, options: dict[str, Any]
) -> tuple[Any, bool]:
    """A solution, and whether it met the tolerance."""
    boundary = np.array(seeds, dtype=np.intp)
    try:
        return solve_dirichlet(graph, boundary, np.array(values), **options), True
    except NotConverged as failure:
        return failure.solution, False
