"""How far to trust a classification: honest accuracy, calibration and suspects, by seeds left out.

All look at the same sample of seeds, which is found once; see `isotherm.trust.leave_one_out`.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import numpy as np

from isotherm.errors import IsothermError
from isotherm.labels import UNKNOWN
from isotherm.report.page import Cell, Command, Notice, Paragraph, Part, Section, Table
from isotherm.report.probabilities import abstaining, calibration, within
from isotherm.report.words import counted, percent, short

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from isotherm.report.findings import Findings
    from isotherm.trust.interval import Interval
    from isotherm.trust.scoring import ClassScore, Suspect

MOST_CLASSES = 15
MOST_SUSPECTS = 20
LONGEST_NODE = 40

IN_WORDS = (
    "Accuracy counts every seed the same; macro-F1 counts every class the same, however small. In "
    "brackets is the 95 % interval: if seeds were drawn again in the same way, 19 of 20 such "
    "intervals would contain the true value."
).replace(" %", "\u00a0%")
OF_OTHERS = (
    " The numbers hold for other nodes as far as these are like the seeds: they are too high if "
    "the clear cases were labelled first, and too low if the doubtful ones were. Which labels were "
    "drawn at random can be said in a column “drawn” of the label file: then only these count."
)
OF_DRAWN = " They are about the seeds drawn at random, and so hold for other nodes."

logger = logging.getLogger(__name__)


def trust_sections(found: Findings) -> list[Section]:
    """The sections."""
    makers = {
        "How far to trust it": _honest,
        "Calibration": calibration,
        "How sure a label must be": abstaining,
        "Suspects": _suspects,
    }
    return [_made(title, make, found) for title, make in makers.items()]


def _made(title: str, make: Callable[[str, Findings], Section], found: Findings) -> Section:
    """A section, or why there is none: labels that were found are worth a page in any case."""
    try:
        return make(title, found)
    except (IsothermError, MemoryError) as error:
        logger.warning("no section %r", title, exc_info=True)
        return Section(title, f"This could not be worked out: {short(error, 200)}.")


# --- honest accuracy ------------------------------------------------------------------------------


def _honest(title: str, found: Findings) -> Section:
    parts: list[Part] = [*_notice(found), *_accuracy(found), *_outdone(found)]
    parts += [_per_class(found)] if len(found.check.nodes) and found.check.basis.worth else []
    parts += _combined(found)
    words = (
        "Some seeds were left out and labelled from the others. This shows how often labels are "
        "right."
    )
    return Section(title, words, parts)


def _notice(found: Findings) -> list[Part]:
    """Why there may be too few labels, if so."""
    doubts = found.doubts
    return [Notice("There may be too few labels", doubts)] if doubts else []


def _accuracy(found: Findings) -> list[Part]:
    """Numbers, and what they mean."""
    check = found.check
    m, n = len(check.nodes), check.n_seeds
    if m == 0:
        words = (
            "Every class has only one seed, so none can be left out and nothing can be checked. "
            "Add a second seed of each class."
        )
        return [Paragraph(words)]
    if m == n:
        who = f"All {n:,} seeds were"
    elif m == _n_findable(found):
        who = f"{m:,} of {n:,} seeds, those that are not the only one of their class, were"
    else:
        who = f"A sample of {m:,} of the {n:,} seeds was"
    stacked = bool(found.model.views_)
    together = "a tenth of all seeds at a time" if stacked else "all of these together"
    way = together if check.together else "one at a time"
    labels = _left_labels(found)
    words = f"{who} left out, {way}. {_scored(found, labels == check.codes)}"
    if lost := int(np.count_nonzero(labels == UNKNOWN)):
        fate = "count as wrong" if check.drawn is None else "are not judged"
        words += f" No heat reached {counted(lost, 'seed')} left out: these {fate}."
    is_known = check.basis.worth > 0
    if found.model.selection_.candidates and is_known:
        chosen = found.model.selection_
        words += (
            f" The decision ({chosen.decision}) and the leak ({chosen.leak:g}) were chosen by "
            "the same seeds, so the numbers are slightly too high."
        )
    if stacked:
        words += " Each was scored by a model fitted to other seeds."
    if check.together:
        words += " Being left out together, they scored slightly lower than each would alone."
    meaning = [Paragraph(IN_WORDS + _of_others(found))] if is_known else []
    return [Paragraph(words), *meaning, *_expected(found)]


def _scored(found: Findings, right: NDArray[np.bool_]) -> str:
    """How many of the seeds that count are right."""
    check = found.check
    if not check.basis.worth:
        return f"{check.words[:1].upper()}{check.words[1:]}."
    who = "" if check.drawn is None else "Of those drawn at random, "
    counts = right if check.drawn is None else right[check.drawn]
    return (
        f"{who}{np.count_nonzero(counts):,} got their own label back: {check.words}; macro-F1 "
        f"{_told(check.macro_f1)}."
    )


def _of_others(found: Findings) -> str:
    """Whether these numbers hold for other nodes."""
    return OF_OTHERS if found.n_drawn is None else OF_DRAWN


def _expected(found: Findings) -> list[Part]:
    """What that means for free nodes, where seeds need weights for it."""
    accuracy = found.expected_accuracy
    if np.isnan(accuracy.value) or found.n_drawn is not None:
        return []
    words = (
        f"Of the {counted(found.n_found, 'label')} found, a share of {accuracy} is expected to be "
        "right. For this, seeds were weighted to resemble the free nodes, by the probability of "
        "their labels and by their degrees. Go by this number if the seeds are not a random "
        "sample, for example if they were suggested."
    )
    return [Paragraph(words)]


def _outdone(found: Findings) -> list[Part]:
    """How many labels are not the most probable ones, if any."""
    if not found.tally.n_outdone:
        return []
    why = (
        "Labels were balanced towards rare classes, as asked."
        if found.model.views_
        else f"The label follows the decision “{found.model.selection_.decision}”; probabilities "
        "also use how often each class is right among the seeds left out."
    )
    words = (
        f"For {percent(found.tally.outdone)} of the labelled nodes, another class is more probable "
        f"than the label. {why} The file of predictions names the other class in the column "
        "most_probable."
    )
    return [Paragraph(words.replace(" %", "\u00a0%"))]


def _combined(found: Findings) -> list[Part]:
    """What a stacked model is made of; or why it is not."""
    if found.model.fallback_:
        return [Paragraph(f"Labels are those of the paper, because {found.model.fallback_}.")]
    if not found.model.views_:
        return []
    rows = [(name, f"{weight:+.2f}") for name, weight in found.model.views_]
    words = (
        "The views of the graph and their weights in the combined model. Where several views say "
        "nearly the same, one may have a negative weight."
    )
    return [Table("What was combined", ("view", "weight"), rows, [words])]


def _per_class(found: Findings) -> Table:
    check = found.check
    order = [k for k, score in enumerate(check.classes) if score.n_seeds]
    order.sort(key=lambda k: -check.classes[k].n_seeds)
    shown, others = order[:MOST_CLASSES], order[MOST_CLASSES:]
    rows: list[list[str | Cell]]
    rows = [[found.class_cell(k), *_scores(check.classes[k])] for k in shown]
    notes = []
    if others:
        seeds = sum(check.classes[k].n_seeds for k in others)
        more = counted(len(others), "more class", "more classes")
        notes.append(f"And {more} with {counted(seeds, 'seed')} left out.")
    if silent := len(found.names) - len(order):
        notes.append(f"{counted(silent, 'class', 'classes')} had no seed in this sample.")
    columns = ("class", "seeds", "precision", "recall", "95 % interval", "F1")
    words = (
        "Precision: the share of the seeds that got this label that have it. Recall: the share of "
        "those that have it that got it. F1 is their harmonic mean."
    )
    return Table("Seeds left out, class by class", columns, rows, (*notes, words))


def _scores(score: ClassScore) -> tuple[str, ...]:
    shares = f"{score.precision:.2f}", f"{score.recall:.2f}", within(score.recall_interval)
    return f"{score.n_seeds:,}", *shares, f"{score.f1:.2f}"


def _told(interval: Interval) -> str:
    return "–" if np.isnan(interval.value) else str(interval)


def _left_labels(found: Findings) -> NDArray[np.intp]:
    """The class that each seed left out gets; −1 where it gets none."""
    return found.model.left_out_.labels(found.model.decision_)


def _n_findable(found: Findings) -> int:
    """Seeds that are not the only ones of their class."""
    counts = np.bincount(found.seeds.codes)
    return int(counts[counts > 1].sum())


# --- suspects -------------------------------------------------------------------------------------


def _suspects(title: str, found: Findings) -> Section:
    check = found.check
    listed, m = check.suspects(), len(check.nodes)
    if m == 0:
        return Section(title, "No seed could be left out, so none can be checked.")
    words = (
        "A suspect is a seed for which another label is more probable than its own, judging by all "
        "other seeds. "
    )
    if listed:
        cut = f"; the {MOST_SUSPECTS} clearest are listed" if len(listed) > MOST_SUSPECTS else ""
        words += (
            "Often the label file is wrong: check these first. Others are right, but unlike the "
            f"nodes around them. There are {counted(len(listed), 'suspect')} among "
            f"{counted(m, 'seed')} left out{cut}."
        )
    else:
        words += f"There are none among {counted(m, 'seed')} left out."
    if listed and check.together:
        words += " They were left out together, so some may be suspects that would not be alone."
    parts: list[Part] = []
    if listed:
        parts.append(_clearest(found, listed[:MOST_SUSPECTS]))
    if m < _n_findable(found):
        sentence = (
            f"The {m:,} seeds left out are a sample of {check.n_seeds:,}. To check all of them:"
        )
        parts += [Paragraph(sentence), Command(_command(found))]
    return Section(title, words, parts)


def _clearest(found: Findings, suspects: list[Suspect]) -> Table:
    code_of = {label: code for code, label in enumerate(found.model.classes_.tolist())}
    rows: list[list[str | Cell]] = [
        [
            short(one.node, LONGEST_NODE),
            *(found.class_cell(code_of[label]) for label in (one.label, one.suggested)),
            percent(one.own_probability),
            percent(one.suggested_probability),
        ]
        for one in suspects
    ]
    columns = ("node", "its label", "suggested", "probability of its label", "of the suggested")
    return Table("Labels to check", columns, rows, kind="words3 suspects")


def _command(found: Findings) -> str:
    chosen, line = found.model.selection_, "isotherm suspects EDGES LABELS"
    line += f" --decision {chosen.decision}" * (chosen.decision != "centered")
    return line + f" --leak {chosen.leak:g}" * (chosen.leak > 0)
