"""One class known → the nodes nearest to its seeds, on the page of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isotherm.report import charts
from isotherm.report.node_lists import ranked_list
from isotherm.report.parts import Figure, KeyNumbers, Section
from isotherm.report.words import counted, short

if TYPE_CHECKING:
    from isotherm.classifier.algorithm import HeatClassifier

LONGEST_NAME = 40


def ranking_summary(model: HeatClassifier) -> str:
    """What was asked for, in a sentence or two."""
    (name,) = model.classes_.tolist()
    return (
        f"Only one class is known, “{short(name, LONGEST_NAME)}”, so nodes are ranked by how near "
        "they are to its seeds. There are no probabilities: nothing is known about other classes."
    )


def ranking_sections(model: HeatClassifier) -> list[Section]:
    """The nodes that come first, and how scores are spread."""
    found = model.ranking_
    n_nodes, n_seeds = model.problem_.graph.n_nodes, len(model.seeds_.nodes)
    numbers = [(f"{len(found.nodes):,}", "nodes ranked"), (f"{n_seeds:,}", "seeds")]
    if left := n_nodes - n_seeds - len(found.nodes):
        numbers.append((f"{left:,}", "nodes without a path to a seed"))
    if not len(found.nodes):
        words = "Heat reached no free node, so there is nothing to rank."
        return [Section("Ranking", words, [KeyNumbers(numbers)])]
    words = "The nodes nearest to the seeds: look at the first ones first."
    ranking = Section("Ranking", words, [KeyNumbers(numbers), *ranked_list(model)])
    words = (
        "The score of a node is its temperature if all seeds are held at 1 and every free node "
        f"loses a little heat (leak {found.leak:g}): the chance that a random walk from it meets a "
        "seed before it ends. Many short paths to seeds make it high. It says which nodes to look "
        "at first, not how many of them have the class. Every score is numerically exact to "
        f"{found.error_bound:.1e}, before it is rounded."
    )
    counts = charts.bin_counts(found.scores, 1.0)
    chart = charts.Histogram(1.0, int(counts.max()), charts.is_uneven(counts))
    caption = f"Scores of {counted(len(found.scores), 'free node')}"
    words += " Counts are on a logarithmic scale." if chart.log else ""
    figure = Figure(caption, chart.draw(counts, caption))
    return [ranking, Section("The scores", words, [figure])]
