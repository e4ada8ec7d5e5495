"""
Numbers instead of classes
==========================

A town's streets form a grid, and noise was measured at a few corners. At equilibrium every other
corner is the mean of its neighbours, which is how a smooth quantity behaves.
"""

import matplotlib.pyplot as plt
import numpy as np

from isotherm import DirichletRegressor, Graph

size = 40
corner = np.arange(size * size).reshape(size, size)
source = np.concatenate([corner[:, :-1].ravel(), corner[:-1].ravel()])
target = np.concatenate([corner[:, 1:].ravel(), corner[1:].ravel()])
rng = np.random.default_rng(0)
open_street = rng.random(len(source)) > 0.1  # one street in ten is closed
graph = Graph.from_edges(source[open_street], target[open_street], nodes=range(size * size))

# %%
# The truth is a smooth field; 60 corners are measured, with an error of 1.

y, x = np.mgrid[:size, :size] / size
truth = (
    60 + 15 * np.sin(3 * x) * np.cos(2 * y) + 10 * np.exp(-20 * ((x - 0.7) ** 2 + (y - 0.3) ** 2))
)
measured = rng.choice(size * size, 60, replace=False)
known = {int(node): float(truth.ravel()[node] + rng.normal()) for node in measured}
model = DirichletRegressor(tol=1e-3)
found = model.fit_predict(graph, known).reshape(size, size)
print(
    f"mean error {np.nanmean(np.abs(found - truth)):.2f}; "
    f"always guessing the mean: {np.abs(np.mean(list(known.values())) - truth).mean():.2f}"
)

# %%
# Heat makes spikes at single seeds: a measured value is held as it is, noise and all. ``tol``
# bounds the arithmetic, not the difference from the truth.

figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for axis, title, field in zip(axes, ("truth", "from 60 corners"), (truth, found), strict=True):
    drawn = axis.imshow(field, cmap="inferno", vmin=truth.min(), vmax=truth.max())
    axis.set_title(title)
    axis.set_axis_off()
axes[1].plot(measured % size, measured // size, "w.", markersize=3)
figure.colorbar(drawn, ax=axes, label="dB")
