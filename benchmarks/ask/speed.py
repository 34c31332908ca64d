"""How long a person waits for the next question.

``python -m benchmarks.ask.speed`` answers 500 questions about 20,000 points, and some
about a million, on one core, and prints how long `next_question` takes: the median, and
the mean with all learning in it, which happens within some of the calls.
"""

from __future__ import annotations

import time

import numpy as np

from benchmarks.report import machine, publish, table
from pairlearn.ask import Interview


def world(n_points: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points of two overlapping classes, ten columns."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=n_points)
    X = rng.normal(size=(n_points, 10))
    X[:, :3] += 1.3 * y[:, None]
    return X, y


def run(n_points: int, n_answers: int, noise: float | str | None) -> list[str]:
    """Answer questions, and return a row of the table."""
    X, y = world(n_points)
    begin = time.perf_counter()
    interview = Interview(X, noise=noise, random_state=0)
    interview.answer((q := interview.next_question()), bool(y[q.left] == y[q.right]))
    first = time.perf_counter() - begin
    seconds = []
    while len(interview.ledger.answers) < n_answers:
        begin = time.perf_counter()
        question = interview.next_question()
        seconds.append(time.perf_counter() - begin)
        interview.answer(question, bool(y[question.left] == y[question.right]))
    late = np.array(seconds[-100:])
    return [
        f"{n_points:,}",
        f"{interview.n_candidates:,}",
        "none" if noise is None else str(noise),
        str(n_answers),
        f"{first:.1f}",
        f"{1000 * np.median(seconds):.0f}",
        f"{1000 * np.median(late):.0f}",
        f"{1000 * np.mean(seconds):.0f}",
        f"{np.max(seconds):.1f}",
    ]


def main() -> None:
    """Run, and write the table."""
    rows = [
        run(20_000, 500, None),
        run(20_000, 500, "auto"),
        run(1_000_000, 100, None),
    ]
    header = [
        "points", "asked about", "wrong answers", "answers", "first question, s",
        "median, ms", "median of the last 100, ms", "mean with learning, ms",
        "longest, s",
    ]  # fmt: skip
    publish(
        "ask_speed",
        "How long the next question takes",
        [
            table(header, rows),
            (
                "*Asked about*: candidates; the others are put aside for audits, or, "
                "of more than 20,000, left out. *First question*: with the "
                "preparations. Learning happens within some calls, the longest ones."
            ),
            machine("numpy", "scipy", "scikit-learn"),
        ],
    )


if __name__ == "__main__":
    main()
