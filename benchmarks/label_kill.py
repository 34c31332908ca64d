"""Whether anything is lost when the server of `pairlearn label` is killed.

``python -m benchmarks.label_kill`` lets ten clients answer and kills the server (kill
-9) at 20 random moments; each time it is started again, and the clients go on by
themselves. At the end every answer that was acknowledged must be in the file once.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from tests.support.label_check import find_lost_and_doubled
from tests.support.label_kill import answer_and_kill, n_saved


def main() -> None:
    """Kill it, and print what became of the answers."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--points", type=int, default=2000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(
            answer_and_kill(
                Path(folder), options.kills, options.seed, options.points, print
            )
        )
        problems, n_answers = find_lost_and_doubled(found.answers, found.clients)
    for problem in problems + found.errors:
        print(problem)
    print(
        f"{found.n_kills} kills, {n_saved(found)} answers acknowledged, {n_answers} in "
        f"the file; {len(problems)} lost or doubled, {len(found.errors)} errors"
    )
    sys.exit(bool(problems or found.errors))


if __name__ == "__main__":
    main()
