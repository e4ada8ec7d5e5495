"""Engines: the arithmetic of a Dirichlet problem on some hardware. Chosen by name here.

To all above, an engine is `isotherm.engines.engine.Engine`. To add one, write its folder and name
it in `ENGINES`; see CONTRIBUTING.md.
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import TYPE_CHECKING

from isotherm.compiled import MOST_NODES, core
from isotherm.engines.native import NativeEngine
from isotherm.engines.scipy import ScipyEngine
from isotherm.errors import DeviceError, IsothermWarning, ParameterError

if TYPE_CHECKING:
    from isotherm.engines.engine import Engine
    from isotherm.graph import Graph

# Those that are there on every machine, the fastest first; the cuda engine is looked for when it is
# asked for, or worth it: CuPy takes a second to load.
ENGINES: dict[str, Engine] = {"native": NativeEngine()} if core is not None else {}
ENGINES["scipy"] = ScipyEngine()
SHARED = ("mpi", "petsc")  # those of many machines, see `isotherm.distributed`

ENTRIES_FOR_A_GPU = 50_000_000  # with fewer, to begin there takes longer than the work


def choose_engine(engine: str | Engine, graph: Graph) -> Engine:
    """The engine of that name; ``"auto"`` takes the fastest that can work on the graph.

    Raises
    ------
    ParameterError
        If there is none of that name, or it was not built.
    MissingLibrary, DeviceError
        If ``"cuda"`` is asked for, and CuPy or a GPU is not there.
    """
    if not isinstance(engine, str):
        if hasattr(engine, "prepare") and not isinstance(engine, type):
            return engine
    elif engine == "auto":
        if len(graph.rows.ends) >= ENTRIES_FOR_A_GPU and (on_gpu := _on_a_gpu()):
            return on_gpu
        if graph.rows.compiled:
            return ENGINES["native"]
        _warn_once(fallback_reason(engine, ScipyEngine.name, graph))
        return ENGINES["scipy"]
    elif engine in ENGINES:
        return ENGINES[engine]
    elif engine == NativeEngine.name:
        return NativeEngine()  # says why it is not there
    elif engine in SHARED:
        raise ParameterError(
            f"engine={engine!r} works with many processes on part files: use "
            "isotherm.distributed.classify, or mpiexec -n 8 isotherm classify …"
        )
    elif engine == "cuda":
        from isotherm.engines.cuda import CudaEngine

        return CudaEngine()
    raise ParameterError.unknown("engine", engine, ["auto", *ENGINES, "cuda"])


def _on_a_gpu() -> Engine | None:
    """The cuda engine, if CuPy is installed; None, with a warning, if it finds no GPU to use."""
    from isotherm.engines.cuda.device import is_installed

    if not is_installed():
        return None
    from isotherm.engines.cuda import CudaEngine

    try:
        return CudaEngine()
    except DeviceError as error:
        warnings.warn(
            f"CuPy is installed, but {error}. The CPU is used instead",
            IsothermWarning,
            stacklevel=4,
        )
        return None


def engine_for(engine: str, n_nodes: int) -> str:
    """The name of the engine that ``"auto"`` takes for a graph of so many nodes."""
    if engine != "auto":
        return engine
    return "native" if core is not None and n_nodes <= MOST_NODES else "scipy"


def fallback_reason(engine: object, used: str, graph: Graph) -> str:
    """Why ``"auto"`` took the SciPy engine, which is slower and holds more; empty if it did not.

    Parameters
    ----------
    engine : object
        That was asked for.
    used : str
        The name of the one that was used.
    graph : Graph
    """
    if engine != "auto" or used != ScipyEngine.name:
        return ""
    if not ENGINES.get(NativeEngine.name):
        why = "isotherm was installed without the core; install a C++ compiler, then isotherm again"
    else:
        why = f"{graph.n_nodes:,} nodes are too many for the core"
    return f"the SciPy engine was used, which is slower and takes more memory: {why}"


@cache
def _warn_once(reason: str) -> None:
    """Once per process: every fit would say the same."""
    warnings.warn(reason, IsothermWarning, stacklevel=4)
