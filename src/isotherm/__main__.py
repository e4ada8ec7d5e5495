"""``python -m isotherm``."""

from isotherm.cli import main

main()
