"""
Fraud, with only positives known
================================

Customers pay shops. Some customers are known to be fraudulent; nobody is known to be honest. So
there is no second class to compare with, and isotherm gives a ranking instead of labels: it says
whom to look at first.
"""

import matplotlib.pyplot as plt
import numpy as np

from isotherm import DirichletClassifier, Graph

# %%
# A ring of 40 customers shares 8 shops, which few honest customers use; 10 of the ring are known.

rng = np.random.default_rng(3)
customers, shops, ring = 1000, 120, 40
paid = rng.random((customers, shops)) < 0.04
paid[:, :8] = rng.random((customers, 8)) < 0.01
paid[:ring, :8] = rng.random((ring, 8)) < 0.4
graph = Graph.from_biadjacency(paid.astype(float))
known = dict.fromkeys(range(10), "fraud")
model = DirichletClassifier().fit(graph, known)
print(model.ranking_.nodes[:10])

# %%
# Shops are nodes as well, so they are ranked, too. How many of the first customers are in the ring?
# The dashed line is what a random order finds.

nodes = np.asarray(model.ranking_.nodes)
asked = nodes[nodes < customers]
found = np.cumsum(asked < ring)
figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
axis.plot(np.arange(1, 201), found[:200], label="ranked by isotherm")
axis.plot([1, 200], [0, 200 * (ring - 10) / (customers - 10)], "k--", label="at random")
axis.axhline(ring - 10, color="#999999", linewidth=0.8)
axis.set_xlabel("customers looked at")
axis.set_ylabel("of the ring, found")
axis.legend()
print(f"{found[29]} of the first 30 customers are of the ring; {found[99]} of the first 100")

# %%
# The score is nearness to the known ones, **not** a probability. Once you have looked at the first
# few, label those that are honest as well: with a second class there are probabilities.

first = asked[:20]
checked = {int(node): "fraud" if node < ring else "honest" for node in first}
model = DirichletClassifier().fit(graph, {**known, **checked})
hidden = np.setdiff1d(np.arange(10, customers), first)
chances = model.predict_proba()[:, list(model.classes_).index("fraud")]
best = hidden[np.argsort(-chances[hidden])][:20]
left = ring - 10 - int((first < ring).sum())
print(
    f"after 20 checks: {int((best < ring).sum())} of the next 20 are of the ring ({left} were left)"
)
