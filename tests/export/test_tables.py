"""Models of tables: numbers, dates, categories and texts; without pairlearn, too."""

import json
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from pairlearn import PairClassifier, Pairs, make_pair_pipeline
from pairlearn.cli.quick_imports import import_skops
from pairlearn.export import ExportError, to_onnx, to_sklearn
from pairlearn.export.checking import check_onnx, check_sklearn, made_up_points, typed
from pairlearn.export.onnx_model import column_kinds
from pairlearn.files.tables.column_kinds import describe_columns
from pairlearn.files.tables.encoder import make_encoder
from pairlearn.files.tables.encoders.texts import text_blocks
from pairlearn.files.tables.reading import frame_of, read_table

N = 160
RNG = np.random.default_rng(0)
Y = np.arange(N) % 2
GREETINGS = ["dear", "team", "please", "would", "you", "hello", "thanks", "today"]
MONEY = ["refund", "invoice", "card", "charged", "Straße", "price"]
TROUBLE = ["login", "password", "crash", "screen", "update", "naïve"]


def write_table(folder):
    """Write a table in which every kind of column has gaps."""
    gaps = RNG.random((6, N)) < 0.08
    moment = pd.to_datetime("2024-03-01") + pd.to_timedelta(90 * Y, "D")
    moment += pd.to_timedelta(RNG.integers(0, 60, N), "D")
    frame = pd.DataFrame(
        {
            "size": RNG.normal(size=N) + 2 * Y,
            "weight": np.exp(RNG.normal(size=N) + Y),
            "team": np.where(Y, "red", RNG.choice(["Blue", "green "], N)),
            "flag": RNG.random(N) < 0.3 + 0.4 * Y,
            "when": moment,
            "floor": [f"{k}" if k < 9 else f"B{k}" for k in RNG.integers(0, 12, N)],
        }
    ).astype({"flag": object})
    for k, name in enumerate(frame.columns):
        frame.loc[gaps[k], name] = None
    path = folder / "points.csv"
    frame.to_csv(path, index=False)
    return path


def write_texts(folder):
    rows = []
    for y in Y:
        words = [*RNG.choice(MONEY if y else TROUBLE, 4), *RNG.choice(GREETINGS, 8)]
        RNG.shuffle(words)
        rows.append(" ".join(words).capitalize() + "!")
    rows[7] = rows[30] = None
    frame = pd.DataFrame({"subject": rows, "size": RNG.normal(size=N) + Y})
    path = folder / "texts.csv"
    frame.to_csv(path, index=False)
    return path


def fitted(path):
    """Return a model like those of `pairlearn fit`, and the cells of its table."""
    table = read_table(path)
    columns = describe_columns(table.columns, table)
    used = [column for column in columns if column.kind != "left out"]
    cells = frame_of({c.name: table.columns[c.name] for c in used}, len(table))
    encoder = make_encoder(used).fit(cells)
    model = make_pair_pipeline(
        encoder,
        PairClassifier(
            n_components=30, n_folds=2, classes=("spam, ham", "b"), random_state=0
        ),
    )
    pairs, t = Pairs.sample(cells, N // 2, Y, random_state=0)
    blocks = text_blocks(encoder) or None
    return model.fit(pairs, t, pairclassifier__blocks=blocks), cells


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("export")


@pytest.fixture(scope="module")
def table(folder):
    path = write_table(folder)
    return path, *fitted(path)


@pytest.fixture(scope="module")
def texts(folder):
    path = write_texts(folder)
    return path, *fitted(path)


def test_columns_of_all_kinds(table):
    _, model, cells = table
    plain = to_sklearn(model)
    points = typed(model, cells)
    assert points.dtypes["when"].kind == "M"
    made = to_onnx(model)
    kinds = column_kinds(plain)
    assert kinds == {
        "size": "number", "weight": "number", "team": "text", "flag": "text",
        "when": "days", "floor": "text",
    }  # fmt: skip
    assert [put.name for put in made.graph.input] == list(kinds)
    for rows in (points, made_up_points(model, plain)):
        check_sklearn(model, plain, rows)
        check_onnx(model, made, plain, rows)
    about = {entry.key: json.loads(entry.value) for entry in made.metadata_props}
    assert about["classes"] == ["spam, ham", "b"]
    assert about["columns"] == kinds


@pytest.mark.parametrize("dates", [["when"], None], ids=["datetimes", "text"])
def test_the_file_as_pandas_reads_it(table, dates):
    path, model, cells = table
    frame = pd.read_csv(path, parse_dates=dates)
    wanted = model.predict_proba(cells)
    plain = to_sklearn(model)
    np.testing.assert_allclose(plain.predict_proba(frame), wanted, atol=1e-9)
    other = frame[frame.columns[::-1]].assign(more="ignored")
    np.testing.assert_allclose(plain.predict_proba(other), wanted, atol=1e-9)


def test_a_category_in_all_its_forms(table):
    _, model, cells = table
    plain = to_sklearn(model)
    first = typed(model, cells).iloc[[0]]
    for name, forms in {
        "flag": [["true", "True", True, "TRUE"], ["false", False]],
        "team": [["red", " red "], [None, np.nan, "", "n/a", "NULL"], ["new", "other"]],
        "floor": [["3", "3.0", 3, 3.0]],
    }.items():
        for alike in forms:
            rows = pd.concat([first] * len(alike), ignore_index=True)
            rows[name] = pd.Series(alike, dtype=object)
            p = plain.predict_proba(rows)
            np.testing.assert_allclose(p, model.predict_proba(rows), atol=1e-9)
            np.testing.assert_allclose(p, p[:1].repeat(len(p), axis=0))


def test_columns_that_are_missing_are_named(table):
    _, model, cells = table
    with pytest.raises(ValueError, match="size"):
        to_sklearn(model).predict(typed(model, cells).drop(columns="size"))


def test_texts(texts):
    path, model, cells = texts
    plain = to_sklearn(model)
    frame = pd.read_csv(path)
    wanted = model.predict_proba(cells)
    np.testing.assert_allclose(plain.predict_proba(frame), wanted, atol=1e-9)
    made = to_onnx(model)
    assert column_kinds(plain) == {"subject": "lower", "size": "number"}
    for rows in (frame, made_up_points(model, plain)):
        check_sklearn(model, plain, rows)
        check_onnx(model, made, plain, rows)
    strange = frame.iloc[[0] * 6].assign(
        subject=[
            "",
            "don't\xa0co-op  東京タワー",
            "नमस्ते refund\tREFUND",
            "a",
            "_x 12 é",
            "##",
        ]
    )
    check_onnx(model, made, plain, strange)
    check_onnx(model, made, plain, strange.iloc[[0, 0]])


# In a Python in which pairlearn cannot be imported. The adapters of scikit-learn would
# load torch, which takes long.
ALONE = """
import pickle, sys
sys.modules["pairlearn"] = None
adapters = [f"sklearn.externals.array_api_compat.{name}" for name in ("torch", "dask")]
sys.modules.update(dict.fromkeys(adapters))
import numpy as np, pandas as pd, skops.io
for name in adapters:
    del sys.modules[name]
for kind in ("table", "texts"):
    with open(f"{kind}.pkl", "rb") as file:
        pipeline, frame = pickle.load(file)
    known = skops.io.get_untrusted_types(file=f"{kind}.skops")
    assert all(name.startswith("numpy.") for name in known), known
    loaded = skops.io.load(f"{kind}.skops", trusted=known)
    p = pipeline.predict_proba(frame)
    assert np.array_equal(p, loaded.predict_proba(frame))
    assert pipeline.predict(frame).tolist() == loaded.predict(frame).tolist()
    np.save(f"{kind}.npy", p)
assert not [name for name in sys.modules if name.startswith("pairlearn.")]
"""


def test_it_runs_without_pairlearn(table, texts, tmp_path):
    import_skops()
    from skops.io import dump

    for name, (path, model, _) in {"table": table, "texts": texts}.items():
        plain = to_sklearn(model)
        both = pickle.dumps((plain, pd.read_csv(path)))
        (tmp_path / f"{name}.pkl").write_bytes(both)
        dump(plain, tmp_path / f"{name}.skops")
    done = subprocess.run(
        [sys.executable, "-c", ALONE], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    for name, (_, model, cells) in {"table": table, "texts": texts}.items():
        p = np.load(tmp_path / f"{name}.npy")
        np.testing.assert_allclose(p, model.predict_proba(cells), atol=1e-9)


def test_a_column_of_another_kind_is_refused(table):
    _, model, _ = table
    encoder = model[0].transformer_
    (name, _, columns), *others = encoder.transformers_

    class ReadSmells:
        pass

    ReadSmells.__module__ = "pairlearn.files.tables.encoders.smells"
    before = encoder.transformers_
    encoder.transformers_ = [(name, ReadSmells(), columns), *others]
    try:
        with pytest.raises(ExportError, match=r"ReadSmells.*Leave such columns out"):
            to_sklearn(model)
    finally:
        encoder.transformers_ = before
