"""Columns that say who answered, when, with what comment, and why it was asked."""

import numpy as np
import pytest

from pairlearn.files.tables.answered_pairs import read_answers, read_pairs
from pairlearn.files.tables.people_columns import RANDOM_CHECK, SaidRows
from tests.support.cli_files import write

POINTS = "id,x\na,1\nb,2\nc,3\nd,4\n"


def people(tmp_path, header, *rows, **columns):
    text = "\n".join([header, *rows]) + "\n"
    return read_pairs(write(tmp_path, "pairs.csv", text), **columns).people


@pytest.mark.parametrize(
    "name",
    ["annotator", "Who", "worker_id", "user", "Labeller", "rater", "Answered by"],
)
def test_names_are_found(tmp_path, name):
    found = people(tmp_path, f"left,right,answer,{name}", "a,b,same, ann ", "c,d,no,NA")
    assert found.names == ["ann", ""]
    assert found.times is None
    assert found.comments is None
    assert found.random is None
    assert found.notes == []


def test_the_surest_name_counts(tmp_path):
    found = people(tmp_path, "left,right,answer,user,annotator", "a,b,same,u1,ann")
    assert found.names == ["ann"]


def test_two_columns_that_may_be_meant_are_told(tmp_path):
    found = people(tmp_path, "left,right,answer,user,worker", "a,b,same,u1,ann")
    assert found.names is None
    assert "may be in 'user' or 'worker'; rename the right" in found.notes[0]


def test_columns_with_another_meaning_are_left_alone(tmp_path):
    header = "left,right,vote,judge"
    found = people(tmp_path, header, "a,b,x,same", "c,d,y,no", answer="judge")
    assert found.names is None
    assert people(tmp_path, "left,right,answer", "a,b,same").names is None
    assert people(tmp_path, "left,right,answer,who", "a,b,same,").names is None


@pytest.mark.parametrize(
    "moment",
    [
        "2026-05-01T12:30:00Z",
        "2026-05-01 14:30:00+02:00",
        "2026-05-01T12:30:00.000",
        "1777638600",
        "1777638600000",
    ],
)
def test_times(tmp_path, moment):
    rows = f"a,b,same,ann,{moment}", "c,d,no,bob,"
    found = people(tmp_path, "left,right,answer,who,time", *rows)
    assert found.times[0] == 1777638600
    assert np.isnan(found.times[1])
    assert found.notes == []


@pytest.mark.parametrize("moment", ["3.7", "1.5.2026", "at noon"])
def test_times_that_are_no_moments_are_told(tmp_path, moment):
    found = people(tmp_path, "left,right,answer,time", f"a,b,same,{moment}")
    assert found.times is None
    assert f"column 'time', with '{moment}'" in found.notes[0]


def test_comments_and_random_repeats(tmp_path):
    found = people(
        tmp_path,
        "left,right,answer,annotator,comment,why",
        "a,b,same,ann,,to learn most",
        f"a,b,no,bob,blurred,{RANDOM_CHECK}",
        "a,b,no,eve,,second opinion: somebody was unsure",
    )
    assert found.comments == ["", "blurred", ""]
    assert found.random.tolist() == [False, True, False]


def test_reasons_of_others_say_nothing_about_chance(tmp_path):
    rows = "a,b,same,they look alike", "c,d,no,other colour"
    assert people(tmp_path, "left,right,answer,why", *rows).random is None


def test_several_tables_and_rounds(tmp_path):
    """Rows are put in the order of their rounds, and who said it goes with them."""
    points = write(tmp_path, "points.csv", POINTS)
    late = "left,right,answer,purpose,round,who\na,b,same,learn,2,ann\n"
    late += "b,d,no,audit,1,eve\n"
    early = "left,right,answer\nc,d,different\na,b,unsure\n"
    files = write(tmp_path, "late.csv", late), write(tmp_path, "early.csv", early)
    said = read_answers(points, files, audits_apart=False).said
    assert said.people.names == ["", "", "eve", "ann"]
    assert said.t.tolist() == [-1, 0, -1, 1]
    assert said.index.tolist() == [[2, 3], [0, 1], [1, 3], [0, 1]]
    assert said.lines[-1] == "2 of late.csv"
    apart = read_answers(points, files)
    assert apart.said.people.names == ["", "", "ann"]
    joined = SaidRows.joined([apart.said, apart.audits.said])
    assert joined.people.names == said.people.names
    assert joined.lines == said.lines
    assert joined.t.tolist() == said.t.tolist()


def test_parts_that_say_nothing_are_empty(tmp_path):
    points = write(tmp_path, "points.csv", POINTS)
    header = "left,right,answer,who,time,comment,why\n"
    full = f"{header}a,b,same,ann,2026-05-01,x,{RANDOM_CHECK}\n"
    files = (
        write(tmp_path, "full.csv", full),
        write(tmp_path, "bare.csv", "left,right,answer\nc,d,different\n"),
    )
    found = read_answers(points, files).said.people
    assert found.names == ["ann", ""]
    assert found.comments == ["x", ""]
    assert found.random.tolist() == [True, False]
    assert np.isnan(found.times).tolist() == [False, True]
