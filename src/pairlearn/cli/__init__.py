"""The command line, `pairlearn`."""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line, or say which extra it needs."""
    try:
        from pairlearn.cli.app import app
    except ModuleNotFoundError as error:
        sys.exit(
            f"the command line needs {error.name}, which is not installed: "
            "pip install 'pairlearn[cli]'"
        )
    for stream in (sys.stdout, sys.stderr):
        # A letter that the terminal does not know is no reason to stop.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    app()
