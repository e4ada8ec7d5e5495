"""Claims about speed and memory, one file each; see ``python -m benchmarks --help``."""
