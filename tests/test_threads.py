"""One model in several threads, interrupted, copied and forked: as if one call came at a time."""

import copy
import inspect
import os
import pickle
import signal
import sys
import threading
import warnings
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import threadpoolctl

import isotherm
from isotherm import (
    DirichletClassifier,
    DirichletRegressor,
    Graph,
    MultiLabelDirichletClassifier,
    SolveOptions,
    StackedDirichletClassifier,
    write_predictions,
)
from isotherm.blas import one_blas_thread
from isotherm.classifier import stack
from isotherm.engines import ENGINES
from isotherm.errors import SessionError
from isotherm.graph.rows import Rows
from isotherm.listing import list_nodes
from isotherm.locks import READING
from oracle import grid, random_graph

HOME = Path(isotherm.__file__).parent
ESTIMATORS = [
    DirichletClassifier,
    StackedDirichletClassifier,
    MultiLabelDirichletClassifier,
    DirichletRegressor,
]
Y = {i: i % 3 for i in range(12)}
WAYS = {
    "as fitted": lambda model: model,
    "pickled": lambda model: pickle.loads(pickle.dumps(model)),  # noqa: S301
    "copied": copy.copy,
    "deeply copied": copy.deepcopy,
}
QUESTIONS = {
    "explain": lambda model: model.explain(50, probability=True),
    "without its own": lambda model: model.explain(5, without_own=True),
    "suggest": lambda model: model.suggest(4),
    "leave_one_out": lambda model: model.leave_one_out(max_seeds=6).temperatures.tolist(),
    "expected_accuracy": lambda model: model.expected_accuracy(),
    "should_stop": lambda model: model.should_stop(),
    "predict_proba": lambda model: model.predict_proba().tolist(),
    "new nodes": lambda model: model.predict_proba({"new": {20: 1.0, 3: 2.0}}).tolist(),
    "suspects": lambda model: model.suspects(),
    "to_frame": lambda model: model.columns(),
}


@pytest.fixture(autouse=True)
def few_labels():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.fixture(autouse=True)
def threads_take_turns_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.fixture(scope="module")
def graph():
    return random_graph(np.random.default_rng(0), 150, degree=5)


def in_threads(*jobs):
    """Each in a thread of its own, all let go at once: what they return."""
    found, errors, gate = {}, [], threading.Barrier(len(jobs))

    def work(k, job):
        gate.wait()
        try:
            found[k] = job()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=one, daemon=True) for one in enumerate(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads), "a call waits for ever"
    if errors:
        raise errors[0]
    return [found[k] for k in range(len(jobs))]


def labels_of(model):
    seeds = model.seeds_
    return dict(zip(seeds.nodes.tolist(), seeds.classes[seeds.codes].tolist(), strict=True))


def is_as_fitted(model):
    """Whether a model is that of a fit with the labels that it says it has."""
    fresh = DirichletClassifier().fit(model.problem_.graph, labels_of(model))
    error = np.abs(model.temperatures_ - fresh.temperatures_)
    bound = model.solution_.error_bound + fresh.solution_.error_bound
    both = model.certified_ & fresh.certified_
    assert (np.nan_to_num(error.max(axis=1)) <= np.nan_to_num(bound)).all()
    assert np.array_equal(model.labels_[both], fresh.labels_[both])
    assert np.array_equal(model.predict(), model.labels_)


# --- several threads ------------------------------------------------------------------------------


def test_updates_and_questions_from_threads_end_as_one_after_the_other(graph):
    model = DirichletClassifier().fit(graph, Y)
    new = {30 + k: k % 3 for k in range(16)}

    def update(some):
        for node in some:
            model.update({node: new[node]})

    def ask():
        for _ in range(4):
            model.leave_one_out(max_seeds=4)
            assert len(model.predict_proba()) == len(model.labels_) == 150
            model.explain(50)

    in_threads(*(lambda t=t: update(list(new)[t::4]) for t in range(4)), ask, ask)
    assert labels_of(model) == Y | new
    is_as_fitted(model)


def test_fits_beside_updates_end_as_one_after_the_other(graph):
    model, other = DirichletClassifier().fit(graph, Y), {i: i % 2 for i in range(40, 60)}
    in_threads(
        lambda: [model.fit(graph, Y) for _ in range(5)],
        lambda: [model.fit(graph, other) for _ in range(5)],
        lambda: [model.update({100: 1}) for _ in range(5)],
    )
    assert labels_of(model) in [known | more for known in (Y, other) for more in ({}, {100: 1})]
    is_as_fitted(model)


@pytest.mark.parametrize("way", WAYS)
def test_each_of_several_threads_is_answered_as_one_alone(way, graph):
    model = DirichletClassifier().fit(graph, Y)
    alone = {name: repr(ask(copy.deepcopy(model))) for name, ask in QUESTIONS.items()}
    model = WAYS[way](model)
    names = [*QUESTIONS, *reversed(QUESTIONS)]
    found = in_threads(*(lambda ask=QUESTIONS[name]: repr(ask(model)) for name in names))
    assert [name for name, one in zip(names, found, strict=True) if one != alone[name]] == []


@contextmanager
def busy(call):
    """A call in another thread that stands still at its first progress, then goes on."""
    inside, go_on, raised = threading.Event(), threading.Event(), []

    def wait(*_):
        inside.set()
        go_on.wait(60)

    def work():
        try:
            call(wait)
        except Exception as error:
            raised.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    assert inside.wait(60)
    try:
        yield raised
    finally:
        go_on.set()
        thread.join(60)


def test_a_call_that_fails_changes_nothing_that_another_has_changed(graph):
    model = DirichletClassifier(solver="cg", engine="scipy").fit(graph, Y)

    def fail(wait):
        def then_fail(*_):
            wait()
            raise ValueError

        model.update({40: 1}, progress=then_fail)

    with busy(fail) as raised:
        other = threading.Thread(target=model.update, args=({41: 2},), daemon=True)
        other.start()
    other.join(60)
    assert [type(error) for error in raised] == [ValueError]
    assert labels_of(model) == Y | {41: 2}
    is_as_fitted(model)


@pytest.mark.parametrize("change", ["fit", "update"])
def test_while_a_model_changes_attributes_and_copies_are_those_of_before(change, graph):
    model = DirichletClassifier(solver="cg", engine="scipy").fit(graph, Y)
    before, labels = dict(vars(model)), model.predict()
    changes = {
        "fit": lambda wait: model.fit(graph, {0: "x", 9: "y"}, progress=wait),
        "update": lambda wait: model.update({40: 7}, progress=wait),
    }
    with busy(changes[change]) as raised:
        assert {name for name in before if vars(model)[name] is not before[name]} <= {"_session"}
        assert np.array_equal(model.labels_, labels)
        assert model.status_.shape == labels.shape
        copies = [made(model) for made in list(WAYS.values())[1:]]
    assert raised == []
    assert model.classes_.tolist() == {"fit": ["x", "y"], "update": [0, 1, 2, 7]}[change]
    for one in copies:
        assert np.array_equal(one.predict(), labels)
        is_as_fitted(one.update({40: 1}))


def test_blas_has_its_threads_back_when_the_last_of_several_stacks_is_fitted(monkeypatch):
    """Each limits BLAS to one thread meanwhile, for the whole process."""
    graph = random_graph(np.random.default_rng(3), 60, degree=5)
    leave_out, seen, n_threads = stack.leave_out, [], 4

    class Limits:
        """As those of threadpoolctl."""

        def __init__(self, limit, **_):
            nonlocal n_threads
            self.before, n_threads = n_threads, limit

        def restore_original_limits(self):
            nonlocal n_threads
            n_threads = self.before

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.restore_original_limits()

    def at_work(*args, **kwargs):
        if threading.current_thread() is first:
            one_inside.set()
            both_inside.wait(60)
        elif not both_inside.is_set():
            both_inside.set()
            first.join(60)
            seen.append(n_threads)  # the other one has left
        return leave_out(*args, **kwargs)

    one_inside, both_inside = threading.Event(), threading.Event()
    first = threading.Thread(target=lambda: StackedDirichletClassifier().fit(graph, Y), daemon=True)
    monkeypatch.setattr(threadpoolctl, "threadpool_limits", Limits)
    monkeypatch.setattr(stack, "leave_out", at_work)
    first.start()
    assert one_inside.wait(60)
    StackedDirichletClassifier().fit(graph, Y)
    assert [*seen, n_threads] == [1, 4]


def test_blas_works_in_one_thread_whichever_thread_fits_a_stack():
    """In its version 3.8 threadpoolctl obeys only the thread that has set a limit first."""

    def n_threads():
        with one_blas_thread:
            return {one["num_threads"] for one in threadpoolctl.threadpool_info() if of_blas(one)}

    def of_blas(one):
        return one["user_api"] == "blas"

    assert [n_threads(), *in_threads(n_threads)] == [{1}, {1}]


def test_a_file_is_of_one_state(graph, tmp_path):
    """A model that is fitted anew while a file of it is written has the file first."""
    model = DirichletClassifier().fit(graph, Y)
    model.predict_proba()
    inside, go_on = threading.Event(), threading.Event()

    def wait(*_):
        inside.set()
        go_on.wait(0.1)

    thread = threading.Thread(
        target=lambda: write_predictions(model, tmp_path / "all.csv", progress=wait), daemon=True
    )
    thread.start()
    assert inside.wait(60)
    model.fit(grid(3, 3), {0: "x", 8: "y"})
    assert (tmp_path / "all.csv").read_text().count("\n") == 151
    go_on.set()
    thread.join(60)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_what_is_asked_from_its_own_progress_is_refused(kind, graph):
    known = {i: [i % 3] for i in Y} if kind is MultiLabelDirichletClassifier else Y
    model = kind(solver="cg", engine="scipy").fit(graph, known)
    other, before, refused = copy.copy(model), model.predict(), []

    def ask(*_):
        np.testing.assert_array_equal(other.predict(), before)
        with pytest.raises(SessionError, match="its own progress function"):
            model.predict()
        with pytest.raises(SessionError, match="its own progress function"):
            model.fit(graph, known)
        refused.append(True)

    model.fit(graph, known, progress=ask)
    assert refused
    np.testing.assert_array_equal(model.predict(), before)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_every_public_method_waits_for_its_turn(kind):
    ours = [one for one in kind.__mro__ if one.__module__.startswith("isotherm.")]
    methods = {
        name: method
        for one in reversed(ours)
        for name, method in vars(one).items()
        if inspect.isfunction(method) and not name.startswith("_")
    }
    assert {"fit", "predict", "session", "report", "to_frame"} <= set(methods)
    free = {name for name, method in methods.items() if not hasattr(method, "__wrapped__")}
    assert free <= set(READING)
    assert list(inspect.signature(kind.fit).parameters)[:3] == ["self", "X", "y"]


def test_explanations_are_of_the_model_as_it_is_when_they_are_asked_for(graph):
    model = DirichletClassifier(tol=1e-9).fit(graph, Y)
    found = model.explain_each([50, 50, 51])
    first = next(found)
    assert first.classes == pytest.approx(model.explain(50).classes)
    model.update({60: 2, 1: None})
    for node, one in zip([50, 51], found, strict=True):
        assert one.classes == pytest.approx(model.explain(node).classes, abs=1e-9)
        assert 1 not in [seed for seed, *_ in one.seeds]


@pytest.mark.parametrize("kind", [DirichletClassifier, StackedDirichletClassifier])
def test_explanations_go_on_after_a_change_that_failed(kind, graph, monkeypatch):
    model = kind(tol=1e-9).fit(graph, Y)
    right, found = model.explain(51), model.explain_each([50, 51])
    next(found)
    monkeypatch.setattr(kind, "_conclude", lambda *_: 1 / 0)  # the session has changed by then
    with pytest.raises(ZeroDivisionError):
        model.update({60: 2, 61: 2, 1: None})
    assert next(found).classes == pytest.approx(right.classes, abs=1e-9)


@pytest.mark.parametrize("call", ["write_predictions", "list_nodes"])
def test_a_model_is_not_changed_by_the_progress_of_a_question(call, graph, tmp_path):
    model, refused = DirichletClassifier().fit(graph, Y), []

    def change(*_):
        with pytest.raises(SessionError, match="its own progress function"):
            model.fit(grid(3, 3), {0: "x", 8: "y"})
        refused.append(True)

    if call == "list_nodes":
        assert len(list_nodes(model, 1, top=3, progress=change)) == 3
    else:
        write_predictions(model, tmp_path / "all.csv", progress=change)
        assert (tmp_path / "all.csv").read_text().count("\n") == 151
    assert refused
    assert model.update({40: 1}).predict().shape == (150,)


# --- interrupts -----------------------------------------------------------------------------------


def lines_of(work, *folders):
    """Each line that the work runs through in these parts of isotherm, once, and how often."""
    seen = Counter()
    homes = tuple(str(HOME / folder) for folder in folders)

    def trace(frame, event, _):
        if not frame.f_code.co_filename.startswith(str(HOME)):
            return None
        if event == "line" and frame.f_code.co_filename.startswith(homes):
            seen[frame.f_code.co_filename, frame.f_lineno] += 1
        return trace

    with traced(trace):
        work()
    return seen


@contextmanager
def traced(trace):
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


def interrupt(work, place, times):
    """As Ctrl-C would, at the so many-eth time of a line."""
    left = times

    def trace(frame, event, _):
        nonlocal left
        if not frame.f_code.co_filename.startswith(str(HOME)):
            return None
        if event == "line" and (frame.f_code.co_filename, frame.f_lineno) == place:
            left -= 1
            if left == 0:
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace

    with traced(trace), pytest.raises(KeyboardInterrupt):
        work()


@pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
@pytest.mark.parametrize("call", ["predict", "update"])
def test_a_call_may_be_interrupted_while_it_waits(call, graph):
    model = DirichletClassifier(solver="cg", engine="scipy").fit(graph, Y)
    calls = {"predict": model.predict, "update": lambda: model.update({41: 2})}

    over, here = threading.Event(), threading.get_ident()
    # Of a shell that runs tests in the background, Python inherits that Ctrl-C means nothing.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def interrupt_it(wait=0.05):
        while not over.wait(wait):  # again, if it came between two steps of Python's own waiting
            signal.pthread_kill(here, signal.SIGINT)
            wait = 5

    def interrupted():
        threading.Thread(target=interrupt_it, daemon=True).start()
        try:
            calls[call]()
        finally:
            over.set()
            signal.signal(signal.SIGINT, before)

    working = busy(lambda wait: model.update({40: 1}, progress=wait))
    with working as raised, pytest.raises(KeyboardInterrupt):
        interrupted()
    assert raised == []
    assert labels_of(model.update({42: 0})) == Y | {40: 1, 42: 0}
    is_as_fitted(model)


PARTS = ("locks", "engines/session", "engines/changes", "engines/kept", "engines/additions")


@pytest.mark.parametrize("again", [False, True], ids=["first", "second"])
def test_an_update_after_one_interrupted_at_any_line_is_right(again, graph):
    start = {40: 1, 5: None} if again else {}
    changes = {41: 2, 5: 1} if again else {41: 0, 3: None}

    def fitted():
        return DirichletClassifier().fit(graph, Y).update(start)

    base = {k: v for k, v in (Y | start).items() if v is not None}
    both = [base, {k: v for k, v in (base | changes).items() if v is not None}]
    model = fitted()
    lines = lines_of(lambda: model.update(changes), *PARTS, "classifier/algorithm")
    assert len(lines) > 100
    right = [DirichletClassifier().fit(graph, known | {42: 2}) for known in both]
    for place, times in lines.items():
        model = fitted()
        interrupt(lambda: model.update(changes), place, times)  # noqa: B023
        own = labels_of(model)
        assert own in both, place
        in_threads(lambda: model.update({42: 2}))  # noqa: B023  # which needs a free lock
        fresh = right[both.index(own)]
        error = np.nanmax(np.abs(model.temperatures_ - fresh.temperatures_))
        assert error <= np.nanmax(model.solution_.error_bound + fresh.solution_.error_bound), place
        assert (model.labels_ == fresh.labels_)[model.certified_ & fresh.certified_].all(), place


@pytest.mark.parametrize("name", ["without its own", "suggest", "leave_one_out", "update"])
def test_what_is_asked_after_an_interrupted_question_is_answered(name, graph):
    ask = QUESTIONS.get(name, lambda model: model.session().solve())
    model = DirichletClassifier().fit(graph, Y).update({40: 1})
    alone = repr(QUESTIONS["leave_one_out"](copy.copy(model)))
    right = copy.copy(model).update({42: 2})

    def ready():
        one = copy.copy(model)
        one._later = copy.copy(one._later)
        one.session()
        return one

    model = ready()
    lines = lines_of(lambda: ask(model), *PARTS[:2])
    for place, times in lines.items():
        one = ready()
        interrupt(lambda: ask(one), place, times)  # noqa: B023
        assert not one.session().is_busy
        (found,) = in_threads(lambda: repr(QUESTIONS["leave_one_out"](one)))  # noqa: B023
        assert found == alone, place
        one.update({42: 2})
        assert np.nanmax(np.abs(one.temperatures_ - right.temperatures_)) <= 3e-6


def test_a_session_interrupted_at_any_line_of_a_change_solves_and_changes_on():
    def prepared():
        problem = isotherm.DirichletProblem(grid(5, 5), np.array([0, 24]), np.eye(2))
        session = ENGINES["scipy"].prepare(problem, SolveOptions(1e-8))
        session.solve()
        return session

    change = {12: np.array([0.0, 1.0]), 0: None}
    session = prepared()
    lines = lines_of(lambda: session.change(change), *PARTS)
    right = session.change({3: np.array([1.0, 0.0])})
    for place, times in lines.items():
        session = prepared()
        interrupt(lambda: session.change(change), place, times)  # noqa: B023
        assert not session.is_busy
        assert session.solve().converged
        found = session.change(change | {3: np.array([1.0, 0.0])})
        assert found.temperatures == pytest.approx(right.temperatures, abs=2e-8)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_fit_that_ends_early_leaves_the_model_as_it_was(kind, graph):
    known = {i: [i % 3] for i in Y} if kind is MultiLabelDirichletClassifier else Y
    model = kind(solver="cg", engine="scipy").fit(graph, known)
    before = dict(vars(model))

    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.fit(grid(6, 6), dict(list(known.items())[:9]), progress=stop)
    assert vars(model) == before


# --- copies, and forks ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [DirichletClassifier, StackedDirichletClassifier])
@pytest.mark.parametrize("way", WAYS)
def test_a_copy_that_was_asked_takes_updates(kind, way, graph):
    fitted, known = kind().fit(graph, Y), Y | {100: 1}
    right = kind().fit(graph, known)
    for name, ask in [*QUESTIONS.items(), ("session", lambda model: model.session())]:
        model = WAYS[way](copy.copy(fitted))
        ask(model)
        ask(model.update({100: 1}))
        T = np.abs(model.temperatures_ - right.temperatures_)
        assert np.nanmax(T) <= 2e-6, name
        both = model.certified_ & right.certified_
        assert np.array_equal(model.labels_[both], right.labels_[both]), name


def test_locks_are_in_no_copy_and_in_no_pickle(graph):
    model = DirichletClassifier(solver="cg", engine="scipy").fit(graph, Y)
    assert not any("lock" in type(value).__name__.lower() for value in vars(model).values())
    copies = []

    def keep(*_):
        copies.extend(made(model) for made in WAYS.values() if not copies)

    model.update({40: 1}, progress=keep)
    for one in copies[1:]:
        in_threads(lambda: one.update({41: 1}))  # noqa: B023
        is_as_fitted(one)


class Meddling:
    """Stands for another thread, which keeps what it has found while an object is copied."""

    def __init__(self, thing):
        self.thing = thing

    def __reduce__(self):
        vars(self.thing)["found"] = 1
        return int, ()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("part", ["problem", "graph", "rows", "ids", "solution", "proof", "later"])
def test_what_a_question_finds_while_a_model_is_copied_does_not_end_the_copy(part, way, graph):
    model = copy.deepcopy(DirichletClassifier().fit(graph, Y))
    problem, solution = model.problem_, model.solution_
    thing = {
        "problem": problem,
        "graph": problem.graph,
        "rows": problem.graph.rows,
        "ids": problem.graph.nodes,
        "solution": solution,
        "proof": solution.certificate,
        "later": model._later,
    }[part]
    vars(thing)["meddling"] = Meddling(thing)
    assert np.array_equal(WAYS[way](model).labels_, model.labels_)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize("call", ["fit", "update"])
def test_a_child_forked_while_a_thread_works_goes_on_with_the_model(call, graph):
    model = DirichletClassifier(solver="cg", engine="scipy").fit(graph, Y)
    calls = {
        "fit": lambda wait: model.fit(graph, Y, progress=wait),
        "update": lambda wait: model.update({40: 1}, progress=wait),
    }
    with busy(calls[call]) as raised:
        child = os.fork()
        if child == 0:
            signal.alarm(30)
            status = 1
            try:
                is_as_fitted(model.update({41: 2}))
                model.explain(50)
                assert labels_of(model) == Y | {41: 2}
                status = 0
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0
    assert raised == []
    is_as_fitted(model.update({42: 2}))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_forked_while_a_thread_finds_what_a_graph_keeps_finds_its_own(monkeypatch):
    """Python 3.11 locks a cached property, for all objects of the class and in the child, too."""
    slow, other, find = grid(3, 3), grid(4, 4), Rows.components

    def components(rows):
        if rows is slow.rows:
            wait()
        return find(rows)

    def work(progress):
        nonlocal wait
        wait = progress
        assert slow.components.max() == 0

    wait = None
    monkeypatch.setattr(Rows, "components", components)
    with busy(work) as raised:
        child = os.fork()
        if child == 0:
            signal.alarm(5)
            os._exit(int(other.components.max()))
        assert os.waitpid(child, 0)[1] == 0
    assert raised == []


# --- a job of every night -------------------------------------------------------------------------


def test_a_nightly_job_gives_the_same_from_fit_to_fit_threads_copies_and_orders():
    rng = np.random.default_rng(0)
    source, target = rng.integers(0, 900, 5000), rng.integers(0, 900, 5000)
    graph, known = Graph.from_edges(source, target), {i: i % 4 for i in range(60)}
    fitted = DirichletClassifier().fit(graph, known)
    fits = in_threads(*[lambda: DirichletClassifier().fit(graph, known)] * 4)
    fits += [DirichletClassifier(threads=k).fit(graph, known) for k in (1, 2, 4)]
    assert {one.temperatures_.tobytes() for one in fits} == {fitted.temperatures_.tobytes()}
    assert len({p.tobytes() for p in in_threads(*[fitted.predict_proba] * 4)}) == 1
    row = {"new": {3: 1.0, 70: 2.0}}
    assert len({p.tobytes() for p in in_threads(*[lambda: fitted.predict_proba(row)] * 8)}) == 1
    less = Graph.from_edges(source[:4000], target[:4000])
    warm = DirichletClassifier(warm_start=True).fit(less, known).fit(graph, known)
    loaded = pickle.loads(pickle.dumps(warm)).fit(graph, known)  # noqa: S301
    turned = DirichletClassifier().fit(Graph.from_edges(source[::-1], target[::-1]), known)
    at = turned.problem_.graph.positions(fitted.names_.tolist())
    for T in (warm.temperatures_, loaded.temperatures_, turned.temperatures_[at]):
        assert np.nanmax(np.abs(T - fitted.temperatures_)) <= 2e-6
