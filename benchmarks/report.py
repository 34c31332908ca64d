"""Print a table, and keep it under benchmarks/results."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


def machine(*packages: str) -> str:
    """Describe what the figures were measured on."""
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    return (
        f"Python {platform.python_version()}, {versions}; {os.cpu_count()} cores, "
        f"OMP_NUM_THREADS={os.environ.get('OMP_NUM_THREADS', 'unset')}"
    )


def table(header: list[str], rows: list[list[str]]) -> str:
    """Lay out a Markdown table with aligned columns."""
    widths = [max(len(row[k]) for row in [header, *rows]) for k in range(len(header))]
    lines = [
        "| " + " | ".join(c.rjust(w) for c, w in zip(row, widths, strict=True)) + " |"
        for row in [header, *rows]
    ]
    rule = "|" + "|".join("-" * (w + 1) + ":" for w in widths) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def publish(name: str, title: str, parts: list[str], folder: Path = RESULTS) -> None:
    """Print the parts and write them to results/NAME.md, or to another folder."""
    text = "\n\n".join([f"# {title}", *parts]) + "\n"
    print(text)
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.md").write_text(text)
