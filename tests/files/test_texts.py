"""Free text in tables: recognised, encoded, saved, never taken for anything else."""

import json
import zipfile

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from pairlearn import PairClassifier, Pairs, load, make_pair_pipeline, save
from pairlearn.files.archive import ModelFileError
from pairlearn.files.consistency import check_sound
from pairlearn.files.tables.encoders.texts import (
    TextAxes,
    TextVectors,
    text_blocks,
    without_words,
)
from pairlearn.files.tables.free_text import words_per_cell
from pairlearn.files.tables.points import read_points
from pairlearn.files.tables.reading import TableError

SENTENCES = [
    f"please refund the {thing} that I bought {when}"
    for thing in ("phone", "lamp", "radio", "watch", "chair")
    for when in ("yesterday", "last week", "in March", "for my mother", "by mistake")
]


def points_of(tmp_path, **columns):
    path = tmp_path / "points.csv"
    n = len(next(iter(columns.values())))
    frame = pd.DataFrame({"id": [f"p{k}" for k in range(n)], **columns})
    frame.to_csv(path, index=False)
    return read_points(path)


def kind_of(tmp_path, cells):
    points = points_of(tmp_path, cells=cells, number=np.arange(len(cells)) % 7)
    return points.columns[0].kind


class TestRecognition:
    def test_sentences_are_text_and_told_with_their_words(self, tmp_path):
        points = points_of(tmp_path, note=[*SENTENCES, None])
        (column,) = points.columns
        assert (column.kind, column.form) == ("text", "")
        assert "about 8 words per cell; 1 missing" in column.how
        assert points.frame["note"].tolist() == [*SENTENCES, ""]

    @pytest.mark.parametrize(
        "cells",
        [
            [f"A-{k:03} B {k}" for k in range(30)],
            [f"photos/trip {k}/beach day.jpg" for k in range(30)],
            [f"{k}@example.org" for k in range(30)],
            [f"Monday, 12 May 20{k:02} at 10:{k}" for k in range(30)],
            [f"{n} {m} Smith" for n in ("Ann", "Bo", "Cy") for m in "ABCDEFGHIJ"],
            [f"{k} Long Hill Road, Newtown" for k in range(30)],
            [f"{{'a': {k}, 'b': [1, 2]}}" for k in range(30)],
            [f"[0.{k}, 0.2, 0.3, 0.4]" for k in range(30)],
        ],
    )
    def test_ids_names_files_and_dates_are_not(self, tmp_path, cells):
        assert kind_of(tmp_path, cells) == "left out"

    def test_categories_of_several_words_stay_categories(self, tmp_path):
        cells = ["not yet paid for", "paid in full today", "sent to the customer"] * 20
        assert kind_of(tmp_path, cells) == "categories"

    def test_texts_that_come_again_are_texts_if_there_are_many(self, tmp_path):
        cells = [f"{a} and then {b}" for a in SENTENCES for b in SENTENCES[:5]] * 3
        assert kind_of(tmp_path, cells) == "text"

    def test_languages_without_blanks(self):
        texts = [
            "我的订单还没有收到请帮我查一下",
            "注文した商品がまだ届きません",
            "环境很好服务也不错",
        ]
        assert words_per_cell(texts) > 4

    def test_one_long_cell_makes_no_text(self):
        assert words_per_cell(["x1"] * 99 + ["word " * 1900]) is None

    def test_names_alone_are_refused_with_the_reason(self, tmp_path):
        with pytest.raises(TableError, match="names or codes, with too few words"):
            points_of(tmp_path, name=[f"user {k}" for k in range(30)]).columns  # noqa: B018


class TestVectors:
    def test_rows_have_length_one_and_columns_have_names(self):
        frame = pd.DataFrame({"note": SENTENCES})
        vectors = TextVectors("words").fit(frame)
        X = vectors.transform(frame)
        assert sparse.issparse(X)
        np.testing.assert_allclose(sparse.linalg.norm(X, axis=1), 1)
        names = vectors.get_feature_names_out().tolist()
        assert "note: refund" in names
        assert "note: last week" in names
        assert len(names) == X.shape[1]

    @pytest.mark.parametrize("part", ["words", "characters"])
    def test_learning_and_using_give_the_same(self, part):
        frame = pd.DataFrame({"note": SENTENCES})
        at_once = TextVectors(part).fit_transform(frame)
        later = TextVectors(part).fit(frame).transform(frame)
        assert abs(at_once - later).max() < 1e-15

    def test_unknown_words_and_empty_cells_are_zeros(self):
        vectors = TextVectors().fit(pd.DataFrame({"note": SENTENCES}))
        new = pd.DataFrame({"note": ["", None, "xyzzy", 3.5, "refund"]})
        assert vectors.transform(new).sum(axis=1).tolist() == [0, 0, 0, 0, 1]

    @pytest.mark.parametrize("cells", [["", ""], ["?", "!!"], ["a", "b"]])
    def test_texts_without_words_are_one_column_of_zeros(self, cells):
        frame = pd.DataFrame({"note": cells})
        X = TextVectors().fit(frame).transform(frame)
        assert X.shape == (2, 1)
        assert X.nnz == 0

    def test_very_long_texts_are_learnt_from_in_part(self, monkeypatch):
        monkeypatch.setattr("pairlearn.files.tables.encoders.texts._LEARNT", 500)
        monkeypatch.setattr("pairlearn.files.tables.encoders.texts._LEAST_TEXTS", 4)
        monkeypatch.setattr("pairlearn.files.tables.encoders.texts._CHUNK", 3)
        frame = pd.DataFrame({"note": SENTENCES})
        vectors = TextVectors()
        X = vectors.fit_transform(frame)
        assert X.shape[0] == len(SENTENCES)
        assert X.shape[1] < TextVectors().fit(frame.iloc[:0:-1]).rarity_.size + 99
        assert "note: refund" in vectors.get_feature_names_out()

    def test_axes_are_few_and_full(self):
        frame = pd.DataFrame({"note": SENTENCES})
        axes = TextAxes(3)
        Z = axes.fit_transform(frame)
        assert Z.shape == (25, 3)
        np.testing.assert_allclose(axes.transform(frame), Z, atol=1e-12)
        assert axes.get_feature_names_out()[2] == "note: axis 2"


class TestEncoder:
    @pytest.fixture
    def points(self, tmp_path):
        n = len(SENTENCES)
        return points_of(
            tmp_path,
            size=np.arange(n),
            note=SENTENCES,
            colour=["red", "blue"] * 12 + [""],
        )

    def test_the_table_stays_sparse_and_blocks_say_where_words_are(self, points):
        encoder = points.make_encoder()
        X = encoder.fit_transform(points.frame)
        assert sparse.issparse(X)
        names = encoder.get_feature_names_out()
        for column, part, start, stop in text_blocks(encoder):
            assert column == "note"
            quoted = [name.startswith("note: '") for name in names[start:stop]]
            assert all(quoted) if part == "characters" else not any(quoted)
        assert [block[1] for block in text_blocks(encoder)] == ["words", "characters"]

    def test_without_words_equal_texts_are_equal_and_others_are_not(self, points):
        encoder = points.make_encoder().fit(points.frame)
        frame = points.frame.iloc[[0, 0, 1]].assign(size=0.0, colour="red")
        rows = without_words(encoder.transform(frame), encoder)
        assert rows.shape[1] < 20
        np.testing.assert_array_equal(rows[0], rows[1])
        assert np.abs(rows[0] - rows[2]).max() > 1e-3

    def test_without_parts_it_is_full(self, points):
        X = points.make_encoder(parts=()).fit_transform(points.frame)
        assert isinstance(X, np.ndarray)


class TestFiles:
    def test_a_model_comes_back_and_reads_new_texts(self, tmp_path):
        path = tmp_path / "model.skops"
        frame = pd.DataFrame({"note": SENTENCES})
        rng = np.random.default_rng(0)
        index = rng.permutation(25)[:24].reshape(-1, 2)
        t = np.where(index[:, 0] % 2 == index[:, 1] % 2, 1, -1)
        t[:2] = 1, -1
        model = make_pair_pipeline(TextVectors(), PairClassifier(random_state=0))
        model.fit(Pairs(frame, index), t)
        save(model, path)
        new = pd.DataFrame({"note": [*SENTENCES, "", "quite other words"]})
        p = load(path).predict_proba(new)
        np.testing.assert_array_equal(p, model.predict_proba(new))
        assert np.isfinite(p).all()
        # Words are one text in the file, not one entry each.
        with zipfile.ZipFile(path) as file:
            schema = json.loads(file.read("schema.json"))
        assert json.dumps(schema).count("refund") >= 1
        assert len(json.dumps(schema)) < 200_000

    @pytest.mark.parametrize(
        "change",
        [
            {"words_": "a\na"},
            {"words_": "a\nb\nc"},
            {"words_": ["a", "b"]},
            {"words_": ""},
            {"rarity_": np.array([1.0, np.nan])},
            {"rarity_": np.array(["1", "2"])},
            {"part": "files"},
            {"part": ["words"]},
        ],
    )
    def test_forged_words_are_refused(self, change):
        name = "pairlearn.files.tables.encoders.texts.TextVectors"
        vectors = TextVectors()
        vectors.words_, vectors.rarity_ = "a\nb", np.ones(2)
        check_sound(vectors, name)
        vars(vectors).update(change)
        with pytest.raises(ModelFileError, match="TextVectors"):
            check_sound(vectors, name)
