"""Draw what isotherm does, docs/images/first_picture.svg: ``python scripts/first_picture.py``.

Needs matplotlib and networkx (``isotherm[dev]``).
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

from isotherm import DirichletClassifier, load_dataset

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "first_picture.svg"
SEEDS = (0, 1, 2, 33, 32, 31)
BLUE, RED, GREY = "#2166ac", "#b2182b", "#d0d0d0"


def main() -> None:
    """Draw the three steps side by side."""
    mpl.rcParams.update({"svg.hashsalt": "isotherm", "font.size": 13})
    club = load_dataset("karate")
    model = DirichletClassifier().fit(club.graph, {node: club.labels[node] for node in SEEDS})
    heat = model.temperatures_[:, list(model.classes_).index("Mr. Hi")]
    drawn = nx.from_scipy_sparse_array(club.graph.adjacency)
    places = nx.spring_layout(drawn, seed=7)
    known = np.full(len(heat), GREY, dtype=object)
    known[list(SEEDS)] = [RED if club.labels[node] == "Mr. Hi" else BLUE for node in SEEDS]
    labels = np.where(model.labels_ == "Mr. Hi", RED, BLUE)
    panels = {"what is known": known, "heat at equilibrium": heat, "every node labelled": labels}
    figure, axes = plt.subplots(1, 3, figsize=(12, 4.2), layout="constrained")
    for axis, (title, colours) in zip(axes, panels.items(), strict=True):
        nx.draw_networkx_edges(drawn, places, ax=axis, edge_color="#999999", width=0.8)
        nx.draw_networkx_nodes(
            drawn,
            places,
            ax=axis,
            node_size=[260 if node in SEEDS else 130 for node in drawn],
            node_color=colours,
            cmap="RdBu_r" if colours is heat else None,
            edgecolors="#333333",
        )
        axis.set_title(title)
        axis.set_axis_off()
    figure.savefig(PICTURE, metadata={"Date": None})


if __name__ == "__main__":
    main()
