"""The table: errors, what must hold, and how well people are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.people.crowds import ADVERSARY, CROWDS, SPAMMER
from benchmarks.people.methods import DAWID, KNOWN, MAJORITY, METHODS, OURS, RIGHT
from benchmarks.report import RESULTS, machine, publish, table
from pairlearn.reproduce.report.statistics import Estimate, estimate
from pairlearn.reproduce.tabular import DATASETS

if TYPE_CHECKING:
    from benchmarks.accuracy.record import Key, Results

PATH = RESULTS / "people.jsonl"
TRIALS = 10
ABOUT = """\
The error on 1,000 other points, in per cent, after 1,000 answers by people who err
differently: 850 random pairs of 2,000 points, and second opinions on 150 of them. All
people but two are right about 60 % to 98 % of the pairs; one answers at random, and one
says the opposite of what is right in 9 of 10 cases. Mean (standard error) over the
trials, whose number is in brackets; with one trial there is no standard error, and
"by more than a standard error" is then by anything at all.

Seed 0 is no fresh evidence: its points of banana, phoneme, magic and adult were looked
at while the method was made. Later seeds were not.

- majority: the mean of the answers about each pair, then `PairClassifier` with one pair
  of rates for all answers (`noise="auto"`)
- annotators: `PairClassifier.fit(pairs, t, annotators=who)`
- dawid-skene: what crowd-kit's `DawidSkene` settles on, then `PairClassifier`
- known: as annotators, with everybody's true rates instead of estimated ones: a bound
- right: right answers to the same pairs, as a bound"""
COVER = """\
How often the 95 % intervals of `people_` hold a person's rates, two per person, and how
wide they are:"""


class Trials:
    """All trials, by cell."""

    def __init__(self, rows: dict[Key, Results]) -> None:
        self.rows = rows

    def errors(self, method: str, name: str, n_people: int) -> dict[int, float]:
        """Return errors in per cent by seed."""
        return {
            key.seed: 100 * row["error"]
            for key, row in self.rows.items()
            if (key.method, key.dataset, key.m) == (method, name, n_people)
        }

    def difference(self, one: str, other: str, name: str, n_people: int) -> Estimate:
        """Return the first minus the second, over the seeds that both have."""
        a, b = (self.errors(method, name, n_people) for method in (one, other))
        return estimate(a[seed] - b[seed] for seed in sorted(set(a) & set(b)))

    def sets(self, n_people: int) -> list[str]:
        """Return the data sets that all methods have trials of."""
        return [
            name
            for name in DATASETS
            if all(self.errors(method, name, n_people) for method in METHODS)
        ]


def write(rows: dict[Key, Results]) -> None:
    """Write the table."""
    trials = Trials(rows)
    parts = [ABOUT, both_crowds(trials)]
    for n_people in CROWDS:
        parts += [f"## {n_people} people", errors(trials, n_people)]
        parts.append(verdicts(trials, n_people))
    parts += ["## How well people are known", COVER, coverage(rows)]
    parts.append(machine("numpy", "scipy", "scikit-learn"))
    publish("people", "People who err differently", parts)


def errors(trials: Trials, n_people: int) -> str:
    """Return the errors of all methods."""
    rows = []
    for name in trials.sets(n_people):
        cells = [name]
        for method in METHODS:
            found = estimate(trials.errors(method, name, n_people).values())
            cells.append(f"{found} [{found.n}]")
        rows.append(cells)
    means = ["mean"]
    for method in METHODS:
        each = [
            np.mean(list(trials.errors(method, name, n_people).values()))
            for name in trials.sets(n_people)
        ]
        means.append(f"{np.mean(each):.2f}" if each else "–")
    return table(["data set", *METHODS], [*rows, means])


def lower(trials: Trials, method: str, n_people: int) -> dict[str, float]:
    """Return by how much a method errs less often than majority, for each set."""
    found = {}
    for name in trials.sets(n_people):
        own, majority = (
            np.mean(list(trials.errors(each, name, n_people).values()))
            for each in (method, MAJORITY)
        )
        found[name] = float(1 - own / majority)
    return found


def both_crowds(trials: Trials) -> str:
    """Return whether errors are a fifth fewer, over sets and both crowds."""
    every = [x for n in CROWDS for x in lower(trials, OURS, n).values()]
    if not every:
        return "No data set has trials of all methods yet."
    return _line(
        "at least 20 % fewer errors than majority, mean over sets and both crowds",
        bool(np.mean(every) >= 0.2),
        f"{100 * np.mean(every):.0f} %",
    )


def verdicts(trials: Trials, n_people: int) -> str:
    """Return what must hold, and whether it does."""
    names = trials.sets(n_people)
    if not names:
        return "No data set has trials of all methods yet."
    ours, known, right = (
        100 * np.mean(list(lower(trials, method, n_people).values()))
        for method in (OURS, KNOWN, RIGHT)
    )
    lines = [
        _line(
            "at least 20 % fewer errors than majority, mean over sets",
            bool(ours >= 20),
            f"{ours:.0f} %; everybody's true rates would give {known:.0f} %, and right "
            f"answers to all pairs {right:.0f} %",
        )
    ]
    for rival in (MAJORITY, DAWID):
        worse = []
        for name in names:
            found = trials.difference(OURS, rival, name, n_people)
            slack = found.error if found.tested else 0.0
            if found.mean > slack:
                worse.append(f"{name} by {found.mean:.2f} ({slack:.2f})")
        what = f"nowhere worse than {rival} by more than a standard error"
        lines.append(_line(what, not worse, ", ".join(worse)))
    return "\n".join(lines)


def _line(what: str, held: bool, said: str) -> str:
    return f"- {'holds' if held else 'MISSED'}: {what}" + (f": {said}" if said else "")


def coverage(rows: dict[Key, Results]) -> str:
    """Return how often intervals hold the rates."""
    kinds = {
        "all": lambda _: True,
        "the spammer": lambda a: a == SPAMMER,
        "the adversary": lambda a: a == ADVERSARY,
        "all others": lambda a: a not in (SPAMMER, ADVERSARY),
    }
    lines = []
    for n_people in CROWDS:
        for kind, wanted in kinds.items():
            held, width, off = [], [], []
            for key, row in rows.items():
                if key.method != OURS or key.m != n_people:
                    continue
                each = zip(row["accuracy"], row["r1"], row["r0"], strict=True)
                for accuracy, r1, r0 in each:
                    if not wanted(accuracy):
                        continue
                    for true, (found, low, high) in (
                        (accuracy, r1),
                        (1 - accuracy, r0),
                    ):
                        held.append(low <= true <= high)
                        width.append(high - low)
                        off.append(abs(found - true))
            if held:
                lines.append(
                    [
                        str(n_people),
                        kind,
                        f"{100 * np.mean(held):.1f} %",
                        str(len(held)),
                        f"{np.mean(width):.3f}",
                        f"{np.mean(off):.3f}",
                    ]
                )
    head = ["people", "of whom", "held", "rates", "mean width", "mean miss"]
    return table(head, lines)
