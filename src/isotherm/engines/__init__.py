"""Engines: the arithmetic of a Dirichlet problem on some hardware. Chosen by name here.

To all above, an engine is `isotherm.engines.engine.Engine`. To add one, write its folder and name
it in `ENGINES`; see CONTRIBUTING.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from isotherm.compiled import MOST_NODES, core
from isotherm.engines.native import NativeEngine
from isotherm.engines.scipy import ScipyEngine
from isotherm.errors import ParameterError

if TYPE_CHECKING:
    from isotherm.engines.engine import Engine
    from isotherm.graph import Graph

# Those that are there, the fastest first.
ENGINES: dict[str, Engine] = {"native": NativeEngine()} if core is not None else {}
ENGINES["scipy"] = ScipyEngine()


def choose_engine(engine: str | Engine, graph: Graph) -> Engine:
    """The engine of that name; ``"auto"`` takes the fastest that can work on the graph.

    Raises
    ------
    ParameterError
        If there is none of that name, or it was not built.
    """
    if not isinstance(engine, str):
        if hasattr(engine, "prepare") and not isinstance(engine, type):
            return engine
    elif engine == "auto":
        return ENGINES["native" if graph.rows.compiled else "scipy"]
    elif engine in ENGINES:
        return ENGINES[engine]
    elif engine == NativeEngine.name:
        return NativeEngine()  # says why it is not there
    raise ParameterError.unknown("engine", engine, ["auto", *ENGINES])


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
        why = "isotherm was installed without a C++ compiler, so that its core is not there"
    else:
        why = f"the core cannot number {graph.n_nodes:,} nodes"
    return f"the SciPy engine was used, which is slower and takes more memory: {why}"
