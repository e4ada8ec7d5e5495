"""The tables of the documentation, from results/benchmarks: ``python -m benchmarks.tables``.

Each stands between ``<!-- table: NAME -->`` and ``<!-- end -->``; the words around it are written
by hand.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from benchmarks.measure import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

NAMES = ("many-machines", "performance", "stacking", "trust")
PAGES = [ROOT / "docs" / f"{name}.md" for name in NAMES]

Row = dict[str, Any]


def mib(count: int | None) -> str:
    """A number of bytes, where there is one."""
    return f"{count / 2**20:,.0f} MiB" if count else ""


def is_to_tolerance(row: Row) -> bool:
    """Whether temperatures were solved to a tolerance: until 0.2 some solves ended by labels."""
    return bool(row.get("stop", "tolerance") == "tolerance")


# The rows that are shown, and a column for each heading.
TABLES: dict[str, tuple[Callable[[Row], bool], dict[str, Callable[[Row], str]]]] = {
    "equilibrium_beats_ten_sweeps": (
        lambda row: row["graph"] in ("block model", "R-MAT") and is_to_tolerance(row),
        {
            "graph": lambda row: row["graph"],
            "isotherm": lambda row: f"{row['ours_s']:.2f} s",
            "ten sweeps": lambda row: f"{row['sweeps_s']:.2f} s",
            "ratio": lambda row: f"**{row['ratio']:.1f}**",
            "steps": lambda row: str(row["steps"]),
            "proven error": lambda row: f"{row['proven_error']:.1e}",
            "true error": lambda row: f"{row['true_error']:.1e}",
        },
    ),
    "never_slower_than_ten_sweeps": (
        is_to_tolerance,
        {
            "graph": lambda row: row["graph"].replace("_", " "),
            "isotherm": lambda row: f"{row['ours_s'] * 1e3:.1f} ms",
            "ten sweeps": lambda row: f"{row['sweeps_s'] * 1e3:.1f} ms",
            "ratio": lambda row: f"**{row['ratio']:.1f}**",
            "steps": lambda row: str(row["steps"]),
            "accuracy": lambda row: f"{row['accuracy']:.3f}",
            "theirs": lambda row: f"{row['sweeps_accuracy']:.3f}",
        },
    ),
    "ranks_beside_one_machine": (
        bool,  # all
        {
            "graph": lambda row: row["graph"],
            "engine": lambda row: row["engine"],
            "ranks": lambda row: str(row["ranks"]),
            "processor seconds": lambda row: f"{row['processor']:.1f}",
            "steps": lambda row: str(row["steps"]),
        },
    ),
    "ranks_take_what_is_estimated": (
        bool,
        {
            "graph": lambda row: row["graph"],
            "ranks": lambda row: str(row["ranks"]),
            "first rank": lambda row: mib(row["first"]),
            "estimate": lambda row: mib(round(row["first_told"])),
            "others": lambda row: mib(row["others"]),
            "their estimate": lambda row: mib(row["others_told"] and round(row["others_told"])),
        },
    ),
    "networkx_gets_faster": (
        bool,  # all
        {
            "graph": lambda row: row["graph"].replace("_", " "),
            "function": lambda row: f"`{row['function']}`",
            "edges": lambda row: f"{row['edges']:,}",
            "NetworkX": lambda row: f"{row['networkx_s']:.3f} s",
            "with isotherm": lambda row: f"{row['ours_s']:.3f} s",
            "ratio": lambda row: f"**{row['ratio']:.1f}**",
            "labels that differ": lambda row: f"{row['differ']:.1%}",
        },
    ),
    "two_classes_cost_less": (
        bool,  # all
        {
            "columns": lambda row: row["columns"] + (", weights" if row["weighted"] else ""),
            "ns per entry and step": lambda row: f"{row['ns_per_entry']:.2f}",
            "of sixteen": lambda row: f"{row['of_sixteen']:.2f}",
        },
    ),
    "beside_label_propagation": (
        bool,  # all
        {
            "graph": lambda row: row["graph"].replace("_", " "),
            "who": lambda row: row["who"],
            "time": lambda row: f"{row['seconds'] * 1e3:.0f} ms",
            "accuracy": lambda row: f"{row['accuracy']:.3f}",
        },
    ),
    "same_answer_sooner": (
        bool,  # all
        {
            "graph": lambda row: row["graph"],
            "against": lambda row: row["contestant"],
            "isotherm": lambda row: f"{row['ours_s']:.3g} s" if "ratio" in row else "",
            "they": lambda row: f"{row['theirs_s']:.3g} s" if "ratio" in row else row["failed"],
            "ratio": lambda row: f"{row['ratio']:.1f}" if "ratio" in row else "",
            "our true error": lambda row: f"{row['our_error']:.1e}" if "ratio" in row else "",
            "theirs": lambda row: f"{row['their_error']:.1e}" if "ratio" in row else "",
        },
    ),
    "cost_grows_linearly": (
        bool,  # all
        {
            "edges": lambda row: f"{row['edges'] / 1e6:g} M",
            "nodes": lambda row: f"{row['nodes'] / 1e6:g} M",
            "build": lambda row: f"{row['build_s']:.2f} s",
            "label": lambda row: f"{row['fit_s']:.2f} s",
            "ns per edge": lambda row: f"{row['ns_per_edge']:.0f}",
            "peak memory": lambda row: f"{row['peak_bytes'] / 2**30:.2f} GiB",
        },
    ),
    "product_near_the_limit": (
        bool,  # all
        {
            "what": lambda row: row["what"],
            "graph": lambda row: row.get("graph", ""),
            "ms": lambda row: f"{row['ms']:.1f}" if "ms" in row else "",
            "GB/s": lambda row: f"{row['gb_per_s']:.1f}",
            "of a copy": lambda row: f"{row['of_copy']:.2f}" if "of_copy" in row else "",
        },
    ),
    "factor_beats_plain_steps": (
        bool,  # all
        {
            "graph": lambda row: row["graph"].replace("_", " "),
            "tol": lambda row: f"{row['tol']:g}",
            "auto": lambda row: f"{row['auto_s']:.2f} s",
            "plain steps": lambda row: f"{row['plain_s']:.2f} s",
            "ratio": lambda row: f"{row['ratio']:.1f}",
            "steps": lambda row: f"{row['auto_steps']} / {row['plain_steps']}",
        },
    ),
    "auto_is_never_quadratic": (
        bool,  # all
        {
            "shape": lambda row: row["shape"],
            "solver": lambda row: row["solver"],
            "a million edges": lambda row: f"{row['native'][0]:.1f} s",
            "growth per edge": lambda row: f"{row['native'][1]:.2f}",
            "without the core": lambda row: f"{row['scipy'][0]:.1f} s",
            "its growth": lambda row: f"{row['scipy'][1]:.2f}",
        },
    ),
    "a_fit_is_mostly_solving": (
        lambda row: "rest" in row and is_to_tolerance(row),
        {
            "graph": lambda row: row["graph"],
            "fit": lambda row: f"{row['fit_s']:.3f} s",
            "steps": lambda row: f"{row['steps_s']:.3f} s",
            "all else": lambda row: f"{row['rest']:.0%}",
        },
    ),
    "an_update_costs_one_column": (
        bool,  # all
        {
            "graph": lambda row: row["graph"],
            "fit": lambda row: f"{row['fit_s']:.2f} s",
            "update": lambda row: f"{row['update_s']:.2f} s",
            "ratio": lambda row: f"{row['ratio']:.2f}",
            "steps": lambda row: f"{row['fit_steps']} / {row['update_steps']}",
        },
    ),
    "a_refit_starts_warm": (
        bool,  # all
        {
            "graph": lambda row: row["graph"],
            "from nothing": lambda row: f"{row['cold_s']:.2f} s",
            "warm": lambda row: f"{row['warm_s']:.2f} s",
            "steps": lambda row: f"{row['cold_steps']} / {row['warm_steps']}",
        },
    ),
    "memory_stays_within_six_arrays": (
        is_to_tolerance,
        {
            "classes": lambda row: str(row["classes"]),
            "tol": lambda row: f"{row['tol']:g}",
            "n × K arrays of float32 at the peak": lambda row: f"{row['arrays']:.1f}",
        },
    ),
    "reading_is_fast": (
        bool,  # all
        {
            "what": lambda row: row.get("job") or f"{row['reader']}, {row['format']}",
            "seconds": lambda row: f"{row['seconds']:.1f}",
            "memory at the peak": lambda row: (
                f"{row['peak_bytes'] / 2**20:.0f} MiB" if "peak_bytes" in row else ""
            ),
        },
    ),
    "edges_stay_on_disk": (
        bool,  # all
        {
            "step": lambda row: row["step"],
            "edges": lambda row: f"{row['edges'] / 1e6:.0f} M",
            "seconds": lambda row: f"{row.get('ready_seconds', row['seconds']):.1f}",
            "memory of its own": lambda row: (
                f"{row['anonymous_bytes'] / 2**30:.2f} GiB" if "anonymous_bytes" in row else ""
            ),
        },
    ),
    "leave_one_out_costs_columns": (
        bool,  # all
        {
            "tol": lambda row: f"{row['tol']:g}",
            "500 seeds left out": lambda row: f"{row['leave_one_out_s']:.2f} s",
            "a fit with 20 columns": lambda row: f"{row['fit_s']:.3f} s",
            "ratio": lambda row: f"{row['ratio']:.1f}",
            "a fit with decision and leak “auto”": lambda row: f"{row['auto_s']:.2f} s",
        },
    ),
    "suspects_are_found": (
        bool,  # all
        {
            "graph": lambda row: row["graph"].replace("_", " "),
            "seeds": lambda row: f"{row['seeds']:.0%}",
            **{
                f"{times:g} ×": lambda row, k=k: f"{row['recall'][k]:.0%}"
                for k, times in enumerate((0.5, 1.0, 1.5, 2.0, 3.0, 4.0))
            },
        },
    ),
    "auto_is_safe": (
        bool,  # all
        {
            "graph": lambda row: row["graph"].replace("_", " "),
            "seeds": lambda row: f"{row['seeds']:.0%}",
            "plain": lambda row: f"{row['plain']:.3f}",
            "centred": lambda row: f"{row['centered']:.3f}",
            "standard, 0.01": lambda row: f"{row['preferred']:.3f}",
            "auto": lambda row: f"{row['auto']:.3f}",
            "over centred": lambda row: f"{row['auto'] - row['centered']:+.3f}",
        },
    ),
    "stacking_pays": (
        bool,  # all
        {
            "graph": lambda row: row["graph"].replace("_", " "),
            "seeds": lambda row: f"{row['seeds']:.0%}",
            "paper": lambda row: f"{row['paper']['macro_f1']:.3f}",
            "auto": lambda row: f"{row['auto']['macro_f1']:.3f}",
            "stacked": lambda row: f"**{row['stacked']['macro_f1']:.3f}**",
            "± sd": lambda row: f"{row['stacked']['spread']:.3f}",
            "best of others": lambda row: best_of_others(row),
            "accuracy: auto": lambda row: f"{row['auto']['accuracy']:.3f}",
            "accuracy: stacked": lambda row: f"{row['stacked']['accuracy']:.3f}",
        },
    ),
    "a_single_class_ranks": (
        bool,  # all
        {
            "graph": lambda row: row["graph"].replace("_", " "),
            "seeds": lambda row: f"{row['seeds']:.0%}",
            "isotherm, leak 0.01": lambda row: f"**{row['isotherm']:.3f}**",
            "0.001": lambda row: f"{row['leak_0.001']:.3f}",
            "0.1": lambda row: f"{row['leak_0.1']:.3f}",
            "0.3": lambda row: f"{row['leak_0.3']:.3f}",
            "PageRank": lambda row: f"{row['pagerank']:.3f}",
            "PageRank per degree": lambda row: f"{row['pagerank_per_degree']:.3f}",
        },
    ),
    "probabilities_are_calibrated": (
        lambda row: row["who"] == "isotherm",
        {
            "graph": lambda row: row["graph"].replace("_", " "),
            "seeds": lambda row: f"{row['seeds']:.0%}",
            "isotherm": lambda row: f"{row['error']:.3f}",
            "scikit-network": lambda row: f"{row['theirs']:.3f}",
        },
    ),
    "suggestions_save_labels": (
        lambda row: row["way"] == "suggest",
        {
            "graph": lambda row: row["graph"].replace("_", " "),
            "labels": lambda row: f"{row['labels'][0]:.0f} to {row['labels'][-1]:.0f}",
            "suggest": lambda row: f"**{row['saved']:.0%}**",
            "least margin": lambda row: f"{row['margin']:.0%}",
            "influence": lambda row: f"{row['influence']:.0%}",
            "expected flips": lambda row: f"{row['flips']:.0%}",
        },
    ),
    "expected_accuracy_holds": (
        bool,  # all
        {
            "graph": lambda row: row["graph"].replace("_", " "),
            "seeds": lambda row: f"{row['labels']} {row['seeds']}",
            "truth": lambda row: f"{row['truth']:.3f}",
            "expected": lambda row: f"{row['expected']:.3f}",
            "width": lambda row: f"{row['width']:.2f}",
            "has the truth": lambda row: f"**{row['covered']:.0%}**",
            "leave-one-out has it": lambda row: f"{row['leave_one_out']:.0%}",
        },
    ),
    "estimates_hold": (
        bool,  # all
        {
            "edges": lambda row: f"{row['edges'] / 1e6:g} M" + (", weighted" * row["weighted"]),
            "nodes told": lambda row: f"{row['nodes_told']:,}",
            "classes": lambda row: str(row["classes"]),
            "model": lambda row: f"{row['model']}, {row['engine']}",
            "memory told": lambda row: f"{row['memory_told'] / 2**20:.0f} MiB",
            "memory": lambda row: f"{row['memory'] / 2**20:.0f} MiB",
            "time told": lambda row: f"{row['seconds_told']:.1f} s",
            "time": lambda row: f"{row['seconds']:.1f} s",
        },
    ),
}


def theirs_beside(rows: list[Row]) -> list[Row]:
    """The error of scikit-network next to ours."""
    theirs = {(r["graph"], r["seeds"]): r["error"] for r in rows if r["who"] != "isotherm"}
    return [{**r, "theirs": theirs[r["graph"], r["seeds"]]} for r in rows]


def ways_beside(rows: list[Row]) -> list[Row]:
    """What the other ways save next to ours."""
    saved = {(r["graph"], r["way"]): r["saved"] for r in rows}
    ways = ("margin", "influence", "flips")
    return [{**r, **{way: saved[r["graph"], way] for way in ways}} for r in rows]


def worst_of_each_shape(rows: list[Row]) -> list[Row]:
    """For each shape the longest time and the largest growth, with the core and without it."""
    found: dict[str, Row] = {}
    for r in rows:
        none = {"shape": r["shape"], "solver": r["solver"], "native": (0, 0), "scipy": (0, 0)}
        worst = found.setdefault(r["shape"], none)
        seconds, growth = worst[r["engine"]]
        worst[r["engine"]] = max(seconds, r["large_s"]), max(growth, r["growth"])
    return list(found.values())


def models_beside(rows: list[Row]) -> list[Row]:
    """All models of a graph and a share of seeds in a row."""
    found: dict[tuple[str, float], Row] = {}
    for row in rows:
        cell = found.setdefault((row["graph"], row["seeds"]), {})
        cell |= {"graph": row["graph"], "seeds": row["seeds"], row["model"]: row}
    return list(found.values())


def best_of_others(row: Row) -> str:
    """The best classifier of another library, and which it is."""
    ours = ("graph", "seeds", "paper", "auto", "stacked")
    name = max((who for who in row if who not in ours), key=lambda who: row[who]["macro_f1"])
    return f"{row[name]['macro_f1']:.3f} {name}"


BESIDE: dict[str, Callable[[list[Row]], list[Row]]] = {
    "auto_is_never_quadratic": worst_of_each_shape,
    "probabilities_are_calibrated": theirs_beside,
    "stacking_pays": models_beside,
    "suggestions_save_labels": ways_beside,
}


def table(name: str) -> str:
    """The table of one benchmark, in Markdown."""
    path = ROOT / "results" / "benchmarks" / f"{name}.json"
    rows = BESIDE.get(name, list)(json.loads(path.read_text(encoding="utf-8"))["rows"])
    shown, columns = TABLES[name]
    lines = [list(columns), ["---"] * len(columns)]
    lines += [[cell(row) for cell in columns.values()] for row in rows if shown(row)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def filled(page: str) -> str:
    """The page with all its tables made anew."""
    return re.sub(
        r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)",
        lambda found: f"{found[1]}{table(found[2])}\n{found[3]}",
        page,
        flags=re.DOTALL,
    )


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")
