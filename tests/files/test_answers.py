"""Words to answers."""

import numpy as np
import pytest

from pairlearn.files.tables.answers import parse_answers
from pairlearn.files.tables.reading import TableError


@pytest.mark.parametrize(
    "word",
    ["same", "SAME", " Same ", "yes", "Y", "true", "TRUE", "must-link", "must_link",
     "Must Link", "similar", "match", "1", "+1", "1.0", 1, 1.0, True],
)  # fmt: skip
def test_words_for_same(word):
    assert parse_answers([word, "no"]).t.tolist() == [1, -1]


@pytest.mark.parametrize(
    "word",
    ["different", "no", "N", "false", "cannot-link", "cannot link", "can't-link",
     "dissimilar", "no match", "non-match", "not the same", "-1", "−1", -1, False],
)  # fmt: skip
def test_words_for_different(word):
    assert parse_answers([word, "yes"]).t.tolist() == [-1, 1]


@pytest.mark.parametrize(
    "word",
    ["unsure", "Unknown", "?", "??", "", "  ", "skip", "n/a", "NaN", None, float("nan"),
     "don't know", "Can’t tell", "maybe", "-"],
)  # fmt: skip
def test_words_for_unsure(word):
    found = parse_answers([word, "yes", "no"])
    assert found.sure.tolist() == [False, True, True]
    assert "1 unsure answer(s)" in found.notes[-1]


@pytest.mark.parametrize(
    "word", ["same?", "foo", "2nd", "yes no", "=1", "1_0", "inf", "e", "purple", "1;2"]
)
def test_other_words_are_an_error_that_says_where(word):
    with pytest.raises(
        TableError, match=r"row 1: the answer .* add --same .* Answers are same/diff"
    ):
        parse_answers(["yes", word])


def test_zero_means_what_the_other_numbers_say():
    assert parse_answers(["1", "0", "1"]).t.tolist() == [1, -1, 1]
    found = parse_answers(["1", "0", "-1"])
    assert found.sure.tolist() == [True, False, True]
    assert "0 is read as unsure" in found.notes[0]
    with pytest.raises(TableError, match="occurs without the numbers"):
        parse_answers(["0", "0"])
    with pytest.raises(TableError, match="occurs without the numbers"):
        parse_answers([0, "?"])


def test_words_do_not_tell_what_zero_means():
    found = parse_answers(["no", "0", "1", "different", 0])
    assert found.t.tolist() == [-1, -1, 1, -1, -1]
    assert found.notes == ["0 is read as different, and 1 as the same"]
    assert parse_answers(["yes", "0", "-1"]).sure.tolist() == [True, False, True]
    for words in (["no", "0"], ["yes", "0"], ["same", "different", 0], [True, "0"]):
        with pytest.raises(TableError, match="without the numbers 1 or -1"):
            parse_answers(words)


def test_soft_answers_must_be_asked_for():
    with pytest.raises(TableError, match="add --soft"):
        parse_answers(["0.5", "-1"])
    assert parse_answers(["0.5", "-1", "0,25"], soft=True).t.tolist() == [0.5, -1, 0.25]
    with pytest.raises(TableError, match="not between -1"):
        parse_answers(["0.5", "-1.5"], soft=True)


def test_soft_answers_that_look_like_probabilities_are_told():
    assert "2 p - 1" in parse_answers(["0.5", "0.9"], soft=True).notes[0]
    assert parse_answers(["0.5", "-0.9"], soft=True).notes == []


def test_many_unsure_words_are_counted():
    found = parse_answers(["?", "skip", "?", "", "yes", "no"])
    note = found.notes[0]
    assert note.startswith("4 unsure answer(s)")
    assert "2 × '?'" in note
    assert "1 × an empty cell" in note
    assert np.isnan(found.t[:4]).all()
