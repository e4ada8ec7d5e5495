"""
When centering matters
======================

Papers cite papers of their own field. If one field is larger, or has more labels, it is warmer
everywhere, and the warmest class would take all. Centering, the paper's idea, compares each class
with its own mean.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from isotherm import BlockModel, DirichletClassifier, IsothermWarning

warnings.simplefilter("ignore", IsothermWarning)  # that one class takes all is what is shown

# %%
# Two fields of the same size. The labels of the second are ever fewer.

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
# Without centering ("plain") the field with more labels takes nearly all. In the mean over random
# graphs, which has a closed form, that is a theorem: centering is right whenever ``p > q``.

print({decision: model.classify((50, 10), decision).tolist() for decision in decisions})
