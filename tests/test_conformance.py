"""The suite that ships for engines of others: ours pass it, and broken ones do not."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from dense_engine import DenseEngine
from isotherm.engines import ENGINES
from isotherm.engines.conformance import Conformance


class TestScipy(Conformance):
    engine = ENGINES["scipy"]


@pytest.mark.skipif("native" not in ENGINES, reason="the core was not built")
class TestNative(Conformance):
    engine = ENGINES.get("native")


class TestTheEngineOfTheDocs(Conformance):
    engine = DenseEngine()


class Broken:
    """The SciPy engine with a fault planted in its sessions."""

    def __init__(self, plant):
        self.plant = plant

    def prepare(self, problem, options):
        session = ENGINES["scipy"].prepare(problem, options)
        self.plant(session)
        return session


def solutions(spoil):
    """Plants a fault in what is solved."""

    def plant(session):
        solve = session.solve
        session.solve = lambda *given, **how: spoil(solve(*given, **how))

    return plant


def warmer(solution):
    T = solution.temperatures.copy()
    T[np.flatnonzero(solution.error_bound > 0)[:1], 0] += 0.1
    return replace(solution, temperatures=T)


def colder_out_of_reach(solution):
    return replace(solution, temperatures=np.nan_to_num(solution.temperatures))


def surer(solution):
    proof = solution.certificate
    return replace(solution, certificate=replace(proof, columns=proof.columns * 1e-3))


def as_if_converged(solution):
    return replace(solution, converged=True, shortfall="")


def silent(solution):
    return replace(solution, shortfall="")


def with_smaller_residuals(session):
    imbalance = session.operator.imbalance

    def halved(*given):
        found = imbalance(*given)
        return replace(found, level=found.level / 2)

    session.operator.imbalance = halved


def deaf_to_progress(session):
    solve = session.solve
    session.solve = lambda *given, **how: solve(*given, **how | {"progress": None})


def unchanged(session):
    session.change = lambda *_: session.solve()


def in_no_other_unit(session):
    if session.problem.graph.degrees.max() > 1e4:
        solutions(warmer)(session)


@pytest.mark.parametrize(
    ("plant", "claim"),
    [
        (solutions(warmer), "solutions_are_exact_within_their_bounds"),
        (solutions(colder_out_of_reach), "solutions_are_exact_within_their_bounds"),
        (solutions(surer), "each_solver_is_refused_or_as_exact"),
        (solutions(as_if_converged), "a_tolerance_is_kept_or_the_solution_says_that_it_is_not"),
        (solutions(silent), "a_tolerance_is_kept_or_the_solution_says_that_it_is_not"),
        (with_smaller_residuals, "wrong_temperatures_are_not_proven_to_be_right"),
        (deaf_to_progress, "what_progress_raises_ends_the_solve_and_no_more"),
        (unchanged, "changes_give_the_solution_of_the_changed_problem"),
        (in_no_other_unit, "the_unit_of_weights_does_not_matter"),
    ],
)
def test_a_broken_engine_is_noticed(plant, claim):
    suite = Conformance()
    suite.engine = Broken(plant)
    with pytest.raises(AssertionError):
        getattr(suite, f"test_{claim}")()


def test_the_suite_is_there_without_pytest():
    code = "import sys, isotherm.engines.conformance; print('pytest' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
