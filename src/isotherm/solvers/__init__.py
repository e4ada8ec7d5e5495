"""Solvers: the algorithms by which a Dirichlet problem is solved, and how the result is proven.

A solver is parameters only. Bound to a matrix (`isotherm.solvers.operator`) it is a method
(`isotherm.solvers.method`) that makes an `attempt`. Engines (`isotherm.engines`) bring the two
together.
"""

from isotherm.solvers.certificate import Certificate
from isotherm.solvers.cg import ConjugateGradient
from isotherm.solvers.choice import SOLVERS, choose_solvers
from isotherm.solvers.direct import Direct
from isotherm.solvers.elimination import Elimination
from isotherm.solvers.method import Warm
from isotherm.solvers.options import SolveOptions
from isotherm.solvers.solution import NotConverged, Solution
from isotherm.solvers.sweeps import Sweeps

__all__ = [
    "SOLVERS",
    "Certificate",
    "ConjugateGradient",
    "Direct",
    "Elimination",
    "NotConverged",
    "Solution",
    "SolveOptions",
    "Sweeps",
    "Warm",
    "choose_solvers",
]
