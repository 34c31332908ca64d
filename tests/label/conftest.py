"""Fixtures that several tests of the page share."""

import pytest

pytest.importorskip("starlette", reason="the page needs the extra `label`")
pytest.importorskip("uvicorn", reason="the page needs the extra `label`")


@pytest.fixture
def site(tmp_path):
    """The page over a small table, with a desk that needs no disk."""
    from tests.support.fake_desk import Site

    return Site(tmp_path)
