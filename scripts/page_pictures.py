"""Take the pictures of the labelling page in docs/images: ``python scripts/page_pictures.py``.

Needs ``isotherm[dev]`` and Chromium, as the tests of the page do (``.ci/browser``). The page
shows Debian's packages, of which a few have their label, and one of them is looked up.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from playwright.sync_api import sync_playwright

from isotherm import load_dataset

if TYPE_CHECKING:
    from playwright.sync_api import Browser

IMAGES = Path(__file__).parents[1] / "docs" / "images"
NODE = "python3-matplotlib"
SEEDS = 600
DRAWING = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]
WAIT = 120_000  # milliseconds
SCREENS: dict[str, dict[str, Any]] = {
    "labelling": {"viewport": {"width": 1280, "height": 860}},
    "labelling-dark": {"viewport": {"width": 1280, "height": 860}, "color_scheme": "dark"},
    "labelling-phone": {"viewport": {"width": 400, "height": 860}, "has_touch": True},
}


def main() -> None:
    """Take all pictures."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        raise SystemExit("there is no Chromium; bash .ci/browser installs it")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        write_files(Path(folder))
        command = [sys.executable, "-m", "isotherm", "label", "debian.csv", "labels.csv"]
        command += ["--who", "ann", "--link", "https://packages.debian.org/{id}"]
        command += ["--no-open", "--port", "0"]
        with subprocess.Popen(  # noqa: S603
            command, cwd=folder, stdout=subprocess.PIPE, text=True
        ) as server:
            try:
                lines = iter(server.stdout or [])
                address = next(found for line in lines if (found := address_in(line)))
                browser = playwright.chromium.launch(
                    executable_path=chromium, args=["--no-sandbox", *DRAWING]
                )
                for name, screen in SCREENS.items():
                    take(browser, address, name, screen)
                browser.close()
            finally:
                server.terminate()


def write_files(folder: Path) -> None:
    """The graph, and the labels of a few nodes."""
    debian = load_dataset("debian")
    names, graph = debian.graph.names, debian.graph
    rows, columns = graph.adjacency.nonzero()
    edges = [f"{names[i]},{names[j]}" for i, j in zip(rows, columns, strict=True) if i <= j]
    (folder / "debian.csv").write_text("\n".join(["source,target", *edges]) + "\n")
    some = np.random.default_rng(0).choice(np.flatnonzero(graph.degrees), SEEDS, replace=False)
    labels = [f"{names[i]},{debian.labels[i]}" for i in some.tolist()]
    (folder / "labels.csv").write_text("\n".join(["node,label", *labels]) + "\n")


def address_in(line: str) -> str | None:
    """The address of the page, if it is there."""
    found = re.search(r"http://\S+", line)
    return found and found.group()


def take(browser: Browser, address: str, name: str, screen: dict[str, Any]) -> None:
    """Look a node up, and take a picture once all is there."""
    context = browser.new_context(**screen)
    page = context.new_page()
    page.goto(address)
    page.get_by_placeholder("search by name").fill(NODE)
    page.get_by_role("cell", name=NODE, exact=True).click(timeout=WAIT)
    page.get_by_role("heading", name=NODE).wait_for(timeout=WAIT)
    page.get_by_placeholder("search by name").fill("")
    page.get_by_text("up to date", exact=True).wait_for(timeout=WAIT)  # nothing is left to find
    page.wait_for_timeout(5_000)  # the picture comes to rest
    page.evaluate("window.scrollTo(0, 0)")
    page.screenshot(path=IMAGES / f"{name}.png")
    context.close()


if __name__ == "__main__":
    main()
