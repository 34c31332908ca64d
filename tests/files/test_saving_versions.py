"""Models of other versions: earlier ones load, later ones say so."""

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import StandardScaler

from pairlearn import CIPSClassifier, load, make_pair_pipeline
from pairlearn.files.archive import FORMAT
from pairlearn.files.saving import ModelFileError, describe
from tests.support.model_files import assert_same, attribute, forged, saved

STORED = Path(__file__).parent / "stored"


@pytest.mark.parametrize(
    ("name", "version"), [("pairlearn", "0.0.9"), ("scikit-learn", "0.24.2")]
)
def test_another_version_warns_once(name, version, model_file, tmp_path):
    path, model, X = model_file
    versions = {**describe(path)["versions"], name: version}
    other = tmp_path / "other.skops"
    other.write_bytes(forged(path.read_bytes(), header={"versions": versions}))
    with pytest.warns(UserWarning, match=f"saved with {name} {version}") as caught:
        again = load(other)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    here = describe(path)["versions"][name]
    assert f"(here {here})" in str(caught[0].message)
    assert_same(model, again, X)


def test_a_pipeline_of_another_scikit_learn_warns_once(blob_pairs, tmp_path):
    model = make_pair_pipeline(StandardScaler(), CIPSClassifier()).fit(*blob_pairs)
    data = saved(model, tmp_path).read_bytes()
    versions = {**describe(tmp_path / "model.skops")["versions"]}
    here = versions["scikit-learn"]
    versions["scikit-learn"] = "1.2.3"

    def older(schema):
        text = json.dumps(schema).replace(json.dumps(json.dumps(here)), r'"\"1.2.3\""')
        assert "1.2.3" in text
        return json.loads(text)

    (tmp_path / "old.skops").write_bytes(
        forged(data, older, header={"versions": versions})
    )
    with pytest.warns(UserWarning, match="saved with scikit-learn") as caught:
        load(tmp_path / "old.skops")
    assert len(caught) == 1


def test_the_third_number_of_a_version_is_nothing_to_warn_of(model_file, tmp_path):
    path, model, X = model_file
    versions = describe(path)["versions"]
    major, minor, *_ = versions["pairlearn"].split(".")
    versions |= {"pairlearn": f"{major}.{minor}.99", "numpy": "1.0", "python": "3.9"}
    other = tmp_path / "other.skops"
    other.write_bytes(forged(path.read_bytes(), header={"versions": versions}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_same(model, load(other), X)


def test_a_newer_format_says_so(model_file, tmp_path):
    path, _, _ = model_file
    versions = {**describe(path)["versions"], "pairlearn": "9.0.0"}
    data = forged(
        path.read_bytes(), header={"format": FORMAT + 1, "versions": versions}
    )
    newer = tmp_path / "newer.skops"
    newer.write_bytes(data)
    for read in (load, describe):
        with pytest.raises(ModelFileError, match=r"of pairlearn 9.0.0.*--upgrade"):
            read(newer)


def test_a_parameter_newer_than_the_file_has_its_default(model_file, tmp_path):
    path, model, X = model_file

    def without_alpha(schema):
        del attribute(schema, "alpha")["__loader__"]
        del schema["content"]["content"]["alpha"]
        del schema["content"]["key_types"]["content"][0]

    older = tmp_path / "older.skops"
    older.write_bytes(forged(path.read_bytes(), without_alpha))
    again = load(older)
    assert again.alpha == CIPSClassifier().alpha
    assert_same(model, again, X)


@pytest.mark.parametrize("path", sorted(STORED.glob("*.skops")), ids=lambda p: p.stem)
def test_stored_models_of_earlier_releases(path):
    expected = json.loads(path.with_suffix(".json").read_text())
    with warnings.catch_warnings():
        # In later releases this is right; anything else still is an error.
        warnings.filterwarnings("ignore", "the model was saved with", UserWarning)
        model = load(path)
    points = expected["points"]
    X = pd.DataFrame(points) if isinstance(points, dict) else np.array(points)
    np.testing.assert_allclose(
        model.decision_function(X), expected["scores"], rtol=1e-9, atol=1e-9
    )
    assert model.predict(X).tolist() == expected["classes"]
    assert describe(path)["about"] == {"test": path.stem.split("-")[0]}


def test_there_are_stored_models():
    kinds = {describe(path)["kind"] for path in STORED.glob("*.skops")}
    assert kinds >= {
        "Pipeline of ColumnTransformer, PairClassifier",
        "CIPSClassifier",
        "MCLClassifier",
    }
    assert all(path.stat().st_size < 40_000 for path in STORED.glob("*.skops"))
