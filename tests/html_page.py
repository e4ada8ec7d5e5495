"""Parsed pages: tests look at elements, not at text that looks like them."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

VOID = {"meta", "img"}
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
    *("svg", "g", "path", "line", "polyline", "rect", "circle", "ellipse", "text"),
}
NUMBER = r"-?\d+(\.\d+)?"
# What an attribute may be. Words from data are in descriptions alone.
ATTRIBUTES = {
    "lang": "en",
    "charset": "utf-8",
    "name": "viewport",
    "content": "width=device-width, initial-scale=1",
    "class": "[a-z]+[234]?( [a-z]+)?",
    "style": r"background: var\(--(c\d+|other)\)|border: [12]px (solid|dashed) var\(--[a-z]+\)"
    r"|--wide: \d+px|width: (\d\d?\.\d|100\.0)%(; background: var\(--(c\d+|other)\))?",
    "id": r"part-\d+",
    "href": r"#part-\d+",
    "role": "img|note",
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
        self.tree.start(tag, dict(attrs))
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
        self.tags = [element.tag for element in self.root.iter()]
        self.attributes = [pair for element in self.root.iter() for pair in element.items()]
        self.texts = [text.replace("\u00a0", " ") for text in self.body.itertext() if text.strip()]
        self.words = words(self.body)
        self.bars = [bar.get("style") for bar in self.root.iterfind(".//td[@class='bars']/i")]
        self.rows = [row for table in self.root.iter("table") for row in rows(table)]
        self.sections = {each.findtext("h2"): each for each in self.body.findall("section")}
        self._check()

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

    def table(self, title):
        """The cells of the table of that title, without its head."""
        figures = (
            each for each in self.root.iter("figure") if each.findtext("figcaption") == title
        )
        return rows(next(figures).find(".//tbody"))

    def section(self, title):
        """The element of a section, and its words."""
        return self.sections[title], words(self.sections[title])
