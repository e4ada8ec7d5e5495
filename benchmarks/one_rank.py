"""One rank of several, as mpiexec starts it: it classifies, and the first prints what it took.

Like the command it does without pandas, which pyarrow would load; nothing else is loaded here that
a rank does not need, for its memory is measured.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import numpy as np

from isotherm.__main__ import Without

FIRST = 10  # steps that are looked at: all are of the first block of columns


def measured(edges: str, labels: str, out: str) -> None:
    """Classify, and print what it took."""
    from isotherm.distributed import Ranks, classify
    from isotherm.engines.mpi.session import SharedSession

    ranks = Ranks.world()
    seen: list[tuple[float, float]] = []
    solve = SharedSession.solve
    took: list[float] = []

    def timed(*arguments: Any, **options: Any) -> Any:
        began = time.process_time()
        solution = solve(*arguments, **options)
        took.append(time.process_time() - began)
        return solution

    SharedSession.solve = timed  # type: ignore[method-assign]
    found = classify(
        edges,
        labels,
        out,
        ranks=ranks,
        progress=lambda *_: seen.append((ranks.bytes_sent, time.process_time())),
    )
    sent, processor = np.median(np.diff(seen[: FIRST + 1], axis=0), axis=0).tolist()
    if ranks.rank == 0:
        more = {"sent_a_step": sent, "processor_a_step": processor, "processor": took[0]}
        print(json.dumps({**vars(found), **more}))


if __name__ == "__main__":
    sys.meta_path.insert(0, Without("pandas"))
    measured(*json.loads(sys.argv[1]))
