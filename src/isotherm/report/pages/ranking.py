"""One class known → the nodes nearest to its seeds, on the page of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isotherm.report.pages import charts
from isotherm.report.parts import Figure, Group, Section
from isotherm.report.tables import Table
from isotherm.report.words import counted, short

if TYPE_CHECKING:
    from isotherm.job import Run

MOST_RANKED = 30
LONGEST_NODE = 40


def ranking_summary(run: Run) -> str:
    """The run in a sentence."""
    model = run.classifier
    (name,) = model.classes_.tolist()
    return (
        f"{counted(run.graph.n_nodes, 'node')}, {counted(len(model.seeds_.nodes), 'seed')} of the "
        f"only class, “{short(name, LONGEST_NODE)}”: "
        f"{counted(len(model.ranking_.nodes), 'free node')} ranked by how near they are to these. "
        "No probability is given: nothing is known of other classes."
    )


def ranking_section(run: Run) -> Section:
    """The nodes that come first, and how scores are spread."""
    found = run.classifier.ranking_
    words = (
        "The score of a node is its temperature if all seeds are held at 1 and a little heat is "
        f"lost at every free node (leak {found.leak:g}): the chance that a random walk from it "
        "meets a seed before it ends. Many short paths to seeds make it high. It says which nodes "
        "to look at first, not how many of them have the class. "
    )
    if not len(found.nodes):
        return Section("Ranking", f"{words}Heat reached no free node.")
    words += f"Every score is proven to be within {found.error_bound:.1e}, rounding aside."
    degrees = run.graph.degrees[found.positions[:MOST_RANKED]]
    columns = (found.ranks, found.nodes, found.scores)
    rows = [
        (f"{rank:,}", short(node, LONGEST_NODE), f"{score:.6f}", f"{degree:g}")
        for rank, node, score, degree in zip(
            *(column[:MOST_RANKED].tolist() for column in columns), degrees.tolist(), strict=True
        )
    ]
    table = Table("The nearest nodes", ("rank", "node", "score", "degree"), rows, kind="words2")
    counts = charts.bin_counts(found.scores, 1.0)
    chart = charts.Histogram(1.0, int(counts.max()), charts.is_uneven(counts))
    caption = f"Scores of {counted(len(found.scores), 'free node')}"
    words += " Counts are on a logarithmic scale." if chart.log else ""
    figure = Figure(caption, chart.draw(counts, caption))
    return Section("Ranking", words, [Group("pair", [figure, table])])
