"""Fixtures that several tests of the data sets share."""

import pytest


@pytest.fixture
def no_folders(tmp_path, monkeypatch):
    """Neither the user's data folder nor the user's cache takes part in a test."""
    monkeypatch.delenv("PAIRLEARN_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("pairlearn.datasets.files.sys.platform", "linux")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
