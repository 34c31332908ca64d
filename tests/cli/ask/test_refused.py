"""Tables, keys and options of `pairlearn ask` that are refused."""

import numpy as np
import pytest

from tests.support.commands import call
from tests.support.rounds import ask, edited, fails, read


class TestBadInput:
    def test_unknown_ids(self, world, asked, tmp_path):
        table = read(asked[0])
        table.loc[3, "left"] = "nobody"
        table.to_csv(tmp_path / "a.csv", index=False)
        words = ["ask", world[0] / "points.csv", tmp_path / "a.csv"]
        message = fails(*words, "-o", tmp_path / "b.csv")
        assert (
            "a.csv, line 5: 1 pair(s) name points that are not in points.csv" in message
        )
        assert "--skip-unknown" in message
        assert not (tmp_path / "b.csv").exists()

    def test_answers_that_cannot_be_read(self, world, asked, tmp_path):
        table = read(asked[0])
        table.loc[3, "answer"] = "perhaps not"
        table.to_csv(tmp_path / "a.csv", index=False)
        words = ["ask", world[0] / "points.csv", asked[1], tmp_path / "a.csv"]
        message = fails(*words, "-o", tmp_path / "b.csv")
        assert "a.csv, line 5: the answer 'perhaps not' is not understood" in message

    def test_no_answers_yet(self, world, asked, tmp_path):
        empty = edited(asked[0], tmp_path, answer="")
        words = ["ask", world[0] / "points.csv", empty, "-o", tmp_path / "b.csv"]
        assert "there is no answer yet in the column 'answer'" in fails(*words)

    def test_another_seed(self, world, asked, tmp_path):
        words = ["ask", world[0] / "points.csv", asked[0], "-o", tmp_path / "b.csv"]
        message = fails(*words, "--seed", 1)
        first = int(np.argmax(read(asked[0])["purpose"] == "audit"))
        assert message.startswith(f"line {first + 2}: ")
        assert "marked as an audit, but with --seed 1 they are not among" in message
        assert "Give the --seed of the earlier rounds" in message

    def test_audits_of_earlier_rounds_stay_if_no_more_are_wanted(
        self, world, asked, tmp_path
    ):
        out = tmp_path / "b.csv"
        ask(world[0] / "points.csv", asked[0], "-o", out, "--audits", 0)
        assert set(read(out)["purpose"]) == {"learn"}

    @pytest.mark.parametrize(
        ("column", "word", "told"),
        [
            ("purpose", "test", "the purpose 'test' is not understood. It is learn or"),
            ("round", "first", "the round 'first' is not a whole number"),
        ],
    )
    def test_words_that_are_not_known(self, world, asked, tmp_path, column, word, told):
        table = edited(asked[0], tmp_path, **{column: word})
        words = ["ask", world[0] / "points.csv", table, "-o", tmp_path / "b.csv"]
        assert f"edited-round1.csv, line 2: {told}" in fails(*words)

    def test_a_point_in_an_audit_and_in_an_answer_to_learn_from(
        self, world, asked, tmp_path
    ):
        table = read(asked[0])
        audit = table[table["purpose"] == "audit"].iloc[0]
        learn = table[table["purpose"] == "learn"].iloc[0]
        own = tmp_path / "own.csv"
        own.write_text(f"left,right,answer\n{audit['left']},{learn['left']},same\n")
        words = ["ask", world[0] / "points.csv", asked[0], own]
        message = fails(*words, "-o", tmp_path / "b.csv")
        assert f"{audit['left']!r} is in an audit and in an answer to learn" in message
        assert "2 of own.csv" in message

    def test_a_point_in_two_audits(self, world, asked, tmp_path):
        table = read(asked[0])
        first, second, *_ = table.index[table["purpose"] == "audit"]
        table.loc[second, "left"] = table.loc[first, "left"]
        table.to_csv(tmp_path / "a.csv", index=False)
        words = ["ask", world[0] / "points.csv", tmp_path / "a.csv"]
        message = fails(*words, "-o", tmp_path / "b.csv")
        assert "is in two audits, and each point may be in one only" in message

    def test_points_that_have_changed(self, world, asked, tmp_path):
        points = read(world[0] / "points.csv")
        name = read(asked[0])["left"][0]
        points.loc[points["id"] == name, "colour"] = "violet"
        points["width"] = [f"{value}0" if value else "" for value in points["width"]]
        points.to_csv(tmp_path / "points.csv", index=False)
        words = [tmp_path / "points.csv", asked[0], "-o", tmp_path / "b.csv"]
        text = " ".join(ask(*words).stdout.split())
        assert f"points.csv has changed since: {name!r} had" in text
        assert "'violet' now" in text
        assert "other point(s)" not in text

    def test_files_are_not_overwritten(self, world, asked, tmp_path):
        out = tmp_path / "b.csv"
        out.write_text("dear answers")
        words = ["ask", world[0] / "points.csv", asked[0], "-n", 5, "-o", out]
        assert "is already there, and may hold answers" in fails(*words)
        assert out.read_text() == "dear answers"
        assert call(*words, "--overwrite").exit_code == 0
        assert len(read(out)) == 5
        words[5] = asked[0]
        message = fails(*words[:5], "-o", asked[0], "--overwrite", code=2)
        assert "is one of the files that are read" in message

    def test_a_file_given_twice(self, world, asked, tmp_path):
        words = ["ask", world[0] / "points.csv", asked[0], asked[0]]
        message = fails(*words, "-o", tmp_path / "b.csv")
        assert "a table of pairs is given twice" in message

    @pytest.mark.parametrize(
        ("words", "told"),
        [
            ([], "say where to write the questions, such as -o next.csv"),
            (["-o", "a.parquet"], "must end in .csv or .tsv"),
            (["-o", "a.csv", "--group", "colour"], "cannot take --group into account"),
            (["-o", "a.csv", "--soft"], "leave out --soft"),
            (["-o", "a.csv", "--kinds", "many"], "--kinds 'many' must be auto"),
            (["-o", "a.csv", "--noise", "2"], "--noise '2' must be auto"),
            (["-o", "a.csv", "-n", "0"], "-n"),
        ],
    )
    def test_options(self, world, tmp_path, monkeypatch, words, told):
        monkeypatch.chdir(tmp_path)
        assert told in fails("ask", world[0] / "points.csv", *words, code=2)
        assert not list(tmp_path.iterdir())
