"""Whether to go on labelling: what the labels given so far say about further ones."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from isotherm.errors import ParameterError
from isotherm.graph.keys import least, salted
from isotherm.trust.drawn import FEWEST, in_words
from isotherm.trust.leave_one_out import leave_some_out
from isotherm.trust.sample import seed_keys

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.engines.engine import Session
    from isotherm.solvers import Solution
    from isotherm.trust.expected import Expected
    from isotherm.trust.interval import Interval
    from isotherm.trust.leave_one_out import LeftOut

HALVES = 8  # draws of the seeds that are hidden


@dataclass(frozen=True)
class Advice:
    """Whether to stop labelling; it is true if so.

    Attributes
    ----------
    stop : bool
    reason : str
    accuracy : Interval
        Of the free nodes that get a label; see `isotherm.trust.expected`.
    gain, error : float
        What the second half of the seeds has added to it, and the standard error of that.
    n_drawn : int or None
        How many labels drawn at random it rests on; None if it is not known which were.
    """

    stop: bool
    reason: str
    accuracy: Interval
    gain: float
    error: float
    n_drawn: int | None = None

    @property
    def words(self) -> str:
        """The accuracy, and what it rests on."""
        return in_words(self.accuracy, self.n_drawn)

    def __bool__(self) -> bool:
        return self.stop

    def __str__(self) -> str:
        return ("stop: " if self.stop else "continue: ") + self.reason


def advise(
    session: Session,
    solution: Solution,
    codes: NDArray[np.intp],
    sample: LeftOut,
    expected: Expected,
    n_drawn: int | None,
    *,
    decision: str,
    gain: float,
    random_state: int,
    tol: float,
    abstain: bool,
) -> Advice:
    """Compare seeds left out one at a time with seeds left out by halves.

    Parameters
    ----------
    session, solution, codes, tol, abstain
        See `isotherm.trust.leave_one_out.leave_one_out`.
    sample : LeftOut
        Seeds left out one at a time; only those drawn at random, where that is known.
    expected : Expected
        What those of them that heat reaches say of free nodes.
    n_drawn : int or None
        How many of these there are, if they are those drawn at random.
    decision : str
    gain : float
        The accuracy that further labels must be worth.
    random_state : int
        Of the draws of halves.
    """
    if isinstance(gain, bool) or not isinstance(gain, Real) or not gain >= 0:
        raise ParameterError(f"gain must be a number ≥ 0, got {gain!r}")
    problem, accuracy = session.problem, expected.accuracy
    judged = sample.reached
    places, n_judged = sample.places[judged], int(judged.sum())
    right = (sample.labels(decision) == sample.codes)[judged]  # with all others
    alone = np.count_nonzero(np.bincount(codes, minlength=problem.n_columns) == 1)
    if problem.n_free + len(problem.unreached) == 0:
        return Advice(True, "every node has a label", accuracy, math.nan, math.nan, n_drawn)
    if n_judged < FEWEST:
        of = "seeds" if n_drawn is None else "seeds drawn at random"
        reason = (
            f"only {n_judged} {of} can be left out, too few to tell; at least {FEWEST} are needed"
        )
        return Advice(False, reason, accuracy, math.nan, math.nan, n_drawn)

    seen, half = np.zeros((2, len(codes)))  # how often hidden, and found all the same
    keys = seed_keys(problem, "halves", random_state)
    for turn in range(HALVES):
        hidden = least(salted(keys, "half", turn), len(codes) // 2)
        left = leave_some_out(session, solution, codes, hidden, tol=tol, abstain=abstain)
        seen[hidden] += 1
        half[hidden] += left.labels(decision) == left.codes
    both = seen[places] > 0
    added = right[both] - half[places[both]] / seen[places[both]]
    weights = expected.weights[both] / expected.weights[both].sum()
    brought = float(weights @ added)
    error = math.sqrt(float(weights**2 @ (added - brought) ** 2))
    what = f"the second half of the labels changed accuracy by {brought:+.3f} ± {error:.3f}"
    if alone:
        some = "1 class has" if alone == 1 else f"{alone} classes have"
        return Advice(False, f"{some} only one seed; {what}", accuracy, brought, error, n_drawn)
    now = f"{what}, now {in_words(accuracy, n_drawn)}"
    if brought + error <= gain:
        return Advice(True, now, accuracy, brought, error, n_drawn)
    if brought <= gain:
        return Advice(
            False,
            f"{what}: too few seeds to tell that from {gain:g}",
            accuracy,
            brought,
            error,
            n_drawn,
        )
    return Advice(False, now, accuracy, brought, error, n_drawn)
