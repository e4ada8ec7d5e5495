"""``python -m isotherm_petsc``, with a stand-in where petsc4py is missing."""

import sys

import stand_in
from isotherm_petsc.__main__ import main

if __name__ == "__main__":
    stand_in.take_its_place()
    sys.exit(main())
