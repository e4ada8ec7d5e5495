"""Engines: the arithmetic of a Dirichlet problem on some hardware. Chosen by name here.

An engine makes an `Operator` of a problem. Solvers (`isotherm.solvers`) use nothing else, so
each solver runs on each engine. To add one, write its module and name it in `ENGINES`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from isotherm.engines.scipy import ScipyEngine
from isotherm.errors import ParameterError

if TYPE_CHECKING:
    from isotherm.engines.operator import Engine

ENGINES: dict[str, Engine] = {"scipy": ScipyEngine()}


def choose_engine(engine: str) -> Engine:
    """The engine of that name; ``"auto"`` takes the first of `ENGINES`.

    Raises
    ------
    ParameterError
        If there is none of that name.
    """
    if engine == "auto":
        return next(iter(ENGINES.values()))
    if not isinstance(engine, str) or engine not in ENGINES:
        raise ParameterError.unknown("engine", engine, ["auto", *ENGINES])
    return ENGINES[engine]
