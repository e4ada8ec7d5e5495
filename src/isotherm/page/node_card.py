"""What the page tells of one node, as JSON."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np

from isotherm.classifier.estimator import STATUS
from isotherm.errors import LabelError, ParameterError
from isotherm.page.surroundings import around, heat_through

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isotherm.classifier.algorithm import HeatClassifier
    from isotherm.graph import Graph
    from isotherm.page.snapshot import Snapshot

    Json = dict[str, Any]

SHOWN_NEIGHBOURS = 12
SHOWN_CLASSES = 9
SHOWN_SEEDS = 6
PATHS = 5


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

    def why(self, classifier: HeatClassifier | None, node: int, more: list[int]) -> Json:
        """Where its heat comes from, and what to draw around it; by the thread of the model."""
        told: Json = {"seeds": [], "paths": [], "note": ""}
        ways: list[int] = []
        heat = None
        if classifier is None:
            told["note"] = "nothing is known yet: give the first label"
        else:
            try:
                ways = self._explain(classifier, node, told)
                if classifier.problem_.is_free[node]:
                    heat = heat_through(classifier, node)
            except LabelError as error:
                told["note"] = str(error) if len(str(error)) < 300 else "no heat reaches this node"
        found = around(self.graph, node, heat, ways, more)
        told["picture"] = {
            "nodes": found.nodes.tolist(),
            "names": [self.names[i] for i in found.nodes.tolist()],
            "x": np.round(found.places[:, 0], 3).tolist(),
            "y": np.round(found.places[:, 1], 3).tolist(),
            "edges": np.column_stack(found.edges).tolist(),
        }
        return told

    def _explain(self, classifier: HeatClassifier, node: int, told: Json) -> list[int]:
        own = not classifier.problem_.is_free[node] and len(classifier.seeds_.nodes) > 1
        why = classifier.explain(self.names[node], paths=PATHS, without_own=own)
        seeds = [one for one in why.seeds if one[0] != self.names[node]][:SHOWN_SEEDS]
        places = self.graph.positions([one[0] for one in seeds]).tolist() if seeds else []
        told["seeds"] = [
            {"number": i, "name": name, "label": label, "share": round(share, 4)}
            for i, (name, label, share) in zip(places, seeds, strict=True)
        ]
        told["own_label"], told["label"] = why.own_label, why.label
        ways: list[int] = []
        for nodes, share in why.paths:
            path = self.graph.positions(list(nodes)).tolist()
            told["paths"].append({"nodes": path, "names": list(nodes), "share": round(share, 4)})
            ways += [i for pair in pairwise(path) for i in pair]
        return list(dict.fromkeys(ways))
