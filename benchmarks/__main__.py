"""Run the benchmarks: ``python -m benchmarks [NAME ...] [--quick] [--results FOLDER]``."""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

from benchmarks.measure import ROOT, save

CLAIMS = [
    "equilibrium_beats_ten_sweeps",
    "never_slower_than_ten_sweeps",
    "two_classes_cost_less",
    "beside_label_propagation",
    "same_answer_sooner",
    "networkx_gets_faster",
    "cost_grows_linearly",
    "product_near_the_limit",
    "factor_beats_plain_steps",
    "auto_is_never_quadratic",
    "a_fit_is_mostly_solving",
    "a_fit_costs_little_more_than_its_steps",
    "a_small_job_is_done_at_once",
    "a_refit_starts_warm",
    "an_update_costs_one_column",
    "memory_stays_within_six_arrays",
    "reading_is_fast",
    "edges_stay_on_disk",
    "estimates_hold",
    "leave_one_out_costs_columns",
    "suspects_are_found",
    "auto_is_safe",
    "probabilities_are_calibrated",
    "stacking_pays",
    "suggestions_save_labels",
    "a_single_class_ranks",
    "expected_accuracy_holds",
    "key_to_colours",
    "ranks_share_the_work",
]


def main() -> int:
    """Run, print, save; 1 if a claim failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(CLAIMS)}")
    parser.add_argument("--quick", action="store_true", help="small graphs: does it run at all?")
    parser.add_argument("--results", type=Path, default=ROOT / "results" / "benchmarks")
    options = parser.parse_args()
    unknown = set(options.names) - set(CLAIMS)
    if unknown:
        parser.error(f"no such benchmark: {', '.join(sorted(unknown))}")
    failed = []
    for name in options.names or CLAIMS:
        module = importlib.import_module(f"benchmarks.{name}")
        print(f"\n=== {name}: {module.__doc__.splitlines()[0]}", flush=True)
        result = module.run(quick=options.quick)
        if not options.quick:
            save(name, result, options.results)
        failed += [name] if not all(result.checks.values()) else []
    print("\nall claims hold" if not failed else f"\nclaims that failed: {', '.join(failed)}")
    return bool(failed) and not options.quick  # the claims are about the graphs in full size


if __name__ == "__main__":
    sys.exit(main())
