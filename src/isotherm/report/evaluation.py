"""Models compared on a graph → what each scored, and a page: charts, and a table for each share."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from isotherm.environment import versions
from isotherm.report.charts import curves
from isotherm.report.page import Best, Cell, Command, Figure, Group, Section, Table, page
from isotherm.report.palette import colour
from isotherm.report.words import counted, percent, seconds_text, share_text, short
from isotherm.trust.drawn import FEWEST, IF_DRAWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Row = dict[str, Any]  # of one draw: what a value is depends on its column

AXES = {"macro_f1": "macro-F1", "accuracy": "accuracy"}
COLUMNS = ("model", *AXES.values(), "seconds")
PROTOCOL = (
    "Some labels, drawn at random, were given as seeds; the others were held out to score the "
    "answers. All models had the same seeds. Accuracy counts every node the same; macro-F1 counts "
    "every class the same, however small. A node without an answer counts as wrong."
)


@dataclass(frozen=True)
class Evaluation:
    """What was compared, and on what."""

    name: str  # of the graph
    facts: Mapping[str, int]  # what there is of it → how many
    rows: list[Row]  # see `isotherm.experiments.evaluate`
    titles: Mapping[str, str] = field(default_factory=dict)  # of models whose name does not say all
    command: str = ""  # that repeats it
    inputs: Mapping[str, str] = field(default_factory=dict)  # file → its SHA-256
    versions: Mapping[str, str] = field(default_factory=versions)
    basis: str = ""  # which labels were scored, and whether that tells of others


def evaluation_page(found: Evaluation) -> str:
    """One HTML document that needs nothing but itself."""
    by_share = scores_by_share(found.rows)
    sections = [_chart(found, by_share), _tables(found, by_share), _record(found)]
    return page(f"Models compared on {short(found.name)}", _summary(found, by_share), sections)


def _summary(found: Evaluation, by_share: dict[float, list[Score]]) -> str:
    """Who is ahead, in words."""
    sizes = ", ".join(f"{number:,} {short(what)}" for what, number in found.facts.items())
    draws = counted(len({row["repeat"] for row in found.rows}), "draw")
    words = f"{sizes}. Means over {draws} of seeds for each share. The highest macro-F1:"
    for share, scores in by_share.items():
        best = best_of(scores)["macro_f1"]
        mean = max(score.means["macro_f1"].mean for score in scores)
        names = " and ".join(short(score.model) for score in scores if score.model in best)
        words += f" {names} with {share_text(share)} of the labels ({mean:.3f}),"
    return f"{words[:-1]}.".replace(" %", "\u00a0%")


def _chart(found: Evaluation, by_share: dict[float, list[Score]]) -> Section:
    shares = sorted(by_share)
    figures = []
    for kind, axis in AXES.items():
        models = {
            short(score.model): [
                (share, same.means[kind])
                for share in shares
                for same in by_share[share]
                if same.model == score.model
            ]
            for score in by_share[shares[0]]
        }
        caption = f"{axis[0].upper()}{axis[1:]} against the share of seeds"
        figures.append(Figure(caption, curves(models, axis, caption)))
    basis = f" {found.basis[:1].upper()}{found.basis[1:]}." if found.basis else ""
    words = f"{PROTOCOL}{basis} Bars are one standard deviation over the draws, up and down."
    return Section("Scores against the share of seeds", words, [Group("two", figures)])


def _tables(found: Evaluation, by_share: dict[float, list[Score]]) -> Section:
    tables = []
    for share, scores in by_share.items():
        best = best_of(scores)
        rows = []
        for place, score in enumerate(scores):
            means = [
                Best(str(mean)) if score.model in best[kind] else str(mean)
                for kind, mean in score.means.items()
            ]
            name = Cell(short(score.model), colour(place))
            rows.append([name, *means, seconds_text(score.seconds)])
        failures = failure_lines(row for row in found.rows if row["seed_fraction"] == share)
        notes = [*abstention_lines(scores), *failures]
        tables.append(Table(f"{share_text(share)} of the labels as seeds", COLUMNS, rows, notes))
    words = (
        "Mean ± standard deviation over the draws; seconds are the median of a draw, on the "
        "machine that made this page. The best of each column is bold; that may be chance, so "
        "compare the difference with the deviations."
    )
    return Section("Numbers", words, [Group("two", tables)])


def _record(found: Evaluation) -> Section:
    tables = [
        ("Models", ("model", "what it is"), found.titles),
        ("Versions", ("program", "version"), found.versions),
        ("Input files", ("file", "SHA-256"), found.inputs),
    ]
    facts = [
        Table(title, columns, [(short(a), short(b, 200)) for a, b in rows.items()], kind="facts")
        for title, columns, rows in tables
        if rows
    ]
    words = "With the same files and versions, this command gives the same scores:"
    return Section("The record of the run", words, [Command(short(found.command, 2000)), *facts])


class Mean(NamedTuple):
    """Over all draws.

    Examples
    --------
    >>> str(Mean(0.71234, 0.0125))
    '0.712 ± 0.013'
    """

    mean: float
    spread: float

    def __str__(self) -> str:
        return f"{self.mean:.3f} ± {self.spread:.3f}"


@dataclass(frozen=True)
class Score:
    """What a model scored at one share of seeds."""

    model: str
    means: dict[str, Mean]  # for each of `AXES`
    seconds: float  # the median
    answered: float  # the share of the nodes that got a label


def scores_by_share(rows: Iterable[Row]) -> dict[float, list[Score]]:
    """Share of seeds → what each model scored.

    Examples
    --------
    >>> row = {"seed_fraction": 0.1, "model": "auto", "accuracy": 0.8, "answered": 1.0}
    >>> row["seconds"] = 2.0
    >>> (score,) = scores_by_share([row | {"macro_f1": f1} for f1 in (0.5, 0.7)])[0.1]
    >>> str(score.means["macro_f1"]), str(score.means["accuracy"]), score.seconds
    ('0.600 ± 0.100', '0.800 ± 0.000', 2.0)
    """
    found: dict[float, list[Score]] = {}
    for (share, model), group in grouped(rows, "seed_fraction", "model").items():
        means = {kind: Mean(*mean_and_spread([row[kind] for row in group])) for kind in AXES}
        seconds = median(row["seconds"] for row in group)
        answered, _ = mean_and_spread([row["answered"] for row in group])
        found.setdefault(share, []).append(Score(model, means, seconds, answered))
    return found


def mean_and_spread(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard deviation."""
    mean = sum(values) / len(values)
    return mean, (sum((value - mean) ** 2 for value in values) / len(values)) ** 0.5


def grouped(rows: Iterable[Row], *by: str) -> dict[tuple[Any, ...], list[Row]]:
    """Rows by the values of some of their columns, in order of appearance."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in by), []).append(row)
    return groups


def best_of(scores: list[Score]) -> dict[str, set[str]]:
    """The models with the highest mean, of each kind; those that look the same are both best."""
    best = {}
    for kind in AXES:
        means = {score.model: round(score.means[kind].mean, 3) for score in scores}
        best[kind] = {model for model, mean in means.items() if mean == max(means.values())}
    return best


def abstention_lines(scores: Iterable[Score]) -> list[str]:
    """Who left nodes without a label, and how many got one; not those that never answered.

    Examples
    --------
    >>> abstention_lines([Score("paper", {}, 0.1, 0.824), Score("pagerank", {}, 0.1, 1.0)])
    ['paper: 82.4 % of the nodes got a label, the others count as wrong']
    """
    groups: dict[str, list[str]] = {}
    for score in scores:
        if 0 < score.answered < 1:
            groups.setdefault(percent(score.answered), []).append(score.model)
    return [
        f"{', '.join(map(short, models))}: {share} of the nodes got a label, the others count as "
        "wrong"
        for share, models in groups.items()
    ]


def basis_line(n_labels: int, n_unlabelled: int, n_drawn: int | None) -> str:
    """Which labels were scored, and whether that tells of nodes without one, if there are any.

    `n_drawn` labels were drawn at random; it is None where that is not known.

    Examples
    --------
    >>> basis_line(60, 240, 30)
    'only the 30 labels drawn at random are scored'
    >>> basis_line(60, 240, None)
    'scores hold for nodes without a label if the labels were drawn at random'
    """
    if n_drawn is None:
        return f"scores hold for nodes without a label {IF_DRAWN}" if n_unlabelled else ""
    if n_drawn >= FEWEST:
        return f"only the {n_drawn:,} labels drawn at random are scored"
    line = (
        f"all {counted(n_labels, 'label')} are scored, since only {n_drawn:,} of them "
        f"{'was' if n_drawn == 1 else 'were'} drawn at random and it takes {FEWEST} to score by "
        "these alone"
    )
    others = (
        "; scores may not hold for nodes without a label: label more checks of isotherm suggest"
    )
    return line + others if n_unlabelled else line


def failure_lines(rows: Iterable[Row]) -> list[str]:
    """What peers said that gave no answer, and how often.

    Examples
    --------
    >>> failure_lines([{"failure": "poisson gave no answer: no"}, {"failure": ""}])
    ['poisson gave no answer: no (1 draw, counted as 0)']
    """
    counts = Counter(short(row["failure"], 200) for row in rows if row["failure"])
    return [f"{said} ({counted(n, 'draw')}, counted as 0)" for said, n in counts.items()]
