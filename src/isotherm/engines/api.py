"""All that an engine of another distribution imports, beside the public names of `isotherm`.

docs/engines.md says what each name is for, and shows an engine. A name that `isotherm` has itself
is not here a second time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from isotherm.dirichlet import Ties
from isotherm.engines import choose_engine
from isotherm.engines.changes import changed_problem
from isotherm.engines.engine import Engine, Session
from isotherm.engines.native.proof import native_imbalance
from isotherm.engines.session import HostSession
from isotherm.graph.rows import Rows
from isotherm.graph.saved.file import SavedFile, open_file
from isotherm.memory import check_room, size_text
from isotherm.solvers import Warm
from isotherm.solvers.certificate import nothing_to_prove, prove
from isotherm.solvers.imbalance import Imbalance
from isotherm.solvers.imbalance import imbalance as slow_imbalance
from isotherm.solvers.operator import ReferenceOperator, roots_measure_well
from isotherm.solvers.options import Progress, Stop

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem

__all__ = [
    "Engine",
    "HostSession",
    "Imbalance",
    "Progress",
    "ReferenceOperator",
    "Rows",
    "SavedFile",
    "Session",
    "Stop",
    "Ties",
    "Warm",
    "changed_problem",
    "check_room",
    "choose_engine",
    "imbalance",
    "nothing_to_prove",
    "open_file",
    "prove",
    "roots_measure_well",
    "size_text",
]


def imbalance(
    problem: DirichletProblem,
    X: NDArray[np.floating],
    exits: NDArray[np.float64],
    *,
    threads: int | None = None,
) -> Imbalance:
    """The numbers that prove X by exit times: from the core where it is, else from NumPy.

    Parameters
    ----------
    problem : DirichletProblem
        Only its `graph.rows`, `is_free`, `free`, `leak`, `ties` and `heat` are looked at: an engine
        that has some of the rows here gives an object with these.
    X : array of shape (n, k)
    exits : array of shape (n,)
        0 at nodes that are not free.
    threads : int, optional

    Examples
    --------
    >>> import numpy as np
    >>> from isotherm import DirichletProblem, Graph
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> problem = DirichletProblem(path, np.array([0, 3]), np.array([0.0, 3.0]))
    >>> X, exits = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0.0, 2.0, 2.0, 0.0])
    >>> bool(prove(problem, X, exits, imbalance(problem, X, exits)).bound < 1e-14)
    True
    """
    if problem.graph.rows.compiled:
        return native_imbalance(problem, X, exits, threads=threads)
    return slow_imbalance(problem, X, exits)
