"""Draw what was measured: ``python -m benchmarks.plots``, results → docs/images/*.svg."""

from __future__ import annotations

import json
from typing import Any

import matplotlib as mpl

from benchmarks.measure import ROOT
from benchmarks.tables import is_to_tolerance

mpl.use("svg")
import matplotlib.pyplot as plt  # the back end comes first

RESULTS, IMAGES = ROOT / "results" / "benchmarks", ROOT / "docs" / "images"
OURS, OTHERS = "#c1440e", ["#4c72b0", "#8c8c8c", "#55a868", "#8172b3"]
SHORT = {"fashion_mnist_knn10_graph": "Fashion-MNIST", "wikischools2007": "WikiSchools"}


def main() -> None:
    """Draw all pictures."""
    plt.rcParams.update({"svg.hashsalt": "isotherm", "font.size": 9, "axes.spines.top": False})
    plt.rcParams.update({"axes.spines.right": False, "savefig.bbox": "tight"})
    IMAGES.mkdir(parents=True, exist_ok=True)
    made = (ten_sweeps, same_answer, linear, product, suspects, reliability, stacking, suggestions)
    for draw in made:
        figure = draw()
        # No date in the file: the same results give the same picture.
        figure.savefig(IMAGES / f"{draw.__name__}.svg", metadata={"Date": None})
        plt.close(figure)


def rows_of(name: str) -> list[dict[str, Any]]:
    """The table of a benchmark."""
    found = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    rows: list[dict[str, Any]] = found["rows"]
    return rows


def short(name: str) -> str:
    """The name of a graph as a label."""
    return SHORT.get(name, name.replace("_", " "))


def ten_sweeps() -> plt.Figure:
    """How many times faster than ten sweeps."""
    ratios = {
        row["graph"]: row["ratio"]
        for row in rows_of("equilibrium_beats_ten_sweeps")
        if is_to_tolerance(row)
    }
    names = list(ratios)
    figure, axis = plt.subplots(figsize=(7, 3))
    axis.bar(range(len(names)), list(ratios.values()), width=0.6, color=OURS)
    for place, ratio in enumerate(ratios.values()):
        axis.text(place, ratio, f"{ratio:.1f}", ha="center", va="bottom", fontsize=7)
    axis.axhline(1, color="black", linewidth=0.8, linestyle=":")
    axis.set_xticks(range(len(names)), [short(n) for n in names], rotation=30, ha="right")
    axis.set_ylabel("times faster than ten sweeps")
    return figure


def same_answer() -> plt.Figure:
    """Seconds of each contestant, and ours at their accuracy."""
    rows = [row for row in rows_of("same_answer_sooner") if "ratio" in row]
    names = list(dict.fromkeys(row["graph"] for row in rows))
    who = list(dict.fromkeys(row["contestant"] for row in rows))
    figure, axis = plt.subplots(figsize=(7, 3))
    width = 0.8 / len(who)
    for k, (contestant, color) in enumerate(zip(who, OTHERS, strict=False)):
        for row in rows:
            if row["contestant"] != contestant:
                continue
            place = names.index(row["graph"]) - 0.4 + (k + 0.5) * width
            label = contestant if row["graph"] == names[-1] else None
            axis.bar(place, row["theirs_s"], width=0.95 * width, color=color, label=label)
            axis.plot([place - width / 2, place + width / 2], [row["ours_s"]] * 2, color=OURS, lw=2)
            axis.text(
                place, row["theirs_s"], f"{row['ratio']:.3g}×", ha="center", va="bottom", fontsize=7
            )
    axis.plot([], [], color=OURS, lw=2, label="isotherm, at least as accurate")
    axis.set_yscale("log")
    axis.set_xticks(range(len(names)), [short(n) for n in names])
    axis.set_ylabel("seconds")
    axis.legend(frameon=False, ncols=5, fontsize=7, loc="lower center", bbox_to_anchor=(0.5, 1.08))
    return figure


def linear() -> plt.Figure:
    """Time and memory per edge."""
    rows = rows_of("cost_grows_linearly")
    edges = [row["edges"] for row in rows]
    figure, (left, right) = plt.subplots(1, 2, figsize=(7, 2.6))
    for key, label, color in (("fit_s", "labelling", OURS), ("build_s", "building", OTHERS[0])):
        left.plot(
            edges, [row[key] / row["edges"] * 1e9 for row in rows], "o-", label=label, color=color
        )
    left.set_ylabel("ns per edge")
    left.legend(frameon=False)
    right.plot(edges, [row["peak_bytes"] / 2**30 for row in rows], "o-", color=OURS)
    right.axhline(6, color="black", linewidth=0.8, linestyle=":")
    right.set_ylabel("peak memory, GiB")
    right.set_yscale("log")
    for axis in (left, right):
        axis.set_xscale("log")
        axis.set_xlabel("edges")
    left.set_ylim(bottom=0)
    figure.tight_layout()
    return figure


def product() -> plt.Figure:
    """Bytes per second of the product."""
    rows = rows_of("product_near_the_limit")
    copy, rest = rows[0], rows[1:]
    figure, axis = plt.subplots(figsize=(7, 2.4))
    labels = [f"{row['what']}\n{row['graph']}" for row in rest]
    colors = [OURS if row["what"] == "isotherm" else OTHERS[1] for row in rest]
    axis.bar(labels, [row["gb_per_s"] for row in rest], color=colors, width=0.6)
    axis.axhline(copy["gb_per_s"], color="black", linewidth=0.8, linestyle=":")
    axis.text(len(rest) - 0.5, copy["gb_per_s"], "copy", ha="right", va="bottom", fontsize=8)
    axis.set_ylabel("GB/s")
    axis.tick_params(axis="x", labelsize=7)
    return figure


def suspects() -> plt.Figure:
    """Precision and recall of the first suspects."""
    rows = rows_of("suspects_are_found")
    names = list(dict.fromkeys(row["graph"] for row in rows))
    figure, axes = plt.subplots(1, len(names), figsize=(7, 2.8), sharey=True)
    for axis, name in zip(axes, names, strict=True):
        of_graph = [row for row in rows if row["graph"] == name]
        for row, color in zip(of_graph, (OURS, *OTHERS), strict=False):
            axis.plot(
                row["recall"],
                row["precision"],
                "o-",
                markersize=3,
                color=color,
                label=f"{row['seeds']:.0%} seeds",
            )
            twice = row["listed"].index(2.0)
            axis.plot(row["recall"][twice], row["precision"][twice], "o", color=color)
        axis.axvline(0.7, color="black", linewidth=0.8, linestyle=":")
        axis.set(title=short(name), xlabel="recall", xlim=(0, 1), ylim=(0, 1))
    axes[0].set_ylabel("precision")
    axes[0].legend(frameon=False, fontsize=7)
    figure.tight_layout()
    return figure


def reliability() -> plt.Figure:
    """What was said beside what is so, at 5 % seeds."""
    rows = [row for row in rows_of("probabilities_are_calibrated") if row["seeds"] == 0.05]
    names = list(dict.fromkeys(row["graph"] for row in rows))
    figure, axes = plt.subplots(3, 3, figsize=(7, 7), sharex=True, sharey=True)
    for axis in axes.flat[len(names) :]:
        axis.set_visible(False)
    for axis, name in zip(axes.flat, names, strict=False):
        axis.plot([0, 1], [0, 1], color="black", linewidth=0.8, linestyle=":")
        own = [row for row in rows if row["graph"] == name]
        for row in own:
            color = OURS if row["who"] == "isotherm" else OTHERS[1]
            total = sum(count for count, _, _ in row["bins"])
            seen = [each for each in row["bins"] if each[0] >= 0.002 * total]
            _, said, right = zip(*seen, strict=True)
            axis.plot(said, right, "o-", markersize=3, color=color, label=row["who"])
        errors = " and ".join(f"{row['error']:.3f}" for row in own)
        axis.set_title(f"{short(name)}: {errors}", fontsize=8)
    axes[0, 0].legend(frameon=False, fontsize=7, loc="lower right")
    figure.supxlabel("probability said")
    figure.supylabel("share that is right")
    figure.tight_layout()
    return figure


def stacking() -> plt.Figure:
    """Macro-F1 of all models, a panel for each graph."""
    rows = rows_of("stacking_pays")
    names = list(dict.fromkeys(row["graph"] for row in rows))
    models = list(dict.fromkeys(row["model"] for row in rows))
    greys = dict(zip(models[3:], ["#bbbbbb", "#999999", "#777777", "#555555"], strict=False))
    colors = {"paper": OTHERS[0], "auto": OTHERS[2], "stacked": OURS} | greys
    figure, axes = plt.subplots(3, 3, figsize=(7.5, 6.5), sharex=True)
    for axis, name in zip(axes.flat, names, strict=False):
        for model in models:
            own = [row for row in rows if (row["graph"], row["model"]) == (name, model)]
            place = [100 * row["seeds"] for row in own]
            style = {"lw": 2.2 if model == "stacked" else 1.0, "markersize": 3}
            style["zorder"] = 3 if model == "stacked" else 2
            line = "o--" if model in greys else "o-"
            found = [row["macro_f1"] for row in own]
            axis.plot(place, found, line, color=colors[model], label=model, **style)
        axis.set_xscale("log")
        axis.minorticks_off()
        axis.set_xticks([1, 5, 20], ["1 %", "5 %", "20 %"])
        axis.set_title(short(name), fontsize=8)
        axis.tick_params(labelsize=7)
    figure.supxlabel("share of the labels given as seeds", fontsize=9)
    figure.supylabel("macro-F1", fontsize=9)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, frameon=False, loc="upper center", ncols=len(models), fontsize=7)
    figure.tight_layout(rect=(0, 0, 1, 0.96))
    return figure


def suggestions() -> plt.Figure:
    """Learning curves."""
    rows = rows_of("suggestions_save_labels")
    names = list(dict.fromkeys(row["graph"] for row in rows))
    colors = {"suggest": OURS, "random": "black", "margin": OTHERS[0], "influence": OTHERS[2]}
    colors["flips"] = OTHERS[3]
    figure, axes = plt.subplots(2, 4, figsize=(9, 4.6))
    for axis in axes.flat[len(names) :]:
        axis.set_visible(False)
    for axis, name in zip(axes.flat, names, strict=False):
        for row in rows:
            if row["graph"] == name:
                way = row["way"]
                style = {"lw": 2 if way == "suggest" else 1, "ls": "--" if way == "random" else "-"}
                axis.plot(row["labels"], row["f1"], color=colors[way], label=way, **style)
        labels = next(row["labels"] for row in rows if row["graph"] == name)
        axis.set_xscale("log")
        axis.minorticks_off()
        axis.set_xticks(labels[::2] + labels[-1:], [f"{n:.0f}" for n in labels[::2] + labels[-1:]])
        axis.tick_params(labelsize=7)
        axis.set_title(short(name), fontsize=8)
    axes[0, 0].set_ylabel("macro-F1")
    axes[1, 0].set_ylabel("macro-F1")
    figure.supxlabel("labels")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, frameon=False, loc="lower right", bbox_to_anchor=(0.98, 0.12))
    figure.tight_layout()
    return figure


if __name__ == "__main__":
    main()
