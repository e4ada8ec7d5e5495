"""Every exception class of the package but `isotherm.NotConverged`, which carries a solution."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class IsothermError(Exception):
    """Base of all errors raised on purpose by this package.

    Examples
    --------
    >>> from isotherm import Graph, IsothermError
    >>> try:
    ...     Graph.from_edges([0], [1], [-1.0])
    ... except IsothermError as error:
    ...     print(error)
    Negative values in data: weights must be finite and ≥ 0; 1 of 1 are not, and the first of ...
    """


class GraphError(IsothermError, ValueError):
    """The input is not a graph: wrong shape, wrong weights, wrong node ids.

    Examples
    --------
    >>> from isotherm import Graph, GraphError
    >>> try:
    ...     Graph.from_edges([0, 1], [1])
    ... except GraphError as error:
    ...     print(error)
    source has 2 entries but target has 1: they need the same number
    """


class WeightTypeError(GraphError, TypeError):
    """A weight is something else than a number."""


class FileError(IsothermError, OSError):
    """A file cannot be read or written: missing, cut off, or in an unknown format.

    Examples
    --------
    >>> from isotherm import FileError, read_graph
    >>> try:
    ...     read_graph("nowhere.csv")
    ... except FileError as error:
    ...     print(error)
    there is no file nowhere.csv
    """


class LabelError(IsothermError, ValueError):
    """The labels or boundary values cannot be used: none, wrong length, conflicting.

    Examples
    --------
    >>> from isotherm import DirichletClassifier, Graph, LabelError
    >>> try:
    ...     DirichletClassifier().fit(Graph.from_edges([0], [1]), {})
    ... except LabelError as error:
    ...     print(error)
    no seed: every label is unknown (-1, None or NaN); give at least one node a label
    """


class UnknownNode(LabelError):
    """A label or boundary value names a node that the graph does not have.

    Examples
    --------
    >>> from isotherm import DirichletClassifier, Graph, UnknownNode
    >>> try:
    ...     DirichletClassifier().fit(Graph.from_edges([0], [1]), {7: "x"})
    ... except UnknownNode as error:
    ...     print(error)
    1 of 1 nodes are not in the graph: 7 (the graph has 2 nodes, such as 0, 1; ...)
    """


class ParameterError(IsothermError, ValueError):
    """A parameter has a value outside its range or names something that does not exist.

    Examples
    --------
    >>> from isotherm import DirichletClassifier, Graph, ParameterError
    >>> try:
    ...     DirichletClassifier("middle").fit(Graph.from_edges([0], [1]), {0: "x"})
    ... except ParameterError as error:
    ...     print(error)
    unknown decision 'middle'; choose one of: 'centered', 'plain', 'partial', ...
    """

    @classmethod
    def unknown(cls, kind: str, name: object, known: Iterable[str]) -> ParameterError:
        """Error for a `name` that is not one of the `known` ones."""
        return cls(f"unknown {kind} {name!r}; choose one of: {', '.join(map(repr, known))}")


class NotEnoughMemory(IsothermError, MemoryError):
    """The work would take more memory than is free; it was not started.

    Examples
    --------
    >>> from isotherm import NotEnoughMemory
    >>> issubclass(NotEnoughMemory, MemoryError)                    # either may be caught
    True
    """


class MissingLibrary(IsothermError, ImportError):
    """What was asked for needs a library that is not installed.

    Examples
    --------
    >>> from isotherm import MissingLibrary
    >>> issubclass(MissingLibrary, ImportError)                     # either may be caught
    True
    """


class DeviceError(IsothermError, RuntimeError):
    """A GPU cannot be used: there is none, its driver is too old, or it has failed.

    Examples
    --------
    >>> from isotherm import CudaEngine, DeviceError, MissingLibrary
    >>> try:
    ...     engine = CudaEngine()
    ... except MissingLibrary:
    ...     engine = "native"  # CuPy is not installed
    ... except DeviceError:
    ...     engine = "native"  # it is, but finds no GPU
    """


class DatasetError(IsothermError, OSError):
    """A data set cannot be used: not downloaded, changed since, or malformed.

    Examples
    --------
    >>> from isotherm import DatasetError, load_dataset
    >>> try:
    ...     club = load_dataset("karate")  # comes with the package; others may not be there
    ... except DatasetError as error:
    ...     print(error)
    """


class IsothermWarning(UserWarning):
    """Something in the input that a user may not expect; the work continues.

    Examples
    --------
    >>> import warnings
    >>> from isotherm import DirichletClassifier, Graph, IsothermWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", IsothermWarning)         # we know that labels are few
    ...     DirichletClassifier().fit_predict(Graph.from_edges([0], [1]), {0: 7}).tolist()
    [7, 7]
    """


class AsymmetryWarning(IsothermWarning):
    """A matrix of weights is not symmetric: those of the two directions of an edge were added.

    Examples
    --------
    >>> import warnings
    >>> from isotherm import AsymmetryWarning, Graph
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", AsymmetryWarning)         # such matrices are a mistake
    ...     try:
    ...         Graph.from_matrix([[0, 1], [2, 0]])
    ...     except AsymmetryWarning as warning:
    ...         print(warning)
    the matrix is not symmetric: the two directions of 1 pair of nodes have different weights ...
    """


class NoAnswer(IsothermWarning):
    """A classifier of another library failed, in a comparison that goes on without it."""


class SessionError(IsothermError, RuntimeError):
    """A session cannot be used like this: closed, in two threads, or before it has solved.

    Nor can a model be asked by the progress function of its own fit.

    Examples
    --------
    >>> import numpy as np
    >>> from isotherm import DirichletProblem, Graph, SessionError, SolveOptions
    >>> from isotherm.engines import ENGINES
    >>> path = Graph.from_edges([0, 1], [1, 2])
    >>> problem = DirichletProblem(path, np.array([0, 2]), np.array([0.0, 1.0]))
    >>> with ENGINES["scipy"].prepare(problem, SolveOptions()) as session:
    ...     pass
    >>> try:
    ...     session.solve(problem.values)
    ... except SessionError as error:
    ...     print(error)
    the session is closed: prepare the problem again
    """
