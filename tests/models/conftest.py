"""Fixtures that several tests of models share."""

import pytest

from tests.support.link_worlds import world


@pytest.fixture(scope="module")
def link_task():
    """X, y, pairs and answers, few enough to be quick."""
    return world(0, m=400, n=300)


@pytest.fixture
def short_grid(monkeypatch):
    """Three strengths to choose from: what holds for them holds for eight."""
    monkeypatch.setattr("pairlearn.models.linear.links.ALPHAS", (0.32, 0.04, 0.005))
