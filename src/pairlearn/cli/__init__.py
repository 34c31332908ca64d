"""The command line, `pairlearn`."""

import sys
from typing import NoReturn

__all__ = ["main"]


def main() -> None:
    """Run the command line, or say which extra it needs."""
    try:
        from pairlearn.cli.exits import in_order
    except ModuleNotFoundError as error:
        _need(error)
    with in_order():
        try:
            from pairlearn.cli.app import app
        except ModuleNotFoundError as error:
            _need(error)
        app()


def _need(error: ModuleNotFoundError) -> NoReturn:
    sys.exit(
        f"the command line needs {error.name}, which is not installed: "
        "pip install 'pairlearn[cli]'"
    )
