"""Examples run, commands are documented, links lead somewhere."""

import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import isotherm
from conftest import CliRun
from isotherm.engines import ENGINES

pytestmark = pytest.mark.core_free

ROOT = Path(__file__).parents[1]
AT_ROOT = [ROOT / name for name in ("README.md", "CHANGELOG.md", "SECURITY.md")]
PAGES = [*AT_ROOT, *sorted((ROOT / "docs").glob("*.md"))]
MODULES = [
    module.name
    for module in pkgutil.walk_packages(isotherm.__path__, "isotherm.")
    if module.name != "isotherm.__main__"
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name):
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert result.failed == 0


def test_enough_docstrings_have_examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    tried = sum(
        bool(test.examples)
        for name in MODULES
        for test in finder.find(importlib.import_module(name))
    )
    assert tried >= 15


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_examples_on_pages_run(page):
    # Markdown fences are not part of an example's output: each ends in a blank line.
    result = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert result.failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_links_between_pages_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if not target.startswith(("http://", "https://")):
            # The code may be installed elsewhere than beside the pages.
            inside = re.sub(r"^(\.\./)?src/isotherm/", "", target)
            home = page.parent if inside == target else Path(isotherm.__file__).parent
            assert (home / inside).exists(), target


def test_every_public_name_is_documented():
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    for name in isotherm.__all__:
        assert name.startswith("__") or name in text, name


NUMBER = re.compile(r"[(\d.,%);]*\d[\d.,%);]*")


def words(line):
    return tuple(word for word in line.split() if not NUMBER.fullmatch(word))


def numbers(line):
    found = filter(NUMBER.fullmatch, line.split())
    return [float(re.sub(r"[^\d.]", "", word)) for word in found]


@pytest.mark.slow
def test_the_readme_shows_what_the_demo_prints(tmp_path):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.search(r"```text\n(class .*?)```", readme, re.DOTALL).group(1)
    result = CliRun(tmp_path)("demo", columns=80)
    printed = {words(line): numbers(line) for line in result.stdout.splitlines()}
    for line in shown.splitlines():
        if line and line != "…" and " on native, " not in line:
            # The last digits are the processor's.
            assert printed[words(line)] == pytest.approx(numbers(line), rel=0.01, abs=0.03)
    assert re.search(rf"cg on {next(iter(ENGINES))}, \d+ steps: every temper", result.stdout)


def test_the_quick_start_of_the_readme_is_what_happens(tmp_path):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for name, text in re.findall(r"```text\n# (\S+\.csv)\n(.*?)```", readme, re.DOTALL):
        (tmp_path / name).write_text(text)
    command, shown = re.search(
        r"```console\n\$ isotherm (.*?)\n(.*?)```", readme, re.DOTALL
    ).groups()
    result = CliRun(tmp_path)(*command.split(), columns=100)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == shown


def test_the_page_of_commands_is_made_from_them():
    script = ROOT / "scripts" / "cli_page.py"
    checked = subprocess.run([sys.executable, str(script), "--check"], check=False)
    assert checked.returncode == 0, "run python scripts/cli_page.py"


def test_the_citation_is_of_this_version_and_of_the_paper():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {isotherm.__version__}\n" in text
    title = "A Consistent Diffusion-Based Algorithm for Semi-Supervised Graph Learning"
    assert f"title: {title}\n" in text
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert title in readme
    for identifier in re.findall(r"arXiv:[\d.]+", text):
        assert identifier in readme


def test_the_changelog_knows_this_version():
    assert f"## {isotherm.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
