"""The application that commands are added to, and how it ends."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from isotherm.cli.groups import with_single_options
from isotherm.cli.messages import say
from isotherm.cli.signals import exit_code
from isotherm.errors import IsothermError, ParameterError
from isotherm.printable import printable

if TYPE_CHECKING:
    from collections.abc import Callable

# Typer stands on click, which it brings along in some versions and depends on in others.
ClickException: type[Exception] = next(
    kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException"
)

# How a command ends; in docs/cli.md.
FAILED, USAGE, NOT_CONVERGED, INTERRUPTED = 1, 2, 3, 130
# What libraries say where there is no room for code, or for a thread.
NO_ROOM = ("failed to map", "annot allocate", "start new thread", "launch worker thread")

app = typer.Typer(
    name="isotherm",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@dataclass
class Settings:
    """What holds for the whole run."""

    debug: bool = False


settings = Settings()


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Add a command; each of its parameters may be a group of options."""
    app.command()(with_single_options(function))
    return function


def run_command(command: Callable[..., int | None]) -> int:
    """Run the command line and return how it ended; what goes wrong is said without a traceback."""
    try:
        code = int(command(standalone_mode=False) or 0)  # some versions catch an interrupt
        return _interrupted() if code == INTERRUPTED else code
    except (KeyboardInterrupt, typer.Abort):
        return _interrupted()
    except ClickException as error:
        _show_usage(error)
        return USAGE
    except BrokenPipeError:  # who read the output has had enough
        sys.stderr.close()
        return FAILED
    except (IsothermError, OSError) as error:
        if settings.debug:
            raise
        say("error", str(error))
        return USAGE if isinstance(error, ParameterError) else FAILED
    except Exception as error:
        if settings.debug:
            raise
        say("error", _lack(error) or _unforeseen(error))
        return FAILED


def _lack(error: Exception) -> str | None:
    """What was not to be had, if it was that: memory, or a library."""
    advice = "isotherm estimate shows how much is needed, and ulimit -v how much is allowed"
    if isinstance(error, MemoryError):
        return f"not enough memory; {advice}"
    if any(word in str(error) for word in NO_ROOM):
        return f"not enough memory ({error}); {advice}"
    if isinstance(error, ImportError):
        return f"a library cannot be loaded: {error}; install isotherm again with all it needs"
    return None


def _unforeseen(error: Exception) -> str:
    return (
        f"unexpected error, {type(error).__name__}: {error}. This is a bug in isotherm: please "
        "report it, with what isotherm --debug prints for the same command"
    )


def _interrupted() -> int:
    code = exit_code()
    said = "interrupted" if code is None else "stopped by a signal"
    say("error", f"{said}; no file was left half written")
    return code or INTERRUPTED


def _show_usage(error: Any) -> None:
    said = printable(error.format_message())
    error.format_message = lambda: said
    try:
        from typer.rich_utils import rich_format_error
    except ImportError:
        error.show()
    else:
        rich_format_error(error)
