"""The rooms of the package: few, in order, and drawn as they are."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "pairlearn"


def test_the_listing_of_the_package_is_short():
    entries = [path for path in PACKAGE.iterdir() if path.name != "__pycache__"]
    assert len(entries) <= 17


def test_the_figure_in_the_page_for_contributors_is_drawn_from_the_imports():
    script = ROOT / "scripts" / "rooms.py"
    done = subprocess.run(
        [sys.executable, script, "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("place", "statement", "told"),
    [
        (None, None, "0 broken"),
        # Inside a function, and from below: neither may slip through.
        (
            "data/folds.py",
            "def f():\n    from pairlearn.cli import app\n",
            "pairlearn.data is not allowed to import pairlearn.cli",
        ),
        (
            "engine/losses.py",
            "from pairlearn.engine.risks import PairRisk\n",
            "pairlearn.engine.losses is not allowed to import pairlearn.engine.risks",
        ),
        (
            "data/graph.py",
            "def f():\n    from pairlearn.data.pairs import Pairs\n",
            "No cycles are allowed in pairlearn.data",
        ),
    ],
    ids=["as it is", "against the order", "within the engine", "a cycle"],
)
def test_an_import_against_the_order_is_found(tmp_path, place, statement, told):
    pytest.importorskip("importlinter", reason="import-linter is in the extra `dev`")
    package = shutil.copytree(
        PACKAGE,
        tmp_path / "pairlearn",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    if place:
        with (package / place).open("a") as module:
            module.write(f"\n\n{statement}")
    command = "from importlinter.cli import lint_imports_command as c; c()"
    options = ["--no-cache", "--no-logo", "--config", ROOT / "pyproject.toml"]
    done = subprocess.run(
        [sys.executable, "-c", command, *options],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "COLUMNS": "200"},
        cwd=tmp_path,
    )
    assert (done.returncode == 0) == (place is None), done.stdout + done.stderr
    assert told in " ".join(done.stdout.split())
