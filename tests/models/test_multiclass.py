import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import Nystroem
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    cross_val_score,
    train_test_split,
)
from sklearn.preprocessing import StandardScaler

from pairlearn import (
    CIPSClassifier,
    OneVsRestPairClassifier,
    Pairs,
    answers_per_class,
    make_pair_pipeline,
)
from pairlearn.trust.assignment import exclusive_signs
from pairlearn.trust.calibration import calibrate

NAMES = np.array(["ant", "bee", "cat"])


@pytest.fixture(scope="module")
def animals():
    """Three groups of 4 features, sizes 160, 140, 100; labels are names."""
    X, code = make_blobs([160, 140, 100], 4, random_state=0, cluster_std=2)
    return X, NAMES[code]


@pytest.fixture(scope="module")
def animal_pairs(animals):
    X, y = animals
    pairs = Pairs.sample(X, 300, reuse=True, random_state=0)
    return pairs, answers_per_class(pairs, y, NAMES)


def one_vs_rest(**parameters):
    return OneVsRestPairClassifier(
        CIPSClassifier(alpha=1e-3, random_state=0), classes=NAMES, **parameters
    )


def accuracy(clf, X, y):
    return np.mean(clf.predict(X) == y)


class TestAnswersPerClass:
    def test_definition(self):
        pairs = Pairs(np.zeros((4, 1)), [[0, 1], [1, 2], [2, 3]])
        t = answers_per_class(pairs, ["b", "b", "a", "c"])
        np.testing.assert_array_equal(t, [[1, 1, 1], [-1, -1, 1], [-1, 1, -1]])

    def test_same_class_fixes_every_column(self, animals, animal_pairs):
        _, y = animals
        pairs, t = animal_pairs
        same = pairs.answers(y) > 0
        assert (t[same] == 1).all()
        assert ((t[~same] == -1).sum(axis=1) == 2).all()

    def test_unknown_label(self):
        pairs = Pairs(np.zeros((2, 1)), [[0, 1]])
        with pytest.raises(ValueError, match=r"label 'b' is not one of.*\['a'\]"):
            answers_per_class(pairs, ["a", "b"], ["a"])


class TestCalibrate:
    rng = np.random.default_rng(0)
    g = rng.normal(-0.5, 2, size=(5000, 2))
    y = rng.random(g.shape) < 1 / (1 + np.exp(-g))
    t = np.where(y[:, 0] == y[:, 1], 1.0, -1.0)

    def test_recovers_log_odds_whatever_the_scale(self):
        for scale, shift in ((1, 0), (50, 0), (0.02, 0.01)):
            f = scale * self.g + shift
            a, b = calibrate(f[:, 0], f[:, 1], self.t, np.ones(5000))
            np.testing.assert_allclose([a * scale, a * shift + b], [1, 0], atol=0.2)

    def test_is_the_minimum_of_the_likelihood(self):
        f = self.g[:500]
        t = self.t[:500]
        a, b = calibrate(f[:, 0], f[:, 1], t, np.ones(500))
        spread = np.sqrt(np.mean(f**2))

        def objective(a, b):
            p = 1 / (1 + np.exp(-(a * f + b)))
            same = p[:, 0] * p[:, 1] + (1 - p[:, 0]) * (1 - p[:, 1])
            likelihood = np.where(t > 0, same, 1 - same)
            return -np.log(likelihood).sum() + 0.01 * (a * spread) ** 2

        best = objective(a, b)
        grid = [
            objective(a + da, b + db)
            for da in (-0.01, 0, 0.01)
            for db in (-0.01, 0, 0.01)
        ]
        assert best == pytest.approx(min(grid), abs=1e-9)

    def test_weight_two_is_the_pair_twice(self):
        f, t = self.g[:200], self.t[:200]
        weight = np.where(np.arange(200) < 50, 2.0, 1.0)
        again = np.r_[np.arange(200), np.arange(50)]
        np.testing.assert_allclose(
            calibrate(f[:, 0], f[:, 1], t, weight),
            calibrate(f[again, 0], f[again, 1], t[again], np.ones(250)),
            rtol=0.05,
            atol=0.02,
        )

    def test_no_errors_and_no_scores(self):
        f = np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0]])
        a, b = calibrate(f[:, 0], f[:, 1], np.array([1.0, -1.0, 1.0]), np.ones(3))
        assert 1 < a < 100
        assert np.isfinite(b)
        assert calibrate(np.zeros(3), np.zeros(3), np.ones(3), np.ones(3)) == (1, 0)


class TestExclusiveSigns:
    @pytest.mark.parametrize("n_classes", [3, 4, 7, 15])
    def test_recovers_any_signs(self, n_classes):
        rng = np.random.default_rng(n_classes)
        for majority in (False, True):
            y = rng.integers(n_classes, size=300)
            if majority:
                y[:200] = 1
            # Scores ±1.5 + noise: their log-odds are 3 f + those of the prior.
            of_class = y[:, None] == np.arange(n_classes)
            f = np.where(of_class, 1.5, -1.5) + rng.normal(size=of_class.shape)
            prior = of_class.mean(axis=0)
            log_odds = 3 * f + np.log(prior / (1 - prior))
            signs = rng.choice([-1.0, 1.0], size=n_classes)
            np.testing.assert_array_equal(exclusive_signs(log_odds * signs), signs)

    def test_equals_exhaustive_search(self):
        rng = np.random.default_rng(0)
        every = np.array(np.meshgrid(*[[-1, 1]] * 4)).reshape(4, -1).T
        for _ in range(20):
            y = rng.integers(4, size=200)
            log_odds = np.where(y[:, None] == np.arange(4), 0.7, -0.7)
            log_odds = log_odds * rng.choice([-1, 1], size=4) + rng.normal(
                size=(200, 4)
            )
            p = 1 / (1 + np.exp(-log_odds[:, None, :] * every))
            best = every[((p.sum(axis=2) - 1) ** 2).mean(axis=0).argmin()]
            np.testing.assert_array_equal(exclusive_signs(log_odds), best)

    def test_settled_columns_stay(self):
        y = np.arange(30) % 3
        log_odds = np.where(y[:, None] == np.arange(3), 3.0, -3.0) * [1, -1, -1]
        settled = [False, True, False]
        assert exclusive_signs(log_odds, settled)[1] == 1


class TestFit:
    def test_learns_names_without_a_label_or_a_majority(self, animals, animal_pairs):
        X, y = animals
        clf = one_vs_rest().fit(*animal_pairs)
        assert accuracy(clf, X, y) > 0.9
        assert clf.decision_function(X).shape == (400, 3)
        assert len(clf.estimators_) == 3
        assert clf.estimator.assignment_size == 0.2
        assert not hasattr(clf.estimator, "coef_")
        assert {outcome.method for outcome in clf.assignments_} == {"exclusion"}

    def test_columns_are_the_binary_problems(self, animals, animal_pairs):
        X, y = animals
        pairs, t = animal_pairs
        clf = one_vs_rest().fit(pairs, t)
        for k, name in enumerate(NAMES):
            alone = clone(clf.estimator).fit(pairs, pairs.answers(y == name))
            f = alone.decision_function(X)
            slope, intercept = clf.calibration_[k]
            np.testing.assert_allclose(
                clf.decision_function(X)[:, k], slope * f + intercept
            )

    def test_a_class_above_one_half(self):
        X, y = make_blobs([350, 80, 70], 3, random_state=3, cluster_std=2)
        pairs = Pairs.sample(X, 400, reuse=True, random_state=0)
        t = answers_per_class(pairs, y)
        clf = OneVsRestPairClassifier(CIPSClassifier(random_state=0))
        assert accuracy(clf.fit(pairs, t), X, y) > 0.9
        clf.set_params(majority=[1, -1, -1])
        assert accuracy(clf.fit(pairs, t), X, y) > 0.9
        assert {outcome.method for outcome in clf.assignments_} == {"pairs"}

    def test_majority_reaches_the_last_step(self, animals):
        X, y = animals
        pairs = Pairs.sample(X, 600, reuse=True, random_state=1)
        t = answers_per_class(pairs, y)
        base = make_pair_pipeline(
            StandardScaler(), CIPSClassifier(alpha=1e-3, random_state=0)
        )
        clf = OneVsRestPairClassifier(base, classes=NAMES, majority=[-1, -1, None])
        clf.fit(pairs, t)
        assert [model[-1].majority for model in clf.estimators_] == [-1, -1, None]
        assert base[-1].majority is None
        methods = [outcome.method for outcome in clf.assignments_]
        assert methods == ["pairs", "pairs", "exclusion"]
        assert accuracy(clf, X, y) > 0.9

    @pytest.mark.filterwarnings("ignore:the .* pairs for class assignment")
    def test_majority_reaches_the_estimator_in_a_search(self, animal_pairs):
        search = GridSearchCV(CIPSClassifier(), {"alpha": [1e-3, 1e-2]}, cv=2)
        clf = OneVsRestPairClassifier(search, majority=-1).fit(*animal_pairs)
        assert [m.best_estimator_.majority for m in clf.estimators_] == [-1] * 3
        assert {outcome.method for outcome in clf.assignments_} == {"pairs"}

    @pytest.mark.filterwarnings("ignore:the 60 pairs for class assignment")
    def test_an_estimator_with_its_own_majority_keeps_it(self, animal_pairs):
        base = CIPSClassifier(alpha=1e-3, majority=-1, random_state=0)
        clf = OneVsRestPairClassifier(base).fit(*animal_pairs)
        assert [model.majority for model in clf.estimators_] == [-1] * 3
        assert {outcome.method for outcome in clf.assignments_} == {"pairs"}

    def test_questions_that_were_not_asked(self, animals, animal_pairs):
        X, y = animals
        pairs, t = animal_pairs
        asked = np.random.default_rng(0).random(t.shape) < 0.5
        partial = np.where(asked, t, np.nan)
        clf = one_vs_rest().fit(pairs, partial)
        alone = clone(clf.estimator).fit(pairs[asked[:, 1]], t[asked[:, 1], 1])
        np.testing.assert_allclose(clf.estimators_[1].coef_, alone.coef_)
        assert accuracy(clf, X, y) > 0.85
        objects = np.where(asked, t > 0, None)
        again = one_vs_rest().fit(pairs, pd.DataFrame(objects, columns=NAMES))
        np.testing.assert_allclose(again.calibration_, clf.calibration_)

    def test_soft_and_bool_answers(self, animals, animal_pairs):
        X, y = animals
        pairs, t = animal_pairs
        assert accuracy(one_vs_rest().fit(pairs, 0.8 * t), X, y) > 0.9
        np.testing.assert_array_equal(
            one_vs_rest().fit(pairs, t > 0).calibration_,
            one_vs_rest().fit(pairs, t).calibration_,
        )

    def test_weights(self, animal_pairs):
        pairs, t = animal_pairs
        weight = np.where(np.arange(300) < 100, 0.0, 1.0)
        kept = one_vs_rest().fit(pairs[100:], t[100:])
        clf = one_vs_rest().fit(pairs, t, sample_weight=weight)
        pipe = OneVsRestPairClassifier(
            make_pair_pipeline("passthrough", clf.estimator), classes=NAMES
        ).fit(pairs, t, sample_weight=weight)
        for model, inner, other in zip(
            clf.estimators_, pipe.estimators_, kept.estimators_, strict=True
        ):
            np.testing.assert_allclose(model.coef_, other.coef_, rtol=0.01)
            np.testing.assert_array_equal(model.coef_, inner[-1].coef_)
        assert clf.score(pairs, t, sample_weight=weight) == pytest.approx(
            clf.score(pairs[100:], t[100:])
        )

    def test_jobs_change_nothing(self, animal_pairs):
        one = one_vs_rest().fit(*animal_pairs)
        with joblib.parallel_config(backend="threading"):  # quick to start
            two = one_vs_rest(n_jobs=2).fit(*animal_pairs)
        np.testing.assert_array_equal(one.calibration_, two.calibration_)

    def test_sparse_points_and_arrays_of_pairs(self, animals, animal_pairs):
        X, _ = animals
        pairs, t = animal_pairs
        dense = one_vs_rest().fit(pairs, t)
        thin = one_vs_rest().fit(Pairs(sparse.csr_array(X), pairs.index), t)
        np.testing.assert_allclose(
            thin.decision_function(sparse.csr_array(X)),
            dense.decision_function(X),
            rtol=1e-3,
            atol=1e-3,
        )
        array = one_vs_rest().fit(np.asarray(pairs), t)
        assert np.mean(array.predict(X) == dense.predict(X)) > 0.98

    def test_frames_name_features_and_classes(self, animals, animal_pairs):
        X, y = animals
        pairs, t = animal_pairs
        frame = pd.DataFrame(X, columns=list("abcd"))
        clf = OneVsRestPairClassifier(CIPSClassifier(alpha=1e-3, random_state=0))
        clf.fit(Pairs(frame, pairs.index), pd.DataFrame(t, columns=NAMES))
        assert clf.classes_.tolist() == NAMES.tolist()
        assert clf.feature_names_in_.tolist() == list("abcd")
        assert clf.n_features_in_ == 4
        assert accuracy(clf, frame, y) > 0.9

    def test_does_not_change_its_parameters(self, animal_pairs):
        clf = one_vs_rest()
        before = repr(clf)
        clf.fit(*animal_pairs)
        assert repr(clf) == before
        again = pickle.loads(pickle.dumps(clf))  # noqa: S301 - our own bytes
        np.testing.assert_array_equal(again.calibration_, clf.calibration_)
        assert clone(clf).get_params().keys() == clf.get_params().keys()


class TestUse:
    def test_pairs(self, animals, animal_pairs):
        _, y = animals
        pairs, t = animal_pairs
        clf = one_vs_rest().fit(pairs, t)
        predicted = clf.predict(pairs.X)
        left, right = predicted[pairs.left], predicted[pairs.right]
        np.testing.assert_array_equal(
            clf.predict_pairs(pairs), np.where(left == right, 1, -1)
        )
        same = pairs.answers(y)
        assert clf.score(pairs, same) == pytest.approx(
            np.mean(same == clf.predict_pairs(pairs))
        )
        implied = answers_per_class(pairs, predicted, NAMES)
        assert clf.score(pairs, t) == pytest.approx(np.mean(implied == t))
        partial = np.where(np.arange(3) == 1, t, np.nan)
        assert clf.score(pairs, partial) == pytest.approx(np.mean((implied == t)[:, 1]))
        scores = clf.decision_function(pairs.X)
        np.testing.assert_allclose(
            clf.pair_score(pairs), scores[pairs.left] * scores[pairs.right]
        )

    def test_labelled_points_settle_all_columns(self, animals, animal_pairs):
        X, y = animals
        clf = one_vs_rest().fit(*animal_pairs)
        right = clf.predict(X)
        clf.calibration_ *= [[-1], [1], [-1]]
        some = np.random.default_rng(0).choice(len(y), 20, replace=False)
        clf.assign_from_points(X[some], y[some])
        np.testing.assert_array_equal(clf.predict(X), right)
        assert [outcome.sign for outcome in clf.assignments_] == [-1, 1, -1]
        assert {outcome.method for outcome in clf.assignments_} == {"points"}

    def test_model_selection(self, animal_pairs):
        pairs, t = animal_pairs
        assert cross_val_score(one_vs_rest(), pairs, t, cv=3).mean() > 0.85
        partial = np.where(np.arange(300)[:, None] % 3 == np.arange(3), np.nan, t)
        scores = cross_val_score(one_vs_rest(), pairs, partial, cv=KFold(3))
        assert scores.mean() > 0.85
        search = GridSearchCV(one_vs_rest(), {"estimator__alpha": [1e-3, 1e-2]}, cv=2)
        search.fit(pairs, t)
        assert search.best_score_ == search.cv_results_["mean_test_score"].max() > 0.8


class TestFloors:
    """Accuracy on points not in any pair, with no label used at all."""

    def test_iris(self):
        X, y = load_iris(return_X_y=True)
        X, X_new, y, y_new = train_test_split(X, y, stratify=y, random_state=0)
        pairs = Pairs.sample(X, 300, reuse=True, random_state=0)
        base = make_pair_pipeline(
            StandardScaler(),
            Nystroem(gamma=0.2, n_components=50, random_state=0),
            CIPSClassifier(alpha=1e-3),
        )
        clf = OneVsRestPairClassifier(base).fit(pairs, answers_per_class(pairs, y))
        assert accuracy(clf, X_new, y_new) > 0.9

    @pytest.mark.parametrize("majority", [None, -1])
    def test_digits(self, majority):
        X, y = load_digits(n_class=4, return_X_y=True)
        X, X_new, y, y_new = train_test_split(X / 16, y, random_state=0)
        pairs = Pairs.sample(X, 500, reuse=True, random_state=0)
        clf = OneVsRestPairClassifier(
            CIPSClassifier(alpha=1e-2, random_state=0), majority=majority
        ).fit(pairs, answers_per_class(pairs, y))
        assert accuracy(clf, X_new, y_new) > 0.95


def no_such_answer(t, kind, column=1):
    t = t.copy()
    t[:, column] = kind
    return t


class TestBadInput:
    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda t: t[:, 0], r"shape \(300,\).*\(n_pairs, n_classes\).*answers_per"),
            (lambda t: t[:, :1], "an answer for each class"),
            (lambda t: t[:, :2], "two classes, which do not need one-vs-rest"),
            (lambda t: np.c_[t, t[:, 0]], "classes must give the 4 columns"),
            (lambda t: t[:299], "class ant: there are 300 pairs but 299 answers"),
            (lambda t: 3 * t, "class ant: answer 0 is"),
            (lambda t: (t + 1) / 2, "class ant: the answers are 0 and 1"),
            (lambda t: np.where(t > 0, "same", "no"), "class ant: answers must be num"),
            (lambda t: no_such_answer(t, 1), "class bee: no answer is 'different'"),
            (lambda t: no_such_answer(t, -1, 2), "class cat: no answer is 'same'"),
            (lambda t: no_such_answer(t, np.nan), "class bee: at least two pairs"),
            (lambda t: no_such_answer(t, np.inf), "class bee: answer 0 is inf"),
        ],
    )
    def test_answers(self, animal_pairs, change, message):
        pairs, t = animal_pairs
        with pytest.raises(ValueError, match=message):
            one_vs_rest().fit(pairs, change(t))

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"classes": ["a", "b", "a"]}, "different names"),
            ({"majority": [-1, -1]}, "one entry for each of the 3 classes; got 2"),
            ({"majority": [1, 1, -1]}, "only one class can hold more than half"),
            ({"majority": 0}, r"\+1 or -1"),
            ({"estimator": Nystroem(), "majority": -1}, "no parameter 'majority'"),
        ],
    )
    def test_parameters(self, animal_pairs, parameters, message):
        with pytest.raises(ValueError, match=message):
            one_vs_rest().set_params(**parameters).fit(*animal_pairs)

    def test_use(self, animals, animal_pairs):
        X, y = animals
        pairs, t = animal_pairs
        clf = one_vs_rest()
        with pytest.raises(NotFittedError):
            clf.predict(X)
        with pytest.raises(NotFittedError):
            clf.score(pairs, t)
        clf.fit(pairs, t)
        with pytest.raises(ValueError, match="predict_pairs"):
            clf.predict(pairs)
        with pytest.raises(ValueError, match="label 'dog' is not one of the classes"):
            clf.assign_from_points(X[:2], ["ant", "dog"])
        with pytest.raises(ValueError, match="one class for each"):
            clf.assign_from_points(X[:3], y[:2])
        with pytest.raises(ValueError, match="3 classes, but answers of shape"):
            clf.score(pairs, t[:, :2])
        with pytest.raises(ValueError, match="nothing to score"):
            clf.score(pairs, np.full(t.shape, np.nan))

    def test_errors_of_the_estimator_say_which_class(self, animal_pairs):
        pairs, t = animal_pairs
        clf = one_vs_rest(majority=-1).set_params(estimator__assignment_size=1.0)
        with pytest.raises(ValueError, match="assignment_size") as error:
            clf.fit(pairs, t)
        assert error.value.__notes__ == ["while learning class ant"]
