"""Examples run, commands are documented, links lead somewhere."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest
import typer

import isotherm
from isotherm.cli.app import app
from isotherm.cli.demo import PAPER, demo
from isotherm.engines import ENGINES

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
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
            inside = target.removeprefix("src/isotherm/")
            home = page.parent if inside == target else Path(isotherm.__file__).parent
            assert (home / inside).exists(), target


def commands():
    """Every command with all its options, those of the program itself first."""

    def within(name, command):
        yield name, command
        for part, inner in getattr(command, "commands", {}).items():
            yield from within(f"{name} {part}", inner)

    return within("isotherm", typer.main.get_command(app))


def test_every_command_and_option_is_documented():
    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    for name, command in commands():
        assert name == "isotherm" or f"## {name}" in text
        for parameter in command.params:
            for option in parameter.opts:
                if option.startswith("-"):
                    assert f"`{option}`" in text, option


def test_every_public_name_is_documented():
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    for name in isotherm.__all__:
        assert name.startswith("__") or name in text, name


def test_the_readme_shows_what_the_demo_prints(capsys):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.search(r"```text\n(.*?)```", readme, re.DOTALL).group(1)
    demo(PAPER)
    printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    for line in shown.splitlines():
        if line and line != "…" and "direct on native" not in line:
            assert line in printed
    last = rf"direct on {next(iter(ENGINES))}, 1 step: every temperature within"
    assert re.search(last, "\n".join(printed))


def test_the_changelog_knows_this_version():
    assert f"## {isotherm.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
