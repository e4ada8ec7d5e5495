"""``isotherm classify`` on many machines: started by mpiexec on each, or starting it."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from isotherm.cli.app import FAILED
from isotherm.cli.jobs import end
from isotherm.cli.messages import say, say_lines
from isotherm.errors import MissingLibrary, ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isotherm.cli.messages import MessageOptions
    from isotherm.cli.options import PredictionOptions
    from isotherm.distributed import Outcome, Ranks
    from isotherm.job import Job

ENGINES = ("mpi",)
# What launchers of MPI programs tell each process.
LAUNCHED = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "MV2_COMM_WORLD_SIZE")

on_machines = partial(typer.Option, rich_help_panel="Many machines (see docs/many-machines.md)")
RankCount = Annotated[
    int | None,
    on_machines(
        min=1, help="Number of processes to share the work; classify starts them with mpiexec."
    ),
]


@dataclass(frozen=True)
class MachineOptions:
    """How processes that work together are started, watched and started again."""

    ranks: RankCount = None
    checkpoint: Annotated[
        str | None,
        on_machines(
            metavar="FOLDER", help="Save temperatures here, and continue from them after a stop."
        ),
    ] = None
    checkpoint_every: Annotated[
        float, on_machines(min=0.0, metavar="SECONDS", help="Time between two checkpoints.")
    ] = 300.0
    timeout: Annotated[
        float,
        on_machines(
            min=1.0, metavar="SECONDS", help="Longest time to wait for the other processes."
        ),
    ] = 600.0

    def are_asked_for(self, engine: str) -> bool:
        """Whether the work is shared out: this is one of many processes, or is to start them."""
        if engine not in ("auto", *ENGINES) and self.ranks is None:
            return False
        return is_launched() or engine in ENGINES or self.ranks is not None

    def check_alone(self) -> None:
        """Refuse what only several processes have."""
        if self.checkpoint is not None:
            raise ParameterError(
                "--checkpoint works on many machines only: use mpiexec, --ranks or --engine mpi, "
                "or leave it out"
            )


def is_launched() -> bool:
    """Whether mpiexec, or something like it, has started this process."""
    return any(name in os.environ for name in LAUNCHED)


def launch(count: int) -> None:
    """Become mpiexec, which runs this command again on so many ranks.

    Raises
    ------
    MissingLibrary
        If there is none.
    """
    from isotherm.engines.mpi.ranks import HOW_TO_INSTALL

    beside = str(Path(sys.executable).parent)
    found = shutil.which("mpiexec", path=os.pathsep.join([beside, os.environ.get("PATH", "")]))
    if found is None:
        raise MissingLibrary(f"--ranks needs mpiexec, which was not found; {HOW_TO_INSTALL}")
    own = _without_ranks(sys.argv[1:])
    os.execv(found, [found, "-n", str(count), sys.executable, "-m", "isotherm", *own])  # noqa: S606


def _without_ranks(arguments: Sequence[str]) -> list[str]:
    """
    The same without the option that asks for ranks.

    Examples
    --------
    >>> _without_ranks(["classify", "a", "--ranks", "4", "b", "--ranks=2"])
    ['classify', 'a', 'b']
    """
    kept = []
    rest = iter(arguments)
    for one in rest:
        if one == "--ranks":
            next(rest, None)
        elif not one.startswith("--ranks="):
            kept.append(one)
    return kept


def check_options(job: Job, output: PredictionOptions, *, multi: bool) -> None:
    """Refuse what one machine has only."""
    refused = {
        "--multi": multi,
        "--report": output.report is not None,
        "--list": output.listed is not None,
        "--summary": output.summary is not None,
        "--spreadsheet-safe": output.spreadsheet_safe,
        "--model stacked": job.kind == "stacked",
        "--confidence": job.confidence is not None,
        f"--engine {job.model['engine']}": job.model["engine"] not in ("auto", *ENGINES),
    }
    for name, given in refused.items():
        if given:
            raise ParameterError(f"{name} works on one machine only: leave it out")
    if output.out in (None, "-"):
        raise ParameterError("many machines write part files: name a folder for them with -o")


def classify_on_ranks(
    job: Job,
    edges: Sequence[str],
    output: PredictionOptions,
    machines: MachineOptions,
    messages: MessageOptions,
) -> None:
    """Do a job as one rank of several."""
    if machines.ranks is not None and not is_launched():
        launch(machines.ranks)
    from isotherm.distributed import Ranks

    ranks = Ranks.world(timeout=machines.timeout)
    with _ended(ranks):
        found = _classify(job, edges, output, machines, messages, ranks)
        if ranks.rank == 0 and not messages.quiet:
            say_lines(outcome_lines(found, str(output.out)))
    if ranks.rank == 0:
        end(converged=found.converged)


def _classify(
    job: Job,
    edges: Sequence[str],
    output: PredictionOptions,
    machines: MachineOptions,
    messages: MessageOptions,
    ranks: Ranks,
) -> Outcome:
    from isotherm.distributed import DistributedModel, classify

    model = DistributedModel(
        decision=job.model["decision"],
        leak=job.model["leak"],  # type: ignore[arg-type]  # it says what is wrong with a text
        tol=job.model["tol"],
        unreached=job.model["unreached"],
        engine="mpi" if job.model["engine"] == "auto" else job.model["engine"],
        threads=job.model["threads"],
    )
    first = ranks.rank == 0
    with messages.stages() if first else nullcontext() as stages, _solving(stages) as progress:
        return classify(
            list(edges),
            job.labels,
            str(output.out),
            model=model,
            edge_columns=job.edge_columns,
            label_columns=job.label_columns,
            edge_options=job.edge_options,
            label_options=job.label_options,
            strict=job.strict,
            temperatures=output.temperatures,
            min_probability=output.min_probability,
            force=output.force,
            checkpoint=machines.checkpoint,
            every=machines.checkpoint_every,
            progress=progress,
            ranks=ranks,
        )


def _solving(stages: Any) -> Any:
    return nullcontext() if stages is None else stages.solving()


class _ended:  # noqa: N801  # used like a function
    """Ends MPI: together where all ranks know what happened, else all of them at once.

    What all know the first rank tells, and its exit code is that of the job. The others leave as if
    all were well: mpiexec ends every rank once one of them leaves with an error, be it before the
    first has told.
    """

    def __init__(self, ranks: Ranks) -> None:
        self._ranks = ranks

    def __enter__(self) -> None: ...

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        ranks = self._ranks
        if error is None or ranks.has_agreed:
            finish()
            if isinstance(error, Exception) and ranks.rank > 0:
                raise typer.Exit from None
            return
        say("error", f"rank {ranks.rank} of {ranks.size}: {error or type(error).__name__}")
        ranks.abort(FAILED)


def finish() -> None:
    """Take leave of MPI; the process ends without a look back."""
    from isotherm.engines.mpi.ranks import mpi

    mpi().Finalize()


def outcome_lines(found: Outcome, folder: str) -> list[str]:
    """What became of a run, for a person."""
    most = max(found.memory) / 2**20
    ranks = "1 rank" if found.n_ranks == 1 else f"{found.n_ranks} ranks"
    size = f"{found.n_nodes:,} nodes and {found.n_edges:,} edges on {ranks}"
    unreached = found.status["unreached"]
    labelled = found.n_nodes - unreached - found.status["unsure"]
    apart = f", {unreached:,} nodes unreached" if unreached else ""
    resumed = ", continued from a checkpoint" if found.resumed else ""
    took = ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in found.seconds.items())
    exact = f"{found.n_certified:,} numerically exact"
    return [
        f"{size}, at most {most:,.0f} MiB on each",
        f"{labelled:,} labels of {len(found.classes)} classes{apart}; {exact}",
        f"temperatures proven to {found.error:.1e} in {found.steps} steps{resumed}",
        f"seconds: {took}",
        f"wrote {folder}",
    ]
