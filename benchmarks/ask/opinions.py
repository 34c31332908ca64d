"""Second opinions: by what they settle and of whom, at random, or never.

``python -m benchmarks.ask.opinions`` lets a crowd of five, of whom one answers at
random, answer 300 questions of an interview about tables of the paper (PAIRLEARN_DATA),
and prints the error of the model on other points. All three ways learn from what each
person's answers are worth; a fourth column takes all people alike, as before. Every
trial goes into ``benchmarks/results/ask-opinions.jsonl`` at once and is not run again.
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
QUESTIONS, TRIALS = 300, 3
ACCURACY = {"Ann": 0.98, "Ben": 0.9, "Cy": 0.75, "Dan": 0.6, "Eve": 0.5}
# Answers at which a model is learned: an interview learns more often, and these runs
# would take many hours.
LESSONS = (20, 35, 50, 75, 100, 150, 200, 250)


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
        for n_answers in range(QUESTIONS):
            if n_answers in LESSONS:
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


def write(trials: dict[Key, Results]) -> None:
    """Write the table of the trials that there are for all methods."""
    rows, means, most = [], [], 0
    for name in SETS:
        cells, mean = [name], []
        for method in METHODS:
            keys = [Key("opinions", method, name, QUESTIONS, k) for k in range(TRIALS)]
            found = [trials[key] for key in keys if key in trials]
            most = max(most, len(found))
            if not found:
                cells.append("-")
                continue
            error = np.array([each["error"] for each in found])
            again = np.mean([each["again"] for each in found])
            spread = ""
            if len(error) > 1:
                spread = f" ± {error.std(ddof=1) / np.sqrt(len(error)):.1%}"
            mean.append(error.mean())
            cells.append(f"{error.mean():.1%}{spread} ({again:.0f})")
        rows.append(cells)
        if len(mean) == len(METHODS):
            means.append(mean)
    if means:
        whole = f"mean of {len(means)} tables that have all"
        rows.append([whole, *(f"{value:.1%}" for value in np.mean(means, axis=0))])
    named = dict.fromkeys(ACCURACY, 0)
    told = [each["spammers"] for each in trials.values() if "spammers" in each]
    for names in told:
        for name in names:
            named[name] += 1
    publish(
        "ask_opinions",
        "Second opinions, in an interview with five people",
        [
            (f"{QUESTIONS} questions, answered by five people in random order who are "
            f"right in {', '.join(f'{a:.0%}' for a in ACCURACY.values())} of the "
            "cases: the last one answers at random. Error on other points, with its "
            "standard error where there are several trials, and in parentheses how "
            "many questions asked about a pair, "
            "or a point in doubt, again."),
            table(["table", *(WORDS[m] for m in METHODS)], rows),
            "Told to answer at random at the end, of "
            f"{len(told)} interviews that tell people apart: "
            + ", ".join(f"{name} ({ACCURACY[name]:.0%} right) in {n}" for name, n
                        in named.items()) + ".",
            ("A model was learned at 20, 35, 50, 75, 100, 150, 200, 250 and 300 "
            "answers; an interview learns more often."),
            (f"Trials per table: up to {most}. Where there is one, there is no "
            "standard error, and the table does not show which of the first three is "
            "best."),
            machine("numpy", "scipy", "scikit-learn"),
        ],
    )  # fmt: skip


def main() -> None:
    """Run what is missing, then write the table."""
    parser = argparse.ArgumentParser("python -m benchmarks.ask.opinions")
    parser.add_argument("--datasets", nargs="+", choices=SETS, default=SETS)
    parser.add_argument("--trials", type=int, default=TRIALS)
    parser.add_argument("--table-only", action="store_true")
    options = parser.parse_args()
    if not options.table_only:
        every = product(range(options.trials), options.datasets, METHODS)
        for k, name, method in every:
            key = Key("opinions", method, name, QUESTIONS, k)
            if key in record.read(PATH):
                continue
            found = run(key)
            record.add(key, found, PATH)
            print(method, name, k, found, flush=True)
    write(record.read(PATH))


if __name__ == "__main__":
    main()
