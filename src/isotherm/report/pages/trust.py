"""How far to trust a classification: honest accuracy, calibration and suspects, by seeds left out.

All look at the same sample of seeds, which is found once; see `isotherm.trust.leave_one_out`.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import numpy as np

from isotherm.classifier.trusted import LOOKED_AT
from isotherm.errors import IsothermError
from isotherm.labels import UNKNOWN
from isotherm.report.pages.abstaining import abstaining
from isotherm.report.pages.calibration import calibration, within
from isotherm.report.parts import Command, Notice, Paragraph, Part, Section
from isotherm.report.tables import Table
from isotherm.report.words import counted, percent, short

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from isotherm.report.pages.findings import Findings
    from isotherm.report.tables import Cell
    from isotherm.trust.scoring import ClassScore, Interval, Suspect

MOST_CLASSES = 15
MOST_SUSPECTS = 20
LONGEST_NODE = 40
NOTHING = ("–", "–", "–")

IN_WORDS = (
    "The accuracy counts all seeds alike; the macro-F1 counts all classes alike, small ones as "
    "much as large ones. In brackets is where the number lies with a confidence of 95 %: found "
    "anew from other seeds, drawn in the same way, 19 of 20 such intervals hold the true value. "
    "Other nodes fare like the seeds as far as they are like them: the numbers are too good if the "
    "clear cases were labelled first, and too bad if those in doubt were."
).replace(" %", "\u00a0%")

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
    parts += [_per_class(found)] if len(found.check.nodes) else []
    parts += [*_combined(found), _decisions(found)]
    words = "Seeds left out, and labelled from the others, tell how often labels are right."
    return Section(title, words, parts)


def _notice(found: Findings) -> list[Part]:
    """Why there may be too few labels, if so."""
    doubts = found.doubts
    return [Notice("There may be too few labels to go by.", doubts)] if doubts else []


def _accuracy(found: Findings) -> list[Part]:
    """Numbers, and what they mean."""
    check = found.check
    m, n = len(check.nodes), check.n_seeds
    if m == 0:
        words = (
            "Every class has one seed, which could not be found again without itself: nothing can "
            "be judged. A second seed of each class would tell a first thing."
        )
        return [Paragraph(words)]
    if m == n:
        who = f"All {n:,} seeds were"
    elif m == _n_findable(found):
        who = f"The {m:,} of {n:,} seeds that are not the only ones of their class were"
    else:
        who = f"A sample of {m:,} of the {n:,} seeds was"
    stacked = bool(found.model.views_)
    together = "a tenth of all seeds at a time" if stacked else "all of these together"
    way = together if check.together else "one at a time"
    labels = _left_labels(found)
    words = (
        f"{who} left out, {way}. {np.count_nonzero(labels == check.codes):,} got their own label "
        f"back: accuracy {check.accuracy}, macro-F1 {check.macro_f1}."
    )
    if lost := int(np.count_nonzero(labels == UNKNOWN)):
        words += f" No heat reached {counted(lost, 'seed')} left out; that counts as wrong."
    if found.model.selection_.candidates:
        chosen = found.model.selection_
        words += (
            f" The decision ({chosen.decision}) and the leak ({chosen.leak:g}) were chosen by "
            "these very seeds, which flatters the numbers a bit."
        )
    if stacked:
        words += " Each was judged by a model that was fitted to other seeds."
    if check.together:
        words += " Each seed missed the others, too, and fared a bit worse than alone."
    return [Paragraph(words), Paragraph(IN_WORDS), *_expected(found)]


def _expected(found: Findings) -> list[Part]:
    """What that means for free nodes."""
    accuracy = found.expected_accuracy
    if np.isnan(accuracy.value):
        return []
    words = (
        f"Of the {counted(found.n_found, 'label')} found, a share of {accuracy} is expected to be "
        "right. For this, seeds were weighted until they look like free nodes, by the probability "
        "of their labels and by their degrees: it is the number to go by if seeds are no random "
        "sample, such as those that were suggested."
    )
    return [Paragraph(words)]


def _outdone(found: Findings) -> list[Part]:
    """How many labels are not the most probable ones, if any."""
    if not found.tally.n_outdone:
        return []
    why = (
        "Labels were balanced towards rare classes, as asked for."
        if found.model.views_
        else f"The label is by the decision “{found.model.selection_.decision}”; probabilities "
        "also know how often each class is right among the seeds left out."
    )
    words = (
        f"At {percent(found.tally.outdone)} of the nodes labelled another class is more probable "
        f"than the label. {why} The file of predictions names the other class in the column "
        "most_probable."
    )
    return [Paragraph(words.replace(" %", "\u00a0%"))]


def _combined(found: Findings) -> list[Part]:
    """What a stacked model is made of; or why it is not."""
    if found.model.fallback_:
        return [Paragraph(f"Labels are those of the paper, since {found.model.fallback_}.")]
    if not found.model.views_:
        return []
    rows = [(name, f"{weight:+.2f}") for name, weight in found.model.views_]
    words = (
        "Views of the graph, each with what it counts in the model that combines them. Where "
        "several views say nearly the same, one may count against another."
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
        notes.append(f"Of {counted(silent, 'class', 'classes')} no seed was left out.")
    columns = ("class", "seeds", "precision", "recall", "95 % interval", "F1")
    words = (
        "Precision: of the seeds that got this label, how many have it. Recall: of those that have "
        "it, how many got it. F1 is between the two."
    )
    return Table("Seeds left out, class by class", columns, rows, (*notes, words))


def _scores(score: ClassScore) -> tuple[str, ...]:
    shares = f"{score.precision:.2f}", f"{score.recall:.2f}", within(score.recall_interval)
    return f"{score.n_seeds:,}", *shares, f"{score.f1:.2f}"


def _decisions(found: Findings) -> Table:
    """What other decisions would make of the same temperatures."""
    n_free = found.n_found
    rows = []
    for number, one in enumerate(found.model.compare_decisions()):
        name = one.decision if number else f"{one.decision} (in use)"
        largest = found.class_cell(one.largest)
        free = (largest, percent(one.largest_share), percent(one.changed)) if n_free else NOTHING
        rows.append((name, _told(one.accuracy), _told(one.macro_f1), *free))
    columns = ("decision", "accuracy", "macro-F1", "most free nodes get", "share", "would change")
    notes = ["“Would change” is the share of free nodes that would get another label."]
    if len(found.check.nodes):
        notes[0] += (
            " Where intervals overlap, a difference may be chance; the decision “auto” leaves the "
            "paper's only for a clear gain."
        )
    if (step := n_free // LOOKED_AT) > 1:
        notes.append(f"Shares are those of one free node in {step}.")
    return Table("Decisions side by side", columns, rows, notes, kind="decisions")


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
        return Section(title, "No seed could be left out: nothing can be said against any of them.")
    words = (
        "A suspect is a seed of which another label is more probable than its own, by all other "
        "seeds. "
    )
    if listed:
        cut = f"; the {MOST_SUSPECTS} clearest are listed" if len(listed) > MOST_SUSPECTS else ""
        words += (
            "Often that is a mistake in the label file: check these first. Others are right and "
            f"only unlike the nodes around them. {counted(len(listed), 'suspect')} among "
            f"{counted(m, 'seed')} left out{cut}."
        )
    else:
        words += f"There is none among {counted(m, 'seed')} left out."
    if listed and check.together:
        words += " They were left out together, which makes some suspect that alone would not be."
    parts: list[Part] = []
    if listed:
        parts.append(_clearest(found, listed[:MOST_SUSPECTS]))
    if m < _n_findable(found):
        sentence = f"The {m:,} seeds left out are a sample of {check.n_seeds:,}. To look at all:"
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
    columns = ("node", "its label", "suggested", "probability of its own", "of the suggested")
    return Table("Labels to check", columns, rows, kind="words3 suspects")


def _command(found: Findings) -> str:
    chosen, line = found.model.selection_, "isotherm suspects EDGES LABELS"
    line += f" --decision {chosen.decision}" * (chosen.decision != "centered")
    return line + f" --leak {chosen.leak:g}" * (chosen.leak > 0)
