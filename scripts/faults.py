"""Whether the tests would notice: ``python scripts/faults.py [NAME ...]``.

Plants the faults of `golden/faults.toml` one after the other in a copy of the project, and runs the
tests that must fail then. Each fault is a text that stands in one file exactly once, and what takes
its place; `tests` are those of pytest, `core` parts of the core's own test. It is run at the end of
each move of code, not in the checks: there it is only looked whether all can still be planted.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
import venv
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIST = ROOT / "golden" / "faults.toml"
SECONDS = 300  # that the tests of one fault may take: a fault may also be one that never ends


@dataclass(frozen=True)
class Fault:
    """A mistake that somebody could make, and the tests that must notice it."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...] = ()
    core: tuple[str, ...] = ()

    def planted(self, text: str) -> str:
        """The file with the fault in it."""
        count = text.count(self.old)
        if count != 1:
            raise ValueError(f"{self.name}: {count} places in {self.file} instead of one")
        return text.replace(self.old, self.new)


def main() -> int:
    """Plant all faults, or those of these names; 1 if one is not noticed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="by default all")
    names = parser.parse_args().names
    faults = [fault for fault in read(LIST) if not names or fault.name in names]
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(Path(folder), with_core=any(fault.core for fault in faults))
        sound = {test for fault in faults for test in fault.tests}
        if copy.fails(sorted(sound), sorted({part for fault in faults for part in fault.core})):
            print("the tests fail before anything is planted")
            return 1
        missed = [fault.name for fault in faults if not is_noticed(fault, copy)]
    print(f"{len(faults) - len(missed)} of {len(faults)} faults are noticed")
    return int(bool(missed))


def read(path: Path) -> list[Fault]:
    """The faults of a list."""
    found = tomllib.loads(path.read_text("utf-8"))
    return [
        Fault(name, one["file"], one["old"], one["new"],
              tuple(one.get("tests", ())), tuple(one.get("core", ())))
        for name, one in found.items()
    ]  # fmt: skip


def is_noticed(fault: Fault, copy: Copy) -> bool:
    """Whether the tests fail that must; says so, too."""
    path = copy.tree / fault.file
    text = path.read_text("utf-8")
    path.write_text(fault.planted(text), "utf-8")
    try:
        noticed = copy.fails(fault.tests, fault.core)
    finally:
        path.write_text(text, "utf-8")
    print(f"{'noticed' if noticed else 'NOT NOTICED'}: {fault.name}", flush=True)
    return noticed


class Copy:
    """A copy of the project as it is, committed or not, whose tests import what is in it."""

    def __init__(self, folder: Path, *, with_core: bool) -> None:
        self.tree = folder / "tree"
        listed = ["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard"]
        for name in subprocess.check_output(listed, text=True).splitlines():  # noqa: S603
            if (ROOT / name).is_file():
                (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.tree / name)
        self._put_core()
        venv.create(folder / "venv", with_pip=False)
        self._python = folder / "venv" / "bin" / "python"
        site = Path(sysconfig.get_path("purelib", vars={"base": str(folder / "venv")}))
        # What is installed here, but for isotherm: hooks of an editable one are not run.
        (site / "others.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
        self._build = folder / "build"
        if with_core:
            configure = ["cmake", "-S", self.tree / "native", "-B", self._build, "-G", "Ninja"]
            self._run([*configure, "-DISOTHERM_TEST_CORE=ON"], check=True)

    def fails(self, tests: object, core: object) -> bool:
        """Whether one of these tests fails, or does not end; an error of another kind is raised."""
        tests, core = list(tests), list(core)
        if tests:
            command = [self._python, "-m", "pytest", "-n0", "-q", "-x", "-m", "", *tests]
            code = self._run([*command, "-p", "no:cacheprovider"])
            if code not in (0, 1, None):
                raise RuntimeError(f"pytest ended with {code}: are these tests there? {tests}")
            if code != 0:
                return True
        if core:
            self._run(["cmake", "--build", self._build], check=True)
            return self._run([self._build / "test_core", *core]) != 0
        return False

    def _put_core(self) -> None:
        from isotherm.compiled import core

        if core is None:
            raise SystemExit("isotherm was built without its core, which many tests need")
        shutil.copy2(core.__file__, self.tree / "src" / "isotherm")

    def _run(self, command: list[object], *, check: bool = False) -> int | None:
        """Its exit code; None if it did not end in time."""
        there = {"PYTHONPATH": str(self.tree / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        try:
            done = subprocess.run(  # noqa: S603
                list(map(str, command)), cwd=self.tree, env=os.environ | there,
                capture_output=True, text=True, timeout=None if check else SECONDS,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return None
        if check and done.returncode:
            raise RuntimeError(done.stdout + done.stderr)
        return done.returncode


if __name__ == "__main__":
    sys.exit(main())
