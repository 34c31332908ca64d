"""Fixtures that several tests of the page share."""

import pytest

from tests.support.postgresql import PostgreSQL, find_programs, needed

pytest.importorskip("starlette", reason="the page needs the extra `label`")
pytest.importorskip("uvicorn", reason="the page needs the extra `label`")
pytest.importorskip("alembic", reason="the page needs the extra `label`")


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """What is learned aside goes on also where other tests keep all cores busy.

    At the lowest priority it would wait for them, and the test would wait for it.
    """
    monkeypatch.setattr("pairlearn.system.aside._NICE", 0)


@pytest.fixture
def site(tmp_path):
    """The page over a small table, with a desk that needs no disk."""
    from tests.support.fake_desk import Site

    return Site(tmp_path)


@pytest.fixture(scope="session")
def postgresql():
    """A PostgreSQL server, started once where tests need it."""
    if not needed():
        pytest.importorskip("psycopg", reason="needs the extra `postgresql`")
        if find_programs() is None:
            pytest.skip("there is no PostgreSQL server on this machine (initdb)")
    server = PostgreSQL()
    yield server
    server.close()


@pytest.fixture(params=["file", "database"])
def where(request, tmp_path):
    """Where answers are kept: in a file, and in a database that is shared."""
    if request.param == "file":
        return tmp_path / "answers.sqlite"
    return request.getfixturevalue("postgresql").make_database()
