"""Write docs/cli.md from the commands themselves: ``python scripts/cli_page.py``.

With ``--check`` nothing is written; the exit code is 1 if the page is not what it would be.
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from isotherm.cli import app

PAGE = Path(__file__).parents[1] / "docs" / "cli.md"
HEAD = """# Command line

This page is made from the commands by `python scripts/cli_page.py`; `--help` says the same.

`isotherm` and `python -m isotherm` are the same. Results go to the files that are named, and to
standard output only if you ask for it (`-o -`). On a terminal, stderr shows what is going on:
reading, solving with the error that is still likely, writing. Anywhere else it is silent except for
warnings and errors. `NO_COLOR` is respected. Files are written under another name and then renamed:
they are either complete or not there, even after Ctrl-C, SIGTERM or SIGHUP. Control characters in
names of files, nodes and labels are shown as text, such as `\\x1b` for an escape, and never sent to
a terminal.

| exit code | |
| --- | --- |
| 0 | done |
| 1 | failed; one line on stderr says why |
| 2 | wrong usage: an unknown option, or one with a wrong value |
| 3 | done, but the temperatures could not be proven to `--tol` |
| 129, 130, 143 | stopped by SIGHUP, by Ctrl-C (SIGINT), by SIGTERM |

| variable | |
| --- | --- |
| `OMP_NUM_THREADS` | number of threads, up to 1024; anything that is not a number ≥ 1 is ignored |
| `NO_COLOR`, `COLUMNS` | no colours; width of the terminal |

Before a command:

| | |
| --- | --- |
| `--version` | Print the version. |
| `--debug` | Show where in the program an error occurred. |
| `--install-completion`, `--show-completion` | Completion for the current shell. |
| `--help`, `-h` | Show help; also after a command. |
"""


def main() -> int:
    """Write the page, or check it."""
    text = page()
    if "--check" in sys.argv[1:]:
        return int(text != PAGE.read_text(encoding="utf-8"))
    PAGE.write_text(text, encoding="utf-8")
    return 0


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, *sections("isotherm", app)]).rstrip() + "\n"


def sections(prefix: str, group: Any) -> list[str]:
    """A section for each command of a group, and for the groups within it."""
    lines: list[str] = []
    commands = {c.name or c.callback.__name__: c.callback for c in group.registered_commands}
    for name in sorted(commands):
        lines += section(f"{prefix} {name}", commands[name])
    for inner in group.registered_groups:
        lines += sections(f"{prefix} {inner.name}", inner.typer_instance)
    return lines


def section(name: str, function: Any) -> list[str]:
    """What a command does, and its parameters."""
    hints = get_type_hints(function, include_extras=True)
    parameters = inspect.signature(function).parameters.values()
    rows, arguments = [], []
    for parameter in parameters:
        kind, info = get_args(hints[parameter.name])[:2]
        if type(info).__name__ == "ArgumentInfo":
            shown = info.metavar or parameter.name.upper()
            optional = parameter.default is not inspect.Parameter.empty
            arguments.append(f"[{shown}]" if optional else shown)
        else:
            shown = "`, `".join(names_of(parameter.name, info))
        rows.append(f"| `{shown}` | {described(kind, info, parameter.default)} |")
    text = inspect.cleandoc(function.__doc__)
    paragraphs = [" ".join(part.split()) for part in text.split("\n\n")]
    return [
        f"## {name}",
        "",
        "```",
        " ".join([name, *arguments, "[OPTIONS]"]),
        "```",
        "",
        "\n\n".join(paragraphs),
        "",
        "| | |",
        "| --- | --- |",
        *rows,
        "",
    ]


def names_of(name: str, info: Any) -> list[str]:
    """What an option is called."""
    # The first name comes where others have the default.
    said = (info.default, *(info.param_decls or ()))
    given = [text for text in said if isinstance(text, str) and text.startswith("-")]
    return given or [f"--{name.replace('_', '-')}"]


def described(kind: Any, info: Any, default: Any) -> str:
    """What a parameter means, may be, and is by default."""
    parts = [" ".join((info.help or "").split())]
    if get_origin(kind) is Literal:
        parts.append("One of " + ", ".join(f"`{choice}`" for choice in get_args(kind)) + ".")
    is_told = default is not inspect.Parameter.empty and not isinstance(default, bool)
    if is_told and default not in (None, "") and not getattr(info, "count", False):
        parts.append(f"By default `{default}`.")
    return " ".join(part for part in parts if part).replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main())
