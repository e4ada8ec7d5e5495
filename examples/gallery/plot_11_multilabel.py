"""
Several labels for a node
=========================

People are in more than one group. Here groups are overlapping stretches of a circle. Each seed has
the labels of all groups it is in, perhaps none.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import f1_score

from isotherm import Graph, MultiLabelDirichletClassifier

# %%
# 300 people on a circle know those nearby; three groups are overlapping arcs of the circle.

n = 300
rng = np.random.default_rng(0)
near = [(i, (i + int(step)) % n) for i in range(n) for step in rng.integers(1, 12, size=5)]
graph = Graph.from_edges(*zip(*near, strict=True), nodes=range(n))
arcs = {"choir": (0, 130), "chess": (90, 210), "garden": (180, 320)}
groups = [
    {name for name, (first, last) in arcs.items() if first <= i < last or first <= i + n < last}
    for i in range(n)
]
seeds = rng.choice(n, 40, replace=False).tolist()
model = MultiLabelDirichletClassifier(decision="plain").fit(
    graph, {node: groups[node] for node in seeds}
)

# %%
# Each group is a heat problem of its own: its members among the seeds are hot, all others cold.

names = model.classes_.tolist()
truth = np.array([[name in group for name in names] for group in groups])
hidden = np.setdiff1d(np.arange(n), seeds)
print(
    "macro-F1 on the others:",
    round(f1_score(truth[hidden], model.predict()[hidden], average="macro"), 3),
)

figure, axes = plt.subplots(3, 1, figsize=(8, 5), sharex=True, layout="constrained")
for column, (axis, name) in enumerate(zip(axes, names, strict=True)):
    axis.fill_between(range(n), truth[:, column], step="mid", color="#dddddd", label="member")
    axis.plot(model.predict_proba()[:, column], color="#b2182b", label="probability")
    axis.set_ylabel(name)
axes[0].legend(loc="center right")
axes[-1].set_xlabel("place on the circle")
