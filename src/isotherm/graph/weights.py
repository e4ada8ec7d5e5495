"""Weights and matrices as they come → clean ones, or an error that says what is wrong."""

from __future__ import annotations

import logging
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from isotherm.caller import depth_of_caller
from isotherm.errors import AsymmetryWarning, GraphError, WeightTypeError
from isotherm.graph.nodes import as_column
from isotherm.masked import has_masked

if TYPE_CHECKING:
    from numpy.typing import NDArray

logger = logging.getLogger(__name__)

USUAL = "?bBhHiIlLqQfd"  # types of weights
ALIKE = 1e-5  # two weights may be rounded differently, as those of a kernel are
EDGE_LIST = "for an edge list, use Graph.from_edges(source, target)"


def check_weights(weights: NDArray[np.generic]) -> None:
    """Raise GraphError unless all weights are real, finite and not negative."""
    if weights.dtype.kind not in "biuf":
        raise GraphError(f"weights must be real numbers, got type {weights.dtype}")
    for fault, found in (
        ("NaN in data", weights != weights),
        ("infinite values in data", np.isinf(weights)),
        ("Negative values in data", np.less(weights, 0)),
    ):
        if found.any():
            first = int(np.flatnonzero(found)[0])
            raise GraphError(
                f"{fault}: weights must be finite and ≥ 0; {found.sum()} of {len(weights)} are "
                f"not, and the first of these is {weights[first]} (number {first})"
            )


def as_weight_column(weight: Any, length: int) -> NDArray[np.float64]:
    """One weight per edge, as float64."""
    column = as_column(weight, "weight")
    if len(column) != length:
        raise GraphError(f"{length} edges but {len(column)} weights: give one per edge")
    if column.dtype == object:
        text = next((value for value in column if isinstance(value, str)), None)
        if text is not None:
            raise GraphError(f"weights must be real numbers, got the text {text!r}")
        try:
            column = column.astype(np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise GraphError(f"weights must be real numbers: {error}") from None
    check_weights(column)
    return _as_float64(column)


def _as_float64(weights: NDArray[np.generic]) -> NDArray[np.float64]:
    """The same as float64; infinite, and refused later, where they are too large for it."""
    with np.errstate(over="ignore"):
        return weights.astype(np.float64, copy=False)


def weighted_ends(
    i: NDArray[Any], j: NDArray[Any], weight: Any
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float64] | None]:
    """The ends of edges and their weights; an edge of weight 0 is none."""
    if weight is None:
        return i, j, None
    weights = as_weight_column(weight, len(i))
    kept = weights > 0
    return i[kept], j[kept], weights[kept]


def as_csr(matrix: Any) -> scipy.sparse.csr_array | scipy.sparse.csr_matrix:
    """The matrix in CSR form, of numbers; sharing what arrays it can with the input."""
    if type(matrix) in (scipy.sparse.csr_array, scipy.sparse.csr_matrix) and _is_usual(matrix):
        return matrix
    if not scipy.sparse.issparse(matrix):
        try:
            matrix = np.asarray(matrix.filled(0) if has_masked(matrix) else matrix)
        except ValueError:
            raise GraphError("the rows of a matrix must have the same length") from None
    if matrix.ndim != 2:
        raise GraphError(
            f"cannot make a graph from {matrix.ndim}-dimensional data of type {matrix.dtype}; "
            "pass a Graph, a matrix, or a networkx or igraph graph"
        )
    if matrix.dtype == object and not scipy.sparse.issparse(matrix):
        matrix = _as_numbers(matrix)
    if matrix.dtype.kind == "c":
        raise GraphError("Complex data not supported: weights must be real numbers")
    if matrix.dtype.kind not in "biuf":
        raise GraphError(f"weights must be real numbers, got type {matrix.dtype} ({EDGE_LIST})")
    if matrix.dtype.char in "eg" or not matrix.dtype.isnative:  # no sparse matrices are of these
        matrix = _as_float64(matrix)
    try:
        return scipy.sparse.csr_array(_whole(matrix))
    except (TypeError, ValueError, OverflowError) as error:
        raise damaged(error) from None


def _whole(matrix: Any) -> Any:
    """The same matrix, its parts looked at or put together anew; ValueError if they do not fit.

    SciPy converts without a look, and reads and writes outside of a matrix that was edited.
    """
    kind = getattr(matrix, "format", "")
    if kind in ("csc", "bsr"):
        _check_format(matrix)
    if kind == "coo":  # SciPy adds up what comes twice
        entries = matrix.data.astype(np.float64, copy=False), matrix.coords
        return scipy.sparse.coo_array(entries, shape=matrix.shape)
    if kind == "dia":
        return scipy.sparse.dia_array((matrix.data, matrix.offsets), shape=matrix.shape)
    if kind == "lil":
        lengths = [[len(row) for row in part] for part in (matrix.rows, matrix.data)]
        if lengths[0] != lengths[1] or len(lengths[0]) != matrix.shape[0]:
            raise ValueError("a row must have as many columns as numbers")
    return matrix


def _is_usual(csr: scipy.sparse.csr_array) -> bool:
    """Whether there is nothing for SciPy to do: numbers of a usual type, and no room to spare."""
    start, n_entries = csr.indptr, len(csr.indices)
    fits = len(start) == csr.shape[0] + 1 and start[-1] == n_entries == len(csr.data)
    return fits and csr.dtype.char in USUAL


def check_structure(matrix: Any) -> None:
    """Raise GraphError where a compressed matrix points outside of itself."""
    try:
        _check_format(matrix)
    except ValueError as error:
        raise damaged(error) from None


def _check_format(matrix: Any) -> None:
    matrix.check_format(full_check=True)
    if (matrix.indptr[1:] < matrix.indptr[:-1]).any():  # SciPy looks only if the last is above 0
        raise ValueError("index pointer values must form a non-decreasing sequence")


def damaged(error: Exception) -> GraphError:
    """What to say of a matrix whose arrays do not belong together."""
    return GraphError(f"the matrix is damaged: {error}; make it again from its entries")


def _as_numbers(matrix: NDArray[np.object_]) -> NDArray[np.float64]:
    """A matrix of Python objects that are numbers; texts are not taken for any."""
    text = next((entry for entry in matrix.flat if isinstance(entry, str)), None)
    if text is not None:
        raise GraphError(f"weights must be real numbers, got the text {text!r} ({EDGE_LIST})")
    try:
        return matrix.astype(np.float64)
    except TypeError as error:
        raise WeightTypeError(f"weights must be real numbers: {error}") from None
    except (ValueError, OverflowError) as error:
        raise GraphError(f"weights must be real numbers: {error}") from None


def canonical(csr: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    """A copy of float64, sorted, without duplicates or zeros; checked by `check_weights`."""
    check_structure(csr)
    check_weights(csr.data)
    # What SciPy has noted of the matrix, such as that it is sorted, need not be true any more.
    parts = (csr.data.astype(np.float64), csr.indices.copy(), csr.indptr.copy())
    own = scipy.sparse.csr_array(parts, shape=csr.shape)
    own.sum_duplicates()
    own.eliminate_zeros()
    return own


def as_weight_matrix(matrix: Any) -> scipy.sparse.csr_array:
    """Canonical CSR of float64, in arrays of its own."""
    return canonical(as_csr(matrix))


def symmetric(matrix: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    """The matrix itself if symmetric, else A + Aᵀ, or if all entries are 0 or 1 the union.

    The former is warned of, but for differences of rounding; the latter is logged, since nearest
    neighbours are often a matrix of 0 and 1.
    """
    mirror = matrix.T.tocsr()
    if (
        np.array_equal(matrix.indptr, mirror.indptr)
        and np.array_equal(matrix.indices, mirror.indices)
        and np.array_equal(matrix.data, mirror.data)
    ):
        return matrix
    total = (matrix + mirror).tocsr()
    if (matrix.data == 1).all():
        total.data[:] = 1.0
        logger.info(
            "%d edges of a 0/1 matrix lead one way; heat flows both", total.nnz - matrix.nnz
        )
        return total
    gaps = abs(matrix - mirror)
    n_pairs = (gaps > total * ALIKE).nnz // 2
    if n_pairs:
        warnings.warn(
            f"the matrix is not symmetric: the two directions of {n_pairs:,} "
            f"pair{'' if n_pairs == 1 else 's'} of nodes have different weights (by up to "
            f"{gaps.max():.3g}), which were added. To choose, pass A + A.T or (A + A.T) / 2",
            AsymmetryWarning,
            stacklevel=depth_of_caller(),
        )
    return total


def not_square(matrix: scipy.sparse.csr_array) -> GraphError:
    """What to say of a matrix that is not square; that entries are no weights comes first."""
    check_weights(matrix.data)
    n, m = matrix.shape
    if m == 0:
        return GraphError(f"0 feature(s) (shape=({n}, 0)) while a minimum of 1 is required.")
    return GraphError(
        f"an adjacency matrix must be square, got {n} × {m}; for an edge list, use "
        "Graph.from_edges(source, target); for rows and columns of different kinds, "
        "Graph.from_biadjacency"
    )
