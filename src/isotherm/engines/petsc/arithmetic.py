"""The arithmetic of PETSc: a distributed matrix, and products with all columns at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.compiled import core, n_threads
from isotherm.engines.mpi.arithmetic import shared_imbalance
from isotherm.engines.mpi.reference import ReferenceArithmetic, with_entries
from isotherm.engines.mpi.vectors import zeros
from isotherm.errors import MissingLibrary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.engines.mpi.arithmetic import Sums
    from isotherm.engines.mpi.share import SharedProblem
    from isotherm.solvers.imbalance import Imbalance

FOUR = 4  # columns that PETSc multiplies at once; those left over take as long one by one
BOUNDED = {  # of the multigrid: aggregates that are not smoothed grow no denser from level to level
    "pc_type": "gamg",
    "pc_gamg_type": "agg",
    "pc_gamg_agg_nsmooths": "0",
    "pc_gamg_coarse_eq_limit": "200",
    "mg_levels_ksp_type": "richardson",
    "mg_levels_pc_type": "jacobi",
    "mg_levels_ksp_max_it": "1",
}


def petsc() -> Any:
    """The library, loaded when it is first needed.

    Raises
    ------
    MissingLibrary
        If it is not there; it says how to install it.
    """
    try:
        from petsc4py import PETSc
    except ImportError as error:
        raise MissingLibrary(
            f"engine='petsc' needs petsc4py: {error}; Debian and Ubuntu have python3-petsc4py, "
            "conda has petsc4py; or use engine='mpi', which needs mpi4py only"
        ) from None
    return PETSc


class PetscArithmetic(ReferenceArithmetic):
    """See `isotherm.engines.mpi.arithmetic.Arithmetic`; in float64.

    Parameters
    ----------
    problem : SharedProblem
    gauge : array of shape (n_own,)
    threads : int or None
        For the proof.
    multigrid : bool
        Whether to precondition by it rather than by the diagonal.
    """

    def __init__(
        self,
        problem: SharedProblem,
        gauge: NDArray[np.float64],
        threads: int | None,
        *,
        multigrid: bool = False,
    ) -> None:
        super().__init__(problem, gauge)
        self._threads = n_threads(threads)
        PETSc, share = petsc(), problem.graph
        comm = PETSc.COMM_SELF if share.ranks.comm is None else share.ranks.comm
        self._matrix = _matrix(problem, self.diagonal, comm, PETSc)
        # Vectors as PETSc has them, and room for their product, by their width.
        self._panels: dict[int, tuple[Any, Any]] = {}
        self._n_nodes, self._comm = share.n_nodes, comm
        self._multigrid: Any = _multigrid(self._matrix, comm, PETSc) if multigrid else None
        self._Z: NDArray[np.float64] | None = None

    def width(self, lanes: int) -> int:
        return FOUR * -(-lanes // FOUR)

    def vector(self, n_rows: int, width: int) -> NDArray[np.float64]:
        return zeros((width, n_rows)).T  # column by column, as PETSc has them

    def multiply(self, P: NDArray[Any], V: NDArray[Any]) -> NDArray[np.float64]:
        width = P.shape[1]
        own, product = self._panels.get(width, (None, None))
        if own is None:
            sizes = ((self.n_own, self._n_nodes), (None, width))
            own = petsc().Mat().createDense(size=sizes, comm=self._comm)
            own.setUp()
        own.getDenseArray()[:] = P[: self.n_own]
        own.assemble()
        product = self._matrix.matMult(own, product)
        self._panels[width] = own, product
        V[:] = product.getDenseArray()
        return np.asarray(np.einsum("ik,ik->k", P[: self.n_own], V))

    def know_exits(self, exits: NDArray[np.float64], all_exits: float) -> None:
        if self._multigrid is None:  # which has coarser vectors than that of ones
            super().know_exits(exits, all_exits)

    def turn(
        self,
        beta: NDArray[np.float64],
        shift: NDArray[np.float64],
        R: NDArray[Any],
        P: NDArray[Any],
    ) -> None:
        if self._Z is None:
            super().turn(beta, shift, R, P)
            return
        own = P[: self.n_own]
        own *= beta
        own += self._Z

    def _sums(self, R: NDArray[Any]) -> Sums:
        dots, levels, staying = super()._sums(R)
        if self._multigrid is None:
            return dots, levels, staying
        self._Z = self._preconditioned(R)
        return np.einsum("ik,ik->k", R, self._Z), levels, staying

    def _preconditioned(self, R: NDArray[Any]) -> NDArray[np.float64]:
        """One cycle of the multigrid on each column."""
        given, found = self._matrix.createVecs()
        Z = np.empty_like(R)
        for k in range(R.shape[1]):
            given.setArray(R[:, k])
            if R.shape[1] and given.norm() > 0:
                self._multigrid.apply(given, found)
                Z[:, k] = found.getArray()
            else:
                Z[:, k] = 0.0
        Z[~self.free] = 0.0
        return Z

    def imbalance(self, problem: SharedProblem, X: NDArray[np.float64], h: Any) -> Imbalance:
        if core is None or not problem.graph.rows.compiled:
            return super().imbalance(problem, X, h)
        return shared_imbalance(problem, X, h, self._threads)


def _matrix(problem: SharedProblem, diagonal: NDArray[np.float64], comm: Any, PETSc: Any) -> Any:
    """M at free nodes, the identity at others, as a distributed sparse matrix."""
    import scipy

    share, n = problem.graph, problem.graph.n_own
    is_free = share.halo.fill(problem.is_free.view(np.uint8).copy()).view(np.bool_)
    rows = share.rows.matrix()[:n]
    both = is_free[rows.indices] & np.repeat(is_free[:n], np.diff(rows.indptr))
    inner = with_entries(rows, both)
    where = (np.arange(n), np.arange(n))
    own = scipy.sparse.csr_array((diagonal, where), shape=(n, share.n_all))
    whole = (own - inner).tocsr()
    numbers = share.halo.fill(share.first + np.arange(share.n_all))  # of ghosts, their owners know
    index = PETSc.IntType
    columns = numbers[whole.indices].astype(index)
    size = (n, share.n_nodes)
    matrix = PETSc.Mat().createAIJ(
        size=(size, size), csr=(whole.indptr.astype(index), columns, whole.data), comm=comm
    )
    matrix.assemble()
    return matrix


def _multigrid(matrix: Any, comm: Any, PETSc: Any) -> Any:
    options = PETSc.Options("isotherm_")
    for name, value in BOUNDED.items():
        options[name] = value
    found = PETSc.PC().create(comm)
    found.setOptionsPrefix("isotherm_")
    found.setOperators(matrix)
    matrix.setOption(PETSc.Mat.Option.SPD, True)
    found.setFromOptions()
    found.setUp()
    return found
