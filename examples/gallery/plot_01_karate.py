"""
The karate club, as in the paper
================================

Zachary watched a karate club of 34 people split in two. The friendships and two labels, those of
the two rivals, are enough to tell who went with whom. This is Figure 1 of the paper.
"""

import matplotlib.pyplot as plt
import networkx as nx

from isotherm import DirichletClassifier, load_dataset

club = load_dataset("karate")
known = {0: club.labels[0], 33: club.labels[33]}
model = DirichletClassifier().fit(club.graph, known)

# %%
# Person 0 is held at temperature 1 and person 33 at 0. Heat flows along the friendships until
# nothing changes any more. Whoever is warmer than the mean goes with person 0.

heat = model.temperatures_[:, list(model.classes_).index(club.labels[0])]
wrong = (model.labels_ != club.labels).nonzero()[0]
print(f"{len(wrong)} of {len(heat)} wrong: {wrong.tolist()}")
print(f"mean temperature {heat.mean():.2f}, proven to {model.solution_.error_bound.max():.0e}")

# %%
# On the left are the clubs they joined, on the right the temperatures.

drawn = nx.from_scipy_sparse_array(club.graph.adjacency)
places = nx.spring_layout(drawn, seed=7)
truth = (club.labels == club.labels[0]).astype(float)
figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for axis, title, colours in zip(axes, ("clubs", "temperatures"), (truth, heat), strict=True):
    nx.draw_networkx(
        drawn,
        places,
        ax=axis,
        node_color=colours,
        cmap="RdBu_r",
        edge_color="#999999",
        node_size=180,
        font_size=7,
        font_color="white",
    )
    axis.set_title(title)
    axis.set_axis_off()

# %%
# Two labels are few, and isotherm warns about that. The temperatures are proven as always, but that
# is about arithmetic; the labels rest on little evidence.
