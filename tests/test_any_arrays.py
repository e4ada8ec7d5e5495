"""Whatever is in a graph's arrays, the core ends in order: with an answer or a GraphError."""

import numpy as np
import pytest
from scipy import sparse

from isotherm import AsymmetryWarning, Graph, GraphError

core = pytest.importorskip("isotherm._core", reason="isotherm was built without its core")
pytestmark = pytest.mark.hostile

MASK = 2**64 - 1


def entries(rng, n, kind):
    """Rows as no graph has them: one-sided, changed, shuffled, leading outside, overlapping."""
    m = n * int(rng.choice([1, 2, 3, 6]))
    i, j = rng.integers(0, n, m), rng.integers(0, max(1, n // 10) if kind == "hubs" else n, m)
    if kind == "changed":
        i, j = np.r_[i, j], np.r_[j, i]
    order = np.lexsort((j, i))
    start = np.r_[0, np.bincount(i, minlength=n).cumsum()].astype(np.int64)
    ends = j[order].astype(np.int32)
    some = rng.integers(0, len(ends), 3)
    if kind == "changed":
        ends[some] = rng.integers(0, n, 3)
    if kind == "shuffled":
        rng.shuffle(ends)
    if kind == "outside":
        ends[some] = rng.choice([-1, n, 2**31 - 1, -(2**31)], 3)
    if kind == "overlapping":
        start[rng.integers(1, n)] = rng.choice([-1, 10**12, len(ends) + 1])
    return start, ends


def solve(start, ends, rng, K=3):
    """All that a fit does with a graph, in the core alone."""
    n = len(start) - 1
    weights = None if rng.random() < 0.5 else rng.choice([1.0, 1e-300, 1e300, np.nan], len(ends))
    held = rng.random(n) < rng.choice([0.05, 0.5])
    core.reach(start, ends, held.astype(np.uint8), 2)
    core.components(start, ends, np.empty(n, dtype=np.int32), 2)
    free, h, X = (~held).view(np.uint8), np.zeros(n), np.zeros((n, K), dtype=np.float32)
    X[held] = rng.random((np.count_nonzero(held), K))
    degrees = np.diff(start).astype(float)
    leak, simd = float(rng.choice([0.0, 0.1])), str(rng.choice(core.instruction_sets()))
    root, peeling, reducing = (rng.random(3) < [0.5, 0.8, 0.8]).tolist()
    problem = core.Problem(
        start, ends, weights, free, degrees, None, leak, root, peeling, 2, simd, reducing
    )
    steering = core.Steering(
        problem,
        core.ExitTimes(h),
        first=0,
        columns=K,
        with_exits=True,
        hidden=False,
        sources=None,
        low=np.zeros(K),
        high=np.ones(K),
        max_steps=30,
        preconditioner=str(rng.choice(["auto", "diagonal", "factor"])),
    )
    steering.run(X, cold=True, tol=1e-6, look_at=0.0, seconds=1.0, proven=True)
    steering.settle(X, clip=True)
    core.prove(start, ends, weights, free, leak, X, h, None, None, 2, simd, packed=True)


@pytest.mark.parametrize(
    "kind", ["one-sided", "hubs", "changed", "shuffled", "outside", "overlapping"]
)
def test_no_arrays_whatsoever_take_the_core_out_of_its_memory(kind, rng):
    """Under the address sanitizer any step outside ends the process; without it, many do."""
    refused = 0
    for n in [2, 5, 30, 300] * 20 + [3000] * 4:
        start, ends = entries(rng, n, kind)
        try:
            solve(start, ends, rng)
        except GraphError:
            refused += 1
    assert refused == 84 if kind in {"outside", "overlapping"} else refused > 0


def test_what_the_core_refuses_is_a_graph_error():
    start, ends = np.array([0, 1, 2]), np.array([1, 0], dtype=np.int32)
    for bad_start, bad_ends, weights in [
        (start, ends[:1], None),
        (start, ends, np.ones(3)),
        (np.array([1, 1, 2]), ends, None),
        (np.array([0, 3, 2]), ends, None),
    ]:
        with pytest.raises(GraphError):
            core.inspect(bad_start, bad_ends, weights, 1)
    for ask in [
        lambda: core.reach(start, ends + 1, np.array([0, 1], dtype=np.uint8), 1),
        lambda: core.components(start, ends + 1, np.empty(2, dtype=np.int32), 1),
    ]:
        with pytest.raises(GraphError, match="leads to a node outside of it"):
            ask()


def test_a_matrix_whose_halves_agree_by_the_hash_in_the_source_is_not_taken_for_symmetric():
    """Its weights are solved for so that unkeyed marks of its two entries would add up to 0."""
    key, steps = 0x9E3779B97F4A7C15, ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1))

    def mixed(z):
        for shift, factor in steps:
            z = (z ^ (z >> shift)) * factor & MASK
        return z

    def unmixed(z):
        for shift, factor in reversed(steps):
            z = z * pow(factor, -1, 2**64) & MASK
            z ^= z >> shift ^ z >> 2 * shift
        return z

    def mark(i, j):
        return mixed((i << 32 | j) + key & MASK)

    for tried in range(1, 1000):
        weight = 1 + tried * 2.0**-40
        bits = int(np.float64(weight).view(np.uint64))
        wanted = -mixed(mark(0, 5) + bits & MASK) & MASK
        other = np.uint64(unmixed(wanted) - mark(1, 5) & MASK).view(np.float64)
        if 1e-100 < other < 1e100:
            break
    A = sparse.csr_array(([weight, other], ([0, 1], [5, 5])), shape=(6, 6))
    with pytest.warns(AsymmetryWarning, match="2 pairs"):
        graph = Graph.from_matrix(A)
    assert graph.rows.n_entries == 4, "one direction was taken for both"


def test_results_are_never_written_to_a_copy():
    """Of another type an array would be converted, and the caller's own stay as it was."""
    start, ends = np.array([0, 1, 2]), np.array([1, 0], dtype=np.int32)
    X, h = np.zeros((2, 1)), np.zeros(2)
    free, wrong = np.array([1, 0], dtype=np.uint8), np.zeros(2, dtype=np.float32)
    evidence = core.prove(start, ends, None, free, 0.0, X, h, None, None, 1, "plain", packed=True)
    certify = {
        "leak": 0.0,
        "boundary": np.array([1]),
        "values": np.zeros((1, 1)),
        "low": np.zeros(1),
        "high": np.zeros(1),
        "unreached": np.zeros(2, dtype=np.uint8),
        "n_free": 1,
        "nodes": h,
        "columns": np.zeros(1),
        "spans": np.zeros(1),
    }
    core.certify(evidence, X, h, **certify)
    for name in ("nodes", "columns", "spans"):
        with pytest.raises(TypeError):
            core.certify(evidence, X, h, **{**certify, name: wrong[: len(certify[name])]})
    for ask in [
        lambda: core.ExitTimes(wrong),
        lambda: core.reach(start, ends, wrong, 1),
        lambda: core.components(start, ends, np.zeros(2, dtype=np.int64), 1),
        lambda: core.row_sums(start, ends, None, wrong, 1),
        lambda: core.drains(start, ends, None, free, 0.0, h, None, wrong, 1, "plain"),
        lambda: core.Verdict(codes=wrong, margins=h, certified=free, status=free),
        lambda: core.fill_lookup(None, np.zeros(8, dtype=np.uint8), 1, np.zeros(4)),
    ]:
        with pytest.raises(TypeError):
            ask()


def test_what_a_problem_points_to_is_never_a_copy_that_is_gone():
    start, ends = np.array([0, 1, 2]), np.array([1, 0], dtype=np.int32)
    with pytest.raises(GraphError, match="float64"):
        core.inspect(start, ends, np.ones(2, dtype=np.float32), 1)


def test_a_block_of_some_columns_leaves_the_others_alone():
    """Not even a zero is added: another thread may be writing to them, and ∞ · 0 is no number."""
    rng = np.random.default_rng(3)
    n, K = 300, 8
    graph = Graph.from_edges(*rng.integers(0, n, (2, 900)), nodes=range(n))
    rows, free = graph.rows, (np.arange(n) > 20).astype(np.uint8)
    core.reach(rows.start, rows.ends, reached := 1 - free, 1)
    problem = core.Problem(
        rows.start,
        rows.ends,
        None,
        free & reached,
        graph.degrees,
        None,
        0.0,
        False,
        False,
        1,
        "plain",
        False,
    )
    steering = core.Steering(
        problem,
        core.ExitTimes(np.zeros(n)),
        first=0,
        columns=K - 1,
        with_exits=True,
        hidden=False,
        sources=None,
        low=np.zeros(K),
        high=np.ones(K),
        max_steps=50,
        preconditioner="diagonal",
    )
    X = np.zeros((n, K))
    X[:21] = rng.random((21, K))
    X[:, K - 1] = -0.0  # which 0 is added to is another 0
    steering.run(X, cold=True, tol=1e-6, look_at=0.0, seconds=10.0, proven=True)
    assert X[30:, : K - 1].any()
    assert np.signbit(X[:, K - 1]).all()
