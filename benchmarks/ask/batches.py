"""How long questions take where learning happens aside, up to thousands of answers.

``python -m benchmarks.ask.batches`` answers 12,000 questions about 20,000 points of 20
columns in batches, as the page for several people asks for them, and prints what a
question of a batch of 200 and a single one take at several moments; also long after the
last model has learned. Then it prints how long learning takes from many of these.

Times are those of the processor, of one core, so that other programs count little.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.report import machine, publish, table
from pairlearn.ask import Interview
from pairlearn.ask.lessons import Teacher

N_POINTS, N_COLUMNS = 20_000, 20
# Answers at which questions are timed, and after which no model learns any more.
MOMENTS, LAST_LESSON = (0, 200, 1_000, 3_000, 9_000, 12_000), 9_000
LEARNED_FROM = (1_000, 5_000, 9_500)
HEADER = [
    "classes", "answers", "of these new to the model",
    "per question of a batch of 200, ms", "single: median, ms", "mean, ms",
    "longest, ms",
]  # fmt: skip
PEOPLE = [f"person {k}" for k in range(10)]


def world(n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points of overlapping classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(n_classes, size=N_POINTS)
    X = rng.normal(size=(N_POINTS, N_COLUMNS))
    X[np.arange(N_POINTS), y] += 2.0
    return X, y


class Known:
    """A model that need not learn, so that questions alone are timed."""

    def __init__(self, n_classes: int = 2) -> None:
        self.n_classes = n_classes
        self.classes_ = np.arange(n_classes)

    def get_params(self, **_: Any) -> dict[str, Any]:
        """Return the parameters, for copies."""
        return {"n_classes": self.n_classes}

    def fit(self, *_: Any) -> Known:
        """Learn nothing."""
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return class probabilities."""
        weight = np.exp(2 * X[:, : self.n_classes])
        return weight / weight.sum(axis=1, keepdims=True)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the likeliest class."""
        return self.predict_proba(X).argmax(axis=1)


def seconds(call: Any) -> tuple[float, Any]:
    """Return how long a call takes, and what it returns."""
    begin = time.process_time()
    found = call()
    return time.process_time() - begin, found


class Trial:
    """One interview, with people who are unsure or wrong now and then."""

    def __init__(self, n_classes: int) -> None:
        self.n_classes = n_classes
        X, self.y = world(n_classes)
        self.interview = Interview(
            X,
            n_classes=n_classes,
            estimator=Known(n_classes),
            overlap=0.1,
            random_state=0,
        )
        self.rng = np.random.default_rng(1)
        self.interview.next_question(learn=False)

    def answer(self, question: Any) -> None:
        """Answer a question: 2 % unsure, 3 % wrong."""
        chance = self.rng.random()
        said = bool(self.y[question.left] == self.y[question.right])
        who = PEOPLE[question.number % len(PEOPLE)]
        answer = None if chance < 0.02 else said != (chance > 0.97)
        self.interview.answer(question, answer, who)

    def go_on(self, n_answers: int) -> None:
        """Answer in batches, and learn when it is time."""
        while len(self.interview.ledger.answers) < n_answers:
            for question in self.interview.next_questions(100, learn=False):
                self.answer(question)
            homework = self.interview.begin_lesson()
            if homework is not None and n_answers <= LAST_LESSON:
                self.interview.take_lesson(homework, homework.learn())

    def rows(self) -> list[list[str]]:
        """Return rows of the table."""
        found = []
        for moment in MOMENTS:
            self.go_on(moment)
            ledger = self.interview.ledger
            known = len(ledger.learned[-1].answers) if ledger.learned else 0
            n_out = len(ledger.summary.teaching) - known
            batch, questions = seconds(
                lambda: self.interview.next_questions(200, learn=False)
            )
            single = []
            for question in questions:
                self.answer(question)
                took, following = seconds(
                    lambda: self.interview.next_question(learn=False)
                )
                single.append(1000 * took)
                self.answer(following)
            found.append(
                [
                    str(self.n_classes),
                    f"{moment:,}",
                    f"{n_out:,}",
                    f"{1000 * batch / len(questions):.2f}",
                    f"{np.median(single):.1f}",
                    f"{np.mean(single):.1f}",
                    f"{np.max(single):.0f}",
                ]
            )
            print(*found[-1], flush=True)
        return found


def lesson(trial: Trial, noise: Any, n_answers: int) -> list[str]:
    """Learn from the first answers of an interview, and return a row of the table."""
    interview, y = trial.interview, trial.y
    some = list(interview.ledger.teaching().items())[:n_answers]
    asked = [interview.ledger.questions[number] for number, _ in some]
    index = np.array([(q.partner, q.target) for q in asked])
    said = np.array([answer for _, answer in some], dtype=float)
    if noise is None:
        said = np.where(y[index[:, 0]] == y[index[:, 1]], 1.0, -1.0)
    teacher = Teacher(
        interview.X, interview._candidates, n_classes=trial.n_classes, noise=noise,
        majority=None, classes=None, estimator=None, random_state=0,
    )  # fmt: skip
    _ = teacher.features
    took, found = seconds(lambda: teacher.teach(index, said))
    others = np.setdiff1d(np.arange(N_POINTS), interview._candidates)[:5000]
    says = found.model.predict(interview.X[others]).reshape(-1, 2)
    truth = y[others].reshape(-1, 2)
    wrong = np.mean((says[:, 0] == says[:, 1]) != (truth[:, 0] == truth[:, 1]))
    row = [
        str(trial.n_classes),
        "none" if noise is None else str(noise),
        f"{len(said):,}",
        f"{took:.1f}",
        f"{100 * wrong:.1f} %",
    ]
    print(*row, flush=True)
    return row


def main() -> None:
    """Run, and write the tables."""
    trials = [Trial(n_classes) for n_classes in (2, 3)]
    asked = [row for trial in trials for row in trial.rows()]
    two, three = trials
    learned = [
        lesson(trial, noise, n_answers)
        for trial, noise in ((two, None), (two, "auto"), (three, "auto"))
        for n_answers in LEARNED_FROM
    ]
    publish(
        "ask_batches",
        "How long questions take where learning happens aside",
        [
            table(HEADER, asked),
            (
                "20,000 points of 20 columns, one core. *Single*: the next question "
                "after each of 400 more answers; one in some hundred takes longer, "
                "where all candidates or all answers are gone through again."
            ),
            table(
                ["classes", "wrong answers", "answers", "learning, s", "pair error"],
                learned,
            ),
            (
                "*Learning*: a homework, which runs aside. Of more than 3,000 answers "
                "(1,500 where answers may be wrong) so many are learned from. *Pair "
                "error*: of 2,500 random pairs of points put aside."
            ),
            machine("numpy", "scipy", "scikit-learn"),
        ],
    )


if __name__ == "__main__":
    main()
