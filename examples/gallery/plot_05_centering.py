"""
When centering matters
======================

Papers cite papers of their own field. If one field is larger, or has more labels, it is warmer
everywhere, and the warmest class would take every paper. Centering, the idea of Bonald and De Lara,
compares each class with its own mean.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from isotherm import BlockModel, DirichletClassifier, IsothermWarning

warnings.simplefilter("ignore", IsothermWarning)  # here one class takes all, on purpose

# %%
# Two fields have the same size. From left to right, the second has fewer and fewer labels.

model = BlockModel((500, 500), p=0.02, q=0.008)
graph, field = model.sample(np.random.default_rng(0))
decisions = ("centered", "plain", "mass", "standard")
second = [50, 40, 30, 20, 10, 5]
accuracy = {decision: [] for decision in decisions}
for size in second:
    rng = np.random.default_rng(1)
    seeds = np.concatenate(
        [
            rng.choice(np.flatnonzero(field == 0), 50, replace=False),
            rng.choice(np.flatnonzero(field == 1), size, replace=False),
        ]
    )
    hidden = np.setdiff1d(np.arange(len(field)), seeds)
    known = dict(zip(seeds.tolist(), field[seeds].tolist(), strict=True))
    for decision in decisions:
        labels = DirichletClassifier(decision).fit_predict(graph, known)
        accuracy[decision].append((labels == field)[hidden].mean())

figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
for decision, values in accuracy.items():
    axis.plot(second, values, "o-", label=decision)
axis.invert_xaxis()
axis.set_xlabel("labels of the second field (the first has 50)")
axis.set_ylabel("accuracy on the other nodes")
axis.legend()

# %%
# Without centering ("plain") the field with more labels takes nearly all nodes. The mean over
# random graphs has a closed form, and for that there is a theorem: centering is right if ``p > q``.

print({decision: model.classify((50, 10), decision).tolist() for decision in decisions})
