"""What a stranger meets: names that stay, dates, new points, suspicious answers."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from pairlearn.cli.dates import leave_out_idle_dates
from pairlearn.cli.errors_before import change_in_words, error_before, was_rows
from pairlearn.cli.fit import FitOptions
from pairlearn.cli.kept_names import name_groups_of, names_like
from pairlearn.cli.looks import ALPHA, NewPoints, looks_of
from pairlearn.cli.predict import predict_table
from pairlearn.files.tables.answered_pairs import read_answers
from pairlearn.files.tables.encoder import ReadDates
from pairlearn.files.tables.errors import TableError
from pairlearn.files.tables.points import read_points
from pairlearn.files.tables.reading import read_chunks
from pairlearn.trust.certificate import certificate_from_counts
from tests.support.commands import call
from tests.support.stored import Events


def random_points(rng, n, shift=0.0):
    """Five columns: numbers, one of them rounded, a category, a date, and gaps."""
    frame = pd.DataFrame(
        {
            "id": [f"p{k}" for k in range(n)],
            "x": rng.normal(size=n) + shift,
            "rounded": rng.integers(4, size=n),
            "gaps": np.where(rng.random(n) < 0.3, np.nan, rng.exponential(size=n)),
            "colour": rng.choice(["red", "blue", "green"], n, p=[0.6, 0.3, 0.1]),
            "day": [f"2024-{k % 12 + 1:02}-{k % 28 + 1:02}" for k in range(n)],
        }
    )
    return frame.sample(frac=1, random_state=rng.integers(2**31))


class TestNewPoints:
    @pytest.fixture(scope="class")
    @staticmethod
    def looks(tmp_path_factory):
        path = tmp_path_factory.mktemp("looks") / "points.csv"
        random_points(np.random.default_rng(0), 300).to_csv(path, index=False)
        return looks_of(read_points(path))

    def notes(self, tmp_path, looks, frame, *, chunk=10_000):
        frame.to_csv(tmp_path / "new.csv", index=False)
        new = NewPoints(None, {"looks": looks})
        for _ in new.watch(read_chunks(tmp_path / "new.csv", chunk)):
            pass
        return new.notes()

    def test_points_of_the_same_kind_raise_no_alarm(self, tmp_path_factory):
        """Both tables are drawn anew each time; at most 2 of 100 may be unlucky."""
        folder, rng = tmp_path_factory.mktemp("alarms"), np.random.default_rng(1)
        alarms = 0
        for _ in range(40):
            random_points(rng, 80).to_csv(folder / "points.csv", index=False)
            looks = looks_of(read_points(folder / "points.csv"))
            alarms += bool(self.notes(folder, looks, random_points(rng, 60)))
        assert ALPHA <= 0.01
        assert alarms <= 1

    @pytest.mark.parametrize(
        ("change", "told"),
        [
            (lambda p: p.assign(x=p["x"] + 1.0), "in column 'x' .*% are at most"),
            (
                lambda p: p.assign(colour="green"),
                r"in column 'colour' 100% are 'green' \(8% before\)",
            ),
            (
                lambda p: p.assign(gaps=np.nan),
                r"in column 'gaps' 100% of its cells are missing \(\d\d% before\)",
            ),
            (lambda p: p.assign(rounded=3), r"'rounded' 0% are at most 2 \(7\d% befo"),
            (lambda p: p.assign(day="2025-01-01"), "'day' 0% are at most 2024-"),
        ],
    )
    def test_a_shift_of_one_column_is_told(self, tmp_path, looks, change, told):
        new = change(random_points(np.random.default_rng(2), 200))
        (note,) = self.notes(tmp_path, looks, new)
        assert "look unlike those that the model was made with: " in note
        assert pd.Series([note]).str.contains(told).all(), note

    def test_parts_of_a_table_count_together(self, tmp_path, looks):
        new = random_points(np.random.default_rng(2), 200, shift=1.0)
        whole = self.notes(tmp_path, looks, new)
        assert whole == self.notes(tmp_path, looks, new, chunk=7)

    def test_a_few_points_prove_nothing(self, tmp_path, looks):
        new = random_points(np.random.default_rng(2), 3, shift=2.0)
        assert self.notes(tmp_path, looks, new) == []

    def test_what_is_stored_is_short_and_holds_no_point(self, tmp_path, looks):
        assert json.loads(json.dumps(looks)) == looks
        frame = random_points(np.random.default_rng(0), 20_000)
        frame.to_csv(tmp_path / "many.csv", index=False)
        many = looks_of(read_points(tmp_path / "many.csv"))
        assert len(json.dumps(many)) < 1.5 * len(json.dumps(looks)) < 6000

    @pytest.mark.parametrize(
        "forged",
        [
            "text",
            [{"name": "x"}],
            [{"name": "x", "kind": "numbers", "form": "x", "cuts": [1], "shares": [1]}],
            [{"name": "x", "kind": "numbers", "form": "point", "cuts": [2, 1],
              "shares": [0.1, 0.2], "n": 5, "n_all": 5}],
            [{"name": "x", "kind": "categories", "names": ["a"], "shares": [7],
              "n": 5, "n_all": 5}],
        ],
    )  # fmt: skip
    def test_a_forged_description_is_left_out(self, tmp_path, forged):
        new = random_points(np.random.default_rng(2), 50, shift=9.0)
        assert self.notes(tmp_path, forged, new) == []


class _Sided:
    """A model that puts all points on the side that their column x says."""

    feature_names_in_ = np.array(["x"])

    def __init__(self, names=("A", "B")):
        self.classes_ = np.array(names)
        self._order = np.arange(len(names))

    def __getitem__(self, step):
        return self

    def set_params(self, classes):
        self.classes = classes

    def _reorder(self, order):
        self._order = self._order[order]

    def predict_proba(self, frame):
        x = frame["x"].to_numpy(dtype=float)
        group = np.clip(np.floor(x), 0, len(self.classes_) - 1).astype(int)
        return np.eye(len(self.classes_))[group][:, self._order]

    def predict(self, frame):
        return self.classes_[self.predict_proba(frame).argmax(axis=1)]


class TestPredict:
    def test_an_empty_group_is_told(self, tmp_path):
        path = tmp_path / "points.csv"
        pd.DataFrame({"id": range(30), "x": 0.5}).to_csv(path, index=False)
        found = predict_table(_Sided(), {}, path, tmp_path / "out.csv", id="id")
        assert found.counts == {"A": 30, "B": 0}
        assert "no point is in the group 'B'" in found.notes[-1]
        pd.DataFrame({"id": range(2), "x": 0.5}).to_csv(path, index=False)
        found = predict_table(_Sided(), {}, path, tmp_path / "out.csv", id="id")
        assert found.notes == []

    def test_the_points_of_the_fit_look_like_themselves(self, made, tmp_path):
        folder, points, *_ = made
        model = folder / "model.skops"
        result = call("predict", model, folder / "points.csv", "-o", tmp_path / "a.csv")
        assert result.exit_code == 0, result.output
        assert "unlike" not in result.stdout
        shifted = points.assign(width=points["width"] + 2)
        shifted.to_csv(tmp_path / "new.csv", index=False, sep="#")
        result = call(
            "predict", model, tmp_path / "new.csv", "-o", tmp_path / "b.csv",
            "--delimiter", "#",
        )  # fmt: skip
        assert result.exit_code == 0, result.output
        assert "look unlike those that the model was made with: in column 'width'" in (
            " ".join(result.stdout.split())
        )


class TestDates:
    def answered(self, tmp_path, *, telling):
        rng = np.random.default_rng(0)
        n = 300
        y = np.arange(n) % 2
        x = rng.normal(size=n) + 1.2 * y
        months = rng.integers(1, 7, size=n) + (6 * y if telling else 0)
        points = pd.DataFrame({"id": range(n), "x": x})
        points["day"] = [f"2024-{month:02}-15" for month in months]
        points.to_csv(tmp_path / "points.csv", index=False)
        index = rng.permutation(n).reshape(-1, 2)
        said = np.where(y[index[:, 0]] == y[index[:, 1]], "same", "different")
        pairs = pd.DataFrame(index, columns=["left", "right"]).assign(answer=said)
        pairs.to_csv(tmp_path / "pairs.csv", index=False)
        return read_answers(tmp_path / "points.csv", tmp_path / "pairs.csv")

    def test_those_that_help_stay(self, tmp_path):
        answered = self.answered(tmp_path, telling=True)
        assert leave_out_idle_dates(answered, np.arange(len(answered)), 2, 0) == []
        assert list(answered.pairs.X.columns) == ["x", "day"]

    def test_those_that_do_not_help_are_left_out_and_told(self, tmp_path):
        answered = self.answered(tmp_path, telling=False)
        assert list(answered.pairs.X.columns) == ["x", "day"]
        (note,) = leave_out_idle_dates(answered, np.arange(len(answered)), 2, 0)
        assert "column 'day' holds dates and is left out" in note
        assert list(answered.pairs.X.columns) == ["x"]
        assert list(answered.with_unsure[0].X.columns) == ["x"]
        assert list(answered.points.whole_frame.columns) == ["x", "day"]
        assert [c.kind for c in answered.points.columns] == ["numbers", "left out"]

    def test_without_other_columns_they_stay(self, tmp_path):
        answered = self.answered(tmp_path, telling=True)
        answered.leave_out({"x": "for the test"})
        assert leave_out_idle_dates(answered, np.arange(len(answered)), 2, 0) == []

    def test_days_beyond_the_range_count_as_its_ends_and_are_told(self, tmp_path):
        then = pd.DataFrame({"day": ["2024-03-01", None, "2024-05-01"]})
        now = pd.DataFrame({"day": ["2020-01-01", "2024-04-01", "2030-01-01", None]})
        read = ReadDates().fit(then)
        first, middle, last, missing = read.transform(now)[:, 0]
        assert (first, last) == tuple(read.transform(then)[[0, 2], 0])
        assert first < middle < last
        assert np.isnan(missing)
        now.to_csv(tmp_path / "new.csv", index=False)
        steps = SimpleNamespace(named_transformers_={"dates (year first)": [read]})
        new = NewPoints([SimpleNamespace(transformer_=steps)], {})
        for _ in new.watch(read_chunks(tmp_path / "new.csv", 2)):
            pass
        before, after = new.notes()
        assert "1 point(s) have dates before 2024-03-01, the first that the" in before
        assert "1 point(s) have dates after 2024-05-01, the last that the mod" in after


class TestNames:
    @pytest.fixture
    @staticmethod
    def points(tmp_path):
        path = tmp_path / "points.csv"
        rows = [f"p{k},{k % 3}.5\n" for k in range(30)]
        path.write_text("id,x\n" + "".join(rows))
        return read_points(path)

    @pytest.fixture
    @staticmethod
    def old(monkeypatch, tmp_path):
        """Let an old model be loaded that is not in a file."""

        def go(model):
            monkeypatch.setattr("pairlearn.load", lambda _: model)
            return tmp_path / "old.skops"

        return go

    def test_names_of_an_older_model_are_kept(self, points, old):
        before, model = _Sided(("ill", "well", "dead")), _Sided(("A", "B", "C"))
        model._reorder(np.array([2, 0, 1]))
        notes = names_like(model, points.frame, old(before), may_change=True)
        assert model.classes_.tolist() == ["ill", "well", "dead"]
        assert model.predict(points.frame).tolist() == (
            before.predict(points.frame).tolist()
        )
        assert "agree about 100.0% of the points" in notes[0]
        assert len(notes) == 1

    def test_groups_that_are_new_or_gone_are_told(self, points, old):
        model = _Sided(("A", "B", "C"))
        notes = names_like(
            model, points.frame, old(_Sided(("ill", "well"))), may_change=True
        )
        assert model.classes_.tolist() == ["ill", "well", "A"]
        assert notes[-1] == "A is new: old.skops has no group like it"
        model = _Sided(("A", "B"))
        notes = names_like(
            model, points.frame, old(_Sided(("u", "v", "w"))), may_change=True
        )
        assert model.classes_.tolist() == ["u", "v"]
        assert any("no group is like 'w' of old.skops" in note for note in notes)

    def test_names_that_would_swap_are_told(self, points, old):
        model = _Sided(("well", "ill"))
        notes = names_like(
            model, points.frame, old(_Sided(("ill", "well"))), may_change=False
        )
        assert len(notes) == 2
        assert "most of what old.skops calls 'ill' is called 'well' now" in notes[0]
        assert model.classes_.tolist() == ["well", "ill"]
        same = names_like(
            model, points.frame, old(_Sided(("well", "ill"))), may_change=False
        )
        assert same == []

    def test_a_model_of_other_points_is_refused(self, made, points):
        why = r"--like model.skops cannot tell the gro.* \(they have no column '"
        with pytest.raises(TableError, match=why):
            names_like(_Sided(), points.frame, made[0] / "model.skops", may_change=True)

    def test_the_names_of_the_page_are_used(self, points, tmp_path):
        path = tmp_path / "answers.sqlite"
        with Events(path) as events:
            members = [{"name": "odd", "members": ["p1", "p4", "gone"]}]
            events.add("name", who="Ann", names=members)
            members += [
                {"name": "zero", "members": ["p0"]},
                {"name": "", "members": []},
            ]
            events.add("name", who="Ann", names=members)
        model = _Sided(("A", "B", "C"))
        named = name_groups_of(model, points, FitOptions(), [path], {})
        assert model.classes_.tolist() == ["zero", "odd", "C"]
        assert named.by_points
        assert "names that were given to them on the page" in named.notes[0]
        listed = _Sided(("u", "v", "w"))
        options = FitOptions(classes=("u", "v", "w"))
        assert not name_groups_of(listed, points, options, [path], {}).by_points
        assert listed.classes_.tolist() == ["u", "v", "w"]

    @pytest.mark.parametrize("names", [3, [{"name": 5, "members": ["p1"]}], ["odd"]])
    def test_forged_names_are_refused(self, points, tmp_path, names):
        path = tmp_path / "answers.sqlite"
        with Events(path) as events:
            events.add("name", who="Ann", names=names)
        with pytest.raises(TableError, match="names of its groups, are not understood"):
            name_groups_of(_Sided(), points, FitOptions(), [path], {})

    def test_fit_like_an_older_model(self, made, tmp_path):
        folder = made[0]
        result = call(
            "fit", folder / "points.csv", folder / "pairs.csv",
            "-o", tmp_path / "new.skops", "--like", folder / "model.skops",
            "--seed", "3",
        )  # fmt: skip
        assert result.exit_code == 0, result.output
        said = " ".join(result.stdout.split())
        assert "the groups have the names that they have in model.skops" in said
        assert "called A and B" not in said
        models = [folder / "model.skops", tmp_path / "new.skops"]
        classes = []
        for k, model in enumerate(models):
            out = tmp_path / f"{k}.csv"
            call("predict", model, folder / "points.csv", "-o", out)
            classes.append(pd.read_csv(out)["class"])
        assert (classes[0] == classes[1]).mean() > 0.9


class TestStores:
    def store(self, tmp_path, *, n_answered):
        path = tmp_path / "answers.sqlite"
        with Events(path) as events:
            for k in range(6):
                ids = str(k + 1), str(k + 2)
                purpose = "audit" if k in (1, 4) else "learn"
                events.ask(k, *ids, purpose=purpose, rows=(k, k + 1))
            for k in n_answered:
                events.answer(k, 1 if k % 2 else -1)
        return path

    def test_where_row_numbers_begin_is_known(self, tmp_path):
        points = tmp_path / "points.csv"
        points.write_text("x,y\n" + "".join(f"{k}.5,{k % 5}.5\n" for k in range(20)))
        asked = read_answers(points, self.store(tmp_path, n_answered=range(6)))
        assert asked.points.first_row == 1
        assert [0, 1] in asked.index.tolist()

    def test_a_column_of_ids_comes_first(self, tmp_path):
        points = tmp_path / "points.csv"
        points.write_text("id,x\n" + "".join(f"{k},{k % 5}.5\n" for k in range(20)))
        asked = read_answers(points, self.store(tmp_path, n_answered=range(6)))
        assert asked.points.id_column == "id"
        assert [1, 2] in asked.index.tolist()

    def test_the_column_that_the_page_was_begun_with(self, tmp_path):
        points = tmp_path / "points.csv"
        rows = [f"a{k},{k},{k % 5}.5\n" for k in range(20)]
        points.write_text("id,key2,x\n" + "".join(rows))
        path = self.store(tmp_path, n_answered=range(6))
        with Events.again(path) as events:
            events.connection.execute(
                "INSERT INTO facts VALUES ('settings', ?)", ('{"id": "key2"}',)
            )
        assert read_answers(points, path).points.id_column == "key2"

    def test_an_audit_on_a_closed_page_is_not_called_unsure(self, tmp_path):
        points = tmp_path / "points.csv"
        points.write_text("id,x\n" + "".join(f"{k},{k % 5}.5\n" for k in range(20)))
        path = self.store(tmp_path, n_answered=(0, 2, 3, 4, 5))
        notes = read_answers(points, path).notes
        assert not any("unsure answer(s)" in note for note in notes)
        (note,) = [
            note for note in notes if "perhaps on a page that was closed" in note
        ]
        assert note.startswith("1 audit(s) were shown to somebody")


_THEN = {"clustering_error": 0.05, "clustering_interval": [0.02, 0.1]}
_ABOUT = {"certificate": _THEN | {"n_pairs": 50, "confidence": 0.95}}


class TestErrorsBefore:
    def test_was_and_now(self):
        was, now = error_before(_ABOUT), certificate_from_counts(3, 50)
        assert was_rows(was, now) == [
            ("error was", "5.0%, between 2.0% and 10.0%"),
            ("", "when the model was made, 50 pairs kept aside"),
        ]
        assert change_in_words(was, now) is None

    def test_a_clear_change_is_told(self):
        was = error_before(_ABOUT)
        worse, better = (
            certificate_from_counts(20, 50),
            certificate_from_counts(0, 9999),
        )
        assert "errs more often here" in change_in_words(was, worse)
        assert "errs less often here" in change_in_words(was, better)

    @pytest.mark.parametrize(
        "forged", [{}, {"clustering_error": 7}, 3, {"clustering_error": None}]
    )
    def test_nothing_or_nonsense_before(self, forged):
        assert error_before({}) is None
        assert error_before({"certificate": forged}) is None
        assert was_rows(None, certificate_from_counts(3, 50)) == []
        assert change_in_words(None, certificate_from_counts(3, 50)) is None


def test_suspicious_answers_are_written_with_their_ids(made, tmp_path):
    folder, _, pairs, *_ = made
    wrong = pairs.copy()
    turned = {"same": "different", "different": "same"}
    for k in (10, 20, 30):
        wrong.loc[k, "answer"] = turned[wrong.loc[k, "answer"]]
    wrong.to_csv(tmp_path / "pairs.csv", index=False)
    out = tmp_path / "suspicious.csv"
    result = call(
        "check", folder / "points.csv", tmp_path / "pairs.csv", "--suspicious", out
    )
    assert result.exit_code == 0, result.output
    assert "Suspicious answers:" in result.stdout
    found = pd.read_csv(out)
    assert list(found.columns) == [
        "left", "right", "answer", "probability_same", "suspicion", "contradicted",
        "lines",
    ]  # fmt: skip
    assert len(found) == 169
    assert found["suspicion"].is_monotonic_decreasing
    assert set(found["lines"][:12]) & {12, 22, 32}
    row = found.iloc[0]
    written = wrong.iloc[int(row["lines"]) - 2]
    assert (row["left"], row["right"], row["answer"]) == tuple(written)
    result = call(
        "check", folder / "points.csv", tmp_path / "pairs.csv",
        "--suspicious", tmp_path / "pairs.csv",
    )  # fmt: skip
    assert result.exit_code == 2
