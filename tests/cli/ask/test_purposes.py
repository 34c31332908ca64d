"""Audits among the questions: who learns from them, and what they certify."""

import re

import numpy as np
import pandas as pd

import pairlearn
from pairlearn.cli.training_points import find_known_points
from pairlearn.files.saving import describe
from pairlearn.files.tables.purposes import read_key
from tests.support.commands import call
from tests.support.rounds import answer, ask, edited, fails, read


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
