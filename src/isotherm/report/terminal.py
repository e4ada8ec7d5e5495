"""Records → text for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rich.table import Table
from rich.text import Text

from isotherm.datasets import BUNDLED
from isotherm.labels import number_classes
from isotherm.memory import LANES, size_text
from isotherm.printable import one_line
from isotherm.report.model_lines import model_lines
from isotherm.report.words import counted, percent, seconds_text, short
from isotherm.write import STANDARD_OUTPUT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from isotherm.classifier.algorithm import HeatClassifier
    from isotherm.classifier.multilabel import MultiLabelDirichletClassifier
    from isotherm.classifier.regress import DirichletRegressor
    from isotherm.datasets import Dataset
    from isotherm.engines.cuda.plan import Plan
    from isotherm.estimate import Estimate
    from isotherm.job import Job, Run
    from isotherm.read.report import ReadReport
    from isotherm.report.evaluation import Score
    from isotherm.solvers import Solution
    from isotherm.trust.scoring import Suspect
    from isotherm.trust.suggest import Suggestion

    Labels = NDArray[np.generic]

MEDIUM = 60  # terminal columns that a full table needs
WIDE = 96  # and one with long headings
MOST_CLASSES = 15


def section_table(truth: Labels, found: Labels, given: Labels, *, width: int) -> Table:
    """How well each class was found: the largest ones, and their mean over all.

    `truth` and `found` are the labels of the free nodes, `given` those of the seeds.
    """
    from sklearn.metrics import precision_recall_fscore_support

    classes, sizes = np.unique(truth, return_counts=True)
    scores = precision_recall_fscore_support(truth, found, labels=classes, zero_division=0.0)[:3]
    extra = width >= MEDIUM
    headings = ("given", "to find", "precision", "recall", "F1") if extra else ("n", "P", "R", "F1")
    table = _table(["class"], headings)
    order = np.argsort(-sizes, kind="stable")
    for k in order[:MOST_CLASSES]:
        cells = [f"{int((given == classes[k]).sum()):,}"] if extra else []
        cells += [f"{sizes[k]:,}", *(f"{score[k]:.2f}" for score in scores)]
        table.add_row(_word(classes[k]), *cells)
    if len(order) > MOST_CLASSES:
        cells = [f"{len(given):,}"] if extra else []
        cells += [f"{len(truth):,}", *(f"{score.mean():.2f}" for score in scores)]
        table.add_row(f"mean of all {len(order)}", *cells, style="bold")
    return table


def sample_table(
    classifier: HeatClassifier, truth: Labels, shown: NDArray[np.intp], *, width: int
) -> Table:
    """Some nodes with their label, the true one and what is known of it; a wrong one has a star."""
    full = width >= MEDIUM
    table = _table(["node", "label", "truth"], ["probability"] if full else [])
    certainty = classifier.certainty(slice(0, len(truth)))
    for i in shown:
        label, right = classifier.labels_[i], classifier.labels_[i] == truth[i]
        cells = [f"{certainty[i]:.2f}"]
        table.add_row(
            _word(short(classifier.names_[i], max(12, width // 3))),
            _word(label) if right else Text(f"{one_line(str(label))} *", style="red"),
            _word(truth[i]),
            *(cells if full else []),
        )
    return table


def _table(words: Sequence[str], numbers: Sequence[str | Text]) -> Table:
    """An empty table: columns of words on the left, cut where they do not fit, then numbers."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in words:
        table.add_column(heading, no_wrap=True)
    for number in numbers:
        table.add_column(number, justify="right")
    return table


def _word(thing: object) -> Text:
    """A name or a label in a table: one line, nothing in it obeyed."""
    return Text(one_line(str(thing)))


def solution_line(solution: Solution) -> str:
    """How the temperatures were found and how exact they are."""
    steps = counted(solution.n_iter, "step")
    return (
        f"{solution.solver} on {solution.engine}, {steps}: every "
        f"temperature within {solution.certificate.bound:.1e} of equilibrium"
    )


def fitted_lines(
    model: DirichletRegressor | MultiLabelDirichletClassifier, what: str, job: Job
) -> list[str]:
    """How values, or sets of labels, were found, how many, and where they went."""
    counts = {kind: int((model.status_ == kind).sum()) for kind in ("predicted", "unreached")}
    lines = [
        solution_line(model.solution_),
        f"predicted the {what}s of {counted(counts['predicted'], 'node')}"
        + (f", {counts['unreached']:,} unreached" if counts["unreached"] else ""),
    ]
    return [*lines, *_written(job.out, job.report)]


def _written(*names: str | None) -> list[str]:
    """Which files were written."""
    return [one_line(f"wrote {name}") for name in names if name not in (None, *STANDARD_OUTPUT)]


def accuracy_line(correct: int, total: int, what: str) -> str:
    """A share of right answers."""
    star = "" if correct == total else "; * marks wrong labels"
    return f"accuracy on {what}: {correct} of {total} ({correct / total:.1%}){star}"


def run_lines(run: Run, out: str | None, report: str | None) -> list[str]:
    """What a run has done, a line for each stage."""
    graph, model = run.graph, run.classifier
    edges, labels = run.edges, run.labels
    merged = max(edges.n_rows - edges.n_empty - graph.n_edges, 0)
    lines = [
        f"read {edges.name} ({reading_words(edges)}): {counted(graph.n_nodes, 'node')}, "
        f"{counted(graph.n_edges, 'edge')}"
        + (f", {counted(merged, 'duplicate')} merged" if merged else ""),
        (
            f"read {labels.name} ({reading_words(labels)}): "
            f"{counted(len(model.seeds_.nodes), 'seed')} of "
            f"{counted(len(model.classes_), 'class', 'classes')}"
        ),
        *model_lines(model),
        *(_label_lines(run) if len(model.classes_) > 1 else [_ranking_line(model)]),
    ]
    lines += _written(out, report)
    seconds = ", ".join(f"{stage} {value:.2f} s" for stage, value in run.seconds.items())
    return [*map(one_line, lines), seconds]


def _label_lines(run: Run) -> list[str]:
    """How many nodes got a label, and which of them to look at."""
    model, tally = run.classifier, run.classifier.tally(run.min_probability)
    counts = tally.of
    exact = model.certified_[~np.isnan(model.margins_)]  # of nodes that have a label
    lines = [
        solution_line(model.solution_),
        f"labelled {counted(counts['predicted'] + counts['tie'], 'node')}, "
        f"{float(exact.mean()) if len(exact) else 1.0:.1%} of all labels numerically exact"
        + (f", {counted(counts['tie'], 'tie')}" if counts["tie"] else "")
        + (f", {counts['unreached']:,} unreached" if counts["unreached"] else ""),
    ]
    if tally.n_outdone:
        where = f"for {percent(tally.outdone)} of these nodes,"
        lines.append(f"{where} another class is more probable than the label (most_probable)")
    if run.min_probability:
        least = f"the probability of the label is below {run.min_probability:g}"
        lines.append(f"{counted(counts['unsure'], 'node')} left without a label (unsure): {least}")
    return lines


def _ranking_line(model: HeatClassifier) -> str:
    """How many nodes were ranked, and by what."""
    found, missed = model.ranking_, len(model.problem_.unreached)
    return (
        f"ranked {counted(len(found.nodes), 'node')} by temperature with leak {found.leak:g}, "
        f"each within {found.error_bound:.1e} of equilibrium"
        + (f", {missed:,} unreached" if missed else "")
    )


def estimate_lines(estimate: Estimate) -> list[str]:
    """How large a job is."""
    about = "" if estimate.exact else "about "
    rows = [
        ("nodes", f"{about}{_rough(estimate.nodes, exact=estimate.exact)}"),
        ("edges", f"{about}{_rough(estimate.edges, exact=estimate.exact)}"),
        ("labels", f"{estimate.labels:,}" if estimate.labels else "none given"),
        ("classes", f"{estimate.classes:,}"),
        ("engine", estimate.engine),
        ("memory", f"about {size_text(estimate.memory)}{_beyond(estimate)}"),
        ("time", f"about {_duration(estimate.seconds)}, more if the graph is hard to solve"),
    ]
    if estimate.gpu is not None:
        rows.insert(-1, ("on GPU", _gpu_words(estimate.gpu, estimate.classes)))
    if estimate.on_disk:
        rows.insert(-1, ("disk", f"{size_text(estimate.on_disk)} read at each step, or cached"))
    return [f"{name:<8} {value}" for name, value in rows]


def _gpu_words(plan: Plan, classes: int) -> str:
    """What a solve takes on a GPU, and what it does where that is not all there is."""
    words = f"about {size_text(plan.needed)}"
    if plan.lanes < min(classes + 1, LANES):
        words += f", {plan.lanes} columns at a time"
    return words if plan.chunk_bytes is None else f"{words}, with the edges streamed to it"


def _beyond(estimate: Estimate) -> str:
    """What to say where a job takes more memory than is allowed."""
    if estimate.limit is None or estimate.memory <= estimate.limit:
        return ""
    return f", more than the {size_text(estimate.limit)} allowed"


def _rough(count: int, *, exact: bool) -> str:
    return f"{count if exact else int(float(f'{count:.3g}')):,}"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} minutes"


def reading_words(reading: ReadReport) -> str:
    """The format of a file, and the columns that were used."""
    columns = ", ".join(reading.columns)
    return f"{reading.format}, columns {columns}" if columns else reading.format


def suspect_table(suspects: list[Suspect], *, width: int) -> Table:
    """Seeds of which another label is more probable, and both probabilities."""
    if width >= WIDE:
        words, numbers = (
            ["node", "label", "suggested"],
            ["own probability", "suggested probability"],
        )
    else:
        words, numbers = ["node", "label", "other"], ["own", "other"]
    table = _table(words, numbers)
    for column in table.columns[: 1 if width >= WIDE else 3]:
        column.max_width = max(6, width // 3 if width >= WIDE else (width - 18) // 3)
    for one in suspects:
        shares = one.own_probability, one.suggested_probability
        cells = map(_word, (one.node, one.label, one.suggested))
        table.add_row(*cells, *(f"{share:.3f}" for share in shares))
    return table


def suggestion_table(suggestions: list[Suggestion], *, width: int) -> Table:
    """Nodes to label next."""
    table = _table(["node", "label now", "why"], ["doubt", "reach"])
    table.columns[0].max_width = max(12, width // 3)
    for one in suggestions:
        now = "none" if one.label is None else one.label
        numbers = f"{one.doubt:.2f}", f"{one.reach:,.1f}"
        table.add_row(_word(one.node), _word(now), one.why, *numbers)
    return table


def score_table(scores: list[Score], *, width: int) -> Table:
    """Models side by side, the best in bold: mean ± standard deviation, median of the seconds.

    On a narrow terminal the mean alone.
    """
    from isotherm.report.evaluation import best_of

    table = _table(["model"], ["macro-F1", "accuracy", "seconds"])
    best = best_of(scores)
    for score in scores:
        means = [
            Text(
                str(one) if width >= MEDIUM else f"{one.mean:.3f}",
                style="bold" if score.model in best[kind] else "",
            )
            for kind, one in score.means.items()
        ]
        table.add_row(_word(score.model), *means, seconds_text(score.seconds))
    return table


def dataset_table(names: list[str], *, width: int) -> Table:
    """One row per data set: its name, where it is, and what it is if there is room."""
    table = _table(["name", "where"], [])
    if width >= MEDIUM:
        table.add_column("what")
    for name in names:
        bundled = BUNDLED.get(name)
        where, title = ("bundled", bundled.title) if bundled else (f"{name}.npz", "")
        table.add_row(_word(name), where, *([_word(title)] if width >= MEDIUM else []))
    return table


def dataset_lines(found: Dataset) -> str:
    """What a data set is, and what is in it."""
    sizes = f"{found.graph.n_nodes:,} nodes, {found.graph.n_edges:,} edges"
    lines = [f"source: {found.source}", f"{sizes}, {len(number_classes(found.labels)[1])} classes"]
    if found.name in BUNDLED:
        lines.insert(0, BUNDLED[found.name].title)
    return "\n".join(map(one_line, lines))
