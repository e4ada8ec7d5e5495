"""What goes to a terminal: control characters are shown, never sent."""

import importlib
import io
import subprocess
import sys

import pytest
import rich.console
from rich.table import Table
from rich.text import Text

from conftest import CliRun
from isotherm import DirichletClassifier, Graph, write_predictions
from isotherm.cli.console import Console
from isotherm.printable import one_line, printable
from isotherm.report import terminal
from isotherm.report.explanation_lines import explanation_lines

application = importlib.import_module("isotherm.cli.app")  # isotherm.cli.app is the Typer app
EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202eabc\x7f\r"
SHOWN = "\\x1b]0;owned\\x07\\x1b[2J\\x9b31m\\u202eabc\\x7f\\r"


def test_every_control_character_is_written_out_and_nothing_else():
    controls = [*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
    for number in controls:
        text = printable(chr(number))
        assert number == ord("\n") or (text.isascii() and text.startswith("\\"))
    assert printable(EVIL) == SHOWN
    assert one_line("a\nb\tc") == "a\\nb\\tc"
    for text in ("naïve → 北京 😀", "שלום", "a\nb", "🏳️\u200d🌈", "می\u200cخواهم"):
        assert printable(text) == text
    assert printable("\udcff") == "\\udcff"  # a byte of a file name that is no UTF-8


@pytest.fixture
def captured(monkeypatch):
    """Text sent to a console, made the way commands do."""

    def send(*things, **how):
        stream = io.StringIO()
        monkeypatch.setattr(sys, "stdout", stream)
        Console().print(*things, **how)
        monkeypatch.undo()
        return stream.getvalue()

    return send


def test_a_console_sends_no_control_character_however_it_is_asked(captured):
    table = Table(EVIL)
    table.add_row(EVIL)
    table.add_row(Text(EVIL))
    for thing in (EVIL, table, f"[bold]{EVIL}[/bold] [/nothing] :smile:"):
        sent = captured(thing, soft_wrap=True)
        assert not any(ord(c) < 32 and c != "\n" for c in sent)
        assert "\u202e" not in sent
        assert "\\x1b" in sent
    assert captured("[bold] :smile: [/b]") == "[bold] :smile: [/b]\n"


def test_errors_and_warnings_are_shown_likewise(capsys):
    application.say("error", f"there is no file {EVIL}")
    assert capsys.readouterr().err == f"error: there is no file {SHOWN}\n"

    def fail(**_):
        raise application.typer.BadParameter(EVIL)

    assert application.run_command(fail) == 2
    said = capsys.readouterr().err
    assert "\x1b]" not in said
    assert "\u202e" not in said


@pytest.fixture(scope="module")
def fitted():
    nodes = [EVIL + "1", "b", "two\nlines", "d", "e", "f"]
    graph = Graph.from_edges(nodes[:-1], nodes[1:])
    labels = {nodes[0]: f"{EVIL}red", nodes[1]: f"{EVIL}red", "e": "blue", "f": "blue"}
    return DirichletClassifier().fit(graph, labels)


def test_what_explains_suggests_and_suspects_shows_them_and_keeps_its_columns(fitted):
    why = fitted.explain("two\nlines")
    lines = explanation_lines(why, 5, 80, "centered")
    assert lines[0] == f"two\\nlines: {SHOWN}red"
    assert all(printable(line) == line and "\n" not in line for line in lines)
    console = rich.console.Console(file=io.StringIO(), width=200)
    console.print(terminal.suggestion_table(fitted.suggest(2), width=200))
    console.print(terminal.suspect_table(fitted.leave_one_out().suspects(), width=200))
    sent = console.file.getvalue()
    assert "two\\nlines" in sent
    assert printable(sent) == sent


def test_files_keep_names_as_they_are_and_so_do_pipes_but_a_terminal_gets_none(
    fitted, tmp_path, monkeypatch
):
    write_predictions(fitted, tmp_path / "out.csv")
    whole = (tmp_path / "out.csv").read_bytes()
    assert EVIL.encode() in whole

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stdout", Terminal())
    write_predictions(fitted, "-")
    sent = sys.stdout.getvalue()
    monkeypatch.undo()
    assert sent == printable(whole.decode())
    assert SHOWN in sent


@pytest.mark.slow
def test_a_command_prints_no_escape_of_a_file_name_or_a_node(tmp_path):
    run = CliRun(tmp_path)
    name = "\x1b[31m[red].csv"
    (tmp_path / name).write_text(f"a,{EVIL[:-1]}\n{EVIL[:-1]},c\nc,d\n")
    (tmp_path / "labels.csv").write_text("node,label\na,x\nd,y\nq,y\n")
    for arguments in (
        ["explain", name, "labels.csv", "a"],
        ["suggest", name, "labels.csv"],
        ["classify", name, "labels.csv", "-o", "out.csv", "-v"],
        ["classify", "missing" + name, "labels.csv", "-o", "o.csv"],
        ["--debug", "classify", "missing" + name, "labels.csv", "-o", "o.csv"],
        ["classify", name, "labels.csv", "-o", "o.csv", "more" + name],
    ):
        result = run(*arguments)
        sent = result.stdout + result.stderr
        assert printable(sent) == sent, arguments
        assert "unforeseen" not in sent


@pytest.mark.parametrize(("verbose", "shown"), [(0, ["odd"]), (1, ["fine", "odd"])])
def test_what_is_logged_is_shown_as_far_as_asked_for(verbose, shown):
    code = (
        "import logging; from isotherm.cli.messages import MessageOptions\n"
        "logger = logging.getLogger('isotherm.solvers.attempt')\n"
        "logger.setLevel(logging.DEBUG)\n"  # as where progress is drawn
        f"with MessageOptions(verbose={verbose}).listening():\n"
        "    logger.debug('step'); logger.info('fine'); logger.warning('odd\\x1b')\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert [line.split()[1].removesuffix("\\x1b") for line in run.stderr.splitlines()] == shown
    assert "\x1b" not in run.stderr
