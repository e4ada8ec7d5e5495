"""The site has every public name and every page; its drawing and its numbers are not made up."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import isotherm

pytestmark = pytest.mark.core_free

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
GALLERY = sorted((ROOT / "examples" / "gallery").glob("*.py"))
# Copied from the root of the repository when the site is built, or made from the examples.
MADE = {"gallery/index", "project/contributing", "project/changes", "project/security"}


def entries(page):
    """What the lists of contents of a page name, without their options."""
    blocks = re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    lines = [line for block in blocks for line in block.split() if not line.startswith(":")]
    return [re.sub(r"[<>]", "", line) for line in lines if re.fullmatch(r"<?[a-z/*-]+>?", line)]


def test_every_public_name_is_in_the_reference_once():
    text = (DOCS / "api" / "index.md").read_text(encoding="utf-8")
    listed = re.findall(r"^   (\w+)$", text, re.MULTILINE)
    assert sorted(listed) == sorted(set(isotherm.__all__) - {"__version__"})


@pytest.mark.parametrize("name", sorted(set(isotherm.__all__) - {"__version__"}))
def test_every_public_name_has_an_example_and_says_what_it_takes_or_holds(name):
    text = getattr(isotherm, name).__doc__
    assert ">>>" in text
    thing = getattr(isotherm, name)
    is_plain = isinstance(thing, type) and (issubclass(thing, Exception) or name == "Elimination")
    assert is_plain or "Parameters\n" in text or "Attributes\n" in text


def test_every_page_is_in_the_contents_and_all_that_they_name_is_there():
    listed = {entry for page in DOCS.glob("*.md") for entry in entries(page)}
    pages = {page.stem for page in DOCS.glob("*.md")} - {"index"}
    found = {page for page in pages for entry in listed if Path(page).match(entry)}
    assert found == pages
    assert all("*" in e or e in MADE or (DOCS / f"{e}.md").exists() for e in listed)


def test_the_quick_start_of_the_site_is_that_of_the_readme():
    page = (DOCS / "first-labels.md").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```console\n.*?```", page, re.DOTALL)
    assert shown in readme
    for file in re.findall(r"```text\n(.*?)```", page, re.DOTALL):
        assert file in readme


@pytest.mark.parametrize("script", ["architecture.py", "peers_page.py"])
def test_what_is_made_by_a_script_is_what_it_makes(script):
    run = [sys.executable, str(ROOT / "scripts" / script), "--check"]
    assert subprocess.run(run, check=False).returncode == 0, f"run python scripts/{script}"


def test_the_drawing_has_every_import_directly_or_by_way_of_others():
    text = (DOCS / "images" / "architecture.svg").read_text(encoding="utf-8")
    drawn = set(re.findall(r'data-from="(\w+)" data-to="(\w+)"', text))
    reached = set(drawn)
    while more := {(a, d) for a, b in reached for c, d in drawn if b == c} - reached:
        reached |= more
    package = Path(isotherm.__file__).parent
    for path in package.rglob("*.py"):
        home = path.relative_to(package).with_suffix("").parts[0]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            found = re.match(r"isotherm\.(?!_core)(\w+)", getattr(node, "module", None) or "")
            if (
                isinstance(node, ast.ImportFrom)
                and found
                and home not in (found[1], "__init__", "__main__")
            ):
                assert (home, found[1]) in reached, path


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_an_example_has_a_title_a_picture_and_public_names_only(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    title, line = ast.get_docstring(tree).splitlines()[:2]
    assert line == "=" * len(title)
    assert "plt.subplots" in path.read_text(encoding="utf-8")
    used = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    ours = [alias.name for node in used if node.module == "isotherm" for alias in node.names]
    assert ours
    assert set(ours) <= set(isotherm.__all__)
    assert not [node.module for node in used if node.module.startswith("isotherm.")]


def test_the_recipe_for_conda_needs_what_the_package_needs():
    recipe = (ROOT / "packaging" / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (run,) = re.findall(r"\n  run:\n((?:    - .*\n)+)", recipe)
    needed = [line.removeprefix("    - ").replace(" ", "") for line in run.splitlines()]
    assert needed == [f"python{project['requires-python']}", *project["dependencies"]]
    assert f'version: "{project["version"]}"' in recipe


def test_the_check_of_links_finds_those_that_lead_nowhere(tmp_path):
    script = ROOT / "scripts" / "site_links.py"
    page = '<a href="b.html#there">x</a><a href="#here" id="here">y</a><img src="data:,">'
    (tmp_path / "a.html").write_text(page)
    (tmp_path / "b.html").write_text('<p id="there"></p>')
    run = [sys.executable, str(script), str(tmp_path)]
    assert subprocess.run(run, check=False, capture_output=True).returncode == 0
    (tmp_path / "c.html").write_text(
        '<a href="b.html#no"></a><a href="d.html"></a><script src="https://example.org/s.js"></script>'
    )
    bad = subprocess.run(run, check=False, capture_output=True, text=True)
    assert bad.returncode == 1
    assert "3 faults" in bad.stdout
