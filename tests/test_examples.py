"""Every script in examples/ runs, and says how good its result is."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))


def test_examples_are_found():
    names = {path.stem for path in EXAMPLES}
    assert names >= {"strings_with_landmarks", "sets_with_landmarks"}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path, tmp_path):
    result = subprocess.run(
        [sys.executable, "-W", "error", path],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "MPLBACKEND": "Agg"},
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    (error,) = re.findall(r"clustering error.*: (\d\.\d+)", result.stdout)
    assert float(error) < 0.1
