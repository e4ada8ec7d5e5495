"""A run of `isotherm.distributed.classify` as mpiexec starts it; for the tests beside it.

python shared_run.py '{"edges": …, "labels": …, "output": …, "model": {…}, …}'
"""

import json
import sys
import warnings

from isotherm.distributed import DistributedModel, Ranks, classify
from isotherm.errors import IsothermError


def main() -> int:
    asked = json.loads(sys.argv[1])
    model = DistributedModel(**asked.pop("model", {}))
    alone = asked.pop("alone", False)
    ranks = Ranks() if alone else Ranks.world(timeout=asked.pop("timeout", 60.0))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = classify(model=model, ranks=ranks, **asked)
        except IsothermError as error:
            if ranks.rank == 0:
                print(json.dumps({"error": type(error).__name__, "message": str(error)}))
            return 0
    if ranks.rank == 0:
        told = [str(one.message) for one in caught]
        print(json.dumps({"outcome": vars(found), "warnings": told}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
