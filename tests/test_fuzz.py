"""The fuzzer finds nothing on a few hundred fixed cases, and finds what is planted."""

import multiprocessing
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import fuzz.cases
from fuzz import workers
from fuzz.__main__ import main
from fuzz.cases import Case
from fuzz.check import CLAIMS, check
from fuzz.claims import Failure
from fuzz.draw import draw, draw_stacked
from fuzz.exact import exact_shares
from fuzz.reduce import reduced
from fuzz.refined import refined
from fuzz.script import script
from fuzz.winners import winners
from isotherm import NativeEngine, Sweeps
from isotherm.compiled import core
from isotherm.decision import DECISIONS
from oracle import exact_temperatures, random_graph

pytestmark = pytest.mark.any_version

# 0 – 1 – 2 with a loop at 1: held at both ends, node 1 is at 1/2.
PATH = Case("temperatures", 3, ((0, 1, 1.0), (1, 2, 1.0), (1, 1, 1.0)), (0, 2), ((1.0,), (0.0,)))
# 0 – 1 – 2 – 3: nodes 1 and 2 are at 2/3 and 1/3.
TWO = ((1.0, 0.0), (0.0, 1.0))
LABELS = Case("labels", 4, ((0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0)), (0, 3), TWO)
TIE = replace(PATH, claim="labels", values=TWO)


@pytest.mark.parametrize("first", range(0, 400, 50))
def test_nothing_fails_in_fixed_cases(first):
    failed = {seed: check(draw(seed)) for seed in range(first, first + 50)}
    assert not {seed: list(map(str, found)) for seed, found in failed.items() if found}


# Where 0 · ∞ counts as 0, these have logits outside of their bounds.
@pytest.mark.parametrize("seed", [22, 78, 99, 111, 138, 206])
def test_rough_flows_prove_nothing_false_of_a_stack(seed):
    case, tally = draw_stacked(np.random.default_rng(seed)), Counter()
    case = replace(case, engine="scipy")  # on every machine the same
    assert list(map(str, check(case, tally))) == []
    assert tally["stacks with both"] == 1


def test_a_number_is_always_the_same_case():
    for seed in (0, 1, 2, 3, 64, 12345):
        assert draw(seed) == draw(seed) or "nan" in repr(draw(seed))


def test_cases_are_of_every_kind():
    some = [draw(seed) for seed in range(1500)]
    assert {case.claim for case in some} == set(CLAIMS)
    assert {case.decision for case in some} == set(DECISIONS)
    assert {case.n_nodes for case in some} >= set(range(1, 21))
    assert {case.n_classes for case in some} >= {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 20}
    assert {len(case.seeds) == case.n_nodes for case in some} == {True, False}
    sizes = [weight for case in some for _, _, weight in case.edges]
    assert min(sizes) < 1e-310
    assert max(sizes) > 1e290
    for name in ("confidence", "before", "start", "order"):
        assert {getattr(case, name) is None for case in some} == {True, False}
    names = {str(case.solver) for case in some}
    assert names >= {"auto", "direct", "cg", "sweeps", "elimination"}


# --- the references -----------------------------------------------------------------------------


@pytest.mark.parametrize("leak", [0.0, 0.1])
def test_elimination_without_fractions_agrees_with_fractions(rng, leak):
    graph = random_graph(rng, 9, degree=8)
    values = rng.normal(size=(3, 2))
    expected = exact_temperatures(graph, [0, 4, 5], values, leak)
    found = exact_shares(graph, [0, 4, 5], leak=leak).temperatures(values.tolist())
    for row, exact in zip(found.numerators, expected, strict=True):
        assert [type(x)(a, found.denominator) for a, x in zip(row, exact, strict=True)] == exact


def test_the_refined_reference_is_within_its_own_slack(rng):
    for leak, confidence in ((0.0, None), (0.3, None), (0.0, [1.0, 0.4, 1e-3])):
        graph = random_graph(rng, 15, degree=3, spread=3)
        values = rng.normal(size=(3, 2))
        how = {"leak": leak, "confidence": confidence}
        found = refined(graph, [0, 1, 2], values, **how)
        exact = exact_shares(graph, [0, 1, 2], **how).temperatures(values.tolist())
        assert np.array_equal(found.reached, exact.reached)
        assert not list(exact.outside(found.nearest(), found.slack + 1e-15 * np.abs(found.T)))
        assert np.nanmax(found.slack) < 1e-12


def test_a_confidence_is_the_weight_of_what_is_known():
    # T = c y + (1 − c) · mean of the neighbours, here one, held at 0.
    graph = replace(PATH, n_nodes=2, edges=((0, 1, 0.3),)).graph()
    found = exact_shares(graph, [0, 1], confidence=[1.0, 0.25]).temperatures([[0.0], [1.0]])
    assert found.nearest()[1, 0] == 0.25


@pytest.mark.parametrize("decision", DECISIONS)
def test_winners_in_fractions_are_winners_in_floats(rng, decision):
    for _ in range(20):
        graph = random_graph(rng, 12, degree=3)
        values = np.eye(3)[[0, 1, 2, 0]]
        exact = exact_shares(graph, range(4)).temperatures(values.tolist())
        rough = refined(graph, range(4), values)
        for a, b in zip(
            winners(exact, values, range(4), decision),
            winners(rough, values, range(4), decision),
            strict=True,
        ):
            assert (a is None) == (b is None)
            assert a is None or a.classes <= b.classes
            assert a is None or len(b.classes) == 1 or len(a.classes) > 1


# --- planted faults -----------------------------------------------------------------------------


class Planted:
    """A fitted model of which some attributes are others."""

    def __init__(self, model, **others):
        self.__dict__.update(others, model=model)

    def __getattr__(self, name):
        return getattr(self.model, name)


def plant_in_solutions(monkeypatch, change, when=lambda *_, **__: True):
    solve = fuzz.cases.solve_dirichlet

    def faulty(graph, *arguments, **options):
        solution = solve(graph, *arguments, **options)
        return change(solution) if when(graph, **options) else solution

    monkeypatch.setattr(fuzz.cases, "solve_dirichlet", faulty)


def plant_in_models(monkeypatch, change):
    fit = Case.classifier
    monkeypatch.setattr(
        Case, "classifier", lambda self, graph: Planted(m := fit(self, graph), **change(m))
    )


def moved(solution, by):
    T = solution.temperatures.copy()
    T[1] += by
    return replace(solution, temperatures=T)


def kinds(case):
    return [failure.kind for failure in check(case)]


def test_the_cases_by_hand_hold():
    for case in (PATH, LABELS, TIE):
        for claim in CLAIMS:
            asked = replace(case, claim=claim, order=tuple(range(case.n_nodes)), node=1)
            of_labels = claim not in ("temperatures", "real_values", "threads")
            if (case.n_classes == 2) == of_labels:
                assert kinds(asked) == []


def test_a_wrong_temperature_is_found(monkeypatch):
    plant_in_solutions(monkeypatch, lambda solution: moved(solution, 1e-6))
    assert "outside its bound" in kinds(PATH)[0]


def test_a_temperature_that_is_no_number_is_found(monkeypatch):
    plant_in_solutions(monkeypatch, lambda solution: moved(solution, np.nan))
    assert kinds(PATH) == ["NaN at other nodes than those no heat reaches"]


def test_half_a_bound_is_found_where_it_is_tight(monkeypatch):
    case = replace(PATH, solver=Sweeps(1), tol=0.3)  # one step leads to 1/3: off by 1/6
    assert kinds(case) == []

    def halved(solution):
        certificate = solution.certificate
        return replace(solution, certificate=replace(certificate, columns=certificate.columns / 2))

    plant_in_solutions(monkeypatch, halved)
    assert "outside its bound" in kinds(case)[0]


def test_a_swapped_label_is_found(monkeypatch):
    plant_in_models(monkeypatch, lambda model: {"labels_": model.labels_[[0, 2, 1, 3]]})
    assert "a certified label is wrong" in kinds(LABELS)


def test_a_lost_seed_is_found(monkeypatch):
    plant_in_models(monkeypatch, lambda model: {"labels_": model.labels_[::-1]})
    assert "a seed lost its label" in kinds(LABELS)


def test_a_certified_tie_is_found(monkeypatch):
    everything = {"certified_": np.ones(3, bool), "status_": np.array(["seed", "tie", "seed"])}
    plant_in_models(monkeypatch, lambda _: everything)
    assert kinds(TIE) == ["a certified tie", "a tie at equilibrium is certified"]


def test_a_tie_that_is_not_called_one_is_found(monkeypatch):
    wrong = {"status_": np.array(["seed", "predicted", "seed"])}
    plant_in_models(monkeypatch, lambda _: wrong)
    assert kinds(TIE) == ["a tie is not called one"]


@pytest.mark.skipif(core is None, reason="needs the native engine")
def test_a_result_that_depends_on_threads_is_found(monkeypatch):
    plant_in_solutions(
        monkeypatch,
        lambda solution: moved(solution, 1e-12),
        when=lambda _, engine, **__: engine == NativeEngine(threads=2),
    )
    assert kinds(replace(PATH, claim="threads")) == ["one thread and two differ"]


def test_labels_that_depend_on_the_order_are_found(monkeypatch):
    fits = iter([0, 1])
    plant_in_models(
        monkeypatch, lambda model: {"labels_": (model.labels_ + (next(fits) and [0, 1, 0, 0])) % 2}
    )
    case = replace(LABELS, claim="renumbering", order=(0, 1, 2, 3))
    assert kinds(case) == ["another order of nodes changes a label"]


def test_a_seed_left_out_wrongly_is_found(monkeypatch):
    def wrong(model):
        left = model.leave_one_out()
        bad = replace(left, temperatures=left.temperatures + 1e-3)
        return {"leave_one_out": lambda: bad}

    plant_in_models(monkeypatch, wrong)
    assert "a seed left out is off" in kinds(replace(LABELS, claim="leave_one_out"))


def test_a_wrong_share_is_found(monkeypatch):
    def wrong(model):
        why = model.explain(1)
        seeds = [(seed, label, share + 1e-3) for seed, label, share in why.seeds]
        return {"explain": lambda _: why._replace(seeds=seeds)}

    plant_in_models(monkeypatch, wrong)
    found = kinds(replace(LABELS, claim="explanations", node=1))
    assert found == ["a share is off", "shares do not sum to 1"]


def test_a_crash_is_found(monkeypatch):
    def faulty(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr(fuzz.cases, "solve_dirichlet", faulty)
    assert kinds(PATH) == ["ZeroDivisionError in faulty"]


def test_a_refusal_of_valid_input_is_found():
    assert kinds(replace(PATH, tol=-1.0)) == ["valid input refused with ParameterError"]


def test_what_may_be_refused_is_not_a_failure():
    tally = Counter()
    too_much = replace(PATH, edges=((0, 1, 1e308), (1, 2, 1e308)))
    assert check(too_much, tally) == []
    assert tally["cases refused"] == 1


# --- reduction ----------------------------------------------------------------------------------


def has_loop(graph, **_):
    return bool(graph.adjacency.diagonal().any())


def large_case_with_a_loop():
    found = (draw(seed) for seed in range(1, 4000, 8))
    case = next(case for case in found if case.weighted and has_loop(case.graph()))
    values = tuple(tuple(row) for row in np.eye(4)[np.arange(len(case.seeds)) % 4].tolist())
    other = Case("temperatures", case.n_nodes, case.edges, case.seeds, values)
    return replace(other, leak=0.3, engine="scipy", tol=1e-3)


def test_a_failing_case_is_reduced_to_what_makes_it_fail(monkeypatch, tmp_path):
    plant_in_solutions(
        monkeypatch,
        lambda solution: replace(solution, temperatures=solution.temperatures + 1e-2),
        when=has_loop,
    )
    case = large_case_with_a_loop()
    assert case.n_nodes > 20
    (failure, *_) = check(case)
    small = reduced(case, failure.kind, seconds=60)
    assert failure.kind in kinds(small)
    assert small.n_nodes <= 2
    assert small.n_classes == 1
    assert [edge[2] for edge in small.edges] == [1.0] * len(small.edges)
    assert len(small.edges) <= 2
    path = tmp_path / "failure.py"
    path.write_text(script(small, failure, 1), encoding="utf-8")
    shown = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True)
    assert "temperatures" in shown.stdout


@pytest.mark.parametrize("claim", CLAIMS)
def test_every_kind_of_case_is_reduced_and_written_as_a_script(claim):
    def small_enough(seed):
        case = draw(seed)
        return case.claim == claim and 3 < case.n_nodes <= 6 and case.tol >= 1e-6

    def valid(case):
        return case.n_nodes >= 2 and not check(case)

    case = next(draw(s) for s in range(4, 4000) if small_enough(s) and valid(draw(s)))
    small = reduced(case, "", fails=valid)
    assert small.n_nodes == 2
    compile(script(small, Failure("kind", "message"), 1), "script", "exec")


def test_the_command_runs_one_case(capsys, tmp_path):
    assert main(["--case", "4", "--scripts", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "nothing failed" in shown
    assert "Case(" in shown


def test_the_command_tells_what_failed_and_writes_a_script(capsys, tmp_path, monkeypatch):
    plant_in_solutions(monkeypatch, lambda s: replace(s, temperatures=s.temperatures + 1e-2))
    seed = next(s for s in range(3, 999) if draw(s).claim == "temperatures" and s % 8 > 2)
    assert main(["--case", str(seed), "--scripts", str(tmp_path)]) == 1
    (path,) = tmp_path.iterdir()
    shown = capsys.readouterr().out
    assert f"--case {seed}" in shown
    assert path.read_text(encoding="utf-8") in shown


@pytest.mark.slow
def test_the_command_runs_by_time_and_repeats_a_seed(capsys, tmp_path):
    options = ["--minutes", "0.02", "--seed", "7", "--workers", "2", "--claims", "threads"]
    assert main([*options, "--scripts", str(tmp_path)]) in (0, 1)
    shown = capsys.readouterr().out
    assert "--seed 7 repeats this run" in shown
    assert "cases of threads" in shown


@pytest.mark.slow
def test_a_process_that_dies_is_found():
    plan = workers.Plan(8, 1, 30.0, None, None, 1.0)
    threading.Timer(2.0, lambda: multiprocessing.active_children()[0].kill()).start()
    tried = workers.run_all(plan, 1)
    assert [each.failure.kind for each in tried.found] == ["the process died"]
    assert tried.found[0].seed >= 8


def test_a_case_without_an_answer_is_found(monkeypatch):
    monkeypatch.setattr(workers, "TOO_LONG", 0.05)
    monkeypatch.setattr(fuzz.cases, "solve_dirichlet", lambda *_, **__: time.sleep(1))
    seed = next(s for s in range(3, 999) if draw(s).claim == "temperatures" and s % 8 > 2)
    plan = workers.Plan(seed, 1, 0.0, None, None, 1.0)
    (found,) = workers.run_one(seed, Counter(), plan)
    assert found.failure.kind == "no answer"


def test_an_unknown_claim_is_refused(capsys):
    assert main(["--claims", "miracles"]) == 2
    assert "unknown claims: miracles" in capsys.readouterr().out
