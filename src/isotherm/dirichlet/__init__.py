"""A Dirichlet problem: the graph, what is known of some of its nodes, and what follows from it."""

from isotherm.dirichlet.boundary import Ties
from isotherm.dirichlet.problem import DirichletProblem

__all__ = ["DirichletProblem", "Ties"]
