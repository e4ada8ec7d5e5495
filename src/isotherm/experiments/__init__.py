"""Models and decisions compared on labels that are held out: what `isotherm evaluate` runs."""
