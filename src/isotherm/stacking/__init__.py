"""Several views of a graph, combined by a small model that was fitted to seeds left out.

For class k at node i each view e has a number x, and with π the shares of the classes::

    P(k | i) ∝ exp(a Σ_e w_e x_e(i, k) + r log π_k + b_k)

Views are heat flows (`flows`), a regression on an embedding that knows no labels (`embedding`) and
the seeds around a node (`surroundings`). What each is worth, w, is learnt from seeds that are left
out, whose numbers are those of free nodes (`left_out`, `model`).
"""
