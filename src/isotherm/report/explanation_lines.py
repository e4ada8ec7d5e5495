"""An explanation → lines for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isotherm.printable import one_line
from isotherm.report.words import counted, percent

if TYPE_CHECKING:
    from isotherm.trust.explain import Explanation


NOTHING = 5e-4  # a share not worth a word


def rest_words(why: Explanation) -> str:
    """What takes other paths than those listed; nothing where that is not known, or next to none.

    Examples
    --------
    >>> from isotherm.trust.explain import Explanation, Rest
    >>> why = Explanation("b", "x", {"x": 1.0}, [], [(("b", "a"), 0.88)], 0.0)
    >>> rest_words(why._replace(rest=Rest(0.12, 7, True)))
    'the rest, 12.0 %, arrives by 7 more paths'
    >>> rest_words(why._replace(rest=Rest(0.12, 40, False)))
    'the rest, 12.0 %, arrives by 40 or more other paths, each with 88.0 % or less'
    """
    if why.rest is None or why.rest.share <= NOTHING:
        return ""
    paths = counted(why.rest.n_paths, "more path") if why.rest.n_paths else "other paths"
    words = f"the rest, {percent(why.rest.share)}, arrives by "
    if why.rest.is_all:
        return words + paths
    most = percent(why.paths[-1][1]) + " or less" if why.paths else ""
    each = f", each with {most}".replace("<0.1 % or less", "less than 0.1 %") if most else ""
    if why.rest.n_paths:
        paths = f"{why.rest.n_paths:,} or more other paths"
    return words + paths + each


def heading(why: Explanation) -> str:
    """The node, its label and how probable that is, in one line.

    Examples
    --------
    >>> from isotherm.trust.explain import Explanation
    >>> heading(Explanation("b", "x", {}, [], [], 0.0, probability=0.93))
    'b: x, probability 0.93'
    """
    return one_line(_explained(why) + _probably(why))


def explanation_lines(why: Explanation, most: int, width: int, decision: str) -> list[str]:
    """Where the temperatures of a node come from."""
    lines = [heading(why), "", "share of each class"]
    ranked = sorted(why.classes.items(), key=lambda item: -item[1])
    first, lost = ranked[0][0], 1 - sum(why.classes.values())
    remarks = []
    if len(ranked) > most:
        remarks.append(f"  and {counted(len(ranked) - most, 'more class', 'more classes')}")
    if lost > 1e-6:
        remarks.append(f"  {lost:.3f} of the heat is lost to the leak")
    if decision != "plain" and why.classes[first] > why.classes.get(why.label, 0.0):
        remarks.append(
            f"  {one_line(str(first))} has the greatest share, but also much of the heat of other "
            f"nodes; the decision '{decision}' takes that into account"
        )
    shown = [(one_line(str(label)), share) for label, share in ranked[:most]]
    names = max((len(label) for label, _ in shown), default=0)
    room = max(5, min(40, width - names - 12))
    lines += [
        f"  {label:<{names}}  {share:.3f}  {'█' * round(share * room)}".rstrip()
        for label, share in shown
    ]
    lines += remarks
    lines += ["", f"from {counted(len(why.seeds), 'seed')}, the greatest shares first"]
    lines += [
        one_line(f"  {share:.3f}  {seed} ({label})") for seed, label, share in why.seeds[:most]
    ]
    if why.paths:
        lines += ["", "paths that carry the most heat"]
        lines += [
            one_line(f"  {share:.3f}  {' → '.join(map(str, path))}") for path, share in why.paths
        ]
        lines += [f"  {words}" for words in [rest_words(why)] if words]
    return lines


def _explained(why: Explanation) -> str:
    """The label that is explained."""
    if why.own_label is None:
        return f"{why.node}: {why.label}"
    if why.own_label == why.label:
        return f"{why.node}: {why.label}, with and without its own label"
    return f"{why.node}: {why.label} without its own label, which is {why.own_label}"


def _probably(why: Explanation) -> str:
    return "" if why.probability is None else f", probability {why.probability:.2f}"
