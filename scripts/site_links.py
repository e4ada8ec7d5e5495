"""Check a built site: every link inside it leads somewhere, and nothing is loaded from elsewhere.

``python scripts/site_links.py build/site``
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """What a page links to, what it loads, and the places in it that can be linked to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.places = {""}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag refers to, and its own name."""
        found = dict(attrs)
        self.places.update(found[key] or "" for key in ("id", "name") if key in found)
        if tag == "a" and found.get("href"):
            self.links.append(found["href"] or "")
        if tag == "link" and found.get("rel") in ("stylesheet", "preload", "icon", "shortcut icon"):
            self.loaded.append(found.get("href") or "")
        if tag in ("script", "img", "iframe", "source") and found.get("src"):
            self.loaded.append(found["src"] or "")


def html_pages(site: Path) -> list[Path]:
    """The pages of the site; what lies in ``_static`` belongs to the theme."""
    return [path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]


def faults(site: Path) -> list[str]:
    """One line for each link that leads nowhere and each thing loaded from elsewhere."""
    pages = {path.resolve(): Page(path) for path in html_pages(site)}
    found = []
    for path, page in pages.items():
        for target in page.links + page.loaded:
            url = urlsplit(target)
            if url.scheme or url.netloc:
                if target in page.loaded and url.scheme != "data":
                    found.append(f"{path}: loads {target}")
                continue
            to = (path.parent / unquote(url.path)).resolve() if url.path else path
            if not to.exists():
                found.append(f"{path}: {target} is not there")
            elif to in pages and unquote(url.fragment) not in pages[to].places:
                found.append(f"{path}: {target}: no such place")
    return found


def main() -> int:
    """Print the faults; the exit code is 1 if there are any."""
    site = Path(sys.argv[1])
    found = faults(site)
    print(*found, f"{len(html_pages(site))} pages, {len(found)} faults", sep="\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
