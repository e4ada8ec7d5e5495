"""
Compared with other libraries, losses included
==============================================

Several classifiers get the same graphs and the same seeds, and are judged by the same measure.
Poisson learning is GraphLearning's; diffusion and propagation are scikit-network's; label spreading
is written here in a few lines, since scikit-learn's takes rows of numbers, not a graph. All use
their default settings.
"""

import warnings

import graphlearning
import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components
from sklearn.datasets import load_digits
from sklearn.metrics import f1_score
from sklearn.neighbors import kneighbors_graph
from sknetwork.classification import DiffusionClassifier, Propagation

from isotherm import (
    BlockModel,
    DirichletClassifier,
    Graph,
    IsothermWarning,
    StackedDirichletClassifier,
    load_dataset,
)

warnings.simplefilter("ignore", IsothermWarning)  # labels are few, on purpose


def spreading(adjacency, known, alpha=0.9, steps=50):
    """Label spreading (Zhou et al. 2004), by the textbook."""
    root = 1 / np.sqrt(np.maximum(np.asarray(adjacency.sum(axis=1)).ravel(), 1e-12))
    start = np.zeros((adjacency.shape[0], max(known.values()) + 1))
    start[list(known), list(known.values())] = 1
    heat = start
    for _ in range(steps):
        heat = alpha * root[:, None] * (adjacency @ (root[:, None] * heat)) + (1 - alpha) * start
    return heat.argmax(axis=1)


def poisson(adjacency, known):
    """GraphLearning's Poisson learning."""
    model = graphlearning.ssl.poisson(csr_matrix(adjacency))
    classes, codes = np.unique(list(known.values()), return_inverse=True)
    return classes[model.fit(np.array(list(known)), codes).argmax(axis=1)]


CLASSIFIERS = {
    "isotherm, centered": lambda graph, known: DirichletClassifier().fit_predict(graph, known),
    "isotherm, stacked": lambda graph, known: StackedDirichletClassifier().fit_predict(
        graph, known
    ),
    "scikit-network diffusion": lambda graph, known: DiffusionClassifier().fit_predict(
        csr_matrix(graph.adjacency), known
    ),
    "scikit-network propagation": lambda graph, known: Propagation().fit_predict(
        csr_matrix(graph.adjacency), known
    ),
    "label spreading": lambda graph, known: spreading(graph.adjacency, known),
    "Poisson learning": lambda graph, known: poisson(graph.adjacency, known),
}

# %%
# There are three graphs: digits joined to their neighbours, a block model with unequal blocks, and
# the largest connected part of a sample of packages from Debian's ten largest sections.

images, digits = load_digits(return_X_y=True)
joined = kneighbors_graph(images, 10)
block_graph, block = BlockModel((400, 200, 100), p=0.03, q=0.008).sample(np.random.default_rng(0))
debian = load_dataset("debian")
texts = np.array([str(label) for label in debian.labels])
names, counts = np.unique(
    texts[[label is not None and label != -1 for label in debian.labels]], return_counts=True
)
top = names[np.argsort(-counts)][:10]
rows = np.flatnonzero(np.isin(texts, top))
rows = np.random.default_rng(0).choice(rows, 8000, replace=False)
_, part = connected_components(debian.graph.adjacency[rows][:, rows])
rows = rows[part == np.bincount(part).argmax()]  # Poisson learning needs one connected part
packages = Graph.from_matrix(debian.graph.adjacency[rows][:, rows])
GRAPHS = {
    "digits": (Graph.from_matrix(joined.maximum(joined.T)), digits),
    "blocks": (block_graph, block),
    "debian": (packages, np.searchsorted(np.sort(top), texts[rows])),
}

# %%
# Five labels in a hundred are given, at random, three times. The score is macro-F1 on all other
# nodes.

scores = {name: [] for name in CLASSIFIERS}
for graph, labels in GRAPHS.values():
    found = {name: [] for name in CLASSIFIERS}
    for draw in range(3):
        rng = np.random.default_rng(draw)
        seeds = np.flatnonzero(rng.random(len(labels)) < 0.05)
        known = {int(node): int(labels[node]) for node in seeds}
        hidden = np.setdiff1d(np.arange(len(labels)), seeds)
        for name, classify in CLASSIFIERS.items():
            answer = np.asarray(classify(graph, known))
            found[name].append(
                f1_score(
                    labels[hidden],
                    answer[hidden],
                    average="macro",
                    labels=np.unique(labels),
                    zero_division=0,
                )
            )
    for name, values in found.items():
        scores[name].append(np.mean(values))
for name, values in scores.items():
    print(f"{name:28}", *(f"{value:.3f}" for value in values))

# %%
# The bar with a bold outline is the best on each graph.

figure, axis = plt.subplots(figsize=(9, 4.5), layout="constrained")
width = 0.8 / len(scores)
table = np.array(list(scores.values()))
for row, name in enumerate(scores):
    best = table[row] == table.max(axis=0)
    axis.bar(
        np.arange(3) + row * width,
        table[row],
        width,
        label=name,
        edgecolor="black",
        linewidth=np.where(best, 2.0, 0.0),
    )
axis.set_xticks(np.arange(3) + 0.4 - width / 2, GRAPHS)
axis.set_ylabel("macro-F1 on hidden nodes")
axis.legend(ncols=2, fontsize=8)

# %%
# Three graphs and three draws prove little. :doc:`/peers` has measurements on many more graphs, and
# what other libraries do better.
