"""DirichletClassifier: one label per node."""

from __future__ import annotations

from sklearn.base import ClassifierMixin

from isotherm.classifier.algorithm import HeatClassifier
from isotherm.classifier.contract import Estimator


class DirichletClassifier(HeatClassifier, ClassifierMixin, Estimator):
    """Label all nodes of a graph from a few known labels, by heat diffusion at equilibrium.

    One Dirichlet problem per class, its seeds held at 1 and all other seeds at 0; temperatures
    are centred by their mean and the warmest class wins (Bonald and De Lara, Algorithm 1).

    Parameters
    ----------
    decision : {"centered", "plain", "partial", "mass", "standard", "ratio", "auto"}
        How temperatures become scores, see `isotherm.decision`; ``"centered"`` is the paper's.
        ``"auto"``: ``"standard"``, unless exact leave-one-seed-out finds ``"centered"``,
        ``"partial"`` or ``"ratio"`` clearly better; see `isotherm.trust.choose`.
    leak : float or "auto"
        τ ≥ 0, heat lost at each free node; 0 is the paper. ``"auto"`` likewise: 0.01, unless 0
        or 0.1 is clearly better.
    tol : float
        Every temperature is proven to be within `tol` of equilibrium.
    solver : {"auto", "direct", "cg", "sweeps", "elimination"} or solver object
    engine : {"auto", "native", "scipy"} or engine object
    threads : int or None
        Of every part of a fit and of a question; by default ``OMP_NUM_THREADS`` if set, else one
        per processor. The answer does not depend on it.
    memory : int or None
        The most bytes that a fit may use, the graph not counted; by default what is free. Fewer
        columns are then solved at once, and the edges are not copied.
    unreached : {"abstain", "zero"}
        Free nodes in components without seeds have no temperature. ``"abstain"``: they get no
        label (−1, NaN or None by the type of the labels) and are left out of the means.
        ``"zero"``: the paper's algorithm taken literally, with temperature 0 in all problems.
    warm_start : bool
        Start from the temperatures of the last fit, matched by node id; new nodes start from the
        mean of their neighbours. Quicker when a few nodes or edges have changed. What is proven
        does not depend on it.

    Attributes
    ----------
    names_ : array of shape (n,)
        Node ids, in the order of all arrays below.
    classes_ : array of shape (K,)
    labels_ : array of shape (n,)
        Labels of all nodes; a seed keeps its own.
    temperatures_, scores_ : arrays of shape (n, K)
        NaN at unreached nodes if these abstain. Temperatures are float32 where that holds `tol`.
    mean_temperatures_ : array of shape (K,)
        Over all nodes that have a temperature, equation (5).
    margins_ : array of shape (n,)
        Score of the warmest class minus that of the runner-up.
    status_ : array of shape (n,)
        ``"seed"``, ``"predicted"``, ``"tie"`` (accurate to `tol`, and the two warmest classes
        still cannot be told apart) or ``"unreached"``.
    certified_ : bool array of shape (n,)
        Whether the label is proven to be that of the exact equilibrium, which does not mean that
        it is correct. True at seeds, and at nodes that abstain: no solving could change those.
    decision_ : str
        The decision used.
    selection_ : Selection
        The decision and the leak used, and what was compared to choose them.
    calibration_ : Calibration
        How scores become probabilities; computed on first use.
    ranking_ : Ranking
        If only one class is known, the free nodes by how near they are to its seeds; see
        `isotherm.trust.rank`. Computed on first use.
    doubts_ : list of str
        Why there may be too few labels to go by; `fit` warns of them.
    seeds_ : Seeds
        What is known: nodes, classes, confidence; see `isotherm.classifier.seeds`.
    left_out_ : LeftOut
        Seeds left out, enough to judge by; computed on first use.
    problem_ : DirichletProblem
    solution_ : Solution
    n_iter_ : int

    Examples
    --------
    >>> from isotherm import DirichletClassifier, Graph
    >>> graph = Graph.from_edges("abcxyzc", "bcayzxx")
    >>> clf = DirichletClassifier().fit(graph, {"a": "left", "y": "right"})
    >>> dict(zip(clf.names_.tolist(), clf.labels_.tolist()))
    {'a': 'left', 'b': 'left', 'c': 'left', 'x': 'right', 'y': 'right', 'z': 'right'}
    >>> bool(clf.certified_.all())
    True
    """
