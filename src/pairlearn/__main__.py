"""Run the command line as ``python -m pairlearn``."""

from pairlearn.cli import main

main()
