"""
Why does this node have that label?
===================================

The temperature of a node is a mean of what the seeds say. Each seed is weighted by the chance that
a random walk from the node meets it first. ``explain`` gives these shares, and the paths the heat
takes.
"""

import matplotlib.pyplot as plt
import networkx as nx

from isotherm import DirichletClassifier, load_dataset

club = load_dataset("karate")
known = {node: str(club.labels[node]) for node in (0, 1, 2, 30, 32, 33)}
model = DirichletClassifier().fit(club.graph, known)
why = model.explain(8)
print(f"node {why.node} gets {why.label!r}; it joined {str(club.labels[8])!r}")
for seed, label, share in why.seeds:
    print(f"  {share:.2f} from {seed} ({label})")

# %%
# The square is the node; the size of a seed shows its share.

drawn = nx.from_scipy_sparse_array(club.graph.adjacency)
places = nx.spring_layout(drawn, seed=7)
shares = {seed: share for seed, _, share in why.seeds}
colours = {seed: "#b2182b" if label == "Mr. Hi" else "#2166ac" for seed, label, _ in why.seeds}
figure, axis = plt.subplots(figsize=(7, 5), layout="constrained")
nx.draw_networkx_edges(drawn, places, ax=axis, edge_color="#cccccc")
nx.draw_networkx_nodes(drawn, places, ax=axis, node_size=30, node_color="#cccccc")
nx.draw_networkx_nodes(
    drawn, places, [8], ax=axis, node_size=200, node_shape="s", node_color="#333333"
)
nx.draw_networkx_nodes(
    drawn,
    places,
    list(shares),
    ax=axis,
    node_size=[60 + 3000 * share for share in shares.values()],
    node_color=list(colours.values()),
)
nx.draw_networkx_labels(
    drawn, places, {node: node for node in [8, *shares]}, ax=axis, font_color="white"
)
axis.set_axis_off()

# %%
# The sum of the shares of a class is its temperature at the node; centering decides between them.

print({label: round(share, 2) for label, share in why.classes.items()})
