"""Rows of the experiments → figures, by matplotlib."""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm import DirichletClassifier, IsothermWarning, ParameterError, load_dataset
from paper.decisions import DECISIONS, NAMES
from paper.page import write
from paper.printed import listed
from paper.tables import grouped, mean_and_spread

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from paper.tables import Row

# Told apart by the colour-blind, too (Okabe and Ito).
PALETTE = ("#0072b2", "#999999", "#d55e00", "#e69f00", "#009e73", "#cc79a7")
COLOURS = dict(zip(DECISIONS, PALETTE, strict=True))
DASHED = ("partial", "mass")  # often on top of another
FORMATS = ("png", "svg")
KARATE_SEEDS = (0, 33)  # the two rivals
# x and y of each member, as isotherm's pages lay the club out.
KARATE_PLACES = """
1.508 4.984  0.181 6.464  -1.35 5.306  1.066 6.106  3.783 3.533  4.963 5.094  4.88 4.065  0.555
5.099  -2.048 5.605  -3.083 7.319  3.867 4.717  2.716 2.432  3.148 6.314  -0.748 6.054  -5.495
6.351  -6.122 6.977  6.922 4.399  2.322 7.114  -4.954 7.424  -0.731 4.639  -6.229 4.993  1.541
7.738  -6.566 5.893  -4.769 3.164  -2.802 1.1  -3.966 1.341  -6.922 3.829  -3.268 3.049  -2.828
4.233  -5.773 3.918  -2.544 6.548  -2.21 3.367  -4.446 5.464  -3.966 5.156
"""


def check_library(parts: list[str]) -> None:
    """Say what is missing to draw these parts, before anything runs."""
    if parts and find_spec("matplotlib") is None:
        raise ParameterError(
            f"{listed(parts)} cannot be drawn: matplotlib is not installed. pip install matplotlib"
        )


def _panels(rows: int, columns: int, size: tuple[float, float]) -> tuple[Figure, list[list[Axes]]]:
    """An empty figure, and its panels row by row."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(rows, columns, sharex="col", sharey=True, squeeze=False)
    for axis in axes.flat:
        axis.spines[["top", "right"]].set_visible(False)
    return figure, axes.tolist()


def save(figure: Figure, folder: Path, name: str) -> None:
    """Write a figure as PNG and SVG."""
    import matplotlib as mpl

    for kind in FORMATS:
        metadata = {"Date": None} if kind == "svg" else {"Software": None}
        file = BytesIO()
        # With a salt of its own the same figure is the same file.
        with mpl.rc_context({"svg.hashsalt": "isotherm"}):
            figure.savefig(file, format=kind, dpi=150, metadata=metadata)
        write(folder / f"{name}.{kind}", file.getvalue())


def karate_rows() -> list[Row]:
    """Temperatures and labels of the club's members, two of them seeds."""
    club = load_dataset("karate")
    known = {node: club.labels[node] for node in KARATE_SEEDS}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IsothermWarning)  # two labels are few, as in the paper
        model = DirichletClassifier().fit(club.graph, known)
    first = list(model.classes_).index(club.labels[KARATE_SEEDS[0]])
    heat = model.temperatures_[:, first].tolist()
    return [
        {"node": i, "truth": club.labels[i], "temperature": T, "label": model.labels_[i]}
        for i, T in enumerate(heat)
    ]


def karate(rows: list[Row]) -> Figure:
    """Figure 1: truth on the left, temperatures on the right."""
    figure, [axes] = _panels(1, 2, (9, 3.2))
    edges = np.argwhere(np.triu(load_dataset("karate").graph.adjacency.toarray()))
    x, y = np.array(KARATE_PLACES.split(), dtype=float).reshape(-1, 2).T
    seeds = list(KARATE_SEEDS)
    truth = [float(row["truth"] == rows[seeds[0]]["truth"]) for row in rows]
    for axis, heat, title in (
        (axes[0], truth, "ground truth"),
        (axes[1], [row["temperature"] for row in rows], "temperatures at equilibrium"),
    ):
        for edge in edges:
            axis.plot(x[edge], y[edge], color="#bbbbbb", linewidth=0.7, zorder=1)
        drawn = axis.scatter(
            x, y, c=heat, cmap="coolwarm", vmin=0, vmax=1, s=90, edgecolors="white", zorder=2
        )
        ring: dict[str, Any] = {
            "s": 210,
            "facecolors": "none",
            "edgecolors": "black",
            "linewidths": 1.8,
        }
        axis.scatter(x[seeds], y[seeds], zorder=3, **ring)
        axis.set_title(title)
        axis.set_aspect("equal")
        axis.axis("off")
    figure.colorbar(drawn, ax=axes, shrink=0.7, label="temperature")
    return figure


def block_curves(rows: list[Row], labels: int) -> Figure:
    """Figures 2 and 3: F1 against the ratio, mean ± standard deviation."""
    panels = {
        "seed": ("seed asymmetry", "$s_1 / s_2$"),
        "label": ("label asymmetry", "$n_1 / n_2$"),
    }
    figure, [axes] = _panels(1, 2, (9, 3.6))
    for axis, (panel, (title, symbol)) in zip(axes, panels.items(), strict=True):
        mine = [row for row in rows if row["panel"] == panel]
        for (decision,), group in grouped(mine, "decision").items():
            by_ratio = grouped(group, "ratio")
            found = [mean_and_spread([row["f1"] for row in some]) for some in by_ratio.values()]
            ratios = [ratio for (ratio,) in by_ratio]
            mean, spread = np.array(found).T
            _curve(axis, ratios, mean, decision, NAMES.get(decision, decision))
            band = mean - spread, mean + spread
            axis.fill_between(ratios, *band, color=COLOURS[decision], alpha=0.2, lw=0)
        axis.set_title(title)
        axis.set_xlabel(symbol)
        axis.set_xticks(range(1, 11))
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("F1" if labels == 2 else "macro F1")
    axes[0].set_ylim(0, 1.02)
    _legend(figure, axes[0])
    return figure


def _curve(axis: Axes, x: Any, y: Any, decision: str, name: str) -> None:
    ls, ms, zorder = ("--", 2.5, 3) if decision in DASHED else ("-", 4, 2)
    how: dict[str, Any] = {"ls": ls, "ms": ms, "zorder": zorder, "marker": "o"}
    axis.plot(x, y, label=name, color=COLOURS[decision], **how)


def _legend(figure: Figure, axis: Axes) -> None:
    """One line above all panels."""
    handles, names = axis.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=len(names), frameon=False)


def growth_curves(rows: list[Row]) -> Figure:
    """Share of wrong labels against n, a panel for each way the degree grows."""
    by_degree = grouped(rows, "degree")
    figure, [axes] = _panels(1, len(by_degree), (11, 3.6))
    for axis, ((degree,), group) in zip(axes, by_degree.items(), strict=True):
        for (decision,), mine in grouped(group, "decision").items():
            by_n = grouped(mine, "n")
            rates = [[row["error_rate"] for row in some] for some in by_n.values()]
            mean = np.array([mean_and_spread(some)[0] for some in rates])
            _curve(axis, [n for (n,) in by_n], np.maximum(mean, 1e-5), decision, decision)
        axis.set_title(f"expected degree: {degree}")
        axis.set_xlabel("n")
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("share of wrong labels")
    _legend(figure, axes[0])
    return figure


def consistency(
    maps: dict[int, dict[str, Any]], ratios: tuple[Any, Any], at: tuple[float, float]
) -> Figure:
    """Where each decision is right, over seed ratio × size ratio; `at` marks one point."""
    from matplotlib.colors import ListedColormap

    colours = ListedColormap(["#d9ecf7", "#f4b183", "#c0504d", "#7b2d26"])
    n_decisions = len(next(iter(maps.values())))
    figure, axes = _panels(len(maps), n_decisions, (2.1 * n_decisions, 2.5 * len(maps)))
    for line, (blocks, by_decision) in zip(axes, maps.items(), strict=True):
        for axis, (decision, wrong) in zip(line, by_decision.items(), strict=True):
            how: dict[str, Any] = {"cmap": colours, "vmin": -0.5, "vmax": 3.5, "shading": "nearest"}
            drawn = axis.pcolormesh(*ratios, wrong, rasterized=True, **how)
            axis.set_xscale("log", base=2)
            axis.set_yscale("log", base=2)
            if blocks == 3:
                axis.plot(*at, marker="x", color="black", ms=7, mew=1.8)
            axis.set_title(f"{decision}, {blocks} blocks", fontsize=9)
        line[0].set_ylabel("$n_1 / n_2$")
    for axis in axes[-1]:
        axis.set_xlabel("$s_1 / s_2$")
    every = [axis for line in axes for axis in line]
    bar = figure.colorbar(drawn, ax=every, ticks=[0, 1, 2, 3], shrink=0.8)
    bar.set_label("blocks that get a wrong label")
    return figure
