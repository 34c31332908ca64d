"""`pairlearn export`: a file for other programs, compared before it is written."""

import joblib
import numpy as np
import pandas as pd
import pytest

import pairlearn
from pairlearn.export import checking
from tests.support.commands import call


@pytest.fixture(scope="module")
def wanted(made):
    folder, *_ = made
    model = pairlearn.load(folder / "model.skops")
    return model.predict_proba(pd.read_csv(folder / "points.csv"))


def test_onnx(made, wanted, tmp_path):
    ort = pytest.importorskip("onnxruntime")
    folder, *_ = made
    out = tmp_path / "model.onnx"
    done = call("export", folder / "model.skops", out)
    assert done.exit_code == 0, done.output
    assert "colour: text, shape (n, 1)" in done.stdout
    frame = pd.read_csv(folder / "points.csv")
    inputs = {"colour": frame[["colour"]].fillna("").to_numpy(dtype=object)}
    for name in ("width", "height", "luck"):
        inputs[name] = frame[[name]].to_numpy()
    session = ort.InferenceSession(out)
    label, p = session.run(None, inputs)
    np.testing.assert_allclose(p, wanted, atol=1e-5)
    assert set(label) == {"small", "large"}


def test_joblib_on_a_table_of_the_user(made, wanted, tmp_path):
    folder, *_ = made
    out = tmp_path / "model.joblib"
    words = ["export", folder / "model.skops", out, "--points", folder / "points.csv"]
    done = call(*words)
    assert done.exit_code == 0, done.output
    assert "Compared on 400 points" in done.stdout
    assert "load only those whose author you trust" in " ".join(done.stdout.split())
    plain = joblib.load(out)
    p = plain.predict_proba(pd.read_csv(folder / "points.csv"))
    np.testing.assert_allclose(p, wanted, atol=1e-9)


def test_skops_says_how_it_is_loaded(made, wanted, tmp_path):
    from skops.io import get_untrusted_types, load

    folder, *_ = made
    out = tmp_path / "plain.skops"
    done = call("export", folder / "model.skops", out)
    assert done.exit_code == 0, done.output
    known = sorted(get_untrusted_types(file=out))
    assert f'skops.io.load("plain.skops", trusted={known})' in done.stdout
    p = load(out, trusted=known).predict_proba(pd.read_csv(folder / "points.csv"))
    np.testing.assert_allclose(p, wanted, atol=1e-9)


def test_nothing_is_written_if_the_models_differ(made, tmp_path, monkeypatch):
    folder, *_ = made
    monkeypatch.setattr(checking, "ONNX_DIGITS", -1.0)
    out = tmp_path / "model.onnx"
    done = call("export", folder / "model.skops", out)
    assert done.exit_code == 1
    assert "differs from the model" in done.output
    assert not out.exists()


def test_other_endings_are_refused(made, tmp_path):
    folder, *_ = made
    done = call("export", folder / "model.skops", tmp_path / "model.pkl")
    assert done.exit_code == 2
    assert ".onnx, .skops or .joblib" in done.output
