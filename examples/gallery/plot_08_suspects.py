"""
Finding wrong labels
====================

People give labels, and people make mistakes. What would each seed get if it were free? If another
class is more probable than its own, the label is suspect.
"""

import matplotlib.pyplot as plt
import numpy as np

from isotherm import BlockModel, DirichletClassifier

rng = np.random.default_rng(1)
graph, block = BlockModel((200, 150, 100), p=0.08, q=0.01).sample(rng)
seeds = rng.choice(len(block), 150, replace=False)
known = {int(node): int(block[node]) for node in seeds}

# %%
# Spoil 15 of the 150 labels, then ask for the suspects. The most suspect come first.

spoilt = {int(node) for node in rng.choice(seeds, 15, replace=False)}
for node in spoilt:
    known[node] = (known[node] + 1 + int(rng.integers(2))) % 3
model = DirichletClassifier().fit(graph, known)
suspects = model.leave_one_out().suspects()
for one in suspects[:3]:
    print(
        f"node {one.node}: given {one.label}, rather {one.suggested} "
        f"({one.suggested_probability:.0%}); in truth {block[one.node]}"
    )

# %%
# If you check the labels in this order, how many of them are really wrong?

hits = np.cumsum([one.node in spoilt for one in suspects])
figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
axis.step(np.arange(1, len(hits) + 1), hits, where="post", label="found")
axis.plot([0, 150], [0, 15], "k--", label="looking at random")
axis.axhline(15, color="#999999", linewidth=0.8)
axis.set_xlim(0, 60)
axis.set_xlabel("labels looked at")
axis.set_ylabel("wrong labels found, of 15")
axis.legend()
missed = len(spoilt) - (hits[-1] if len(hits) else 0)
print(f"{len(suspects)} suspects; {hits[-1]} of them wrong; {missed} wrong labels not suspected")
