"""Files, or a data set → a labelling session, with what a user should know of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from isotherm.datasets import load_dataset
from isotherm.errors import ParameterError
from isotherm.labels import Labels
from isotherm.page.attributes import read_attributes
from isotherm.page.journal import Journal, fingerprint
from isotherm.page.labelling import Labelling
from isotherm.page.node_card import check_link
from isotherm.page.saving import LabelFile, checksum
from isotherm.page.session import LabellingSession
from isotherm.page.truth import Truth
from isotherm.pipeline import read_edges
from isotherm.printable import one_line
from isotherm.read.load import load_labels

if TYPE_CHECKING:
    from isotherm.graph import Graph
    from isotherm.job import Job
    from isotherm.pipeline import Stages
    from isotherm.read.load import Parsed


@dataclass(frozen=True)
class PageFiles:
    """Files of a labelling session besides those of its job.

    Attributes
    ----------
    journal : str or None
        By default beside the label file, or beside the edges.
    save : str or None
        Where labels are saved; by default beside the label file.
    nodes : str or None
        A table of attributes.
    link : str or None
        A web address with ``{id}`` in it.
    """

    journal: str | None = None
    save: str | None = None
    nodes: str | None = None
    link: str | None = None


def open_session(job: Job, files: PageFiles, stages: Stages, who: str = "") -> LabellingSession:
    """Read the files of a job; its labels may be ``""``, for none. The session is not yet started.

    Raises
    ------
    IsothermError
        Whatever is wrong with the files.
    """
    _check(job, files)
    parsed: Parsed | None = {} if job.edges == job.labels else None
    graph, report = read_edges(job, stages, parsed)
    graph = graph.renamed(graph.nodes.as_texts(), graph.sides)
    labels = Labels()
    original = Path(job.labels) if job.labels else None
    read = checksum(original)
    notes = list(report.remarks())
    if original is not None:
        with stages.stage(f"reading {job.labels}"):
            labels, found = load_labels(
                job.labels,
                graph,
                job.label_columns,
                job.label_options,
                strict=job.strict,
                parsed=parsed,
            )
        notes += found.remarks()
    base = Path(job.edges) if original is None else original
    stem = base.name.split(".")[0] or "graph"
    journal = Path(files.journal or base.with_name(f"{base.name}.journal"))
    save = Path(files.save or base.with_name(f"{stem}-labelled.csv"))
    names = LabelFile(save, original, read)
    return _session(Path(job.edges).name, graph, labels, names, job, files, stages,
                    journal=journal, truth=None, notes=notes, read=read, who=who)  # fmt: skip


def open_demo(
    name: str, job: Job, files: PageFiles, stages: Stages, who: str = ""
) -> LabellingSession:
    """A session on a bundled data set, whose true labels are known."""
    with stages.stage(f"reading {name}"):
        data = load_dataset(name)
        graph = data.graph.renamed(data.graph.nodes.as_texts())
        known = zip(graph.names.tolist(), data.labels.tolist(), strict=True)
        truth = Truth(graph, {node: str(label) for node, label in known if label not in (None, "")})
    journal = Path(files.journal or f"isotherm-label-{name}.journal")
    save = Path(files.save or f"isotherm-label-{name}.csv")
    return _session(name, graph, Labels(), LabelFile(save, None, ""), job, files, stages,
                    journal=journal, truth=truth, notes=[], read="", who=who)  # fmt: skip


def _session(
    title: str,
    graph: Graph,
    labels: Labels,
    file: LabelFile,
    job: Job,
    files: PageFiles,
    stages: Stages,
    *,
    journal: Path,
    truth: Truth | None,
    notes: list[str],
    read: str,
    who: str,
) -> LabellingSession:
    attributes = None
    if files.nodes is not None:
        with stages.stage(f"reading {files.nodes}"):
            attributes, told = read_attributes(
                files.nodes, graph, encoding=job.label_options.encoding
            )
        notes += told.remarks()
    with stages.stage(f"opening {journal}"):
        opened = Journal(journal, fingerprint(graph), read)
    try:
        if opened.dropped:
            notes.append(
                f"the last line of {journal.name} was cut off and is ignored: "
                + one_line(opened.dropped.decode(errors="replace"))[:80]
            )
        if opened.refused:
            nodes = ", ".join(
                one_line(entry.node or entry.act)[:40] for entry in opened.refused[:5]
            )
            notes.append(
                f"{journal.name} holds what found no room on a full disk and was not kept; it is "
                f"left out: {len(opened.refused)} in all, {nodes}"
            )
        if opened.entries and opened.labels_then != read:
            notes.append(
                f"the label file has changed since {journal.name} was started: the page uses the "
                "file as it is now, and then applies the journal"
            )
        labelling = Labelling(opened, labels, graph.names.tolist())
        file.remember(labelling)
        return LabellingSession(
            title, graph, labelling, file, job.model, attributes=attributes, link=files.link,
            truth=truth, notes=notes, who=who,
        )  # fmt: skip
    except BaseException:
        opened.close()
        raise


def _check(job: Job, files: PageFiles) -> None:
    if files.link is not None:
        check_link(files.link)
    if "-" in (job.edges, job.labels):
        raise ParameterError("the labelling page cannot read standard input (-): name files")
    read = {Path(name).resolve() for name in (job.edges, job.labels, files.nodes) if name}
    for option, name in (("--journal", files.journal), ("--save", files.save)):
        if name is not None and Path(name).resolve() in read:
            raise ParameterError(f"{option} {name}: this file is an input; name another file")
