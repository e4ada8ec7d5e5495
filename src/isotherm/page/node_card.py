"""What the page tells of one node, as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

import numpy as np

from isotherm.classifier.estimator import STATUS
from isotherm.errors import LabelError, ParameterError
from isotherm.page.surroundings import around
from isotherm.trust.explain import shares_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

    from isotherm.classifier.algorithm import HeatClassifier
    from isotherm.graph import Graph
    from isotherm.page.snapshot import Snapshot

    Json = dict[str, Any]

SHOWN_NEIGHBOURS = 12
SHOWN_CLASSES = 9
SHOWN_SEEDS = 6
PATHS = 5
TOL = 1e-4  # of the shares of seeds
LONGEST_NOTE = 300  # characters


class Explained(NamedTuple):
    """Where the heat of a node comes from.

    Attributes
    ----------
    told : dict
        As JSON.
    heat : array of shape (n,) or None
        How much of it goes through each node; None where that is not known.
    """

    told: dict[str, Any]
    heat: NDArray[np.float64] | None


NOTHING_KNOWN = "nothing is known yet: give the first label"


def check_link(template: str) -> str:
    """A link template that can be shown.

    Raises
    ------
    ParameterError
        If it is no web address, or has no place for the id.
    """
    if not template.startswith(("https://", "http://")):
        raise ParameterError(f"--link must begin with https:// or http://, got {template!r}")
    if "{id}" not in template:
        raise ParameterError(f"--link needs {{id}} where the node's id goes, got {template!r}")
    return template


def link_to(template: str | None, name: str) -> str | None:
    """The address of a node.

    Examples
    --------
    >>> link_to("https://example.org/{id}", "a b/c")
    'https://example.org/a%20b%2Fc'
    """
    encoded = quote(name.encode("utf-8", "surrogatepass"), safe="")
    return None if template is None else template.replace("{id}", encoded)


class Cards:
    """Makes cards of nodes.

    Parameters
    ----------
    graph : Graph
        Its ids are texts.
    attributes : mapping of str to str for each node, by position
    link : str or None
    """

    def __init__(
        self, graph: Graph, attributes: dict[int, dict[str, str]], link: str | None
    ) -> None:
        self.graph, self.names = graph, graph.names.tolist()
        self._attributes, self._link = attributes, link

    def brief(self, snapshot: Snapshot, nodes: Sequence[int]) -> list[Json]:
        """Of some nodes: number, name, label, how sure it is, and what became of it."""
        places = np.array(nodes, dtype=np.intp)
        codes, status = snapshot.codes[places].tolist(), snapshot.status[places].tolist()
        sure = snapshot.certainty_of(places).tolist()
        return [
            {
                "number": i,
                "name": self.names[i],
                "label": snapshot.classes[k] if k >= 0 else None,
                "probability": round(p, 4) if k >= 0 else None,
                "status": STATUS[s] if snapshot.model is not None else "unlabelled",
            }
            for i, k, p, s in zip(places.tolist(), codes, sure, status, strict=True)
        ]

    def card(self, snapshot: Snapshot, node: int) -> Json:
        """All that is known of a node without solving."""
        (told,) = self.brief(snapshot, [node])
        shares = snapshot.shares(np.array([node]))[0]
        best = np.argsort(-shares, kind="stable")[:SHOWN_CLASSES].tolist()
        rows = self.graph.rows
        entries = slice(rows.start[node], rows.start[node + 1])
        ends, weights = rows.ends[entries], None if rows.weights is None else rows.weights[entries]
        strength = np.ones(len(ends)) if weights is None else weights
        order = np.lexsort((-self.graph.degrees[ends], -strength, ~snapshot.is_seed[ends]))
        near = self.brief(snapshot, ends[order[:SHOWN_NEIGHBOURS]].tolist())
        if weights is not None:
            for one, k in zip(near, order.tolist(), strict=False):
                one["weight"] = float(weights[k])
        return {
            **told,
            "link": link_to(self._link, self.names[node]),
            "attributes": self._attributes.get(node, {}),
            "degree": len(ends),
            "classes": [
                {"name": snapshot.classes[k], "probability": round(float(shares[k]), 4)}
                for k in best
            ],
            "neighbours": near,
            "version": snapshot.version,
        }

    def explain(self, classifier: HeatClassifier, node: int) -> Explained:
        """Where its heat comes from; by the thread of the model."""
        told: Json = {"seeds": [], "paths": [], "note": ""}
        try:
            if classifier.problem_.is_free[node]:
                return self._of_free(classifier, node, told)
            if len(classifier.seeds_.nodes) > 1 and not classifier.problem_.is_unreached[node]:
                self._of_seed(classifier, node, told)
            elif classifier.problem_.is_unreached[node]:
                told["note"] = "no heat reaches this node"
            else:
                told["note"] = "this is the only label"
        except LabelError as error:  # without its own label it is in a part without any
            told["note"] = str(error) if len(str(error)) < LONGEST_NOTE else "nothing explains it"
        return Explained(told, None)

    def draw(self, found: Explained, node: int, more: list[int]) -> Json:
        """The same with what to draw around the node."""
        ways = dict.fromkeys(i for path in found.told["paths"] for i in path["nodes"])
        picture = around(self.graph, node, found.heat, list(ways), more)
        return found.told | {
            "picture": {
                "nodes": picture.nodes.tolist(),
                "names": [self.names[i] for i in picture.nodes.tolist()],
                "x": np.round(picture.places[:, 0], 3).tolist(),
                "y": np.round(picture.places[:, 1], 3).tolist(),
                "edges": np.column_stack(picture.edges).tolist(),
            }
        }

    def _of_free(self, classifier: HeatClassifier, node: int, told: Json) -> Explained:
        found = shares_of(classifier.session(), classifier.solution_, node, tol=TOL)
        order = np.argsort(-found.shares, kind="stable")[:SHOWN_SEEDS]
        codes = dict(zip(classifier.seeds_.nodes.tolist(), classifier.seeds_.codes.tolist(),
                         strict=True))  # fmt: skip
        for k in order[found.shares[order] > 0].tolist():
            i = int(found.seeds[k])
            label = str(classifier.classes_[codes[i]])
            told["seeds"].append(self._seed(i, label, found.shares[k]))
        for path in found.paths(PATHS)[0]:
            told["paths"].append(self._path(list(path.nodes), path.share))
        return Explained(told, found.heat_through())

    def _of_seed(self, classifier: HeatClassifier, node: int, told: Json) -> None:
        """What it would be without its own label."""
        why = classifier.explain(self.names[node], paths=PATHS, without_own=True)
        for name, label, share in why.seeds[:SHOWN_SEEDS]:
            told["seeds"].append(self._seed(self._place(name), str(label), share))
        for nodes, share in why.paths:
            told["paths"].append(self._path([self._place(name) for name in nodes], share))
        told["own_label"], told["label"] = why.own_label, why.label

    def _place(self, name: Hashable) -> int:
        return int(self.graph.positions([name])[0])

    def _seed(self, i: int, label: str, share: float) -> Json:
        return {
            "number": i, "name": self.names[i], "label": label, "share": round(float(share), 4),
        }  # fmt: skip

    def _path(self, nodes: list[int], share: float) -> Json:
        names = [self.names[i] for i in nodes]
        return {"nodes": nodes, "names": names, "share": round(float(share), 4)}
