"""Why nodes have their labels → a page with shares and paths drawn, text, or a drawing.

A new kind of file is a function and an entry in `KINDS`.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from isotherm.errors import ParameterError
from isotherm.files import replacing, written
from isotherm.report.explanation_lines import NOTHING, explanation_lines, heading, rest_words
from isotherm.report.heat_flow import heat_flow, heat_flow_file
from isotherm.report.page import (
    Bars,
    Cell,
    Figure,
    Group,
    Heading,
    Notice,
    Paragraph,
    Part,
    Section,
    Table,
    page,
)
from isotherm.report.palette import N_COLOURS, Palette, colour
from isotherm.report.words import counted, percent, short

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from isotherm.classifier.algorithm import HeatClassifier
    from isotherm.trust.explain import Explanation

WIDTH = 100  # letters of a line of text
MOST_IN_WORDS = 4  # classes that the sentence names
MOST_BARS = N_COLOURS
LONGEST_NAME = 30


@dataclass(frozen=True)
class Classes:
    """What the page shows of the classes of a run, beside the explanation of one node."""

    palette: Palette
    means: Mapping[Hashable, float] = field(default_factory=dict)  # temperatures over all nodes
    decision: str = "plain"

    @classmethod
    def of(cls, classifier: HeatClassifier) -> Classes:
        """Those of a fitted classifier."""
        names = classifier.classes_.tolist()
        n_seeds = np.bincount(classifier.seeds_.codes, minlength=len(names))
        means = dict(zip(names, classifier.mean_temperatures_.tolist(), strict=True))
        return cls(Palette(names, n_seeds.tolist()), means, classifier.decision_)


@dataclass(frozen=True)
class Explanations:
    """What a file tells of some nodes."""

    whys: Sequence[Explanation]
    classes: Classes  # of the same classifier
    unexplained: Sequence[str] = ()  # what is to be said of nodes that nothing explains
    most: int = 10  # seeds to list

    def lines(self, width: int) -> list[str]:
        """All of it as lines of text."""
        found: list[str] = []
        for why in self.whys:
            lines = explanation_lines(why, self.most, width, self.classes.decision)
            found += ["", "", *lines] if found else lines
        return [*found, *([""] if found and self.unexplained else []), *self.unexplained]


def explanation_page(why: Explanation, classes: Classes, *, most: int = 10) -> str:
    """One HTML document that needs nothing but itself; it lists `most` seeds."""
    has = "has" if why.own_label is None else "would get"
    title = f"Why {short(why.node)} {has} the label {short(why.label, LONGEST_NAME)}"
    sections = [_shares(why, classes, most), _paths(why, classes.palette)]
    return page(title, _sentence(why, classes.decision), sections)


def explanations_page(found: Explanations) -> str:
    """One HTML document for several nodes: a table of them, and then a section for each."""
    whys, classes, unexplained = found.whys, found.classes, found.unexplained
    if len(whys) == 1 and not unexplained:
        return explanation_page(whys[0], classes, most=found.most)
    rows = [
        (
            short(why.node, LONGEST_NAME),
            _cell(why.label, classes.palette),
            "–" if why.probability is None else percent(why.probability),
            percent(why.classes.get(why.label, 0.0)),
        )
        for why in whys
    ]
    columns = ("node", "label", "probability", "heat of this label")
    parts: list[Part] = [Table("", columns, rows, kind="words2")]
    if unexplained:
        parts.insert(0, Notice("Nothing explains some of the nodes.", list(unexplained)))
    sections = [Section("All of them", "", parts)]
    for why in whys:
        shares, paths = _shares(why, classes, found.most), _paths(why, classes.palette)
        below = [Heading(paths.title), Paragraph(paths.text), *paths.parts]
        words = Paragraph(_sentence(why, classes.decision))
        title = f"{short(why.node)}: {short(why.label, LONGEST_NAME)}"
        sections.append(Section(title, "", [words, Paragraph(shares.text), *shares.parts, *below]))
    title = f"Why {counted(len(whys), 'node has its label', 'nodes have their labels')}"
    return page(title, "", sections)


def _is_seed(why: Explanation) -> bool:
    return [seed for seed, *_ in why.seeds] == [why.node]


def _ranked(why: Explanation) -> list[Hashable]:
    """Classes with a share, the greatest first; the node's own is among those with a bar."""
    some = [label for label, share in why.classes.items() if share > 0 or label == why.label]
    some.sort(key=lambda label: -why.classes[label])
    if why.label in some[MOST_BARS:]:
        some.remove(why.label)
        some.insert(MOST_BARS - 1, why.label)
    return some


def _sentence(why: Explanation, decision: str) -> str:
    """The explanation in words."""
    node, label = short(why.node), short(why.label, LONGEST_NAME)
    if _is_seed(why):
        return f"{node} is a seed: its label, “{label}”, was given."
    ranked = sorted(_ranked(why), key=lambda label: -why.classes[label])
    named, others = ranked[:MOST_IN_WORDS], ranked[MOST_IN_WORDS:]
    words = [f"{percent(why.classes[c])} from “{short(c, LONGEST_NAME)}”" for c in named]
    if others:
        rest = percent(sum(why.classes[c] for c in others))
        words.append(f"{rest} from {counted(len(others), 'other class', 'other classes')}")
    listed = " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
    seeds = counted(len(why.seeds), "seed")
    sure = "" if why.probability is None else f", with a probability of {percent(why.probability)}"
    text = f"{node} has the label “{label}”{sure}. Its heat comes from {seeds}: {listed}."
    if why.own_label is not None:
        text = f"{_without_own(why)[:-1]}{sure}. Its heat would then come from {seeds}: {listed}."
    lost = 1 - sum(why.classes.values())
    if lost > NOTHING:
        text += f" The rest, {percent(lost)}, is lost to the leak."
    if decision != "plain" and why.classes[named[0]] > why.classes.get(why.label, 0.0):
        text += (
            f" “{short(named[0], LONGEST_NAME)}” has the greatest share, but it also has much of "
            f"the heat of other nodes; the decision “{decision}” takes that into account."
        )
    return text.replace(" %", "\u00a0%")


def _without_own(why: Explanation) -> str:
    """The label that a seed would get from the others, and its own."""
    node, label = short(why.node), short(why.label, LONGEST_NAME)
    own = short(why.own_label, LONGEST_NAME)
    if why.own_label == why.label:
        return f"Without its own label, “{own}”, {node} would get the same from the others."
    return f"{node} is a seed with the label “{own}”. Without it, it would get “{label}”."


def _shares(why: Explanation, classes: Classes, most: int) -> Section:
    """The share of each class, and of the seeds that give most."""
    means = {} if _is_seed(why) else classes.means
    ranked = _ranked(why)
    words = "The share of a class is the temperature of the node for that class."
    if means:
        words += " The outlined bar is the mean over all nodes."
    silent = len(why.classes) - len(ranked)
    if silent:
        words += f" {counted(silent, 'class has', 'classes have')} no share."
    shown, others = ranked[:MOST_BARS], ranked[MOST_BARS:]
    groups = [(_cell(label, classes.palette), [label]) for label in shown]
    if others:
        name = counted(len(others), "other class", "other classes")
        groups.append((Cell(name, colour(-1)), others))
    sums = [
        [sum(max(numbers.get(label, 0.0), 0.0) for label in group) for _, group in groups]
        for numbers in (means, why.classes)
    ]
    longest = max(*sums[0], *sums[1], 1e-9)
    rows = [
        (name, Bars(mean / longest, share / longest, name.colour), percent(share), percent(mean))
        for (name, _), mean, share in zip(groups, *sums, strict=True)
    ]
    columns, n_shown = ("class", "", "share", "mean"), 4 if means else 3
    table = Table("Share of each class", columns[:n_shown], [row[:n_shown] for row in rows])
    pair = Group("pair", [table, _seeds(why, classes.palette, most)])
    return Section("Where the heat comes from", words, [pair])


def _seeds(why: Explanation, palette: Palette, most: int) -> Table:
    drawn: defaultdict[Hashable, float] = defaultdict(float)
    for path, share in why.paths:
        drawn[path[-1]] += share
    rows = []
    for seed, label, share in why.seeds[:most]:
        cells = short(seed, LONGEST_NAME), _cell(label, palette), percent(share)
        rows.append((*cells, percent(drawn[seed]) if seed in drawn else "–"))
    notes = []
    if len(why.seeds) > most:
        rest = percent(sum(share for *_, share in why.seeds[most:]))
        notes.append(f"{counted(len(why.seeds) - most, 'other seed')}: {rest} in all.")
    columns = ("seed", "label", "share", "on paths drawn")
    return Table("Seeds with the greatest shares", columns, rows, notes, kind="words2")


def _cell(label: Hashable, palette: Palette) -> Cell:
    return Cell(short(label, LONGEST_NAME), palette.colour(label))


def _paths(why: Explanation, palette: Palette) -> Section:
    """The paths, drawn and listed."""
    title = "The paths it takes"
    if not why.paths:
        words = "A seed gets no heat from others" if _is_seed(why) else "There is no path to draw"
        return Section(title, f"{words}.")
    total = sum(share for _, share in why.paths)
    carry = counted(len(why.paths), "path carries", "paths carry")
    words = (
        "The node is on the left; the seeds that its heat comes from are on the right, with rings. "
        "A line is as wide as the share of heat that it carries, and has the colour of the seed's "
        f"class. {carry} {percent(total)} of all heat"
    )
    if why.rest is not None:
        words += f"; {rest_words(why)}" if rest_words(why) else ""
    elif sum(why.classes.values()) - total > NOTHING:
        words += "; the rest arrives by weaker paths"
    rows = [(short(" → ".join(map(short, path)), 400), percent(share)) for path, share in why.paths]
    table = Table("The paths, node by node", ("path", "share"), rows, kind="paths")
    return Section(title, f"{words}.", [Figure("", heat_flow(why, palette), scrolls=True), table])


def check_explanation_file(name: str, n_nodes: int) -> None:
    """Refuse a file that cannot be made, before any work is done.

    Raises
    ------
    ParameterError
        An ending that stands for no kind of file; several nodes for one drawing.
    """
    ending = Path(name.lower()).suffix
    if ending not in KINDS:
        known = ", ".join(KINDS)
        raise ParameterError(f"{name}: the ending chooses the format and must be one of {known}")
    if KINDS[ending] is _drawing and n_nodes > 1:
        raise ParameterError(
            f"{name}: a drawing shows one node, and there are {n_nodes}: write .html, which shows "
            "them all, or a file for each node"
        )


def write_explanations(name: str, found: Explanations, *, force: bool = False) -> None:
    """Write the file, whole or not at all; FileError if it cannot be written."""
    with written(name), replacing(Path(name), force=force) as file:
        file.write(KINDS[Path(name.lower()).suffix](found).encode())


def _text(found: Explanations) -> str:
    return "\n".join([*found.lines(WIDTH), ""])


def _drawing(found: Explanations) -> str:
    (why,) = found.whys
    if not why.paths:
        raise ParameterError(
            "there is nothing to draw, because seeds get no heat from others: write .txt or "
            ".html instead, or add --without-own"
        )
    return heat_flow_file(short(heading(why), 90), rest_words(why), why, found.classes.palette)


KINDS: dict[str, Callable[[Explanations], str]] = {
    ".html": explanations_page,
    ".htm": explanations_page,
    ".txt": _text,
    ".svg": _drawing,
}
