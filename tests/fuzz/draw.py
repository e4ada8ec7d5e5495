"""A case from an integer.

Every 8th number is of a graph of 9 to 20 nodes, every 8th of one of 21 to 150, every 64th of one
of up to 5 000; all others are of at most 8 nodes. Stacks need more seeds than that: they have 3 to
20 free nodes beside 11 to 40 seeds, and every 64th number 300 to 600 nodes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from isotherm import ConjugateGradient, Direct, NativeEngine, Sweeps
from isotherm.compiled import core
from isotherm.decision import DECISIONS

from .cases import Case
from .graphs import few_edges, many_edges, weights

CLAIMS = {
    "temperatures": 37,
    "labels": 22,
    "updates": 8,
    "label_sets": 6,
    "real_values": 5,
    "leave_one_out": 5,
    "explanations": 7,
    "threads": 5,
    "renumbering": 5,
    "stacked": 5,
}
CLASSES = [*range(1, 21), *[2] * 8, *[3] * 4, *[4] * 2, *[8] * 4, *[16] * 4]  # lanes fill at 2ⁿ
CONFIDENCES = [0.5, 0.9, 0.1, 0.99, 1e-3, 1e-12, 1 - 1e-12, 2.0**-1000, 1e-300]
SOFT = [(0.5, 0.5), (0.5, 0.25, 0.25), (0.5, 0.375, 0.125)]  # kept to the bit when normalised


def size_of(seed: int) -> str:
    """Whether the case of a number is small (exact) or medium."""
    return "medium" if seed % 64 == 0 or seed % 8 == 1 else "small"


def draw(seed: int) -> Case:
    """The case of a number, always the same one."""
    rng = np.random.default_rng(seed)
    claim = str(rng.choice(list(CLAIMS), p=np.array(list(CLAIMS.values())) / sum(CLAIMS.values())))
    if claim == "stacked" and seed % 64 not in range(3, 9):
        return draw_stacked(rng, many=seed % 64 == 0)
    if seed % 64 == 0:
        n = round(150 * (5000 / 150) ** rng.random())
    elif seed % 8 == 1:
        n = int(rng.integers(21, 151))
    else:
        n = int(rng.integers(9, 21) if seed % 8 == 2 else rng.integers(1, 9))
    if claim == "leave_one_out":
        n = min(n, 300)
    edges, mild = _edges(rng, n)
    options = _options(rng, claim, n, mild=mild)
    seeds = np.sort(rng.choice(n, _n_seeds(rng, n), replace=False))
    n_classes = int(rng.choice(CLASSES))
    if claim in ("temperatures", "real_values", "threads"):
        if claim == "real_values":
            n_classes = 1
        values = _values(rng, len(seeds), n_classes)
        options["tol"] *= _unit(rng, values)
    elif claim == "label_sets":
        values = (rng.random((len(seeds), min(n_classes, 5))) < 0.5).astype(float)
        values[0] = 1.0  # each label is somebody's
    else:
        values = _distributions(rng, len(seeds), n_classes)
        options |= _confidence(rng, len(seeds), likely=0.25)
    options |= _start(rng, claim, n, values)
    return Case(
        claim,
        n,
        edges,
        tuple(seeds.tolist()),
        rows(values),
        node=int(rng.integers(0, n)),
        order=tuple(rng.permutation(n).tolist()) if claim == "renumbering" else None,
        **options,
    )


def draw_stacked(rng: np.random.Generator, *, many: bool = False) -> Case:
    """Classes of which some are rare, apart or mixed on purpose; solves are often cut short."""
    n_free = int(rng.integers(100, 301) if many else rng.integers(3, 21))
    n_seeds = int(rng.integers(200, 301) if many else rng.integers(11, 41))
    n, K = n_free + n_seeds, int(rng.choice([2, 2, 3, 5]))
    shares = rng.random(K) ** 3 + 0.02
    truth = rng.choice(K, n, p=shares / shares.sum())
    ends = rng.integers(0, n, (8 * n, 2))
    alike = (truth[ends[:, 0]] == truth[ends[:, 1]]) == (rng.random() < 0.4)
    kept = ends[alike | (rng.random(len(ends)) < 0.05)][: int(n * rng.choice([0.2, 0.5, 1.5, 3]))]
    if rng.random() < 0.7:  # a ring with chords
        kept = np.concatenate([np.column_stack([np.arange(n), np.roll(np.arange(n), -1)]), kept])
    seeds = np.sort(rng.choice(n, n_seeds, replace=False))
    Y = np.eye(K)[truth[seeds]]
    steps = int(rng.integers(1, 12))
    some_steps = [Sweeps(steps), Sweeps(3 * steps), ConjugateGradient(max_iter=steps)]
    solvers = ["auto", "direct", *some_steps]
    given = weights(rng, len(kept), mild=True).tolist()
    return Case(
        "stacked",
        n,
        tuple((i, j, w) for (i, j), w in zip(kept.tolist(), given, strict=True)),
        tuple(seeds.tolist()),
        rows(Y[:, Y.any(axis=0)]),
        tol=float(rng.choice([0.3, 0.1, 1e-2, 1e-6, 1e-6, 1e-10])),
        solver=solvers[int(rng.integers(0, len(solvers)))],
        engine=_engine(rng),
        unreached="zero" if rng.random() < 0.3 else "abstain",
        **_confidence(rng, n_seeds, likely=0.15),
    )


def rows(values: np.ndarray) -> tuple[tuple[float, ...], ...]:
    """An array as rows of floats."""
    return tuple(map(tuple, values.tolist()))


def _edges(rng: np.random.Generator, n: int) -> tuple[Any, bool]:
    """Edges with weights, and whether these are mild."""
    mild = n > 20 or bool(rng.random() < (0.4 if n <= 8 else 0.8))
    ends = many_edges(rng, n).tolist() if n > 20 else few_edges(rng, n)
    given = weights(rng, len(ends), mild=mild).tolist()
    return tuple((i, j, w) for (i, j), w in zip(ends, given, strict=True)), mild


def _n_seeds(rng: np.random.Generator, n: int) -> int:
    if n <= 20:
        return int(rng.integers(1, n + 1))
    return (
        int(rng.integers(1, max(3, n // 3) + 1)) if rng.random() < 0.7 else int(rng.integers(1, 4))
    )


def _options(rng: np.random.Generator, claim: str, n: int, *, mild: bool) -> dict[str, Any]:
    leak = 0.0
    if rng.random() < 0.4:
        extreme = [1e-300, 1e-12, 1e6, 1e100]
        leak = float(rng.choice([0.03, 0.1, 1.0, 10 ** rng.uniform(-6, 2)]))
        leak = float(rng.choice(extreme)) if n <= 20 and rng.random() < 0.1 else leak
    tol = 1e-6 if rng.random() < 0.4 else float(10 ** -rng.uniform(1, 12))
    if claim in ("leave_one_out", "explanations"):
        tol = max(tol, 1e-9)
    options = {
        "leak": leak,
        "tol": tol,
        "solver": _solver(rng, n, mild=mild),
        "engine": _engine(rng),
        "weighted": bool(rng.random() < 0.9),
        "decision": str(rng.choice(list(DECISIONS))),
        "unreached": "zero" if rng.random() < 0.3 else "abstain",
    }
    if options["engine"] == "scipy" and isinstance(options["solver"], ConjugateGradient):
        options["solver"] = replace(options["solver"], preconditioner="diagonal")
    if claim in ("temperatures", "threads", "real_values"):
        del options["decision"]
    if claim in ("temperatures", "threads", "explanations"):
        del options["unreached"]
    return options


def _solver(rng: np.random.Generator, n: int, *, mild: bool) -> Any:
    kind, steps = int(rng.integers(0, 12)), int(rng.integers(1, 6))
    conditioner = str(rng.choice(["diagonal", "factor", "auto"]))
    some_sweeps = Sweeps(max_iter=300) if n <= 150 else Sweeps(5 * steps)
    # By its name it takes up to 10 000 steps where weights are too far apart to prove anything.
    gradients = "cg" if mild or steps == 1 else ConjugateGradient(max_iter=100)
    return [
        "auto",
        "auto",
        "direct",
        gradients,
        gradients,
        gradients,
        "elimination" if n <= 150 else "auto",
        "sweeps" if n <= 8 and mild and steps == 1 else some_sweeps,
        ConjugateGradient(max_iter=steps, preconditioner=conditioner),
        ConjugateGradient(max_iter=100 if n <= 20 else 10_000, preconditioner=conditioner),
        Sweeps(steps),
        Direct(max_iter=1),
    ][kind]


def _engine(rng: np.random.Generator) -> Any:
    kind, which, threads = (int(rng.integers(0, most)) for most in (6, 3, 2))
    if core is None or kind == 0:
        return "scipy"
    if kind < 3:
        return "native"
    if kind == 3:
        return "auto"
    sets = core.instruction_sets()
    return NativeEngine(threads=threads + 1, _simd=sets[which % len(sets)])


def _values(rng: np.random.Generator, n_seeds: int, n_columns: int) -> np.ndarray:
    """Temperatures to hold."""
    shape = (n_seeds, n_columns)
    kind = rng.integers(0, 10)
    if kind < 4:
        return np.eye(n_columns)[rng.integers(0, n_columns, n_seeds)]
    if kind == 4:
        return rng.integers(-2, 3, shape).astype(float)
    values = rng.normal(size=shape)
    if kind == 5:
        values *= 10 ** rng.uniform(-320, 0)
    elif kind == 6:
        values *= 10 ** rng.uniform(0, 299)
    elif kind == 7:
        values = np.sign(values) * 10 ** rng.uniform(-300, 299, shape)
    elif kind == 8:
        values[:, rng.random(n_columns) < 0.5] = float(rng.choice([0.0, 1.0, 0.3, -1e-5]))
    return np.clip(values, -1e300, 1e300)


def _unit(rng: np.random.Generator, values: np.ndarray) -> float:
    """What tolerances are measured by."""
    greatest = float(np.abs(values).max())
    return greatest if greatest > 1e-290 and rng.random() < 0.8 else 1.0


def _distributions(rng: np.random.Generator, n_seeds: int, n_classes: int) -> np.ndarray:
    """One class per seed, or shares of several; every class is somebody's."""
    Y = np.eye(n_classes)[rng.integers(0, n_classes, n_seeds)]
    if rng.random() < 0.2:
        for row in Y:
            shares = SOFT[int(rng.integers(0, len(SOFT)))]
            if len(shares) <= n_classes and rng.random() < 0.5:
                row[:] = 0
                row[rng.choice(n_classes, len(shares), replace=False)] = shares
    return Y[:, Y.any(axis=0)]


def _confidence(rng: np.random.Generator, n_seeds: int, *, likely: float) -> dict[str, Any]:
    if rng.random() > likely:
        return {}
    c = np.where(rng.random(n_seeds) < 0.5, 1 - rng.random(n_seeds), 1.0)
    rare = rng.random(n_seeds) < 0.3
    c[rare] = rng.choice(CONFIDENCES, int(rare.sum()))
    return {"confidence": tuple(c.tolist())}


def _start(rng: np.random.Generator, claim: str, n: int, values: np.ndarray) -> dict[str, Any]:
    kind = rng.integers(0, 10)
    if claim in ("labels", "renumbering") and kind < 3:
        return {"before": rows(rng.permutation(values))}
    if claim not in ("temperatures", "threads") or kind >= 3 or n > 1000:
        return {}
    if kind == 0:
        return {"before": rows(rng.permutation(values))}
    shape = (n, values.shape[1])
    start = rng.normal(size=shape)
    if kind == 1:
        start = 10 ** rng.uniform(-320, 308, shape) * np.sign(start)
        odd = rng.random(shape) < 0.1
        start[odd] = rng.choice([np.nan, np.inf, -np.inf, 0.0], int(odd.sum()))
    return {"start": rows(start)}
