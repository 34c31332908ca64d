"""Count the lines of code of the package: without docstrings, comments and blanks.

python scripts/code_lines.py [folder]
"""

import ast
import sys
from collections import Counter
from pathlib import Path

HAVE_DOCSTRING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def code_lines(source: str) -> int:
    """Return how many lines of a module are code."""
    documented: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, HAVE_DOCSTRING) and ast.get_docstring(node) is not None:
            first = node.body[0]
            documented.update(range(first.lineno, (first.end_lineno or 0) + 1))
    return sum(
        bool(line.strip())
        and not line.strip().startswith("#")
        and number not in documented
        for number, line in enumerate(source.splitlines(), start=1)
    )


def main() -> None:
    """Print the count of each room, and of all."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "src/pairlearn")
    rooms: Counter[str] = Counter()
    for path in folder.rglob("*.py"):
        rooms[path.relative_to(folder).parts[0]] += code_lines(path.read_text())
    for room, count in rooms.most_common():
        print(f"{count:7,}  {room}")
    print(f"{rooms.total():7,}  all")


if __name__ == "__main__":
    main()
