"""Each label alone: a decision between two classes, "has it" and "has not".

Of all the heat H at a node (1 without leak) a label has its temperature T and the rest, H − T, is
of those without it. Arrays have a column for each label; of means there are two, of those without
a label and of those with it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from isotherm.decision import Means, scores
from isotherm.rounding import UNIT_ROUNDOFF
from isotherm.solvers.certificate import SLACK, Certificate
from isotherm.trust.calibrate import Calibration, calibrate
from isotherm.trust.sample import leave_sample_out

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.engines.engine import Session
    from isotherm.solvers import Solution


def rest(T: NDArray[np.floating], heat: NDArray[np.floating]) -> NDArray[np.float64]:
    """The heat that is not the label's, never below 0."""
    return np.asarray(np.maximum(heat - T, 0.0))


def leads(
    T: NDArray[np.floating], heat: NDArray[np.floating], means: tuple[Means, Means], decision: str
) -> NDArray[np.float64]:
    """Score of having each label minus that of not having it.

    Parameters
    ----------
    T : array of shape (n, L)
    heat : array of shape (n,)
    means : pair of Means
        Without the label and with it; of shape (L,), or (n, L) if they differ from node to node.
    decision : str

    Returns
    -------
    array of shape (n, L)
        A label that all seeds have is infinitely ahead, one that none has infinitely behind.

    Examples
    --------
    A label with a mean of 0.2, at a node where it is warmer than that and colder than the rest.

    >>> def means(m):
    ...     return Means(np.array([m]), np.array([m]), np.array([0.5]))
    >>> T, heat, both = np.array([[0.3]]), np.ones(1), (means(0.8), means(0.2))
    >>> leads(T, heat, both, "centered").round(6), leads(T, heat, both, "plain").round(6)
    (array([[0.2]]), array([[-0.4]]))
    """
    has_not, has = means
    S = scores(T, has, decision) - scores(rest(T, heat[:, np.newaxis]), has_not, decision)
    decided = np.select([has.seed_share == 0, has.seed_share == 1], [-np.inf, np.inf], 0.0)
    return np.asarray(S + decided)


def certificate_of(certificate: Certificate, k: int, *, leaks: bool) -> Certificate:
    """Bounds on the errors of the rest and of label k, as two columns.

    With a leak the last column of the certificate is that of all the heat; without it is exact.
    """
    own, span = certificate.columns[k], certificate.spans[k]
    heat, heat_span = (certificate.columns[-1], certificate.spans[-1]) if leaks else (0.0, 0.0)
    # The rest is a difference of numbers up to 1, rounded: u at each node, which is
    # u / both in the unit of `nodes`.
    both = max(own + heat, UNIT_ROUNDOFF) * SLACK
    return Certificate(
        (certificate.nodes + UNIT_ROUNDOFF / both) * SLACK,
        np.array([both, own]),
        np.array([(span + heat_span + UNIT_ROUNDOFF) * SLACK, span]),
        certificate.residual,
    )


def with_all_heat(solution: Solution, *, leaks: bool) -> Solution:
    """A solution whose last column is all the heat: 1 where there is any, unless it leaks."""
    if leaks:
        return solution
    T, proof = solution.temperatures, solution.certificate
    heat = np.where(solution.unreached, np.nan, 1.0).astype(T.dtype)
    return replace(
        solution,
        temperatures=np.column_stack([T, heat]),
        certificate=replace(
            proof, columns=np.append(proof.columns, 0.0), spans=np.append(proof.spans, 0.0)
        ),
    )


def calibrations(
    S: NDArray[np.float64], has: NDArray[np.bool_], units: NDArray[np.float64]
) -> list[Calibration]:
    """What the leads of each label are worth, by leave-one-out of the seeds.

    Where those left out do not both have a label and not have it nothing can be learnt, and the
    calibration is the one to start from.

    Parameters
    ----------
    S, has
        See `leads_left_out`.
    units : array of shape (L,)
        Spread of the leads over the graph.
    """
    found = []
    for k, unit in enumerate(units.tolist()):
        judged = np.isfinite(S[:, k])
        judged &= len(np.unique(has[judged, k])) == 2
        found.append(calibrate(as_pair(S[judged, k]), has[judged, k].astype(np.intp), unit))
    return found


def leads_left_out(
    session: Session, solution: Solution, decision: str, *, tol: float, abstain: bool
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Leads at seeds as if each were free, and whether it has the label.

    Not finite where no heat would reach a seed, or no seed would be left that has the label, or
    none that has it not.

    Parameters
    ----------
    session : Session
        Of a problem with a column for each label, and a last one for all the heat.
    solution : Solution
        Its solution.
    decision : str
    tol, abstain
        See `isotherm.trust.leave_one_out.leave_one_out`.
    """
    of_one_class = np.zeros(session.problem.n_seeds, dtype=np.intp)
    left = leave_sample_out(session, solution, of_one_class, tol=tol, abstain=abstain)
    found, all_heat = _columns(left.means, slice(-1)), _columns(left.means, slice(-1, None))
    off, heat_off = (_columns(left.mean_errors, some) for some in (slice(-1), slice(-1, None)))
    share = found.seed_share / all_heat.seed_share
    both = Means(off.all + heat_off.all, off.free + heat_off.free, off.seed_share)
    has = Means(found.all, found.free, share, errors=off)
    rest_of = rest(has.all, all_heat.all), rest(has.free, all_heat.free)
    has_not = Means(*rest_of, 1 - share, errors=both)
    S = leads(left.temperatures[:, :-1], left.temperatures[:, -1], (has_not, has), decision)
    return S, session.problem.values[left.places, :-1] == 1


def as_pair(leads: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores of two classes with these leads."""
    return np.asarray(leads[:, np.newaxis] * [-0.5, 0.5])


def _columns(means: Means, some: slice) -> Means:
    return Means(means.all[:, some], means.free[:, some], means.seed_share[:, some])
