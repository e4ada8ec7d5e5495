"""Models compared on a graph → one page: a chart and a table for each share of seeds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from isotherm.environment import versions
from isotherm.report.curves import curves
from isotherm.report.palette import colour
from isotherm.report.parts import Command, Figure, Group, Section
from isotherm.report.scores import (
    abstention_lines,
    best_of,
    failure_lines,
    scores_by_share,
)
from isotherm.report.tables import Best, Cell, Table
from isotherm.report.template import page
from isotherm.report.words import counted, seconds_text, share_text, short

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isotherm.report.scores import Score
    from isotherm.report.tables import Row

AXES = {"macro_f1": "macro-F1", "accuracy": "accuracy"}
COLUMNS = ("model", *AXES.values(), "seconds")
PROTOCOL = (
    "Some labels, drawn at random, were given as seeds; the others were held out to score the "
    "answers. All models had the same seeds. Accuracy counts every node the same; macro-F1 counts "
    "every class the same, however small. A node without an answer counts as wrong."
)


@dataclass(frozen=True)
class Evaluation:
    """What was compared, and on what.

    Attributes
    ----------
    name : str
        Of the graph.
    facts : mapping of str to int
        What there is of it → how many.
    rows : list of rows
        See `isotherm.experiments.evaluate`.
    titles : mapping of str
        Model → what it is, for those whose name does not say it.
    command : str
        What repeats it.
    inputs : mapping of str
        File → its SHA-256.
    versions : mapping of str
        Program or library → its version.
    basis : str
        Which labels were scored, and whether that tells of others.
    """

    name: str
    facts: Mapping[str, int]
    rows: list[Row]
    titles: Mapping[str, str] = field(default_factory=dict)
    command: str = ""
    inputs: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=versions)
    basis: str = ""


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
