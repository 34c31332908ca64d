"""Models on disk: what is saved is what is loaded, and nothing else gets in."""

import io
import json
import os
import pickle
import stat
import struct
import subprocess
import sys
import tracemalloc
import warnings
import zipfile
import zlib
from collections import defaultdict
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.lib import format as npy
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
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
from pairlearn.archive import FORMAT, HEADER, SCHEMA, check_sparse, pack
from pairlearn.losses import SquaredLoss
from pairlearn.metrics import neg_pair_error_scorer
from pairlearn.saving import ModelFileError, describe
from pairlearn.vouched import FUNCTIONS, TYPES
from tests.estimators import ESTIMATORS

STORED = Path(__file__).parent / "stored"
IN_NUMPY = {
    name: model
    for name, model in ESTIMATORS.items()
    if not type(model).__module__.startswith("pairlearn.neural")
}
TREES = [
    "sklearn.tree._tree.Tree",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
]


def saved(model, folder, **kwargs):
    path = folder / "model.skops"
    save(model, path, **kwargs)
    return path


def round_trip(model, folder, **kwargs):
    return load(saved(model, folder), **kwargs)


def assert_same(model, again, X):
    """Exactly the same, in everything that can be asked of points."""
    assert type(again) is type(model)
    for method in ("decision_function", "predict", "predict_proba"):
        if hasattr(model, method):
            before, after = getattr(model, method)(X), getattr(again, method)(X)
            assert before.dtype == after.dtype
            np.testing.assert_array_equal(before, after)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A small model file, for damage."""
    X = np.random.default_rng(0).normal(size=(60, 2))
    pairs, t = Pairs.sample(X, 30, X[:, 0] > 0, random_state=0)
    model = CIPSClassifier(classes=("no", "yes"), random_state=0).fit(pairs, t)
    path = tmp_path_factory.mktemp("small") / "model.skops"
    save(model, path, about={"who": "me"})
    return path, model, X


def members_of(data):
    with zipfile.ZipFile(io.BytesIO(data)) as source:
        return {name: source.read(name) for name in source.namelist()}


def forged(data, change=None, *, header=None, sign=True):
    """The file after a change of its schema, with checksums that fit again."""
    members = members_of(data)
    schema = json.loads(members[SCHEMA])
    if change is not None:
        schema = change(schema) or schema
    members[SCHEMA] = json.dumps(schema).encode()
    return zipped(members, header=header, sign=sign)


def zipped(members, *, header=None, sign=True, compress=False):
    import hashlib

    about = json.loads(members[HEADER])
    if sign:
        about["sha256"] = {
            name: hashlib.sha256(content).hexdigest()
            for name, content in members.items()
            if name != HEADER
        }
    about.update(header or {})
    members = {**members, HEADER: json.dumps(about).encode()}
    buffer = io.BytesIO()
    kind = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    with zipfile.ZipFile(buffer, "w", kind) as target:
        for name, content in members.items():
            target.writestr(name, content)
    return buffer.getvalue()


def attribute(schema, name):
    return schema["content"]["content"][name]


def node(loader, module, name, **content):
    return {"__loader__": loader, "__module__": module, "__class__": name, **content}


def json_node(value):
    return node("JsonNode", "builtins", "str", content=json.dumps(value), is_json=True)


def tuple_node(*nodes):
    return node("TupleNode", "builtins", "tuple", content=list(nodes))


# Round trips.


@pytest.mark.parametrize("name", IN_NUMPY)
def test_every_estimator_is_the_same_after_loading(name, blobs, blob_pairs, tmp_path):
    model = clone(IN_NUMPY[name]).fit(*blob_pairs)
    again = round_trip(model, tmp_path)
    assert_same(model, again, blobs[0])
    assert repr(again.get_params()) == repr(model.get_params())
    fitted = {key for key in vars(model) if key.endswith("_")}
    assert fitted == {key for key in vars(again) if key.endswith("_")}


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
    with pytest.raises(TypeError, match="holds the whole again") as caught:
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
def test_nobody_trusts_everything(trusted, small):
    with pytest.raises(TypeError, match="trusted must be a list"):
        load(small[0], trusted=trusted)


def test_trees_are_for_those_who_know_the_file(blobs, blob_pairs, tmp_path):
    forest = RandomForestClassifier(2, random_state=0)
    model = PairMetaClassifier(forest, max_iter=1).fit(*blob_pairs)
    path = saved(model, tmp_path)
    with pytest.raises(ModelFileError, match=r"trusted=\['sklearn.tree._tree.Tree'\]"):
        load(path)
    assert_same(model, load(path, trusted=TREES[:1]), blobs[0])


def test_networks_have_their_own_way(blob_pairs, tmp_path):
    pytest.importorskip("torch")
    neural = pytest.importorskip("pairlearn.neural")
    net = neural.PairNet(hidden=(4,), max_epochs=1, random_state=0).fit(*blob_pairs)
    for model in (net, make_pair_pipeline(StandardScaler(), net)):
        with pytest.raises(TypeError, match="section 'Saving' of the guide"):
            save(model, tmp_path / "model.skops")


@pytest.mark.parametrize("model", [{}, None, "model.skops", CIPSClassifier])
def test_only_models_are_saved(model, tmp_path):
    with pytest.raises(TypeError, match="wants an estimator first"):
        save(model, tmp_path / "model.skops")


@pytest.mark.parametrize("about", [[1], {"a": {1}}, {1: "a"}, {"a": (1,)}, "text"])
def test_about_is_what_json_can_hold(about, tmp_path):
    with pytest.raises(TypeError, match="about must be a dict of what JSON can hold"):
        save(CIPSClassifier(), tmp_path / "model.skops", about=about)


# Files.


def test_describe_tells_without_building(small, monkeypatch):
    path, _, _ = small
    monkeypatch.setattr("pairlearn.saving._build", None)
    found = describe(path)
    assert found["about"] == {"who": "me"}
    assert found["kind"] == "CIPSClassifier"
    assert found["versions"]["pairlearn"] == pairlearn.__version__
    assert found["versions"]["numpy"] == np.__version__
    assert found["versions"]["python"] == ".".join(map(str, sys.version_info[:3]))
    assert set(found) == {"kind", "about", "versions"}


def test_the_same_model_gives_the_same_bytes(small, tmp_path):
    path, model, _ = small
    save(model, tmp_path / "again.skops", about={"who": "me"})
    assert (tmp_path / "again.skops").read_bytes() == path.read_bytes()


def test_str_and_path_and_links(small, tmp_path):
    _, model, X = small
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


def test_folders_and_missing_files(small, tmp_path):
    _, model, _ = small
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*nowhere"):
        save(model, tmp_path / "nowhere" / "model.skops")
    with pytest.raises(IsADirectoryError, match="is a folder; name a file"):
        save(model, tmp_path)
    with pytest.raises(ModelFileError, match="is a folder, not a model file"):
        load(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"there is no file .*missing"):
        load(tmp_path / "missing.skops")
    with pytest.raises(TypeError, match="wants a file name second"):
        save(model, 3)
    with pytest.raises(TypeError, match="the name of a file is needed; got int"):
        load(3)


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_an_interrupted_save_leaves_the_old_file(step, small, tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    _, model, _ = small
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


def test_without_skops_the_error_names_the_extra(small, tmp_path):
    (tmp_path / "skops.py").write_text("raise ModuleNotFoundError(name='skops')")
    code = """
import sys; sys.path.insert(0, sys.argv[1])
import pairlearn
from pairlearn.saving import describe
print(describe(sys.argv[2])["kind"])
for call in (lambda: pairlearn.load(sys.argv[2]),
             lambda: pairlearn.save(pairlearn.CIPSClassifier(), sys.argv[1] + "/m")):
    try:
        call()
    except ModuleNotFoundError as error:
        print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path), str(small[0])],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert lines[0] == "CIPSClassifier"
    assert len(lines) == 3
    assert all("pip install 'pairlearn[cli]'" in line for line in lines[1:])


# Versions.


@pytest.mark.parametrize(
    ("name", "version"), [("pairlearn", "0.0.9"), ("scikit-learn", "0.24.2")]
)
def test_another_version_warns_once(name, version, small, tmp_path):
    path, model, X = small
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


def test_the_third_number_of_a_version_is_nothing_to_warn_of(small, tmp_path):
    path, model, X = small
    versions = describe(path)["versions"]
    major, minor, *_ = versions["pairlearn"].split(".")
    versions |= {"pairlearn": f"{major}.{minor}.99", "numpy": "1.0", "python": "3.9"}
    other = tmp_path / "other.skops"
    other.write_bytes(forged(path.read_bytes(), header={"versions": versions}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_same(model, load(other), X)


def test_a_newer_format_says_so(small, tmp_path):
    path, _, _ = small
    versions = {**describe(path)["versions"], "pairlearn": "9.0.0"}
    data = forged(
        path.read_bytes(), header={"format": FORMAT + 1, "versions": versions}
    )
    newer = tmp_path / "newer.skops"
    newer.write_bytes(data)
    for read in (load, describe):
        with pytest.raises(ModelFileError, match=r"of pairlearn 9.0.0.*--upgrade"):
            read(newer)


def test_a_parameter_newer_than_the_file_has_its_default(small, tmp_path):
    path, model, X = small

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


# What is vouched for.


@pytest.mark.parametrize("name", sorted(TYPES | FUNCTIONS))
def test_what_is_vouched_for_exists(name):
    from importlib import import_module

    module, _, thing = name.rpartition(".")
    found = getattr(import_module(module), thing)
    assert callable(found)
    assert isinstance(found, type) == (name in TYPES)


def test_every_public_estimator_is_vouched_for():
    for name in pairlearn.__all__:
        thing = getattr(pairlearn, name)
        if isinstance(thing, type) and issubclass(thing, BaseEstimator):
            assert f"{thing.__module__}.{thing.__name__}" in TYPES


def test_nothing_vouched_for_writes_reads_or_calls():
    """No names of input and output are on the list, whatever is added to it."""
    roots = {name.split(".")[0] for name in TYPES | FUNCTIONS}
    assert roots == {"pairlearn", "sklearn", "scipy", "numpy", "builtins", "functools"}
    for word in ("load", "open", "memory", "fetch", "exec", "eval", "save", "path"):
        assert not {name for name in TYPES | FUNCTIONS if word in name.lower()}
    assert not {name for name in TYPES if name.startswith("pairlearn.neural")}


# Damage.


def refused(data, folder):
    path = folder / "bad.skops"
    path.write_bytes(data)
    with pytest.raises(ModelFileError) as caught:
        load(path)
    message = str(caught.value)
    assert message.startswith(f"{path} cannot be loaded: ")
    assert "\n" not in message
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    return message


def test_truncated_files_are_refused(small, tmp_path):
    data = small[0].read_bytes()
    for size in [*range(60), *np.linspace(60, len(data) - 1, 60).astype(int)]:
        refused(data[:size], tmp_path)
    refused(data[len(data) // 2 :], tmp_path)
    # Zip files may have anything before them; this one then has the wrong length.
    refused(b"#!/bin/sh\n" + data[100:], tmp_path)


def test_flipped_bytes_never_load_as_another_model(small, tmp_path):
    path, model, X = small
    data = path.read_bytes()
    expected = model.decision_function(X)
    rng = np.random.default_rng(0)
    bad, n_refused = tmp_path / "bad.skops", 0
    for place in rng.choice(len(data), 400, replace=False):
        broken = bytearray(data)
        broken[place] ^= 1 << rng.integers(8)
        bad.write_bytes(broken)
        try:
            again = load(bad)
        except ModelFileError:
            n_refused += 1
            continue
        # The date of a member, say, may be flipped without harm.
        np.testing.assert_array_equal(again.decision_function(X), expected)
        assert describe(bad) == describe(path)
    assert n_refused > 250


def test_shuffled_and_zeroed_blocks_are_refused(small, tmp_path):
    data = small[0].read_bytes()
    for start in range(0, len(data) - 64, 97):
        zeroed = data[:start] + bytes(64) + data[start + 64 :]
        if zeroed != data:
            refused(zeroed, tmp_path)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "it is empty"),
        (b"hello", "damaged, or of another kind"),
        (pickle.dumps({"a": 1}), "damaged, or of another kind"),
        (os.urandom(5000), "damaged, or of another kind"),
        (b"PK\x03\x04" + bytes(100), "damaged, or of another kind"),
    ],
)
def test_files_of_other_kinds(data, says, tmp_path):
    assert says in refused(data, tmp_path)


def test_other_zips(small, tmp_path):
    import skops.io

    path, model, _ = small
    members = members_of(path.read_bytes())
    assert "not written by pairlearn.save" in refused(skops.io.dumps(model), tmp_path)
    alone = {HEADER: members[HEADER]}
    assert f"no {SCHEMA}" in refused(zipped(alone), tmp_path)
    for name in ("../evil.npy", "/etc/passwd", "evil.py", "..\\0.npy", "sub/0.npy"):
        message = refused(zipped({**members, name: b"x"}), tmp_path)
        assert "which is no part of a model" in message
    extra = zipped({**members, "99.npy": members["0.npy"]}, sign=False)
    assert f"not those that its {HEADER} lists" in refused(extra, tmp_path)
    missing = {name: value for name, value in members.items() if name != "0.npy"}
    message = refused(zipped(missing, sign=False), tmp_path)
    assert f"not those that its {HEADER} lists" in message
    changed = {**members, "0.npy": members["0.npy"][:-1] + b"x"}
    message = refused(zipped(changed, sign=False), tmp_path)
    assert "a checksum is wrong" in message
    refused(zipped(missing), tmp_path)
    doubled = io.BytesIO(path.read_bytes())
    with zipfile.ZipFile(doubled, "a") as target, pytest.warns(match="Dupl"):
        target.writestr("0.npy", members["0.npy"])
    assert "two members of one name" in refused(doubled.getvalue(), tmp_path)


@pytest.mark.parametrize(
    "header",
    [
        {"format": "1"}, {"format": 0}, {"format": None}, {"versions": []},
        {"about": "x"}, {"kind": None}, {"sha256": None}, {"sha256": []},
    ],
    ids=str,
)  # fmt: skip
def test_odd_headers(header, small, tmp_path):
    refused(forged(small[0].read_bytes(), header=header), tmp_path)


def test_headers_that_are_no_dict(small, tmp_path):
    members = members_of(small[0].read_bytes())
    for text in (b"[]", b"3", b"{}", b"{", b"\xff\xfe", b"[" * 100_000):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as target:
            for name, content in {**members, HEADER: text}.items():
                target.writestr(name, content)
        refused(buffer.getvalue(), tmp_path)


def test_bombs_are_refused_before_they_unfold(small, tmp_path):
    members = members_of(small[0].read_bytes())
    bomb = {**members, "0.npy": bytes(50_000_000)}
    assert "is compressed" in refused(zipped(bomb, compress=True), tmp_path)
    bomb = {HEADER: members[HEADER], SCHEMA: b" " * 110_000_000}
    message = refused(zipped(bomb, compress=True), tmp_path)
    assert "claims to have 110000000 bytes" in message
    # An array whose header asks for more than there is.
    header = io.BytesIO()
    npy.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": (10**13,)}
    )
    huge = {**members, "0.npy": header.getvalue() + bytes(80)}
    assert "not as long as it says" in refused(zipped(huge), tmp_path)
    objects = io.BytesIO()
    np.save(objects, np.array([print], dtype=object), allow_pickle=True)
    pickled = {**members, "0.npy": objects.getvalue()}
    refused(zipped(pickled), tmp_path)


def test_sparse_arrays_are_checked(blob_pairs, tmp_path):
    pairs, t = blob_pairs
    model = ConstrainedSpectralClustering(random_state=0).fit(pairs, t)
    members = members_of(saved(model, tmp_path).read_bytes())
    (name,) = [name for name in members if name.endswith(".npz")]
    inner = members_of(members[name])
    indices = np.load(io.BytesIO(inner["indices.npy"]))
    indices[7] = 10**6
    changed = io.BytesIO()
    np.save(changed, indices)

    def packed(content, kind=zipfile.ZIP_STORED):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", kind) as target:
            for key, value in content.items():
                target.writestr(key, value)
        return buffer.getvalue()

    outside = packed({**inner, "indices.npy": changed.getvalue()})
    refused(zipped({**members, name: outside}), tmp_path)
    compressed = packed(inner, zipfile.ZIP_DEFLATED)
    message = refused(zipped({**members, name: compressed}), tmp_path)
    assert "sparse arrays is compressed" in message


def unchecked(model):
    """The file of a model as a forger would write it: without a look at the model."""
    import skops.io

    versions = {"pairlearn": pairlearn.__version__}
    header = {"kind": "x", "versions": versions, "about": {}}
    return pack(skops.io.dumps(model), header)


def with_attributes(module, name, attributes):
    """A file that asks for an object of a type, with attributes that it chooses."""
    model, inner = CIPSClassifier(), CIPSClassifier()
    vars(inner).clear()
    vars(inner).update(attributes)
    model.extra_ = inner

    def change(schema):
        attribute(schema, "extra_").update({"__module__": module, "__class__": name})

    return forged(unchecked(model), change)


def with_sparse(**arrays):
    """A file with a sparse array that is made of these arrays."""
    model = CIPSClassifier()
    model.extra_ = sparse.csr_array(np.eye(3))
    members = members_of(unchecked(model))
    (name,) = [name for name in members if name.endswith(".npz")]
    buffer = io.BytesIO()
    np.savez(buffer, _is_array=True, shape=(3, 3), **arrays)
    return zipped({**members, name: buffer.getvalue()})


def refused_by_both(data, folder):
    """Also by `describe`, which builds nothing."""
    message = refused(data, folder)
    with pytest.raises(ModelFileError) as caught:
        describe(folder / "bad.skops")
    assert str(caught.value) == message
    return message


@pytest.mark.parametrize(
    ("module", "name", "attributes"),
    [
        ("_coo", "coo_array", {"coords": (np.array([10**7, 0]), np.array([0, 1]))}),
        ("_coo", "coo_matrix", {"coords": (np.array([10**7, 0]), np.array([0, 1]))}),
        ("_csr", "csr_array", {"indices": np.zeros(2), "indptr": [0, 10**8, 5, 0]}),
        ("_csc", "csc_matrix", {"indices": np.zeros(2), "indptr": [0, 10**8, 5, 0]}),
    ],
)
def test_sparse_arrays_have_no_attributes_of_choice(module, name, attributes, tmp_path):
    attributes = {"_shape": (3, 3), "data": np.ones(2), "maxprint": 50, **attributes}
    data = with_attributes(f"scipy.sparse.{module}", name, attributes)
    message = refused(data, tmp_path)
    assert f"{module}.{name} as a ObjectNode, which no model needs" in message
    # Nor if a user names it: it can be in a model, but is never built so.
    path = tmp_path / "bad.skops"
    with pytest.raises(ModelFileError, match="no model needs"):
        load(path, trusted=[f"scipy.sparse.{module}.{name}"])


@pytest.mark.parametrize(
    "name",
    sorted(
        name
        for name in TYPES
        if name.split(".")[0] in ("builtins", "functools", "numpy", "scipy")
    ),
)
@pytest.mark.parametrize("loader", ["ObjectNode", "FunctionNode", "LossNode"])
def test_types_in_c_are_built_in_their_own_way_only(loader, name, small, tmp_path):
    def change(schema):
        module, _, kind = name.rpartition(".")
        evil = node(loader, module, kind, content=tuple_node())
        schema["content"]["content"]["alpha"] = evil

    message = refused(forged(small[0].read_bytes(), change), tmp_path)
    assert f"{name} as a {loader}, which no model needs" in message


def integers(*values):
    return np.array(values, dtype=np.int32)


@pytest.mark.parametrize(
    "arrays",
    [
        # Without a value SciPy does not look at the starts of the rows.
        {"data": [], "indices": [], "indptr": [0, 10**8, 5, 0]},
        {"data": [], "indices": [], "indptr": [0, -(10**8), 0, 0]},
        {"data": [], "indices": [], "indptr": [0, 2**31 - 1, -(2**31), 0]},
        {"data": [1.0], "indices": [0], "indptr": [0, 1, 0, 1]},
        {"data": [1.0], "indices": [99], "indptr": [0, 1, 1, 1]},
        {"data": [1.0], "indices": [-99], "indptr": [0, 1, 1, 1]},
        {"data": [1.0], "indices": [0], "indptr": [0, 1, 1, 10**8]},
        {"data": [1.0], "indices": [0], "indptr": [-(10**8), 1, 1, 1]},
        {"data": [1.0], "indices": [0], "indptr": [0, 1]},
        {"data": [1.0], "indices": [0, 1, 2], "indptr": [0, 1, 2, 3]},
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_compressed_arrays_stay_within_themselves(kind, arrays, tmp_path):
    arrays = {
        name: np.array(value, dtype=float) if name == "data" else integers(*value)
        for name, value in arrays.items()
    }
    # SciPy finds some of this by itself, when the array is made.
    refused_by_both(with_sparse(format=kind, **arrays), tmp_path)


@pytest.mark.parametrize(
    ("row", "col", "n_values"),
    [((3, 0), (0, 1), 2), ((0, -1), (0, 1), 2), ((0,), (0, 1), 2), ((0,), (0,), 2)],
)
def test_coordinates_stay_within_the_array(row, col, n_values, tmp_path):
    coords = {"row": integers(*row), "col": integers(*col)}
    data = with_sparse(format="coo", data=np.ones(n_values), **coords)
    refused_by_both(data, tmp_path)
    table = sparse.coo_array(np.eye(3))
    table.coords, table.data = tuple(coords.values()), np.ones(n_values)
    with pytest.raises(ModelFileError, match="rows or columns outside of it"):
        check_sparse(table)


@pytest.mark.parametrize("kind", ["bsr", "dia", "lil", "x" * 99])
def test_sparse_arrays_of_other_formats(kind, tmp_path):
    arrays = {"data": np.ones((1, 3)), "offsets": integers(0)}
    message = refused_by_both(with_sparse(format=kind, **arrays), tmp_path)
    assert f"sparse array of format {kind[:20]!r}" in message


@pytest.mark.parametrize("kind", [sparse.coo_array, sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize("shape", [(4, 7), (7, 4), (0, 3), (3, 0), (5, 5), (6,)])
def test_sparse_arrays_of_any_shape(kind, shape, tmp_path):
    table = np.arange(np.prod(shape)).reshape(shape) % 3
    model = CIPSClassifier()
    if len(shape) == 1 and kind is not sparse.coo_array:
        pytest.skip("has two dimensions, in some versions of SciPy")
    model.extra_ = [kind(table), kind(0 * table)]
    again = round_trip(model, tmp_path)
    for before, after in zip(model.extra_, again.extra_, strict=True):
        assert type(after) is type(before)
        np.testing.assert_array_equal(after.toarray(), before.toarray())


@pytest.mark.parametrize(
    "kind",
    [
        node("FunctionNode", "numpy", "sin"),
        node("PartialNode", "functools", "partial", content={}),
        json_node("str"),
    ],
    ids=lambda kind: kind["__loader__"],
)
def test_keys_are_made_by_types_only(kind, small, tmp_path):
    """skops calls what makes a key while the model is built."""

    def change(schema):
        schema["content"]["key_types"]["content"][0] = kind

    message = refused(forged(small[0].read_bytes(), change), tmp_path)
    assert "a dict whose keys are of no type" in message


def generator(kind, **changed):
    bits = kind(0)
    state = bits.state
    inner = state["state"] if "pos" in changed else state
    inner.update(changed)
    bits.state = state
    return np.random.Generator(bits)


def random_state(place):
    source = np.random.RandomState(0)
    name, key, _, *rest = source.get_state()
    source.set_state((name, key, place, *rest))
    return source


FORGED_PLACES = [
    lambda: random_state(10**9),
    lambda: random_state(625),
    lambda: random_state(-1),
    lambda: generator(np.random.MT19937, pos=10**9),
    lambda: generator(np.random.MT19937, pos=-(10**9)),
    lambda: generator(np.random.Philox, buffer_pos=-(10**6)),
    lambda: generator(np.random.Philox, buffer_pos=5),
]


@pytest.mark.parametrize("make", FORGED_PLACES)
def test_a_generator_stands_within_its_state(make, tmp_path):
    model = CIPSClassifier(solver="sgd", random_state=make())
    assert "a generator of random numbers at place" in refused(
        unchecked(model), tmp_path
    )
    with pytest.raises(TypeError, match=r"cannot be saved.*random numbers at place"):
        save(model, tmp_path / "model.skops")


def test_no_generator_is_overlooked(tmp_path):
    evil = random_state(10**9)
    inner = CIPSClassifier()
    inner.deep_ = {"a": [(1, np.array([evil, None], dtype=object))]}
    hidden = partial(rbf_kernel, gamma=evil)
    hidden.extra = evil
    factory = defaultdict(partial(rbf_kernel, evil))
    for holder in ({evil}, {(1, evil)}, inner, hidden, factory):
        model = CIPSClassifier()
        model.extra_ = holder
        message = refused(unchecked(model), tmp_path)
        assert "a generator of random numbers at place" in message


@pytest.mark.parametrize("name", ["MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"])
def test_generators_go_on_where_they_were(name, tmp_path):
    model = CIPSClassifier()
    model.extra_ = [
        np.random.Generator(getattr(np.random, name)(3)),
        np.random.RandomState(3),
    ]
    for n_drawn in (0, 1, 5, 624, 3):
        for source in model.extra_:
            source.random(n_drawn)
        again = round_trip(model, tmp_path)
        for before, after in zip(model.extra_, again.extra_, strict=True):
            np.testing.assert_array_equal(before.random(9), after.random(9))


@pytest.mark.parametrize("size", [10**6, 0, "4", None])
def test_a_seed_is_of_the_usual_size(size, tmp_path):
    """The time to mix a seed grows as the square of its size."""
    model = CIPSClassifier(random_state=np.random.default_rng(0))

    def change(schema):
        seed = attribute(schema, "random_state")["content"]["seed_seq"]
        seed["content"]["pool_size"] = json_node(size)

    message = refused(forged(unchecked(model), change), tmp_path)
    assert "a generator of numbers whose seed is none" in message


def test_text_that_unfolds_is_refused(small, tmp_path):
    """Millions of empty lists are nothing in a file, and a thousand times in memory."""
    members = members_of(small[0].read_bytes())
    many = "[" + "[]," * 1_500_000 + "[]]"
    header = json.loads(members[HEADER])
    for inside in ({"about": {"x": 0}}, {"x": 0}):
        text = json.dumps({**header, **inside}).replace('"x": 0', f'"x": {many}')
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as target:
            target.writestr(HEADER, text)
            target.writestr(SCHEMA, members[SCHEMA])
            for name in members.keys() - {HEADER, SCHEMA}:
                target.writestr(name, members[name], zipfile.ZIP_STORED)
        data = buffer.getvalue()
        assert len(data) < 20_000
        tracemalloc.start()
        message = refused_by_both(data, tmp_path)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert f"its {HEADER} is compressed in a way" in message
        assert peak < 2_000_000


@pytest.mark.parametrize("kind", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_text_is_compressed_in_one_way(kind, small, tmp_path):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as target:
        for name, content in members_of(small[0].read_bytes()).items():
            target.writestr(name, content, kind if name == SCHEMA else None)
    message = refused_by_both(buffer.getvalue(), tmp_path)
    assert f"its {SCHEMA} is compressed in a way" in message


def test_text_is_as_long_as_it_says(small, tmp_path):
    """zipfile unfolds all there is, and only then cuts it to the length claimed."""
    members = members_of(small[0].read_bytes())
    schema = members[SCHEMA]
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as target:
        target.writestr(HEADER, members[HEADER])
        target.writestr(SCHEMA, schema + b" " * 30_000_000)
        for name in members.keys() - {HEADER, SCHEMA}:
            target.writestr(name, members[name], zipfile.ZIP_STORED)
    with zipfile.ZipFile(buffer) as source:
        info = source.getinfo(SCHEMA)
    data = buffer.getvalue()
    for old, new in (
        (info.file_size, len(schema)),
        (info.CRC, zlib.crc32(schema)),
    ):
        assert data.count(struct.pack("<I", old)) == 2
        data = data.replace(struct.pack("<I", old), struct.pack("<I", new))
    tracemalloc.start()
    message = refused_by_both(data, tmp_path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert f"its {SCHEMA} is compressed in a way" in message
    assert peak < 10 * len(data)


def test_a_long_text_that_repeats_can_be_saved(tmp_path):
    model = CIPSClassifier()
    model.extra_ = np.full(20_000, None)
    path = saved(model, tmp_path)
    with zipfile.ZipFile(path) as source:
        assert source.getinfo(SCHEMA).compress_type == zipfile.ZIP_STORED
    assert load(path).extra_.tolist() == [None] * 20_000
    model.extra_ = np.arange(20_000).astype(str).astype(object)
    path = saved(model, tmp_path)
    with zipfile.ZipFile(path) as source:
        info = source.getinfo(SCHEMA)
        assert info.compress_type == zipfile.ZIP_DEFLATED
        assert info.file_size > 1_000_000
    assert load(path).extra_.tolist() == model.extra_.tolist()


def overlapping(members, n_members, content):
    """A zip in which each of many members holds all that comes after it."""

    def entry(kind, name, inside, *more):
        sizes = (zlib.crc32(inside), len(inside), len(inside), len(name))
        made = (20, 20) if kind == b"PK\x01\x02" else (20,)
        head = struct.pack(
            f"<4s{len(made)}HHHHHIIIHH", kind, *made, 0, 0, 0, 33, *sizes, 0
        )
        return head + b"".join(more) + name

    tail, folder, made = content, [], []
    for k in range(n_members):
        name = b"%d.npy" % (900_000_000 + k)
        made.append((name, tail, len(tail)))
        tail = entry(b"PK\x03\x04", name, tail) + tail
    start = b""
    for name, inside in members.items():
        place = struct.pack("<HHHII", 0, 0, 0, 0, len(start))
        folder.append(entry(b"PK\x01\x02", name.encode(), inside, place))
        start += entry(b"PK\x03\x04", name.encode(), inside) + inside
    total = len(start) + len(tail)
    for name, inside, size in made:
        offset = total - size - 30 - len(name)
        place = struct.pack("<HHHII", 0, 0, 0, 0, offset)
        folder.append(entry(b"PK\x01\x02", name, inside, place))
    directory = b"".join(folder)
    n = len(folder)
    end = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, n, n, len(directory), total, 0)
    return start + tail + directory + end


def test_members_that_lie_on_each_other_are_refused(small, tmp_path):
    members = members_of(small[0].read_bytes())
    data = overlapping(members, 40, bytes(200_000))
    with zipfile.ZipFile(io.BytesIO(data)) as source:
        assert len(source.infolist()) == len(members) + 40
    tracemalloc.start()
    message = refused_by_both(data, tmp_path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "its members are larger than the file" in message
    assert peak < 5 * len(data)
    # In a sparse array too.
    inner = overlapping({}, 40, bytes(20_000))
    model = CIPSClassifier()
    model.extra_ = sparse.csr_array(np.eye(3))
    members = members_of(unchecked(model))
    (name,) = [name for name in members if name.endswith(".npz")]
    message = refused_by_both(zipped({**members, name: inner}), tmp_path)
    assert "its members are larger than the file" in message


def test_only_members_that_are_listed_are_read(small, tmp_path, monkeypatch):
    members = members_of(small[0].read_bytes())
    extra = zipped({**members, "99.npy": bytes(10**6)}, sign=False)
    read = []
    original = zipfile.ZipFile.read
    monkeypatch.setattr(
        zipfile.ZipFile,
        "read",
        lambda self, name, *more: read.append(name) or original(self, name, *more),
    )
    message = refused_by_both(extra, tmp_path)
    assert f"its members are not those that its {HEADER} lists" in message
    assert set(read) == {HEADER}


def test_unknown_words_in_the_header_are_refused(small, tmp_path):
    data = forged(small[0].read_bytes(), header={"more": [1]})
    message = refused_by_both(data, tmp_path)
    assert f"its {HEADER} holds 'more', which none has" in message


def test_an_array_is_read_once(small, tmp_path):
    """Or one array in the file could be a thousand in memory."""

    def change(schema):
        parts = schema["content"]["content"]
        array = next(part for part in parts.values() if "file" in part)
        copies = [{**array, "__id__": 10**6 + k} for k in range(3)]
        parts["alpha"] = tuple_node(*copies)

    message = refused(forged(small[0].read_bytes(), change), tmp_path)
    assert "reads an array more than once" in message

    def without_number(schema):
        parts = schema["content"]["content"]
        array = next(part for part in parts.values() if "file" in part)
        del array["__id__"]

    message = refused(forged(small[0].read_bytes(), without_number), tmp_path)
    assert "reads an array more than once" in message


def test_a_number_alone_is_no_node(small, tmp_path):
    """With it sixty tuples of two would be two to the power of sixty."""

    def change(schema):
        inner = {**tuple_node(json_node(1)), "__id__": 10**6}
        for k in range(1, 60):
            both = {"__id__": 10**6 + k - 1}
            inner = {**tuple_node(inner, both), "__id__": 10**6 + k}
        schema["content"]["content"]["alpha"] = inner

    assert "damaged" in refused(forged(small[0].read_bytes(), change), tmp_path)


@pytest.mark.parametrize("name", ["bytes_", "void"])
def test_a_number_does_not_become_so_many_bytes(name, tmp_path):
    model = CIPSClassifier()
    model.extra_ = np.int64(2 * 10**9)

    def change(schema):
        attribute(schema, "extra_")["__class__"] = name

    message = refused(forged(unchecked(model), change), tmp_path)
    assert f"numpy.{name} as a NdArrayNode, which no model needs" in message


def test_items_without_bytes_are_refused(small, tmp_path):
    members = members_of(small[0].read_bytes())
    header = io.BytesIO()
    npy.write_array_header_1_0(
        header, {"descr": "|V0", "fortran_order": False, "shape": (10**15,)}
    )
    endless = {**members, "0.npy": header.getvalue()}
    assert "not as long as it says" in refused_by_both(zipped(endless), tmp_path)


def test_an_error_is_one_line_whatever_the_file_says(small, tmp_path):
    def change(schema):
        evil = node("ObjectNode", "a\nb", "c" * 10**5)
        schema["content"]["content"]["alpha"] = evil

    message = refused(forged(small[0].read_bytes(), change), tmp_path)
    assert "it asks for a b.ccc" in message
    assert len(message) < 2000


# Hostile schemas.


@pytest.fixture
def marker(tmp_path):
    return tmp_path / "marker"


def call(loader, module, name, *arguments):
    """A node by which a careless reader would call a function."""
    return node(
        loader,
        module,
        name,
        content=tuple_node(*map(json_node, arguments)),
        __reduce__={"args": tuple_node(*map(json_node, arguments))},
        attrs=tuple_node(*map(json_node, arguments)),
        type="json",
        shape=json_node([1]),
    )


@pytest.mark.parametrize(
    "loader",
    [
        "ConstructorFromReduceNode", "ObjectNode", "FunctionNode", "TypeNode",
        "ListNode", "SetNode", "TupleNode", "DictNode", "LossNode", "TreeNode",
        "NdArrayNode", "OperatorFuncNode", "MethodNode", "PartialNode", "CachedNode",
        "RandomStateNode", "RandomGeneratorNode", "MaskedArrayNode",
        "SparseMatrixNode", "BytesNode", "JsonNode", "NoSuchNode",
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    ("module", "name"),
    [("os", "system"), ("posix", "system"), ("builtins", "eval"), ("pathlib", "Path")],
)
def test_hostile_nodes_run_nothing(loader, module, name, small, marker, tmp_path):
    evil = call(loader, module, name, f"touch {marker}")

    def whole(_):
        return {**evil, "protocol": 2, "_skops_version": "0.16.0"}

    def part(schema):
        schema["content"]["content"]["alpha"] = evil

    def key(schema):
        schema["content"]["key_types"]["content"][0] = evil

    for change in (whole, part, key):
        for protocol in (0, 1, 2):
            data = forged(
                small[0].read_bytes(),
                lambda schema, change=change, protocol=protocol: {
                    **(change(schema) or schema),
                    "protocol": protocol,
                },
            )
            refused(data, tmp_path)
    assert not marker.exists()


def test_the_error_names_what_a_file_asks_for(small, tmp_path):
    def change(schema):
        evil = node("FunctionNode", "posix", "system")
        schema["content"]["content"]["alpha"] = evil

    message = refused(forged(small[0].read_bytes(), change), tmp_path)
    assert "it asks for posix.system" in message
    assert "only if you know who made the file" in message


def test_no_function_is_called_that_a_generator_names(small, tmp_path):
    state = {"bit_generator": json_node("seed")}
    content = node(
        "DictNode", "builtins", "dict", content=state,
        key_types=node("ListNode", "builtins", "list", content=[]),
    )  # fmt: skip
    evil = node(
        "RandomGeneratorNode", "numpy.random._generator", "Generator",
        content={"bit_generator": content, "seed_seq": content},
    )  # fmt: skip

    def change(schema):
        schema["content"]["content"]["random_state"] = evil

    assert "generator" in refused(forged(small[0].read_bytes(), change), tmp_path)


def test_one_number_for_two_things_is_refused(small, tmp_path):
    """skops takes the first node of a number: a second must not pass unread."""

    def change(schema):
        first = attribute(schema, "alpha")
        schema["content"]["content"]["loss"] = {
            **json_node("hinge"),
            "__id__": first["__id__"],
        }

    message = refused(forged(small[0].read_bytes(), change), tmp_path)
    assert "two things alike" in message

    def circle(schema):
        schema["content"]["content"]["alpha"] = tuple_node()
        schema["content"]["content"]["alpha"]["__id__"] = schema["__id__"]

    refused(forged(small[0].read_bytes(), circle), tmp_path)


def test_deep_and_odd_schemas(small, tmp_path):
    data = small[0].read_bytes()

    def deep(schema):
        inner = json_node(1)
        for _ in range(60):
            inner = tuple_node(inner)
        schema["content"]["content"]["alpha"] = inner

    path = tmp_path / "deep.skops"
    path.write_bytes(forged(data, deep))
    assert isinstance(load(path).alpha, tuple)

    members = members_of(data)
    text = '{"__loader__":"TupleNode","__module__":"builtins","__class__":"tuple",'
    text = (text + '"content":[') * 5000 + "]}" * 5000
    schema = members[SCHEMA].decode()
    start = schema.index('"alpha":') + len('"alpha":')
    schema = schema[:start] + text + "," + '"beta":' + schema[start:]
    refused(zipped({**members, SCHEMA: schema.encode()}), tmp_path)
    for odd in (b"[]", b"3", b"{}", b"null", b"{", b"[" * 10**6, b'{"protocol": true}'):
        refused(zipped({**members, SCHEMA: odd}), tmp_path)


def test_random_changes_of_the_schema_give_one_kind_of_error(small, tmp_path):
    """Forged files whose checksums fit: any error but ours would be a leak."""
    data = small[0].read_bytes()
    text = members_of(data)[SCHEMA].decode()
    rng = np.random.default_rng(0)
    values = ["null", "3", '"x"', "[]", "{}", "true", "-1"]
    members, path, n_refused = members_of(data), tmp_path / "bad.skops", 0
    starts = [k for k, letter in enumerate(text) if letter == ":"]
    for place in rng.choice(starts, 150, replace=False):
        # Put something else in place of one value of the schema.
        _, end = (
            json.JSONDecoder().raw_decode(text, place + 1)
            if (text[place + 1] in '"{[0123456789tfn-')
            else (None, place + 1)
        )
        changed = text[: place + 1] + str(rng.choice(values)) + text[end:]
        path.write_bytes(zipped({**members, SCHEMA: changed.encode()}))
        try:
            load(path)
        except ModelFileError:
            n_refused += 1
    assert n_refused > 75


def test_a_file_must_hold_a_model(small, tmp_path):
    def whole(_):
        return {**tuple_node(json_node(1)), "protocol": 2, "_skops_version": "0.16.0"}

    message = refused(forged(small[0].read_bytes(), whole), tmp_path)
    assert "it holds a tuple, which is no model" in message


class Elsewhere(ClassifierMixin, BaseEstimator):
    """A class that will be gone."""


def test_a_class_that_is_gone(tmp_path, monkeypatch):
    path = saved(Elsewhere(), tmp_path)
    name = f"{__name__}.Elsewhere"
    monkeypatch.delattr(sys.modules[__name__], "Elsewhere")
    with pytest.raises(ModelFileError, match="Elsewhere"):
        load(path, trusted=[name])
    missing = forged(
        path.read_bytes(), lambda schema: {**schema, "__module__": "no_such_module"}
    )
    (tmp_path / "missing.skops").write_bytes(missing)
    with pytest.raises(ModelFileError, match="needs the module no_such_module"):
        load(tmp_path / "missing.skops", trusted=["no_such_module.Elsewhere"])
