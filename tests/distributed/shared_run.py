"""A run of `isotherm.distributed.classify` as mpiexec starts it; for the tests beside it.

python shared_run.py '{"edges": …, "labels": …, "output": …, "pids": folder, "pause": seconds, …}'
"""

import json
import os
import sys
import time
from pathlib import Path

from isotherm.distributed import DistributedModel, Ranks, classify


def main():
    asked = json.loads(sys.argv[1])
    ranks = Ranks.world(timeout=asked.pop("timeout", 60.0))
    model = DistributedModel(**asked.pop("model", {}))
    pids, pause = asked.pop("pids", None), asked.pop("pause", 0.0)
    if pids is not None:
        Path(pids, str(ranks.rank)).write_text(str(os.getpid()))
    found = classify(ranks=ranks, model=model, progress=lambda *_: time.sleep(pause), **asked)
    if ranks.rank == 0:
        sys.stdout.write(json.dumps(vars(found)))


if __name__ == "__main__":
    main()
