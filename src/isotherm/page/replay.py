"""A journal told again: who labelled what and when, and what the model had thought of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from isotherm.page.follower import Follower
from isotherm.page.journal import LABEL, SKIP, UNDO
from isotherm.page.labelling import Labelling

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from isotherm.graph import Graph
    from isotherm.job import ModelParameters
    from isotherm.page.journal import Entry


class Step(NamedTuple):
    """One act.

    Attributes
    ----------
    entry : Entry
    thought : str or None
        The label that the node had until then.
    all_labels : dict
        Node → label, after it.
    """

    entry: Entry
    thought: str | None
    all_labels: dict[str, str]


class _Part:
    """A journal up to some entry, which nobody writes to."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []


def replay(
    graph: Graph,
    entries: list[Entry],
    given: Mapping[str, str],
    parameters: ModelParameters,
) -> Iterator[Step]:
    """Do again what a journal says, one act after the other.

    Parameters
    ----------
    graph : Graph
    entries : list of Entry
    given : mapping {node: label}
        What the label file says.
    parameters : ModelParameters
    """
    part = _Part()
    names = graph.names.tolist()
    place = {name: i for i, name in enumerate(names)}
    labelling = Labelling(part, given, names)  # type: ignore[arg-type]
    follower = Follower(graph, parameters)
    follower.follow(labelling.known())
    for entry in entries:
        thought, model = None, follower.classifier
        if entry.act == LABEL and model is not None:
            code = int(model.codes(slice(place[entry.node], place[entry.node] + 1))[0][0])
            thought = str(model.classes_[code]) if code >= 0 else None
        part.entries.append(entry)
        labelling.apply(entry)
        if entry.act not in (LABEL, SKIP, UNDO):
            continue
        labels = labelling.known()
        follower.follow(labels)
        yield Step(entry, thought, labels)
