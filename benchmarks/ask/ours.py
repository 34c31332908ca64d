"""The one place where our own method is driven."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np

    from benchmarks.ask.tasks import Task


def ask(
    task: Task, seed: int, budgets: Sequence[int]
) -> Iterator[tuple[int, np.ndarray, float]]:
    """Answer an interview; yield budget, groups of the scored points, CPU seconds."""
    from pairlearn.ask import Interview  # here: the others run without it

    spent = 0.0
    start = time.process_time()
    interview = Interview(
        task.X,
        n_classes=task.n_classes,
        audits=0,
        noise="auto" if task.oracle.wrong else None,
        random_state=seed,
    )
    for asked in range(1, max(budgets) + 1):
        question = interview.next_question()
        answer = task.oracle.answer(question.left, question.right)
        interview.answer(question, answer)
        if asked in budgets:
            interview.learn()
            spent += time.process_time() - start
            yield asked, interview.model.predict(task.X_test), spent
            start = time.process_time()
