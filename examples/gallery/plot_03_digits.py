"""
Handwritten digits in a scikit-learn pipeline
=============================================

No graph at hand? Rows of numbers become a graph if you join each row to its nearest neighbours.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsTransformer
from sklearn.pipeline import make_pipeline

from isotherm import DirichletClassifier

images, digits = load_digits(return_X_y=True)
pipeline = make_pipeline(
    KNeighborsTransformer(mode="connectivity", n_neighbors=10),
    DirichletClassifier(),
)

# %%
# Each digit has a few labels; all other rows have −1. For comparison there is logistic regression,
# which sees only the rows that have labels.

rng = np.random.default_rng(0)
shares = {"heat": [], "logistic regression": []}
sizes = [20, 50, 100, 200, 400]
for size in sizes:
    seeds = np.concatenate(
        [rng.choice(np.flatnonzero(digits == k), size // 10, replace=False) for k in range(10)]
    )
    hidden = np.setdiff1d(np.arange(len(digits)), seeds)
    known = np.full(len(digits), -1)
    known[seeds] = digits[seeds]
    heat = pipeline.fit(images, known)[-1].labels_
    rows = LogisticRegression(max_iter=5000).fit(images[seeds], digits[seeds]).predict(images)
    shares["heat"].append((heat == digits)[hidden].mean())
    shares["logistic regression"].append((rows == digits)[hidden].mean())

figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
for name, values in shares.items():
    axis.plot(sizes, values, "o-", label=name)
axis.set_xscale("log")
axis.set_xticks(sizes, sizes)
axis.minorticks_off()
axis.set_xlabel("labels given, of 1797")
axis.set_ylabel("accuracy on the others")
axis.legend()

# %%
# New images are labelled by their neighbours among the old ones.

print(pipeline.predict(images[:5]), digits[:5])
