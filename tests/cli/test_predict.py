"""The command `predict`, from a model and a table to another table."""

import csv

import numpy as np
import pandas as pd
import pytest

import pairlearn
from pairlearn.cli.predict import predict_table
from tests.support.commands import call


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
            (lambda p: p.assign(luck="soon"), "line 2: column 'luck' holds 'soon'"),
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
