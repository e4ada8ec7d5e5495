"""The estimators: a graph and a few labels or values → all of them.

`classify`, `multilabel` and `regress` have the public ones. The others do without scikit-learn, and
so does the command line.

All derive from `estimator`. A classifier (`algorithm`, or `stack` for several views) holds what a
fit has found, and answers by two objects: its model says how nodes are scored (`model`,
`stacked_model`), its diagnostics how far to trust that (`diagnostics`). The public methods are in
`predictor`, of what is said of nodes, and in `questions`, of all else.
"""
