"""How the site is built: ``python -m sphinx -W -b html docs build/site``."""

from __future__ import annotations

import os
import re
import textwrap
import warnings
from pathlib import Path
from typing import Any

import isotherm

HERE = Path(__file__).parent
ROOT = HERE.parent

project = "isotherm"
author = "The isotherm developers"
project_copyright = author
version = release = isotherm.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_templates", "**.ipynb", "gallery/*.py"]
templates_path = ["_templates"]
default_role = "code"

myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]

autosummary_generate = True
toc_object_entries_show_parents = "hide"
copybutton_prompt_text = r">>> |\.\.\. |\$ "  # examples are copied without prompts and output
copybutton_prompt_is_regexp = True
autodoc_typehints = "none"  # numpydoc's sections say it in words
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # the template lists them
numpydoc_xref_param_type = False

html_theme = "pydata_sphinx_theme"
html_title = "isotherm"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/flame.svg"
html_show_sourcelink = False
html_search_scorer = str(HERE / "_static" / "scorer.js")
html_show_sphinx = False
html_sidebars = {"index": []}
html_theme_options = {
    "logo": {
        "text": "isotherm",
        "image_light": "_static/flame.svg",
        "image_dark": "_static/flame.svg",
    },
    "header_links_before_dropdown": 7,
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "navigation_with_keys": False,
    "show_prev_next": True,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


def shown(message: Warning | str, category: type[Warning], *_: object) -> str:
    """A warning in the output of an example: what it says, not where the file was."""
    return textwrap.fill(f"{category.__name__}: {message}", 88) + "\n"


warnings.formatwarning = shown

# ISOTHERM_GALLERY chooses the examples that are executed, by a pattern of their names; the others
# are shown as text. CI executes all of them as long as that takes less than three minutes.
sphinx_gallery_conf: dict[str, Any] = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": os.environ.get("ISOTHERM_GALLERY", r"\.py$"),
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "plot_gallery": "True",
    "min_reported_time": 5,
    "write_computation_times": False,  # its page would load scripts from elsewhere
    "show_memory": False,
    "show_signature": False,
    "doc_module": ("isotherm",),
    "backreferences_dir": None,
    "reset_modules": ("matplotlib",),
    "image_scrapers": ("matplotlib",),
    "matplotlib_animations": False,
}

# Pages that stand at the root of the repository, for people who look there first.
FROM_ROOT = {
    "CONTRIBUTING.md": "contributing",
    "CHANGELOG.md": "changes",
    "SECURITY.md": "security",
}
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!https?:|#)([^)#\s]+)([^)]*)\)")
PATTERN = re.compile(r"^([a-z-]+)\*\n", re.MULTILINE)


def copy_pages_from_root(app: Any, config: Any) -> None:
    """Put the pages of the repository's root into ``project/``, with links that lead on."""
    folder = HERE / "project"
    folder.mkdir(exist_ok=True)
    for name, copied in FROM_ROOT.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        text = LINK.sub(r"[\1](../../\2\3)", text)
        path = folder / f"{copied}.md"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def read(app: Any, docname: str, source: list[str]) -> None:
    """Make a page that is right in the repository right on the site, too."""
    folder = (HERE / docname).parent

    def led(found: re.Match[str]) -> str:
        """A link that leads out of the pages: to a copied page, to a file, or nowhere."""
        shown, target, rest = found.groups()
        path = (folder / target).resolve()
        if path.name in FROM_ROOT and path.parent == ROOT:
            page = HERE / "project" / f"{FROM_ROOT[path.name]}.md"
            return f"[{shown}]({os.path.relpath(page, folder)}{rest})"
        if path == ROOT / "examples" / "gallery":
            path = HERE / "gallery" / "index.rst"
        if path.is_relative_to(HERE):
            return f"[{shown}]({os.path.relpath(path, folder)}{rest})"
        return shown if path.is_dir() else f"[{shown}](path:{target})"

    # Patterns are pages that may not be written yet: one that is not there is no broken link.
    text = PATTERN.sub(lambda found: found[0] if [*HERE.glob(f"{found[1]}*.md")] else "", source[0])
    text = text.replace("\n\n```\n", "\n```\n")  # the tests need a blank line after an output
    source[0] = LINK.sub(led, text)


def setup(app: Any) -> None:
    """Connect what is ours."""
    app.connect("config-inited", copy_pages_from_root)
    app.connect("source-read", read)
