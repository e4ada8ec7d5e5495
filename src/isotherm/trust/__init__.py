"""Whether to believe a label: leave-one-out, suspect seeds, explanations."""
