"""``python -m paper all``: the figures and tables of the paper, beside its own numbers.

It can be stopped and started again: what was found is kept in the folder and not computed twice.
Each part writes its files and its section of the page; the page shows the parts that are there.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from isotherm import DatasetError, IsothermError, ParameterError
from paper import block_model, consistency, figures, graphs, table2, tables
from paper.page import INTRODUCTION, TITLE, heading, image, page, section, write, write_csv
from paper.printed import TABLE1, listed, title_of
from paper.protocol import Store, cells_of, run_cells

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paper.page import Table
    from paper.protocol import Progress
    from paper.tables import Row

GROWTH_REPEATS = 20  # at most: its curves are smooth with fewer than a table needs
SIGNALS = [getattr(signal, n) for n in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, n)]


@dataclass(frozen=True)
class Reproduction:
    """A folder of results, and how they are made: from a folder of data sets, ``NAME.npz``."""

    out: Path
    data: Path
    repeats: int = 100
    jobs: int = 1
    seed: int = 0
    progress: Progress | None = None

    def make(self, *parts: str) -> Path:
        """Make the given parts (all, if none is given) and the page; returns its path.

        What is missing is an error before anything runs; but data, if other parts need none.
        """
        unknown = [part for part in parts if part not in PARTS]
        if unknown:
            raise ParameterError(
                f"there is no part {unknown[0]!r}: the parts are {listed([*PARTS])}"
            )
        wanted = parts or tuple(PARTS)
        of_data = [part for part in wanted if part in OF_DATA]
        figures.check_library([part for part in wanted if part not in OF_DATA])
        without = of_data if of_data and not self.datasets[0] else []
        if len(without) == len(wanted):
            raise DatasetError(_no_data(without))
        if of_data and not without and self.datasets[1]:
            warnings.warn(_not_all(self.datasets[1]), stacklevel=2)
        for part in wanted:
            if part not in without:
                write(self._section(part), PARTS[part](self))
        made = [path for path in map(self._section, ON_PAGE) if path.exists()]
        index = self.out / "index.html"
        write(index, page(TITLE, INTRODUCTION, *(path.read_text("utf-8") for path in made)))
        if without:
            raise DatasetError(f"{_no_data(without)}. The other parts are in {index}")
        return index

    def _section(self, part: str) -> Path:
        return self.out / "sections" / f"{part}.html"

    def run(self, experiment: str, settings: list[Row], name: str = "", **local: Any) -> list[Row]:
        """The rows of an experiment, from the store where they are there."""
        repeats = min(self.repeats, GROWTH_REPEATS) if experiment == "growth" else self.repeats
        cells = cells_of(experiment, settings, repeats=repeats, seed=self.seed, **local)
        store = Store(self.out / "cells" / f"{name or experiment}.jsonl")
        return run_cells(
            cells, store, jobs=self.jobs, progress=self.progress, what=name or experiment
        )

    @cached_property
    def datasets(self) -> tuple[list[str], dict[str, IsothermError]]:
        """Data sets that are to be had, and why others of the paper are not; fetched if need be."""
        found: list[str] = []
        missing: dict[str, IsothermError] = {}
        for name in (*TABLE1, *table2.BESIDES):
            try:
                if name in TABLE1:
                    graphs.fetch(name, self.data)
                table2.labelled(name, str(self.data))
                found.append(name)
            except (DatasetError, ParameterError) as error:
                missing[name] = error
        return found, {name: error for name, error in missing.items() if name in TABLE1}

    def show(self, name: str, *shown: Table) -> str:
        """Write tables as Markdown; the same for the page is returned."""
        write(self.out / f"{name}.md", "\n".join(table.markdown() for table in shown))
        return "".join(table.html() for table in shown)


def make_figure1(to: Reproduction) -> str:
    """Karate club."""
    rows = figures.karate_rows()
    figures.save(figures.karate(rows), to.out, "figure1")
    write_csv(to.out / "figure1.csv", rows, ["node", "truth", "temperature", "label"])
    right = sum(row["label"] == row["truth"] for row in rows)
    text = (
        "Zachary's karate club with two seeds, ringed, at temperatures 1 and 0. With centering, "
        f"{right} of {len(rows)} members get the faction they joined."
    )
    return section(
        "Figure 1: diffusion in the karate club", text, image(to.out / "figure1.svg", "Figure 1")
    )


def make_block_figure(to: Reproduction, name: str) -> str:
    """Stochastic block model."""
    blocks = block_model.N_BLOCKS[name]
    rows = to.run("block_figures", block_model.settings(name), name)
    write_csv(to.out / f"{name}.csv", rows, block_model.COLUMNS)
    figures.save(figures.block_curves(rows, blocks), to.out, name)
    table = tables.block_table(f"{blocks} labels, mean ± standard deviation", rows)
    text = (
        f"{blocks} blocks, 10 000 nodes in all, p = 0.01, q = 0.001, {to.repeats} repeats. "
        "Bands show one standard deviation. The paper prints curves but no numbers: centering is "
        "robust to both kinds of asymmetry, and partial centering less so to that of labels."
    )
    return section(
        f"Figure {name[-1]}: stochastic block model, {blocks} labels",
        text,
        image(to.out / f"{name}.svg", f"Figure {name[-1]}"),
        to.show(name, table),
    )


def make_table1(to: Reproduction) -> str:
    """Counts."""
    found, missing = to.datasets[0], [*to.datasets[1]]
    rows = [table2.counts(name, *table2.labelled(name, str(to.data))) for name in found]
    write_csv(to.out / "table1.csv", rows, table2.COUNTS)
    text = "Counts for each data set beside the paper's; edges are half the stored entries."
    return section("Table 1: data sets", text, to.show("table1", tables.counts(rows, missing)))


def make_table2(to: Reproduction) -> str:
    """Macro-F1 on real graphs."""
    found, missing = to.datasets[0], [*to.datasets[1]]
    rows = to.run("table2", table2.settings(found, str(to.data)), data=str(to.data))
    at_equilibrium = [row for row in rows if row["method"] == "equilibrium"]
    swept = [row for row in rows if row["method"] != "equilibrium"]
    write_csv(to.out / "table2.csv", at_equilibrium, table2.COLUMNS)
    write_csv(to.out / "ten_sweeps.csv", swept, table2.COLUMNS)
    text = (
        f"Macro-F1 on the free nodes, seeds drawn uniformly, {to.repeats} repeats, mean ± standard "
        "deviation. A star marks a mean that differs from the paper's by more than 0.03."
    )
    return section(
        "Table 2: real graphs",
        text,
        to.show("table2", *tables.centering_tables(at_equilibrium, missing)),
        heading("Beyond the paper: every decision"),
        to.show("decisions", *tables.decision_tables(at_equilibrium)),
        heading("Beyond the paper: ten sweeps instead of equilibrium"),
        to.show("ten_sweeps", tables.sweep_table(at_equilibrium, swept)),
    )


def make_consistency(to: Reproduction) -> str:
    """Maps of the block model."""
    seeds, sizes = (consistency.COUNTEREXAMPLE[key] for key in ("seeds", "sizes"))
    at = seeds[0] / seeds[1], sizes[0] / sizes[1]
    ratios = (consistency.SEED_RATIOS, consistency.SIZE_RATIOS)
    figure = figures.consistency(consistency.maps(), ratios, at)
    figures.save(figure, to.out, "consistency")
    text = (
        "Exact, by Lemma 1: how many blocks of the analysis's model get a wrong label, p = 3q. "
        "The cross marks the counterexample to partial centering (sizes 20, 3, 9, seeds 12, 1, 8), "
        "of which blocks 2 and 3 are everywhere. White: a block would have no free node."
    )
    drawn = image(to.out / "consistency.svg", "Consistency map")
    return section("Consistency of the decisions", text, drawn)


def make_growth(to: Reproduction) -> str:
    """Stochastic block models of growing size."""
    rows = to.run("growth", block_model.growth_settings())
    write_csv(to.out / "growth.csv", rows, block_model.GROWTH_COLUMNS)
    figures.save(figures.growth_curves(rows), to.out, "growth")
    text = (
        "The paper leaves open whether centering is consistent on stochastic block models. Three "
        "blocks (55, 15 and 30 % of the nodes, of which 12, 3 and 6 % are seeds), edges 8 times as "
        "likely within blocks. A simulation proves nothing, but it shows where to look."
    )
    table = tables.growth_table(rows)
    drawn = image(to.out / "growth.svg", "Share of wrong labels against n")
    title = "The open question: stochastic block models"
    return section(title, text, drawn, to.show("growth", table))


PARTS = {
    "figure1": make_figure1,
    "figure2": lambda to: make_block_figure(to, "figure2"),
    "figure3": lambda to: make_block_figure(to, "figure3"),
    "table1": make_table1,
    "table2": make_table2,
    "consistency": make_consistency,
    "growth": make_growth,
}
OF_DATA = ("table1", "table2")
# What the paper prints of real graphs comes first.
ON_PAGE = ("table2", *(part for part in PARTS if part != "table2"))


def _not_all(missing: Iterable[str]) -> str:
    names = listed([title_of(name) for name in missing])
    return f"{names} cannot be had: tables say {tables.NOT_RUN!r}; python -m paper data says why"


def _no_data(parts: list[str]) -> str:
    return (
        f"{listed(parts)} cannot be made: none of the paper's data sets is here, and none could be "
        "downloaded. Name a folder that has them with --data; docs/paper.md says what it must hold"
    )


def main(arguments: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m paper", description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("part", nargs="*", metavar="PART", help=f"all, data, or some of {listed([*PARTS])}")
    add("--folder", type=Path, default=Path("paper-results"), help="for the results")
    add("--data", type=Path, default=Path("paper-data"), help="of the data sets")
    add("--repeats", type=int, default=100, help="of each setting")
    add("--seed", type=int, default=0, help="of the random numbers")
    add("--jobs", type=int, default=os.cpu_count(), help="processes at once")
    o = parser.parse_args(arguments)
    warnings.formatwarning = lambda message, *_, **__: f"warning: {message}\n"
    for number in SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:  # as under nohup
            signal.signal(number, _stop)
    to = Reproduction(o.folder, o.data, o.repeats, o.jobs, o.seed, _show_progress)
    try:
        if o.part == ["data"]:
            return _tell_of_data(to)
        index = to.make(*(part for part in o.part if part != "all"))
    except IsothermError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"error: cannot write {o.folder}: {error.strerror or error}", file=sys.stderr)
        return 1
    print(f"see {index}")
    return 0


def _tell_of_data(to: Reproduction) -> int:
    """Fetch the data sets and no more; say where they are, or why they are not."""
    found, missing = to.datasets
    for name in found:
        print(to.data / f"{name}.npz")
    for name, error in missing.items():
        print(f"{name}: {error}", file=sys.stderr)
    return 1 if missing else 0


def _stop(number: int, _: object) -> NoReturn:
    """Say so and leave: what is half written vanishes on the way."""
    for each in SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    print("stopped: no file was left half written; start again to go on", file=sys.stderr)
    raise SystemExit(128 + number)


def _show_progress(what: str, done: int, total: int) -> None:
    if sys.stderr.isatty():
        end = "\n" if done == total else "\r"
        print(f"{what}: {done:,} of {total:,}", end=end, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
