"""``isotherm demo``."""

from __future__ import annotations

from typing import Annotated

import typer

from isotherm.cli import options as o
from isotherm.cli.app import app, show_warnings
from isotherm.cli.console import Console
from isotherm.cli.progress import Stages

SHARE = 0.05  # of the packages whose section is given
SAMPLE = 12  # packages shown


@app.command()
def demo(
    decision: Annotated[o.Decision, typer.Option(help="How temperatures become scores.")] = o.PAPER,
    report: Annotated[
        str, typer.Option(metavar="FILE", help="Web page about the run; replaced if it is there.")
    ] = "isotherm-demo.html",
    seed: Annotated[int, typer.Option(min=0, help="Of the packages drawn.")] = 0,
    quiet: o.Quiet = False,
) -> None:
    """Find the section of each Debian package from one in twenty, by what depends on what."""
    import time

    import numpy as np

    from isotherm.classifier import DirichletClassifier
    from isotherm.datasets import load_dataset
    from isotherm.job import Job, Outcome, write_report
    from isotherm.read.report import ReadReport
    from isotherm.report.terminal import accuracy_line, sample_table, section_table, solution_line

    show_warnings(quiet=quiet)
    rng = np.random.default_rng(seed)
    with Stages(quiet=quiet) as stages:
        with stages.stage("reading the Debian packages"):
            debian = load_dataset("debian")
        given = rng.random(len(debian.labels)) < SHARE
        known = debian.labels.astype(object)
        known[~given] = None
        with stages.solving():
            started = time.perf_counter()
            classifier = DirichletClassifier(decision.value).fit(debian.graph, known)
            seconds = {"solving": time.perf_counter() - started}
        with stages.stage(f"writing {report}"):
            edges = ReadReport("debian", "comes along", n_rows=debian.graph.n_edges)
            labels = ReadReport("debian", "comes along", n_rows=int(given.sum()))
            outcome = Outcome(debian.graph, classifier, edges, labels, seconds, converged=True)
            write_report(report, Job("", "", command="isotherm demo"), outcome)

    free = np.isin(classifier.status_, ["predicted", "tie"])
    truth, found = debian.labels[free], classifier.labels_[free]
    console = Console()
    console.print(section_table(truth, found, debian.labels[given], width=console.width))
    console.print()
    shown = rng.choice(np.flatnonzero(free), SAMPLE, replace=False)
    console.print(sample_table(classifier, debian.labels, shown, width=console.width))
    console.print()
    console.print(solution_line(classifier.solution_))
    console.print(
        accuracy_line(int((truth == found).sum()), len(truth), "packages not given"),
    )
    console.print(f"see {report}", soft_wrap=True)
