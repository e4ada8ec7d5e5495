"""Fifty labels of nodes that the labelling page asks for are worth more than fifty at random.

An oracle that knows the truth answers what the page suggests, from nothing, on each real graph and
on Debian's packages. Beside it the accuracy of as many labels at random, the mean of ten draws. The
model is the page's.
"""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

import numpy as np

from benchmarks import graphs
from benchmarks.measure import Result
from isotherm import DirichletClassifier, Graph, IsothermWarning, load_dataset
from isotherm.page.journal import Journal, fingerprint
from isotherm.page.labelling import Labelling
from isotherm.page.saving import LabelFile
from isotherm.page.session import LabellingSession
from isotherm.page.truth import Truth

LABELS, DRAWS = 50, 10
PARAMETERS = {"tol": 1e-4}
QUICK, LARGEST = 3000, 30_000  # nodes
PATIENCE = 600.0  # seconds to wait for the model
ORACLE = "oracle"  # who labels


def run(*, quick: bool) -> Result:
    """Measure the claim."""
    result = Result(__doc__.splitlines()[0])
    debian = load_dataset("debian")
    cases = [("Debian", debian.graph, debian.labels.astype(str))]
    for name in graphs.real_names():
        A, labels = graphs.real(name)
        if A.shape[0] <= (QUICK if quick else LARGEST):
            texts = np.where(labels >= 0, labels.astype(str), "")
            cases.append((name, Graph.from_matrix(A), texts))
    gains = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IsothermWarning)
        for name, graph, labels in cases[1:] if quick else cases:
            asked = by_the_page(graph, labels, 5 if quick else LABELS)
            drawn = at_random(graph, labels, 5 if quick else LABELS, 2 if quick else DRAWS)
            gains.append(asked - drawn)
            result.add(graph=name, asked=asked, at_random=drawn, gain=asked - drawn)
    if gains and not quick:
        mean = float(np.mean(gains))
        result.check(f"{mean:+.3f} in accuracy on average", mean > 0)
    return result


def by_the_page(graph, labels, count):
    """The accuracy of so many labels that the page asks for."""
    graph = graph.renamed(graph.nodes.as_texts())
    names = graph.names.tolist()
    truth = {node: label for node, label in zip(names, labels.tolist(), strict=True) if label}
    with tempfile.TemporaryDirectory() as folder:
        journal = Journal(Path(folder) / "labels.journal", fingerprint(graph))
        session = LabellingSession(
            "fifty",
            graph,
            Labelling(journal, {}, names),
            LabelFile(Path(folder) / "labels.csv", None, ""),
            PARAMETERS,
            truth=Truth(graph, truth),
        )
        session.start()
        try:
            play(session, count)
            score = session.truth.score(session.model.snapshot)
            return score.right / score.total
        finally:
            session.stop()


def play(session, count):
    """Let an oracle give so many labels, of the nodes that are suggested."""
    truth, labelling, model = session.truth, session.labelling, session.model
    given = 0
    while given < count:
        model.wait(labelling.version, PATIENCE)
        model.wait_for_suggestions(PATIENCE)
        node = session.next_node()
        if node is None:
            break
        name = session.cards.names[node]
        if not truth.knows(name):
            labelling.skip(name, ORACLE)
            continue
        session.label(name, truth.of(name), ORACLE)
        given += 1
    model.wait(labelling.version, PATIENCE)


def at_random(graph, labels, count, draws):
    """The mean accuracy of so many labels at random."""
    known, found = np.flatnonzero(labels != ""), []
    for draw in range(draws):
        some = np.random.default_rng([draw, count]).choice(known, count, replace=False)
        given = np.full(len(labels), None, dtype=object)
        given[some] = labels[some]
        model = DirichletClassifier(**PARAMETERS).fit(graph, given)
        free = np.setdiff1d(known, some)
        found.append(np.mean(model.predict()[free].astype(str) == labels[free]))
    return float(np.mean(found))
