"""The paper that isotherm stands on: ``python -m paper all`` makes its figures and tables.

`paper.algorithm1` is the paper itself, in NumPy and SciPy alone.
"""
