"""Wrong input gets an error that says what is wrong and what to do.

Each message is checked for the words a user needs; no bare NumPy error may come out.
"""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from pairlearn import CIPSClassifier, Pairs, certify
from tests.support.estimators import ESTIMATORS

RNG = np.random.default_rng(0)
X = RNG.normal(size=(20, 3))
INDEX = np.arange(20).reshape(10, 2)
T = np.where(np.arange(10) % 2, 1.0, -1.0)


def spoiled(value, at=(4, 1)):
    table = X.copy()
    table[at] = value
    return table


CASES = {
    "2-D array": (X, T, "Pairs\\(X, index\\)(.|\n)*shape \\(n_pairs, 2, n_features\\)"),
    "2-D frame": (pd.DataFrame(X), T, "table of points where pairs are needed"),
    "sparse table": (sparse.csr_array(X), T, "Pairs\\(X, index\\)"),
    "triplets": (np.zeros((5, 3, 2)), T, "got an array of shape \\(5, 3, 2\\)"),
    "ragged": ([[[1.0], [2.0, 3.0]]], T, "do not form an array"),
    "too few answers": (Pairs(X, INDEX), T[:9], "10 pairs but 9 answers"),
    "answers as a table": (
        Pairs(X, INDEX),
        np.ones((10, 2)),
        "array, one per pair",
    ),
    "0 and 1": (Pairs(X, INDEX), (T > 0).astype(int), "2 \\* t - 1"),
    "words": (Pairs(X, INDEX), np.where(T > 0, "same", "different"), "numpy.where"),
    "words as objects": (
        Pairs(X, INDEX),
        np.where(T > 0, "1", "-1").astype(object),
        "numpy.where",
    ),
    "missing among objects": (
        Pairs(X, INDEX),
        pd.array([True, pd.NA, *[False] * 8], dtype="boolean"),
        "answer 1 is nan.*pandas.notna",
    ),
    "answer out of range": (Pairs(X, INDEX), 3 * T, "answer 0 is -3.*\\+1 \\(same\\)"),
    "missing answer": (
        Pairs(X, INDEX),
        np.where(np.arange(10) == 2, np.nan, T),
        "answer 2 is nan.*Leave out",
    ),
    "only same": (Pairs(X, INDEX), np.ones(10), "no answer is 'different'"),
    "only different": (Pairs(X, INDEX), -np.ones(10), "no answer is 'same'"),
    "probabilities": (Pairs(X, INDEX), np.linspace(0.1, 0.9, 10), "2 \\* p - 1"),
    "one pair": (Pairs(X, INDEX[:1]), T[:1], "at least two pairs"),
    "no pairs": (Pairs(X, []), [], "at least two pairs"),
    "differs from itself": (
        Pairs(X, [[0, 1], [3, 3], [4, 5]]),
        [1, -1, 1],
        "pair 1 is point 3 with itself",
    ),
    "NaN": (Pairs(spoiled(np.nan), INDEX), T, "row 4, column 1.*SimpleImputer"),
    "infinity": (Pairs(spoiled(-np.inf), INDEX), T, "NaN or infinity"),
    "NaN in sparse": (Pairs(sparse.csr_array(spoiled(np.nan)), INDEX), T, "row 4"),
    "text": (
        Pairs(pd.DataFrame({"a": list("uvwxy" * 4), "b": 1.0}), INDEX),
        T,
        "not a number.*make_column_transformer",
    ),
    "objects": (Pairs(X.astype(object) * 1j, INDEX), T, "not a number"),
}


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("case", CASES)
def test_fit(estimator, case):
    pairs, t, message = CASES[case]
    model = clone(ESTIMATORS[estimator])
    with pytest.raises(ValueError, match=message):
        model.fit(pairs, t)
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize(
    ("index", "message"),
    [
        ([[0, 20]], r"pair 0 is \(0, 20\), but the points are numbered 0 to 19"),
        ([[0, 1], [-1, 2]], r"pair 1 is \(-1, 2\)"),
        ([[0.0, 1.0]], "integers.*from_frame"),
        ([["a", "b"]], "integers.*from_frame"),
        ([[True, False]], "integers"),
        ([0, 1], r"shape \(n_pairs, 2\)"),
        ([[0, 1, 2]], r"shape \(n_pairs, 2\)"),
        ([[0, 1, 2], [1, 2, 3]], r"pass index.T"),
    ],
)
def test_index(index, message):
    with pytest.raises(ValueError, match=message):
        Pairs(X, index)


def test_answers_as_tables_deliver_them():
    plain = CIPSClassifier().fit(Pairs(X, INDEX), T)
    for t in (
        (T > 0).astype(object),
        pd.Series(T > 0),
        pd.Series(T > 0, dtype="boolean"),
        pd.Series(T, dtype="Int64"),
        T.astype(object),
        (T > 0).tolist(),
    ):
        again = CIPSClassifier().fit(Pairs(X, INDEX), t)
        np.testing.assert_array_equal(again.coef_, plain.coef_)


def test_wrong_order_of_arguments():
    with pytest.raises(ValueError, match=r"Pairs.sample\(X, n_pairs, y\)"):
        Pairs.sample(X, T, 5)
    with pytest.raises(TypeError, match=r"certify\(clf, pairs, t\)"):
        certify(Pairs(X, INDEX), CIPSClassifier(), T)
    with pytest.raises(TypeError, match="read_csv"):
        Pairs.from_frame("points.csv", "pairs.csv")


def test_points_must_be_a_table():
    with pytest.raises(ValueError, match="n_points, n_features"):
        Pairs(X[:, 0], INDEX)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.ones(9), "one weight per pair"),
        (np.zeros(10), "zero for every pair"),
        (-np.ones(10), "not negative"),
        (np.full(10, np.nan), "finite"),
        (T > 0, "no answer is 'different'"),
    ],
)
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_weights(estimator, weight, message):
    with pytest.raises(ValueError, match=message):
        clone(ESTIMATORS[estimator]).fit(Pairs(X, INDEX), T, sample_weight=weight)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "log"}, "unknown loss 'log'.*'hinge'.*'logistic'"),
        ({"solver": "adam"}, "unknown solver 'adam'.*'lbfgs'.*'sgd'"),
        ({"solver": "eigen"}, "unhinged and the linear loss only"),
        ({"loss": "unhinged", "solver": "lbfgs"}, "use solver='eigen'"),
        ({"alpha": -1.0}, "alpha"),
        ({"alpha": np.nan}, "alpha"),
        ({"alpha": "1"}, "alpha"),
        ({"max_iter": 0}, "max_iter"),
        ({"max_iter": 2.5}, "max_iter"),
        ({"n_init": 0}, "n_init"),
        ({"tol": 0.0}, "tol"),
        ({"majority": 0}, "prior 1/2.*assign_from_points"),
        ({"majority": 2}, r"\+1 or -1"),
        ({"classes": (1, 1)}, "2 classes"),
        ({"classes": (1, 2, 3)}, "2 classes"),
        ({"classes": 5}, "2 classes"),
        ({"classes": "ab"}, "2 classes"),
        ({"loss": ["hinge"]}, "unknown loss"),
        ({"alpha": np.inf}, "alpha"),
        ({"majority": np.ones(2)}, "name of the class"),
        ({"majority": 1, "assignment_size": "x"}, "assignment_size"),
    ],
)
def test_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        CIPSClassifier(**parameters).fit(Pairs(X, INDEX), T)


def test_diverging_sgd_says_so():
    clf = CIPSClassifier(loss="squared", solver="sgd", learning_rate=10.0)
    with pytest.raises(FloatingPointError, match=r"learning_rate=10\.0: lower it"):
        clf.fit(Pairs(X, INDEX), T)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_predict(estimator):
    model = clone(ESTIMATORS[estimator])
    with pytest.raises(NotFittedError):
        model.predict(X)
    model.fit(Pairs(X, INDEX), T)
    with pytest.raises(ValueError, match="predict_pairs"):
        model.predict(Pairs(X, INDEX))
    with pytest.raises(ValueError, match="predict_pairs"):
        model.decision_function(np.zeros((2, 2, 3)))
    with pytest.raises(ValueError, match=r"2 features.*expecting 3 features"):
        model.predict(X[:, :2])
    with pytest.raises(ValueError, match="where pairs are needed"):
        model.pair_score(X)
    with pytest.raises(ValueError, match="NaN"):
        model.predict(spoiled(np.nan))
    with pytest.raises(ValueError, match="majority"):
        model.assign_from_pairs(Pairs(X, INDEX), T, majority=None)


def test_the_row_of_a_gap_is_the_users_own():
    table = np.vstack([np.zeros((7, 3)), spoiled(np.nan)])
    with pytest.raises(ValueError, match="row 11, column 1"):
        CIPSClassifier().fit(Pairs(table, INDEX + 7), T)


def test_numbers_too_large_to_square():
    with pytest.raises(ValueError, match="too large"):
        CIPSClassifier().fit(Pairs(X * 1e160, INDEX), T)


def test_nan_in_a_point_without_pairs_is_no_problem():
    table = np.vstack([X, np.full(3, np.nan)])
    a = CIPSClassifier().fit(Pairs(table, INDEX), T)
    b = CIPSClassifier().fit(Pairs(X, INDEX), T)
    np.testing.assert_array_equal(a.coef_, b.coef_)
