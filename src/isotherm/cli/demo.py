"""``isotherm demo``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isotherm.cli import options as o
from isotherm.cli.app import command
from isotherm.cli.console import Console
from isotherm.cli.jobs import end
from isotherm.cli.messages import MessageOptions

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from isotherm.classifier.algorithm import HeatClassifier
    from isotherm.datasets import Dataset
    from isotherm.job import Run
    from isotherm.pipeline import Stages

REPORT = "isotherm-demo.html"
SHARE = 0.05  # of the packages whose section is given
SAMPLE = 12  # packages shown


@command
def demo(
    *,
    model: o.Model = "auto",
    report: o.Report = None,
    seed: o.Seed = 0,
    solver: o.SolverOptions,
    messages: MessageOptions,
) -> None:
    """Find the section of every Debian package from that of one in twenty, by their dependencies.

    The web page is isotherm-demo.html unless --report names another file. An existing file is
    replaced.
    """
    import numpy as np

    from isotherm.classifier.pick import pick_model
    from isotherm.datasets import load_dataset
    from isotherm.labels import number_classes
    from isotherm.pipeline import write_run_page

    path, rng = report or REPORT, np.random.default_rng(seed)
    how = {"tol": solver.tol, "solver": solver.solver, "engine": solver.engine}
    with messages.stages() as stages:
        with stages.stage("reading the Debian packages"):
            debian = load_dataset("debian")
        given = rng.random(len(debian.labels)) < SHARE
        n_classes = len(number_classes(debian.labels)[1])
        classifier = pick_model(model, how, debian.graph, n_classes)
        run = _label(classifier, debian, given, stages)
        with stages.stage(f"writing {path}"):
            write_run_page(run, path)
    _print_scores(run, debian.labels, given, rng)
    Console().print(f"see {path}", soft_wrap=True)
    end(converged=run.converged)


def _label(model: HeatClassifier, debian: Dataset, given: NDArray[np.bool_], stages: Stages) -> Run:
    """Label all packages from those given."""
    from isotherm.labels import Labels
    from isotherm.pipeline import Inputs, fit
    from isotherm.read.report import ReadReport

    names = debian.graph.nodes.ids[given].tolist()
    known = Labels(zip(names, debian.labels[given].tolist(), strict=True))
    edges, labels = (
        ReadReport("debian", "bundled", n_rows=count, checksum="part of isotherm, see its version")
        for count in (debian.graph.n_edges, len(known))
    )
    inputs = Inputs(debian.graph, known, None, edges, labels)
    return fit(model, inputs, stages, command="isotherm demo")


def _print_scores(
    run: Run, labels: NDArray[np.generic], given: NDArray[np.bool_], rng: np.random.Generator
) -> None:
    """Print how many packages were found, and some of them."""
    import numpy as np

    from isotherm.report.model_lines import model_lines
    from isotherm.report.terminal import accuracy_line, sample_table, section_table, solution_line

    classifier, console = run.classifier, Console()
    free = np.isin(classifier.status_, ["predicted", "tie"])
    truth, found = labels[free], classifier.labels_[free]
    shown = rng.choice(np.flatnonzero(free), SAMPLE, replace=False)
    console.print(section_table(truth, found, labels[given], width=console.width))
    console.print()
    console.print(sample_table(classifier, labels, shown, width=console.width))
    console.print()
    console.print(solution_line(classifier.solution_))
    for line in model_lines(classifier):
        console.print(line)
    console.print(accuracy_line(int((truth == found).sum()), len(truth), "packages not given"))
