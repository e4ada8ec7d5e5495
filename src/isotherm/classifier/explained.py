"""Why a fitted classifier gives a node its label: see `isotherm.trust.explain`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from isotherm.classifier.estimator import check_is_fitted
from isotherm.classifier.sampled import Sampled
from isotherm.errors import LabelError
from isotherm.labels import UNKNOWN
from isotherm.solvers.method import check_count
from isotherm.trust.abstain import check_probability
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

    def explain(
        self,
        node: Hashable,
        *,
        paths: int = 5,
        heat: float | None = None,
        without_own: bool = False,
        probability: bool = False,
    ) -> Explanation:
        """Which seeds a node's temperatures come from, exactly, and along which paths.

        Parameters
        ----------
        node : hashable
            Its id.
        paths : int
            How many paths to find.
        heat : float, optional
            From 0 to 1: while the paths carry less than this share of the heat, find more, up to 40
            with at least a hundredth of the heat each; `rest` says what other paths carry.
        without_own : bool
            For a seed: explain the label it would get if it were free, as after `suspects`. `label`
            is then the label it would get, and `own_label` its known one.
        probability : bool
            Whether to say how probable the label is: seeds are left out for that, once.

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
        >>> clf.explain("b", paths=1, heat=0.8).rest
        Rest(share=0.0, n_paths=0, is_all=True)
        """
        found = self.explain_each(
            [node], paths=paths, heat=heat, without_own=without_own, probability=probability
        )
        return next(found)

    def explain_each(
        self,
        nodes: Iterable[Hashable],
        *,
        paths: int = 5,
        heat: float | None = None,
        without_own: bool = False,
        probability: bool = False,
        skipped: list[str] | None = None,
    ) -> Iterator[Explanation]:
        """The same for several nodes, one after the other; shared work is done once.

        Parameters
        ----------
        nodes : iterable of hashables
            Ids.
        paths, heat, without_own, probability
            See `explain`.
        skipped : list, optional
            Nodes that nothing explains are left out, and a sentence about each is added here.
            Without it they are an error.
        """
        check_is_fitted(self)
        check_count(paths, "paths", least=0)
        if heat is not None:
            check_probability(heat, "heat")
        positions = self._nodes.positions(list(nodes)).tolist()
        none, seeds = np.empty(0, dtype=np.intp), self.seeds_
        flows: list[WeightedFlow] | None = None
        for i in positions:
            without, scores = np.flatnonzero(seeds.nodes == i) if without_own else none, None
            try:
                if len(without):
                    found, scores = self._explained_without(i, without, paths, heat)
                else:
                    flows = flows or self._flows(none)
                    found = self._explained(flows, i, seeds, (self._codes[i], None), paths, heat)
            except LabelError as error:
                if skipped is None:
                    raise
                skipped.append(str(error))
                continue
            if probability:
                found = found._replace(probability=self._probability(found.label, i, scores))
            yield found

    def _explained_without(
        self, i: int, without: NDArray[np.intp], paths: int, heat: float | None
    ) -> tuple[Explanation, NDArray[np.float64] | None]:
        """Of a seed, as if it were free; and its scores then."""
        seeds = self.seeds_
        if len(seeds.nodes) == 1:
            raise LabelError(
                "there is only one seed, so nothing explains its node without its own label; add "
                "another seed"
            )
        S = self._scores_without(without)
        code = UNKNOWN if S is None else int(np.nan_to_num(S[0], nan=-np.inf).argmax())
        codes = code, int(seeds.codes[without][0])
        others = seeds.only(np.flatnonzero(seeds.nodes != i))
        return self._explained(self._flows(without), i, others, codes, paths, heat), S

    def _probability(
        self, label: object, i: int, scores: NDArray[np.float64] | None
    ) -> float | None:
        """Of a label, at the node at position i or by scores that it would have."""
        if len(self.classes_) == 1 or label is None:
            return None
        if scores is None:
            P = self.some_probabilities(slice(i, i + 1))
        else:
            P = self.calibration_(scores)
        return float(P[0, self.classes_.tolist().index(label)])

    def some_probabilities(self, rows: slice | NDArray[np.intp]) -> NDArray[np.float64]:
        """Of some nodes: the probabilities of the classes; see `predict_proba`."""
        raise NotImplementedError

    def _explained(
        self,
        flows: list[WeightedFlow],
        i: int,
        seeds: Seeds,
        codes: tuple[int, int | None],
        paths: int,
        heat: float | None,
    ) -> Explanation:
        """Of the node at position i: its label, and its own if that was left out."""
        names = self._nodes.ids
        (node,) = names[[i]].tolist()
        if flows[0].session.problem.is_unreached[i]:
            raise LabelError(
                f"no heat reaches node {node!r}, so nothing explains it; label a node that is "
                "connected to it"
            )
        label, own_label = (None if k is None else self.classes_[[k]].tolist()[0] for k in codes)
        found = mixed_shares(flows, i, paths, heat, tol=SHARES_TOL)
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
            rest=found.rest,
        )

    def _flows(self, without: NDArray[np.intp]) -> list[WeightedFlow]:
        """The heat that labels rest on, some seeds left out."""
        session = self.session()
        if len(without) == 0:
            return [WeightedFlow(1.0, session, self.solution_)]
        other = session.prepare(self.problem_.without(without))
        return [WeightedFlow(1.0, other, solve_best_effort(other))]

    def _scores_without(self, place: NDArray[np.intp]) -> NDArray[np.float64] | None:
        """Of a seed, by its place, if it were free: scores of shape (1, K); None without heat."""
        left = self._freed(place)
        return left.scores(self._decision) if left.reached[0] else None

    def _freed(self, some: NDArray[np.intp] | None) -> LeftOut:
        """Some seeds left out one at a time, by their places; by default all."""
        return leave_one_out(
            self.session(),
            self.solution_,
            self.seeds_.codes,
            abstain=self.unreached == "abstain",
            some=some,
        )
