"""Why a fitted classifier gives a node its label: see `isotherm.trust.explain`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from isotherm.classifier.estimator import check_is_fitted
from isotherm.classifier.sampled import Sampled
from isotherm.errors import LabelError
from isotherm.solvers.method import check_count
from isotherm.trust.best_effort import solve_best_effort
from isotherm.trust.explain import Explanation, WeightedFlow, mixed_shares
from isotherm.trust.leave_one_out import leave_one_out

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

    from numpy.typing import NDArray

    from isotherm.classifier.seeds import Seeds
    from isotherm.trust.leave_one_out import LeftOut

SHARES_TOL = 1e-9


class Explained(Sampled):
    """A classifier that can say where the heat of a node comes from."""

    _codes: NDArray[np.signedinteger]

    def explain(self, node: Hashable, *, paths: int = 5, without_own: bool = False) -> Explanation:
        """Which seeds a node's temperatures come from, exactly, and along which paths.

        Parameters
        ----------
        node : hashable
            Its id.
        paths : int
            How many paths to find.
        without_own : bool
            Of a seed: explain what it would have if it were free, as after `suspects`. `label` is
            then the one that it would get, `own_label` the one that is known of it.

        Raises
        ------
        UnknownNode
            If there is no such node.
        LabelError
            If no heat reaches it.

        Examples
        --------
        >>> from isotherm import DirichletClassifier, Graph
        >>> path = Graph.from_edges("abcd", "bcde")
        >>> clf = DirichletClassifier().fit(path, {"a": "left", "e": "right"})
        >>> [(seed, round(share, 6)) for seed, _, share in clf.explain("b").seeds]
        [('a', 0.75), ('e', 0.25)]
        >>> alone = clf.explain("a", without_own=True)
        >>> alone.label, alone.own_label
        ('right', 'left')
        """
        check_is_fitted(self)
        check_count(paths, "paths", least=0)
        (i,) = self._nodes.positions([node])
        seeds, code, own_code = self.seeds_, self._codes[i], None
        without = np.flatnonzero(seeds.nodes == i) if without_own else np.empty(0, dtype=np.intp)
        if len(without):
            if len(seeds.nodes) == 1:
                raise LabelError(
                    "there is no other seed: nothing explains the node without its own label"
                )
            code, (own_code,) = self._code_without(without), seeds.codes[without]
            seeds = seeds.only(np.flatnonzero(seeds.nodes != i))
        return self._explained(self._flows(without), int(i), seeds, (code, own_code), paths)

    def explain_each(self, nodes: Iterable[Hashable], *, paths: int = 5) -> Iterator[Explanation]:
        """The same for several nodes, one after the other; what they share is made ready once.

        Parameters
        ----------
        nodes : iterable of hashables
            Ids.
        paths : int
            See `explain`.
        """
        check_is_fitted(self)
        check_count(paths, "paths", least=0)
        flows = self._flows(np.empty(0, dtype=np.intp))
        for i in self._nodes.positions(list(nodes)).tolist():
            yield self._explained(flows, i, self.seeds_, (self._codes[i], None), paths)

    def _explained(
        self,
        flows: list[WeightedFlow],
        i: int,
        seeds: Seeds,
        codes: tuple[int, int | None],
        paths: int,
    ) -> Explanation:
        """Of the node at position i: its label, and its own if that was left out."""
        names = self._nodes.ids
        (node,) = names[[i]].tolist()
        if flows[0].session.problem.is_unreached[i]:
            raise LabelError(f"no heat reaches node {node!r}: nothing explains it")
        label, own_label = (None if k is None else self.classes_[[k]].tolist()[0] for k in codes)
        found = mixed_shares(flows, i, paths, tol=SHARES_TOL)
        shares = found.shares
        order = np.argsort(-shares, kind="stable")
        order = order[shares[order] > 0]
        columns = (names[seeds.nodes[order]], self.classes_[seeds.codes[order]], shares[order])
        return Explanation(
            node,
            label,
            dict(zip(self.classes_.tolist(), (shares @ seeds.values).tolist(), strict=True)),
            list(zip(*(column.tolist() for column in columns), strict=True)),
            [(tuple(names[list(path.nodes)].tolist()), path.share) for path in found.paths],
            found.error_bound,
            own_label,
        )

    def _flows(self, without: NDArray[np.intp]) -> list[WeightedFlow]:
        """The heat that labels rest on, some seeds left out."""
        session = self.session()
        if len(without) == 0:
            return [WeightedFlow(1.0, session, self.solution_)]
        other = session.prepare(self.problem_.without(without))
        return [WeightedFlow(1.0, other, solve_best_effort(other))]

    def _code_without(self, place: NDArray[np.intp]) -> int:
        """The class that a seed would get if it were free."""
        return int(self._freed(place).labels(self._decision)[0])

    def _freed(self, some: NDArray[np.intp] | None) -> LeftOut:
        """Some seeds left out one at a time, by their places; by default all."""
        return leave_one_out(
            self.session(),
            self.solution_,
            self.seeds_.codes,
            abstain=self.unreached == "abstain",
            some=some,
        )
