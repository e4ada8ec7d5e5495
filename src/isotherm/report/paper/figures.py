"""Records → figures, by matplotlib (the extra ``isotherm[paper]``)."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from isotherm.decision import DECISIONS
from isotherm.errors import ParameterError
from isotherm.experiments.paper import listed
from isotherm.files import replacing
from isotherm.report.layout import edges_among, positions
from isotherm.report.tables import grouped, mean_and_spread

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from isotherm.experiments.figure1 import Picture
    from isotherm.report.tables import Row

# Colours of the decisions, in their order, told apart by the colour-blind too (Okabe and Ito).
COLOURS = (
    *("#0072b2", "#999999", "#d55e00", "#e69f00"),
    *("#009e73", "#cc79a7", "#56b4e9", "#000000"),
)
DASHED = ("partial", "mass")  # often on top of another
NAMES = {"plain": "no centering", "centered": "centering", "partial": "partial centering"}
FORMATS = ("png", "svg")


def check_library(parts: list[str]) -> None:
    """Say what is missing to draw these parts, before anything runs.

    Raises
    ------
    ParameterError
        If there are any, and matplotlib is not installed.
    """
    if parts and find_spec("matplotlib") is None:
        raise ParameterError(
            f"{listed(parts)} cannot be drawn: matplotlib is not installed. "
            "pip install 'isotherm[paper]'"
        )


def _panels(rows: int, columns: int, size: tuple[float, float]) -> tuple[Figure, list[list[Axes]]]:
    """An empty figure, and its panels row by row."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(rows, columns, sharex="col", sharey=True, squeeze=False)
    for axis in axes.flat:
        axis.spines[["top", "right"]].set_visible(False)
    return figure, axes.tolist()


def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Write a figure as PNG and SVG."""
    import matplotlib as mpl

    paths = []
    for kind in FORMATS:
        path = folder / f"{name}.{kind}"
        metadata = {"Date": None} if kind == "svg" else {"Software": None}
        # With a salt of its own the same figure is the same file.
        with replacing(path) as file, mpl.rc_context({"svg.hashsalt": "isotherm"}):
            figure.savefig(file, format=kind, dpi=150, metadata=metadata)
        paths.append(path)
    return paths


def karate(picture: Picture) -> Figure:
    """Figure 1: truth on the left, temperatures on the right."""
    figure, [axes] = _panels(1, 2, (9, 3.2))
    nodes = np.arange(picture.graph.n_nodes)
    edges = edges_among(picture.graph, nodes)
    x, y = positions(len(nodes), edges).T
    seeds = list(picture.seeds)
    first = (picture.truth == picture.truth[seeds[0]]).astype(float)
    for axis, heat, title in (
        (axes[0], first, "ground truth"),
        (axes[1], picture.temperatures, "temperatures at equilibrium"),
    ):
        for a, b in zip(*edges, strict=True):
            axis.plot(x[[a, b]], y[[a, b]], color="#bbbbbb", linewidth=0.7, zorder=1)
        drawn = axis.scatter(
            x, y, c=heat, cmap="coolwarm", vmin=0, vmax=1, s=90, edgecolors="white", zorder=2
        )
        axis.scatter(
            x[seeds],
            y[seeds],
            s=210,
            facecolors="none",
            edgecolors="black",
            linewidths=1.8,
            zorder=3,
        )
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
            axis.fill_between(ratios, *band, color=colour_of(decision), alpha=0.2, lw=0)
        axis.set_title(title)
        axis.set_xlabel(symbol)
        axis.set_xticks(range(1, 11))
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("F1" if labels == 2 else "macro F1")
    axes[0].set_ylim(0, 1.02)
    _legend(figure, axes[0])
    return figure


def colour_of(decision: str) -> str:
    """The colour of a decision; a new one has a colour as well.

    Examples
    --------
    >>> colour_of("centered"), colour_of("not known here") in COLOURS
    ('#0072b2', True)
    """
    known = list(DECISIONS)
    number = known.index(decision) if decision in known else len(known)
    return COLOURS[number % len(COLOURS)]


def _curve(
    axis: Axes, x: Sequence[float], y: NDArray[np.float64], decision: str, name: str
) -> None:
    dashed = decision in DASHED
    axis.plot(
        x,
        y,
        label=name,
        color=colour_of(decision),
        linestyle="--" if dashed else "-",
        marker="o",
        markersize=2.5 if dashed else 4,
        zorder=3 if dashed else 2,
    )


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
    maps: dict[int, dict[str, NDArray[np.float64]]],
    ratios: tuple[NDArray[np.float64], NDArray[np.float64]],
    at: tuple[float, float],
) -> Figure:
    """Where each decision is right, over seed ratio × size ratio; `at` marks one point."""
    from matplotlib.colors import ListedColormap

    colours = ListedColormap(["#d9ecf7", "#f4b183", "#c0504d", "#7b2d26"])
    n_decisions = len(next(iter(maps.values())))
    figure, axes = _panels(len(maps), n_decisions, (2.1 * n_decisions, 2.5 * len(maps)))
    for line, (blocks, by_decision) in zip(axes, maps.items(), strict=True):
        for axis, (decision, wrong) in zip(line, by_decision.items(), strict=True):
            drawn = axis.pcolormesh(
                *ratios, wrong, cmap=colours, vmin=-0.5, vmax=3.5, shading="nearest",
                rasterized=True,
            )  # fmt: skip
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
