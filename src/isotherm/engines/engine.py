"""What an engine offers to all above it: a place where the arithmetic happens.

An engine prepares a problem once: that is a session. A session solves it for as many boundary
values as there are, keeping what depends on the matrix alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, Self

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.solvers.certificate import Certificate
    from isotherm.solvers.method import Warm
    from isotherm.solvers.options import Progress, SolveOptions, Stop
    from isotherm.solvers.solution import Solution


class Engine(Protocol):
    """Prepares problems."""

    @property
    def name(self) -> str:
        """The name by which users choose it."""
        ...

    def prepare(self, problem: DirichletProblem, options: SolveOptions) -> Session:
        """Make the matrix of a problem ready."""
        ...


class Session(Protocol):
    """One matrix, made ready: exit times, factors, trees peeled off, whatever an engine keeps.

    It belongs to one thread at a time, and is closed at the end of a ``with`` block or by `close`.

    Attributes
    ----------
    problem : DirichletProblem
        As it stands: with what was held and released since.
    options : SolveOptions
    """

    problem: DirichletProblem
    options: SolveOptions

    @property
    def is_busy(self) -> bool:
        """Whether it is at work, in whatever thread."""
        ...

    @property
    def is_solved(self) -> bool:
        """Whether there is a solution of its problem, which `change` can change."""
        ...

    def solve(
        self,
        values: ArrayLike | None = None,
        *,
        tol: float | None = None,
        start: Warm | None = None,
        stop: Stop | None = None,
        progress: Progress | None = None,
    ) -> Solution:
        """Temperatures with their certificate; check `Solution.converged`.

        Parameters
        ----------
        values : array of shape (s, k), optional
            Of the seeds (`DirichletProblem.seeds`); by default those of the problem.
        tol : float, optional
            If another one than that of the options will do.
        start : Warm, optional
            Where to start from.
        stop, progress : optional
            See `isotherm.solvers.options`.
        """
        ...

    def change(
        self,
        changes: Mapping[int, NDArray[np.float64] | None],
        columns: Sequence[int] | None = None,
        *,
        stop: Stop | None = None,
        progress: Progress | None = None,
    ) -> Solution:
        """Hold nodes at other values, or (None) hold them no longer: one column for each.

        Certified like a solve of the changed problem, which is the session's from then on.

        Parameters
        ----------
        changes : mapping {node: values of shape (k,), or None}
        columns : sequence of k ints, optional
            Which columns there are from now on; −1 is a new one that no seed has any heat of.
        stop, progress : optional
            See `isotherm.solvers.options`.
        """
        ...

    def hold(self, node: int, values: NDArray[np.float64]) -> Solution:
        """One more seed, or another value of one; see `change`."""
        return self.change({node: np.asarray(values, dtype=np.float64)})

    def release(self, node: int) -> Solution:
        """One seed less; see `change`."""
        return self.change({node: None})

    def respond(self, nodes: NDArray[np.intp], tol: float) -> NDArray[np.float64]:
        """Temperatures, shape (n, m), when d units of heat are put in at one node, all seeds at 0.

        One column for each of the free `nodes`, found to a likely error of `tol`, without a proof.
        """
        ...

    def prove(
        self, problem: DirichletProblem, X: NDArray[np.floating], exits: NDArray[np.float64]
    ) -> Certificate:
        """How far X can be from equilibrium, for any problem on the same graph.

        Parameters
        ----------
        problem : DirichletProblem
        X : array of shape (n, k)
        exits : array of shape (n,)
            Whatever drains heat from every free node, such as the `nodes` of a certificate of the
            same problem with fewer nodes held.
        """
        ...

    def prepare(self, problem: DirichletProblem, options: SolveOptions | None = None) -> Session:
        """A session of another problem on the same engine, by default with the same options."""
        ...

    def close(self) -> None:
        """Give back what is held."""
        ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
