"""One description of each option, whichever command has it; and all of them do something."""

import importlib
import inspect
import logging
import warnings
from dataclasses import MISSING, fields, replace
from typing import get_args, get_type_hints

import numpy as np
import pytest
from openpyxl import load_workbook
from typer.models import OptionInfo

from conftest import CliRun
from isotherm.cli import app
from isotherm.cli.jobs import make_job
from isotherm.cli.messages import MessageOptions
from isotherm.cli.options import (
    ModelOptions,
    PredictionOptions,
    SolverOptions,
    TableOptions,
)
from isotherm.cli.reading_options import EdgeOptions, ReadingOptions

READ = {"classify", "estimate", "evaluate", "explain", "label", "regress", "suggest", "suspects"}
SOLVE = READ | {"demo"}
# `evaluate` compares all models on seeds of its own; `label` has the one that can be updated.
FIT = READ - {"evaluate", "label", "regress"}


def commands(group=app, prefix=""):
    for one in group.registered_commands:
        yield prefix + (one.name or one.callback.__name__), one.callback
    for inner in group.registered_groups:
        yield from commands(inner.typer_instance, f"{inner.name} ")


def options(command):
    """Option → its type, description and default."""
    found = {}
    hints = get_type_hints(command, include_extras=True)
    for parameter in inspect.signature(command).parameters.values():
        kind, info = get_args(hints[parameter.name])[:2]
        if isinstance(info, OptionInfo):
            said = (info.default, *(info.param_decls or ()))
            names = [name for name in said if isinstance(name, str)]
            name = names[0] if names else "--" + parameter.name.replace("_", "-")
            found[name] = kind, vars(info), parameter.default
    return found


def test_an_option_is_the_same_in_every_command():
    known = {}
    for command, function in commands():
        for name, described in options(function).items():
            if name == "--out":  # predictions, rows or explanations: each says which
                name = f"--out {described[1]['param_decls']}"
            if name == "--nodes":  # how many, or a table about them: nobody takes one for the other
                name = f"--nodes of {command}"
            # But for the default: a table of the paper takes more draws than a look at one's graph.
            other, same = known.setdefault(name, (command, described[:2]))
            assert described[:2] == same, f"{name} of {command} is not that of {other}"
    assert len(known) > 40


def test_every_option_says_what_it_is():
    for command, function in commands():
        for name, (_, info, _) in options(function).items():
            assert info["help"], f"{name} of {command}"


@pytest.mark.parametrize(
    ("group", "names"),
    [
        (EdgeOptions, READ | {"build"}),
        (ReadingOptions, READ),
        (ModelOptions, FIT),
        (SolverOptions, SOLVE),
        (MessageOptions, SOLVE | {"build"}),
        (TableOptions, {"classify", "evaluate", "regress", "suggest", "suspects"}),
        (PredictionOptions, {"classify"}),
    ],
)
def test_a_command_has_all_options_of_a_group(group, names):
    wanted = {field.name for field in fields(group)}
    for name, function in commands():
        has = wanted <= set(inspect.signature(function).parameters)
        assert has == (name in names), f"{name} and {group.__name__}"


# Something other than the default for each option of these groups.
OTHERS = {
    "header": True,
    "label_header": False,
    "strict": True,
    "encoding": "latin-1",
    "on_error": "skip",
    "ids": "normalised",
    "decimal": ",",
    "thousands": ",",
    "unpack_limit": "1MB",
    "unpack_ratio": 2.0,
    "decision": "plain",
    "leak": "0.5",
    "confidence": "0.5",
    "unreached": "zero",
    "tol": 1e-3,
    "solver": "cg",
    "engine": "scipy",
    "memory": "1G",
}
GROUPS = (ReadingOptions(), ModelOptions(), SolverOptions())
EACH = [
    (place, field.name)
    for place, group in enumerate(GROUPS)
    for field in fields(group)
    if field.name != "threads"  # for the whole program, see below
]


@pytest.mark.parametrize(("place", "name"), EACH, ids=lambda part: str(part))
def test_every_option_reaches_the_job(place, name):
    groups = list(GROUPS)
    groups[place] = replace(groups[place], **{name: OTHERS.get(name, "x")})
    assert make_job("e", "l", *groups) != make_job("e", "l", *GROUPS)


def test_groups_have_defaults_only():
    for group in GROUPS:
        assert all(field.default is not MISSING for field in fields(group))


def test_model_parameters_are_those_of_the_classifier():
    from isotherm import DirichletClassifier

    model = make_job("e", "l", *GROUPS).model
    defaults = DirichletClassifier().get_params()
    assert model == {name: defaults[name] for name in model}
    assert set(defaults) - set(model) == {"warm_start"}


# --- messages -------------------------------------------------------------------------------------


def state():
    logger = logging.getLogger("isotherm")
    return (
        warnings.showwarning,
        list(warnings.filters),
        list(logger.handlers),
        logger.level,
    )


@pytest.mark.parametrize("context", ["stages", "progress_bar", "listening"])
def test_nothing_of_the_process_is_changed_for_good(context):
    before = state()
    with getattr(MessageOptions(verbose=2), context)():
        assert warnings.showwarning is before[0]
    assert state() == before
    with pytest.raises(ZeroDivisionError), getattr(MessageOptions(), context)():
        raise ZeroDivisionError
    assert state() == before


def test_warnings_are_shown_before_the_next_stage_and_at_the_end(capsys):
    with MessageOptions().stages() as stages:
        with stages.stage("first"):
            warnings.warn("one", UserWarning, stacklevel=1)
            warnings.warn("one", UserWarning, stacklevel=1)
        assert capsys.readouterr().err == ""
        with stages.solving():
            assert capsys.readouterr().err == "warning: one\nwarning: one\n"
            warnings.warn("two", UserWarning, stacklevel=1)
    assert capsys.readouterr().err == "warning: two\n"
    with MessageOptions(quiet=True).stages():
        warnings.warn("three", UserWarning, stacklevel=1)
    assert capsys.readouterr().err == ""


def test_warnings_come_before_the_error_that_ends_a_command(capsys):
    application = importlib.import_module("isotherm.cli.app")

    def fail(**_):
        with MessageOptions().stages():
            warnings.warn("odd", UserWarning, stacklevel=1)
            raise OSError("the disk is gone")

    assert application.run_command(fail) == 1
    assert capsys.readouterr().err == "warning: odd\nerror: the disk is gone\n"


# --- as a user runs them --------------------------------------------------------------------------


@pytest.fixture
def here(tmp_path):
    """A ring of twelve nodes, four of them labelled, in files that nothing can guess."""
    ring = "".join(f"{k};{(k + 1) % 12}!remark\n" for k in range(12))
    (tmp_path / "edges.txt").write_text("from;to\n" + ring)
    (tmp_path / "labels.txt").write_text("class|who\nx|0\nx|1\ny|5\ny|6\nz|99\n")
    return CliRun(tmp_path)


OF_THESE_FILES = [
    "--source", "from", "--target", "to", "--delimiter", ";", "--comment", "!",
    "--node", "who", "--label", "class", "--label-delimiter", "|", "--label-header", "--header",
]  # fmt: skip
ARGUMENTS = {
    "classify": ["-o", "-"],
    "evaluate": ["--seeds", "50%", "--repeats", "2"],
    "explain": ["3"],
    "regress": ["-o", "-"],
    "suggest": [],
    "suspects": [],
}


@pytest.mark.slow
@pytest.mark.parametrize("command", sorted(READ - {"estimate", "label"}))
def test_every_command_reads_as_it_is_told(here, command):
    arguments = ["edges.txt", "labels.txt", *ARGUMENTS[command], *OF_THESE_FILES]
    result = here(command, *arguments, "--strict")  # all was found but the one label too many
    assert (result.returncode, result.stdout) == (1, "")
    assert "'99'" in result.stderr


@pytest.mark.parametrize("command", sorted(READ | {"build"}))
def test_an_encoding_that_lies_is_said_to_be_wrong_by_every_command(here, command):
    others = ["labels.txt", *ARGUMENTS.get(command, [])]
    arguments = ["-o", "g.iso"] if command == "build" else others
    result = here(command, "edges.txt", *arguments, "--encoding", "utf-16")
    assert (result.returncode, result.stdout) == (1, "")
    assert "edges.txt is not utf-16: " in result.stderr


@pytest.mark.parametrize("arguments", [
    ["explain", "edges.txt", "labels.txt", "3", "--most"], ["estimate", "edges.txt", "--classes"],
    ["suspects", "edges.txt", "labels.txt", "--most"],
])  # fmt: skip
def test_a_count_beyond_all_numbers_of_the_machine_is_no_bug(here, arguments):
    result = here(*arguments, "99999999999999999999", *OF_THESE_FILES)
    assert result.returncode in (0, 2), result.stderr
    assert "bug" not in result.stderr


def test_two_files_cannot_both_be_standard_input(here):
    for command in ("estimate", "suspects"):
        result = here(command, "-", "-", stdin="a,b\n")
        assert result.returncode == 2
        assert "cannot both be standard input" in result.stderr


@pytest.mark.slow
@pytest.mark.parametrize("command", sorted(READ - {"estimate", "label", "regress"}))
def test_what_could_not_be_proven_has_an_exit_code_of_its_own(here, command):
    arguments = ["edges.txt", "labels.txt", *ARGUMENTS[command], *OF_THESE_FILES]
    result = here(command, *arguments, "--tol", "1e-15", "--solver", "sweeps", "--engine", "scipy")
    assert result.returncode == 3
    assert "temperatures" in result.stderr
    assert result.stdout


@pytest.mark.parametrize(("tol", "converged"), [(1e-6, True), (1e-300, False)])
def test_the_demo_tells_whether_it_converged(tol, converged):
    from sklearn.exceptions import ConvergenceWarning

    from isotherm import DirichletClassifier, load_dataset
    from isotherm.pipeline import Silent

    demo = importlib.import_module("isotherm.cli.demo")  # isotherm.cli.demo may be the command
    karate = load_dataset("karate")
    given = np.arange(len(karate.labels)) % 4 == 0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run = demo._label(DirichletClassifier(tol=tol), karate, given, Silent())
    assert run.converged == converged
    assert any(issubclass(one.category, ConvergenceWarning) for one in caught) != converged


def test_threads_are_for_the_whole_program(monkeypatch):
    from isotherm.cli.options import _use_threads
    from isotherm.compiled import n_threads

    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    assert _use_threads(None) is None
    assert n_threads() == 5
    assert _use_threads(3) == 3
    assert n_threads() == 3


@pytest.mark.slow
def test_suspects_go_to_a_file_too(tmp_path):
    here = CliRun(tmp_path)
    pairs = [(a, b) for part in ("abcde", "vwxyz") for a in part for b in part if a < b]
    (tmp_path / "e.csv").write_text("".join(f"{a},{b}\n" for a, b in pairs))
    (tmp_path / "l.csv").write_text("a,=1\nb,=1\nc,=1\nd,2\nw,2\nx,2\ny,2\nz,2\n")
    result = here("suspects", "e.csv", "l.csv", "--csv", "s.csv", "--spreadsheet-safe")
    assert result.returncode == 0
    assert result.stdout.splitlines()[-1] == "wrote s.csv"
    header, *rows = (tmp_path / "s.csv").read_text().splitlines()
    assert header == "node,label,suggested,own_probability,suggested_probability"
    assert rows[0].startswith("d,2,'=1,0.")
    again = here("suspects", "e.csv", "l.csv", "--csv", "s.csv")
    assert again.returncode == 1
    assert "s.csv already exists" in again.stderr
    assert here("suspects", "e.csv", "l.csv", "--csv", "e.csv", "--force").returncode == 2
    assert here("suspects", "e.csv", "l.csv", "-o", "s.xlsx", "-q").returncode == 0
    rows = list(load_workbook(tmp_path / "s.xlsx").active.iter_rows(values_only=True))
    assert [rows[0][0], rows[1][:3]] == ["node", ("d", "2", "=1")]
