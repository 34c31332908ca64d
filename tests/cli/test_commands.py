"""The commands on tables, from two files to predictions."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import pairlearn
from pairlearn.cli.app import app
from pairlearn.cli.outputs import check_output
from pairlearn.cli.predict import predict_table
from pairlearn.files.saving import describe
from pairlearn.system.writing import replacing
from pairlearn.trust.certify import keep_aside

N_POINTS = 400
COLOURS = ("red", "green")


def call(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def make_tables(folder, *, n_pairs=170, seed=0):
    """Two groups that numbers, a category and a date tell apart; most are 'large'."""
    rng = np.random.default_rng(seed)
    y = np.arange(N_POINTS) % 10 < 7
    x = rng.normal(size=(N_POINTS, 3)) + 1.6 * y[:, None] * [1, 1, 0]
    colour = np.where(rng.random(N_POINTS) < 0.9, y, ~y).astype(int)
    points = pd.DataFrame(
        {
            "id": [f"p{k:03}" for k in range(N_POINTS)],
            "width": x[:, 0].round(4),
            "height": x[:, 1].round(4),
            "luck": x[:, 2].round(4),
            "colour": [COLOURS[k] for k in colour],
            "born": [f"2024-0{k % 9 + 1}-11" for k in range(N_POINTS)],
            "name": [f"Person {k}" for k in range(N_POINTS)],
        }
    )
    points.loc[5, "width"] = np.nan
    points.loc[7, "colour"] = None
    points.to_csv(folder / "points.csv", index=False)
    order = rng.permutation(N_POINTS)[: 2 * n_pairs].reshape(-1, 2)
    answers = ["same" if y[a] == y[b] else "different" for a, b in order]
    answers[3] = "unsure"
    rows = [
        (f"p{a:03}", f"p{b:03}", t) for (a, b), t in zip(order, answers, strict=True)
    ]
    pairs = pd.DataFrame(rows, columns=["left", "right", "answer"])
    pairs.to_csv(folder / "pairs.csv", index=False)
    return points, pairs, y


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Tables and a model of them, made once."""
    folder = tmp_path_factory.mktemp("made")
    points, pairs, y = make_tables(folder)
    result = call(
        "fit", folder / "points.csv", folder / "pairs.csv",
        "-o", folder / "model.skops", "--classes", "small,large",
        "--majority", "large",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    return folder, points, pairs, y, result


class TestFit:
    def test_what_it_prints(self, made):
        folder, *_, result = made
        assert f"{N_POINTS}, 5 columns" in result.stdout
        assert "1 unsure answer(s) left out" in result.stdout
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
            (["--report", "page.txt"], "must end in one of .html"),
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


class TestKeepAside:
    def pairs(self, index, n_points=400):
        return pairlearn.Pairs(np.zeros((n_points, 1)), index)

    def test_no_point_is_on_both_sides(self):
        rng = np.random.RandomState(0)
        index = rng.randint(400, size=(300, 2))
        index = index[index[:, 0] != index[:, 1]]
        pairs = self.pairs(index)
        t = rng.choice([-1.0, 1.0], len(index))
        trained, kept = keep_aside(pairs, t, 0.2, rng)
        assert 40 <= len(kept) <= 60
        assert len(trained) >= 0.7 * len(pairs)
        assert pairs[kept].is_disjoint()
        assert not set(pairs[kept].used_points()) & set(pairs[trained].used_points())

    def test_pairs_that_share_no_point_are_all_used(self):
        rng = np.random.RandomState(0)
        pairs = self.pairs(rng.permutation(400).reshape(-1, 2))
        t = rng.choice([-1.0, 1.0], 200)
        trained, kept = keep_aside(pairs, t, 0.25, rng)
        assert (len(trained), len(kept)) == (150, 50)

    def test_dense_pairs_still_leave_a_certificate(self):
        rng = np.random.RandomState(0)
        index = rng.randint(570, size=(1000, 2))
        pairs = self.pairs(index[index[:, 0] != index[:, 1]], 570)
        t = rng.choice([-1.0, 1.0], len(pairs))
        trained, kept = keep_aside(pairs, t, 0.2, rng)
        assert len(kept) >= 50
        assert len(trained) >= 0.7 * len(pairs)
        assert not set(pairs[kept].used_points()) & set(pairs[trained].used_points())

    @pytest.mark.parametrize("share", [0.0, 0.2])
    def test_where_none_can_be_kept_all_train(self, share):
        rng = np.random.RandomState(0)
        star = np.stack([np.zeros(200, int), np.arange(1, 201)], axis=1)
        t = rng.choice([-1.0, 1.0], 200)
        trained, kept = keep_aside(self.pairs(star), t, share, rng)
        assert (len(trained), len(kept)) == (200, 0)


class TestPredict:
    @pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet"])
    def test_classes_and_probabilities(self, made, suffix):
        folder, points, *_ = made
        out = folder / f"out.{suffix}"
        result = call(
            "predict", folder / "model.skops", folder / "points.csv", "-o", out
        )
        assert result.exit_code == 0, result.output
        assert "400 points" in result.stdout
        table = (
            pd.read_parquet(out)
            if suffix == "parquet"
            else pd.read_csv(out, sep="\t" if suffix == "tsv" else ",")
        )
        assert list(table) == ["id", "class", "probability_small", "probability_large"]
        assert table["id"].tolist() == points["id"].tolist()
        model = pairlearn.load(folder / "model.skops")
        assert table["class"].tolist() == model.predict(points).tolist()
        expected = model.predict_proba(points)
        np.testing.assert_allclose(table.iloc[:, 2:], expected, rtol=1e-5)

    def test_columns_in_any_order_and_more_of_them(self, made, tmp_path):
        folder, points, *_ = made
        mixed = points[points.columns[::-1]].assign(more=1)
        mixed.to_parquet(tmp_path / "points.parquet")
        out = tmp_path / "out.csv"
        result = call(
            "predict", folder / "model.skops", tmp_path / "points.parquet", "-o", out
        )
        assert result.exit_code == 0, result.output
        model = pairlearn.load(folder / "model.skops")
        assert pd.read_csv(out)["class"].tolist() == model.predict(points).tolist()

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda p: p.drop(columns=["width", "luck"]), "'width', 'luck'"),
            (
                lambda p: p.assign(luck=["wide" if k == 9 else 1 for k in range(400)]),
                "points.csv, line 11: column 'luck' holds 'wide', but held numbers",
            ),
            (lambda p: p.assign(born="soon"), "line 2: column 'born' holds 'soon'"),
            (lambda p: p.iloc[:0], "has a header but no rows"),
        ],
    )
    def test_a_table_that_does_not_fit(self, made, tmp_path, change, message):
        folder, points, *_ = made
        change(points).to_csv(tmp_path / "points.csv", index=False)
        out = tmp_path / "out.csv"
        out.write_text("old")
        result = call(
            "predict", folder / "model.skops", tmp_path / "points.csv", "-o", out
        )
        assert result.exit_code == 1
        assert message in result.stderr
        assert out.read_text() == "old"
        assert {p.name for p in tmp_path.iterdir()} == {"points.csv", "out.csv"}

    def test_new_categories_are_counted_and_told(self, made, tmp_path):
        folder, points, *_ = made
        points.assign(colour=["mauve"] * 7 + ["red"] * 393).to_csv(
            tmp_path / "points.csv", index=False
        )
        result = call(
            "predict", folder / "model.skops", tmp_path / "points.csv",
            "-o", tmp_path / "out.csv",
        )  # fmt: skip
        assert result.exit_code == 0
        assert "7 point(s) have a category that the model has never" in result.stdout
        assert "'mauve'" in result.stdout

    def test_formulas_are_written_as_they_are_and_told(self, made, tmp_path):
        folder, points, *_ = made
        ids = points["id"].tolist()
        ids[:3] = ["=1+1", "@x", "-5"]
        points.assign(id=ids).to_csv(tmp_path / "points.csv", index=False)
        out = tmp_path / "out.csv"
        result = call(
            "predict", folder / "model.skops", tmp_path / "points.csv", "-o", out
        )
        assert "2 id(s) begin with =" in result.stdout
        assert pd.read_csv(out)["id"].tolist() == ids

    def test_without_ids_rows_are_numbered(self, made, tmp_path):
        folder, points, *_ = made
        points.drop(columns=["id", "name"]).to_csv(tmp_path / "points.csv", index=False)
        out = tmp_path / "out.csv"
        result = call(
            "predict", folder / "model.skops", tmp_path / "points.csv", "-o", out
        )
        assert "its rows are numbered from 1" in result.stdout
        assert pd.read_csv(out)["id"].tolist() == list(range(1, 401))

    def test_the_output_must_not_be_an_input(self, made):
        folder = made[0]
        points = folder / "points.csv"
        before = points.read_bytes()
        result = call("predict", folder / "model.skops", points, "-o", points)
        assert result.exit_code == 2
        assert points.read_bytes() == before
        assert call("predict", folder / "model.skops", points, "-o", "x.xls").exit_code

    def test_memory_does_not_grow_with_the_file(self, made, tmp_path):
        """Parts are let go of: of many, no more than two are alive at a time."""
        points = made[1]
        big = pd.concat([points] * 30)
        big["id"] = [f"q{k}" for k in range(len(big))]
        big.to_csv(tmp_path / "points.csv", index=False)
        seen = []

        class Model:
            classes_ = np.array(["a", "b"])

            def predict(self, frame):
                return np.array(["a"] * len(frame))

            def predict_proba(self, frame):
                seen.append(len(frame))
                return np.full((len(frame), 2), 0.5)

        about = {"columns": [["width", "numbers", "point"]], "id": "id"}
        found = predict_table(
            Model(), about, tmp_path / "points.csv", tmp_path / "out.csv", chunk=500
        )
        assert found.n_points == 12_000
        assert seen == [500] * 24
        with (tmp_path / "out.csv").open() as file:
            assert [row[0] for row in csv.reader(file)][1:] == big["id"].tolist()


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
        assert f"{error:.1%}, between" in result.stdout
        assert f"{169 - kept} of 169 pairs have points that the model" in result.stdout

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
            assert set(listed) == {"width", "height", "luck", "colour", "born"}
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


class TestCheck:
    def test_contradictions_components_and_closure(self, tmp_path):
        (tmp_path / "points.csv").write_text(
            "id,x\n" + "".join(f"{c},{k * k}\n" for k, c in enumerate("abcdefgh"))
        )
        (tmp_path / "pairs.csv").write_text(
            "left,right,answer\na,b,same\nb,c,same\nc,a,different\n"
            "d,e,different\ne,f,different\nd,f,same\nb,a,same\ng,g,same\n"
        )
        tables = tmp_path / "points.csv", tmp_path / "pairs.csv"
        result = call("check", *tables)
        assert result.exit_code == 0, result.output
        text = " ".join(result.stdout.split())
        assert "points 8; 2 in no answered pair" in text
        assert "6: 3 same, 3 different" in text
        assert "2 groups of points" in text
        assert "contradictions 1" in text
        assert "redundant 2 answers" in text
        assert "known answers 3 pairs, given or implied" in text
        for line in ("line 2: a and b are same", "line 4: c and a are different"):
            assert line in text
        assert "1 pair(s) were answered more than once (2 answers)" in text
        assert call("check", *tables, "--strict").exit_code == 1
        assert {p.name for p in tmp_path.iterdir()} == {"points.csv", "pairs.csv"}

    def test_strange_names_are_printed_harmlessly(self, tmp_path):
        (tmp_path / "points.csv").write_text(
            "id,[red]x[/nothing],:smile:\n"
            + "".join(f"\x1b[31m{c},{k * k},{k}\n" for k, c in enumerate("abcd"))
        )
        (tmp_path / "pairs.csv").write_text(
            "left,right,answer\n"
            + "".join(
                f"\x1b[31m{a},\x1b[31m{b},{t}\n"
                for a, b, t in ("ab1", "bc1", ("a", "c", "-1"))
            )
        )
        result = call("check", tmp_path / "points.csv", tmp_path / "pairs.csv")
        assert result.exit_code == 0, result.output
        assert "[red]x[/nothing]" in result.stdout
        assert ":smile:" in result.stdout
        assert "\x1b[31m" not in result.stdout


class TestHelp:
    def test_it_is_an_introduction(self):
        result = call("--help")
        for words in (
            "left,right,answer", "pairlearn check points.csv", "pairlearn fit",
            "pairlearn predict", "certify", "explain", "plan", "demo", "reproduce",
        ):  # fmt: skip
            assert words in result.stdout

    @pytest.mark.parametrize(
        "command", ["fit", "predict", "certify", "explain", "check"]
    )
    def test_every_command_has_an_example(self, command):
        result = call(command, "--help")
        assert result.exit_code == 0
        assert f"pairlearn {command} " in result.stdout.partition("Example:")[2]

    def test_it_needs_no_heavy_import(self):
        code = (
            "import sys, pairlearn.cli.app; "
            "print([m for m in ('pandas', 'sklearn', 'scipy', 'pyarrow', 'torch', "
            "'matplotlib') if m in sys.modules])"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == "[]"


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


class TestFiles:
    def test_replacing_is_all_or_nothing(self, tmp_path):
        path = tmp_path / "out.csv"
        path.write_text("old")
        path.chmod(0o600)

        def interrupted():
            with replacing(path) as partial:
                partial.write_text("half")
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            interrupted()
        assert path.read_text() == "old"
        with replacing(path) as partial:
            assert partial.suffix == ".csv"
            partial.write_text("new")
            assert path.read_text() == "old"
        assert path.read_text() == "new"
        assert path.stat().st_mode & 0o777 == 0o600
        assert [p.name for p in tmp_path.iterdir()] == ["out.csv"]

    def test_a_long_name_can_be_written(self, tmp_path):
        path = tmp_path / ("x" * 240 + ".csv")
        with replacing(path) as partial:
            partial.write_text("new")
        assert path.read_text() == "new"

    def test_a_relative_name_is_in_this_folder(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        check_output(Path("out.csv"), "--out", (".csv",))


@pytest.mark.parametrize(("yes", "no"), [("yes", "no"), ("1", "0"), ("True", "False")])
def test_yes_to_another_question_is_refused(tmp_path, yes, no):
    """In a column called `different`, yes would mean the opposite of same."""
    (tmp_path / "points.csv").write_text("id,x\na,1\nb,2\nc,3\nd,4\n")
    pairs = tmp_path / "pairs.csv"
    pairs.write_text(f"left,right,different\na,b,{yes}\nc,d,{no}\na,c,{yes}\n")
    options = ["check", str(tmp_path / "points.csv"), str(pairs), "--answer"]
    result = CliRunner().invoke(app, [*options, "different"])
    assert result.exit_code == 1
    assert "yes would mean different there" in result.stderr
    pairs.write_text("left,right,different\na,b,same\nc,d,different\na,c,same\n")
    assert CliRunner().invoke(app, [*options, "different"]).exit_code == 0


@pytest.mark.parametrize("kind", ["timestamp", "date", "utc"])
def test_dates_with_a_type_of_their_own_are_used(tmp_path, kind):
    """A date of a Parquet file has no day or month that might come first."""
    days = pd.Series(pd.date_range("2024-01-05", periods=8, freq="9D"))
    when = {"timestamp": days, "date": days.dt.date, "utc": days.dt.tz_localize("UTC")}
    points = pd.DataFrame({"id": list("abcdefgh"), "when": when[kind]})
    points.to_parquet(tmp_path / "points.parquet")
    (tmp_path / "pairs.csv").write_text("left,right,answer\na,b,same\nc,d,different\n")
    result = CliRunner().invoke(
        app, ["check", str(tmp_path / "points.parquet"), str(tmp_path / "pairs.csv")]
    )
    assert result.exit_code == 0
    assert "dates, as days" in result.stdout
    assert "left out" not in result.stdout + result.stderr
