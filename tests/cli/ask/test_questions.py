"""Questions to ask next, in tables: rounds, and what is printed."""

import pandas as pd

from pairlearn.cli.ask import _following
from tests.support.commands import call
from tests.support.rounds import answer, ask, edited, fails, read


class TestQuestions:
    def test_both_points_are_shown_side_by_side(self, world, asked):
        _, points, _ = world
        table = read(asked[0])
        assert list(table.columns) == [
            "left", "right", "left_width", "right_width", "left_height", "right_height",
            "left_luck", "right_luck", "left_colour", "right_colour", "left_born",
            "right_born", "left_name", "right_name", "answer", "purpose", "round",
        ]  # fmt: skip
        name = points.set_index("id")["name"]
        assert (table["left_name"] == name[table["left"]].to_numpy()).all()
        assert (table["right_name"] == name[table["right"]].to_numpy()).all()
        assert len(table) == 30
        assert set(table["purpose"]) == {"learn", "audit"}

    def test_rounds_are_numbered_and_nothing_is_asked_twice(self, asked):
        tables = [read(file) for file in asked]
        assert [set(table["round"]) for table in tables] == [{"1"}, {"2"}, {"3"}]
        everything = pd.concat(tables)
        pairs = [frozenset(p) for p in everything[["left", "right"]].to_numpy()]
        assert len(set(pairs)) == len(pairs) == 90

    def test_audits_share_no_point_with_anything(self, asked):
        everything = pd.concat([read(file) for file in asked])
        audits = everything["purpose"] == "audit"
        points = everything.loc[audits, ["left", "right"]].to_numpy().ravel()
        assert len(points) >= 20
        assert len(set(points)) == len(points)
        others = everything.loc[~audits, ["left", "right"]].to_numpy().ravel()
        assert not set(points) & set(others)

    def test_the_state_is_in_the_files(self, world, asked, tmp_path):
        # The files in another order, in one file, or after a command was killed.
        points = world[0] / "points.csv"
        ask(points, *asked[:2], "-n", 30, "-o", tmp_path / "next.csv")
        ask(points, asked[1], asked[0], "-n", 30, "-o", tmp_path / "again.csv")
        both = pd.concat([read(file) for file in asked[:2]])
        both.to_csv(tmp_path / "both.csv", index=False)
        ask(points, tmp_path / "both.csv", "-n", 30, "-o", tmp_path / "one.csv")
        for name in ("again.csv", "one.csv"):
            assert (tmp_path / name).read_text() == (tmp_path / "next.csv").read_text()

    def test_killed_while_it_writes(self, world, tmp_path, monkeypatch):
        def killed(*_):
            raise KeyboardInterrupt

        monkeypatch.setattr("pairlearn.system.writing.os.fsync", killed)
        words = ["-o", tmp_path / "next.csv", "--blind"]
        result = call("ask", world[0] / "points.csv", *words)
        assert result.exit_code == 130
        assert "interrupted; nothing was written" in result.stderr
        assert not list(tmp_path.iterdir())

    def test_points_of_a_parquet_file(self, world, tmp_path):
        points = world[1].assign(born=pd.to_datetime(world[1]["born"]))
        points.to_parquet(tmp_path / "points.parquet")
        words = ["-n", 30, "-o", tmp_path / "a.csv"]
        ask(tmp_path / "points.parquet", *words)
        answer(tmp_path / "a.csv", world[2])
        words = ["-n", 30, "-o", tmp_path / "b.csv"]
        result = ask(tmp_path / "points.parquet", tmp_path / "a.csv", *words)
        assert "has changed since" not in result.stdout

    def test_several_kinds(self, tmp_path):
        rows = "".join(f"p{k},{k % 3 * 5 + k / 100},{k % 7}\n" for k in range(150))
        (tmp_path / "points.csv").write_text("id,x,z\n" + rows)
        truth = {f"p{k}": k % 3 for k in range(150)}
        files = [tmp_path / "a.csv", tmp_path / "b.csv"]
        words = ["-n", 40, "--kinds", 3, "--audits", 0.4, "--noise", "0-0.02"]
        ask(tmp_path / "points.csv", *words, "-o", files[0])
        answer(files[0], truth)
        ask(tmp_path / "points.csv", files[0], *words, "-o", files[1])
        answer(files[1], truth)
        page = tmp_path / "page.html"
        words = ["-o", tmp_path / "m.skops", "--kinds", 3, "--report", page]
        result = call("fit", tmp_path / "points.csv", *files, *words)
        assert result.exit_code == 0, result.output
        text = " ".join(result.stdout.split())
        assert "kinds 3:" in text
        assert "at all looks together" in text
        assert "group A" in text
        assert "pair error" not in text
        assert "--holdout" not in text

    def test_another_seed_asks_others(self, world, asked, tmp_path):
        out = tmp_path / "other.csv"
        ask(world[0] / "points.csv", "-n", 30, "-o", out, "--seed", 1)
        assert not read(out)["left"].equals(read(asked[0])["left"])

    def test_what_it_prints(self, world, asked, tmp_path):
        out = tmp_path / "next.csv"
        result = ask(world[0] / "points.csv", asked[0], "-n", 12, "-o", out)
        text = " ".join(result.stdout.split())
        assert "round 2" in text
        assert "12: " in text
        assert "to learn from" in text
        assert "it expects to be wrong about" in text
        assert f"{asked[0]} {out} -n 12 -o {tmp_path / 'next2.csv'}" in text
        assert f"pairlearn fit {world[0] / 'points.csv'} {asked[0]} {out}" in text
        out.unlink()
        result = ask(world[0] / "points.csv", asked[0], "-n", 12, "-o", out, "--quiet")
        assert result.stdout == ""

    def test_the_commands_it_proposes_repeat_the_options(self, world, tmp_path):
        result = ask(
            world[0] / "points.csv", "-o", tmp_path / "r.csv", "--seed", 7,
            "--audits", 0.4, "--noise", "none", "--kinds", "3", "--strategy", "mixed",
        )  # fmt: skip
        asking, fitting = (
            line
            for line in result.stdout.splitlines()
            if line.startswith("  pairlearn")
        )
        assert "--audits 0.4 --seed 7 --kinds 3 --noise none" in asking
        assert "--seed 7 --kinds 3 --noise none" in fitting
        assert "--audits" not in fitting

    def test_own_answers_come_along(self, world, tmp_path):
        folder, points, truth = world
        ids = points["id"].tolist()
        rows = [f"{a},{b},{'yes' if truth[a] == truth[b] else 'no'}"
                for a, b in zip(ids[:20], ids[20:40], strict=True)]  # fmt: skip
        own = tmp_path / "own.csv"
        own.write_text("first,second,alike\n" + "\n".join(rows))
        names = ["--left", "first", "--right", "second", "--answer", "alike"]
        one, two = tmp_path / "one.csv", tmp_path / "two.csv"
        ask(folder / "points.csv", own, "-n", 15, "-o", one, *names)
        assert set(read(one)["round"]) == {"1"}
        audits = read(one).query("purpose == 'audit'")[["left", "right"]]
        assert not set(audits.to_numpy().ravel()) & set(ids[:40])
        # Its own columns keep their names, beside tables with other ones.
        answer(one, truth)
        ask(folder / "points.csv", own, one, "-n", 15, "-o", two, *names)
        assert set(read(two)["round"]) == {"2"}

    def test_questions_without_an_answer_are_no_answers(self, world, asked, tmp_path):
        folder, _, truth = world
        half = tmp_path / "half.csv"
        half.write_bytes(asked[0].read_bytes())
        table = answer(half, truth, slice(12))
        result = ask(folder / "points.csv", half, "-n", 30, "-o", tmp_path / "n.csv")
        assert "18 row(s) at the end have no answer yet" in result.stdout
        # Audits come in a fixed order, so those without an answer come again.
        left_over = table[12:].query("purpose == 'audit'")[["left", "right"]]
        again = read(tmp_path / "n.csv").query("purpose == 'audit'")[["left", "right"]]
        wanted = [frozenset(pair) for pair in left_over.to_numpy()]
        assert wanted == [frozenset(p) for p in again.to_numpy()][: len(wanted)]
        assert wanted

    def test_answers_of_one_kind(self, world, asked, tmp_path):
        same = edited(asked[0], tmp_path, answer="same")
        result = ask(world[0] / "points.csv", same, "-o", tmp_path / "next.csv")
        assert "so far are 'same', so there is no model yet" in result.stdout
        assert "none yet; the questions explore the points" in result.stdout
        unsure = edited(asked[0], tmp_path, answer="?")
        result = ask(world[0] / "points.csv", unsure, "-o", tmp_path / "x.csv")
        assert "all answers so far are unsure, so there is no model" in result.stdout

    def test_fewer_are_left_than_wanted(self, tmp_path):
        rows = "".join(f"p{k},{k % 2 * 5 + k / 100}\n" for k in range(12))
        (tmp_path / "points.csv").write_text("id,x\n" + rows)
        truth = {f"p{k}": k % 2 for k in range(12)}
        result = ask(tmp_path / "points.csv", "-n", 50, "-o", tmp_path / "a.csv")
        assert "you wanted 50 questions, and only" in " ".join(result.stdout.split())
        answer(tmp_path / "a.csv", truth)
        words = ["ask", tmp_path / "points.csv", tmp_path / "a.csv", "--noise", "none"]
        message = fails(*words, "-o", tmp_path / "b.csv")
        assert "no question is left" in message
        assert not (tmp_path / "b.csv").exists()

    def test_too_few_points(self, tmp_path):
        (tmp_path / "points.csv").write_text("id,x\np1,1\np2,2\n")
        words = ["ask", tmp_path / "points.csv", "-o", tmp_path / "a.csv"]
        assert "has too few points: some of the 2 are put aside" in fails(*words)

    def test_a_forecast(self, world, asked, tmp_path):
        words = ["-o", tmp_path / "next.csv", "--goal", 0.001]
        result = ask(world[0] / "points.csv", *asked, *words)
        text = " ".join(result.stdout.split())
        assert "forecast" in text
        assert "an error of 0.1%" in text

    def test_points_without_ids_are_known_by_their_rows(self, tmp_path):
        rows = "".join(f"{k % 2 * 5 + k / 100},{k % 3}\n" for k in range(40))
        (tmp_path / "points.csv").write_text("x,z\n" + rows)
        result = ask(tmp_path / "points.csv", "-n", 10, "-o", tmp_path / "a.csv")
        assert "rows are numbered from 1 to 40" in result.stdout
        assert "--first-row 1" in result.stdout
        answer(tmp_path / "a.csv", {str(k + 1): k % 2 for k in range(40)})
        words = ["-n", 10, "-o", tmp_path / "b.csv", "--first-row", 1]
        ask(tmp_path / "points.csv", tmp_path / "a.csv", *words)

    def test_semicolons_formulas_and_a_column_called_id(self, tmp_path):
        rows = "".join(f"k{k};{k};=1+{k};{k % 2 * 5},{k % 7}\n" for k in range(40))
        (tmp_path / "points.csv").write_text("key;id;note;x\n" + rows)
        out = tmp_path / "a.csv"
        result = ask(tmp_path / "points.csv", "-n", 10, "-o", out, "--id", "key")
        assert "a spreadsheet would run them as formulas" in result.stdout
        assert out.read_text().startswith("left;right;left_id;right_id;left_note;")
        table = pd.read_csv(out, sep=";", dtype=str)
        table["answer"] = ["same", "different"] * 5
        table.to_csv(out, sep=";", index=False)
        words = ["-n", 10, "-o", tmp_path / "b.csv", "--id", "key"]
        ask(tmp_path / "points.csv", out, *words)

    def test_names_of_the_next_files(self, tmp_path):
        names = ["next.csv", "round9.csv", "2024.tsv"]
        following = ["next2.csv", "round10.csv", "2025.tsv"]
        assert [_following(tmp_path / name).name for name in names] == following
