"""What a fitted classifier tells of how far to trust it; the work is done in `isotherm.trust`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from isotherm.classifier.estimator import DirichletEstimator
from isotherm.decision import DECISIONS
from isotherm.errors import LabelError, NotConverged, ParameterError
from isotherm.solvers import solve
from isotherm.trust import guard
from isotherm.trust.calibrate import Calibration, calibrate
from isotherm.trust.choose import LEAKS, Selection, choose
from isotherm.trust.explain import shares_of
from isotherm.trust.honest import judged
from isotherm.trust.left_out import FEW_SEEDS, leave_one_out, leave_sample_out

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    from isotherm.classifier.seeds import Seeds
    from isotherm.dirichlet import DirichletProblem
    from isotherm.trust.honest import LeaveOneOut, Suspect
    from isotherm.trust.left_out import LeftOut

AUTO = "auto"
SHARES_TOL = 1e-9
SAMPLE_TOL = 1e-4  # of temperatures that only choose, or tell how sure labels are
GUARDED = 10_000_000  # seeds × entries of the matrix up to which a fit looks at seeds left out
LOOKED_AT = 4096  # free nodes, to see whether all are warmest in one class


class Explanation(NamedTuple):
    """Where the temperatures of a node come from.

    Attributes
    ----------
    node : hashable
    label : object
        That it has.
    classes : dict
        The share of each class: the node's temperatures.
    seeds : list of tuples
        Seed, its label and its share, the greatest first.
    paths : list of tuples
        The nodes of a path from this one to a seed, and the share of all heat that takes it.
    """

    node: Hashable
    label: Any
    classes: dict[Any, float]
    seeds: list[tuple[Hashable, Any, float]]
    paths: list[tuple[tuple[Hashable, ...], float]]


class Trusted(DirichletEstimator):
    """What a classifier can tell once it is fitted."""

    decision: str
    leak: Any
    classes_: NDArray[Any]
    _decision: str
    _problem: DirichletProblem  # with a further node for each seed that is tied
    _seeds: Seeds  # in the order of its boundary
    _sample: LeftOut | None
    _calibrated: Calibration | None
    _codes: NDArray[np.signedinteger[Any]]

    def leave_one_out(self, *, max_seeds: int | None = None, random_state: int = 0) -> LeaveOneOut:
        """What each seed would get if it were free: an honest score without further labels.

        Exact: the same as fitting again without the seed, at the price of one column each.

        Parameters
        ----------
        max_seeds : int, optional
            Leave out so many at the most, drawn at random; the result says that it is a sample.
        random_state : int
            Of the draw.

        Examples
        --------
        >>> from isotherm import DirichletClassifier, load_dataset
        >>> club = load_dataset("karate")
        >>> known = {node: club.labels[node] for node in (0, 1, 2, 3, 30, 31, 32, 33)}
        >>> print(DirichletClassifier().fit(club.graph, known).leave_one_out().accuracy)
        1.000 (0.676 to 1.000)
        """
        check_is_fitted(self, "temperatures_")
        left = self._left_out(max_seeds, random_state)
        return judged(
            left,
            self._decision,
            nodes=self._nodes.ids[self._seeds.nodes[left.places]],
            classes=self.classes_,
            n_seeds=len(self._seeds.nodes),
        )

    def suspects(self, *, max_seeds: int | None = None, random_state: int = 0) -> list[Suspect]:
        """Seeds whose own label loses when they are left out, those that lose most clearly first.

        Parameters
        ----------
        max_seeds, random_state
            See `leave_one_out`.
        """
        return self.leave_one_out(max_seeds=max_seeds, random_state=random_state).suspects()

    def explain(self, node: Hashable, *, paths: int = 5) -> Explanation:
        """Which seeds a node's temperatures come from, exactly, and along which paths.

        Parameters
        ----------
        node : hashable
            Its id.
        paths : int
            How many paths to find.

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
        """
        check_is_fitted(self, "temperatures_")
        if paths < 0:
            raise ParameterError(f"paths must be a whole number ≥ 0, got {paths!r}")
        problem, seeds = self._problem, self._seeds
        (i,) = self._nodes.positions([node])
        names = self._nodes.ids
        if problem.is_unreached[i]:
            raise LabelError(f"no heat reaches node {node!r}: nothing explains it")
        (own,) = self.classes_[self._codes[[i]]].tolist()
        if problem.is_free[i]:
            found = shares_of(
                problem, int(i), tol=SHARES_TOL, solver=self.solver, engine=self.engine
            )
            shares, paths_found = found.shares, found.paths(paths)
        else:
            shares, paths_found = (problem.boundary == i).astype(np.float64), []
        order = np.argsort(-shares, kind="stable")
        order = order[shares[order] > 0]
        tied = seeds.nodes[seeds.n_held :]
        node_of = np.concatenate([np.arange(len(self.temperatures_)), tied])
        columns = (names[seeds.nodes[order]], self.classes_[seeds.codes[order]], shares[order])
        return Explanation(
            node,
            own,
            dict(zip(self.classes_.tolist(), (shares @ problem.values).tolist(), strict=True)),
            list(zip(*(column.tolist() for column in columns), strict=True)),
            [
                # A tie ends in the node that it is of.
                (tuple(dict.fromkeys(names[node_of[list(path.nodes)]].tolist())), path.share)
                for path in paths_found
            ],
        )

    @property
    def calibration_(self) -> Calibration:
        """How scores become probabilities."""
        check_is_fitted(self, "temperatures_")
        if self._calibrated is None:
            left = self._left_sample()
            S = left.scores(self._decision)
            some = np.isfinite(S).all(axis=1)
            self._calibrated = calibrate(S[some], left.codes[some], self._spread())
        return self._calibrated

    def _spread(self) -> float:
        raise NotImplementedError

    def _select(
        self, problem: DirichletProblem, codes: NDArray[np.intp], n: int
    ) -> tuple[Selection, LeftOut | None]:
        """The decision and the leak to use, those given or the best by leave-one-out.

        And, if it came to that, the seeds left out with that leak.
        """
        decisions = list(DECISIONS) if self.decision == AUTO else [self.decision]
        leaks = LEAKS if self.leak == AUTO else (problem.leak,)
        if len(decisions) * len(leaks) == 1:
            return Selection(decisions[0], leaks[0], [], 0, len(codes)), None
        found: dict[tuple[str, float], NDArray[np.intp]] = {}
        left: dict[float, LeftOut] = {}
        for leak in leaks:
            leaky = problem.with_leak(leak)
            T = solve(leaky, **self._how(SAMPLE_TOL)).temperatures[:n]
            T = self._with_unreached(T, problem.is_unreached[:n])
            left[leak] = self._sampled(leaky, T, codes)
            some = ~left[leak].is_last
            found |= {(decision, leak): left[leak].labels(decision)[some] for decision in decisions}
            if not some.any():
                break
        judgeable = left[leaks[0]].codes[~left[leaks[0]].is_last]
        chosen = choose(found, judgeable, problem.n_columns, len(codes))
        return chosen, left[chosen.leak]

    def _how(self, tol: float = 0.0) -> dict[str, Any]:
        return {"tol": max(self.tol, tol), "solver": self.solver, "engine": self.engine}

    def _sampled(
        self, problem: DirichletProblem, T: NDArray[Any], codes: NDArray[np.intp]
    ) -> LeftOut:
        how = self._how(SAMPLE_TOL)
        try:
            return leave_sample_out(problem, T, codes, n_counted=_counted(T), **how)
        except NotConverged:  # a solver that was told to stop early
            how["solver"] = "auto"
            return leave_sample_out(problem, T, codes, n_counted=_counted(T), **how)

    def _left_sample(self) -> LeftOut:
        """Seeds left out, enough to judge by."""
        if self._sample is None:
            self._sample = self._sampled(self._problem, self.temperatures_, self._seeds.codes)
        return self._sample

    def _left_out(self, max_seeds: int | None, random_state: int) -> LeftOut:
        n_seeds, some = len(self._seeds.codes), None
        if max_seeds is not None:
            if max_seeds < 1:
                raise ParameterError(f"max_seeds must be a whole number ≥ 1, got {max_seeds!r}")
            if max_seeds < n_seeds:
                rng = np.random.default_rng(random_state)
                some = np.sort(rng.choice(n_seeds, max_seeds, replace=False))
        T = self.temperatures_
        return leave_one_out(
            self._problem, T, self._seeds.codes, n_counted=_counted(T), some=some, **self._how()
        )

    def _doubts(self) -> list[str]:
        """Why there may be too few labels to go by."""
        codes, classes = self._seeds.codes, self.classes_
        if len(classes) < 2:
            return []
        free = np.flatnonzero(self._problem.is_free[: len(self.temperatures_)])
        some = free[:: max(1, len(free) // LOOKED_AT)]
        found = [
            guard.lonely(codes, classes),
            guard.collapsed(self.temperatures_[some].argmax(axis=1), classes, self._decision),
        ]
        work = len(codes) * len(self._problem.graph.rows.ends)
        if self._sample is not None or (len(codes) <= FEW_SEEDS and work <= GUARDED):
            left = self._left_sample()
            others = ~left.is_last
            found.append(
                guard.no_better_than_chance(left.codes[others], left.labels(self._decision)[others])
            )
        return [doubt for doubt in found if doubt is not None]


def _counted(T: NDArray[Any]) -> int:
    """Nodes over which means are taken."""
    return int(np.count_nonzero(~np.isnan(T[:, 0])))
