"""What a version of isotherm gives: ``python golden/made.py FOLDER``, or ``--ten`` for the tests.

Writes 60 fits and what 42 commands print and write, 12 of them pages, into a folder. It is run by
`scripts/golden.py` with two versions on the same machine, on one thread, and uses names that users
have: whoever renames one teaches it the new name, beside the old one.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SEED = 2026
N, CLASSES = 300, 3


# --- graphs ---------------------------------------------------------------------------------------


def edges_of(name: str) -> tuple[int, Any, Any, Any]:
    """A small graph of its kind: nodes, ends of its edges, and weights or None."""
    rng = np.random.default_rng(SEED)
    n, weights = N, None
    if name == "path":
        source, target = np.arange(59), np.arange(1, 60)
        n = 62  # and two nodes alone
    elif name == "grid":
        place = np.arange(400).reshape(20, 20)
        source = np.concatenate([place[:, :-1].ravel(), place[:-1].ravel()])
        target = np.concatenate([place[:, 1:].ravel(), place[1:].ravel()])
        n = 400
    elif name == "hubs":
        source = np.concatenate([np.zeros(150, int), rng.integers(0, N, 400)])
        target = np.concatenate([np.arange(1, 151), rng.integers(0, 12, 400)])
    elif name == "apart":
        source = rng.integers(0, 150, 500)
        target = rng.integers(0, 150, 500)
        source, target = np.append(source, 200 + source % 20), np.append(target, 200 + target % 20)
    elif name == "dense":
        n = 80
        source, target = np.triu(rng.random((n, n)) < 0.5, 1).nonzero()
    else:
        source = rng.integers(0, N, 1100)
        near = rng.integers(0, N // CLASSES, 1100) + N // CLASSES * (source * CLASSES // N)
        target = np.where(rng.random(1100) < 0.8, near, rng.integers(0, N, 1100))
        if name == "weighted":
            weights = rng.integers(1, 64, 1100) / 16
    keep = source != target
    return n, source[keep], target[keep], None if weights is None else weights[keep]


GRAPHS = ("path", "grid", "random", "weighted", "hubs", "apart", "dense", "blocks")


def graph_of(name: str) -> tuple[Any, dict[int, str]]:
    """The graph, and labels of one node in eight: of its class, mostly."""
    from isotherm import Graph

    n, source, target, weights = edges_of(name)
    graph = Graph.from_edges(source, target, weights, nodes=range(n))
    rng = np.random.default_rng(SEED + 1)
    some = np.sort(rng.choice(min(n, 150) if name == "apart" else n, max(n // 8, 9), replace=False))
    wrong = rng.random(len(some)) < 0.1
    codes = np.where(wrong, rng.integers(0, CLASSES, len(some)), some * CLASSES // n)
    return graph, {int(i): "abc"[code] for i, code in zip(some, codes, strict=True)}


# --- fits -----------------------------------------------------------------------------------------


def paper(graph: Any, labels: dict[int, str], engine: str) -> Any:
    """Algorithm 1."""
    from isotherm import DirichletClassifier

    return DirichletClassifier(engine=engine).fit(graph, labels)


def leaking(graph: Any, labels: dict[int, str], engine: str) -> Any:
    """Another decision, and a leak."""
    from isotherm import DirichletClassifier

    return DirichletClassifier("ratio", leak=0.1, engine=engine).fit(graph, labels)


def unsure(graph: Any, labels: dict[int, str], engine: str) -> Any:
    """Some labels are not certain; nodes without heat count as 0."""
    from isotherm import DirichletClassifier

    confidence = dict.fromkeys(list(labels)[::2], 0.7)
    model = DirichletClassifier(unreached="zero", engine=engine)
    return model.fit(graph, labels, confidence)


def updated(graph: Any, labels: dict[int, str], engine: str) -> Any:
    """Labels come, change and go after the fit."""
    from isotherm import DirichletClassifier

    first, second, *_ = labels
    free = next(i for i in range(graph.n_nodes) if i not in labels)
    model = DirichletClassifier(engine=engine).fit(graph, labels)
    return model.update({free: "b", first: None}).update({second: "d"})


def stacked(graph: Any, labels: dict[int, str], engine: str) -> Any:
    """All views."""
    from isotherm import StackedDirichletClassifier

    return StackedDirichletClassifier(engine=engine).fit(graph, labels)


def sets(graph: Any, labels: dict[int, str], engine: str) -> Any:
    """Several labels a node."""
    from isotherm import MultiLabelDirichletClassifier

    several = {i: {label} | ({"even"} if i % 2 else set()) for i, label in labels.items()}
    return MultiLabelDirichletClassifier(engine=engine).fit(graph, several)


def values(graph: Any, labels: dict[int, str], engine: str) -> Any:
    """Numbers."""
    from isotherm import DirichletRegressor

    return DirichletRegressor(engine=engine).fit(graph, {i: i / 7 for i in labels})


MODELS: dict[str, Callable[[Any, dict[int, str], str], Any]] = {
    model.__name__: model for model in (paper, leaking, unsure, updated, stacked, sets, values)
}
EVERY = 7  # nodes of which the tests keep one
FITS = [(graph, model, "native") for graph in GRAPHS for model in MODELS]
FITS += [(graph, "paper", "scipy") for graph in ("path", "random", "weighted", "apart")]
TEN = [*FITS[14:21], ("grid", "paper", "native"), ("apart", "paper", "native"), FITS[-1]]


def fit(graph: str, model: str, engine: str) -> dict[str, Any]:
    """All that a fitted model says, by name: arrays, numbers and texts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = MODELS[model](*graph_of(graph), engine)
        found: dict[str, Any] = {"predict": fitted.predict()}
        if hasattr(fitted, "predict_proba"):
            found["predict_proba"] = fitted.predict_proba()
        for name in dir(fitted):
            if name.endswith("_") and not name.startswith("_"):
                value = asked(fitted, name)
                if isinstance(value, np.ndarray | float | int | str):
                    found[name] = value
        solution = getattr(fitted, "solution_", None)
        if solution is not None:
            found["error_bound"] = solution.error_bound
    arrays = {name: np.asarray(value) for name, value in found.items()}
    return {  # objects as texts, which no file runs
        name: array if array.dtype != object else np.array([repr(one) for one in array.ravel()])
        for name, array in arrays.items()
    }


def asked(fitted: Any, name: str) -> Any:
    """An attribute, or the error that it is."""
    try:
        return getattr(fitted, name)
    except Exception as error:  # it is what this model says
        return f"{type(error).__name__}: {error}"


# --- commands -------------------------------------------------------------------------------------

COMMANDS = """
classify edges.csv labels.csv -o out.csv
classify edges.csv labels.csv -o -
classify edges.csv labels.csv --model paper -o paper.csv
classify edges.csv labels.csv --model paper --decision ratio --leak 0.1 -o ratio.json
classify edges.csv labels.csv -o out.xlsx
classify edges.csv labels.csv -o out.parquet
classify edges.csv labels.csv -o out.graphml
classify edges.csv labels.csv -o out.gexf
classify edges.csv labels.csv --weight amount -o weighted.tsv
classify edges.csv labels.csv --temperatures --min-probability 0.8 -o sure.csv
classify edges.csv labels.csv --list a --top 10 -o list.csv
classify edges.csv labels.csv --list b --top 5 -o list.xlsx
classify edges.csv labels.csv --summary summary.json -o summed.csv
classify edges.csv sets.csv --multi -o sets-out.csv
classify edges.csv labels.csv --confidence 0.8 --unreached zero -o unsure.csv
classify edges.csv out.csv -o again.csv
classify missing.csv labels.csv -o no.csv
classify broken.csv labels.csv -o no.csv
classify edges.csv labels.csv --source nobody -o no.csv
classify edges.csv labels.csv -o out.csv
regress edges.csv values.csv -o values-out.csv
explain edges.csv labels.csv n005 n050
explain edges.csv labels.csv n005 -o why.svg
suggest edges.csv labels.csv -o more.csv
suspects edges.csv labels.csv -o odd.csv
evaluate edges.csv all.csv --seeds 0.1 --repeats 2 -o scores.csv
build edges.csv -o graph.iso
build --check graph.iso
classify graph.iso labels.csv -o mapped.csv
estimate edges.csv labels.csv
classify edges.csv labels.csv --report plain.html
classify edges.csv labels.csv --model paper --report paper.html
classify edges.csv labels.csv --weight amount --report weighted.html
classify edges.csv labels.csv --tol 1e-3 --model paper --report loose.html
classify edges.csv labels.csv --balance 0.5 --report balanced.html
classify edges.csv sets.csv --multi --report sets.html
classify edges.csv labels.csv --list a --top 10 -o list.html
classify graph.iso labels.csv --report mapped.html
regress edges.csv values.csv --report values.html
evaluate edges.csv all.csv --seeds 0.1 --repeats 2 --report scores.html
explain edges.csv labels.csv n005 -o why.html
explain edges.csv labels.csv n005 n050 -o both.html
""".strip().splitlines()


def write_inputs(folder: Path) -> None:
    """The files that commands read."""
    n, source, target, weights = edges_of("weighted")
    name = [f"n{i:03}" for i in range(n)]
    _, labels = graph_of("weighted")
    rows = {
        "edges": ["from,to,amount"]
        + [f"{name[i]},{name[j]},{w}" for i, j, w in zip(source, target, weights, strict=True)],
        "labels": ["account,class"] + [f"{name[i]},{label}" for i, label in labels.items()],
        "all": ["account,class"] + [f"{name[i]},{'abc'[i * CLASSES // n]}" for i in range(n)],
        "sets": ["account,class"]
        + [f"{name[i]},{label}{';even' * (i % 2)}" for i, label in labels.items()],
        "values": ["account,value"] + [f"{name[i]},{i / 8}" for i in labels],
        "broken": ["from,to", 'n000,"n001', "n001,n002"],
    }
    for file, lines in rows.items():
        (folder / f"{file}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def run_commands(folder: Path) -> Iterator[tuple[str, str]]:
    """Run each in a folder, one after the other: the command, and what it printed."""
    write_inputs(folder)
    environment = os.environ | {"COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1"}
    for line in COMMANDS:
        command = [sys.executable, "-m", "isotherm", *shlex.split(line)]
        ran = subprocess.run(  # noqa: S603
            command,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        yield line, f"exit {ran.returncode}\n{ran.stdout}\n--- errors\n{ran.stderr}"


def ten() -> dict[str, dict[str, list[Any]]]:
    """Of ten fits what the tests compare, for some of the nodes."""
    found = {}
    for names in TEN:
        fitted, some = fit(*names), slice(None, None, EVERY)
        kept = {"temperatures": np.round(fitted["temperatures_"][some], 7).tolist()}
        if "margins_" in fitted:
            kept["labels"] = list(map(str, fitted["predict"][some]))
            kept["margins"] = np.round(fitted["margins_"][some], 5).tolist()
        found["-".join(names)] = kept
    return found


def main() -> None:
    """Write everything, or (--ten) only what the tests compare."""
    if sys.argv[1] == "--ten":
        text = json.dumps(ten(), indent=None, separators=(",", ":")).replace("},", "},\n")
        (Path(__file__).parent / "ten.json").write_text(text + "\n", encoding="utf-8")
        return
    out = Path(sys.argv[1])
    (out / "fits").mkdir(parents=True)
    for graph, model, engine in FITS:
        found = fit(graph, model, engine)
        np.savez(out / "fits" / f"{graph}-{model}-{engine}.npz", **found)
    (out / "files").mkdir()
    (out / "printed").mkdir()
    for number, (line, printed) in enumerate(run_commands(out / "files")):
        text = f"isotherm {line}\n{printed}"
        (out / "printed" / f"{number:02}.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
