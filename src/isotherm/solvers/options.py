"""How a problem is to be solved, and what a solve may be asked on its way."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, TypeAlias

from isotherm.compiled import n_threads
from isotherm.errors import ParameterError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from isotherm.solvers.certificate import Certificate
    from isotherm.solvers.method import Solver

# Called every few milliseconds, or after a step that takes longer, with the steps so far and the
# error that is still likely; what it raises ends the solve. It is how a progress bar, Ctrl-C in a
# notebook and a cancelled request all work.
Progress: TypeAlias = Callable[[int, float], None]

# Looks at temperatures and their certificate and says how many times too large the errors still
# are for the purpose at hand; at most 1 ends the solve there.
Stop: TypeAlias = "Callable[[NDArray[np.floating], Certificate], float]"


@dataclass(frozen=True)
class SolveOptions:
    """What is asked of a solve.

    Parameters
    ----------
    tol : float
        ``|T − T*| ≤ tol`` at every node, proven.
    solver : {"auto", "direct", "cg", "sweeps", "elimination"} or solver object
        Objects have options of their own, such as ``ConjugateGradient(max_iter=100)``.
    threads : int or None
        Of every part of a fit, a solve or a question; by default ``OMP_NUM_THREADS`` if set, else
        one per processor. The answer does not depend on it.
    memory : int or None
        The most bytes that the arrays of a solve may take, those of the graph not counted. Fewer
        columns are then solved at a time, and edges are copied only if there is room; those of a
        saved graph are read from the file again and again. By default what is free.

    Raises
    ------
    ParameterError
        If `tol` is not a number above 0, `threads` not a whole number from 1 to 1024, or
        `memory` not one above 0.

    Examples
    --------
    >>> import numpy as np
    >>> from isotherm import DirichletProblem, Graph, SolveOptions
    >>> from isotherm.engines import ENGINES
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> problem = DirichletProblem(path, np.array([0, 3]), np.array([0.0, 1.0]))
    >>> with ENGINES["scipy"].prepare(problem, SolveOptions(tol=1e-9)) as session:
    ...     print(session.solve(problem.values).converged)
    True
    """

    tol: float = 1e-6
    solver: str | Solver = "auto"
    threads: int | None = None
    memory: int | None = None

    def __post_init__(self) -> None:
        tol = self.tol
        is_number = type(tol) is float or (isinstance(tol, Real) and not isinstance(tol, bool))
        if not is_number or not 0 < tol < math.inf:
            raise ParameterError(f"tol must be a number > 0, got {tol!r}")
        object.__setattr__(self, "tol", float(tol))
        if self.threads is not None:
            n_threads(self.threads)  # says what is wrong with it
        if self.memory is not None and (not isinstance(self.memory, int) or self.memory < 1):
            raise ParameterError(f"memory must be a number of bytes ≥ 1, got {self.memory!r}")
