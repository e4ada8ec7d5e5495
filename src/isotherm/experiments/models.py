"""Our own models by name, as they are compared with each other and with the peers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from isotherm.classifier.classify import DirichletClassifier
from isotherm.classifier.stacked import StackedDirichletClassifier

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from isotherm.graph import Graph


class Model(Protocol):
    """A classifier of nodes, after scikit-learn's contract."""

    labels_: NDArray[Any]

    def fit(self, graph: Graph, labels: NDArray[np.intp], /) -> Any: ...

    def predict_proba(self) -> NDArray[np.floating]: ...


def make_models(**how: Any) -> dict[str, Model]:
    """The models, none of them fitted.

    ``paper`` is Algorithm 1: centred temperatures, no leak. ``auto`` chooses decision and leak by
    seeds left out, ``stacked`` combines several heat flows by them.

    Parameters
    ----------
    **how
        `tol`, `solver` and `engine`, see `isotherm.DirichletClassifier`.

    Examples
    --------
    >>> list(make_models())
    ['paper', 'auto', 'stacked']
    >>> make_models(tol=1e-3)["paper"].get_params()["leak"]
    0.0
    """
    return {
        "paper": DirichletClassifier("centered", leak=0.0, **how),
        "auto": DirichletClassifier("auto", leak="auto", **how),
        "stacked": StackedDirichletClassifier(**how),
    }
