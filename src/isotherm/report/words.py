"""Names and numbers → words for people."""

from __future__ import annotations

JOINERS = "\u200c\u200d"  # not printable, but part of words in some scripts


def short(text: object, longest: int = 60) -> str:
    r"""Words from a file, for people: cut where long, with nothing in them that acts.

    Control characters, those that turn the direction of text, and halves of characters are
    written as escapes.

    Examples
    --------
    >>> short("a\tb"), short("x" * 100, 5), short("")
    ('a\\tb', 'xxxx…', '(empty)')
    """
    words = str(text)[: longest + 1]
    if not words.isprintable():
        words = "".join(
            letter
            if letter.isprintable() or letter in JOINERS
            else letter.encode("unicode_escape").decode()
            for letter in words
        )
    if len(words) > longest:
        words = words[: longest - 1] + "…"
    return words if words.strip() else "(empty)"


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun.

    Examples
    --------
    >>> counted(1, "node"), counted(2000, "node"), counted(0, "class", "classes")
    ('1 node', '2,000 nodes', '0 classes')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def compact(number: float) -> str:
    """A count in few letters.

    Examples
    --------
    >>> compact(950), compact(12_500), compact(2e6), compact(2.5)
    ('950', '12.5 k', '2 M', '2.5')
    """
    for unit, name in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if number >= unit:
            return f"{number / unit:.3g}{name}"
    return f"{number:.3g}"


def percent(share: float) -> str:
    """A share in per cent.

    Examples
    --------
    >>> percent(0.5), percent(0.0123), percent(0.00001)
    ('50.0 %', '1.2 %', '<0.1 %')
    """
    if 0 < share < 0.001:
        return "<0.1 %"
    return f"{100 * share:.1f} %"


def share_text(share: float) -> str:
    """A share of seeds as it was asked for.

    Examples
    --------
    >>> share_text(0.05), share_text(0.005), share_text(1 / 3)
    ('5 %', '0.5 %', '33.3 %')
    """
    return f"{100 * share:.3g} %"


def seconds_text(seconds: float) -> str:
    """A time to the millisecond, or to two digits.

    Examples
    --------
    >>> [seconds_text(seconds) for seconds in (0.0002, 0.01234, 1.54, 123.4)]
    ['<0.001', '0.012', '1.5', '123']
    """
    if seconds < 0.0005:
        return "<0.001"
    return f"{seconds:.{3 if seconds < 1 else 1 if seconds < 10 else 0}f}"
