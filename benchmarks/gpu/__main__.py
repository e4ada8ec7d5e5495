"""Measure the cuda engine: ``python -m benchmarks.gpu [NAME ...] [--quick] [--results FOLDER]``."""

from __future__ import annotations

import sys

from benchmarks.command import run_all

NAMES = ["solves", "products", "beside_others", "changes"]

if __name__ == "__main__":
    sys.exit(run_all("benchmarks.gpu", NAMES, __doc__, "gpu"))
