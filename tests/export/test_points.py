"""Models of plain points: several classes, frames, sparse tables, pipelines."""

import sys
from copy import copy

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import Nystroem
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from pairlearn import (
    CIPSClassifier,
    LandmarkSimilarity,
    MCLClassifier,
    OneVsRestPairClassifier,
    PairClassifier,
    PairMetaClassifier,
    Pairs,
    answers_per_class,
    make_pair_pipeline,
)
from pairlearn.export import ExportError, to_onnx, to_sklearn
from pairlearn.export.checking import check_onnx, check_sklearn, made_up_points
from pairlearn.files.saving import load as load_model
from pairlearn.files.saving import save

RNG = np.random.default_rng(0)
Y = np.arange(150) % 3
X = RNG.normal(size=(150, 4)) + 3 * np.eye(4)[Y]
QUICK = {"n_components": 30, "n_folds": 2, "random_state": 0}


def both(model, points):
    """Export in both ways, compare, and return the pipeline."""
    plain = to_sklearn(model)
    check_sklearn(model, plain, points)
    check_onnx(model, to_onnx(model), plain, points)
    return plain


def sample(X, y=Y > 0):
    return Pairs.sample(X, 75, y, random_state=0)


@pytest.fixture(scope="module")
def average():
    """A model with all sorts of members, fitted once."""
    return PairClassifier(**QUICK).fit(*sample(X))


@pytest.mark.parametrize(
    "model",
    [
        PairClassifier(n_classes=3, classes=("c", "a", "b"), **QUICK),
        MCLClassifier(n_classes=3, classes=(7, 5, 6), random_state=0),
    ],
    ids=["average", "linear"],
)
def test_several_classes_keep_their_names(model):
    model.fit(*sample(X, Y))
    model.assign_from_points(X[:9], np.asarray(model.classes)[Y[:9]])
    plain = both(model, X)
    assert plain.classes_.tolist() == list(model.classes)
    np.testing.assert_array_equal(plain.predict(X), model.predict(X))


def test_axes_of_points_that_nobody_was_asked_about(tmp_path):
    rng = np.random.default_rng(3)
    load = rng.normal(size=(2, 12))
    things = rng.normal(size=(300, 2))
    Z = things @ load + rng.normal(size=(300, 12))
    model = PairClassifier(**QUICK)
    model.fit(*Pairs.sample(Z, 40, things[:, 0] > 0, random_state=0), shaping=Z)
    kinds = {member.view.kind for member in model._ensemble.members}
    assert "axes" in kinds
    both(model, Z)
    save(model, tmp_path / "model.skops")
    kept = load_model(tmp_path / "model.skops")
    np.testing.assert_array_equal(kept.predict_proba(Z), model.predict_proba(Z))


def test_one_against_the_rest():
    pairs, _ = sample(X, Y)
    model = OneVsRestPairClassifier(CIPSClassifier(), classes=("a", "b", "c"))
    plain = both(model.fit(pairs, answers_per_class(pairs, Y, (0, 1, 2))), X)
    assert not hasattr(plain, "predict_proba")


def test_a_swap_of_the_classes_is_exported(average):
    model = copy(average)
    before = to_sklearn(model).predict_proba(X)
    model._flip()
    np.testing.assert_allclose(both(model, X).predict_proba(X), before[:, ::-1])


def test_without_onnxruntime_the_evaluator_of_onnx_compares(average, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    check_onnx(average, to_onnx(average), to_sklearn(average), X[:20])


def test_without_onnx_the_extra_is_named(average, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ExportError, match=r"pip install 'pairlearn\[export\]'"):
        to_onnx(average)


def test_points_that_are_all_alike_leave_the_constant_model():
    points = np.ones((20, 2))
    model = PairClassifier(**QUICK)
    model.fit(Pairs(points, np.arange(20).reshape(-1, 2)), [1, -1] * 5)
    both(model, points)


def test_a_column_that_is_constant_is_left_out():
    wide = np.column_stack([np.ones(150), X, np.zeros(150)])
    both(PairClassifier(**QUICK).fit(*sample(wide)), wide)


@pytest.mark.parametrize("model", [PairClassifier(**QUICK), MCLClassifier()])
def test_names_of_columns_are_checked(model):
    frame = pd.DataFrame(X, columns=list("abcd"))
    plain = to_sklearn(model.fit(*sample(frame)))
    check_sklearn(model, plain, frame)
    assert plain.feature_names_in_.tolist() == list("abcd")
    with pytest.raises(ValueError, match="feature names"):
        plain.predict(frame.rename(columns={"a": "z"}))


def test_sparse_and_short_numbers(average):
    plain = to_sklearn(average)
    for points in (sparse.csr_array(X), X.astype(np.float32), pd.DataFrame(X)):
        check_sklearn(average, plain, points)


def test_a_sparse_table_that_is_never_filled_in(monkeypatch):
    monkeypatch.setattr("pairlearn.models.auto.columns.DENSE_ENTRIES", 10)
    table = sparse.csr_array(np.where(np.abs(X) > 1, X, 0.0))
    model = PairClassifier(**QUICK).fit(*sample(table))
    assert model._ensemble.members[0].view.stays_sparse
    both(model, table)


def test_words_of_texts_in_a_sparse_table():
    words = sparse.random_array((150, 400), density=0.05, rng=RNG, format="csr")
    words = words + sparse.csr_array(np.eye(3)[Y] @ RNG.random((3, 400)) * 0.2)
    words = sparse.csr_array(Normalizer().fit_transform(words))
    model = PairClassifier(**QUICK).fit(*sample(words))
    both(model, words)


def test_short_numbers_as_input_of_onnx(average):
    ort = pytest.importorskip("onnxruntime")
    model = average
    made = to_onnx(model, input_type="float32")
    session = ort.InferenceSession(made.SerializeToString())
    short = X.astype(np.float32)
    label, p = session.run(None, {"points": short})
    np.testing.assert_allclose(p, model.predict_proba(short.astype(float)), atol=1e-9)
    assert set(label) <= {-1, 1}
    with pytest.raises(ValueError, match="input_type"):
        to_onnx(model, input_type="float16")


@pytest.mark.parametrize(
    "steps",
    [
        [StandardScaler(), PCA(2, whiten=True)],
        [RobustScaler(), Nystroem(n_components=9, random_state=0)],
        [MinMaxScaler(), Nystroem("laplacian", n_components=9, random_state=0)],
        [MaxAbsScaler(), Nystroem("poly", degree=2, n_components=9, random_state=0)],
        [Normalizer(), LandmarkSimilarity("cosine", random_state=0)],
        [LandmarkSimilarity("sigmoid", n_landmarks=5, random_state=0)],
        [LandmarkSimilarity("linear", n_landmarks=5, random_state=0)],
    ],
    ids=lambda steps: type(steps[-1]).__name__,
)
def test_steps_before_the_classifier(steps):
    model = make_pair_pipeline(*steps, MCLClassifier(alpha=1e-3))
    both(model.fit(*sample(X)), X)


def test_a_search_is_its_best_model():
    search = GridSearchCV(
        make_pair_pipeline(StandardScaler(), CIPSClassifier()),
        {"cipsclassifier__alpha": [1e-3, 1e-2]},
        cv=2,
    ).fit(*sample(X))
    both(search, X)


def test_a_classifier_inside_that_onnx_does_not_have():
    forest = RandomForestClassifier(5, random_state=0)
    model = PairMetaClassifier(forest, cv=2, random_state=0).fit(*sample(X))
    check_sklearn(model, to_sklearn(model), X)
    with pytest.raises(ExportError, match=r"RandomForestClassifier.*Use to_sklearn"):
        to_onnx(model)


def test_the_copy_shares_nothing():
    model = MCLClassifier().fit(*sample(X))
    plain = to_sklearn(model)
    model.coef_[:] = 0
    assert plain[-1].coef_.any()


def test_what_cannot_be_exported():
    with pytest.raises(NotFittedError):
        to_sklearn(PairClassifier())
    with pytest.raises(ExportError, match="is no classifier"):
        to_sklearn(StandardScaler())
    with pytest.raises(ExportError, match="of scikit-learn already"):
        to_sklearn(RandomForestClassifier(2).fit(X, Y))
    own = make_pair_pipeline(LandmarkSimilarity(np.dot), CIPSClassifier())
    with pytest.raises(ExportError, match=r"function of your own.*similarity='rbf'"):
        to_sklearn(own.fit(*sample(X)))
    strange = make_pair_pipeline(QuantileTransformer(n_quantiles=9), CIPSClassifier())
    with pytest.raises(ExportError, match=r"QuantileTransformer.*Use to_sklearn"):
        to_onnx(strange.fit(*sample(X)))


def test_what_differs_is_refused():
    model = MCLClassifier().fit(*sample(X))
    plain = to_sklearn(model)
    plain[-1].intercept_ += 1e-4
    points = made_up_points(model, plain)
    with pytest.raises(ExportError, match="differs from the model"):
        check_sklearn(model, plain, points)
    other = MCLClassifier().fit(*sample(X, Y > 1))
    with pytest.raises(ExportError, match="Nothing was written"):
        check_onnx(other, to_onnx(model), plain, points)


def test_points_are_made_up_where_the_model_has_learned(average):
    points = made_up_points(average, to_sklearn(average))
    # More than half of them are not far out.
    np.testing.assert_allclose(np.median(points, axis=0), np.median(X, axis=0), atol=1)
    assert len(np.unique(average.predict(points))) == 2
