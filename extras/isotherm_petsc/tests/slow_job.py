"""A solve that takes its time, whose processes can be told: python slow_job.py GRAPH FOLDER"""

import os
import sys
import time
from pathlib import Path

import stand_in
from isotherm import read_graph, solve_dirichlet
from isotherm_petsc import serve


def main(path, folder):
    stand_in.take_its_place()
    from mpi4py import MPI

    rank = MPI.COMM_WORLD.Get_rank()
    Path(folder, str(rank)).write_text(str(os.getpid()))
    with serve() as is_first:
        if is_first:
            graph = read_graph(path)

            def tell(*_):
                Path(folder, "begun").touch()
                time.sleep(0.3)

            solve_dirichlet(graph, [0], [1.0], leak=1e-4, engine="petsc", progress=tell)


if __name__ == "__main__":
    main(*sys.argv[1:])
