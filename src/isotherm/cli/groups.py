"""Groups of options: a parameter of a command whose type is a dataclass stands for its fields.

Typer knows single options only. Here a command that takes ``reading: ReadingOptions`` is shown to
it as a function with an option for each field, and gets them back as one object. So each option
is described once, and all commands with the group have all of its options.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, get_type_hints

if TYPE_CHECKING:
    from collections.abc import Callable


def with_single_options(function: Callable[..., None]) -> Callable[..., None]:
    """The same function with single options in the place of groups.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Size:
    ...     width: int = 80
    ...     height: int = 25
    >>> def show(name: str, size: Size) -> None:
    ...     print(name, size)
    >>> flat = with_single_options(show)
    >>> list(signature(flat).parameters)
    ['name', 'width', 'height']
    >>> flat(name="main", width=100, height=25)
    main Size(width=100, height=25)
    """
    hints = get_type_hints(function, include_extras=True)
    groups = {
        name: kind for name, kind in hints.items() if isinstance(kind, type) and is_dataclass(kind)
    }
    single: list[Parameter] = []
    for parameter in signature(function).parameters.values():
        if parameter.name in groups:
            single += _options_of(groups[parameter.name])
        else:
            single.append(_keyword(parameter.name, parameter.default, hints[parameter.name]))

    def call(**given: object) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        function(**given)

    call.__name__, call.__doc__ = function.__name__, function.__doc__
    call.__signature__ = Signature(single)  # type: ignore[attr-defined]  # read by `signature`
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in single}
    return call


def _options_of(group: type) -> list[Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [_keyword(field.name, field.default, hints[field.name]) for field in fields(group)]


def _keyword(name: str, default: object, annotation: object) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
