"""Engines: the arithmetic of a Dirichlet problem on some hardware. Chosen by name here.

To all above, an engine is `isotherm.engines.engine.Engine`. To add one, write its folder and name
it in `ENGINES`; see CONTRIBUTING.md.
"""

from __future__ import annotations

import warnings
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from isotherm.compiled import MOST_NODES, core
from isotherm.engines.native import NativeEngine
from isotherm.engines.scipy import ScipyEngine
from isotherm.errors import DeviceError, IsothermWarning, MissingLibrary, ParameterError

if TYPE_CHECKING:
    from isotherm.engines.engine import Engine
    from isotherm.graph import Graph

# Those that are there on every machine, the fastest first; the cuda engine is looked for when it is
# asked for, or worth it: CuPy takes a second to load.
ENGINES: dict[str, Engine] = {"native": NativeEngine()} if core is not None else {}
ENGINES["scipy"] = ScipyEngine()
GROUP = "isotherm.engines"  # entry points by which other distributions add engines
ELSEWHERE = {  # known engines that are distributions of their own, and how to have them
    "petsc": "engine='petsc' shares the work out over many processes or machines, and is a "
    "distribution of its own: install it with pip install ./extras/isotherm_petsc, from isotherm's "
    "sources, and start it with mpiexec -n 4 python -m isotherm_petsc classify graph.iso labels.csv"
}

ENTRIES_FOR_A_GPU = 50_000_000  # with fewer, to begin there takes longer than the work


def choose_engine(engine: str | Engine, graph: Graph) -> Engine:
    """The engine of that name; ``"auto"`` takes the fastest that can work on the graph.

    Raises
    ------
    ParameterError
        If there is none of that name, or it was not built.
    MissingLibrary, DeviceError
        If ``"cuda"`` is asked for, and CuPy or a GPU is not there; or an engine that is a
        distribution of its own, which is not installed.
    """
    if engine != "auto":
        return find_engine(engine)
    if len(graph.rows.ends) >= ENTRIES_FOR_A_GPU and (on_gpu := _on_a_gpu()):
        return on_gpu
    if graph.rows.compiled:
        return ENGINES["native"]
    _warn_once(fallback_reason(engine, ScipyEngine.name, graph))
    return ENGINES["scipy"]


def find_engine(engine: str | Engine) -> Engine:
    """The engine of that name, other than ``"auto"``: nothing of a graph need be known.

    Raises
    ------
    ParameterError, MissingLibrary, DeviceError
        See `choose_engine`.
    """
    if not isinstance(engine, str):
        if hasattr(engine, "prepare") and not isinstance(engine, type):
            return engine
    elif engine in ENGINES:
        return ENGINES[engine]
    elif engine == NativeEngine.name:
        return NativeEngine()  # says why it is not there
    elif engine == "cuda":
        from isotherm.engines.cuda import CudaEngine

        return CudaEngine()
    else:
        kind = _installed(engine)
        if kind is not None:
            made: Engine = kind()
            return made
    others = sorted({found.name for found in entry_points(group=GROUP)})
    raise ParameterError.unknown("engine", engine, ["auto", *ENGINES, "cuda", *others])


def _installed(name: str) -> Any:
    """What makes the engine of that name in another distribution; None if nobody knows of it.

    Raises
    ------
    MissingLibrary
        If it is known, and not installed.
    """
    for found in entry_points(group=GROUP, name=name):
        return found.load()
    if name in ELSEWHERE:
        raise MissingLibrary(ELSEWHERE[name])
    return None


def cost_on_ranks(
    nodes: float, edges: float, classes: int, ranks: int, **options: float | None
) -> list[str]:
    """What a job would take on many machines, for a person, as their engine says.

    Raises
    ------
    MissingLibrary
        If that is not installed.
    """
    found: list[str] = _installed("petsc").cost_lines(nodes, edges, classes, ranks, **options)
    return found


def check_engine(engine: str | Engine) -> None:
    """Find out whether there is such an engine, before anything is read or done.

    Raises
    ------
    ParameterError, MissingLibrary, DeviceError
        See `choose_engine`.
    """
    if engine != "auto":
        find_engine(engine)


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
    """The name of the engine that ``"auto"`` takes for a graph of so many nodes.

    Of engines of other distributions nothing is known here: they are taken to be no slower.
    """
    if engine in (*ENGINES, "cuda"):
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
