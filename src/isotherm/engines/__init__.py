"""Engines: the arithmetic of a Dirichlet problem on some hardware. Chosen by name here.

To all above, an engine is `isotherm.engines.engine.Engine`. To add one, write its folder and name
it in `ENGINES`; see CONTRIBUTING.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from isotherm.compiled import core
from isotherm.engines.native import NativeEngine
from isotherm.engines.scipy import ScipyEngine
from isotherm.errors import ParameterError

if TYPE_CHECKING:
    from isotherm.engines.engine import Engine
    from isotherm.graph import Graph

# Those that are there, the fastest first.
ENGINES: dict[str, Engine] = {"native": NativeEngine()} if core is not None else {}
ENGINES["scipy"] = ScipyEngine()
SHARED = ("mpi", "petsc")  # those of many machines, see `isotherm.distributed`


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
    elif engine in SHARED:
        raise ParameterError(
            f"engine={engine!r} works on part files that many processes share: use "
            "isotherm.distributed.classify, or mpiexec -n 8 isotherm classify …"
        )
    raise ParameterError.unknown("engine", engine, ["auto", *ENGINES])
