"""The command line, `pairlearn`."""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line, or say which extra it needs."""
    try:
        from pairlearn.cli.app import app
        from pairlearn.cli.ending import in_order
    except ModuleNotFoundError as error:
        sys.exit(
            f"the command line needs {error.name}, which is not installed: "
            "pip install 'pairlearn[cli]'"
        )
    with in_order():
        app()
