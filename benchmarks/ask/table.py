"""The tables: errors, adjusted Rand indices, what must hold, and what was run."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from benchmarks.ask.cells import PATH, TRIALS, Cells
from benchmarks.ask.methods import METHODS, OURS, RANDOM
from benchmarks.ask.picture import draw
from benchmarks.ask.tasks import (
    CANCER,
    HELD_OUT,
    NOISY_CANCER,
    SMALL,
    SMALL_BUDGETS,
    TABLE_BUDGETS,
    TABLES,
)
from benchmarks.ask.verdicts import verdicts
from benchmarks.report import machine, publish, table

if TYPE_CHECKING:
    from benchmarks.accuracy.record import Key, Results

__all__ = ["PATH", "TRIALS", "write"]

SHOWN = tuple(m for m in TABLE_BUDGETS if m >= 50)
ABOUT = f"""\
How good a classifier is after so many questions of the kind "are these two of the same
class?". On the ten tables of the paper, questions are about a pool of 2,000 points and
the error is that on 1,000 others; mean (standard error) over {TRIALS} samples, [n]
where fewer trials were run. svm-labels and margin-labels are told as many *labels*
instead.
Groups have no names: ours, random pairs and labels get the better of the two one-to-one
namings; the groups of the other tools are each named by the majority of the scored
points in it, which favours them, most of all where they find more groups than there are
classes or where one class is rare (w8a)."""
RAND = """\
The adjusted Rand index needs no names and gives nothing for one large group: 1 is
perfect, 0 is chance."""
NOISE = """\
With 10 % wrong answers, an answer about a pair is wrong with that chance, whoever asks,
and stays wrong when it is asked again."""
CURVES = """\
Left: mean error over the ten tables. Of the other tools, the one that is best at the
largest budget. Bands are one standard error."""


def shown(cells: Cells, method: str, name: str, m: int, result: str) -> str:
    """Return a cell as text."""
    found = cells.mean((method, name, m), result)
    if not found.n:
        return "–"
    missing = f" [{found.n}]" if found.n < TRIALS else ""
    if result == "error":
        return f"{found}{missing}"
    error = f"{found.error:.3f}" if found.tested else "–"
    return f"{found.mean:.3f} ({error}){missing}"


def paper_table(cells: Cells, m: int, result: str) -> str:
    """Return one result on the ten tables at a budget."""
    columns = [(method, m) for method in METHODS]
    header = ["data set", *METHODS]
    if m == max(TABLE_BUDGETS):
        columns += [(RANDOM, more) for more in METHODS[RANDOM].more]
        header += [f"random, {more:,}" for more in METHODS[RANDOM].more]
    rows = [
        [name, *(shown(cells, method, name, k, result) for method, k in columns)]
        for name in TABLES
    ]
    last = ["mean"]
    for method, k in columns:
        means = [cells.mean((method, name, k), result) for name in TABLES]
        complete = all(found.n for found in means)
        digits = 2 if result == "error" else 3
        mean = sum(found.mean for found in means) / len(means)
        last.append(f"{mean:.{digits}f}" if complete else "–")
    return table(header, [*rows, last])


def worth(cells: Cells) -> str:
    """Return how many random pairs have the same mean error as so many questions."""
    said = []
    for m in SHOWN:
        means = [cells.mean((OURS, name, m)) for name in TABLES]
        if not all(found.n for found in means):
            continue
        mean = sum(found.mean for found in means) / len(means)
        pairs = cells.worth(mean, RANDOM, TABLES)
        said.append(f"{m} questions: {'–' if pairs is None else f'{pairs:.0f}'}")
    return (
        "How many random pairs have the same mean error over the ten tables, between "
        "the budgets that were run along a straight line in the logarithm of their "
        f"number: {'; '.join(said)}."
    )


def small_table(cells: Cells, name: str) -> str:
    """Return a small set: a row for each method, a column for each budget."""
    results = ("accuracy", "ari") if name in (CANCER, NOISY_CANCER) else ("ari",)
    parts = []
    for result in results:
        rows = [
            [method, *(shown(cells, method, name, m, result) for m in SMALL_BUDGETS)]
            for method, about in METHODS.items()
            if not about.labels
        ]
        title = "adjusted Rand index" if result == "ari" else result
        parts.append(table([title, *map(str, SMALL_BUDGETS)], rows))
    return "\n\n".join(parts)


def done(trials: dict[Key, Results]) -> str:
    """Return what each method is, how many trials it has, and how long they take."""
    rows = []
    for method in METHODS:
        row = [method]
        for names, top in ((TABLES, max(TABLE_BUDGETS)), (SMALL, max(SMALL_BUDGETS))):
            own = [k for k in trials if k.method == method and k.dataset in names]
            runs = {(k.dataset, k.seed) for k in own}
            times = [trials[k]["seconds"] for k in own if k.m == top]
            # Of 100 such trials some may have been stopped at a smaller budget.
            row += [f"{len(runs)} of {TRIALS * len(names)}" if runs else "–"]
            row += [f"{median(times):.1f}" if times else "–"]
        rows.append(row)
    header = [
        "method", "trials, tables", "CPU s to 200", "trials, small sets",
        "CPU s to 100",
    ]  # fmt: skip
    lines = "\n".join(f"- **{name}**: {m.what}." for name, m in METHODS.items())
    return (
        f"{table(header, rows)}\n\nSeconds are medians over trials, by the processor: "
        "of the questions and the model for those that ask, of the one fit for random "
        f"pairs and random labels.\n\n{lines}"
    )


def write(trials: dict[Key, Results]) -> None:
    """Write tables and figure."""
    cells = Cells(trials)
    draw(cells)
    parts = [machine("numpy", "scipy", "scikit-learn"), ABOUT]
    parts += [f"![Learning curves](../../docs/images/asking.png)\n\n{CURVES}"]
    parts += [f"## What must hold\n\n{verdicts(cells)}"]
    for m in SHOWN:
        title = f"## Ten tables: error in % after {m} questions"
        parts.append(f"{title}\n\n{paper_table(cells, m, 'error')}")
    parts.append(worth(cells))
    top = max(SHOWN)
    title = f"## Ten tables: adjusted Rand index after {top} questions"
    parts.append(f"{title}\n\n{RAND}\n\n{paper_table(cells, top, 'ari')}")
    parts.append(
        f"## Small sets\n\nBreast cancer: {HELD_OUT:.0%} of the points are held out "
        "and scored. The others: all points may be asked about, and all are scored. "
        f"{NOISE}"
    )
    parts += [f"### {name}\n\n{small_table(cells, name)}" for name in SMALL]
    parts.append(f"## What was run\n\n{done(trials)}")
    publish("ask", "Which pairs to ask about", parts)
