"""Rows of the experiments → tables, with the paper's numbers beside ours."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from paper.decisions import NAMES
from paper.page import Table
from paper.printed import PRINTED, TABLE1, TABLE2, title_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Row: TypeAlias = dict[str, Any]  # what an experiment found: what a value is depends on its column
CLOSE = 0.03  # of the paper's mean
NOT_RUN = "not run"


def _advice(missing: list[str]) -> tuple[str, ...]:
    """What to do about rows that were never run, if there are any."""
    text = "Not run: the data set could not be had; docs/paper.md says where they come from."
    return (text,) if missing else ()


def _place(row: tuple[str, str]) -> int:
    """Where a data set stands in the paper's tables; others come last."""
    return list(TABLE1).index(row[0]) if row[0] in TABLE1 else len(TABLE1)


def counts(rows: list[Row], missing: list[str]) -> Table:
    """Table 1."""
    lines: list[tuple[str, ...]] = []
    found = {row["dataset"]: row for row in rows}
    for name, _ in sorted(((name, "") for name in (*found, *missing)), key=_place):
        if name not in found:
            beside = [(NOT_RUN, f"{number:,}") for number in TABLE1[name]]
            lines.append((title_of(name), *(cell for pair in beside for cell in pair)))
            continue
        row = found[name]
        line = [title_of(name)]
        for key in ("nodes", "edges", "classes"):
            theirs = row.get(f"paper_{key}")
            ours = f"{row[key]:,}"
            line.append(ours if theirs in (None, row[key]) else f"{ours} *")
            line.append("–" if theirs is None else f"{theirs:,}")
        lines.append(tuple(line))
    columns = ("data set", "nodes", "paper", "edges", "paper", "classes", "paper")
    return Table("Table 1: data sets", columns, lines, _advice(missing))


def block_table(title: str, rows: list[Row]) -> Table:
    """The numbers behind the curves of Figures 2 and 3."""
    lines = []
    for (panel, ratio), group in grouped(rows, "panel", "ratio").items():
        by_decision = grouped(group, "decision")
        cells = [
            _show(mean_and_spread([row["f1"] for row in some])) for some in by_decision.values()
        ]
        lines.append((f"{panel}, ratio {ratio}", *cells))
    decisions = [NAMES.get(decision, decision) for (decision,) in grouped(rows, "decision")]
    return Table(title, ("panel", *decisions), lines)


def centering_tables(rows: list[Row], missing: list[str]) -> list[Table]:
    """Table 2, for each share of seeds, ours beside the paper's; those in print first."""
    scores = summarise(rows)
    tables = []
    shares = grouped(rows, "seed_fraction")
    for (fraction,), group in sorted(shares.items(), key=lambda share: share[0][0] not in PRINTED):
        lines: list[tuple[str, ...]] = []
        shown = grouped(group, "dataset", "unreached")
        for dataset, rule in sorted([*shown, *((name, "") for name in missing)], key=_place):
            if not rule:
                cells = [(NOT_RUN, theirs) for theirs in _paper(dataset, fraction)]
                lines.append((title_of(dataset), *(cell for pair in cells for cell in pair)))
                continue
            found = {
                name: [_show(scores[dataset, fraction, d, name]) for d in ("plain", "centered")]
                for name in ("abstain", "zero")
            }
            open_question = found["abstain"] != found["zero"]  # some nodes are out of reach
            if rule == "zero" and not open_question:
                continue
            plain, centered = (scores[dataset, fraction, d, rule] for d in ("plain", "centered"))
            name = title_of(dataset) + (f", unreached: {rule}" if open_question else "")
            ours = (
                _beside(dataset, fraction, "plain", plain),
                _beside(dataset, fraction, "centered", centered),
                _percent(100 * (centered.mean / plain.mean - 1)) if plain.mean else "–",
            )
            cells = list(zip(ours, _paper(dataset, fraction), strict=True))
            lines.append((name, *(cell for pair in cells for cell in pair)))
        columns = ("data set", "no centering", "paper", "centering", "paper", "variation", "paper")
        where = "" if fraction in PRINTED else " (in the source of the paper only)"
        tables.append(
            Table(f"Table 2, {fraction:.0%} of seeds{where}", columns, lines, _advice(missing))
        )
    return tables


def decision_tables(rows: list[Row]) -> list[Table]:
    """The same protocol, every decision; the best mean of a line has an arrow."""
    scores = summarise(rows)
    decisions = [decision for (decision,) in grouped(rows, "decision")]
    tables = []
    for (fraction,), group in grouped(rows, "seed_fraction").items():
        lines = []
        for (dataset,) in grouped(group, "dataset"):
            found = [scores[dataset, fraction, decision, "abstain"] for decision in decisions]
            best = max(round(score.mean, 3) for score in found)
            cells = [
                f"{_show(score)} {'◂' if round(score.mean, 3) == best else ' '}" for score in found
            ]
            lines.append((title_of(dataset), *cells))
        tables.append(
            Table(f"Every decision, {fraction:.0%} of seeds", ("data set", *decisions), lines)
        )
    return tables


def sweep_table(rows: list[Row], swept: list[Row]) -> Table:
    """What ten sweeps give instead of the equilibrium."""
    exact, early = summarise(rows), summarise(swept)
    lines = []
    for dataset, fraction in grouped(rows, "dataset", "seed_fraction"):
        cells = []
        for decision in ("plain", "centered"):
            key = (dataset, fraction, decision, "abstain")
            cells += [_show(early[key]), _show(exact[key])]
            cells.append(f"{exact[key].mean - early[key].mean:+.3f}")
        lines.append((f"{title_of(dataset)}, {fraction:.0%}", *cells))
    columns: tuple[str, ...] = ("data set, seeds",)
    for name in ("no centering", "centering"):
        columns += (f"{name}, ten sweeps", "equilibrium", "difference")
    return Table("Ten sweeps and equilibrium", columns, lines)


def growth_table(rows: list[Row]) -> Table:
    """Share of wrong labels, mean over the repeats."""
    decisions = [decision for (decision,) in grouped(rows, "decision")]
    lines = []
    for (degree, n), group in grouped(rows, "degree", "n").items():
        found = grouped(group, "decision")
        means = [
            mean_and_spread([row["error_rate"] for row in found[(decision,)]])[0]
            for decision in decisions
        ]
        lines.append((f"degree {degree}, n = {n:,}", *(f"{mean:.4f}" for mean in means)))
    return Table("Share of wrong labels", ("model", *decisions), lines)


class Score(NamedTuple):
    """Mean and standard deviation over the repeats."""

    mean: float
    std: float


Key = tuple[str, float, str, str]  # data set, share of seeds, decision, rule for unreached nodes


def mean_and_spread(values: Sequence[float]) -> Score:
    """Mean and standard deviation."""
    mean = sum(values) / len(values)
    return Score(mean, math.sqrt(sum((value - mean) ** 2 for value in values) / len(values)))


def grouped(rows: Iterable[Row], *by: str) -> dict[tuple[Any, ...], list[Row]]:
    """Rows by the values of some of their columns, in order of appearance."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in by), []).append(row)
    return groups


def summarise(rows: Iterable[Row]) -> dict[Key, Score]:
    """Macro-F1 of each data set, share of seeds, decision and rule."""
    groups = grouped(rows, "dataset", "seed_fraction", "decision", "unreached")
    return {
        (dataset, fraction, decision, rule): mean_and_spread([row["macro_f1"] for row in group])
        for (dataset, fraction, decision, rule), group in groups.items()
    }


def is_close(dataset: str, fraction: float, decision: str, mean: float) -> bool | None:
    """Whether a mean is within 0.03 of the paper's; None if the paper has none."""
    theirs = TABLE2.get(fraction, {}).get(dataset)
    return None if theirs is None else abs(mean - getattr(theirs, decision)) <= CLOSE + 1e-9


def _show(score: Score) -> str:
    return f"{score.mean:.3f} ± {score.std:.3f}"


def _beside(dataset: str, fraction: float, decision: str, score: Score) -> str:
    far = is_close(dataset, fraction, decision, score.mean) is False
    return f"{_show(score)} *" if far else _show(score)


def _paper(dataset: str, fraction: float) -> tuple[str, str, str]:
    """The paper's numbers without and with centering, and its variation."""
    scores = TABLE2.get(fraction, {}).get(dataset)
    if scores is None:
        return "–", "–", "–"
    plain, centered = (f"{mean:.2f} ± {std:.2f}" for mean, std in (scores[:2], scores[2:4]))
    return plain, centered, _percent(scores.variation)


def _percent(value: float) -> str:
    """A change in percent as the paper prints it: no change has no sign."""
    return f"{round(value):+d}%" if round(value) else "0%"
