"""Points, three rounds of questions about them, and the true classes."""

import pytest

from tests.support.commands import make_tables
from tests.support.rounds import answer, ask


@pytest.fixture(autouse=True)
def few_candidates(quick):
    """What is chosen from matters to none of these tests."""


@pytest.fixture(scope="package")
def world(tmp_path_factory):
    """Points, and who is of which kind."""
    folder = tmp_path_factory.mktemp("ask")
    points, _, y = make_tables(folder)
    (folder / "pairs.csv").unlink()
    return folder, points, dict(zip(points["id"], y, strict=True))


@pytest.fixture(scope="package")
def asked(world):
    """Three rounds, each answered, in files of their own."""
    folder, _, truth = world
    files = []
    for number in (1, 2, 3):
        files.append(folder / f"round{number}.csv")
        ask(folder / "points.csv", *files[:-1], "-n", 30, "-o", files[-1])
        answer(files[-1], truth)
    return files


@pytest.fixture(scope="package")
def labels(world):
    """The true classes."""
    folder, _, truth = world
    path = folder / "labels.csv"
    rows = [f"{name},{'large' if truth[name] else 'small'}" for name in truth]
    path.write_text("id,label\n" + "\n".join(rows))
    return path
