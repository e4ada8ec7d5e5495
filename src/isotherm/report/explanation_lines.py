"""An explanation → lines for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isotherm.printable import one_line
from isotherm.report.words import counted

if TYPE_CHECKING:
    from isotherm.trust.explain import Explanation


def explanation_lines(why: Explanation, most: int, width: int, decision: str) -> list[str]:
    """Where the temperatures of a node come from."""
    lines = [one_line(_explained(why)), "", "share of each class"]
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
    lines += ["", f"from {counted(len(why.seeds), 'seed')}, the greatest shares"]
    lines += [
        one_line(f"  {share:.3f}  {seed} ({label})") for seed, label, share in why.seeds[:most]
    ]
    if why.paths:
        lines += ["", "paths that carry most heat"]
        lines += [
            one_line(f"  {share:.3f}  {' → '.join(map(str, path))}") for path, share in why.paths
        ]
    return lines


def _explained(why: Explanation) -> str:
    """The label that is explained."""
    if why.own_label is None:
        return f"{why.node}: {why.label}"
    if why.own_label == why.label:
        return f"{why.node}: {why.label}, with and without its own label"
    return f"{why.node}: {why.label} without its own label, which is {why.own_label}"
