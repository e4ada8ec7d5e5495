"""Draw docs/images/architecture.svg from the imports: ``python scripts/architecture.py``.

With ``--check`` nothing is written; the exit code is 1 if the drawing is not what it would be.
"""

from __future__ import annotations

import ast
import sys
from graphlib import TopologicalSorter
from html import escape
from pathlib import Path

import isotherm

DRAWING = Path(__file__).parents[1] / "docs" / "images" / "architecture.svg"
PACKAGE = Path(isotherm.__file__).parent
OUTSIDE = {"__init__", "__main__", "_core", "__version__"}
LEFT, WIDTH, HEIGHT, DOWN, ACROSS, MARGIN = 150, 136, 24, 30, 1040, 12  # in pixels

Imports = dict[str, set[str]]


def main() -> int:
    """Write the drawing, or check it."""
    text = drawing(reduced(imports()))
    if "--check" in sys.argv[1:]:
        return int(text != DRAWING.read_text(encoding="utf-8"))
    DRAWING.write_text(text, encoding="utf-8")
    return 0


def imports() -> Imports:
    """For each module and folder of the package those that it imports, for type checking too."""
    found: Imports = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        home = path.relative_to(PACKAGE).with_suffix("").parts[0]
        if home not in OUTSIDE:
            names = imported(ast.parse(path.read_text(encoding="utf-8")))
            found.setdefault(home, set()).update(names - {home})
    return found


def imported(tree: ast.Module) -> set[str]:
    """The modules and folders of the package that a file imports."""
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            names += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
    homes = set()
    for name in names:
        package, _, rest = name.partition(".")
        if package == "isotherm" and rest:
            homes.add(isotherm._HOME.get(rest, rest).split(".")[0])
    return homes - OUTSIDE


def reduced(graph: Imports) -> Imports:
    """Without the arrows that follow from others: if a → b → c, a → c need not be drawn."""
    below: Imports = {}
    for name in TopologicalSorter(graph).static_order():
        below[name] = set().union(graph[name], *(below[other] for other in graph[name]))
    return {
        name: {one for one in near if not any(one in below[other] for other in near)}
        for name, near in graph.items()
    }


def in_order(graph: Imports) -> list[str]:
    """Modules by the length of the longest chain of imports that leads to them."""
    length: dict[str, int] = {}
    for name in TopologicalSorter(graph).static_order():
        length[name] = 1 + max((length[other] for other in graph[name]), default=-1)
    return sorted(length, key=lambda name: (length[name], name))


def purpose(name: str) -> str:
    """What a module or folder says of itself, in its first line."""
    path = PACKAGE / name / "__init__.py" if is_folder(name) else PACKAGE / f"{name}.py"
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0]


def is_folder(name: str) -> bool:
    """Whether it is more than one file."""
    return (PACKAGE / name).is_dir()


def drawing(graph: Imports) -> str:
    """The drawing as SVG: each module imports only from those above it, along the arcs."""
    names = in_order(graph)
    middle = {name: MARGIN + HEIGHT / 2 + i * DOWN for i, name in enumerate(names)}
    height = len(names) * DOWN + 2 * MARGIN
    lines = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {ACROSS} {height}" '
            f'width="{ACROSS}" height="{height}" font-family="sans-serif" font-size="13">'
        ),
        "<title>What imports what in isotherm</title>",
        '<g fill="none" stroke="#2166ac" stroke-opacity="0.55">',
    ]
    for name in names:
        for other in sorted(graph[name]):
            start, end = middle[name], middle[other]
            out = LEFT - 14 - (LEFT - 2 * MARGIN) * (4 / 3) * (start - end) / (height - MARGIN)
            curve = f"M{LEFT} {start:g}C{out:.1f} {start:g} {out:.1f} {end:g} {LEFT} {end:g}"
            lines.append(f'<path data-from="{name}" data-to="{other}" d="{curve}"/>')
    lines.append("</g>")
    for name, y in middle.items():
        right, low = LEFT + WIDTH + 10, y + 4
        colour = "#dbe9f6" if is_folder(name) else "#f4f4f4"
        lines.append(
            f'<rect x="{LEFT}" y="{y - HEIGHT / 2:g}" width="{WIDTH}" height="{HEIGHT}" '
            f'rx="4" fill="{colour}" stroke="#555"/>'
            f'<text x="{LEFT + 8}" y="{low:g}">{name}{"/" if is_folder(name) else ""}</text>'
            f'<text x="{right}" y="{low:g}" fill="#444">{escape(purpose(name))}</text>'
        )
    return "\n".join([*lines, "</svg>"]) + "\n"


if __name__ == "__main__":
    sys.exit(main())
