"""Draw which room of the package imports which, from the imports in its files.

``python scripts/rooms.py`` writes the figure and the list into CONTRIBUTING.md;
``python scripts/rooms.py --check`` only tells whether they are as they should be.
"""

import ast
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "pairlearn"
PAGE = ROOT / "CONTRIBUTING.md"
BEGIN, END = "<!-- rooms: begin -->\n", "<!-- rooms: end -->"


def rooms() -> dict[str, str]:
    """Return the rooms, with the first line of what each says of itself."""
    files = [*PACKAGE.glob("*/__init__.py"), *PACKAGE.glob("[a-z]*.py")]
    names = {
        (path.parent if path.stem == "__init__" else path).stem: path for path in files
    }
    docs = {
        name: ast.get_docstring(ast.parse(path.read_text())) or ""
        for name, path in sorted(names.items())
    }
    return {name: doc.partition("\n")[0] for name, doc in docs.items()}


def imported(node: ast.AST) -> Iterator[str]:
    """Yield the modules that are imported here, at any time but for types alone."""
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        return
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    for child in ast.iter_child_nodes(node):
        yield from imported(child)


def arrows() -> dict[str, set[str]]:
    """Return which rooms each room imports."""
    known = rooms()
    found: dict[str, set[str]] = {name: set() for name in known}
    for path in PACKAGE.rglob("*.py"):
        room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        for module in imported(ast.parse(path.read_text())) if room in known else ():
            package, _, rest = module.partition(".")
            other = rest.partition(".")[0]
            if package == "pairlearn" and other in known and other != room:
                found[room].add(other)
    return found


def figure() -> str:
    """Return the list of rooms, top to bottom, and their arrows as a Mermaid figure."""
    direct, known = arrows(), rooms()
    # Sorted, so that the figure is the same whenever it is drawn.
    sorter = TopologicalSorter({room: sorted(low) for room, low in direct.items()})
    order = list(sorter.static_order())[::-1]
    reached: dict[str, set[str]] = {}
    for room in reversed(order):
        reached[room] = direct[room].union(*(reached[low] for low in direct[room]))
    lines = ["```mermaid", "flowchart TD"]
    for room in order:
        # An arrow that follows from two others would only be in the way.
        implied = set().union(*(reached[low] for low in direct[room]))
        drawn = [low for low in order if low in direct[room] - implied]
        lines += [f"  {room} --> {low}" for low in drawn]
    lines += ["```", ""]
    for room in order:
        below = ", ".join(low for low in order if low in direct[room]) or "none"
        lines.append(f"- **`{room}`**: {known[room]} Imports: {below}.")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write the figure into the page, or check that it is there."""
    text = PAGE.read_text()
    before, rest = text.split(BEGIN)
    new = before + BEGIN + figure() + END + rest.partition(END)[2]
    if "--check" in sys.argv:
        if new != text:
            print("CONTRIBUTING.md is out of date: run python scripts/rooms.py")
        return int(new != text)
    PAGE.write_text(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
