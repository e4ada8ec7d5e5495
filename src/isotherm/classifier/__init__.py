"""The estimators: a graph and a few labels or values → all of them.

`classify`, `multilabel` and `regress` have the public ones. The others do without scikit-learn, and
so does the command line.
"""
