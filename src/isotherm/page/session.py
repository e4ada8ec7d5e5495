"""One labelling session: a graph, what people say of it, and the model; and its state as JSON."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.blas import one_blas_thread
from isotherm.colours import COLOURS, colour_numbers
from isotherm.page.events import Events
from isotherm.page.model import Model
from isotherm.page.node_card import Cards
from isotherm.page.node_table import NodeTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.graph import Graph
    from isotherm.job import ModelParameters
    from isotherm.page.journal import Entry
    from isotherm.page.labelling import Labelling
    from isotherm.page.saving import LabelFile
    from isotherm.page.truth import Truth
    from isotherm.trust.stop import Advice

SHOWN_SUSPECTS = 20
SHOWN_POINTS = 400


class LabellingSession:
    """All that the page is about.

    Parameters
    ----------
    title : str
        What the graph is called.
    graph : Graph
        Its ids are texts.
    labelling : Labelling
    file : LabelFile
    parameters : ModelParameters
    attributes : mapping, optional
        See `Cards`.
    link : str, optional
        See `Cards`.
    truth : Truth, optional
    notes : list of str
        What whoever opens the page should know.
    """

    def __init__(
        self,
        title: str,
        graph: Graph,
        labelling: Labelling,
        file: LabelFile,
        parameters: ModelParameters,
        *,
        attributes: dict[int, dict[str, str]] | None = None,
        link: str | None = None,
        truth: Truth | None = None,
        notes: list[str] | None = None,
        who: str = "",
    ) -> None:
        self.title, self.graph, self.labelling, self.file = title, graph, labelling, file
        self.parameters, self.truth, self.notes, self.who = parameters, truth, notes or [], who
        counts = Counter(labelling.labels.values())
        classes = labelling.classes
        # As in reports; a class that comes later takes the next colour, and all keep theirs.
        self._colours = colour_numbers(classes, [counts[name] for name in classes])
        self.model = Model(graph, labelling, parameters)
        self.cards = Cards(graph, attributes or {}, link)
        self.table = NodeTable(graph)
        self.events = Events(self.state)
        self.model.changed = self.events.tell

    def start(self) -> None:
        """Fold in what is known, and begin to think."""
        one_blas_thread.__enter__()  # small products, several threads of our own
        self.model.start()

    def leave(self) -> None:
        """Let go of those who listen and wait for answers."""
        self.events.stop()
        self.model.leave()

    def stop(self) -> None:
        """End the threads and close the journal: everything is in it."""
        self.model.stop()
        one_blas_thread.__exit__()
        self.labelling.journal.close()

    def label(self, node: str, label: str | None, who: str = "") -> Entry:
        """Give a node a label, or withdraw it; whether it was drawn at random is kept with it."""
        drawn = int(self.graph.positions([node])[0]) in self.model.checks
        return self.labelling.label(node, label, who, drawn=drawn)

    def skipped(self) -> NDArray[np.intp]:
        """Positions of the nodes that were skipped."""
        nodes = sorted(self.labelling.skipped)
        return self.graph.positions(nodes) if nodes else np.empty(0, dtype=np.intp)

    def next_node(self) -> int | None:
        """The best node to label that nobody has labelled or skipped meanwhile."""
        done = self.labelling.labels.keys() | self.labelling.skipped
        names = self.cards.names
        return next(
            (one.position for one in self.model.suggestions if names[one.position] not in done),
            None,
        )

    def state(self) -> dict[str, Any]:
        """Where things stand, for all who look on."""
        model, labelling = self.model, self.labelling
        snapshot = model.snapshot
        labels = dict(labelling.labels)
        done = labels.keys() | labelling.skipped
        names = self.cards.names
        return {
            "title": self.title,
            "nodes": self.graph.n_nodes,
            "edges": self.graph.n_edges,
            "who": self.who,
            "notes": self.notes,
            "version": labelling.version,
            "folded": snapshot.version,
            "judged": model.judged,
            "progress": model.progress,
            "fault": model.fault,
            "labels": len(labels),
            "given": labelling.n_given,
            "skipped": len(labelling.skipped),
            "is_saved": self.is_saved,
            "file": self.file.path.name,
            "original": self.file.original.name if self.file.can_replace else None,  # type: ignore[union-attr]
            "journal": labelling.journal.path.name,
            "classes": self._classes(labels),
            "curve": [list(point) for point in labelling.curve[-SHOWN_POINTS:] if model.is_known],
            "bins": snapshot.bins,
            "advice": None
            if model.advice is None
            else {"stop": model.advice.stop, "reason": _reason(model.advice)},
            "suggestions": [
                {"number": one.position, "name": names[one.position], "why": one.why}
                for one in model.suggestions
                if names[one.position] not in done
            ],
            "suspects": self._suspects(labels),
            "truth": self._truth(),
        }

    @property
    def is_saved(self) -> bool:
        """Whether the label file has all labels."""
        if self.labelling.n_given == 0:
            return True
        acts = [e.number for e in self.labelling.journal.entries if e.act in ("label", "undo")]
        return not acts or self.labelling.n_saved > acts[-1]

    def colour_of(self, name: str) -> int:
        """The number of a class's colour; −1 if all are taken."""
        if name not in self._colours and len(self._colours) < len(COLOURS):
            self._colours[name] = len(self._colours)
        return self._colours.get(name, -1)

    def _classes(self, labels: dict[str, str]) -> list[dict[str, Any]]:
        seeds, sizes = Counter(labels.values()), self.model.snapshot.sizes()
        return [
            {
                "name": name,
                "colour": self.colour_of(name),
                "seeds": seeds[name],
                "nodes": sizes.get(name, 0),
            }
            for name in self.labelling.classes
        ]

    def _suspects(self, labels: dict[str, str]) -> list[dict[str, Any]]:
        """Labels that look wrong, unless they were changed meanwhile."""
        found = [one for one in self.model.suspects if labels.get(str(one.node)) == one.label]
        found = found[:SHOWN_SUSPECTS]
        places = self.graph.positions([one.node for one in found]).tolist() if found else []
        return [
            {
                "number": i,
                "name": one.node,
                "label": one.label,
                "suggested": one.suggested,
                "own_probability": round(one.own_probability, 4),
                "suggested_probability": round(one.suggested_probability, 4),
            }
            for i, one in zip(places, found, strict=True)
        ]

    def _truth(self) -> dict[str, Any] | None:
        if self.truth is None:
            return None
        score = self.truth.score(self.model.snapshot)
        return {"right": score.right, "total": score.total}


def _reason(advice: Advice) -> str:
    """Why to stop or to go on, and what the accuracy rests on."""
    if advice.words in advice.reason or not np.isfinite(advice.accuracy.value):
        return advice.reason
    return f"{advice.reason}; expected accuracy {advice.words}"
