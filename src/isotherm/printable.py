"""Text that comes from files and names, made harmless for a terminal."""

from __future__ import annotations

import re

# Control characters (C0 but the line feed, DEL, C1), what changes the direction of text, what
# hides in it, line separators, and halves of characters, which no encoding has.
_CONTROL = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
_JOINERS = "\u200c\u200d"  # parts of words and of pictures, and without any power


def printable(text: str) -> str:
    r"""The same text with control characters written out: a terminal shows them, not obeys them.

    Line feeds stay; `one_line` writes these out, too.

    Examples
    --------
    >>> print(printable("a\x1b[31mb"), printable("\u202egpj.exe"), printable("naïve → ok"))
    a\x1b[31mb \u202egpj.exe naïve → ok
    """
    return _CONTROL.sub(_written_out, text)


def one_line(text: str) -> str:
    r"""`printable` for a name or a label, in which a line feed is a control character as well.

    Examples
    --------
    >>> print(one_line("two\nlines"))
    two\nlines
    """
    return printable(text).replace("\n", "\\n")


def format_warning(message: Warning | str, *_: object, **__: object) -> str:
    r"""A warning as the command line shows it: what is said, and not which line of code says it.

    Examples
    --------
    >>> format_warning("few labels", UserWarning, "library.py", 12)
    'warning: few labels\n'
    """
    return f"warning: {printable(str(message))}\n"


def _written_out(found: re.Match[str]) -> str:
    character = found[0]
    if character in _JOINERS:
        return character
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
