"""A list to act on: the nodes most likely of one class, in that order, each with reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from isotherm.classifier.estimator import rows_at_once, slices
from isotherm.errors import ParameterError
from isotherm.locks import one_at_a_time
from isotherm.rounding import LEVEL
from isotherm.trust.rank import best_first

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from numpy.typing import NDArray

    from isotherm.classifier.algorithm import HeatClassifier
    from isotherm.trust.explain import Explanation

    Progress = Callable[[int, int], None]
    Numbers = tuple[float | None, float | None, Any, float | None]  # as in `Listed`

TOP = 100
SEEDS_NAMED = 3  # in a reason
FEWEST_SHARE = 0.01  # of the heat that a seed must bring to be named


class Listed(NamedTuple):
    """A free node that may be of the class asked for.

    Attributes
    ----------
    rank : int
    node : hashable
    label : object
        That it has, which may be another one.
    probability : float or None
        Of the class asked for; None where one class is known, since nothing tells it then.
    score : float or None
        Nearness to the seeds, where one class is known.
    runner_up : object
        The most probable class but the one asked for; None if there is no other.
    its_probability : float or None
    certified : bool
        Whether the label is numerically exact, see `isotherm.DirichletClassifier`.
    neighbours : int
    weights : dict
        The weight of its edges to neighbours of each label.
    why : str
        Where its heat comes from, in a sentence.
    """

    rank: int
    node: Hashable
    label: Any
    probability: float | None
    score: float | None
    runner_up: Any
    its_probability: float | None
    certified: bool
    neighbours: int
    weights: dict[Any, float]
    why: str


def list_nodes(
    classifier: HeatClassifier,
    label: object,
    top: int = TOP,
    *,
    min_probability: float = 0.0,
    reasons: bool = True,
    name: Callable[[object], str] = str,
    progress: Progress | None = None,
) -> list[Listed]:
    """The free nodes most likely of a class, the most likely first; equals by name.

    Parameters
    ----------
    classifier : HeatClassifier
        Fitted.
    label : object
        The class, or its name as text.
    top : int
        How many nodes.
    min_probability : float
        Of the class, from 0 to 1.
    reasons : bool
        Whether to say why, which takes a solve for each node.
    name : callable
        How nodes and labels are written in a reason.
    progress : callable, optional
        Called with the nodes explained so far and how many there are.

    Raises
    ------
    ParameterError
        If no seed has the class.

    Examples
    --------
    >>> from isotherm import DirichletClassifier, Graph
    >>> path = Graph.from_edges("abcd", "bcde")
    >>> clf = DirichletClassifier().fit(path, {"a": "left", "e": "right"})
    >>> [(one.node, one.label, one.why) for one in list_nodes(clf, "right", top=1)]
    [('d', 'right', '75 % of its heat comes from right seeds: e (75 %); strongest path: d → e')]
    """
    (found,) = list_each(
        classifier,
        [label],
        top,
        min_probability=min_probability,
        explained=top if reasons else 0,
        name=name,
        progress=progress,
    )
    return found


@one_at_a_time
def list_each(
    classifier: HeatClassifier,
    labels: Sequence[object],
    top: int = TOP,
    *,
    min_probability: float = 0.0,
    explained: int = TOP,
    name: Callable[[object], str] = str,
    progress: Progress | None = None,
) -> list[list[Listed]]:
    """The same for several classes, whose probabilities are found together; see `list_nodes`.

    The first so many of each have a reason.
    """
    codes = [code_of(classifier, label) for label in labels]
    if len(classifier.classes_) == 1:
        first = [_nearest(classifier, top)]
    else:
        first = _likeliest(classifier, codes, top, min_probability)
    return [
        _listed(classifier, code, *chosen, explained=explained, name=name, progress=progress)
        for code, chosen in zip(codes, first, strict=True)
    ]


def list_labelled(
    classifier: HeatClassifier,
    code: int,
    nodes: NDArray[np.intp],
    probability: NDArray[np.float64],
    *,
    top: int,
    explained: int,
    name: Callable[[object], str] = str,
) -> list[Listed]:
    """Of the nodes that have a label, the most probable, in that order; equals by name.

    Parameters
    ----------
    classifier : HeatClassifier
        Fitted; of several classes.
    code : int
        The number of the class.
    nodes : int array of shape (m,)
        Positions of the nodes that have its label.
    probability : array of shape (m,)
        Of the label.
    top : int
        How many nodes.
    explained : int
        How many of these, the first ones, have a reason, which takes a solve for each.
    name : callable
        See `list_nodes`.
    """
    order, _ = best_first(probability, classifier.names_[nodes])
    chosen = nodes[order[:top]]
    numbers = _rivals(classifier, chosen, code)
    return _listed(classifier, code, chosen, numbers, explained=explained, name=name)


def _listed(
    classifier: HeatClassifier,
    code: int,
    chosen: NDArray[np.intp],
    numbers: list[Numbers],
    *,
    explained: int,
    name: Callable[[object], str],
    progress: Progress | None = None,
) -> list[Listed]:
    """What there is to say of the nodes chosen; the first so many have a reason."""
    (own_label,) = classifier.classes_[[code]].tolist()
    names = classifier.names_[chosen].tolist()
    reasons = classifier.explain_each(names[:explained], paths=1) if explained else iter(())
    found = []
    for row, (i, node) in enumerate(zip(chosen.tolist(), names, strict=True)):
        why = next(reasons, None)
        found.append(
            Listed(
                row + 1,
                node,
                classifier.labels_[[i]].tolist()[0],
                *numbers[row],
                bool(classifier.certified_[i]),
                *_around(classifier, i),
                "" if why is None else reason(why, own_label, name),
            )
        )
        if progress is not None:
            progress(row + 1, len(chosen))
    return found


def code_of(classifier: HeatClassifier, label: object) -> int:
    """The number of a class, given itself or its name."""
    classes = classifier.classes_.tolist()
    for k, one in enumerate(classes):
        if one == label or str(one) == str(label):
            return k
    some = ", ".join(map(str, classes[:10])) + (", …" if len(classes) > 10 else "")
    raise ParameterError(f"no seed has the class {label!r}; choose one of: {some}")


def _nearest(classifier: HeatClassifier, top: int) -> tuple[NDArray[np.intp], list[Numbers]]:
    """Where one class is known: positions of the nodes nearest to its seeds, and their scores."""
    ranking = classifier.ranking_
    scores = ranking.scores[:top].tolist()
    return ranking.positions[:top], [(None, score, None, None) for score in scores]


def _likeliest(
    classifier: HeatClassifier, codes: list[int], top: int, least: float
) -> list[tuple[NDArray[np.intp], list[Numbers]]]:
    """Of each class: positions of the nodes to list, and the numbers of each."""
    free = np.flatnonzero(np.isin(classifier.status_, ["predicted", "tie"]))
    parts = slices(len(classifier.names_), rows_at_once(len(classifier.classes_)))
    P = np.concatenate([classifier.some_probabilities(rows)[:, codes] for rows in parts])
    found = []
    for code, p in zip(codes, P.T, strict=True):
        some = free[p[free] >= least - LEVEL]
        order, _ = best_first(p[some], classifier.names_[some])
        chosen = some[order[:top]]
        found.append((chosen, _rivals(classifier, chosen, code)))
    return found


def _rivals(classifier: HeatClassifier, nodes: NDArray[np.intp], code: int) -> list[Numbers]:
    """Of each node: how probable the class is, and which other one is the most probable."""
    found: list[Numbers] = []
    for some in slices(len(nodes), rows_at_once(len(classifier.classes_))):
        P = classifier.some_probabilities(nodes[some])
        own, P[:, code] = P[:, code].tolist(), -1.0
        rivals = classifier.classes_[P.argmax(axis=1)].tolist()
        found += zip(own, [None] * len(own), rivals, P.max(axis=1).tolist(), strict=True)
    return found


def _around(classifier: HeatClassifier, i: int) -> tuple[int, dict[Any, float]]:
    """How many neighbours a node has, and the weight of its edges to those of each label."""
    rows = classifier.problem_.graph.rows
    some = slice(rows.start[i], rows.start[i + 1])
    ends = rows.ends[some]
    weights = np.ones(len(ends)) if rows.weights is None else rows.weights[some]
    codes, _ = classifier.codes(ends)
    other = (ends != i) & (codes >= 0)
    sums = np.bincount(codes[other], weights[other], minlength=len(classifier.classes_))
    labels = classifier.classes_.tolist()
    known = {labels[k]: float(sums[k]) for k in np.flatnonzero(sums).tolist()}
    return int(np.count_nonzero(ends != i)), known


def reason(why: Explanation, label: Any, name: Callable[[object], str] = str) -> str:
    """Why a node may be of a class, in a sentence; see `list_nodes`."""
    total = sum(why.classes.values())
    if total <= 0:
        return "hardly any heat reaches it"
    share = why.classes.get(label, 0.0) / total
    words = f"{share:.0%} of its heat comes from ".replace("%", " %") + f"{name(label)} seeds"
    named = [
        f"{name(seed)} (" + f"{part / total:.0%})".replace("%", " %")
        for seed, own, part in why.seeds
        if own == label and part / total >= FEWEST_SHARE
    ][:SEEDS_NAMED]
    words += f": {', '.join(named)}" if named else ""
    if why.paths:
        path, _ = why.paths[0]
        words += f"; strongest path: {' → '.join(map(name, path))}"
    return words
