"""Databases that a team shares: their addresses, how they are reached, what went wrong.

An address is one of SQLAlchemy: ``postgresql+psycopg://user@host/name``. A password may
stand in it, and so it is shown to nobody: messages have :func:`called`. Better it
stands in PGPASSWORD or in ~/.pgpass, which the driver reads by itself.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlalchemy import URL, Engine

__all__ = [
    "StoreError",
    "address_of",
    "can_be_tried_again",
    "is_address",
    "make_engine",
]
__all__ += ["called", "unreachable"]

# A path that an address was taken for has lost one of its two slashes. A letter and a
# colon are a drive of Windows.
_ADDRESS = re.compile(r"([a-z][a-z0-9_]+(?:\+[a-z0-9_]+)?):/{1,2}", re.IGNORECASE)
# Seconds to reach a server, and milliseconds that it may leave us without a word.
_REACH, _SILENCE = 10, 30_000


class StoreError(ValueError):
    """Answers in a file or a database that cannot be used; why, and the way out."""


def is_address(where: object) -> bool:
    """Tell whether something is the address of a database, and not a file.

    Parameters
    ----------
    where : str or Path
        What somebody gave.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_address("postgresql+psycopg://ann@localhost/team")
    True
    >>> is_address(Path("answers.sqlite")), is_address("C:/answers.sqlite")
    (False, False)
    """
    return isinstance(where, str | Path) and bool(_ADDRESS.match(str(where)))


def address_of(where: str | Path) -> URL:
    """Return an address in its parts.

    Parameters
    ----------
    where : str or Path
        The address.

    Returns
    -------
    sqlalchemy.URL

    Raises
    ------
    StoreError
        If it is none that answers can be kept at, or SQLAlchemy is not installed.
    """
    try:
        from sqlalchemy import make_url
        from sqlalchemy.exc import ArgumentError
    except ImportError:
        raise StoreError(
            "an address of a database needs SQLAlchemy, which is not installed: "
            'pip install "pairlearn[postgresql]"'
        ) from None
    try:
        url = make_url(_ADDRESS.sub(r"\1://", str(where), count=1))
    except (ArgumentError, ValueError):
        raise StoreError(
            "the address of the database is not understood; it looks like "
            "postgresql+psycopg://user@host/name"
        ) from None
    kind = url.get_backend_name()
    if kind in ("postgresql", "postgres") and "+" not in url.drivername:
        url = url.set(drivername="postgresql+psycopg")
    if url.drivername != "postgresql+psycopg":
        raise StoreError(
            f"answers cannot be kept at {url.drivername}://...; the database of a team "
            "is PostgreSQL, at postgresql+psycopg://user@host/name"
        )
    return url


def called(where: str | Path) -> str:
    """Return how a file or a database is called in messages: without a password.

    Parameters
    ----------
    where : str or Path
        A file or an address.

    Returns
    -------
    str

    Examples
    --------
    >>> called("postgresql+psycopg://ann:secret@localhost/team")
    'postgresql://ann@localhost/team'
    >>> called(Path("folder/answers.sqlite"))
    'answers.sqlite'
    """
    if not is_address(where):
        return Path(where).name
    url = address_of(where)
    who = f"{url.username}@" if url.username else ""
    host = url.host or url.query.get("host") or ""
    # A folder is a socket of this machine.
    place = "" if not isinstance(host, str) or host.startswith("/") else host
    port = f":{url.port}" if url.port else ""
    return f"postgresql://{who}{place}{port}/{url.database or ''}"


def make_engine(where: str | Path) -> Engine:
    """Return what makes connections to a database, none of which it keeps.

    Parameters
    ----------
    where : str or Path
        The address.

    Returns
    -------
    sqlalchemy.Engine

    Raises
    ------
    StoreError
        If the driver is not installed, or the address is not one.
    """
    url = address_of(where)
    from sqlalchemy import NullPool, create_engine
    from sqlalchemy.exc import ArgumentError

    told = {"connect_timeout": _REACH, "application_name": "pairlearn label"}
    told |= {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}
    told |= {"tcp_user_timeout": _SILENCE}
    try:
        # What is not kept is asked of the server, and never guessed: hide_parameters,
        # as parameters of statements are answers and secrets.
        return create_engine(
            url,
            poolclass=NullPool,
            connect_args={name: v for name, v in told.items() if name not in url.query},
            isolation_level="READ COMMITTED",
            hide_parameters=True,
        )
    except ImportError:
        raise StoreError(
            "PostgreSQL needs psycopg, which is not installed: "
            'pip install "pairlearn[postgresql]"'
        ) from None
    except ArgumentError:
        raise StoreError(
            "the address of the database is not understood; it looks like "
            "postgresql+psycopg://user@host/name"
        ) from None


def can_be_tried_again(problem: BaseException) -> bool:
    """Tell whether a problem is one of reaching the database, and may pass."""
    from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError

    if not isinstance(problem, DBAPIError):
        return False
    return problem.connection_invalidated or (
        isinstance(problem, InterfaceError | OperationalError)
    )


def unreachable(where: str | Path, problem: BaseException) -> StoreError:
    """Return the sentence that says why a database cannot be used.

    Parameters
    ----------
    where : str or Path
        The address.
    problem : Exception
        What SQLAlchemy said.

    Returns
    -------
    StoreError
    """
    name = called(where)
    said = str(getattr(problem, "orig", None) or problem)
    state = getattr(getattr(problem, "orig", None), "sqlstate", None)
    for signs, sentence in _REASONS.items():
        if re.search(signs, f"{state} {said}"):
            return StoreError(sentence.format(name=name))
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    why = _hidden(lines[0] if lines else type(problem).__name__, where)[:200]
    return StoreError(f"the database {name} cannot be used ({why})")


def _hidden(text: str, where: str | Path) -> str:
    """Return a text without the password of an address."""
    password: Any = address_of(where).password
    return text.replace(str(password), "...") if password else text


# By the code of SQL, or by what the driver says where there is none.
_NOT_LET_IN = (
    "28P01|28000|password authentication failed|no password supplied|"
    "no pg_hba.conf entry|(?:Peer|Ident) authentication failed|role .* does not exist"
)
_NO_MACHINE = (
    "Name or service not known|failed to resolve|nodename nor servname|"
    "could not translate host name|No address associated"
)
_NO_SERVER = (
    "Connection refused|No such file or directory|timeout expired|timed out|"
    "No route to host|Network is unreachable|server closed the connection|"
    "the database system is|terminating connection|connection is (?:lost|bad)"
)
_REASONS = {
    _NOT_LET_IN: (
        "the database {name} does not let you in: the user or the password is wrong, "
        "or its server does not expect you from here (pg_hba.conf). Check the address; "
        "a password may stand in PGPASSWORD or in ~/.pgpass"
    ),
    "3D000|database .* does not exist": (
        "there is no database {name}; make it with createdb, or check the address"
    ),
    "42501|3F000|permission denied|no schema has been selected": (
        "you have no right to make or to write tables at {name}; ask whoever keeps the "
        "database for it: GRANT CREATE ON SCHEMA public TO your user"
    ),
    _NO_MACHINE: (
        "the database {name} cannot be reached, since there is no machine of that "
        "name; check the address"
    ),
    _NO_SERVER: (
        "the database {name} cannot be reached: no server answers there. Start it, or "
        "check the address"
    ),
}
