"""Models on disk: what is saved is what is loaded."""

import os
import stat
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn._loss._loss import CyHalfBinomialLoss
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

import pairlearn
from pairlearn import (
    CIPSClassifier,
    ConstrainedSpectralClustering,
    LandmarkSimilarity,
    LinkClassifier,
    MCLClassifier,
    OneVsRestPairClassifier,
    PairClassifier,
    PairKFold,
    PairMetaClassifier,
    Pairs,
    answers_per_class,
    load,
    make_pair_pipeline,
    save,
)
from pairlearn.engine.losses import SquaredLoss
from pairlearn.files.saving import ModelFileError, describe
from pairlearn.trust.metrics import neg_pair_error_scorer
from tests.support.estimators import ESTIMATORS
from tests.support.model_files import assert_same, round_trip, saved

IN_NUMPY = {
    name: model
    for name, model in ESTIMATORS.items()
    if not type(model).__module__.startswith("pairlearn.models.neural")
}


TREES = [
    "sklearn.tree._tree.Tree",
    "sklearn.ensemble._hist_gradient_boosting.binning._BinMapper",
    f"{HistGradientBoostingClassifier.__module__}.HistGradientBoostingClassifier",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
]


# Round trips.


@pytest.mark.parametrize("name", IN_NUMPY)
@pytest.mark.usefixtures("quick")
def test_every_estimator_is_the_same_after_loading(name, blobs, blob_pairs, tmp_path):
    model = clone(IN_NUMPY[name]).fit(*blob_pairs)
    again = round_trip(model, tmp_path)
    assert_same(model, again, blobs[0])
    assert repr(again.get_params()) == repr(model.get_params())
    fitted = {key for key in vars(model) if key.endswith("_")}
    assert fitted == {key for key in vars(again) if key.endswith("_")}


@pytest.mark.usefixtures("quick")
def test_what_a_fitted_model_tells_is_kept(blobs, blob_pairs, tmp_path):
    model = PairClassifier(majority=1, random_state=0).fit(*blob_pairs)
    again = round_trip(model, tmp_path)
    assert again.certificate_ == model.certificate_
    assert again.assignment_ == model.assignment_
    assert repr(again.candidates_) == repr(model.candidates_)
    np.testing.assert_array_equal(
        again.pair_score(blob_pairs[0]), model.pair_score(blob_pairs[0])
    )
    # A loaded model can go on: it is assigned, cloned and fitted like any other.
    X, y = blobs
    assert np.mean(again.assign_from_points(X, -y).predict(X) == -y) > 0.8
    assert_same(clone(again).fit(*blob_pairs), model, X)


@pytest.mark.usefixtures("quick")
def test_a_pipeline_of_columns(blobs, blob_pairs, tmp_path):
    X, _ = blobs
    table = pd.DataFrame(X[:, :3], columns=["a", "b", "c"])
    table.loc[3, "a"] = np.nan
    table["d"] = pd.Series(np.where(X[:, 3] > 0, "up", None), dtype=object)
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    columns = make_column_transformer(
        (numbers, make_column_selector(dtype_include=np.number)),
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector("d")),
    )
    model = make_pair_pipeline(columns, PairClassifier(majority=1, random_state=0))
    pairs, t = blob_pairs
    model.fit(pairs.with_points(table), t)
    again = round_trip(model, tmp_path)
    assert_same(model, again, table)
    assert list(again.feature_names_in_) == ["a", "b", "c", "d"]
    kind = describe(tmp_path / "model.skops")["kind"]
    assert kind == "Pipeline of ColumnTransformer, PairClassifier"


def test_several_classes(blobs, blob_pairs, tmp_path):
    X, _ = blobs
    pairs, _ = blob_pairs
    y = np.digitize(X[:, 0], [-0.5, 1.0])
    one_vs_rest = OneVsRestPairClassifier(
        CIPSClassifier(alpha=0.1), classes=["a", "b", "c"]
    )
    t = answers_per_class(pairs, np.array(["a", "b", "c"])[y])
    model = one_vs_rest.fit(pairs, t)
    again = round_trip(model, tmp_path)
    assert_same(model, again, X)
    assert again.assignments_ == model.assignments_
    several = MCLClassifier(n_classes=3, random_state=0).fit(pairs, pairs.answers(y))
    assert_same(several, round_trip(several, tmp_path), X)


@pytest.mark.parametrize(
    "model",
    [
        make_pair_pipeline(LandmarkSimilarity("rbf", n_landmarks=9), CIPSClassifier()),
        make_pair_pipeline(
            LandmarkSimilarity(
                partial(rbf_kernel, gamma=0.2), vectorized=True, random_state=0
            ),
            CIPSClassifier(),
        ),
        make_pair_pipeline(Nystroem(random_state=0), LinkClassifier()),
        make_pair_pipeline(FunctionTransformer(np.arctan), CIPSClassifier()),
        CIPSClassifier(loss=SquaredLoss(), classes=("a", 1)),
        CIPSClassifier(majority=1, random_state=np.random.RandomState(3)),
        PairMetaClassifier(HistGradientBoostingClassifier(max_iter=3), max_iter=1),
        PairMetaClassifier(CalibratedClassifierCV(LinearSVC()), max_iter=1),
        PairMetaClassifier(RandomForestClassifier(3, random_state=0), max_iter=1),
        GridSearchCV(
            make_pair_pipeline(StandardScaler(), CIPSClassifier()),
            {"cipsclassifier__alpha": [0.1, 1], "cipsclassifier__loss": ["hinge"]},
            cv=PairKFold(3),
        ),
        GridSearchCV(
            MCLClassifier(),
            {"alpha": [0.1, 1]},
            cv=3,
            scoring=neg_pair_error_scorer,
        ),
    ],
    ids=lambda model: type(model).__name__,
)
def test_parts_of_many_kinds(model, blobs, blob_pairs, tmp_path):
    boosted = "HistGradientBoosting" in repr(model)
    if boosted and not CyHalfBinomialLoss.__module__.startswith("sklearn"):
        pytest.skip("this scikit-learn does not say where its losses are from")
    model = clone(model).fit(*blob_pairs)
    assert_same(model, round_trip(model, tmp_path, trusted=TREES), blobs[0])


def test_sparse_points(blobs, blob_pairs, tmp_path):
    X = sparse.csr_array(np.round(blobs[0]))
    pairs, t = blob_pairs
    model = ConstrainedSpectralClustering(random_state=0).fit(pairs.with_points(X), t)
    again = round_trip(model, tmp_path)
    assert_same(model, again, X)
    assert (again.affinity_matrix_ != model.affinity_matrix_).nnz == 0


def test_an_unfitted_model(tmp_path):
    model = PairClassifier(noise=(0.9, 0.2), classes=("a", "b"))
    again = round_trip(model, tmp_path)
    assert repr(again) == repr(model)
    assert again.noise == (0.9, 0.2)


def test_two_names_for_one_thing_stay_so(blob_pairs, tmp_path):
    model = CIPSClassifier().fit(*blob_pairs)
    model.extra_ = [model.coef_, model.coef_]
    again = round_trip(model, tmp_path)
    assert again.extra_[0] is again.extra_[1] is again.coef_


def test_generators_and_odd_values(blob_pairs, tmp_path):
    model = CIPSClassifier().fit(*blob_pairs)
    model.extra_ = {
        "rng": np.random.default_rng(4),
        "nan": [np.nan, np.inf, -0.0, None, True],
        3: {"set": {1, 2}, "slice": slice(1, None)},
        "text": "naïve \u2028 \ud800",
        "wide": np.array([["a", None], [1, np.nan]], dtype=object),
        "rows": np.array([(1, 2.5)], dtype=[("a", int), ("b", float)]),
        "day": np.array(["2020-02-29"], dtype="datetime64[D]"),
        "empty": np.zeros((0, 3)),
    }
    again = round_trip(model, tmp_path)
    extra = again.extra_
    expected = np.random.default_rng(4).normal()
    assert extra.pop("rng").normal() == expected
    model.extra_.pop("rng")
    assert repr(extra) == repr(model.extra_)


@pytest.mark.parametrize(
    "value", [{True: 1}, {None: 1}, {(1, 2): 3}, open, np.array(["a"], dtype="O").view]
)
def test_what_would_change_is_refused_when_saving(value, blob_pairs, tmp_path):
    model = CIPSClassifier().fit(*blob_pairs)
    model.extra_ = value
    if value == {True: 1}:
        # As the only key it comes back as it was; together with False it would not.
        value[False] = 2
    with pytest.raises(TypeError, match="cannot be saved"):
        save(model, tmp_path / "model.skops")
    assert not list(tmp_path.iterdir())


def test_a_circle_is_refused(blob_pairs, tmp_path):
    model = CIPSClassifier().fit(*blob_pairs)
    model.extra_ = [model]
    with pytest.raises(TypeError, match="contains the model itself") as caught:
        save(model, tmp_path / "model.skops")
    assert caught.value.__suppress_context__


# What cannot be saved.


def common_letters(a, b):
    return len(set(a) & set(b)) / len(set(a) | set(b))


class CommonLetters:
    """The same, as a class."""

    def __call__(self, a, b):
        return common_letters(a, b)


class Halved(TransformerMixin, BaseEstimator):
    """A transformer of a user."""

    def fit(self, X, y=None):  # noqa: ARG002
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        return X / 2


WORDS = ["aab", "abba", "bcab", "xyx", "yyz", "zxyy"]


WORD_PAIRS = [[0, 1], [1, 2], [3, 4], [4, 5], [0, 5], [2, 3]]


def test_a_function_is_refused_with_its_place_and_the_way_out(tmp_path):
    pairs = Pairs(WORDS, WORD_PAIRS)
    t = [1, 1, 1, 1, -1, -1]
    model = make_pair_pipeline(
        LandmarkSimilarity(common_letters), CIPSClassifier(alpha=0.1)
    ).fit(pairs, t)
    with pytest.raises(TypeError, match=r"transformer.*\.similarity is one") as caught:
        save(model, tmp_path / "model.skops")
    assert "common_letters" in str(caught.value)
    assert "trusted=" in str(caught.value)
    for other in (
        LandmarkSimilarity(lambda a, b: a @ b),
        LandmarkSimilarity(partial(common_letters)),
        FunctionTransformer(np.mean),
        FunctionTransformer(CommonLetters().__call__),
    ):
        with pytest.raises(TypeError, match="a function cannot be saved"):
            save(other, tmp_path / "model.skops")
    assert not list(tmp_path.iterdir())


def test_own_classes_load_when_they_are_named(blobs, blob_pairs, tmp_path):
    pairs = Pairs(WORDS, WORD_PAIRS)
    features = LandmarkSimilarity(CommonLetters(), random_state=0)
    model = make_pair_pipeline(features, CIPSClassifier(alpha=0.1))
    model.fit(pairs, [1, 1, 1, 1, -1, -1])
    path = saved(model, tmp_path)
    name = f"{__name__}.CommonLetters"
    with pytest.raises(ModelFileError, match=r"trusted=\['.*CommonLetters'\]"):
        load(path)
    for trusted in ([name], [CommonLetters]):
        assert_same(model, load(path, trusted=trusted), WORDS)
    own = make_pair_pipeline(Halved(), CIPSClassifier()).fit(*blob_pairs)
    assert_same(own, round_trip(own, tmp_path, trusted=[Halved]), blobs[0])


@pytest.mark.parametrize("trusted", [True, "everything", None, 3])
def test_nobody_trusts_everything(trusted, model_file):
    with pytest.raises(TypeError, match="trusted must be a list"):
        load(model_file[0], trusted=trusted)


def test_trees_are_for_those_who_know_the_file(blobs, blob_pairs, tmp_path):
    forest = RandomForestClassifier(2, random_state=0)
    model = PairMetaClassifier(forest, max_iter=1).fit(*blob_pairs)
    path = saved(model, tmp_path)
    with pytest.raises(ModelFileError, match=r"trusted=\['sklearn.tree._tree.Tree'\]"):
        load(path)
    assert_same(model, load(path, trusted=TREES[:1]), blobs[0])


def test_networks_have_their_own_way(blob_pairs, tmp_path):
    pytest.importorskip("torch")
    neural = pytest.importorskip("pairlearn.models.neural")
    net = neural.PairNet(hidden=(4,), max_epochs=1, random_state=0).fit(*blob_pairs)
    for model in (net, make_pair_pipeline(StandardScaler(), net)):
        with pytest.raises(TypeError, match="section 'Saving' of the guide"):
            save(model, tmp_path / "model.skops")


@pytest.mark.parametrize("model", [{}, None, "model.skops", CIPSClassifier])
def test_only_models_are_saved(model, tmp_path):
    with pytest.raises(TypeError, match="must be an estimator"):
        save(model, tmp_path / "model.skops")


@pytest.mark.parametrize("about", [[1], {"a": {1}}, {1: "a"}, {"a": (1,)}, "text"])
def test_about_is_what_json_can_hold(about, tmp_path):
    with pytest.raises(TypeError, match="about must be a dict of what JSON can hold"):
        save(CIPSClassifier(), tmp_path / "model.skops", about=about)


# Files.


def test_describe_tells_without_building(model_file, monkeypatch):
    path, _, _ = model_file
    monkeypatch.setattr("pairlearn.files.saving._build", None)
    found = describe(path)
    assert found["about"] == {"who": "me"}
    assert found["kind"] == "CIPSClassifier"
    assert found["versions"]["pairlearn"] == pairlearn.__version__
    assert found["versions"]["numpy"] == np.__version__
    assert found["versions"]["python"] == ".".join(map(str, sys.version_info[:3]))
    assert set(found) == {"kind", "about", "versions"}


def test_the_same_model_gives_the_same_bytes(model_file, tmp_path):
    path, model, _ = model_file
    save(model, tmp_path / "again.skops", about={"who": "me"})
    assert (tmp_path / "again.skops").read_bytes() == path.read_bytes()


def test_str_and_path_and_links(model_file, tmp_path):
    _, model, X = model_file
    target, link = tmp_path / "real.skops", tmp_path / "link.skops"
    target.write_bytes(b"old")
    target.chmod(0o600)
    link.symlink_to(target)
    save(model, str(link))
    assert link.is_symlink()
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert_same(model, load(str(link)), X)
    fresh = tmp_path / "fresh.skops"
    save(model, fresh)
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(fresh.stat().st_mode) == 0o666 & ~umask


def test_folders_and_missing_files(model_file, tmp_path):
    _, model, _ = model_file
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*nowhere"):
        save(model, tmp_path / "nowhere" / "model.skops")
    with pytest.raises(IsADirectoryError, match="is a folder; name a file"):
        save(model, tmp_path)
    with pytest.raises(ModelFileError, match="is a folder, not a model file"):
        load(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"there is no file .*missing"):
        load(tmp_path / "missing.skops")
    with pytest.raises(TypeError, match="must be a file name"):
        save(model, 3)
    with pytest.raises(TypeError, match="the name of a file is needed; got int"):
        load(3)


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_an_interrupted_save_leaves_the_old_file(
    step, model_file, tmp_path, monkeypatch
):
    def interrupt(*_):
        raise KeyboardInterrupt

    _, model, _ = model_file
    path = tmp_path / "model.skops"
    path.write_bytes(b"old")
    if step == "fsync":
        monkeypatch.setattr(os, "fsync", interrupt)
    else:
        monkeypatch.setattr(Path, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        save(model, path)
    assert [item.name for item in tmp_path.iterdir()] == ["model.skops"]
    assert path.read_bytes() == b"old"


def test_without_skops_models_are_read_and_the_error_names_the_extra(
    model_file, tmp_path
):
    (tmp_path / "skops.py").write_text("raise ModuleNotFoundError(name='skops')")
    code = """
import sys; sys.path.insert(0, sys.argv[1])
import pairlearn
from pairlearn.files.saving import describe
print(describe(sys.argv[2])["kind"])
print(pairlearn.load(sys.argv[2]).predict([[0.0, 0.0]]).shape)
try:
    pairlearn.save(pairlearn.CIPSClassifier(), sys.argv[1] + "/m")
except ModuleNotFoundError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path), str(model_file[0])],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert lines[:2] == ["CIPSClassifier", "(1,)"]
    assert len(lines) == 3
    assert "pip install 'pairlearn[cli]'" in lines[2]
