"""Rows of `isotherm.experiments.evaluate` → what models scored, for the terminal and the page."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from isotherm.report.tables import grouped, mean_and_spread
from isotherm.report.words import counted, percent, short
from isotherm.trust.drawn import FEWEST, IF_DRAWN

if TYPE_CHECKING:
    from collections.abc import Iterable

    from isotherm.report.tables import Row

KINDS = ("macro_f1", "accuracy")


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
    """What a model scored at one share of seeds.

    Attributes
    ----------
    model : str
    means : dict of str to Mean
        For each of `KINDS`.
    seconds : float
        The median.
    answered : float
        The share of the nodes that got a label.
    """

    model: str
    means: dict[str, Mean]
    seconds: float
    answered: float


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
        means = {kind: Mean(*mean_and_spread([row[kind] for row in group])) for kind in KINDS}
        seconds = median(row["seconds"] for row in group)
        answered, _ = mean_and_spread([row["answered"] for row in group])
        found.setdefault(share, []).append(Score(model, means, seconds, answered))
    return found


def best_of(scores: list[Score]) -> dict[str, set[str]]:
    """The models with the highest mean, of each kind; those that look the same are both best."""
    best = {}
    for kind in KINDS:
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

    Parameters
    ----------
    n_labels, n_unlabelled : int
        Nodes with a label and without.
    n_drawn : int or None
        Labels drawn at random; None if it is not known which were.

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
