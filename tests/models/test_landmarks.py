import difflib
import pickle
from functools import partial

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from pairlearn import (
    CIPSClassifier,
    LandmarkSimilarity,
    OneVsRestPairClassifier,
    OnPoints,
    Pairs,
    answers_per_class,
    clustering_error,
    make_pair_pipeline,
)
from pairlearn.data.containers import object_column

WORDS = ["aab", "abba", "bcab", "xyx", "yyz", "zxyy"]


def common_letters(a, b):
    return len(set(a) & set(b)) / len(set(a) | set(b))


def words_of(n_words, seed, alphabets=("abcdef", "efghij")):
    """Random words over two alphabets that share two letters, and which it was."""
    rng = np.random.default_rng(seed)
    kinds = rng.integers(len(alphabets), size=n_words)
    words = ["".join(rng.choice(list(alphabets[kind]), size=8)) for kind in kinds]
    return words, kinds


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([LandmarkSimilarity("rbf", random_state=0)])
def test_scikit_learn_check(estimator, check):
    check(estimator)


class TestFeatures:
    def test_definition(self):
        K = LandmarkSimilarity(common_letters, random_state=0).fit(WORDS)
        features = K.transform(["ab", "zz"])
        assert sorted(K.landmarks_) == sorted(WORDS)
        expected = [[common_letters(x, z) for z in K.landmarks_] for x in ("ab", "zz")]
        np.testing.assert_array_equal(features, expected)

    def test_order_of_arguments(self):
        K = LandmarkSimilarity(lambda a, b: len(a) - 2 * len(b), landmarks=["z" * 3])
        assert K.fit_transform(["x"]).tolist() == [[-5.0]]

    @pytest.mark.parametrize(
        "form",
        [
            list,
            tuple,
            np.array,
            lambda words: np.array(words, dtype=object),
            lambda words: np.array(words)[:, None],
            lambda words: np.array(words, dtype=object)[:, None],
            pd.Series,
            lambda words: pd.DataFrame({"word": words}),
            pl.Series,
            lambda words: pl.DataFrame({"word": words}),
        ],
    )
    def test_forms_of_objects(self, form):
        expected = LandmarkSimilarity(common_letters, random_state=0)
        expected = expected.fit_transform(WORDS)
        K = LandmarkSimilarity(common_letters, random_state=0).fit(form(WORDS))
        np.testing.assert_array_equal(K.transform(form(WORDS)), expected)
        np.testing.assert_array_equal(K.transform(WORDS), expected)
        assert K.n_features_in_ == 1

    @pytest.mark.parametrize(
        ("points", "similarity"),
        [
            ([{1, 2}, {2, 3}, {9}], lambda a, b: len(a & b)),
            ([(1, 2), (3,), ()], lambda a, b: len(a) * len(b)),
            ([[1, 2], [3, 4], [5, 6]], lambda a, b: a[0] * b[1]),
            ([np.eye(2), np.ones((2, 2)), np.eye(2) * 3], lambda a, b: np.sum(a * b)),
            ([np.eye(2), np.eye(3), np.eye(1)], lambda a, b: len(a) * len(b)),
            ([{"a": 1}, {"a": 2}, {"b": 1}], lambda a, b: len(a.keys() & b.keys())),
        ],
        ids=["sets", "tuples", "lists", "matrices", "ragged matrices", "dictionaries"],
    )
    def test_kinds_of_objects(self, points, similarity):
        expected = [[similarity(x, z) for z in points] for x in points]
        K = LandmarkSimilarity(similarity, landmarks=points)
        np.testing.assert_array_equal(K.fit_transform(points), expected)
        column = object_column(points)
        np.testing.assert_array_equal(K.fit_transform(column), expected)
        pairs = Pairs(column, [[0, 1], [1, 2]])
        on_pairs = OnPoints(K).fit(pairs)
        np.testing.assert_array_equal(on_pairs.transform(pairs).X, expected)

    def test_kernels_and_functions_of_vectors_agree(self):
        X = np.random.default_rng(0).normal(size=(30, 3))

        def rbf(a, b):
            return np.exp(-np.sum((a - b) ** 2) / 3)

        def features(*similarity, **parameters):
            K = LandmarkSimilarity(
                *similarity, n_landmarks=5, random_state=0, **parameters
            )
            return K.fit_transform(X)

        by_name = features("rbf")
        assert by_name.shape == (30, 5)
        np.testing.assert_allclose(features(rbf), by_name)
        np.testing.assert_allclose(features(rbf_kernel, vectorized=True), by_name)
        sharper = partial(rbf_kernel, gamma=2.0)
        assert (features(sharper, vectorized=True) <= by_name).all()

    def test_one_numeric_column_holds_vectors(self):
        K = LandmarkSimilarity(lambda a, b: a @ b, landmarks=np.array([[2.0]]))
        assert K.fit_transform(np.array([[1.0], [3.0]])).tolist() == [[2.0], [6.0]]
        assert K.n_features_in_ == 1

    def test_sparse_points(self):
        dense = np.random.default_rng(0).normal(size=(40, 6)).clip(min=0)
        for similarity in ("cosine", partial(rbf_kernel, gamma=1.0)):
            K = LandmarkSimilarity(
                similarity,
                n_landmarks=7,
                vectorized=callable(similarity),
                random_state=0,
            )
            thin = K.fit_transform(sparse.csr_array(dense))
            assert sparse.issparse(K.landmarks_)
            np.testing.assert_allclose(thin, K.fit_transform(dense))

    def test_vectorized_on_objects(self):
        def lengths(a, b):
            return np.array([[len(x) * len(z) for z in b] for x in a])

        K = LandmarkSimilarity(lengths, landmarks=["aa", "b"], vectorized=True)
        assert K.fit_transform(["xyz", ""]).tolist() == [[6, 3], [0, 0]]

    def test_jobs_change_nothing(self):
        words, _ = words_of(100, 0)
        one = LandmarkSimilarity(common_letters, random_state=0)
        with joblib.parallel_config(backend="threading"):  # quick to start
            two = clone(one).set_params(n_jobs=2).fit_transform(words)
        np.testing.assert_array_equal(two, one.fit_transform(words))

    def test_names_and_frames(self):
        K = LandmarkSimilarity(common_letters, landmarks=["ab", "c"])
        K.set_output(transform="pandas")
        table = K.fit_transform(pd.DataFrame({"word": WORDS}, index=range(10, 16)))
        names = ["landmarksimilarity0", "landmarksimilarity1"]
        assert table.columns.tolist() == names
        assert table.index.tolist() == list(range(10, 16))
        assert K.get_feature_names_out().tolist() == names
        assert K.feature_names_in_.tolist() == ["word"]


class TestLandmarks:
    def test_are_distinct_training_points(self):
        points = ["a"] * 50 + ["b"] * 50 + ["c"]
        K = LandmarkSimilarity(common_letters, n_landmarks=3, random_state=0)
        assert sorted(K.fit(points).landmarks_) == ["a", "b", "c"]
        K.set_params(n_landmarks=2)
        assert len(set(K.fit(points).landmarks_)) == 2

    @pytest.mark.parametrize(
        "points",
        [
            [{1, 2}, {2, 1}, {3}],
            [[1, [2]], [1, [2]], [3]],
            [np.eye(2), np.eye(2), np.eye(3)],
            [{"a": [1]}, {"a": [1]}, {"a": [2]}],
            [(1, "x"), (1, "x"), (1, "y")],
        ],
    )
    def test_equal_objects_are_chosen_once(self, points):
        K = LandmarkSimilarity(lambda a, b: len(a) * len(b)).fit(points)
        assert len(K.landmarks_) == 2

    def test_equal_rows_are_chosen_once(self):
        X = np.repeat([[0.0, 1.0], [2.0, 3.0]], 10, axis=0)
        assert len(LandmarkSimilarity("rbf").fit(X).landmarks_) == 2
        table = sparse.csr_array(X)
        assert LandmarkSimilarity("rbf").fit(table).landmarks_.shape == (2, 2)

    def test_objects_that_cannot_be_compared(self):
        class Graph:
            __hash__ = None

        points = [Graph(), Graph()]
        K = LandmarkSimilarity(lambda a, b: float(a is b)).fit([*points, points[0]])
        assert len(K.landmarks_) == 2

    def test_seed(self):
        words, _ = words_of(200, 0)

        def landmarks(seed):
            K = LandmarkSimilarity(common_letters, n_landmarks=9, random_state=seed)
            return K.fit(words).landmarks_.tolist()

        assert landmarks(0) == landmarks(0) != landmarks(1)
        # In the order of the training points, so that the choice is all that varies.
        assert landmarks(0) == sorted(landmarks(0), key=words.index)

    def test_given(self):
        K = LandmarkSimilarity(common_letters, n_landmarks=1, landmarks=["q", "r", "q"])
        assert K.fit(WORDS).landmarks_.tolist() == ["q", "r", "q"]
        frame = pd.DataFrame({"a": [0.0, 1.0], "b": [2.0, 3.0]})
        K = LandmarkSimilarity("linear", landmarks=[[1.0, 0.0]]).fit(frame)
        assert K.transform(frame).ravel().tolist() == [0, 1]


class TestPairs:
    def test_pairs_of_objects(self):
        for points in (WORDS, np.array(WORDS), np.array(WORDS)[:, None]):
            pairs = Pairs(points, [[0, 1], [4, 5]])
            assert pairs.shape == (2, 2, 1)
            assert np.asarray(pairs)[1, :, 0].tolist() == ["yyz", "zxyy"]
            assert pairs.compact().n_points == 4
        sets = [{1}, {2}, {1}]
        pairs, t = Pairs.sample(sets, 1, [0, 1, 0], random_state=0)
        assert pairs.X[0, 0] is sets[0]
        assert len(t) == 1

    def test_only_points_in_pairs_become_landmarks(self):
        pairs = Pairs(WORDS, [[0, 1], [3, 4]])
        pipe = OnPoints(LandmarkSimilarity(common_letters)).fit(pairs)
        assert set(pipe.transformer_.landmarks_) == {"aab", "abba", "xyx", "yyz"}

    def test_each_object_is_compared_once(self):
        calls = []

        def count(a, b):
            calls.append((a, b))
            return 0.0

        pairs = Pairs(WORDS, np.tile([[0, 1], [2, 3]], (50, 1)))
        OnPoints(LandmarkSimilarity(count)).fit(pairs).transform(pairs)
        assert len(calls) == 16

    def test_strings_reach_the_floor(self):
        words, kinds = words_of(300, 0)
        pairs, t = Pairs.sample(words, 200, kinds, reuse=True, random_state=0)

        def ratio(a, b):
            return difflib.SequenceMatcher(None, a, b).ratio()

        for similarity in (common_letters, ratio):
            clf = make_pair_pipeline(
                LandmarkSimilarity(similarity, n_landmarks=40, random_state=0),
                CIPSClassifier(alpha=1e-3),
            ).fit(pairs, t)
            new_words, truth = words_of(300, 1)
            for form in (new_words, np.array(new_words, dtype=object)):
                assert clustering_error(truth, clf.predict(form)) < 0.1
        assert clf.score(pairs, t) > 0.9
        assert clf[:-1].get_feature_names_out().shape == (40,)

    def test_scikit_learn_tools(self):
        words, kinds = words_of(200, 0)
        pairs, t = Pairs.sample(words, 150, kinds, reuse=True, random_state=0)
        K = LandmarkSimilarity(common_letters, random_state=0)
        pipe = make_pair_pipeline(
            make_pipeline(K, StandardScaler()), CIPSClassifier(alpha=0.1)
        )
        assert cross_val_score(pipe, pairs, t, cv=3).mean() > 0.8
        pipe = make_pair_pipeline(K, CIPSClassifier(alpha=0.01))
        grid = {"landmarksimilarity__transformer__n_landmarks": [1, 40]}
        search = GridSearchCV(pipe, grid, cv=3).fit(pairs, t)
        assert list(search.best_params_.values()) == [40]
        again = pickle.loads(pickle.dumps(search.best_estimator_))  # noqa: S301
        np.testing.assert_array_equal(again.predict(words), search.predict(words))

    def test_more_than_two_classes_of_objects(self):
        alphabets = ("abcd", "defg", "ghij")
        words, kinds = words_of(300, 0, alphabets)
        pairs = Pairs.sample(words, 300, reuse=True, random_state=0)
        pipe = make_pair_pipeline(
            LandmarkSimilarity(common_letters, random_state=0),
            CIPSClassifier(alpha=1e-3),
        )
        clf = OneVsRestPairClassifier(pipe).fit(pairs, answers_per_class(pairs, kinds))
        new_words, truth = words_of(300, 1, alphabets)
        assert np.mean(clf.predict(new_words) == truth) > 0.9
        assert clf.n_features_in_ == 1


class TestBadInput:
    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"similarity": "jaccard"}, "unknown similarity 'jaccard'.*'rbf'"),
            ({"similarity": 3}, "a function of two points or the name of a kernel"),
            ({"n_landmarks": 0}, "n_landmarks must be a whole number, 1 or above"),
            ({"n_landmarks": 2.5}, "n_landmarks"),
            ({"landmarks": []}, "no points"),
            ({"landmarks": "abc"}, "one string, 'abc'.*put it into a list"),
            (
                {"landmarks": np.zeros((2, 3))},
                "landmarks have 3 features, the points 1",
            ),
        ],
    )
    def test_parameters(self, parameters, message):
        K = LandmarkSimilarity(common_letters).set_params(**parameters)
        with pytest.raises(ValueError, match=message):
            K.fit(WORDS)

    @pytest.mark.parametrize(
        ("points", "message"),
        [
            ("abc", "put it into a list"),
            ([], "no points"),
            (7, "sequence of objects or a table; got int"),
            (Pairs(WORDS, [[0, 1]]), "make_pair_pipeline"),
            (sparse.csr_array(np.eye(3)), "name of a kernel.*vectorized=True"),
        ],
    )
    def test_points(self, points, message):
        with pytest.raises(ValueError, match=message):
            LandmarkSimilarity(common_letters).fit(points)

    @pytest.mark.parametrize(
        ("returned", "message"),
        [
            (np.nan, r"finite; it is nan for point 0 \('aab'\) and"),
            (np.inf, r"landmark 0 \('aab'\)"),
            (None, "must return a number; for 'aab' and 'aab' it returned None"),
            ([1, 2], r"returned \[1, 2\]\..*needs vectorized=True"),
        ],
    )
    def test_similarity(self, returned, message):
        K = LandmarkSimilarity(lambda *_: returned).fit(WORDS)
        with pytest.raises(ValueError, match=message):
            K.transform(WORDS)

    @pytest.mark.parametrize(
        ("returned", "message"),
        [
            (np.zeros((2, 2)), r"shape \(6, 6\).*got shape \(2, 2\)"),
            (0.5, "function of two points needs vectorized=False"),
            (np.full((6, 6), np.nan), "finite"),
        ],
    )
    def test_vectorized_similarity(self, returned, message):
        K = LandmarkSimilarity(lambda *_: returned, vectorized=True).fit(WORDS)
        with pytest.raises(ValueError, match=message):
            K.transform(WORDS)

    def test_an_error_in_the_similarity_says_for_which_points(self):
        K = LandmarkSimilarity(common_letters, landmarks=[""]).fit(WORDS)
        with pytest.raises(ZeroDivisionError) as error:
            K.transform([""])
        assert error.value.__notes__ == ["while comparing '' with ''"]

    def test_transform(self):
        K = LandmarkSimilarity(lambda a, b: float(a @ b))
        with pytest.raises(NotFittedError):
            K.transform(np.eye(3))
        K.fit(np.eye(3))
        with pytest.raises(ValueError, match=r"2 features.*expecting 3 features"):
            K.transform(np.eye(2))

    def test_objects_that_numpy_unpacks(self):
        with pytest.raises(ValueError, match="object_column"):
            Pairs([[1, 2], [3]], [[0, 1]])
        with pytest.raises(ValueError, match="object_column"):
            Pairs(np.zeros((3, 2, 2)), [[0, 1]])
