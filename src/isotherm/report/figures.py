"""Records → figures, by matplotlib (the extra ``isotherm[paper]``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.errors import ParameterError
from isotherm.files import replacing
from isotherm.report.tables import grouped, mean_and_spread

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from isotherm.experiments.figure1 import Picture

# One colour per decision, told apart by the colour-blind too (Okabe and Ito).
COLOURS = {
    "plain": "#999999",
    "centered": "#0072b2",
    "partial": "#d55e00",
    "mass": "#e69f00",
    "standard": "#009e73",
    "ratio": "#cc79a7",
}
DASHED = ("partial", "mass")  # often on top of another
NAMES = {"plain": "no centering", "centered": "centering", "partial": "partial centering"}
FORMATS = ("png", "svg")


def pyplot() -> Any:
    """matplotlib.pyplot, set up to draw to files."""
    try:
        import matplotlib as mpl
    except ImportError:
        raise ParameterError("figures need matplotlib: pip install 'isotherm[paper]'") from None
    mpl.use("agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update(
        {
            "font.size": 10,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "svg.hashsalt": "isotherm",  # the same figure is the same file
            "svg.fonttype": "path",
            "figure.constrained_layout.use": True,
        }
    )
    return plt


def save(figure: Any, folder: Path, name: str) -> list[Path]:
    """Write a figure as PNG and SVG."""
    paths = []
    for kind in FORMATS:
        path = folder / f"{name}.{kind}"
        metadata = {"Date": None} if kind == "svg" else {"Software": None}
        with replacing(path) as file:
            figure.savefig(file, format=kind, dpi=150, metadata=metadata)
        paths.append(path)
    pyplot().close(figure)
    return paths


def karate(picture: Picture) -> Any:
    """Figure 1: truth on the left, temperatures on the right."""
    figure, axes = pyplot().subplots(1, 2, figsize=(9, 4.2))
    first = (picture.truth == picture.truth[picture.seeds[0]]).astype(float)
    for axis, heat, title in (
        (axes[0], first, "ground truth"),
        (axes[1], picture.temperatures, "temperatures at equilibrium"),
    ):
        x, y = picture.positions.T
        i, j = picture.graph.adjacency.nonzero()
        for a, b in zip(i[i < j], j[i < j], strict=True):
            axis.plot(x[[a, b]], y[[a, b]], color="#bbbbbb", linewidth=0.7, zorder=1)
        drawn = axis.scatter(
            x, y, c=heat, cmap="coolwarm", vmin=0, vmax=1, s=90, edgecolors="white", zorder=2
        )
        seeds = list(picture.seeds)
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


def block_curves(rows: list[dict[str, Any]], labels: int) -> Any:
    """Figures 2 and 3: F1 against the ratio, mean ± standard deviation."""
    panels = {
        "seed": ("seed asymmetry", "$s_1 / s_2$"),
        "label": ("label asymmetry", "$n_1 / n_2$"),
    }
    figure, axes = pyplot().subplots(1, 2, figsize=(9, 3.6), sharey=True)
    for axis, (panel, (title, symbol)) in zip(axes, panels.items(), strict=True):
        mine = [row for row in rows if row["panel"] == panel]
        for (decision,), group in grouped(mine, "decision").items():
            by_ratio = grouped(group, "ratio")
            found = [mean_and_spread([row["f1"] for row in some]) for some in by_ratio.values()]
            ratios = np.array([ratio for (ratio,) in by_ratio])
            mean, spread = np.array(found).T
            colour = COLOURS[decision]
            axis.plot(ratios, mean, label=NAMES[decision], **_line(decision))
            axis.fill_between(ratios, mean - spread, mean + spread, color=colour, alpha=0.2, lw=0)
        axis.set_title(title)
        axis.set_xlabel(symbol)
        axis.set_xticks(range(1, 11))
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("F1" if labels == 2 else "macro F1")
    axes[0].set_ylim(0, 1.02)
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False
    )
    return figure


def _line(decision: str) -> dict[str, Any]:
    """How the curve of a decision is drawn."""
    dashed = decision in DASHED
    return {
        "color": COLOURS[decision],
        "linestyle": "--" if dashed else "-",
        "marker": "o",
        "markersize": 2.5 if dashed else 4,
        "zorder": 3 if dashed else 2,
    }


def growth_curves(rows: list[dict[str, Any]]) -> Any:
    """Share of wrong labels against n, a panel for each way the degree grows."""
    by_degree = grouped(rows, "degree")
    figure, axes = pyplot().subplots(1, len(by_degree), figsize=(11, 3.6), sharey=True)
    for axis, ((degree,), group) in zip(np.atleast_1d(axes), by_degree.items(), strict=True):
        for (decision,), mine in grouped(group, "decision").items():
            by_n = grouped(mine, "n")
            mean = [
                mean_and_spread([row["error_rate"] for row in some])[0] for some in by_n.values()
            ]
            axis.plot(
                [n for (n,) in by_n], np.maximum(mean, 1e-5), label=decision, **_line(decision)
            )
        axis.set_title(f"expected degree: {degree}")
        axis.set_xlabel("n")
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.grid(alpha=0.3)
    np.atleast_1d(axes)[0].set_ylabel("share of wrong labels")
    figure.legend(
        *np.atleast_1d(axes)[0].get_legend_handles_labels(),
        loc="outside upper center",
        ncols=len(COLOURS),
        frameon=False,
    )
    return figure


def consistency(maps: dict[int, dict[str, NDArray[Any]]], ratios: tuple[Any, Any], at: Any) -> Any:
    """Where each decision is right, over seed ratio × size ratio; `at` marks one point."""
    plt = pyplot()
    from matplotlib.colors import ListedColormap

    colours = ListedColormap(["#d9ecf7", "#f4b183", "#c0504d", "#7b2d26"])
    decisions = list(next(iter(maps.values())))
    figure, axes = plt.subplots(
        len(maps),
        len(decisions),
        figsize=(2.1 * len(decisions), 2.5 * len(maps)),
        sharex=True,
        sharey=True,
        squeeze=False,
    )
    for line, (blocks, by_decision) in zip(axes, maps.items(), strict=True):
        for axis, (decision, wrong) in zip(line, by_decision.items(), strict=True):
            drawn = axis.pcolormesh(
                *ratios,
                wrong,
                cmap=colours,
                vmin=-0.5,
                vmax=3.5,
                shading="nearest",
                rasterized=True,
            )
            axis.set_xscale("log", base=2)
            axis.set_yscale("log", base=2)
            if blocks == 3:
                axis.plot(*at, marker="x", color="black", ms=7, mew=1.8)
            axis.set_title(f"{decision}, {blocks} blocks", fontsize=9)
        line[0].set_ylabel("$n_1 / n_2$")
    for axis in axes[-1]:
        axis.set_xlabel("$s_1 / s_2$")
    bar = figure.colorbar(drawn, ax=axes, ticks=[0, 1, 2, 3], shrink=0.8)
    bar.set_label("blocks that get a wrong label")
    return figure
