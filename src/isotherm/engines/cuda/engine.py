"""CudaEngine: iterates in float32, with directions in half precision, and proves in float64."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from isotherm.compiled import core
from isotherm.engines.cuda.device import find_device
from isotherm.engines.cuda.method import DeviceConjugateGradient
from isotherm.engines.cuda.plan import plan
from isotherm.engines.cuda.records import DeviceTies
from isotherm.engines.cuda.rows import rows_on
from isotherm.engines.cuda.vectors import Nodes
from isotherm.engines.native.superposed import native_superpose
from isotherm.engines.session import HostSession
from isotherm.errors import ParameterError
from isotherm.read_only import cached_property
from isotherm.solvers.cg import ConjugateGradient
from isotherm.solvers.imbalance import Imbalance
from isotherm.solvers.operator import ReferenceOperator

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.engines.cuda.device import Device
    from isotherm.engines.cuda.plan import Plan
    from isotherm.engines.cuda.rows import DeviceRows
    from isotherm.solvers.method import Method, Solver
    from isotherm.solvers.options import SolveOptions
    from isotherm.solvers.superposition import Superposition


@dataclass(frozen=True)
class CudaEngine:
    """Conjugate gradients and proofs on one NVIDIA GPU, through CuPy.

    Parameters
    ----------
    memory : int or None
        Bytes of the GPU's memory to use; by default all that is free.

    Raises
    ------
    MissingLibrary
        CuPy is not installed.
    DeviceError
        There is no GPU that it can use.

    Examples
    --------
    >>> from isotherm import CudaEngine, DeviceError, MissingLibrary
    >>> try:
    ...     engine = CudaEngine(memory=8 << 30)
    ... except (DeviceError, MissingLibrary):
    ...     engine = "native"  # there is no GPU here
    """

    memory: int | None = None
    name: ClassVar[str] = "cuda"

    def __post_init__(self) -> None:
        self.device()

    def device(self) -> Device:
        """The GPU."""
        return find_device()

    def prepare(self, problem: DirichletProblem, options: SolveOptions) -> HostSession:
        """Put the matrix of a problem on the GPU."""
        if problem.graph.n_nodes > np.iinfo(np.int32).max:
            raise ParameterError(
                f"{problem.graph.n_nodes:,} nodes are too many for the cuda engine: it takes up to "
                f"{np.iinfo(np.int32).max:,}. Use engine='scipy'"
            )
        operator_of = partial(CudaOperator, device=self.device(), memory=self.memory)
        return HostSession(self.name, problem, options, operator_of)


class CudaOperator(ReferenceOperator):
    """See `isotherm.solvers.operator.Operator`.

    What need not be fast, since solvers for small graphs use it, is inherited.
    """

    def __init__(
        self, problem: DirichletProblem, tol: float, *, device: Device, memory: int | None
    ) -> None:
        super().__init__(problem, tol)
        self.device = device
        self._memory = memory

    @cached_property
    def plan(self) -> Plan:
        """How much of the problem is on the device at a time."""
        free = self.device.free_bytes
        return plan(
            self.problem.graph.rows,
            self.problem.n_columns,
            free if self._memory is None else min(free, self._memory),
        )

    @cached_property
    def rows(self) -> DeviceRows:
        """The matrix on the device."""
        return rows_on(self.device, self.problem.graph.rows, self.plan.chunk_bytes)

    @cached_property
    def nodes(self) -> Nodes:
        """What belongs to the nodes."""
        return Nodes(self.rows, self.problem, self._tol)

    def method(self, solver: Solver) -> Method:
        if isinstance(solver, ConjugateGradient) and solver.preconditioner != "factor":
            return DeviceConjugateGradient(self, solver.max_iter)
        return solver.bind(self)

    # --- the proof ----------------------------------------------------------------------------

    def imbalance(
        self,
        problem: DirichletProblem,
        X: NDArray[np.floating],
        h: NDArray[np.float64],
        drains: NDArray[np.float64] | None = None,  # noqa: ARG002  # there are none
    ) -> Imbalance:
        if problem.heat is not None:
            raise ValueError("nothing is proven of temperatures where heat is put in")
        same = problem.is_free is self.problem.is_free and problem.leak == self.problem.leak
        with self.device.at_work("proving temperatures"):
            nodes = self.nodes if same else Nodes(self.rows, problem, self._tol)
            on_device, ties = self.device.upload(h), self.ties_of(problem)
            at_once = max(1, min(X.shape[1], self.plan.lanes))
            parts = [
                self.evidence(ties, k, self.device.upload(X[:, k : k + at_once]), on_device, nodes)
                for k in range(0, X.shape[1], at_once)
            ]
        return Imbalance.beside(parts)

    def drains(self, problem: DirichletProblem, h: NDArray[np.float64]) -> None:
        """To find them for each proof anew takes no longer here."""

    def superpose(self, sum_of: Superposition) -> tuple[NDArray[np.floating], NDArray[np.float64]]:
        if core is None:
            return super().superpose(sum_of)
        return native_superpose(sum_of)  # the arrays are in the host's memory

    def ties_of(self, problem: DirichletProblem) -> DeviceTies | None:
        """The ties of a problem on the device."""
        ties = problem.ties
        if ties is None:
            return None
        row_of = np.full(problem.graph.n_nodes, -1, dtype=np.int32)
        row_of[ties.nodes] = np.arange(len(ties.nodes))
        upload = self.device.upload
        return DeviceTies(upload(row_of), upload(ties.weights), upload(ties.values), ties.roundings)

    def evidence(
        self, ties: DeviceTies | None, first: int, X: Any, h: Any, nodes: Nodes | None = None
    ) -> Imbalance:
        """What proves some columns, from `first` on."""
        nodes = self.nodes if nodes is None else nodes
        if ties is not None:
            width = X.shape[1]
            ties = ties._replace(
                values=self.device.xp.ascontiguousarray(ties.values[:, first : first + width])
            )
        return Imbalance(**self.device.kernels.prove(self.rows, nodes, ties, X, h))
