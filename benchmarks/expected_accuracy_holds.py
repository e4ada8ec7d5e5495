"""The accuracy expected of free nodes holds: its interval has the truth, whoever chose the seeds.

Seeds are drawn at random, or start with one of each class and are those that `suggest` names, ten
at a time. Beside the interval of `DirichletClassifier.expected_accuracy` that of leave-one-out,
which is about the seeds.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from benchmarks import graphs
from benchmarks.measure import Result
from isotherm import BlockModel, DirichletClassifier, Graph, IsothermWarning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Sample = Callable[[np.random.Generator], tuple[Graph, np.ndarray]]

RUNS, QUICK_RUNS = 200, 5
COVERED = 0.9  # of the runs, at the least
BATCH = 10
TOL = 1e-4
BLOCKS = {
    "clear blocks": BlockModel([300, 200, 100], p=0.06, q=0.006),
    "blurred blocks": BlockModel([400, 400], p=0.03, q=0.012),
}
FOUR = ("cora", "citeseer", "polblogs", "email")
SIZES = {"email": (80, 160)}  # it has 42 classes
USUAL_SIZES = (40, 100)


def run(*, quick: bool) -> Result:
    """Measure the claim."""
    result = Result(__doc__.splitlines()[0])
    for name, sample in samples(quick=quick):
        sizes = SIZES.get(name, USUAL_SIZES)
        for way in WAYS:
            runs = range(QUICK_RUNS if quick else RUNS)
            found = np.array([one_run(sample, sizes, way, number) for number in runs])
            for size, (truth, value, low, high, theirs_low, theirs_high) in zip(
                sizes, found.transpose(1, 2, 0), strict=True
            ):
                result.add(
                    graph=name,
                    seeds=way,
                    labels=size,
                    truth=float(truth.mean()),
                    expected=float(value.mean()),
                    width=float((high - low).mean()),
                    covered=float(np.mean((low <= truth) & (truth <= high))),
                    leave_one_out=float(np.mean((theirs_low <= truth) & (truth <= theirs_high))),
                )
    for way in WAYS:
        least = min(row["covered"] for row in result.rows if row["seeds"] == way)
        result.check(f"{way} seeds: the truth is covered in {least:.0%} or more", least >= COVERED)
    return result


def samples(*, quick: bool) -> Iterator[tuple[str, Sample]]:
    """Graphs with labels by name: block models are drawn anew for every run."""
    for name, model in BLOCKS.items():
        yield name, model.sample
    for name in () if quick else FOUR:
        if name in graphs.real_names():
            A, labels = graphs.real(name)
            one = Graph.from_matrix(A), labels
            yield name, lambda _, one=one: one


def one_run(
    sample: Sample, sizes: tuple[int, ...], way: str, number: int
) -> list[tuple[float, ...]]:
    """For each number of labels: the truth, what is expected, and the two intervals."""
    rng = np.random.default_rng([number, 2026])
    graph, labels = sample(rng)
    known, found = np.full(len(labels), -1), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IsothermWarning)  # few labels are the point here
        for size in sizes:
            WAYS[way](graph, labels, known, size, rng)
            model = DirichletClassifier(tol=TOL).fit(graph, known)
            free = np.isin(model.status_, ["predicted", "tie"])
            truth = float(np.mean(model.labels_[free] == labels[free]))
            beside = model.leave_one_out().accuracy
            found.append((truth, *model.expected_accuracy(), beside.low, beside.high))
    return found


def at_random(
    _: Graph, labels: np.ndarray, known: np.ndarray, size: int, rng: np.random.Generator
) -> None:
    """Free nodes, all alike."""
    more = rng.choice(np.flatnonzero(known < 0), size - np.count_nonzero(known >= 0), replace=False)
    known[more] = labels[more]


def suggested(
    graph: Graph, labels: np.ndarray, known: np.ndarray, size: int, rng: np.random.Generator
) -> None:
    """What the classifier suggests, from one of each class on."""
    if (known < 0).all():
        first = [rng.choice(np.flatnonzero(labels == k)) for k in range(labels.max() + 1)]
        known[first] = labels[first]
    state = int(rng.integers(1 << 30))
    while (missing := size - np.count_nonzero(known >= 0)) > 0:
        model = DirichletClassifier(tol=TOL).fit(graph, known)
        nodes = [one.node for one in model.suggest(min(BATCH, missing), random_state=state)]
        known[nodes] = labels[nodes]


WAYS = {"random": at_random, "suggested": suggested}
