"""Fill the tables of docs/peers.md from results/benchmarks: ``python scripts/peers_page.py``.

With ``--check`` nothing is written; the exit code is 1 if the page is not what it would be.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from statistics import mean
from typing import Any

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "peers.md"
RESULTS = ROOT / "results" / "benchmarks"
MODELS = {
    "paper": "isotherm, the paper's algorithm",
    "auto": "isotherm, decision and leak chosen",
    "stacked": "**isotherm, stacked**",
    "diffusion": "scikit-network, `DiffusionClassifier`",
    "pagerank": "scikit-network, `PageRankClassifier`",
    "spreading": "scikit-learn, `LabelSpreading`",
    "poisson": "GraphLearning, Poisson learning",
}
OURS = ("paper", "auto", "stacked")

Row = dict[str, Any]


def main() -> int:
    """Write the page, or check it."""
    old = PAGE.read_text(encoding="utf-8")
    new = re.sub(
        r"(<!-- peers: (\w+) -->\n).*?(<!-- end -->)",
        lambda found: f"{found[1]}{TABLES[found[2]]()}\n{found[3]}",
        old,
        flags=re.DOTALL,
    )
    if "--check" in sys.argv[1:]:
        return int(new != old)
    PAGE.write_text(new, encoding="utf-8")
    return 0


def result(name: str) -> Row:
    """What a benchmark found."""
    found: Row = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def accuracy() -> str:
    """Macro-F1 of each model, the mean over all graphs; how often it is the best; its time."""
    cases = by_case()
    lines = [["", "1 % known", "5 %", "20 %", f"best, of {len(cases)}", "mean time"]]
    for model, shown in MODELS.items():
        best = sum(
            max(case, key=lambda who: case[who]["macro_f1"]) == model for case in cases.values()
        )
        means = [
            f"{mean(case[model]['macro_f1'] for (_, s), case in cases.items() if s == share):.3f}"
            for share in (0.01, 0.05, 0.2)
        ]
        seconds = mean(case[model]["seconds"] for case in cases.values())
        lines.append([shown, *means, str(best), f"{seconds * 1e3:.0f} ms"])
    return written(lines, result("stacking_pays"))


def losses() -> str:
    """The cases in which another library is ahead of the stacked model."""
    lines = [["graph", "known", "ahead", "macro-F1", "stacked"]]
    for (graph, share), case in by_case().items():
        who = max((who for who in case if who not in OURS), key=lambda who: case[who]["macro_f1"])
        theirs, ours = case[who]["macro_f1"], case["stacked"]["macro_f1"]
        if theirs > ours:
            lines.append(
                [plain(graph), f"{share:.0%}", MODELS[who], f"{theirs:.3f}", f"{ours:.3f}"]
            )
    return written(lines, result("stacking_pays"))


def sweeps() -> str:
    """The certified equilibrium beside ten sweeps of scikit-network."""
    lines = [["graph", "isotherm, to 1e-4", "ten sweeps", "accuracy", "theirs"]]
    found = result("never_slower_than_ten_sweeps")
    for row in found["rows"]:
        if row.get("stop", "tolerance") == "tolerance":
            times = [f"{row[key] * 1e3:.1f} ms" for key in ("ours_s", "sweeps_s")]
            right = [f"{row[key]:.3f}" for key in ("accuracy", "sweeps_accuracy")]
            lines.append([plain(row["graph"]), *times, *right])
    return written(lines, found)


def same_answer() -> str:
    """The same temperatures by others."""
    lines = [["graph", "by", "isotherm", "they", "our true error", "theirs"]]
    found = result("same_answer_sooner")
    for row in found["rows"]:
        measured = "ratio" in row
        lines.append(
            [
                plain(row["graph"]),
                row["contestant"],
                f"{row['ours_s']:.3g} s" if measured else "",
                f"{row['theirs_s']:.3g} s" if measured else row["failed"],
                f"{row['our_error']:.0e}" if measured else "",
                f"{row['their_error']:.0e}" if measured else "",
            ]
        )
    return written(lines, found)


def propagation() -> str:
    """Beside label propagation, which is another method."""
    lines = [["graph", "by", "time", "accuracy"]]
    found = result("beside_label_propagation")
    for row in found["rows"]:
        cells = [f"{row['seconds'] * 1e3:.0f} ms", f"{row['accuracy']:.3f}"]
        lines.append([plain(row["graph"]), row["who"], *cells])
    return written(lines, found)


def by_case() -> dict[tuple[str, float], dict[str, Row]]:
    """All models by the graph and the share of nodes that is known."""
    cases: dict[tuple[str, float], dict[str, Row]] = {}
    for row in result("stacking_pays")["rows"]:
        cases.setdefault((row["graph"], row["seeds"]), {})[row["model"]] = row
    return cases


def plain(graph: str) -> str:
    """The name of a graph, for people."""
    return graph.replace("_", " ")


def written(lines: list[list[str]], found: Row) -> str:
    """A table in Markdown, and below it when and with what it was measured."""
    rows = [lines[0], ["---"] * len(lines[0]), *lines[1:]]
    machine = found["machine"]
    named = ("isotherm", "scikit-network", "graphlearning", "networkx", "pyamg", "igraph")
    named += ("torch-geometric", "scipy")
    versions = [
        f"{name} {machine['versions'][name]}" for name in named if machine["versions"].get(name)
    ]
    table = "\n".join("| " + " | ".join(row) + " |" for row in rows)
    return (
        f"{table}\n\nMeasured {found['measured']} on {machine['cores']} cores "
        f"({machine['processor']}), Python {machine['python']}: {', '.join(versions)}."
    )


TABLES = {
    "accuracy": accuracy,
    "losses": losses,
    "sweeps": sweeps,
    "same_answer": same_answer,
    "propagation": propagation,
}

if __name__ == "__main__":
    sys.exit(main())
