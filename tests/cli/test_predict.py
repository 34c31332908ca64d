"""The command `predict`, from a model and a table to another table."""

import csv

import numpy as np
import pandas as pd
import pytest

import pairlearn
from pairlearn.cli.predict import _rows_of_part, predict_table
from pairlearn.files.saving import describe
from pairlearn.files.tables.errors import TableError
from pairlearn.files.tables.reading import CHUNK_ROWS, read_table
from pairlearn.models.auto.fused import MANY_POINTS
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

    @pytest.mark.parametrize("suffix", ["csv", "tsv"])
    @pytest.mark.parametrize("plain", [True, False])
    def test_the_bytes_are_those_of_the_csv_module(self, made, tmp_path, suffix, plain):
        """All kinds of columns, missing cells and new categories, in several parts."""
        folder, points, *_ = made
        points = points.copy()
        if not plain:
            ids = ["a,b", 'say "so"', "tab\there", "größer", "x y", "%s", "two\nlines"]
            points.loc[points.index[: len(ids)], "id"] = ids
        points.loc[points.index[20:30], "width"] = np.nan
        points["colour"] = points["colour"].astype(object)
        points.loc[points.index[25:40], "colour"] = "mauve"
        points.to_csv(tmp_path / "points.csv", index=False)
        model = pairlearn.load(folder / "model.skops")
        about = describe(folder / "model.skops")["about"]
        out = tmp_path / f"out.{suffix}"
        found = predict_table(model, about, tmp_path / "points.csv", out, chunk=70)
        assert found.n_points == 400
        assert found.new == {"colour": {"mauve": 15}}
        table = read_table(tmp_path / "points.csv")
        cells = {name: table.columns[name].tolist() for name in points}
        with (tmp_path / "expected").open("w", encoding="utf-8", newline="") as file:
            delimiter = "," if suffix == "csv" else "\t"
            rows = csv.writer(file, delimiter=delimiter, lineterminator="\n")
            rows.writerow(["id", "class", "probability_small", "probability_large"])
            shares = model.predict_proba(pd.DataFrame(cells, dtype=object))
            for name, share in zip(cells["id"], shares.tolist(), strict=True):
                label = model.classes_[int(np.argmax(share))]
                rows.writerow([name, label, *(f"{p:.6g}" for p in share)])
        assert out.read_bytes() == (tmp_path / "expected").read_bytes()

    def test_the_first_mistake_is_told(self, made, tmp_path):
        """A cell that does not fit comes before a row that cannot be read."""
        folder, points, *_ = made
        points.assign(luck=["wide" if k == 9 else 1 for k in range(400)]).to_csv(
            tmp_path / "points.csv", index=False
        )
        with (tmp_path / "points.csv").open("a") as file:
            file.write("too,few\n")
        model = pairlearn.load(folder / "model.skops")
        about = describe(folder / "model.skops")["about"]
        with pytest.raises(TableError, match=r"line 11: column 'luck' holds 'wide'"):
            predict_table(
                model, about, tmp_path / "points.csv", tmp_path / "out.csv", chunk=100
            )
        assert not (tmp_path / "out.csv").exists()

    def test_parts_are_long_where_cells_are_short(self):
        """Long enough for compiled loops; texts and wide tables fill the memory."""
        few = [[f"x{k}", "numbers", "point"] for k in range(20)]
        words = [["words", "text", ""]]
        many = [[f"x{k}", "numbers", "point"] for k in range(2000)]
        rows = [
            _rows_of_part({"columns": columns}, [name for name, *_ in columns])
            for columns in (few, words, few + words, many)
        ]
        assert rows[0] >= MANY_POINTS
        assert rows[1:] == [CHUNK_ROWS] * 3

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
