"""StackedDirichletClassifier: several heat flows, combined by exact leave-one-out."""

from __future__ import annotations

from sklearn.base import ClassifierMixin

from isotherm.classifier.contract import Estimator
from isotherm.classifier.stack import StackedHeatClassifier


class StackedDirichletClassifier(StackedHeatClassifier, ClassifierMixin, Estimator):
    """Label all nodes of a graph from a few known labels: the most accurate, with probabilities.

    Three heat flows (the paper's, and two in which hubs are damped and heat leaks), an embedding of
    the nodes that knows no labels, and the seeds around a node, combined by a small model that is
    fitted to seeds left out; see `isotherm.stacking`. The label is the most probable class. With
    fewer than ten seeds that share their class with another, the paper's algorithm is used as it
    is, and `fallback_` says so.

    Parameters
    ----------
    balance : float
        From 0 to 1: how much labels are shifted towards rare classes, which raises macro-F1 at the
        price of accuracy. With 0 the label is the most probable class; with 1 all classes are
        treated as equally large. Probabilities do not depend on it.
    tol : float
        Every temperature of every flow is proven to be within `tol` of equilibrium.
    solver, engine, threads, memory, unreached, warm_start
        See `isotherm.DirichletClassifier`.

    Attributes
    ----------
    stack_ : Stack or None
        The model; None where the paper's algorithm is used.
    fallback_ : str
        Why that is so; empty where there is a model.
    views_ : list of (str, float)
        What is combined, and the weight of each.
    names_, classes_, labels_, status_, doubts_, seeds_, left_out_, n_iter_
        See `isotherm.DirichletClassifier`.
    scores_ : array of shape (n, K)
        Logits, by which labels are decided.
    margins_ : array of shape (n,)
        Logit of the label minus that of the runner-up.
    certified_ : bool array of shape (n,)
        Whether the label is proven not to change within the proven errors of all temperatures, for
        this model. That does not mean that the label is correct.
    calibration_ : Softmax
        Logits → probabilities.
    temperatures_, mean_temperatures_, problem_, solution_
        Of the paper's flow.

    Examples
    --------
    >>> from isotherm import StackedDirichletClassifier, load_dataset
    >>> club = load_dataset("karate")
    >>> known = {node: club.labels[node] for node in (0, 1, 2, 3, 5, 7, 28, 30, 31, 32, 33, 29)}
    >>> clf = StackedDirichletClassifier().fit(club.graph, known)
    >>> clf.fallback_, [name for name, _ in clf.views_][0]
    ('', 'heat')
    >>> free = clf.status_ != "seed"
    >>> round(float((clf.labels_ == club.labels)[free].mean()), 2)
    0.95
    >>> bool((clf.predict_proba().argmax(axis=1) == clf.classes_.searchsorted(clf.labels_)).all())
    True
    """
