"""Measurements on one NVIDIA GPU; ``python -m benchmarks.gpu`` runs them."""
