"""Label every node of a graph from a few, by heat diffusion at equilibrium.

The public names are loaded on first use, so that ``import isotherm`` stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from isotherm.block_model import BlockModel as BlockModel
    from isotherm.classifier.classify import DirichletClassifier as DirichletClassifier
    from isotherm.classifier.multilabel import (
        MultiLabelDirichletClassifier as MultiLabelDirichletClassifier,
    )
    from isotherm.classifier.regress import DirichletRegressor as DirichletRegressor
    from isotherm.classifier.stacked import (
        StackedDirichletClassifier as StackedDirichletClassifier,
    )
    from isotherm.datasets import load_dataset as load_dataset
    from isotherm.dirichlet import DirichletProblem as DirichletProblem
    from isotherm.engines.cuda import CudaEngine as CudaEngine
    from isotherm.engines.native import NativeEngine as NativeEngine
    from isotherm.equilibrium import solve_dirichlet as solve_dirichlet
    from isotherm.errors import AsymmetryWarning as AsymmetryWarning
    from isotherm.errors import DatasetError as DatasetError
    from isotherm.errors import DeviceError as DeviceError
    from isotherm.errors import FileError as FileError
    from isotherm.errors import GraphError as GraphError
    from isotherm.errors import IsothermError as IsothermError
    from isotherm.errors import IsothermWarning as IsothermWarning
    from isotherm.errors import LabelError as LabelError
    from isotherm.errors import MissingLibrary as MissingLibrary
    from isotherm.errors import NotEnoughMemory as NotEnoughMemory
    from isotherm.errors import ParameterError as ParameterError
    from isotherm.errors import SessionError as SessionError
    from isotherm.errors import UnknownNode as UnknownNode
    from isotherm.graph import Graph as Graph
    from isotherm.labels import Labels as Labels
    from isotherm.read import read_graph as read_graph
    from isotherm.read import read_labels as read_labels
    from isotherm.report.model import write_report as write_report
    from isotherm.solvers import Certificate as Certificate
    from isotherm.solvers import ConjugateGradient as ConjugateGradient
    from isotherm.solvers import Direct as Direct
    from isotherm.solvers import Elimination as Elimination
    from isotherm.solvers import NotConverged as NotConverged
    from isotherm.solvers import Solution as Solution
    from isotherm.solvers import SolveOptions as SolveOptions
    from isotherm.solvers import Sweeps as Sweeps
    from isotherm.trust.abstain import Coverage as Coverage
    from isotherm.trust.choose import Selection as Selection
    from isotherm.trust.explain import Explanation as Explanation
    from isotherm.trust.rank import Ranking as Ranking
    from isotherm.trust.scoring import LeaveOneOut as LeaveOneOut
    from isotherm.trust.scoring import Suspect as Suspect
    from isotherm.trust.suggest import Suggestion as Suggestion
    from isotherm.trust.values import ValuesLeftOut as ValuesLeftOut
    from isotherm.write import write_predictions as write_predictions

_HOME = {
    "AsymmetryWarning": "errors",
    "BlockModel": "block_model",
    "Certificate": "solvers",
    "ConjugateGradient": "solvers",
    "Coverage": "trust.abstain",
    "CudaEngine": "engines.cuda",
    "DatasetError": "errors",
    "DeviceError": "errors",
    "Direct": "solvers",
    "DirichletClassifier": "classifier.classify",
    "DirichletProblem": "dirichlet",
    "DirichletRegressor": "classifier.regress",
    "Elimination": "solvers",
    "Explanation": "trust.explain",
    "FileError": "errors",
    "Graph": "graph",
    "GraphError": "errors",
    "IsothermError": "errors",
    "IsothermWarning": "errors",
    "LabelError": "errors",
    "Labels": "labels",
    "LeaveOneOut": "trust.scoring",
    "MissingLibrary": "errors",
    "MultiLabelDirichletClassifier": "classifier.multilabel",
    "NativeEngine": "engines.native",
    "NotConverged": "solvers",
    "NotEnoughMemory": "errors",
    "ParameterError": "errors",
    "Ranking": "trust.rank",
    "Selection": "trust.choose",
    "SessionError": "errors",
    "Solution": "solvers",
    "SolveOptions": "solvers",
    "StackedDirichletClassifier": "classifier.stacked",
    "Suggestion": "trust.suggest",
    "Suspect": "trust.scoring",
    "Sweeps": "solvers",
    "UnknownNode": "errors",
    "ValuesLeftOut": "trust.values",
    "load_dataset": "datasets",
    "read_graph": "read",
    "read_labels": "read",
    "solve_dirichlet": "equilibrium",
    "write_predictions": "write",
    "write_report": "report.model",
}

__all__ = ["__version__", *_HOME]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("isotherm")
    if name not in _HOME:
        raise AttributeError(f"module 'isotherm' has no attribute {name!r}")
    return getattr(import_module(f"isotherm.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
