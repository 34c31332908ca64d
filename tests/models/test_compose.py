import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.model_selection import (
    GridSearchCV,
    cross_val_score,
    learning_curve,
    train_test_split,
)
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

from pairlearn import (
    CIPSClassifier,
    OnPoints,
    Pairs,
    clustering_error,
    make_pair_pipeline,
)


def test_fits_to_distinct_points_that_occur():
    X = np.array([[0.0], [2.0], [1000.0]])
    pairs = Pairs(X, [[0, 1], [0, 1], [1, 0]])
    scaled = OnPoints(StandardScaler()).fit_transform(pairs)
    np.testing.assert_allclose(scaled.X.ravel(), [-1, 1])
    np.testing.assert_array_equal(scaled.index, pairs.index)


def test_each_point_is_transformed_once():
    seen = []

    def count(X):
        seen.append(len(X))
        return X

    X = np.arange(10.0)[:, None]
    pairs = Pairs.sample(X, 500, reuse=True, random_state=0)
    OnPoints(FunctionTransformer(count)).fit(pairs).transform(pairs)
    assert max(seen) == 10


def test_points_pairs_and_arrays_are_transformed_alike(blob_pairs):
    pairs, _ = blob_pairs
    scaler = OnPoints(StandardScaler()).fit(pairs)
    from_pairs = np.asarray(scaler.transform(pairs))
    np.testing.assert_allclose(
        np.asarray(scaler.transform(np.asarray(pairs))), from_pairs
    )
    np.testing.assert_allclose(scaler.transform(pairs.X)[pairs.index], from_pairs)
    with pytest.raises(ValueError, match="features"):
        scaler.transform(np.zeros((3, 7)))


def test_pipeline_equals_its_parts(blobs, blob_pairs):
    X, _ = blobs
    pairs, t = blob_pairs
    pipe = make_pair_pipeline(StandardScaler(), CIPSClassifier()).fit(pairs, t)
    scaler = StandardScaler().fit(pairs.compact().X)
    clf = CIPSClassifier().fit(Pairs(scaler.transform(pairs.X), pairs.index), t)
    np.testing.assert_allclose(
        pipe.decision_function(X), clf.decision_function(scaler.transform(X)), rtol=1e-6
    )
    assert pipe.score(pairs, t) == clf.score(
        Pairs(scaler.transform(pairs.X), pairs.index), t
    )
    assert clone(pipe).get_params().keys() == pipe.get_params().keys()


def test_kernel_pipeline_finds_a_boundary_that_is_not_linear():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(1200, 2))
    y = X[:, 0] ** 2 + X[:, 1] ** 2 < 0.6
    pairs, t = Pairs.sample(X, 600, y, random_state=0)
    linear = CIPSClassifier().fit(pairs, t)
    kernel = make_pair_pipeline(
        Nystroem(gamma=1.0, n_components=50, random_state=0), CIPSClassifier()
    ).fit(pairs, t)
    assert clustering_error(y, linear.predict(X)) > 0.2
    assert clustering_error(y, kernel.predict(X)) < 0.05


def test_frames_with_text_and_gaps():
    rng = np.random.default_rng(0)
    y = rng.random(200) < 0.4
    frame = pd.DataFrame(
        {
            "size": np.where(
                rng.random(200) < 0.1, np.nan, y + 0.5 * rng.normal(size=200)
            ),
            "colour": np.where(rng.random(200) < 0.9, y, ~y),
        }
    )
    frame["colour"] = frame["colour"].map({True: "red", False: "blue"})
    pairs, t = Pairs.sample(frame, 100, y, random_state=0)
    columns = make_column_transformer(
        (SimpleImputer(), ["size"]), (OneHotEncoder(), ["colour"])
    )
    pipe = make_pair_pipeline(columns, CIPSClassifier()).fit(pairs, t)
    assert clustering_error(y, pipe.predict(frame)) < 0.15
    names = pipe[0].get_feature_names_out()
    assert "onehotencoder__colour_red" in names


def test_sparse_output_stays_sparse(blob_pairs):
    pairs, t = blob_pairs
    binned = OnPoints(OneHotEncoder(handle_unknown="ignore")).fit_transform(
        Pairs(np.round(pairs.X), pairs.index)
    )
    assert sparse.issparse(binned.X)
    assert CIPSClassifier(alpha=1e-2).fit(binned, t).score(binned, t) > 0.8


def test_scikit_learn_tools_work(blobs, blob_pairs):
    X, y = blobs
    pairs, t = blob_pairs
    pipe = make_pair_pipeline(StandardScaler(), CIPSClassifier())
    assert cross_val_score(pipe, pairs, t, cv=4).mean() > 0.7
    search = GridSearchCV(
        pipe,
        {
            "cipsclassifier__alpha": [1e-3, 0.5],
            "standardscaler__transformer__with_mean": [True, False],
        },
    ).fit(pairs, t)
    assert search.best_params_["cipsclassifier__alpha"] == 1e-3
    assert clustering_error(y, search.predict(X)) < 0.2
    _, _, test = learning_curve(
        CIPSClassifier(), pairs, t, train_sizes=[0.5, 1.0], cv=3
    )
    assert test.shape == (2, 3)
    a, b, t_a, t_b = train_test_split(pairs, t, test_size=0.25, random_state=0)
    assert (len(a), len(b), len(t_a), len(t_b)) == (90, 30, 90, 30)
    assert a.X is pairs.X


def test_step_names_and_wrapping():
    pipe = make_pair_pipeline(
        StandardScaler(), OnPoints(StandardScaler()), "passthrough", CIPSClassifier()
    )
    assert [name for name, _ in pipe.steps] == [
        "standardscaler-1",
        "standardscaler-2",
        "passthrough",
        "cipsclassifier",
    ]
    assert all(isinstance(step, OnPoints) for _, step in pipe.steps[:2])
    assert not isinstance(pipe[1].transformer, OnPoints)
    with pytest.raises(ValueError, match="at least"):
        make_pair_pipeline()
    with pytest.raises(ValueError, match="last step must be a pair classifier"):
        make_pair_pipeline(StandardScaler())


def test_output_as_frames(blob_pairs):
    pairs, t = blob_pairs
    frame = pd.DataFrame(pairs.X, columns=list("abcd"))
    pipe = make_pair_pipeline(StandardScaler(), CIPSClassifier())
    pipe.set_output(transform="pandas").fit(Pairs(frame, pairs.index), t)
    assert pipe[-1].feature_names_in_.tolist() == list("abcd")
    with config_context(transform_output="pandas"):
        plain = make_pair_pipeline(StandardScaler(), CIPSClassifier())
        plain.fit(Pairs(frame, pairs.index), t)
    np.testing.assert_allclose(pipe[-1].coef_, plain[-1].coef_)


ON_POINTS = [
    pytest.param(estimator, check, id=check.func.__name__)
    for estimator, check in estimator_checks_generator(OnPoints(StandardScaler()))
]


@pytest.mark.filterwarnings("ignore")  # the checks feed odd data on purpose
@pytest.mark.parametrize(("estimator", "check"), ON_POINTS)
def test_scikit_learn_check_of_a_wrapped_transformer(estimator, check):
    check(estimator)
