"""Seeds as if each were free: what follows from their responses, and how far off that may be.

See `isotherm.trust.leave_one_out` for the formulas.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from isotherm.arithmetic import in_standard_arithmetic
from isotherm.compiled import core, n_threads
from isotherm.decision import sum_up
from isotherm.graph.rows import row_sums
from isotherm.labels import UNKNOWN
from isotherm.rounding import UNIT_ROUNDOFF, rounding_of_sums
from isotherm.solvers.certificate import COVERED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.graph.rows import Rows
    from isotherm.solvers import Solution

ROOM = 1 << 22  # numbers worked on at once


class Freed(NamedTuple):
    """Some seeds, each as if it alone were free; a row for each of m.

    Attributes
    ----------
    temperatures : array of shape (m, K)
    errors : array of shape (m,)
        Bound on the error of each of them.
    changes : array of shape (m, K)
        By which the temperatures of all nodes change, summed up.
    change_errors : array of shape (m,)
        Bound on the error of each of these.
    """

    temperatures: NDArray[np.float64]
    errors: NDArray[np.float64]
    changes: NDArray[np.float64]
    change_errors: NDArray[np.float64]

    @classmethod
    def unreached(cls, count: int, n_classes: int) -> Freed:
        """Where no heat reaches them."""
        shape = count, n_classes
        return cls(np.full(shape, np.nan), np.zeros(count), np.zeros(shape), np.zeros(count))

    @classmethod
    def anew(
        cls,
        solution: Solution,
        node: NDArray[np.intp],
        total: NDArray[np.float64],
        total_error: float,
    ) -> Freed:
        """One, from the solution without it; `total` is the sum of temperatures with it."""
        T, E = solution.temperatures, solution.certificate.error_or_0
        # NaN at unreached nodes; of any other one the error is infinite, and so is their sum.
        sums, error = np.nansum(T, axis=0, dtype=np.float64), float(E.sum())
        # A difference, to which the total will be added again: both times digits may get lost.
        lost = 8 * UNIT_ROUNDOFF * (total.max() + sums.max() + total_error + error)
        change, change_error = sums - total, np.array([error - total_error + lost])
        return cls(T[node].astype(np.float64), E[node], change[np.newaxis], change_error)

    def put(self, rows: NDArray[np.intp], others: Freed) -> None:
        """Put others in the place of some."""
        for whole, part in zip(self, others, strict=True):
            whole[rows] = part


class ResponseSums(NamedTuple):
    """Sums over all nodes: of each response, and of the factors of its certificate."""

    temperatures: NDArray[np.float64]
    exits: float
    n_nodes: int

    @classmethod
    def of(cls, responses: Solution) -> ResponseSums:
        """Those of responses at all nodes."""
        X = responses.temperatures
        seeds = np.full(len(X), UNKNOWN)  # all nodes count alike
        (sums, _), (exits, _), _ = sum_up(X, responses.certificate.nodes, seeds)
        return cls(sums, float(exits), len(X))


class Held(NamedTuple):
    """Seeds, and what each is held at.

    Attributes
    ----------
    rows : Rows
        Of the graph.
    leak : float
    nodes : int array of shape (m,)
    own : array of shape (m, K)
    own_errors : array of shape (m,)
    """

    rows: Rows
    leak: float
    nodes: NDArray[np.intp]
    own: NDArray[np.float64]
    own_errors: NDArray[np.float64]


@in_standard_arithmetic
def free_each(
    problem: DirichletProblem,
    places: NDArray[np.intp],
    T: NDArray[np.floating],
    E: NDArray[np.float64],
    responses: Solution,
    sums: ResponseSums | None = None,
) -> Freed:
    """From the responses of seeds; anything of those that are alone in their component.

    Parameters
    ----------
    problem : DirichletProblem
    places : int array of shape (m,)
        Of the seeds, among all.
    T : array of shape (n, K)
        The temperatures.
    E : array of shape (n,)
        Bounds on their errors.
    responses : Solution
        What all nodes get when one of these seeds alone is hot, a column for each.
    sums : ResponseSums, optional
        Where the arrays are of some nodes only: those of all.
    """
    nodes = problem.seeds[places]
    rows = problem.graph.rows.near(nodes)
    is_tied = places >= len(problem.boundary)
    own, own_errors = T[nodes].astype(np.float64), np.where(is_tied, E[nodes], 0.0)
    own[~is_tied] = problem.values[places[~is_tied]]
    held = Held(rows, problem.leak, nodes, own, own_errors)
    sums = sums or ResponseSums.of(responses)
    if rows.compiled:
        return _free_in_core(held, T, E, responses, sums)
    entries = (rows.start[nodes + 1] - rows.start[nodes] + 1).cumsum()
    at_once = max(ROOM // (problem.n_columns + 1), 1)
    found = Freed.unreached(len(places), problem.n_columns)
    cuts = np.searchsorted(entries, np.arange(at_once, entries[-1], at_once))
    for first, last in pairwise([0, *cuts.tolist(), len(places)]):
        if first < last:
            columns = np.arange(first, last)
            found.put(columns, _free_some(held, columns, T, E, responses, sums))
    return found


def _free_in_core(
    held: Held,
    T: NDArray[np.floating],
    E: NDArray[np.float64],
    responses: Solution,
    sums: ResponseSums,
) -> Freed:
    rows, bound, (count, n_classes) = held.rows, responses.certificate, held.own.shape
    found = Freed.unreached(count, n_classes)
    core.free_each(
        rows.start,
        rows.ends,
        rows.weights,
        leak=held.leak,
        nodes=held.nodes,
        own=held.own,
        own_errors=held.own_errors,
        temperatures=np.ascontiguousarray(T),
        errors=E,
        responses=np.ascontiguousarray(responses.temperatures),
        factors=bound.nodes,
        columns=bound.columns,
        spans=bound.spans,
        sums=sums.temperatures,
        exits=sums.exits,
        n_summed=sums.n_nodes,
        freed=found.temperatures,
        freed_errors=found.errors,
        changes=found.changes,
        change_errors=found.change_errors,
        threads=n_threads(),
    )
    return found


def _free_some(
    held: Held,
    columns: NDArray[np.intp],
    T: NDArray[np.floating],
    E: NDArray[np.float64],
    responses: Solution,
    all_sums: ResponseSums,
) -> Freed:
    """Some of them; `native/freed.hpp` is the same in C++."""
    rows, leak = held.rows, held.leak
    nodes, own, own_error = held.nodes[columns], held.own[columns], held.own_errors[columns]

    entries, counts = rows.entries(nodes)  # without ties
    ends, of = rows.ends[entries], np.arange(len(nodes)).repeat(counts)
    weights = np.ones(len(entries)) if rows.weights is None else rows.weights[entries]
    sums = row_sums(counts)
    X, bound = responses.temperatures, responses.certificate

    def response(
        at: NDArray[np.generic], column: NDArray[np.intp]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        errors = np.minimum(bound.nodes[at] * bound.columns[column], bound.spans[column])
        return X[at, column].astype(np.float64), errors

    with np.errstate(all="ignore"):
        (x, x_errors), (x_node, x_error) = response(ends, columns[of]), response(nodes, columns)
        # The response to the node itself, which is that to the seed unless it is tied.
        unit = x_node - x_error
        g = x / x_node[of]
        g_errors = (x_errors + g * x_error[of]) / unit[of]
        flows, escaping = weights[:, np.newaxis] * (T[ends] - own[of]), weights * (1 - g)
        terms = (weights, escaping, np.abs(escaping), weights * (E[ends] + own_error[of]),
                 weights * g_errors)  # fmt: skip
        degree, escape, escape_size, r_error, escape_error = sums(np.column_stack(terms)).T
        lost = leak * degree
        r, escape = sums(flows) - lost[:, np.newaxis] * own, escape + lost
        rounding, tiny = rounding_of_sums(counts)
        r_size = sums(np.abs(flows)).max(axis=1)
        r_error = r_error + lost * own_error + rounding * (r_size + lost) + 4 * tiny
        escape_error = escape_error + rounding * (escape_size + lost) + 4 * tiny
        delta = r / escape[:, np.newaxis]
        largest = np.abs(delta).max(axis=1)
        error = (r_error + largest * escape_error) / (escape - escape_error)
        total = all_sums.temperatures[columns]
        total_error = all_sums.exits * bound.columns[columns]
        total_error += total * all_sums.n_nodes * UNIT_ROUNDOFF
        total, total_error = total / x_node, (total_error + total / x_node * x_error) / unit
        change_error = largest * total_error + error * (total + total_error)
        error = (own_error + error) * (1 + 1e-12) + 4 * UNIT_ROUNDOFF
    sound = (COVERED[0] <= degree) & (degree <= COVERED[1]) & (unit > 0) & (escape > escape_error)
    return Freed(
        own + delta, np.where(sound, error, np.inf), delta * total[:, np.newaxis], change_error
    )


def heated_without(
    problem: DirichletProblem, places: NDArray[np.intp], *, together: bool = False
) -> NDArray[np.bool_]:
    """Classes with heat at free nodes when seeds are left out, each alone or all together.

    Returns
    -------
    array of shape (m, K), or (K,) if together
    """
    warm, touching = problem.seed_values > 0, problem.is_touching
    by, neighbours = (np.empty(0, dtype=np.intp),) * 2
    if not touching.all():
        by, neighbours = _shut_in(problem, places)
    if together:
        touching, gone = touching.copy(), np.zeros(problem.n_seeds, dtype=bool)
        touching[neighbours] = gone[places] = True
        return np.asarray(warm[touching & ~gone].any(axis=0))
    heated = warm[touching].sum(axis=0) > (warm[places] & touching[places, np.newaxis])
    if len(by):
        np.logical_or.at(heated, by, warm[neighbours])
    return np.asarray(heated)


def _shut_in(
    problem: DirichletProblem, places: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows of `places` whose seeds, freed, are heated by seeds that they shut in; and these."""
    boundary = problem.boundary
    place_of = np.full(problem.graph.n_nodes, -1)
    place_of[boundary] = np.arange(len(boundary))
    (held,) = (places < len(boundary)).nonzero()
    rows = problem.graph.rows.near(boundary[places[held]])
    entries, counts = rows.entries(boundary[places[held]])
    by, neighbours = held.repeat(counts), place_of[rows.ends[entries]]
    shut_in = (neighbours >= 0) & (neighbours != places[by]) & ~problem.is_touching[neighbours]
    return by[shut_in], neighbours[shut_in]
