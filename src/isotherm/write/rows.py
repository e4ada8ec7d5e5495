"""What was found → rows, some at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from isotherm.classifier.estimator import rows_at_once, slices
from isotherm.classifier.export import RANKED, RankedRows, as_text
from isotherm.colours import OTHER, class_colours, scale_colours
from isotherm.writers.graphs import COLOUR

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from isotherm.classifier.algorithm import HeatClassifier
    from isotherm.classifier.estimator import DirichletEstimator
    from isotherm.classifier.multilabel import MultiLabelDirichletClassifier
    from isotherm.listing import Listed

    Progress = Callable[[int, int], None]

ROWS = 1 << 17  # written at once
DIGITS = 6  # after the point
DIGITS_OF_PROBABILITY = 4


def rows_of_classes(
    classifier: HeatClassifier,
    least: float,
    *,
    temperatures: bool,
    coloured: bool,
    progress: Progress | None,
) -> Iterator[pa.RecordBatch]:
    """A row for each node, some at a time, with a colour if that is asked for."""
    names = classifier.node_texts()
    n = len(names)
    statuses = pa.array(list(classifier.STATUS))
    classes = pa.array([str(label) for label in classifier.classes_.tolist()], pa.string())
    for rows in slices(n, min(ROWS, rows_at_once(len(classes)))):
        said = classifier.answers(rows, least)
        has = said.codes >= 0
        columns = {
            "node": names.slice(rows.start, rows.stop - rows.start),
            "label": _named(said.codes, classes),
            "probability": _rounded(said.probability, has, DIGITS_OF_PROBABILITY),
            "most_probable": _named(said.likelier, classes),
            "its_probability": _rounded(
                said.its_probability, said.likelier >= 0, DIGITS_OF_PROBABILITY
            ),
            "margin": _rounded(classifier.margins_[rows], has),
            "status": statuses.take(pa.array(said.status)),
            "certified": pa.array(classifier.certified_[rows]),
        }
        if temperatures:
            T = classifier.temperatures_[rows]
            for k, name in enumerate(classes.to_pylist()):
                columns[f"temperature_{name}"] = _rounded(T[:, k], ~np.isnan(T[:, k]))
        if coloured:
            columns[COLOUR] = _palette(classifier).take(pa.array(said.codes % (len(classes) + 1)))
        columns["node"] = pc.cast(columns["node"], pa.large_string())
        yield pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))
        if progress is not None:
            progress(rows.stop, n)


def rows_of_columns(
    model: DirichletEstimator, *, coloured: bool, progress: Progress | None
) -> Iterator[pa.RecordBatch]:
    """Rows as `to_frame` has them, some at a time; several things in a cell as one text."""
    found = model.columns()
    columns = {name: pa.array([as_text(cell) for cell in cells]) for name, cells in found.items()}
    columns["node"] = pc.cast(model.node_texts(), pa.large_string())
    if coloured:
        columns[COLOUR] = pa.array(_colours(model, found))
    n = len(columns["node"])
    for first in range(0, n, ROWS):
        parts = [column.slice(first, ROWS) for column in columns.values()]
        yield pa.RecordBatch.from_arrays(parts, names=list(columns))
        if progress is not None:
            progress(min(first + ROWS, n), n)


def rows_of_ranking(
    classifier: HeatClassifier, *, coloured: bool, progress: Progress | None
) -> Iterator[pa.RecordBatch]:
    """Rows of a ranking, some at a time."""
    names = classifier.node_texts()
    order, status, score, rank = RankedRows.of(classifier.ranking_, classifier.problem_)
    statuses = pa.array(RANKED)
    for first in range(0, len(order), ROWS):
        rows = slice(first, min(first + ROWS, len(order)))
        columns = {
            "node": pc.cast(names.take(pa.array(order[rows])), pa.large_string()),
            "score": _rounded(score[rows], status[rows] < 2),
            "rank": pa.array(rank[rows], mask=status[rows] != 1),
            "status": statuses.take(pa.array(status[rows])),
        }
        if coloured:
            columns[COLOUR] = pa.array(scale_colours(score[rows], 0.0, 1.0))
        yield pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))
        if progress is not None:
            progress(rows.stop, len(order))


def rows_of_records(
    records: Sequence[Mapping[str, object]], names: Sequence[str]
) -> pa.RecordBatch:
    """Rows with the given columns; one whose cells are of several kinds is of texts."""
    columns = []
    for name in names:
        cells = [record.get(name) for record in records]
        try:
            columns.append(pa.array(cells))
        except pa.ArrowException:
            columns.append(pa.array([None if cell is None else str(cell) for cell in cells]))
    columns = [pc.cast(one, pa.string()) if pa.types.is_null(one.type) else one for one in columns]
    return pa.RecordBatch.from_arrays(columns, names=list(names))


def _palette(model: HeatClassifier | MultiLabelDirichletClassifier) -> pa.Array:
    """The colour of each class, and one more for none."""
    classes = model.classes_.tolist()
    n_seeds = (model.problem_.values > 0).sum(axis=0)
    return pa.array([*class_colours(classes, n_seeds.tolist()), OTHER])


def _colours(model: Any, found: dict[str, list[Any]]) -> list[str]:
    """Of values: on a scale; of sets of labels: that of the first."""
    if "labels" not in found:
        values = np.array(found["value"], dtype=np.float64)
        some = values[np.isfinite(values)]
        return scale_colours(values, some.min(initial=np.inf), some.max(initial=-np.inf))
    colours = _palette(model).to_pylist()
    number = {label: k for k, label in enumerate(model.classes_.tolist())}
    return [colours[number[labels[0]] if labels else -1] for labels in found["labels"]]


def _named(codes: NDArray[np.intp], classes: pa.Array) -> pa.Array:
    """The names of classes; none where there is no class."""
    has = codes >= 0
    return classes.take(pa.array(np.where(has, codes, 0), mask=~has))


def _rounded(
    values: NDArray[np.floating], has: NDArray[np.bool_], digits: int = DIGITS
) -> pa.Array:
    numbers = np.round(values.astype(np.float64), digits)
    return pa.array(numbers, mask=~(has & np.isfinite(numbers)))


def rows_of_list(
    listed: Sequence[Listed], classifier: HeatClassifier | None = None
) -> pa.RecordBatch:
    """A row for each node of a list, with the colour of its label if the classifier is given."""

    def texts(name: str) -> pa.Array:
        found = [getattr(one, name) for one in listed]
        return pa.array([None if one is None else str(one) for one in found], pa.string())

    def numbers(name: str, digits: int) -> pa.Array:
        found = [getattr(one, name) for one in listed]
        return pa.array(
            [None if one is None else round(one, digits) for one in found], pa.float64()
        )

    columns = {
        "rank": pa.array([one.rank for one in listed], pa.int64()),
        "node": texts("node"),
        "label": texts("label"),
        "probability": numbers("probability", DIGITS_OF_PROBABILITY),
        "score": numbers("score", DIGITS),
        "runner_up": texts("runner_up"),
        "its_probability": numbers("its_probability", DIGITS_OF_PROBABILITY),
        "certified": pa.array([one.certified for one in listed], pa.bool_()),
        "neighbours": pa.array([one.neighbours for one in listed], pa.int64()),
    }
    kinds = dict.fromkeys(label for one in listed for label in one.weights)
    for label in kinds:
        sums = [one.weights.get(label, 0.0) for one in listed]
        columns[f"weight_{label}"] = pa.array(sums, pa.float64())
    columns["why"] = texts("why")
    empty = {name for name, column in columns.items() if column.null_count == len(column)}
    kept = {name: columns[name] for name in columns if name not in empty or not listed}
    if classifier is not None:
        colours = _palette(classifier).to_pylist()
        number = {label: k for k, label in enumerate(classifier.classes_.tolist())}
        kept[COLOUR] = pa.array([colours[number.get(one.label, -1)] for one in listed], pa.string())
    return pa.RecordBatch.from_arrays(list(kept.values()), names=list(kept))
