"""The commands on tables, from two files to predictions."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import pairlearn
from pairlearn.files.saving import describe
from tests.support.commands import N_POINTS, call, make_tables


class TestFit:
    def test_what_it_prints(self, made):
        folder, *_, result = made
        assert f"{N_POINTS}, 4 columns" in result.stdout
        assert "1 unsure answer(s)" in result.stdout
        assert "column 'name' left out" in result.stdout
        assert "from pairs that the model has not seen" in result.stdout
        assert "Columns that matter most" in result.stdout
        assert f"Model: {folder / 'model.skops'}" in result.stdout
        assert result.stderr == ""

    def test_the_model_is_good_and_rightly_named(self, made):
        folder, points, _, y, _ = made
        model = pairlearn.load(folder / "model.skops")
        predicted = model.predict(points)
        assert np.mean((predicted == "large") == y) > 0.9

    def test_the_model_takes_frames_of_any_types(self, made):
        folder, points, *_ = made
        model = pairlearn.load(folder / "model.skops")
        expected = model.decision_function(points)
        typed = points.assign(
            born=pd.to_datetime(points["born"]),
            colour=points["colour"].astype("category"),
            width=points["width"].astype("Float64"),
            height=[str(x) for x in points["height"]],
        )
        assert np.array_equal(model.decision_function(typed), expected)

    def test_the_certificate_is_of_pairs_whose_points_were_not_seen(self, made):
        folder, points, _, y, _ = made
        about = describe(folder / "model.skops")["about"]
        certificate = about["certificate"]
        assert certificate["cross_validated"] is False
        assert certificate["n_pairs"] >= 20
        assert about["pairs"] + certificate["n_pairs"] == 169
        low, high = certificate["clustering_interval"]
        model = pairlearn.load(folder / "model.skops")
        assert low <= np.mean((model.predict(points) == "large") != y) <= high

    def test_nothing_else_is_written(self, made):
        names = {path.name for path in made[0].iterdir()}
        assert names <= {
            "points.csv", "pairs.csv", "model.skops", "out.csv", "out.tsv",
            "out.parquet",
        }  # fmt: skip

    def test_the_same_seed_makes_the_same_model(self, made, tmp_path):
        folder, points, *_ = made
        words = ["--classes", "small,large", "--majority", "large", "--quiet"]
        result = call(
            "fit", folder / "points.csv", folder / "pairs.csv",
            "-o", tmp_path / "again.skops", *words,
        )  # fmt: skip
        assert result.exit_code == 0
        assert result.stdout == ""
        assert "note: 1 unsure" in result.stderr
        one = pairlearn.load(folder / "model.skops").decision_function(points)
        two = pairlearn.load(tmp_path / "again.skops").decision_function(points)
        assert np.array_equal(one, two)

    @pytest.mark.usefixtures("quick")
    def test_few_pairs_and_no_names(self, tmp_path):
        make_tables(tmp_path, n_pairs=40)
        result = call(
            "fit", tmp_path / "points.csv", tmp_path / "pairs.csv",
            "-o", tmp_path / "m.skops", "--report", tmp_path / "page.html",
        )  # fmt: skip
        assert result.exit_code == 0, result.output
        assert "cross-validated, so an estimate" in result.stdout
        assert "called A and B in no particular order" in result.stdout
        assert "--majority" in result.stdout
        page = (tmp_path / "page.html").read_text()
        assert page.lstrip().lower().startswith("<!doctype html>")
        assert describe(tmp_path / "m.skops")["about"]["classes"] == ["A", "B"]

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["--classes", "one"], "--classes"),
            (["--classes", "a,a"], "--classes"),
            (["--classes", "a,b", "--majority", "c"], "one of the classes, a or b"),
            (["--noise", "often"], "--noise"),
            (["--noise", "0.7"], "--noise"),
            (["--id", "nix"], "no such column"),
            (["--id", "id", "--first-row", "1"], "not both"),
            (["--left", "left"], "both --left and --right"),
            (["--report", "page.txt"], "must end in .html"),
            (["--holdout", "0.9"], "holdout"),
        ],
    )
    def test_wrong_usage_is_code_2(self, made, tmp_path, words, message):
        folder = made[0]
        result = call(
            "fit", folder / "points.csv", folder / "pairs.csv",
            "-o", tmp_path / "m.skops", *words,
        )  # fmt: skip
        assert result.exit_code == 2
        assert message in result.stderr
        assert list(tmp_path.iterdir()) == []

    def test_an_output_that_cannot_be_written(self, made, tmp_path):
        folder = made[0]
        tables = folder / "points.csv", folder / "pairs.csv"
        result = call("fit", *tables, "-o", tmp_path / "no" / "m.skops")
        assert result.exit_code == 1
        assert "no folder" in result.stderr
        result = call("fit", *tables, "-o", tables[0])
        assert result.exit_code == 2
        assert "one of the files that are read" in result.stderr
        assert call("fit", *tables, "-o", tmp_path).exit_code == 2
        assert call("fit", *tables).exit_code == 2
        assert call("fit", tmp_path / "none.csv", tables[1]).exit_code == 2

    def test_problems_in_the_data_are_code_1_and_leave_the_old_model(
        self, made, tmp_path
    ):
        old = tmp_path / "m.skops"
        old.write_bytes(b"old")
        pairs = tmp_path / "pairs.csv"
        pairs.write_text("left,right,answer\np001,p002,same\np003,p004,same\n")
        result = call("fit", made[0] / "points.csv", pairs, "-o", old)
        assert result.exit_code == 1
        assert "all are answered 'same'" in result.stderr
        assert "Traceback" not in result.output
        assert old.read_bytes() == b"old"
        assert {path.name for path in tmp_path.iterdir()} == {"m.skops", "pairs.csv"}

    @pytest.mark.usefixtures("quick")
    def test_answers_that_columns_do_not_explain_are_told(self, tmp_path):
        make_tables(tmp_path, n_pairs=120)
        pairs = pd.read_csv(tmp_path / "pairs.csv")
        rng = np.random.default_rng(1)
        pairs["answer"] = rng.choice(["same", "different"], len(pairs))
        pairs.to_csv(tmp_path / "pairs.csv", index=False)
        result = call(
            "fit", tmp_path / "points.csv", tmp_path / "pairs.csv",
            "-o", tmp_path / "m.skops",
        )  # fmt: skip
        assert result.exit_code == 0
        assert "do not show that the model is better than chance" in result.stdout


class TestCertify:
    def test_pairs_that_the_model_knows_are_left_out(self, made):
        folder = made[0]
        result = call(
            "certify", folder / "model.skops", folder / "points.csv",
            folder / "pairs.csv",
        )  # fmt: skip
        assert result.exit_code == 0, result.output
        about = describe(folder / "model.skops")["about"]
        kept = about["certificate"]["n_pairs"]
        # The same pairs that were kept aside, so the same certificate.
        assert f"95% confidence, {kept} pairs" in result.stdout
        error = about["certificate"]["clustering_error"]
        assert f"{error:.1%}, at most" in result.stdout
        n = 170 - kept
        assert f"{n} of 170 pairs have points that the model" in result.stdout
        # Was and now, which are of the same pairs.
        assert f"error was  {error:.1%}, between" in result.stdout
        assert f"when the model was made, {kept} pairs kept aside" in result.stdout
        assert f"error now  {error:.1%}, at most" in result.stdout

    def test_fresh_points_are_all_used(self, made, tmp_path):
        folder = made[0]
        make_tables(tmp_path, seed=5, n_pairs=200)
        pairs = pd.read_csv(tmp_path / "pairs.csv")
        pairs = pairs[pairs["answer"] != "unsure"]
        pairs = pairs.assign(left="new-" + pairs["left"], right="new-" + pairs["right"])
        pairs.to_csv(tmp_path / "pairs.csv", index=False)
        points = pd.read_csv(tmp_path / "points.csv")
        points.assign(id="new-" + points["id"]).to_csv(
            tmp_path / "points.csv", index=False
        )
        result = call(
            "certify", folder / "model.skops", tmp_path / "points.csv",
            tmp_path / "pairs.csv", "--confidence", "0.9",
        )  # fmt: skip
        assert result.exit_code == 0, result.output
        assert "90% confidence, 199 pairs" in result.stdout

    def test_no_fresh_pair_is_an_error(self, made, tmp_path):
        folder, _, pairs, *_ = made
        about = describe(folder / "model.skops")["about"]
        assert len(about["seen"]["ids"]) == 10 * about["points"]
        model, points = folder / "model.skops", folder / "points.csv"
        for k in range(169):
            pairs.iloc[[k]].to_csv(tmp_path / "one.csv", index=False)
            result = call("certify", model, points, tmp_path / "one.csv")
            if "learned from" in result.stderr:
                break
        assert result.exit_code == 1
        assert "needs fresh random pairs" in result.stderr

    @pytest.mark.parametrize("words", [["--confidence", "2"], ["--noise", "0.5"]])
    def test_wrong_usage(self, made, words):
        folder = made[0]
        tables = folder / "points.csv", folder / "pairs.csv"
        result = call("certify", folder / "model.skops", *tables, *words)
        assert result.exit_code == 2


class TestExplain:
    def test_columns_that_matter_come_first(self, made):
        folder = made[0]
        for words in ([], [folder / "points.csv"]):
            result = call("explain", folder / "model.skops", *words)
            assert result.exit_code == 0, result.output
            *listed, last = result.stdout.splitlines()[1:]
            listed = [line.split()[0] for line in listed]
            assert last.startswith("SHA-256 of the model file: ")
            assert set(listed) == {"width", "height", "luck", "colour"}
            assert set(listed[:3]) == {"width", "height", "colour"}

    def test_a_linear_model_shows_its_weights(self, made, tmp_path):
        _, points, _, y, _ = made
        X = points[["width", "height", "luck"]].fillna(0)
        pairs, t = pairlearn.Pairs.sample(X, 150, y, random_state=0)
        clf = pairlearn.CIPSClassifier(random_state=0).fit(pairs, t)
        pairlearn.save(clf, tmp_path / "linear.skops")
        result = call("explain", tmp_path / "linear.skops")
        assert result.exit_code == 0, result.output
        lines = result.stdout.splitlines()
        assert lines[0].startswith("Weights")
        assert lines[-2].startswith("luck")

    def test_a_file_that_is_no_model(self, tmp_path):
        bad = tmp_path / "bad.skops"
        for content in (b"", b"nonsense", b"PK\x03\x04nonsense"):
            bad.write_bytes(content)
            result = call("explain", bad)
            assert result.exit_code == 1
            assert "bad.skops" in result.stderr
            assert "Traceback" not in result.output


def start(*words, **options):
    return subprocess.Popen(
        [sys.executable, "-m", "pairlearn", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


class TestProcesses:
    def test_exit_codes(self, made, tmp_path):
        folder = made[0]
        process = start(
            "check", folder / "points.csv", folder / "pairs.csv",
            env={**os.environ, "PYTHONIOENCODING": "ascii"},
        )  # fmt: skip
        out, err = process.communicate(timeout=600)
        assert (process.returncode, err) == (0, "")
        assert "for a certificate" in out
        bad = tmp_path / "bad.csv"
        bad.write_text("left,right,answer\np001,p002\n")
        process = start("check", folder / "points.csv", bad)
        out, err = process.communicate(timeout=600)
        assert (process.returncode, out) == (1, "")
        assert "bad.csv, line 2: 2 cells" in err
        assert "Traceback" not in err
