"""Second opinions: by what they settle and of whom, at random, or never.

``python -m benchmarks.ask.opinions`` lets a crowd of five, of whom one answers at
random, answer 98 or 300 questions of an interview about tables of the paper
(PAIRLEARN_DATA), and prints the error of the model on other points. All three ways
learn from what each person's answers are worth; a fourth column takes all people alike,
as before. Every trial goes into ``benchmarks/results/ask-opinions.jsonl`` at once and
is not run again.
"""

from __future__ import annotations

import argparse
import time
import warnings
from itertools import product
from typing import Any

import numpy as np

from benchmarks.accuracy import record
from benchmarks.accuracy.record import Key, Results
from benchmarks.ask.tasks import draw
from benchmarks.report import RESULTS, machine, publish, table
from pairlearn import clustering_error
from pairlearn.ask import Interview
from pairlearn.ask.question import IN_DOUBT, RANDOM_CHECK
from pairlearn.reproduce.sample import generator

PATH = RESULTS / "ask-opinions.jsonl"
SETS = ("banana", "phoneme", "waveform", "magic")
TRIALS = 3
ACCURACY = {"Ann": 0.98, "Ben": 0.9, "Cy": 0.75, "Dan": 0.6, "Eve": 0.5}
# How many questions are asked, and after how many answers a model is learned: an
# interview learns more often, and these runs would take many hours. Up to 99 answers
# the model for few answers learns, and then the one for many.
LESSONS = {
    98: (20, 35, 50, 65, 80),
    300: (20, 35, 50, 75, 100, 150, 200, 250),
}


class NoSecondOpinions(Interview):
    """Never asks about a pair again because it is in doubt."""

    def _ask_again(self, *_: Any) -> None:
        return None


class AllAlike(Interview):
    """Takes the answers of all people alike, as if one person had given them."""

    def answer(self, question: Any, answer: Any, *_: Any) -> None:
        """Take down an answer, and not who gave it."""
        super().answer(question, answer)


METHODS: dict[str, tuple[type[Interview], float]] = {
    "gain": (Interview, 0.0),
    "overlap": (NoSecondOpinions, 0.1),
    "never": (NoSecondOpinions, 0.0),
    "alike": (AllAlike, 0.0),
}
WORDS = {
    "gain": "by gain, to the right person",
    "overlap": "one in ten, to anybody",
    "never": "never",
    "alike": "all people taken alike",
}


def run(key: Key) -> Results:
    """Let the crowd answer, and return the error and how many questions were what."""
    task = draw(key.dataset, key.seed)
    rng = generator("opinions", key.dataset, key.seed)
    kind, overlap = METHODS[key.method]
    names = list(ACCURACY)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        interview = kind(task.X, audits=0, overlap=overlap, random_state=key.seed)
        for n_answers in range(key.m):
            if n_answers in LESSONS[key.m]:
                interview.learn()
            who = names[rng.randint(len(names))]
            question = interview.next_question(who, learn=False)
            right = bool(task.y[question.left] == task.y[question.right])
            said = right == bool(rng.random_sample() < ACCURACY[who])
            interview.answer(question, said, who)
        model = interview.learn()
    error = clustering_error(task.y_test, model.predict(task.X_test))
    asked = [q.why for q in interview.ledger.questions.values()]
    found = {
        "error": round(float(error), 6),
        "again": asked.count(IN_DOUBT) + asked.count(RANDOM_CHECK),
        "seconds": round(time.process_time() - start, 1),
    }
    people = interview.people()
    if people is not None:
        found["spammers"] = [row.name for row in people if row.is_spammer]
    return found


def errors(trials: dict[Key, Results], method: str, name: str, m: int) -> dict:
    """Return what became of each seed."""
    keys = [Key("opinions", method, name, m, k) for k in range(TRIALS)]
    return {key.seed: trials[key] for key in keys if key in trials}


def shown(values: list[float]) -> str:
    """Return a mean with its standard error, in points of per cent."""
    mean = f"{np.mean(values):.1%}"
    if len(values) < 2:
        return mean
    return f"{mean} ± {np.std(values, ddof=1) / np.sqrt(len(values)):.1%}"


def section(trials: dict[Key, Results], m: int) -> list[str]:
    """Return the table of one number of questions, and how the first two compare."""
    rows, means, every = [], [], []
    for name in SETS:
        cells, mean = [name], []
        for method in METHODS:
            found = list(errors(trials, method, name, m).values())
            if not found:
                cells.append("-")
                continue
            wrong = [each["error"] for each in found]
            again = np.mean([each["again"] for each in found])
            mean.append(np.mean(wrong))
            cells.append(f"{shown(wrong)} ({again:.0f}) [{len(found)}]")
        rows.append(cells)
        if len(mean) == len(METHODS):
            means.append(mean)
        ours, never = (errors(trials, each, name, m) for each in ("gain", "never"))
        every += [ours[k]["error"] - never[k]["error"] for k in ours if k in never]
    if means:
        whole = f"mean of {len(means)} tables that have all"
        rows.append([whole, *(f"{value:.1%}" for value in np.mean(means, axis=0))])
    parts = [f"## {m} questions", table(["table", *WORDS.values()], rows)]
    at = ", ".join(str(n) for n in LESSONS[m])
    parts.append(f"A model was learned at {at} and {m} answers.")
    if every:
        parts.append(
            "By gain minus never, over the same points and people: "
            f"{shown(every)} in {len(every)} interviews."
        )
    return parts


def write(trials: dict[Key, Results]) -> None:
    """Write the tables of the trials that there are."""
    named = dict.fromkeys(ACCURACY, 0)
    told = [each["spammers"] for each in trials.values() if "spammers" in each]
    for names in told:
        for name in names:
            named[name] += 1
    who = ", ".join(f"{k} ({ACCURACY[k]:.0%} right) in {n}" for k, n in named.items())
    accuracies = ", ".join(f"{a:.0%}" for a in ACCURACY.values())
    about = (
        "Questions answered by five people in random order who are right in "
        f"{accuracies} of the cases: the last one answers at random. Error on other "
        "points, with its standard error where there are several trials; in "
        "parentheses how many questions asked about a pair, or a point in doubt, "
        "again, and in brackets the number of trials."
    )
    parts = [about]
    for m in LESSONS:
        parts += section(trials, m)
    parts.append(
        "Told to answer at random at the end, of "
        f"{len(told)} interviews that tell people apart: {who}."
    )
    parts.append(machine("numpy", "scipy", "scikit-learn"))
    publish("ask_opinions", "Second opinions, in an interview with five people", parts)


def main() -> None:
    """Run what is missing, then write the table."""
    parser = argparse.ArgumentParser("python -m benchmarks.ask.opinions")
    parser.add_argument("--datasets", nargs="+", choices=SETS, default=SETS)
    parser.add_argument("--trials", type=int, default=TRIALS)
    parser.add_argument("--questions", type=int, nargs="+", default=list(LESSONS))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--table-only", action="store_true")
    options = parser.parse_args()
    if not options.table_only:
        every = product(
            options.questions, range(options.trials), options.datasets, options.methods
        )
        for m, k, name, method in every:
            key = Key("opinions", method, name, m, k)
            if key in record.read(PATH):
                continue
            found = run(key)
            record.add(key, found, PATH)
            print(method, name, k, found, flush=True)
    write(record.read(PATH))


if __name__ == "__main__":
    main()
