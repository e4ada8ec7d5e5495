"""The two threads behind the page: one folds labels in and answers, the other thinks ahead.

The session of a model belongs to one thread. So the first thread alone has the model: labels come
first, questions (why is this node so?) wait for them. The second has copies of it and finds what
takes longer: what to label next, how sure all this is, which labels look wrong, when to stop. It
begins again, with the most urgent, as soon as there are newer labels.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from isotherm.errors import FileError, IsothermError
from isotherm.page.follower import Follower
from isotherm.page.labelling import Point
from isotherm.page.snapshot import Snapshot
from isotherm.page.start import FIRST, starting_nodes
from isotherm.trust.suggest import CHECK

if TYPE_CHECKING:
    from collections.abc import Callable

    from isotherm.classifier.algorithm import HeatClassifier
    from isotherm.graph import Graph
    from isotherm.job import ModelParameters
    from isotherm.page.labelling import Labelling
    from isotherm.trust.scoring import Suspect
    from isotherm.trust.stop import Advice

    Answer = TypeVar("Answer")

logger = logging.getLogger(__name__)

AHEAD = 8  # suggestions that are ready
SLOW = 0.2  # seconds after which the progress of a solve is shown
MOST_SUSPECTS = 100  # seeds left out at a time to find them


class Stopped(Exception):
    """The model has been stopped."""


class Suggested(NamedTuple):
    """A node to label next: its position, and why."""

    position: int
    why: str


class Model:
    """The labels of all nodes, kept up with what people say.

    Parameters
    ----------
    graph : Graph
    labelling : Labelling
    parameters : ModelParameters

    Attributes
    ----------
    snapshot : Snapshot
        What is known now.
    suggestions : list of Suggested
    checks : set of int
        Positions of all nodes that were suggested because they were drawn at random.
    advice : Advice or None
        Whether to stop.
    suspects : list of Suspect
    judged : int
        The version of the labels that suspects and advice are about.
    is_known : bool
        Whether the expected accuracy is; false where too few of the labels were drawn at random.
    progress : float or None
        How far a solve is that takes longer; None without one.
    fault : str
        What went wrong in the background, if something did.
    """

    def __init__(self, graph: Graph, labelling: Labelling, parameters: ModelParameters) -> None:
        self.graph, self.labelling = graph, labelling
        self.snapshot = Snapshot(-1, graph.n_nodes)
        self.suggestions: list[Suggested] = []
        self.checks: set[int] = set()
        self.advice: Advice | None = None
        self.suspects: list[Suspect] = []
        self.judged = -1
        self.is_known = True
        self.progress: float | None = None
        self.fault = ""
        self.changed: Callable[[], None] = lambda: None
        self.tol = parameters.get("tol", 1e-6)
        self._follower = Follower(graph, parameters)
        self._questions: deque[tuple[Future[Any], Callable[[HeatClassifier], Any]]] = deque()
        self._work = threading.Condition()
        self._news = threading.Condition()
        self._is_over = False
        self._thought = self._suggested = -1
        self._threads = [
            threading.Thread(target=run, name=name, daemon=True)
            for name, run in (("isotherm-answers", self._answer), ("isotherm-ahead", self._think))
        ]
        labelling.changed = self.wake

    # --- from any thread ----------------------------------------------------------------------

    def start(self) -> None:
        """Fold in the labels that there are, then let the threads run."""
        self._fold()
        for thread in self._threads:
            thread.start()

    def leave(self) -> None:
        """Answer no more questions."""
        with self._work:
            self._is_over = True
            while self._questions:
                self._questions.popleft()[0].set_exception(Stopped())
            self._work.notify_all()

    def stop(self) -> None:
        """End both threads; a step that is under way is waited for."""
        self.leave()
        with self._news:
            self._news.notify_all()
        for thread in self._threads:
            thread.join()

    def wake(self) -> None:
        """There is something to do."""
        with self._work:
            self._work.notify_all()

    def ask(self, question: Callable[[HeatClassifier], Answer]) -> Future[Answer]:
        """Have the thread of the model answer a question, after the labels that wait."""
        answer: Future[Answer] = Future()
        with self._work:
            if self._is_over:
                answer.set_exception(Stopped())
                return answer
            self._questions.append((answer, question))
            self._work.notify_all()
        return answer

    def wait(self, version: int, seconds: float, *, judged: bool = False) -> bool:
        """Wait until labels of a version are folded in, or even judged; whether they are."""
        end = time.monotonic() + seconds

        def is_there() -> bool:
            return (self.judged if judged else self.snapshot.version) >= version

        with self._news:
            while not is_there() and (left := end - time.monotonic()) > 0 and not self._is_over:
                self._news.wait(min(left, 1.0))
        return is_there()

    def wait_for_suggestions(self, seconds: float) -> bool:
        """Wait until what is suggested is about the labels that are folded in."""
        end = time.monotonic() + seconds
        with self._news:
            while self._suggested != self.snapshot.version and not self._is_over:
                if (left := end - time.monotonic()) <= 0:
                    return False
                self._news.wait(min(left, 1.0))
        return True

    # --- the thread of the model --------------------------------------------------------------

    def _answer(self) -> None:
        while True:
            with self._work:
                self._work.wait_for(lambda: self._is_over or self._is_behind or self._questions)
            if self._is_over:
                break
            try:
                if self._is_behind:
                    self._fold()
                    continue
            except Exception as error:
                logger.exception("labels could not be applied")
                self._fail(error)
                self._follower.forget()
                time.sleep(SLOW)
                continue
            self._reply()

    @property
    def _is_behind(self) -> bool:
        return self.snapshot.version != self.labelling.version

    def _fold(self) -> None:
        """Fold in all labels that have come, exactly, at the price of a column each."""
        version, labels = self.labelling.version, self.labelling.known()
        self._follower.follow(labels, self._progress())
        known = self.snapshot.probabilities
        self.snapshot = Snapshot(version, self.graph.n_nodes, self._follower.classifier, known)
        self.progress, self.fault = None, ""
        self._tell()

    def _progress(self) -> Callable[[int, float], None]:
        """Shows how far a solve is, if it takes longer."""
        began, first, shown = time.monotonic(), 0.0, 0.0

        def show(_: int, error: float) -> None:
            nonlocal first, shown
            now = time.monotonic()
            first = max(first, error)
            if now - began < SLOW or now - shown < SLOW / 2 or not 0 < error < np.inf:
                return
            shown = now
            whole = np.log(max(first, 10 * self.tol) / self.tol)
            self.progress = float(np.clip(1 - np.log(max(error, self.tol) / self.tol) / whole,
                                          0.0, 1.0))  # fmt: skip
            self.changed()

        return show

    def _reply(self) -> None:
        with self._work:
            if not self._questions:
                return
            answer, question = self._questions.popleft()
        if not answer.set_running_or_notify_cancel():
            return
        model = self._follower.classifier
        if model is None:
            answer.set_exception(LookupError("there is no label yet"))
            return
        try:
            answer.set_result(question(model))
        except Exception as error:
            answer.set_exception(error)

    def _tell(self) -> None:
        with self._news:
            self._news.notify_all()
        self.changed()

    def _fail(self, error: Exception) -> None:
        kind = "" if isinstance(error, IsothermError) else f"{type(error).__name__}: "
        self.fault = f"{kind}{error}"
        self._tell()

    # --- the thread that thinks ahead ---------------------------------------------------------

    def _think(self) -> None:
        while not self._is_over:
            with self._news:
                self._news.wait_for(lambda: self._is_over or self.snapshot.version != self._thought)
            if self._is_over:
                return
            snapshot = self.snapshot
            self._thought = snapshot.version
            for step in (self._suggest, self._judge, self._doubt):
                if self._is_over or (self.snapshot is not snapshot and step is not self._suggest):
                    break
                try:
                    step(snapshot)
                except FileError as error:  # no room for a point of the curve
                    self._fail(error)
                except Exception as error:
                    logger.exception("choosing suggestions failed")
                    self._fail(error)

    def _suggest(self, snapshot: Snapshot) -> None:
        labelled, skipped = set(self.labelling.labels), set(self.labelling.skipped)
        known = np.zeros(self.graph.n_nodes, dtype=bool)
        out = labelled | skipped
        if out:
            known[self.graph.positions(sorted(out))] = True
        if snapshot.model is None or snapshot.n_classes < 2:
            found = [Suggested(i, FIRST) for i in starting_nodes(self.graph, known, AHEAD)]
        else:
            asked = snapshot.model.suggest(AHEAD + min(len(skipped), 8 * AHEAD))
            places = self.graph.positions([one.node for one in asked]).tolist() if asked else []
            found = [
                Suggested(i, one.why) for i, one in zip(places, asked, strict=True) if not known[i]
            ][:AHEAD]
            if len(out) % 2 and len(found) > 1 and found[1].why == CHECK:
                found[:2] = found[1::-1]  # every other one is a check, as in a batch
            if not found and len(skipped):
                found = [Suggested(i, FIRST) for i in starting_nodes(self.graph, known, AHEAD)]
        self.checks |= {one.position for one in found if one.why == CHECK}
        self.suggestions = found
        self._suggested = snapshot.version
        self._tell()

    def _judge(self, snapshot: Snapshot) -> None:
        if snapshot.model is None or snapshot.n_classes < 2:
            snapshot.count()
            return
        snapshot.judge()
        accuracy = snapshot.model.expected_accuracy()
        snapshot.count()
        self.is_known = bool(np.isfinite(accuracy).all())
        curve, n = self.labelling.curve, len(self.labelling.labels)
        if self.snapshot is snapshot and self.is_known:
            point = Point(n, *(round(float(x), 4) for x in accuracy))
            if not curve or curve[-1] != point:
                self.labelling.expect(point)
        self._tell()

    def _doubt(self, snapshot: Snapshot) -> None:
        if snapshot.model is None or snapshot.n_classes < 2:
            self.advice, self.suspects = None, []
        else:
            self.suspects = snapshot.model.suspects(max_seeds=MOST_SUSPECTS)
            if self.snapshot is not snapshot:
                return
            self.advice = snapshot.model.should_stop()
        self.judged = snapshot.version
        self._tell()
