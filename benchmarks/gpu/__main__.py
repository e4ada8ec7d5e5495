"""Measure the cuda engine: ``python -m benchmarks.gpu [NAME ...] [--quick] [--results FOLDER]``."""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

from benchmarks.measure import ROOT, save

NAMES = ["solves", "products", "beside_others", "changes"]


def main() -> int:
    """Run, print, save; 1 if an aim was missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}")
    parser.add_argument("--quick", action="store_true", help="small graphs: does it run at all?")
    parser.add_argument("--results", type=Path, default=ROOT / "results" / "gpu")
    options = parser.parse_args()
    missed = []
    for name in options.names or NAMES:
        module = importlib.import_module(f"benchmarks.gpu.{name}")
        print(f"\n=== {name}: {module.__doc__.splitlines()[0]}", flush=True)
        result = module.run(quick=options.quick)
        save(name, result, options.results)
        missed += [name] if not all(result.checks.values()) else []
    print("\nall aims are met" if not missed else f"\naims were missed in: {', '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
