"""Whether a change costs speed: ``python -m benchmarks.by_turns BASE [HEAD] [--only JOB ...]``.

Both versions are built from the repository, each into an environment of its own, and run the ten
jobs of `benchmarks.the_ten` by turns: base, head, head, base, … seven times each. What counts is
the median of the seven ratios of head to base, so that a slow minute of the machine hits both.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
import venv
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT, Result, save
from benchmarks.the_ten import JOBS, ready

ROUNDS = 7
MOST = 1.03  # times as long as before
A_TURN = 0.4  # seconds that a turn takes at least: short jobs are repeated


def main() -> int:
    """Compare two versions; 1 if head is slower."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("base", help="the revision to compare with, such as main~3")
    parser.add_argument("head", nargs="?", default="HEAD", help="by default HEAD, as committed")
    parser.add_argument("--only", nargs="+", choices=JOBS, default=list(JOBS), metavar="JOB")
    parser.add_argument("--quick", action="store_true", help="small graphs: does it run at all?")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--results", type=Path, default=ROOT / "results" / "benchmarks")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        pythons = [
            environment(revision, Path(folder) / side)
            for side, revision in (("base", options.base), ("head", options.head))
        ]
        result = compare(pythons, options)
    result.note = f"base {commit(options.base)}, head {commit(options.head)}"
    if not options.quick:
        save("by_turns", result, options.results)
    return 0 if all(result.checks.values()) or options.quick else 1


def commit(revision: str) -> str:
    """Its short name."""
    return _git("rev-parse", "--short", revision).strip()


def environment(revision: str, folder: Path) -> Path:
    """The Python of an environment with that version, and what else is installed here."""
    tree = folder / "tree"
    tree.mkdir(parents=True)
    archive = folder / "tree.tar"
    _git("archive", "-o", str(archive), revision)
    shutil.unpack_archive(archive, tree, filter="data")
    venv.create(folder / "venv", with_pip=False)
    python = folder / "venv" / "bin" / "python"
    site = Path(sysconfig.get_path("purelib", vars={"base": str(folder / "venv")}))
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps"]
    subprocess.run([*pip, tree], check=True)
    # What both need; a version that is installed here for editing is not found in this way.
    (site / "others.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return python


def compare(pythons: list[Path], options: argparse.Namespace) -> Result:
    """Run each job by turns on base and on head."""
    result = Result(__doc__.splitlines()[0])
    for name in options.only:
        with ExitStack() as stack:
            base, head = (
                stack.enter_context(Worker(python, name, quick=options.quick)) for python in pythons
            )
            if not base.is_there:
                print(f"{name}: left out, its data is not here", flush=True)
                continue
            seconds: list[tuple[float, float]] = []
            repeats = repeats_of_a_turn(base, head)
            for turn in range(options.rounds):
                if turn % 2:
                    later, sooner = head.run(repeats), base.run(repeats)
                    seconds.append((sooner, later))
                else:
                    seconds.append((base.run(repeats), head.run(repeats)))
        ratios = sorted(later / sooner for sooner, later in seconds)
        ratio = statistics.median(ratios)
        result.add(
            job=name,
            what=JOBS[name].__doc__,
            base_s=statistics.median(one for one, _ in seconds),
            head_s=statistics.median(one for _, one in seconds),
            ratio=ratio,
            least=ratios[0],
            most=ratios[-1],
        )
        result.check(f"{name} takes {ratio:.3f} ≤ {MOST} times as long as before", ratio <= MOST)
    return result


def repeats_of_a_turn(base: Worker, head: Worker) -> int:
    """How often a job is run in a turn. Both run it as often to find out: no two runs are alike."""
    repeats = 1
    while (seconds := max(base.run(repeats), head.run(repeats))) * repeats < A_TURN / 4:
        repeats *= 2
    return max(1, round(A_TURN / seconds))


class Worker:
    """A process with one version, which runs one job when told to."""

    def __init__(self, python: Path, name: str, *, quick: bool) -> None:
        self._process = subprocess.Popen(
            [python, "-m", "benchmarks.by_turns", "--worker", name, *["--quick"] * quick],
            cwd=ROOT,
            env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.is_there = self._ask("")["is_there"]

    def run(self, repeats: int) -> float:
        """Seconds of one of so many repetitions."""
        return float(self._ask(f"{repeats}\n")["seconds"])

    def _ask(self, question: str) -> dict[str, Any]:
        questions, answers = self._process.stdin, self._process.stdout
        if questions is None or answers is None:
            raise RuntimeError("a worker has pipes")
        questions.write(question)
        questions.flush()
        line = answers.readline()
        if not line:
            raise RuntimeError("the job failed; see above")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()  # the end of what is asked ends it


def work(name: str, *, quick: bool) -> None:
    """What a worker does: make the job ready, then run it as often as it is told."""
    job = ready(name, quick=quick)
    print(json.dumps({"is_there": job is not None}), flush=True)
    if job is None:
        return
    for line in sys.stdin:
        asked = int(line)
        print(json.dumps({"seconds": timed(job, asked) / asked}), flush=True)


def timed(job: Any, repeats: int) -> float:
    """Seconds of so many repetitions."""
    started = time.perf_counter()
    for _ in range(repeats):
        job()
    return time.perf_counter() - started


def _git(*arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments],  # noqa: S607  # wherever git is
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        work(sys.argv[2], quick="--quick" in sys.argv)
        sys.exit(0)
    sys.exit(main())
