"""Wrong labels are found: of seeds with a flipped label most are among the first suspects.

One seed in twenty gets another label at random. The suspects are as many as were flipped, twice as
many, and so on; of the flipped ones the share among them is the recall, and of these the share that
was flipped the precision.
"""

from __future__ import annotations

import numpy as np

from benchmarks import graphs
from benchmarks.measure import Result
from isotherm import DirichletClassifier, Graph

NAMES = ["cora", "amazon_photo"]
SHARES = (0.05, 0.1, 0.2)
FLIPPED = 0.05
DRAWS = 20
LISTED = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0)  # suspects, for each flipped seed
LEAST = 0.7  # found among the first twice as many


def run(*, quick: bool) -> Result:
    """Measure the claim."""
    result = Result(__doc__.splitlines()[0])
    for name in NAMES:
        if name not in graphs.real_names():
            continue
        A, labels = graphs.real(name)
        graph = Graph.from_matrix(A)
        for share in SHARES[:1] if quick else SHARES:
            draws = range(2 if quick else DRAWS)
            found = [one_draw(graph, labels, share, draw) for draw in draws]
            recall = np.mean([hits / count for hits, count in found], axis=0)
            precision = np.mean(
                [hits / np.ceil(np.multiply(LISTED, count)) for hits, count in found], axis=0
            )
            result.add(
                graph=name,
                seeds=share,
                listed=list(LISTED),
                recall=recall.tolist(),
                precision=precision.tolist(),
            )
            twice = float(recall[LISTED.index(2.0)])
            result.check(f"{name}, {share:.0%} seeds: {twice:.0%} found", twice >= LEAST)
    return result


def one_draw(graph: Graph, labels: np.ndarray, share: float, draw: int) -> tuple[np.ndarray, int]:
    """How many flipped seeds are among the first suspects, for each number listed; and of all."""
    rng = np.random.default_rng([draw, round(1000 * share)])
    seeds = graphs.draw_seeds(labels, share, rng)
    known = np.full(len(labels), -1)
    known[seeds] = labels[seeds]
    count = max(1, round(FLIPPED * len(seeds)))
    flipped = rng.choice(seeds, count, replace=False)
    n_classes = int(labels.max()) + 1
    known[flipped] = (known[flipped] + rng.integers(1, n_classes, count)) % n_classes
    suspects = DirichletClassifier(tol=1e-5).fit(graph, known).suspects()
    hit = np.isin([one.node for one in suspects], flipped)
    firsts = np.ceil(np.multiply(LISTED, count)).astype(int)
    return np.array([hit[:first].sum() for first in firsts]), count
