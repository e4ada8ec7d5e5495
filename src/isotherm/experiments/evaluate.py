"""The protocol of Table 2 on any graph: our models, decisions and peers on the same seeds."""

from __future__ import annotations

import time
import warnings
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from isotherm.decision import DECISIONS
from isotherm.errors import LabelError, NoAnswer
from isotherm.experiments.hold_out import TOL, draw_seeds, macro_f1, predictions, temperatures_of
from isotherm.experiments.models import make_models
from isotherm.experiments.peers import choose_peers
from isotherm.graph.keys import node_keys, salted
from isotherm.labels import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from isotherm.experiments.models import Model
    from isotherm.experiments.peers import Peer
    from isotherm.graph import Graph

    Codes = NDArray[np.intp]
    Answer = tuple[str, Codes, float]  # who, a label for every node, seconds
    Contestant = Callable[[Graph, Codes], Iterator[Answer]]

COLUMNS = (
    *("seed_fraction", "model", "repeat"),
    *("macro_f1", "accuracy", "answered", "seconds"),
)


def evaluate(
    graph: Graph,
    labels: NDArray[np.intp],
    fractions: Sequence[float],
    *,
    repeats: int,
    decisions: bool = False,
    against: Iterable[str] = (),
    judged: NDArray[np.bool_] | None = None,
    random_state: int = 0,
    progress: Callable[[str, int, int], None] | None = None,
    tol: float = TOL,
    solver: str = "auto",
    engine: str = "auto",
) -> list[dict[str, Any]]:
    """Scores on held-out labels, a row for each share of seeds, repeat and model.

    A row has the columns `COLUMNS`; `answered` is the share of the held-out nodes that got a label,
    and those without count as wrong. `converged` is False where the temperatures it rests on could
    not be proven to `tol`; `failure` says why a peer gave no answer.

    Parameters
    ----------
    graph : Graph
    labels : int array of shape (n,)
        −1 where unknown.
    fractions : sequence of float
        Shares of the labelled nodes that are given as seeds.
    repeats : int
    decisions : bool
        Whether each decision is scored, too, all of them on the temperatures of one solve.
    against : iterable of str
        Names of peers, see `isotherm.experiments.peers`.
    judged : bool array of shape (n,), optional
        Nodes that are scored if they are held out, such as those drawn at random; by default all.
    random_state : int
        Of the draws, which do not depend on the order of nodes.
    progress : callable, optional
        Told what runs, how much is done and how much there is.
    tol, solver, engine
        See `isotherm.DirichletClassifier`.

    Raises
    ------
    ParameterError
        If there is no such peer, or its library is not installed.
    LabelError
        If a share leaves no node to score.

    Warns
    -----
    sklearn.exceptions.ConvergenceWarning
        If temperatures could not be proven to `tol`, once for all draws.

    Examples
    --------
    >>> from isotherm import load_dataset
    >>> from isotherm.labels import number_classes
    >>> club = load_dataset("karate")
    >>> rows = evaluate(club.graph, number_classes(club.labels)[0], [0.2], repeats=1)
    >>> rows[0]["model"], round(rows[0]["macro_f1"], 3), round(rows[0]["accuracy"], 3)
    ('paper', 0.963, 0.963)
    """
    how = {"tol": tol, "solver": solver, "engine": engine}
    contestants: list[Contestant] = [_of_model(*item) for item in make_models(**how).items()]
    contestants += [_of_decisions(how)] if decisions else []
    contestants += [_of_peer(peer) for peer in choose_peers(against)]
    n_known, keys = np.count_nonzero(labels != UNKNOWN), node_keys(graph.nodes)
    rows = []
    for fraction in fractions:
        show = partial(progress or _silent, f"{100 * fraction:.3g} % seeds")
        show(0, repeats * len(contestants))
        for repeat in range(repeats):
            drawn_by = salted(keys, f"seeds {round(fraction * 1e9)} {repeat}", random_state)
            seeds = draw_seeds(labels, fraction * n_known / len(labels), drawn_by)
            draw = {"seed_fraction": fraction, "repeat": repeat}
            for place, contestant in enumerate(contestants, 1):
                rows += [draw | row for row in _scored(contestant, graph, labels, seeds, judged)]
                show(repeat * len(contestants) + place, repeats * len(contestants))
    _warn_of_doubts(rows, len(fractions) * repeats, tol)
    return rows


def _silent(what: str, done: int, total: int) -> None:
    """No progress."""


def _timed(name: str, labels_of: Callable[[Graph, Codes], Codes]) -> Contestant:
    """One answer, with the seconds it took."""

    def answers(graph: Graph, known: Codes) -> Iterator[Answer]:
        started = time.perf_counter()
        found = labels_of(graph, known)
        yield name, found, time.perf_counter() - started

    return answers


def _of_model(name: str, model: Model) -> Contestant:
    return _timed(name, lambda graph, known: model.fit(graph, known).labels_)


def _of_peer(peer: Peer) -> Contestant:
    with suppress(Exception):  # said when it is asked; loading it is no part of its time
        peer.load()
    return _timed(peer.name, peer.labels)


def _of_decisions(how: dict[str, Any]) -> Contestant:
    """An answer for each decision but the paper's, which is a model; all share one solve."""
    others = [decision for decision in DECISIONS if decision != "centered"]

    def answers(graph: Graph, known: Codes) -> Iterator[Answer]:
        seeds = np.flatnonzero(known != UNKNOWN)
        started = time.perf_counter()
        solution, classes = temperatures_of(graph, known, seeds, **how)
        if solution.certificate.bound > how["tol"]:
            warnings.warn("temperatures not proven", ConvergenceWarning, stacklevel=1)
        solved = time.perf_counter() - started
        for decision in others:
            started = time.perf_counter()
            ((_, found),) = predictions(
                solution, classes, known, seeds, decisions=[decision], tol=how["tol"]
            )
            yield decision, found, solved + time.perf_counter() - started

    return answers


def _scored(
    contestant: Contestant,
    graph: Graph,
    labels: Codes,
    seeds: Codes,
    judged: NDArray[np.bool_] | None,
) -> Iterator[dict[str, Any]]:
    """A row for each answer, scored on the nodes of known label that are no seeds."""
    known = np.full(len(labels), UNKNOWN)
    known[seeds] = labels[seeds]
    with warnings.catch_warnings(record=True) as caught:  # told of once, at the end
        warnings.simplefilter("always")
        answers = list(contestant(graph, known))
    failure = next((str(each.message) for each in caught if each.category is NoAnswer), "")
    converged = not any(issubclass(each.category, ConvergenceWarning) for each in caught)
    held_out = (labels != UNKNOWN) & (known == UNKNOWN)
    if judged is not None:
        held_out &= judged
        if not held_out.any():
            raise LabelError(
                f"all {np.count_nonzero(judged):,} labels that can be scored became seeds: leave "
                "more of them out, by a smaller share of seeds"
            )
    truth = labels[held_out]
    for name, found, seconds in answers:
        got = found[held_out]
        yield {
            "model": name,
            "macro_f1": macro_f1(truth, got),
            "accuracy": float(np.mean(got == truth)),
            "answered": float(np.mean(got != UNKNOWN)),
            "seconds": seconds,
            "converged": converged,
            "failure": failure,
        }


def _warn_of_doubts(rows: list[dict[str, Any]], n_draws: int, tol: float) -> None:
    """Say in how many draws temperatures could not be proven."""
    missed = {(row["seed_fraction"], row["repeat"]) for row in rows if not row["converged"]}
    if missed:
        warnings.warn(
            f"in {len(missed)} of {n_draws} draws temperatures could not be proven to "
            f"tol = {tol:.1e}",
            ConvergenceWarning,
            stacklevel=3,
        )
