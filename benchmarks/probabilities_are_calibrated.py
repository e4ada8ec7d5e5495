"""Probabilities mean something: of labels said to be right with 80 %, about 80 % are.

The expected calibration error on the free nodes that heat reaches, the mean of several draws of the
seeds, beside that of scikit-network's DiffusionClassifier, whose probabilities are a softmax of
five times the temperatures.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
from sknetwork.classification import DiffusionClassifier

from benchmarks import graphs
from benchmarks.measure import Result
from isotherm import DirichletClassifier, Graph, IsothermWarning
from isotherm.trust.calibrate import BINS, calibration_error, reliability

if TYPE_CHECKING:
    from scipy import sparse

SHARES = (0.01, 0.05, 0.1, 0.2)
CLAIMED = SHARES[1:]
DRAWS = 10
MOST = 0.08  # error, on average over the graphs
BIG = 30_000  # nodes of a graph that is drawn less often

Said = dict[str, tuple[np.ndarray, np.ndarray]]


def run(*, quick: bool) -> Result:
    """Measure the claim."""
    result = Result(__doc__.splitlines()[0])
    for name in graphs.real_names():
        A, labels = graphs.real(name)
        if quick and len(labels) > 3000:
            continue
        draws = 1 if quick else DRAWS if len(labels) < BIG else 3
        for share in SHARES:
            found = [one_draw(A, labels, share, draw) for draw in range(draws)]
            for who in found[0]:
                errors = [calibration_error(*said[who]) for said in found]
                said, right = (np.concatenate([s[who][k] for s in found]) for k in (0, 1))
                bins = [list(each) for each in reliability(said, right, BINS)]
                result.add(
                    graph=name, seeds=share, who=who, error=float(np.mean(errors)), bins=bins
                )
    for who in ("isotherm", "scikit-network"):
        rows = [row for row in result.rows if row["who"] == who and row["seeds"] in CLAIMED]
        error = float(np.mean([row["error"] for row in rows])) if rows else 0.0
        if who == "isotherm":
            result.check(f"5 to 20 % seeds: {error:.3f} on average ≤ {MOST}", error <= MOST)
            ours = error
        else:
            result.check(f"scikit-network: {error:.3f}", error >= ours)
    return result


def one_draw(A: sparse.csr_matrix, labels: np.ndarray, share: float, draw: int) -> Said:
    """What each says of its labels, and whether they are right."""
    rng = np.random.default_rng([draw, round(1000 * share)])
    seeds = graphs.draw_seeds(labels, share * np.mean(labels >= 0), rng)
    known = np.full(len(labels), -1)
    known[seeds] = labels[seeds]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IsothermWarning)
        ours = DirichletClassifier(tol=1e-4).fit(Graph.from_matrix(A), known)
    some = (labels >= 0) & (ours.status_ == "predicted")
    theirs = DiffusionClassifier()
    theirs.fit(A, known)
    # Theirs are numbered by the label itself.
    probability = np.asarray(theirs.predict_proba())[some].max(axis=1)
    return {
        "isotherm": (ours.certainty(slice(None))[some], (ours.labels_ == labels)[some]),
        "scikit-network": (probability, (theirs.predict() == labels)[some]),
    }
