"""Options that are texts → numbers."""

from __future__ import annotations

import re
from typing import Literal

import typer

from isotherm.errors import ParameterError


def parse_confidence(text: str | None) -> float | str | None:
    """A confidence as a user writes it: a number, or else the name of a column."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def parse_leak(text: str) -> float | Literal["auto"]:
    """A leak as a user writes it: a number that is not negative, or ``auto``."""
    if text == "auto":
        return "auto"
    try:
        leak = float(text)
    except ValueError:
        leak = -1.0
    if not 0 <= leak < float("inf"):
        raise typer.BadParameter(f"must be a number ≥ 0 or auto, got {text!r}", param_hint="--leak")
    return leak


def parse_share(text: str) -> float:
    """A share of nodes as a user writes it.

    Examples
    --------
    >>> parse_share("5%"), parse_share(" 0.2 ")
    (0.05, 0.2)
    """
    number = text.strip().removesuffix("%")
    try:
        share = float(number) / (100 if number != text.strip() else 1)
    except ValueError:
        share = float("nan")
    if not 0 < share < 1:
        raise ParameterError(
            "a share of seeds must be more than 0% and less than 100%, written like 5% or 0.05; "
            f"got {text.strip()!r}"
        )
    return share


def parse_size(text: str, option: str = "--unpack-limit") -> int:
    """A number of bytes as a user writes it, as the value of an option.

    Examples
    --------
    >>> parse_size("512"), parse_size("64GiB") == 64 << 30, parse_size("1.5 GB")
    (512, True, 1500000000)
    """
    found = re.fullmatch(r"([0-9]*\.?[0-9]+) *([kmgt]?)(i?b?)", text.strip().lower())
    if found is None:
        raise typer.BadParameter(
            f"must be a number of bytes such as 500MB or 64GiB, got {text!r}", param_hint=option
        )
    number, unit, kind = found.groups()
    step = 1000 if kind == "b" else 1024  # GB and GiB
    return max(1, round(float(number) * float(step ** " kmgt".index(unit or " "))))


def parse_memory(text: str | None) -> int | None:
    """The memory that a user allows, in bytes; None if nothing was said."""
    return None if text is None else parse_size(text, "--memory")


def parse_engine(name: str) -> str:
    """The name of an engine, which is looked up before anything is read.

    Raises
    ------
    ParameterError, MissingLibrary, DeviceError
        See `isotherm.engines.choose_engine`.
    """
    if name != "auto":
        from isotherm.engines import check_engine

        check_engine(name)
    return name
