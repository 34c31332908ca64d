"""Pairs and answers, from the file of `pairlearn label` and from frames."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from pairlearn import Pairs
from tests.support.stored import Events

POINTS = pd.DataFrame({"id": [10, 20, 30, 40], "x": [1.0, 2.0, 3.0, 4.0]})


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "answers.sqlite"
    with Events(path) as events:
        events.ask(0, "10", "20", rows=(0, 1))
        events.ask(1, "30", "40", purpose="audit", rows=(2, 3))
        events.ask(2, "20", "10", rows=(1, 0))
        events.answer(0, 1)
        events.answer(1, 0)
        events.answer(1, -1, "Bob", "opinion")
        events.answer(2, 0)
        events.ask(3, "40", "30", purpose="audit", rows=(3, 2))
        events.answer(3, 1, "Cy")
    return path


def numbers(found):
    pairs, t = found
    return pairs.index.tolist(), t.tolist()


class TestStore:
    def test_answers_to_learn_from(self, store):
        pairs, t = Pairs.from_answers(POINTS, store, id="id")
        assert numbers((pairs, t)) == ([[0, 1]], [1])
        assert list(pairs.X.columns) == ["x"]
        assert numbers(
            Pairs.from_answers(POINTS, str(store), id="id", unsure=True)
        ) == (
            [[0, 1], [1, 0]],
            [1, 0],
        )

    def test_of_an_audit_the_first_sure_answer_counts(self, store):
        found = Pairs.from_answers(POINTS, store, id="id", purpose="audit")
        assert numbers(found) == ([[2, 3]], [-1])

    def test_an_unsure_audit_is_counted(self, tmp_path):
        with Events(tmp_path / "a.sqlite") as events:
            events.ask(0, "10", "20", purpose="audit")
            events.answer(0, 0)
        found = Pairs.from_answers(
            POINTS, tmp_path / "a.sqlite", id="id", purpose="audit"
        )
        assert numbers(found) == ([[0, 1]], [0])

    def test_everything(self, store):
        _, t = Pairs.from_answers(POINTS, store, id="id", purpose="all", unsure=True)
        assert t.tolist() == [1, 0, -1, 0, 1]

    @pytest.mark.parametrize(
        "points",
        [
            POINTS.set_index("id"),
            POINTS.astype({"id": str}).set_index("id"),
            POINTS.astype({"id": float}).set_index("id"),
        ],
    )
    def test_ids_in_the_index(self, points, store):
        pairs, t = Pairs.from_answers(points, store, features=["x"])
        assert numbers((pairs, t)) == ([[0, 1]], [1])

    def test_polars(self, store):
        pairs, t = Pairs.from_answers(pl.from_pandas(POINTS), store, id="id")
        assert numbers((pairs, t)) == ([[0, 1]], [1])

    def test_ids_are_not_taken_for_row_numbers(self, store):
        with pytest.raises(ValueError, match=r"such as '10'; say which column .* id="):
            Pairs.from_answers(POINTS, store)

    @pytest.mark.parametrize("first", [0, 1])
    def test_row_numbers(self, tmp_path, first):
        with Events(tmp_path / "a.sqlite") as events:
            events.ask(0, str(2 + first), str(first), rows=(2, 0))
            events.answer(0, -1)
        points = POINTS[["x"]]
        assert numbers(Pairs.from_answers(points, tmp_path / "a.sqlite")) == (
            [[2, 0]],
            [-1],
        )
        with pytest.raises(ValueError, match=r"about row 2 .* there are 2 points"):
            Pairs.from_answers(points[:2], tmp_path / "a.sqlite")

    def test_other_points(self, store):
        with pytest.raises(ValueError, match=r"answers\.sqlite are not among .*'30'"):
            Pairs.from_answers(POINTS[:2], store, id="id")
        with pytest.raises(ValueError, match="must be unique"):
            Pairs.from_answers(pd.concat([POINTS, POINTS]), store, id="id")

    def test_no_answers_yet(self, tmp_path):
        Events(tmp_path / "a.sqlite").connection.close()
        pairs, t = Pairs.from_answers(POINTS, tmp_path / "a.sqlite", id="id")
        assert (len(pairs), len(t)) == (0, 0)

    def test_something_else(self, tmp_path):
        (tmp_path / "pairs.csv").write_text("left,right,answer\n")
        with pytest.raises(ValueError, match=r"pairs\.csv is not a file of answers"):
            Pairs.from_answers(POINTS, tmp_path / "pairs.csv", id="id")


class TestFrame:
    def test_words_numbers_and_what_is_missing(self):
        said = ["Same", "different", "unsure", None, np.nan, 1, -1.0, 0, True, False]
        frame = pd.DataFrame(
            {
                "left": [10] * 10,
                "right": [20] * 10,
                "answer": pd.Series(said, dtype=object),
            }
        )
        _, t = Pairs.from_answers(POINTS, frame, id="id", unsure=True)
        assert t.tolist() == [1, -1, 0, 0, 0, 1, -1, 0, 1, -1]
        _, t = Pairs.from_answers(POINTS, frame, id="id")
        assert t.tolist() == [1, -1, 1, -1, 1, -1]

    def test_purposes(self):
        frame = pd.DataFrame(
            {
                "left": [10, 10, 30],
                "right": [20, 30, 40],
                "answer": ["same", "different", "same"],
                "purpose": ["learn", None, "audit"],
            }
        )
        learn, _ = Pairs.from_answers(POINTS, frame, id="id")
        assert learn.index.tolist() == [[0, 1], [0, 2]]
        audits, _ = Pairs.from_answers(POINTS, frame, id="id", purpose="audit")
        assert audits.index.tolist() == [[2, 3]]

    def test_mistakes(self):
        frame = pd.DataFrame({"left": [10], "right": [20], "answer": ["perhaps"]})
        with pytest.raises(ValueError, match=r"got 'perhaps'.*read_answers"):
            Pairs.from_answers(POINTS, frame, id="id")
        with pytest.raises(ValueError, match="no column 'purpose'"):
            Pairs.from_answers(
                POINTS, frame.replace("perhaps", "same"), id="id", purpose="audit"
            )
        with pytest.raises(ValueError, match="no column 'answer'"):
            Pairs.from_answers(POINTS, frame.drop(columns="answer"), id="id")
        with pytest.raises(ValueError, match="purpose must be one of"):
            Pairs.from_answers(POINTS, frame, id="id", purpose="test")
