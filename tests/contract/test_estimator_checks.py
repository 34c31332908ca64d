"""scikit-learn's estimator checks, on every estimator.

The checks speak of points and labels. The adapter couples rows, turns the labels into
answers, fits the pair classifier on those, and lets the labels name the two sides.
"""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.estimator_checks import estimator_checks_generator
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from pairlearn import Pairs
from pairlearn.data.checks import check_weights
from tests.support.estimators import ESTIMATORS


class CoupledRows(ClassifierMixin, BaseEstimator):
    """Fit a pair classifier to rows (0, 1), (0, 2), (1, 2), ... of labelled points."""

    def __init__(self, name="cips-logistic"):
        self.name = name

    def fit(self, X, y, sample_weight=None):
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32]
        )
        check_classification_targets(y)
        self.classes_, code = np.unique(y, return_inverse=True)
        if type_of_target(y) == "multiclass":
            raise ValueError(
                "Only binary classification is supported. The type of the target is "
                "multiclass."
            )
        weight = check_weights(sample_weight, len(y))
        if len(np.unique(y[weight > 0])) < 2:
            raise ValueError("Classifier can't train when only one class is present.")
        index = couple(code, weight)
        pairs = Pairs(X, index)
        t = pairs.answers(code)
        self.model_ = clone(ESTIMATORS[self.name]).set_params(classes=(0, 1))
        self.model_.fit(pairs, t, sample_weight=weight[index].prod(axis=1))
        self.model_.assign_from_points(X, code)
        self.n_iter_ = self.model_.n_iter_
        return self

    def decision_function(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr")
        return self.model_.decision_function(X)

    def predict(self, X):
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(int)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        return tags


def couple(code, weight):
    """Return neighbours and next neighbours by fours, and a pair that differs.

    Of any three points two are of one class, so both kinds of answers occur in whatever
    order the labels come. Few rows hang together: what a risk does for long chains,
    every check would pay for.

    Why fours: in check_fit_idempotent the unhinged risk has no bottom on some sets of
    pairs, and is refused. Of groups of 3 to 12 rows, those of 4, 7, 9 and 10 were tried
    and pass; those of 3, 5, 6, 8 and 12 do not.
    """
    rows = np.arange(len(code))
    pairs = np.concatenate([rows[:-1], rows[:-2]]), np.concatenate([rows[1:], rows[2:]])
    index = np.stack(pairs, axis=1)
    index = index[index[:, 0] // 4 == index[:, 1] // 4]
    first = np.flatnonzero(weight > 0)[0]
    other = np.flatnonzero((weight > 0) & (code != code[first]))[0]
    return np.concatenate([index, [[first, other]]])


# Check name -> why it cannot pass. None of these is skipped: each must fail.
REPEATED_ROWS = "repeating or dropping rows couples other rows: they are other pairs"
EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": REPEATED_ROWS,
    "check_sample_weight_equivalence_on_sparse_data": REPEATED_ROWS,
}
OF_ONE_ESTIMATOR = {
    ("sd", "check_classifiers_train"): (
        "the classes of the check are of equal size, where the SD risk is undefined"
    ),
}
CHECKS = [
    pytest.param(estimator, check, id=f"{name}-{check.func.__name__}")
    for name in ESTIMATORS
    for estimator, check in estimator_checks_generator(CoupledRows(name))
]


def test_at_least_45_checks_an_estimator():
    for name in ESTIMATORS:
        assert sum(param.values[0].name == name for param in CHECKS) >= 45


@pytest.mark.filterwarnings("ignore")  # the checks feed odd data on purpose
@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_scikit_learn_check(estimator, check, request):
    name = check.func.__name__
    # Accuracy is asked for on groups far apart, which few candidates tell as well.
    if estimator.name == "auto":
        request.getfixturevalue("quick")
    reason = EXPECTED_FAILURES.get(name, OF_ONE_ESTIMATOR.get((estimator.name, name)))
    if reason is None:
        check(estimator)
    else:
        with pytest.raises(AssertionError):
            check(estimator)
