"""An oracle that knows the truth and answers what the page asks: a demo, and a test."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from isotherm.page.truth import MOST_TIMES, ORACLE, Score, told

if TYPE_CHECKING:
    from collections.abc import Callable

    from isotherm.page.session import LabellingSession

PATIENCE = 600.0  # seconds to wait for the model
FEWEST = 20  # labels before it is asked whether to stop


class Result(NamedTuple):
    """What came of it.

    Attributes
    ----------
    labels : int
    score : Score
    at_random : int or None
        So many labels at random do as well, in half of the draws; None if `tried` do not.
    tried : int
    """

    labels: int
    score: Score
    at_random: int | None
    tried: int

    def __str__(self) -> str:
        return told(self.labels, self.score, self.at_random, self.tried)


def play(
    session: LabellingSession,
    most: int | None = None,
    *,
    show: Callable[[int, Score], None] = lambda *_: None,
    is_over: Callable[[], bool] = lambda: False,
) -> int:
    """Let the oracle label what is suggested; how many labels it gave.

    Parameters
    ----------
    session : LabellingSession
        Started, with the truth.
    most : int, optional
        So many labels; by default until `should_stop` says so, or all labels are right.
    show : callable
        Called after each label with how many there are and how well they do.
    is_over : callable
        Whether to give up.
    """
    truth, labelling, model = session.truth, session.labelling, session.model
    assert truth is not None  # noqa: S101  # see above
    given = 0
    while not is_over() and (most is None or given < most):
        by_advice = most is None and len(labelling.labels) >= FEWEST
        model.wait(labelling.version, PATIENCE, judged=by_advice)
        if by_advice and model.advice is not None and model.advice.stop:
            break
        if most is None and model.snapshot.n_classes == len(truth.classes):
            score = truth.score(model.snapshot)
            if score.right == score.total:
                break
        model.wait_for_suggestions(PATIENCE)
        node = session.next_node()
        if node is None:
            break
        name = session.cards.names[node]
        if not truth.knows(name):
            labelling.skip(name, ORACLE)
            continue
        session.label(name, truth.of(name), ORACLE)
        given += 1
        model.wait(labelling.version, PATIENCE)
        show(len(labelling.labels), truth.score(model.snapshot))
    return given


def result(session: LabellingSession) -> Result:
    """How well the labels do, and how many it would have taken at random."""
    truth = session.truth
    assert truth is not None  # noqa: S101  # a session with an oracle
    session.model.wait(session.labelling.version, PATIENCE)
    score, n = truth.score(session.model.snapshot), len(session.labelling.labels)
    tried = min(MOST_TIMES * max(n, 1), truth.n_known - 1)
    return Result(n, score, truth.random_labels(score.share, tried, session.parameters), tried)
