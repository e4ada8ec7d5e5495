"""Run the benchmarks: ``python -m benchmarks [NAME ...] [--quick] [--results FOLDER]``."""

from __future__ import annotations

import sys

from benchmarks.command import run_all

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
    "ranks_beside_one_machine",
    "ranks_take_what_is_estimated",
    "key_to_colours",
    "fifty_labels_by_the_page",
]


if __name__ == "__main__":
    sys.exit(run_all("benchmarks", CLAIMS, __doc__, "benchmarks"))
