"""Answers of a database as a file: ``python -m pairlearn.label.copied FILE``.

Where the answers are is read from its input, as an address may hold a password.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pairlearn.files.answers_store import StoreError
from pairlearn.label.store import copy_store

if __name__ == "__main__":
    try:
        # Nothing that lets somebody in belongs into a file that is made for reading.
        copy_store(sys.stdin.read(), Path(sys.argv[1]), without=["secret"])
    except (OSError, StoreError) as problem:
        sys.exit(str(problem))
