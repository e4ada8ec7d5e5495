"""Fuzzing in exact arithmetic: random problems whose answers are known, and what must hold.

``python -m tests.fuzz --minutes 10`` from the root of the repository. A case is one integer, from
which all of it is drawn; ``python -m tests.fuzz --case 123456`` runs that one.

`cases` says what a case is, `draw` makes one from an integer, `exact` and `refined` know the
answer, the claims compare (`claims`, `trust_claims`, `invariance_claims`, `stacked_claims`; all of
them in `check`), `reduce` makes a failing case small, `script` writes it down, `workers` go on
until time is up.
"""
