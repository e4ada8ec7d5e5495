"""Choose the decision and the leak by what leave-one-out says, and only where it says so clearly.

With few seeds leave-one-out is noisy, and the best of twelve candidates is often merely lucky. So
there is a pair that is preferred, `PREFERRED`: of all fixed pairs it was the best on average over
graphs of many kinds. Another one must beat it by more than one standard error of the difference
between the two, over the same seeds; among those that do, the one with the most left after that
error wins.

What is compared was measured, too. Plain temperatures and class masses, and leaks above 0.1, are
hardly ever better than the others, and now and then lucky.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from isotherm.rounding import LEVEL
from isotherm.trust.best_effort import solve_best_effort
from isotherm.trust.sample import CHOOSING, SAMPLE_TOL, leave_sample_out, seed_keys
from isotherm.trust.scoring import macro_f1s

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.engines.engine import Session
    from isotherm.trust.leave_one_out import LeftOut

AUTO = "auto"
COMPARED = ("centered", "partial", "standard", "ratio")  # decisions, the paper's first
LEAKS = (0.0, 0.01, 0.1)  # likewise
PREFERRED = ("standard", 0.01)
FEWEST_SEEDS = 10  # that can be judged, or the paper's choice it is
RESAMPLES = 200
ERRORS = 1.0  # standard errors by which a candidate must be better than the preferred one


class Candidate(NamedTuple):
    """A pair of decision and leak, as leave-one-out sees it.

    Attributes
    ----------
    decision : str
    leak : float
    macro_f1 : float
        Over the seeds that can be judged; NaN if there are too few.
    gain, error : float
        The difference to the preferred pair, and its standard error.
    """

    decision: str
    leak: float
    macro_f1: float
    gain: float
    error: float


class Selection(NamedTuple):
    """What was compared, and what was chosen.

    Attributes
    ----------
    decision : str
    leak : float
    candidates : list of Candidate
        The paper's pair, or the one closest to it, comes first. Empty if there was nothing to
        choose.
    n_judged, n_seeds : int
        Seeds that were left out and could be judged, of all seeds.

    Examples
    --------
    >>> from isotherm import DirichletClassifier, load_dataset
    >>> club = load_dataset("karate")
    >>> known = {node: str(club.labels[node]) for node in (0, 1, 2, 3, 30, 31, 32, 33)}
    >>> model = DirichletClassifier(decision="auto").fit(club.graph, known)
    >>> model.selection_.decision, model.selection_.n_seeds
    ('centered', 8)
    """

    decision: str
    leak: float
    candidates: list[Candidate]
    n_judged: int
    n_seeds: int


def select(
    problem: DirichletProblem,
    codes: NDArray[np.intp],
    asked: tuple[str, float | str],
    prepare: Callable[[DirichletProblem], Session],
    abstain: bool,
    *,
    first: NDArray[np.bool_] | None = None,
) -> tuple[Selection, LeftOut | None]:
    """The decision and the leak to use, those given or the best by leave-one-out.

    And, if it came to that, the seeds left out with that leak.

    Parameters
    ----------
    problem : DirichletProblem
    codes : int array of shape (s,)
        The class of each seed.
    asked : pair
        Decision and leak; ``"auto"`` where one is to be chosen.
    prepare : callable
        Makes a problem ready to be solved.
    abstain : bool
        Whether nodes that no heat reaches are left out of the means.
    first : bool array of shape (s,), optional
        Seeds to be left out before others.
    """
    decisions = COMPARED if asked[0] == AUTO else (asked[0],)
    leaks = LEAKS if asked[1] == AUTO else (problem.leak,)
    if len(decisions) * len(leaks) == 1 or problem.n_columns == 1:
        return Selection(decisions[0], leaks[0], [], 0, len(codes)), None
    found: dict[tuple[str, float], NDArray[np.intp]] = {}
    left: dict[float, LeftOut] = {}
    for leak in leaks:
        with prepare(problem.with_leak(leak)) as session:
            tol = max(session.options.tol, SAMPLE_TOL)
            solution = solve_best_effort(session, tol=tol)
            left[leak] = leave_sample_out(
                session, solution, codes, tol=tol, abstain=abstain, budget=CHOOSING, first=first
            )
        some = ~left[leak].is_last
        found |= {(name, leak): left[leak].labels(name)[some] for name in decisions}
        if np.count_nonzero(some) < FEWEST_SEEDS:
            break
    judged = left[leaks[0]].only(np.flatnonzero(~left[leaks[0]].is_last))
    in_turn = np.argsort(seed_keys(problem, "resampled")[judged.places])
    found = {pair: labels[in_turn] for pair, labels in found.items()}
    chosen = choose(found, judged.codes[in_turn], problem.n_columns, len(codes))
    return chosen, left[chosen.leak]


def choose(
    found: dict[tuple[str, float], NDArray[np.intp]],
    truth: NDArray[np.intp],
    n_classes: int,
    n_seeds: int,
) -> Selection:
    """Choose one of several candidates: the preferred one unless another is clearly better.

    With too few seeds to judge by it is the first.

    Parameters
    ----------
    found : dict
        For each decision and leak the classes that seeds would get; −1 where they get none.
    truth : int array of shape (m,)
        The classes of these seeds, each of which has another seed of its class. Seeds are drawn
        anew by their places, which must not follow from the order of rows.
    n_classes, n_seeds : int

    Examples
    --------
    Three more seeds found and two lost may be luck; eight more found are not.

    >>> seed = np.arange(30)
    >>> truth = seed % 3
    >>> half, better = (np.where(seed < m, truth, 0) for m in (15, 27))
    >>> lucky = np.where((seed > 2) & (seed < 20), truth, 0)
    >>> choose({("standard", 0.01): half, ("ratio", 0.1): lucky}, truth, 3, 30)[:2]
    ('standard', 0.01)
    >>> choose({("standard", 0.01): half, ("ratio", 0.1): better}, truth, 3, 30)[:2]
    ('ratio', 0.1)
    """
    pairs = list(found)
    if len(truth) < FEWEST_SEEDS:
        nothing = [Candidate(*pair, np.nan, 0.0, np.nan) for pair in pairs]
        return Selection(*pairs[0], nothing, len(truth), n_seeds)
    weights = resampled(len(truth), RESAMPLES)
    F = np.array([macro_f1s(truth, labels, weights, n_classes) for labels in found.values()])
    preferred = pairs.index(_preferred(pairs))
    difference = F - F[preferred]
    gain, error = difference[:, 0], difference[:, 1:].std(axis=1)
    left = gain - ERRORS * error
    best = int(left.argmax())
    chosen = best if left[best] > LEVEL else preferred  # level but for rounding is no better
    candidates = [
        Candidate(*pair, float(F[k, 0]), float(gain[k]), float(error[k]))
        for k, pair in enumerate(pairs)
    ]
    return Selection(*pairs[chosen], candidates, len(truth), n_seeds)


def _preferred(pairs: list[tuple[str, float]]) -> tuple[str, float]:
    """The pair that is preferred, or that with the same decision or leak where one is given."""
    decision, leak = PREFERRED
    return min(pairs, key=lambda pair: (pair[0] != decision, pair[1] != leak))


def resampled(count: int, times: int) -> NDArray[np.float64]:
    """Weights of seeds drawn anew so many times, always in the same way; the first are all 1."""
    draws = np.random.default_rng(0).multinomial(count, np.full(count, 1 / count), times)
    return np.vstack([np.ones(count), draws])
