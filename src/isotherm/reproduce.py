"""The paper, reproduced: experiments → CSV files, tables, figures and one page.

Each part writes its files and its section of the page; the page shows the parts that are there.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from isotherm.datasets import dataset_names
from isotherm.errors import DatasetError, ParameterError
from isotherm.experiments import (
    block_figures,
    consistency_map,
    figure1,
    growth,
    table1,
    table2,
)
from isotherm.experiments.paper import TABLE1, listed, title_of
from isotherm.experiments.protocol import cells_of, run_cells
from isotherm.experiments.store import Store
from isotherm.files import written
from isotherm.read_only import cached_property
from isotherm.report.paper import figures, tables
from isotherm.report.paper.page import image, paper_page, read_section, write_section
from isotherm.report.parts import Heading, Section
from isotherm.report.tables import write_csv, write_text
from isotherm.report.template import page

if TYPE_CHECKING:
    from pathlib import Path

    from isotherm.experiments.protocol import Progress
    from isotherm.report.tables import Row, Table

logger = logging.getLogger(__name__)

GROWTH_REPEATS = 20  # at most: its curves are smooth with fewer than a table needs


@dataclass(frozen=True)
class Reproduction:
    """A folder of results, and how they are made.

    Parameters
    ----------
    out : pathlib.Path
    data : pathlib.Path or None
        Folder of cached data sets; None: the usual one.
    repeats, jobs, seed : int
    progress : callable, optional
        Told what runs, cells done and cells in all.
    """

    out: Path
    data: Path | None = None
    repeats: int = 100
    jobs: int = 1
    seed: int = 0
    progress: Progress | None = None

    def make(self, *parts: str) -> Path:
        """Make the given parts (all, if none is given) and the page; returns its path.

        Raises
        ------
        DatasetError
            If parts need data and there are none; the others are made nevertheless.
        """
        unknown = [part for part in parts if part not in PARTS]
        if unknown:
            raise ParameterError.unknown("part of the paper", unknown[0], PARTS)
        wanted = parts or tuple(PARTS)
        without = [part for part in wanted if part in OF_DATA and not self.datasets[0]]
        if len(without) == len(wanted):
            raise DatasetError(_no_data(without))
        index = self.out / "index.html"
        figures.check_library([part for part in wanted if part not in OF_DATA])
        if any(part in OF_DATA for part in wanted) and self.datasets[1]:
            logger.warning(_not_all(self.datasets[1]))
        with written(str(self.out)):
            for part in wanted:
                if part not in without:
                    write_section(self._section(part), PARTS[part](self))
            made = [path for path in map(self._section, ON_PAGE) if path.exists()]
            write_text(index, paper_page([read_section(path) for path in made]))
        if without:
            raise DatasetError(f"{_no_data(without)}. The other parts are in {index}")
        return index

    def _section(self, part: str) -> Path:
        return self.out / "sections" / f"{part}.json"

    def run(self, experiment: str, settings: list[Row], name: str = "") -> list[Row]:
        """The rows of an experiment, from the store where they are there."""
        repeats = min(self.repeats, GROWTH_REPEATS) if experiment == "growth" else self.repeats
        local = {"data": self.data_home}
        cells = cells_of(
            experiment,
            settings,
            repeats=repeats,
            seed=self.seed,
            **(local if experiment == "table2" else {}),
        )
        store = Store(self.out / "cells" / f"{name or experiment}.jsonl")
        return run_cells(
            cells, store, jobs=self.jobs, progress=self.progress, what=name or experiment
        )

    @property
    def data_home(self) -> str | None:
        """The folder of data sets, as text: cells are handed to other processes."""
        return None if self.data is None else str(self.data)

    @cached_property
    def datasets(self) -> tuple[list[str], list[str]]:
        """Data sets of the paper that are to be had, and those that are not."""
        found, missing = [], []
        for name in TABLE1:
            try:
                table2.labelled(name, self.data_home)
                found.append(name)
            except DatasetError:
                missing.append(name)
        others = [name for name in dataset_names(self.data) if name in table2.BESIDES]
        return found + others, missing

    def tabulate(self, name: str, *shown: Table) -> tuple[Table, ...]:
        """Write tables as Markdown and HTML; they are returned as they are."""
        write_text(self.out / f"{name}.md", "\n".join(table.markdown() for table in shown))
        alone = Section("", "", [*shown])
        write_text(self.out / f"{name}.html", page(shown[0].title, "", [alone]))
        return shown


def make_figure1(to: Reproduction) -> Section:
    """Karate club."""
    shown = figure1.picture()
    _, svg = figures.save(figures.karate(shown), to.out, "figure1")
    rows = [
        {"node": i, "truth": shown.truth[i], "temperature": T, "label": shown.labels[i]}
        for i, T in enumerate(shown.temperatures.tolist())
    ]
    write_csv(to.out / "figure1.csv", rows, ["node", "truth", "temperature", "label"])
    right = int((shown.labels == shown.truth).sum())
    text = (
        "Zachary's karate club with two seeds, ringed, at temperatures 1 and 0. With centering, "
        f"{right} of {len(rows)} members get the faction they joined."
    )
    return Section("Figure 1: diffusion in the karate club", text, [image(svg, "Figure 1")])


def make_block_figure(to: Reproduction, name: str) -> Section:
    """Stochastic block model."""
    blocks = block_figures.N_BLOCKS[name]
    rows = to.run("block_figures", block_figures.settings(name), name)
    write_csv(to.out / f"{name}.csv", rows, block_figures.COLUMNS)
    _, svg = figures.save(figures.block_curves(rows, blocks), to.out, name)
    table = tables.block_table(f"{blocks} labels, mean ± standard deviation", rows)
    text = (
        f"{blocks} blocks, 10 000 nodes in all, p = 0.01, q = 0.001, {to.repeats} repeats. "
        "Bands show one standard deviation. The paper prints curves but no numbers: they show that "
        "centering is robust to both kinds of asymmetry, and partial centering less so to that of "
        "labels."
    )
    return Section(
        f"Figure {name[-1]}: stochastic block model, {blocks} labels",
        text,
        [image(svg, f"Figure {name[-1]}"), *to.tabulate(name, table)],
    )


def make_table1(to: Reproduction) -> Section:
    """Counts."""
    found, missing = to.datasets
    rows = [table1.counts(name, *table2.labelled(name, to.data_home)) for name in found]
    write_csv(to.out / "table1.csv", rows, table1.COLUMNS)
    text = "Counts for each data set beside the paper's; edges are half the stored entries."
    shown = to.tabulate("table1", tables.counts(rows, missing))
    return Section("Table 1: data sets", text, [*shown])


def make_table2(to: Reproduction) -> Section:
    """Macro-F1 on real graphs."""
    found, missing = to.datasets
    rows = to.run("table2", table2.settings(found, to.data_home))
    at_equilibrium = [row for row in rows if row["method"] == "equilibrium"]
    swept = [row for row in rows if row["method"] != "equilibrium"]
    write_csv(to.out / "table2.csv", at_equilibrium, table2.COLUMNS)
    write_csv(to.out / "ten_sweeps.csv", swept, table2.COLUMNS)
    beyond = tables.decision_tables(at_equilibrium)
    sweeps = tables.sweep_table(at_equilibrium, swept)
    text = (
        f"Macro-F1 on the free nodes, seeds drawn uniformly, {to.repeats} repeats, mean ± standard "
        "deviation. A star marks a mean that differs from the paper's by more than 0.03."
    )
    return Section(
        "Table 2: real graphs",
        text,
        [
            *to.tabulate("table2", *tables.centering_tables(at_equilibrium, missing)),
            Heading("Beyond the paper: every decision"),
            *to.tabulate("decisions", *beyond),
            Heading("Beyond the paper: ten sweeps instead of equilibrium"),
            *to.tabulate("ten_sweeps", sweeps),
        ],
    )


def make_consistency(to: Reproduction) -> Section:
    """Maps of the block model."""
    example = consistency_map.COUNTEREXAMPLE
    seeds, sizes = example["seeds"], example["sizes"]
    at = seeds[0] / seeds[1], sizes[0] / sizes[1]
    ratios = (consistency_map.SEED_RATIOS, consistency_map.SIZE_RATIOS)
    figure = figures.consistency(consistency_map.maps(), ratios, at)
    _, svg = figures.save(figure, to.out, "consistency")
    text = (
        "Exact, by Lemma 1: how many blocks get a wrong label on the block model of the analysis, "
        "p = 3q. Blocks 2 and 3 are those of the counterexample to partial centering (sizes 20, 3, "
        "9, seeds 12, 1, 8), marked by the cross: there partial centering labels the second block "
        "wrongly, and centering rightly. White: a block would have no free node."
    )
    return Section("Consistency of the decisions", text, [image(svg, "Consistency map")])


def make_growth(to: Reproduction) -> Section:
    """Stochastic block models of growing size."""
    rows = to.run("growth", growth.settings())
    write_csv(to.out / "growth.csv", rows, growth.COLUMNS)
    _, svg = figures.save(figures.growth_curves(rows), to.out, "growth")
    text = (
        "The paper leaves open whether centering is consistent on stochastic block models. Three "
        "blocks (55, 15 and 30 % of the nodes, of which 12, 3 and 6 % are seeds), edges 8 times as "
        "likely within blocks. A simulation proves nothing, but it shows where to look."
    )
    table = tables.growth_table(rows)
    drawn = image(svg, "Share of wrong labels against n")
    title = "The open question: stochastic block models"
    return Section(title, text, [drawn, *to.tabulate("growth", table)])


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


def _not_all(missing: list[str]) -> str:
    names = listed([title_of(name) for name in missing])
    return (
        f"{names} cannot be had: tables say {tables.NOT_RUN!r} there; isotherm datasets fetch NAME "
        "says why"
    )


def _no_data(parts: list[str]) -> str:
    return (
        f"{listed(parts)} cannot be made: none of the paper's data sets is here, and none "
        "could be downloaded. Name a folder that has them with --data; isotherm datasets list "
        "lists them"
    )
