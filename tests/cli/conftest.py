"""Fixtures that several tests of the command line share."""

import pytest

from tests.support.commands import call, make_tables
from tests.support.copies import Copies


@pytest.fixture(scope="session")
def copies():
    """Commands in processes of their own."""
    with Copies() as process:
        yield process


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """Tables and a model of them, made once."""
    folder = tmp_path_factory.mktemp("made")
    points, pairs, y = make_tables(folder)
    result = call(
        "fit", folder / "points.csv", folder / "pairs.csv",
        "-o", folder / "model.skops", "--classes", "small,large",
        "--majority", "large",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    return folder, points, pairs, y, result
