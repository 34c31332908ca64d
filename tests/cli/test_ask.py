"""Questions to ask next, in tables: rounds, purposes, certificates, bad input."""

import re

import numpy as np
import pandas as pd
import pytest

import pairlearn
from pairlearn.cli.ask import _following
from pairlearn.cli.training_points import find_known_points
from pairlearn.files.saving import describe
from pairlearn.files.tables.purposes import read_key
from tests.support.commands import call, make_tables

pytestmark = pytest.mark.usefixtures("quick")


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Points, and who is of which kind."""
    folder = tmp_path_factory.mktemp("ask")
    points, _, y = make_tables(folder)
    (folder / "pairs.csv").unlink()
    return folder, points, dict(zip(points["id"], y, strict=True))


@pytest.fixture(scope="module")
def asked(world):
    """Three rounds, each answered, in files of their own."""
    folder, _, truth = world
    files = []
    for number in (1, 2, 3):
        files.append(folder / f"round{number}.csv")
        ask(folder / "points.csv", *files[:-1], "-n", 30, "-o", files[-1])
        answer(files[-1], truth)
    return files


@pytest.fixture(scope="module")
def labels(world):
    """The true classes."""
    folder, _, truth = world
    path = folder / "labels.csv"
    rows = [f"{name},{'large' if truth[name] else 'small'}" for name in truth]
    path.write_text("id,label\n" + "\n".join(rows))
    return path


def ask(*words):
    result = call("ask", *words)
    assert result.exit_code == 0, result.output
    return result


def read(file):
    return pd.read_csv(file, dtype=str, keep_default_na=False)


def answer(file, truth, rows=slice(None)):
    """Fill in the answers to some of the questions."""
    table = read(file)
    right = [
        "same" if truth[a] == truth[b] else "different"
        for a, b in zip(table["left"], table["right"], strict=True)
    ]
    column = np.full(len(table), "", dtype=object)
    column[rows] = np.array(right, dtype=object)[rows]
    table["answer"] = column
    table.to_csv(file, index=False)
    return table


def fails(*words, code=1):
    """Return what a command says that ends with an error."""
    result = call(*words)
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result.stderr


def edited(file, folder, **columns):
    """Return a copy of a table with other columns."""
    path = folder / f"edited-{file.name}"
    read(file).assign(**columns).to_csv(path, index=False)
    return path


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


class TestPurposes:
    def test_fit_learns_from_no_audit(self, world, asked, tmp_path):
        out = tmp_path / "model.skops"
        result = call("fit", world[0] / "points.csv", *asked, "-o", out)
        assert result.exit_code == 0, result.output
        everything = pd.concat([read(file) for file in asked])
        learn = everything[everything["purpose"] == "learn"]
        n_audits = len(everything) - len(learn)
        assert n_audits >= 10
        about = describe(out)["about"]
        assert about["pairs"] == about["chosen pairs"] == len(learn)
        assert about["points"] == len(set(learn[["left", "right"]].to_numpy().ravel()))
        assert f"audits  {n_audits}, from which nothing is learned" in result.stdout
        # The certificate is of audits alone, and for all looks together.
        certificate = about["certificate"]
        assert certificate["n_pairs"] == n_audits
        assert certificate["anytime"]
        assert not certificate["cross_validated"]
        assert certificate["confidence"] == 0.95
        # The audits are new to the model, so certify counts all of them, and alike.
        again = call("certify", out, world[0] / "points.csv", *asked)
        assert again.exit_code == 0, again.output
        text = " ".join(again.stdout.split())
        assert f"{n_audits} pairs, from pairs that the model has not seen" in text
        assert f"{len(learn)} row(s) marked 'learn' were left out" in text
        assert "there were 3 rounds, so you may have looked" in text
        low, high = certificate["clustering_interval"]
        assert low == 0
        assert f"{high:.1%}" in text

    def test_the_model_does_not_know_the_points_of_audits(self, world, asked, tmp_path):
        out = tmp_path / "model.skops"
        result = call("fit", world[0] / "points.csv", *asked, "-o", out)
        assert result.exit_code == 0, result.output
        model, seen = pairlearn.load(out), describe(out)["about"]["seen"]
        everything = pd.concat([read(file) for file in asked])
        points = world[1].set_index("id", drop=False)
        for purpose in ("learn", "audit"):
            rows = everything[everything["purpose"] == purpose]
            ids = sorted(set(rows[["left", "right"]].to_numpy().ravel()))
            encoded = np.asarray(model[0].transform(points.loc[ids]))
            found = find_known_points(seen, encoded, ids)
            assert set(found.by_id.tolist()) == {purpose == "learn"}
            assert set(found.by_features.tolist()) == {purpose == "learn"}

    def test_more_looks_make_the_interval_wider(self, world, asked, tmp_path):
        out = tmp_path / "model.skops"
        everything = pd.concat([read(file) for file in asked])
        call("fit", world[0] / "points.csv", *asked, "-o", out, "--noise", "none")
        ends = []
        for rounds in ("", "1", None):
            table = everything if rounds is None else everything.assign(round=rounds)
            table.to_csv(tmp_path / "pairs.csv", index=False)
            result = call(
                "certify", out, world[0] / "points.csv", tmp_path / "pairs.csv",
                "--noise", "none",
            )  # fmt: skip
            assert result.exit_code == 0, result.output
            low, high = re.search(
                r"error now.*between (\S+)% and (\S+)%", result.stdout
            ).groups()
            ends.append((float(low), float(high)))
        assert ends[0][0] > ends[1][0] >= ends[2][0]
        assert ends[0][1] < ends[1][1] <= ends[2][1]
        assert "there were 3 rounds" in result.stdout

    def test_without_enough_audits_there_is_no_certificate(
        self, world, asked, tmp_path
    ):
        table = read(asked[0])
        learn = table[table["purpose"] == "learn"]
        learn.to_csv(tmp_path / "learn.csv", index=False)
        words = ["-o", tmp_path / "m.skops", "--report", tmp_path / "page.html"]
        words += ["--majority", "large"]
        result = call("fit", world[0] / "points.csv", tmp_path / "learn.csv", *words)
        assert result.exit_code == 0, result.output
        assert "not known yet: audits alone can tell it" in result.stdout
        assert "no audit was answered, and it takes 10" in result.stdout
        assert "check the names by some points that you know" in result.stdout
        assert "cross-validated" not in result.stdout
        assert describe(tmp_path / "m.skops")["about"]["certificate"] is None
        page = (tmp_path / "page.html").read_text()
        assert "audits can" in page
        words = [tmp_path / "m.skops", world[0] / "points.csv", tmp_path / "learn.csv"]
        assert "a certificate counts audits alone" in fails("certify", *words)

    def test_the_page_tells_of_audits(self, world, asked, tmp_path):
        words = ["-o", tmp_path / "m.skops", "--report", tmp_path / "page.html"]
        result = call("fit", world[0] / "points.csv", *asked, *words)
        assert result.exit_code == 0, result.output
        page = (tmp_path / "page.html").read_text()
        assert "These pairs are audits" in page
        assert "rows of pairs.csv" not in page

    def test_questions_without_answers_are_no_round(self, world, asked, tmp_path):
        out = tmp_path / "model.skops"
        call("fit", world[0] / "points.csv", *asked, "-o", out)
        open_ = edited(asked[2], tmp_path, answer="")
        files = [*asked[:2], open_]
        result = call("certify", out, world[0] / "points.csv", *files)
        assert result.exit_code == 0, result.output
        assert "there were 2 rounds" in result.stdout

    def test_audits_beside_pairs_of_ones_own(self, world, asked, tmp_path):
        table = edited(asked[0], tmp_path, purpose="")
        own = read(table)
        own.loc[:4, "purpose"] = "audit"
        own.to_csv(table, index=False)
        words = ["-o", tmp_path / "m.skops", "--holdout", 0]
        result = call("fit", world[0] / "points.csv", table, *words)
        assert result.exit_code == 0, result.output
        assert "5 audits were left for pairlearn certify" in result.stdout

    def test_only_audits_teach_nothing(self, world, asked, tmp_path):
        table = edited(asked[0], tmp_path, purpose="audit")
        words = [world[0] / "points.csv", table, "-o", tmp_path / "m.skops"]
        assert "no answer to learn from" in fails("fit", *words)

    def test_unlabeled_points_are_no_audits(self, world, asked, tmp_path):
        out = tmp_path / "model.skops"
        words = ["-o", out, "--unlabeled"]
        result = call("fit", world[0] / "points.csv", *asked, *words)
        assert result.exit_code == 0, result.output
        certificate = describe(out)["about"]["certificate"]
        everything = pd.concat([read(file) for file in asked])
        assert certificate["n_pairs"] == int((everything["purpose"] == "audit").sum())

    def test_check_counts_them(self, world, asked):
        result = call("check", world[0] / "points.csv", *asked)
        assert result.exit_code == 0, result.output
        everything = pd.concat([read(file) for file in asked])
        n_audits = int((everything["purpose"] == "audit").sum())
        told = f"{90 - n_audits} rows to learn from, {n_audits} audits; the last round"
        assert told in result.stdout
        assert f"{n_audits} audits are answered; no other pair counts" in result.stdout
        # Pairs that were chosen say nothing about the number of kinds.
        assert "more than two" not in result.stdout

    def test_lines_name_their_files(self, world, asked, tmp_path):
        one = edited(asked[0], tmp_path, answer="same")
        result = call("check", world[0] / "points.csv", asked[0], one)
        assert "answers that disagree, the first in lines" in result.stdout
        assert f"of {asked[0].name}, " in result.stdout
        assert f"of {one.name}" in result.stdout


class TestBlind:
    def test_rounds_with_a_key(self, world, tmp_path):
        folder, _, truth = world
        points, one, two = folder / "points.csv", tmp_path / "a.csv", tmp_path / "b.csv"
        result = ask(points, "-n", 30, "-o", one, "--blind")
        key = tmp_path / "a.key.csv"
        assert f"--blind --key {key}" in result.stdout
        table = answer(one, truth)
        assert table.columns[0] == "question"
        assert not {"purpose", "round"} & set(table.columns)
        found = set(read_key(key).purposes.values())
        assert found == {("learn", 1), ("audit", 1)}
        table.sample(frac=1, random_state=0).to_csv(one, index=False)
        ask(points, one, "-n", 30, "-o", two, "--key", key)
        assert set(read(two)["round"]) == {"2"}
        n_audits = int((read(key)["purpose"] == "audit").sum())
        out = tmp_path / "m.skops"
        fitted = call("fit", points, one, "-o", out, "--key", key)
        assert fitted.exit_code == 0, fitted.output
        assert f"audits  {n_audits}, from which nothing is learned" in fitted.stdout

    def test_a_missing_or_wrong_key(self, world, asked, tmp_path):
        points, out = world[0] / "points.csv", tmp_path / "a.csv"
        ask(points, "-n", 10, "-o", out, "--blind")
        answer(out, world[2])
        words = ["fit", points, out, "-o", tmp_path / "m.skops"]
        assert "give its key, which was written beside it: --key a.key.csv" in fails(
            *words
        )
        assert "it is not a key" in fails(*words, "--key", asked[0])
        key = tmp_path / "a.key.csv"
        shorter = read(key)[1:]
        shorter.to_csv(tmp_path / "other.csv", index=False)
        message = fails(*words, "--key", tmp_path / "other.csv")
        assert "a.csv, line 2: question q1-01" in message
        assert "is not in other.csv" in message


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


class TestSimulation:
    def test_the_curve_falls_and_is_that_of_the_rounds(
        self, world, asked, labels, tmp_path
    ):
        out = tmp_path / "curve.csv"
        words = ["-n", 30, "--rounds", 3, "--against-random", "-o", out]
        result = ask(world[0] / "points.csv", "--simulate", labels, *words)
        curve = pd.read_csv(out)
        assert curve["round"].tolist() == [1, 2, 3]
        purposes = [read(file)["purpose"] for file in asked]
        n_learn = np.cumsum([(some == "learn").sum() for some in purposes])
        assert curve["answers"].tolist() == n_learn.tolist()
        assert (curve["answers"] + curve["audits"]).tolist() == [30, 60, 90]
        assert curve["true_error"].iloc[-1] <= curve["true_error"].iloc[0]
        assert curve["true_error"].iloc[-1] < 0.12
        known = curve.dropna(subset="certificate_high")
        assert len(known)
        assert (known["true_error"] <= known["certificate_high"]).all()
        assert curve["random_error"].between(0, 0.5).all()
        lines = result.stdout.splitlines()
        assert [line.split()[0] for line in lines[-4:-1]] == ["1", "2", "3"]
        assert "random pairs" in lines[-5]

    def test_what_is_printed_before_it_is_stopped_stays(
        self, world, labels, tmp_path, monkeypatch
    ):
        from pairlearn.cli import simulating

        rows = iter([simulating.CurveRow(1, 8, 2, 0.25, 0.2)])

        def stopped(*_, **__):
            yield next(rows)
            raise KeyboardInterrupt

        monkeypatch.setattr(simulating, "simulate", stopped)
        out = tmp_path / "curve.csv"
        words = ["--simulate", labels, "-o", out]
        result = call("ask", world[0] / "points.csv", *words)
        assert result.exit_code == 130
        assert "25.0%" in result.stdout
        assert f"interrupted; written: {out}" in result.stderr
        assert len(pd.read_csv(out)) == 1

    def test_bad_labels(self, world, asked, labels, tmp_path):
        few = tmp_path / "few.csv"
        few.write_text("\n".join(labels.read_text().splitlines()[:5]))
        words = ["ask", world[0] / "points.csv", "--simulate"]
        assert "does not tell the class of 396 point(s)" in fails(*words, few)
        message = fails(*words, labels, "--blind", code=2)
        assert "--simulate answers by itself; leave out --blind" in message
        message = fails(*words[:2], asked[0], "--simulate", labels, code=2)
        assert "leave out tables of pairs" in message


def test_points_of_audits_that_were_chosen_to_learn_from(world, tmp_path):
    """Rounds without audits ask about any point, and so about the hard ones."""
    folder, _, truth = world
    first, second = tmp_path / "round1.csv", tmp_path / "round2.csv"
    ask(folder / "points.csv", "-n", 30, "-o", first, "--audits", 0)
    answer(first, truth)
    words = folder / "points.csv", first, "-n", 5, "-o", second, "--overwrite"
    said = " ".join(ask(*words).stdout.split())
    assert "put aside for audits were chosen to learn from" in said
    assert "were chosen to learn from" not in ask(*words, "--audits", 0).stdout
    # Pairs of one's own are random, also beside chosen ones.
    read(first).assign(purpose="", round="").to_csv(first, index=False)
    assert "were chosen to learn from" not in " ".join(ask(*words).stdout.split())


def test_rounds_with_one_seed_leave_the_points_of_audits_alone(world, asked, tmp_path):
    words = world[0] / "points.csv", *asked, "-n", 5, "-o", tmp_path / "next.csv"
    assert "chosen to learn from, in" not in " ".join(ask(*words).stdout.split())


def test_random_pairs_without_the_points_chosen_to_learn_from_are_easier(
    world, asked, tmp_path
):
    folder, points, truth = world
    out, own = tmp_path / "model.skops", tmp_path / "own.csv"
    call("fit", folder / "points.csv", *asked, "-o", out)
    ids = np.random.default_rng(0).permutation(points["id"].to_numpy(str))
    pairs = pd.DataFrame({"left": ids[::2], "right": ids[1::2], "answer": ""})
    pairs.to_csv(own, index=False)
    answer(own, truth)
    said = " ".join(call("certify", out, folder / "points.csv", own).stdout.split())
    assert "were left out" in said
    assert "easier than random ones" in said
    said = " ".join(call("certify", out, folder / "points.csv", *asked).stdout.split())
    assert "easier than random ones" not in said
