"""What a fitted classifier tells of how far to trust it; the work is done in `isotherm.trust`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from isotherm.classifier.estimator import DirichletEstimator
from isotherm.decision import DECISIONS
from isotherm.errors import LabelError, ParameterError
from isotherm.solvers import solve
from isotherm.trust.choose import LEAKS, MOST_SEEDS, Selection, choose
from isotherm.trust.explain import shares_of
from isotherm.trust.honest import judged
from isotherm.trust.left_out import leave_one_out

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.trust.honest import LeaveOneOut, Suspect
    from isotherm.trust.left_out import LeftOut

AUTO = "auto"
SHARES_TOL = 1e-9
SELECTION_TOL = 1e-4  # of temperatures that only choose


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
    _problem: DirichletProblem
    _seed_codes: NDArray[np.intp]
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
            nodes=self._nodes.ids[left.seeds],
            classes=self.classes_,
            n_seeds=len(self._seed_codes),
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
        problem = self._problem
        (i,) = self._nodes.positions([node])
        names = self._nodes.ids
        if problem.is_unreached[i]:
            raise LabelError(f"no heat reaches node {node!r}: nothing explains it")
        labels = self.classes_[self._seed_codes]
        (own,) = self.classes_[self._codes[[i]]].tolist()
        if not problem.is_free[i]:
            return Explanation(node, own, {own: 1.0}, [(node, own, 1.0)], [])
        found = shares_of(problem, int(i), tol=SHARES_TOL, solver=self.solver, engine=self.engine)
        by_class = np.bincount(self._seed_codes, found.shares, len(self.classes_))
        order = np.argsort(-found.shares, kind="stable")
        order = order[found.shares[order] > 0]
        return Explanation(
            node,
            own,
            dict(zip(self.classes_.tolist(), by_class.tolist(), strict=True)),
            list(
                zip(
                    names[found.seeds[order]].tolist(),
                    labels[order].tolist(),
                    found.shares[order].tolist(),
                    strict=True,
                )
            ),
            [(tuple(names[list(path.nodes)].tolist()), path.share) for path in found.paths(paths)],
        )

    def _select(self, problem: DirichletProblem, codes: NDArray[np.intp]) -> Selection:
        """The decision and the leak to use: those given, or the best by leave-one-out."""
        decisions = list(DECISIONS) if self.decision == AUTO else [self.decision]
        leaks = LEAKS if self.leak == AUTO else (problem.leak,)
        n_seeds, n_classes = len(codes), problem.n_columns
        if len(decisions) * len(leaks) == 1:
            return Selection(decisions[0], leaks[0], [], 0, n_seeds)
        per_class = np.bincount(codes, minlength=n_classes)
        some = np.flatnonzero(per_class[codes] > 1)  # others cannot be found again
        if len(some) > MOST_SEEDS:
            some = np.sort(np.random.default_rng(0).choice(some, MOST_SEEDS, replace=False))
        how: dict[str, Any] = {
            "tol": max(self.tol, SELECTION_TOL),
            "solver": self.solver,
            "engine": self.engine,
        }
        found: dict[tuple[str, float], NDArray[np.intp]] = {}
        for leak in leaks if len(some) else leaks[:1]:
            leaky = problem.with_leak(leak)
            T = self._with_unreached(solve(leaky, **how).temperatures, problem.is_unreached)
            counted = int(np.count_nonzero(~np.isnan(T[:, 0])))
            left = leave_one_out(leaky, T, codes, n_counted=counted, some=some, **how)
            found |= {(decision, leak): left.labels(decision) for decision in decisions}
        return choose(found, codes[some], n_classes, n_seeds)

    def _left_out(self, max_seeds: int | None, random_state: int) -> LeftOut:
        n_seeds, some = len(self._seed_codes), None
        if max_seeds is not None:
            if max_seeds < 1:
                raise ParameterError(f"max_seeds must be a whole number ≥ 1, got {max_seeds!r}")
            if max_seeds < n_seeds:
                rng = np.random.default_rng(random_state)
                some = np.sort(rng.choice(n_seeds, max_seeds, replace=False))
        problem = self._problem
        counted = ~np.isnan(self.temperatures_[:, 0])
        return leave_one_out(
            problem,
            self.temperatures_,
            self._seed_codes,
            n_counted=int(np.count_nonzero(counted)),
            some=some,
            tol=self.tol,
            solver=self.solver,
            engine=self.engine,
        )
