"""Forged models: numbers that would crash compiled code are found when loading."""

import copy
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from scipy import special
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    OneHotEncoder,
    StandardScaler,
)
from sklearn.svm import SVC
from sklearn.utils import all_estimators

from pairlearn import CIPSClassifier, load, save
from pairlearn.files.saving import ModelFileError
from pairlearn.files.trusted_sklearn import REVIEWED, why_not
from pairlearn.files.trusted_types import SPECIAL, TYPES
from tests.fuzz.models import fitted, points
from tests.support.model_files import (
    attribute,
    forged,
    generator,
    node,
    random_state,
    refused,
    saved,
    unchecked,
)


def int32(*values):
    return np.array(values, dtype=np.int32)


def larger(array):
    return np.concatenate([array, array])


def with_value(words, value):
    return {**words, next(iter(words)): value}


def moved(array, value):
    made = np.array(array)
    made.flat[-1] = value
    return made


# The model, an attribute, and what it becomes. Without the checks almost every one of
# these ends the process, or reads what is not its own.
FORGERIES = [
    ("SVC", "_n_support", lambda v: int32(2**30, *v[1:])),
    ("SVC", "_n_support", lambda v: int32(-(2**31), *v[1:])),
    ("SVC", "_n_support", lambda v: larger(v)),
    ("SVC", "_n_support", lambda v: v.astype(float)),
    ("SVC", "_n_support", list),
    ("SVC", "support_", lambda v: v[:3]),
    ("SVC", "support_", lambda v: larger(v)),
    ("SVC", "support_vectors_", lambda v: v[:, :2]),
    ("SVC", "support_vectors_", lambda v: v[:3]),
    ("SVC", "_dual_coef_", lambda v: v[:, :3]),
    ("SVC", "_dual_coef_", lambda v: v[:0]),
    ("SVC", "_intercept_", lambda v: v[:0]),
    ("SVC", "_probA", lambda v: np.zeros(7)),  # noqa: ARG005
    ("SVC", "classes_", lambda v: v[:1]),
    ("SVC", "n_features_in_", lambda v: v + 1),
    ("SVC", "kernel", lambda _: "precomputed"),
    ("SVC", "_sparse", lambda _: True),
    ("SVC", "_impl", lambda _: "epsilon_svr"),
    ("SVC of three", "_intercept_", lambda v: v[:1]),
    ("SVC of rows", "_dual_coef_", lambda v: v[:1]),
    ("SVC of rows", "support_vectors_", lambda v: v.toarray()),
    ("SVC of rows", "_sparse", lambda _: False),
    ("SVC of a kernel", "support_", lambda v: moved(v, 10**6)),
    ("SVC of a kernel", "shape_fit_", lambda _: (10**6, 10**6)),
    ("SVR", "_dual_coef_", lambda v: v[:, :1]),
    ("SVR", "_impl", lambda _: "c_svc"),
    ("OneClassSVM", "support_vectors_", lambda v: v[:2]),
    ("KMeans", "_n_threads", lambda _: -5),
    ("KMeans", "_n_threads", lambda _: 0),
    ("KMeans", "_n_threads", lambda _: 10**6),
    ("KMeans", "_n_threads", lambda _: None),
    ("KMeans", "cluster_centers_", lambda v: v[:, :2]),
    ("KMeans", "cluster_centers_", lambda v: v[:0]),
    ("KMeans", "cluster_centers_", np.asfortranarray),
    ("KMeans", "n_features_in_", lambda v: float(v)),
    ("MiniBatchKMeans", "cluster_centers_", lambda v: v[:, :2]),
    ("words", "vocabulary_", lambda v: with_value(v, 10**9)),
    ("words", "vocabulary_", lambda v: with_value(v, -1)),
    ("words", "vocabulary_", lambda v: with_value(v, 0.5)),
    ("words", "vocabulary_", lambda v: defaultdict(int, v)),
    ("words", "vocabulary_", lambda _: None),
    ("words", "input", lambda _: "filename"),
    ("words weighted", "vocabulary_", lambda v: with_value(v, 10**9)),
    ("words hashed", "n_features", lambda _: 0),
    ("words hashed", "input", lambda _: "file"),
    ("records hashed", "n_features", lambda _: 0),
    ("records hashed", "n_features", lambda _: -(2**31)),
    ("records", "vocabulary_", lambda v: with_value(v, 10**9)),
    ("letters", "_n_features_outs", lambda v: [v[0] - 1, *v[1:]]),
    ("letters", "_n_features_outs", lambda v: [v[0] + 10**6, *v[1:]]),
    ("letters", "categories_", lambda v: [v[0][:1], *v[1:]]),
    ("letters", "categories_", lambda v: tuple(v)),
    ("numbers as letters", "categories_", lambda v: [v[0][::-1].copy(), *v[1:]]),
    ("numbers as letters", "_drop_idx_after_grouping", lambda v: moved(v, 10**6)),
    ("numbers as letters", "_drop_idx_after_grouping", lambda v: moved(v, -1)),
    ("letters rare", "_infrequent_enabled", lambda _: False),
    (
        "letters rare",
        "_default_to_infrequent_mappings",
        lambda v: [m if m is None else moved(m, 10**6) for m in v],
    ),
    (
        "letters rare",
        "_infrequent_indices",
        lambda v: [m if m is None else m[:0] for m in v],
    ),
    ("LogisticRegression", "n_jobs", lambda _: 10**6),
    ("LogisticRegression", "n_jobs", lambda _: -(10**6)),
    ("LogisticRegression", "n_jobs", lambda _: 2.0),
    ("LogisticRegression", "predict", lambda _: np.sin),
    ("pipeline", "memory", lambda _: "anywhere"),
]


@pytest.mark.parametrize(
    ("name", "attribute_", "change"),
    FORGERIES,
    ids=[f"{name}-{key}-{k}" for k, (name, key, _) in enumerate(FORGERIES)],
)
def test_forged_numbers_are_refused(name, attribute_, change, tmp_path):
    model, _ = fitted(name)
    model = copy.deepcopy(model)
    value = vars(model).get(attribute_)
    vars(model)[attribute_] = change(value)
    message = refused(unchecked(model), tmp_path)
    kind = type(model)
    assert f"its {kind.__name__} " in message
    # The way out, for those who know the file.
    trusted = f"{kind.__module__}.{kind.__name__}"
    assert f"load(path, trusted=['{trusted}'])" in message


@pytest.mark.parametrize("name", sorted({name for name, _, _ in FORGERIES}))
def test_models_that_are_checked_load_as_they_were(name, tmp_path):
    model, tables = fitted(name)
    again = load(saved(model, tmp_path))
    method = "predict" if hasattr(model, "predict") else "transform"
    before = getattr(model, method)(tables[0])
    after = getattr(again, method)(tables[0])
    assert (before != after).sum() == 0
    # Before they are fitted too.
    load(saved(clone(model), tmp_path))


def test_forged_models_end_no_process(limited, tmp_path):
    """As they were found: an SVC and a KMeans, used without a check of ours."""
    X, y = points()
    path = tmp_path / "model.skops"
    machine = SVC().fit(X, y)
    machine._n_support = int32(2**30, 2**30)
    clusters = KMeans(2, n_init=1).fit(X)
    clusters._n_threads = -5
    for model in (machine, clusters):
        path.write_bytes(unchecked(model))
        found = limited.load(path, memory=2**30, points=X.tolist())
        assert found["end"] == "refused"
    # An honest one can be used within the same limits.
    save(SVC().fit(X, y), path)
    found = limited.load(path, memory=2**30, points=X.tolist())
    assert found["end"] == "loaded", found


def test_a_type_that_is_trusted_is_not_checked(tmp_path):
    X, y = points()
    machine = SVC().fit(X, y)
    machine._n_support = int32(1, 1)
    path = tmp_path / "model.skops"
    path.write_bytes(unchecked(machine))
    with pytest.warns(UserWarning, match="was saved with"):
        again = load(path, trusted=[SVC])
    assert again._n_support.tolist() == [1, 1]


def test_save_says_so_if_load_would_refuse(tmp_path):
    X, y = points()
    model = make_pipeline(StandardScaler(), LogisticRegression(n_jobs=10**6))
    with pytest.raises(TypeError, match=r"cannot be saved.*n_jobs=1000000"):
        save(model, tmp_path / "model.skops")
    cached = make_pipeline(StandardScaler(), LogisticRegression(), memory="folder")
    with pytest.raises(TypeError, match="use memory=None"):
        save(cached, tmp_path / "model.skops")
    machine = SVC().fit(X, y)
    machine._intercept_ = np.zeros(9)
    with pytest.raises(TypeError, match="arrays that do not fit together"):
        save(machine, tmp_path / "model.skops")
    assert not list(tmp_path.iterdir())


def test_what_is_checked_is_shared_with_nobody(tmp_path):
    """A dict that is the words of one and the attributes of another loses a word."""
    words = {"_sklearn_version": 0, "a": 1, "threshold": 2, "copy": 3}
    vectorizer = CountVectorizer().fit(["word"])
    vectorizer.vocabulary_ = words
    model = make_pipeline(vectorizer, Binarizer(), CIPSClassifier())

    def change(schema):
        steps = attribute(schema, "steps")["content"]
        vectors, binarizer = (step["content"][1] for step in steps[:2])
        binarizer["content"] = vectors["content"]["content"]["vocabulary_"]

    path = tmp_path / "model.skops"
    path.write_bytes(forged(unchecked(model), change))
    with pytest.warns(UserWarning, match="was saved with"):
        again = load(path)
    assert again[0].vocabulary_ == words


def test_no_part_writes_into_what_was_checked_in_another(tmp_path):
    X, y = points()
    machine = SVC().fit(X, y)
    step = FunctionTransformer(
        np.negative, kw_args={"out": machine.support_, "casting": "unsafe"}
    )
    words = CountVectorizer().fit(["one two"])
    model = make_pipeline(step, machine, words)
    model.extra_ = [machine._n_support, words.vocabulary_]
    again = load(saved(model, tmp_path))
    assert again[0].kw_args["out"] is not again[1].support_
    assert again.extra_[0] is not again[1]._n_support
    assert again.extra_[1] is not again[2].vocabulary_


def test_text_in_an_order_of_its_own(tmp_path):
    """Categories that are given need not be sorted, unless they are numbers."""
    for table in (
        np.array([["low"], ["high"]]),
        np.array([["low"], [None]], dtype=object),
    ):
        order = [["low", "mid", "high", None][: 3 + (table.dtype == object)]]
        encoder = OneHotEncoder(categories=order).fit(table)
        again = load(saved(encoder, tmp_path))
        assert (again.transform(table) != encoder.transform(table)).nnz == 0


@pytest.mark.parametrize("function", [special.jv, special.hyp2f1, special.mathieu_a])
def test_functions_that_may_take_for_ever_are_refused(function, tmp_path):
    path = saved(FunctionTransformer(function), tmp_path)
    with pytest.raises(ModelFileError, match=function.__name__):
        load(path)


@pytest.mark.parametrize("name", sorted(SPECIAL))
def test_functions_that_are_vouched_for_can_be_saved(name, tmp_path):
    function = getattr(special, name)
    again = load(saved(FunctionTransformer(function), tmp_path))
    assert again.func is function
    # Whatever they are given.
    with np.errstate(all="ignore"):
        odd = [0, -1, 1e300, -1e300, np.nan, np.inf, -np.inf, 1e-300, 2.0**62]
        assert again.func(np.array(odd)).shape == (9,)


@pytest.mark.parametrize("make", [lambda: random_state(10**9),
    lambda: generator(np.random.Philox, buffer_pos=-(10**6))])  # fmt: skip
def test_a_generator_is_checked_wherever_it_is(make, tmp_path):
    evil = make()
    inside = {
        "defaultdict": defaultdict(int, {"a": evil}),
        "in it": defaultdict(int, {"a": {"b": [defaultdict(int, {"c": evil})]}}),
        "key": {"a": (evil,)},
        "set": {evil},
        "array": np.array([[evil, 1]], dtype=object),
    }
    for holder in inside.values():
        model = CIPSClassifier()
        model.extra_ = holder
        assert "random numbers at place" in refused(unchecked(model), tmp_path)


def test_neighbours_and_boosting_are_for_those_who_know_the_file(tmp_path):
    X, y = points()
    model = KNeighborsClassifier(3).fit(X, y)
    path = saved(model, tmp_path)
    with pytest.raises(ModelFileError, match="a forged one can crash Python") as caught:
        load(path)
    trusted = [
        "sklearn.metrics._dist_metrics.EuclideanDistance64",
        "sklearn.neighbors._classification.KNeighborsClassifier",
        "sklearn.neighbors._kd_tree.KDTree",
    ]
    assert str(trusted) in str(caught.value)
    again = load(path, trusted=trusted)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    message = refused(unchecked(HistGradientBoostingClassifier()), tmp_path)
    assert "does not check the numbers in a tree" in message
    message = refused(unchecked(OneVsRestClassifier(LogisticRegression())), tmp_path)
    assert "that all of its parts answer for as many points" in message


def test_every_type_that_is_not_reviewed_is_refused(tmp_path):
    """Nothing of scikit-learn is built because it is of scikit-learn."""
    unknown = [
        kind
        for name, kind in all_estimators()
        if f"{kind.__module__}.{name}" not in REVIEWED
    ]
    assert len(unknown) > 20
    data = unchecked(CIPSClassifier())
    for kind in unknown:

        def change(schema, kind=kind):
            schema["content"]["content"]["alpha"] = node(
                "ObjectNode", kind.__module__, kind.__name__
            )

        assert "trusted=" in refused(forged(data, change), tmp_path)
    assert not [name for name in TYPES if why_not(name)]


def test_a_sample_of_forgeries_ends_no_process():
    """The whole search: python -m tests.fuzz.forged."""
    sample = ["SVC", "SVC of rows", "SVC of a kernel", "SVR", "KMeans", "letters rare",
              "numbers as letters", "words then logistic", "records filled",
              "records hashed", "own", "own of rows", "landmarks", "several classes",
              "NMF", "LatentDirichletAllocation", "DictionaryLearning", "columns",
              "MLPClassifier", "KNNImputer"]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz.forged", "--n", "5", "--only", *sample],
        capture_output=True, text=True, timeout=600, check=False,
        cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("'used'") > len(sample) // 2
