"""What people have said so far: labels, skipped nodes, classes; and what undoing takes back."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple

from isotherm.errors import LabelError
from isotherm.labels import Labels
from isotherm.page.journal import ACCURACY, CLASS, DRAWN, LABEL, SAVED, SKIP, UNDO

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from isotherm.page.journal import Entry, Journal

LONGEST_CLASS = 200  # characters
MOST_CLASSES = 1000


class Point(NamedTuple):
    """The accuracy that was expected once so many labels were there."""

    labels: int
    value: float
    low: float
    high: float


def class_name(name: object) -> str:
    """A name for a class, without blanks around it.

    Raises
    ------
    LabelError
        If it is empty, too long, or not a text.

    Examples
    --------
    >>> class_name(" cat ")
    'cat'
    """
    if not isinstance(name, str) or not name.strip():
        raise LabelError("a class needs a name")
    name = name.strip()
    if len(name) > LONGEST_CLASS:
        raise LabelError(
            f"the name of a class may have at most {LONGEST_CLASS} characters, got {len(name)}"
        )
    if not name.isprintable():
        raise LabelError(f"the name of a class must not have control characters, got {name!r}")
    return name


class Labelling:
    """The labels of a graph while they are given; one for all who label it.

    Parameters
    ----------
    journal : Journal
    given : mapping {node: label}
        What the label file says.
    names : collection of str
        The nodes of the graph.

    Attributes
    ----------
    labels : dict
        Node → label, all that is known now.
    classes : list of str
        In the order in which they came: those of the file sorted, then new ones.
    skipped : set of str
        Nodes that somebody would not label.
    version : int
        Grows with every act.
    curve : list of Point
    """

    def __init__(self, journal: Journal, given: Mapping[str, str], names: Iterable[str]) -> None:
        self.journal, self._given = journal, dict(given)
        self._given_drawn = given.drawn if isinstance(given, Labels) else None
        self.labels: dict[str, str] = dict(given)
        self.classes: list[str] = sorted(set(given.values()))
        self.skipped: set[str] = set()
        self.curve: list[Point] = []
        self.version = 0
        self.changed: Callable[[], None] = lambda: None
        self._names = set(names)
        self._undone: set[int] = set()
        self._lock = threading.Lock()
        for entry in journal.entries:
            self.apply(entry)

    @property
    def n_given(self) -> int:
        """How many labels differ from those of the file."""
        both = self.labels.keys() | self._given.keys()
        return sum(self.labels.get(node) != self._given.get(node) for node in both)

    @property
    def n_saved(self) -> int:
        """The number of the last entry that a saved file has."""
        saved = [entry.number for entry in self.journal.entries if entry.act == SAVED]
        return saved[-1] if saved else 0

    @property
    def drawn(self) -> frozenset[str] | None:
        """Nodes with a label that were drawn at random; None if nothing says which were."""
        said = [e for e in self.journal.entries if e.act == LABEL and e.more.get(DRAWN) is True]
        if not said and self._given_drawn is None:
            return None
        still: set[str] = {entry.node for entry in said if entry.number not in self._undone}
        drawn = still | (self._given_drawn or frozenset())
        return frozenset(node for node in drawn if node in self.labels)

    def known(self) -> Labels:
        """All labels as they are now."""
        return Labels(dict(self.labels), self.drawn)

    def label(self, node: str, label: str | None, who: str = "", *, drawn: bool = False) -> Entry:
        """Give a node a label, or withdraw it; kept when this returns."""
        self._check(node)
        more = {DRAWN: True} if drawn and label is not None else {}
        return self._add(LABEL, node=node, label=None if label is None else class_name(label),
                         who=who, more=more)  # fmt: skip

    def skip(self, node: str, who: str = "") -> Entry:
        """Pass over a node: it is not suggested any more."""
        self._check(node)
        return self._add(SKIP, node=node, who=who)

    def new_class(self, name: str, who: str = "") -> Entry | None:
        """Make a class; None if there is one of that name."""
        name = class_name(name)
        return None if name in self.classes else self._add(CLASS, label=name, who=who)

    def undo(self, who: str = "") -> Entry | None:
        """Take back the last thing that this person did; None if there is nothing."""
        with self._lock:
            last = self.last_act(who)
            return None if last is None else self._keep(UNDO, of=last.number, who=who)

    def last_act(self, who: str = "") -> Entry | None:
        """What undoing would take back."""
        acts = (
            entry
            for entry in reversed(self.journal.entries)
            if entry.act in (LABEL, SKIP, CLASS)
            and entry.who == who
            and entry.number not in self._undone
        )
        return next(acts, None)

    def saved(self, name: str, checksum: str, who: str = "", *, original: bool = False) -> Entry:
        """Note that a file was written."""
        return self._add(
            SAVED, who=who, more={"file": name, "checksum": checksum, "original": original}
        )

    def expect(self, point: Point) -> None:
        """Add a point to the curve of the accuracy."""
        self._add(ACCURACY, more=point._asdict())

    def _check(self, node: str) -> None:
        if node not in self._names:
            raise LabelError(f"there is no node {node[:80]!r}")

    def _add(self, act: str, **told: object) -> Entry:
        with self._lock:
            return self._keep(act, **told)

    def _keep(self, act: str, **told: object) -> Entry:
        if act in (LABEL, CLASS):
            self._check_class(told.get("label"))
        entry = self.journal.append(act, **told)
        self.apply(entry)
        self.changed()
        return entry

    def _check_class(self, name: object) -> None:
        if isinstance(name, str) and name not in self.classes and len(self.classes) >= MOST_CLASSES:
            raise LabelError(
                f"there are already {MOST_CLASSES} classes, as many as the page takes: use one of "
                "them"
            )

    def apply(self, entry: Entry) -> None:
        """Take note of an entry of the journal, its last one."""
        if entry.act == LABEL:
            self._set(entry.node, entry.label)
            self.skipped.discard(entry.node)
        elif entry.act == SKIP:
            self.skipped.add(entry.node)
        elif entry.act == CLASS and entry.label is not None:
            self._add_class(entry.label)
        elif entry.act == UNDO:
            self._take_back(self.journal.entries[entry.of - 1], entry.number)
        elif entry.act == ACCURACY:
            self.curve = [*self.curve, Point(**entry.more)]
        if entry.act not in (ACCURACY, SAVED):
            self.version += 1

    def _set(self, node: str, label: str | None) -> None:
        if label is None:
            self.labels.pop(node, None)
        else:
            self.labels[node] = label
            self._add_class(label)

    def _add_class(self, name: str) -> None:
        if name not in self.classes:
            self.classes = [*self.classes, name]

    def _take_back(self, entry: Entry, now: int) -> None:
        """As if an entry had not been."""
        self._undone.add(entry.number)
        before = [one for one in self.journal.entries[: now - 1] if one.number not in self._undone]
        if entry.act in (LABEL, SKIP):
            last = next(
                (o for o in reversed(before) if o.act in (LABEL, SKIP) and o.node == entry.node),
                None,
            )
            labelled = next(
                (o for o in reversed(before) if o.act == LABEL and o.node == entry.node), None
            )
            known = self._given.get(entry.node)
            self._set(entry.node, known if labelled is None else labelled.label)
            (self.skipped.add if last is not None and last.act == SKIP else self.skipped.discard)(
                entry.node
            )
        made = entry.label
        used = {*self._given.values(), *(o.label for o in before if o.act in (LABEL, CLASS))}
        if made is not None and made not in used:
            self.classes = [name for name in self.classes if name != made]
