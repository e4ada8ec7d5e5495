"""What a fitted classifier tells of how far to trust it; the work is done in `isotherm.trust`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from isotherm.classifier.estimator import SEED, STATUS, rows_at_once, slices
from isotherm.errors import LabelError
from isotherm.graph.keys import least, node_keys, salted
from isotherm.labels import UNKNOWN, decode_labels
from isotherm.solvers.method import check_count
from isotherm.trust import few_labels
from isotherm.trust.abstain import Coverage, check_probability, covered
from isotherm.trust.drawn import Basis
from isotherm.trust.expected import Expected, Labelled, expect
from isotherm.trust.explain import Explanation, WeightedFlow, mixed_shares
from isotherm.trust.responses import Doubts
from isotherm.trust.scoring import judged
from isotherm.trust.stop import Advice, advise
from isotherm.trust.suggest import Lots, Suggestion, suggest

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from isotherm.classifier.predictor import Predictor
    from isotherm.classifier.seeds import Seeds
    from isotherm.classifier.stacked_model import Model
    from isotherm.stacking.combination import Softmax
    from isotherm.trust.calibrate import Calibration
    from isotherm.trust.leave_one_out import LeftOut
    from isotherm.trust.scoring import LeaveOneOut

SUGGESTION_TOL = 1e-4
SHARES_TOL = 1e-9
LOOKED_AT = 100_000  # free nodes, to see what they have in common with seeds
GUARDED = (63, 10_000_000)  # seeds, and seeds × entries, up to which a fit leaves them out to look
WARMEST = (8, 64, 512, 4096, None)  # nodes, to see whether all free ones are warmest in one class


class Asked(NamedTuple):
    """What is asked of explanations; see `isotherm.DirichletClassifier.explain`."""

    paths: int
    heat: float | None
    without_own: bool
    probability: bool


@dataclass(frozen=True, eq=False)
class Diagnostics:
    """Judges a fitted classifier; its methods are those of `isotherm.DirichletClassifier`.

    Attributes
    ----------
    classifier : Predictor
    model : Model
        How it scores.
    """

    classifier: Predictor
    model: Model

    # --- seeds left out -------------------------------------------------------------------------

    def leave_one_out(self, max_seeds: int | None, random_state: int) -> LeaveOneOut:
        left = self.model.leave_out(self.classifier.session, max_seeds, random_state)
        return self._judged(left, self.model.calibrated(left))

    def spot_check(self) -> LeaveOneOut:
        return self._judged(self.classifier.left_out_, self.classifier.calibration_)

    def _judged(self, left: LeftOut, calibration: Calibration | Softmax) -> LeaveOneOut:
        seeds = self.classifier.seeds_
        return judged(
            left,
            self.model.decision,
            nodes=self.classifier.names_[seeds.nodes[left.places]],
            classes=self.classifier.classes_,
            n_seeds=len(seeds.nodes),
            calibration=calibration,
            drawn=None if seeds.drawn is None else seeds.drawn[left.places],
            n_free=self._n_free,
        )

    def judged_seeds(self) -> LeftOut:
        """Seeds left out that say something of other nodes: those drawn, where that is known."""
        return self.classifier.left_out_.among(self.classifier.seeds_.drawn)

    @property
    def _n_free(self) -> int:
        """Free nodes that get a label."""
        return len(np.setdiff1d(self.classifier.problem_.free, self.classifier.seeds_.nodes))

    def n_drawn(self) -> int | None:
        """How many seeds drawn at random can be judged; None if it is not known which were."""
        if self.classifier.seeds_.drawn is None:
            return None
        return int(np.count_nonzero(self.judged_seeds().reached))

    def basis(self) -> Basis:
        """What scores of `judged_seeds` rest on."""
        return Basis(self.n_drawn(), self._n_free)

    def expected(self) -> Expected:
        """What seeds left out say of free nodes; see `isotherm.trust.expected`."""
        of, left, decision = self.classifier, self.judged_seeds(), self.model.decision
        degrees = of.problem_.graph.degrees
        some = np.flatnonzero(left.reached)
        found, nodes = left.labels(decision)[some], of.seeds_.nodes[left.places[some]]
        if of.seeds_.drawn is not None:
            right = found == left.codes[some]
            basis = self.basis()
            right = right if basis.n_free else right[:0]  # of no node there is no share
            accuracy = basis.share(int(np.count_nonzero(right)), len(right))
            return Expected(accuracy, np.ones(len(some)))
        P = of.calibration_(left.scores(decision)[some])
        seeds = Labelled.of(P, found, degrees[nodes])
        free = np.setdiff1d(of.problem_.free, of.seeds_.nodes)
        if len(free) > LOOKED_AT:
            keys = node_keys(of.problem_.graph.nodes, free)
            free = free[least(salted(keys, "free nodes"), LOOKED_AT)]
        P = of.calibration_(self.model.scores(free))
        ours = Labelled.of(P, of.codes(free)[0], degrees[free])
        return expect(ours, seeds, found == left.codes[some])

    def coverage(self, min_probabilities: Sequence[float]) -> list[Coverage]:
        of = self.classifier
        least = [check_probability(p) for p in min_probabilities]
        answers = (of.answers(rows) for rows in self._rows())
        certainties = (some.probability[some.status != STATUS.index(SEED)] for some in answers)
        left, drawn = of.left_out_, of.seeds_.drawn
        right, said = left.labels(self.model.decision) == left.codes, self.model.certainties(left)
        some = np.full(len(right), True) if drawn is None else drawn[left.places]
        return covered(certainties, (said[some], right[some]), least, self.basis())

    def _rows(self) -> Iterator[slice]:
        """All nodes, some at a time."""
        return slices(len(self.classifier.temperatures_), rows_at_once(len(self.model.shares)))

    # --- too few labels, and further ones -------------------------------------------------------

    def doubts(self, sample: LeftOut | None, *, leaving_out: bool = True) -> list[str]:
        """Why there may be too few labels to go by; seeds are left out to look if they are few.

        They are looked at in any case if they were left out before, which is `sample` then.
        """
        of, decision = self.classifier, self.model.decision
        codes, classes = of.seeds_.codes, of.classes_
        if len(classes) < 2:
            return []
        found = [
            few_labels.lonely(codes, classes),
            few_labels.collapsed(self._warmest(), classes, decision),
        ]
        work = len(codes) * of.problem_.graph.rows.n_entries
        few = leaving_out and len(codes) <= GUARDED[0] and work <= GUARDED[1]
        if sample is not None or (few and few_labels.can_be_told_from_chance(codes)):
            left = of.left_out_
            others = ~left.is_last
            labels = left.labels(decision)[others]
            found.append(
                few_labels.no_better_than_chance(left.codes[others], labels, together=left.together)
            )
        return [doubt for doubt in found if doubt is not None]

    def _warmest(self) -> int | None:
        """The class in which all free nodes are warmest, if it is one class and several nodes."""
        for most in WARMEST:
            (free,) = self.classifier.problem_.is_free[:most].nonzero()
            warmest = self.classifier.temperatures_[free].argmax(axis=1)
            if (warmest != warmest[:1]).any():
                return None
        return int(warmest[0]) if len(warmest) > 1 else None

    def suggest(self, k: int, random_state: int) -> list[Suggestion]:
        check_count(k, "k")
        of, names = self.classifier, self.classifier.names_
        n = len(names)
        is_known = np.zeros(n, dtype=bool)
        is_known[of.seeds_.nodes] = True
        rough = self.model.calibrated(None)
        doubts = Doubts(np.empty(n), np.empty(n))
        for rows in self._rows():
            some = Doubts.of(rough(self.model.scores(rows)), is_known[rows])
            doubts.doubt[rows], doubts.variance[rows] = some
        keys = node_keys(of.problem_.graph.nodes)
        found = suggest(
            of.session(),
            doubts,
            Lots(*(salted(keys, purpose, random_state) for purpose in Lots._fields)),
            int(k),
            is_known=is_known,
            tol=SUGGESTION_TOL,
        )
        nodes = np.array([one.position for one in found], dtype=np.intp)
        labels = decode_labels(of.codes(nodes)[0], of.classes_)
        columns = (names[nodes], labels, doubts.doubt[nodes])
        told = zip(*(c.tolist() for c in columns), found, strict=True)
        return [
            Suggestion(node, label, doubt, one.reach, one.why) for node, label, doubt, one in told
        ]

    def should_stop(self, gain: float, random_state: int) -> Advice:
        of = self.classifier
        return advise(
            of.session(),
            of.solution_,
            of.seeds_.codes,
            self.judged_seeds(),
            self.expected(),
            self.n_drawn(),
            decision=of.selection_.decision,
            gain=gain,
            random_state=random_state,
            tol=max(of.tol, SUGGESTION_TOL),
            abstain=of.unreached == "abstain",
        )

    # --- reasons --------------------------------------------------------------------------------

    def explain_each(
        self, nodes: Iterable[Hashable], asked: Asked, skipped: list[str] | None
    ) -> Iterator[Explanation]:
        check_count(asked.paths, "paths", least=0)
        if asked.heat is not None:
            check_probability(asked.heat, "heat")
        of, seeds = self.classifier, self.classifier.seeds_
        none, flows = np.empty(0, dtype=np.intp), list[WeightedFlow]()
        nodes = list(nodes)
        for at, i in enumerate(of.problem_.graph.positions(nodes).tolist()):
            if self.model is not of._model:  # there was an update since the last one
                yield from Diagnostics(of, of._model).explain_each(nodes[at:], asked, skipped)
                return
            without, scores = np.flatnonzero(seeds.nodes == i) if asked.without_own else none, None
            try:
                if len(without):
                    found, scores = self._explained_without(i, without, asked)
                else:
                    if not flows or flows[0].session is not of.session():  # or a change has failed
                        flows = self._flows(none)
                    code = int(of.codes(np.array([i]))[0][0])
                    found = self._explained(flows, i, seeds, (code, None), asked)
            except LabelError as error:
                if skipped is None:
                    raise
                skipped.append(str(error))
                continue
            if asked.probability:
                found = found._replace(probability=self._probability(found.label, i, scores))
            yield found

    def _explained_without(
        self, i: int, without: NDArray[np.intp], asked: Asked
    ) -> tuple[Explanation, NDArray[np.float64] | None]:
        """Of a seed, as if it were free; and its scores then."""
        seeds = self.classifier.seeds_
        if len(seeds.nodes) == 1:
            raise LabelError(
                "there is only one seed, so nothing explains its node without its own label; add "
                "another seed"
            )
        S = self.model.scores_without(self.classifier.session(), without)
        code = UNKNOWN if S is None else int(np.nan_to_num(S[0], nan=-np.inf).argmax())
        codes = code, int(seeds.codes[without][0])
        others = seeds.only(np.flatnonzero(seeds.nodes != i))
        return self._explained(self._flows(without), i, others, codes, asked), S

    def _flows(self, without: NDArray[np.intp]) -> list[WeightedFlow]:
        """The heat that labels rest on, some seeds left out."""
        session = self.classifier.session()
        return [WeightedFlow.of(session, flow, without) for flow in self.model.flows]

    def _probability(
        self, label: object, i: int, scores: NDArray[np.float64] | None
    ) -> float | None:
        """Of a label, at the node at position i or by scores that it would have."""
        classes = self.classifier.classes_
        if len(classes) == 1 or label is None:
            return None
        if scores is None:
            P = self.classifier.some_probabilities(slice(i, i + 1))
        else:
            P = self.classifier.calibration_(scores)
        return float(P[0, classes.tolist().index(label)])

    def _explained(
        self,
        flows: list[WeightedFlow],
        i: int,
        seeds: Seeds,
        codes: tuple[int, int | None],
        asked: Asked,
    ) -> Explanation:
        """Of the node at position i: its label, and its own if that was left out."""
        names, classes = self.classifier.names_, self.classifier.classes_
        (node,) = names[[i]].tolist()
        if flows[0].session.problem.is_unreached[i]:
            raise LabelError(
                f"no heat reaches node {node!r}, so nothing explains it; label a node that is "
                "connected to it"
            )
        label, own_label = (None if k is None else classes[[k]].tolist()[0] for k in codes)
        found = mixed_shares(flows, i, asked.paths, asked.heat, tol=SHARES_TOL)
        shares = found.shares
        order = np.argsort(-shares, kind="stable")
        order = order[shares[order] > 0]
        columns = (names[seeds.nodes[order]], classes[seeds.codes[order]], shares[order])
        return Explanation(
            node,
            label,
            dict(zip(classes.tolist(), (shares @ seeds.values).tolist(), strict=True)),
            list(zip(*(column.tolist() for column in columns), strict=True)),
            [(tuple(names[list(path.nodes)].tolist()), path.share) for path in found.paths],
            found.error_bound,
            own_label,
            rest=found.rest,
        )
