"""Parsed pages: tests look at elements, not at text that looks like them."""

import base64
import hashlib
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

from isotherm.report.classification import labels_page
from isotherm.report.page import TEMPLATES
from isotherm.report.record import Record

VOID = {"meta", "img", "input"}
TAGS = {
    *(
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "section",
        "h1",
        "h2",
        "h3",
        "p",
        "ul",
        "li",
        "nav",
        "ol",
        "a",
    ),
    *("div", "span", "i", "pre", "figure", "figcaption", "img"),
    *("table", "thead", "tbody", "tr", "th", "td"),
    *("details", "summary", "dl", "dt", "dd", "small"),
    *("form", "label", "input", "select", "option", "button", "output"),
    *("svg", "g", "path", "line", "polyline", "rect", "circle", "ellipse", "text"),
}
NUMBER = r"-?\d+(\.\d+)?"
# What an attribute may be. Words from data are in descriptions alone.
ATTRIBUTES = {
    "lang": "en",
    "charset": "utf-8",
    "http-equiv": "Content-Security-Policy",
    "name": "viewport|text|which|least",
    "content": "width=device-width, initial-scale=1|default-src 'none'; style-src 'unsafe-inline'; "
    "img-src data:; base-uri 'none'; form-action 'none'; "
    "script-src ('none'|'sha256-[a-zA-Z0-9+/=]{44}')",
    "scope": "col",
    "colspan": r"\d+",
    "hidden": "",
    "type": "search|number|reset",
    "autocomplete": "off",
    "step": "any",
    "value": r"(list-\d+)?",
    "class": "[a-z]+[234]?( [a-z]+)?",
    "style": r"background: var\(--(c\d+|other)\)|border: [12]px (solid|dashed) var\(--[a-z]+\)"
    r"|--wide: \d+px|width: (\d\d?\.\d|100\.0)%(; background: var\(--(c\d+|other)\))?",
    "id": r"(part|list)-\d+",
    "href": r"#(part|list)-\d+",
    "role": "img|note|search",
    "aria-label": ".+",
    "alt": ".+",
    "src": "data:image/svg\\+xml;base64,[a-zA-Z0-9+/=]+",
    "viewbox": f"{NUMBER}( {NUMBER}){{3}}",
    "d": r"([MLCHV]? ?-?\d+(\.\d+)?)*",
    "points": r"[\d., -]*",
    "fill": r"var\(--(c\d+|other|accent)\)",
    "stroke": r"var\(--(c\d+|other)\)",
    "text-anchor": "start|middle|end",
    "lengthadjust": "spacingAndGlyphs",
    **dict.fromkeys(("x", "y", "x1", "x2", "y1", "y2", "width", "height"), NUMBER),
    **dict.fromkeys(("cx", "cy", "r", "rx", "ry", "stroke-width", "opacity", "textlength"), NUMBER),
}


class _Builder(HTMLParser):
    """HTML → a tree; fails on tags that do not match, attributes given twice, and comments."""

    def __init__(self):
        super().__init__()
        self.tree, self.open = ElementTree.TreeBuilder(), []

    def handle_starttag(self, tag, attrs):
        assert len(dict(attrs)) == len(attrs), attrs
        self.tree.start(tag, {name: value or "" for name, value in attrs})
        self.open.append(tag)
        if tag in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        self.tree.end(tag)

    def handle_data(self, data):
        if self.open:
            self.tree.data(data)

    def handle_comment(self, data):
        raise AssertionError(f"a comment: {data!r}")

    handle_pi = unknown_decl = handle_comment


def parse(text):
    """The root of a page or of a picture."""
    builder = _Builder()
    builder.feed(text)
    builder.close()
    assert not builder.open
    return builder.tree.close()


def words(element):
    """All text within an element, with a space between the texts of two."""
    return " ".join(element.itertext()).replace("\u00a0", " ")


def rows(table):
    """The cells of each row of a table, its head included."""
    return [["".join(cell.itertext()) for cell in row] for row in table.iter("tr")]


class Page:
    """A page, after the checks that every page must pass."""

    def __init__(self, text):
        text.encode()
        assert text.startswith("<!doctype html>\n")
        self.root = parse(text)
        self.body = self.root.find("body")
        self.script = self._take_script()
        self.tags = [element.tag for element in self.root.iter()]
        self.attributes = [pair for element in self.root.iter() for pair in element.items()]
        self.texts = [text.replace("\u00a0", " ") for text in self.body.itertext() if text.strip()]
        self.words = words(self.body)
        self.bars = [bar.get("style") for bar in self.root.iterfind(".//td[@class='bars']/i")]
        self.rows = [row for table in self.root.iter("table") for row in rows(table)]
        self.sections = {each.findtext("h2"): each for each in self.body.findall("section")}
        self._check()

    def _take_script(self):
        """The text of the only script that there may be, which the policy of the page allows."""
        (policy,) = self.root.iterfind("head/meta[@http-equiv]")
        found = list(self.root.iter("script"))
        if not found:
            assert policy.get("content").endswith("script-src 'none'")
            return None
        (script,) = found
        assert (script.attrib, script.text) == (
            {}, (TEMPLATES / "lists.js").read_text(encoding="utf-8"),
        )  # fmt: skip
        digest = base64.b64encode(hashlib.sha256(script.text.encode()).digest()).decode()
        assert policy.get("content").endswith(f"script-src 'sha256-{digest}'")
        self.body.remove(script)
        return script.text

    def _check(self):
        """Nothing from elsewhere, nothing that acts, and a description of every picture."""
        assert set(self.tags) <= TAGS
        for name, value in self.attributes:
            assert re.fullmatch(ATTRIBUTES[name], value, re.DOTALL), (name, value)
        (style,) = self.root.iter("style")
        assert not re.search(r"@import|url\(|//", style.text)
        for picture in self.root.iter("svg"):
            assert picture.get("role") == "img"
            assert picture.get("aria-label")

    def row(self, name):
        """The cells after the first one, of the row that this one begins."""
        return next(row[1:] for row in self.rows if row and row[0] == name)

    def list(self, title):
        """The nodes of a list: cells, gist, and facts by their names."""
        (box,) = (
            each
            for each in self.root.iterfind(".//div[@class='nodes']")
            if title in (text.strip() for text in each.find("h3").itertext())
        )
        found = []
        for node in box.iter("tbody"):
            cells, why = node.findall("tr")
            names, values = (["".join(e.itertext()) for e in why.iter(tag)] for tag in ("dt", "dd"))
            gist = "".join(why.find(".//summary").itertext())
            texts = ["".join(cell.itertext()) for cell in cells]
            found.append((texts, gist, dict(zip(names, values, strict=True))))
        return found

    def table(self, title):
        """The cells of the table of that title, without its head."""
        figures = (
            each for each in self.root.iter("figure") if each.findtext("figcaption") == title
        )
        return rows(next(figures).find(".//tbody"))

    def section(self, title):
        """The element of a section, and its words."""
        return self.sections[title], words(self.sections[title])


def classification_page(run):
    """The page of a run, as the command makes it."""
    return labels_page(run.classifier, Record.of_run(run), run.min_probability)
