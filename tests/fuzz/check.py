"""All claims by name, and the check of a case."""

from __future__ import annotations

import traceback
import warnings
from collections import Counter
from typing import TYPE_CHECKING

from isotherm.errors import IsothermError

from .claims import Failure, label_sets, labels, real_values, temperatures, updates
from .invariance_claims import renumbering, threads
from .stacked_claims import stacked
from .trust_claims import explanations, leave_one_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .cases import Case

    Claim = Callable[[Case, Counter[str]], Iterator[Failure]]

CLAIMS: dict[str, Claim] = {
    claim.__name__: claim
    for claim in (
        temperatures,
        labels,
        label_sets,
        real_values,
        updates,
        leave_one_out,
        explanations,
        threads,
        renumbering,
        stacked,
    )
}


def check(case: Case, tally: Counter[str] | None = None) -> list[Failure]:
    """Everything that does not hold in a case; `tally` counts what was looked at."""
    tally = Counter() if tally is None else tally
    tally["cases"] += 1
    tally[f"cases of {case.claim}"] += 1
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return list(CLAIMS[case.claim](case, tally))
    except IsothermError as error:
        if case.refusal() is not None:
            tally["cases refused"] += 1
            return []
        kind = f"valid input refused with {type(error).__name__}"
        return [Failure(kind, str(error))]
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        return [Failure(f"{type(error).__name__} in {where.name}", str(error))]
