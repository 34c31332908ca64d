"""Every estimator is exported and says the same, or is refused in a clear sentence."""

import numpy as np
import pytest
from sklearn.base import clone

from pairlearn import Pairs
from pairlearn.export import ExportError, to_onnx, to_sklearn
from pairlearn.export.checking import check_onnx, check_sklearn
from tests.support.estimators import ESTIMATORS

# What cannot be exported, with words of the reason; all others must be.
REFUSED = {
    "constrained-k-means": "is a clustering",
    "constrained-spectral": "is a clustering",
    "pair-net": "is a network",
    "pair-net-product": "is a network",
    "deep-metric": "is a network",
}
RNG = np.random.default_rng(0)
Y = np.arange(120) % 2
X = RNG.normal(size=(120, 4)) + np.outer(Y, [2, 1, 0, 0])
# A heavy tail, which is bent, and a column of two values, which is not.
X[:, 2], X[:, 3] = np.exp(X[:, 2]), X[:, 3] > 0
FAR = np.vstack([X, 9 * RNG.normal(size=(40, 4))])


@pytest.mark.parametrize("name", ESTIMATORS)
def test_it_says_the_same_or_is_refused(name):
    model = clone(ESTIMATORS[name])
    if name in REFUSED:
        for export in (to_sklearn, to_onnx):
            with pytest.raises(ExportError, match=f"{REFUSED[name]}.*pairlearn.save"):
                export(model)
        return
    pairs, t = Pairs.sample(X, 60, Y, random_state=0)
    model.set_params(classes=("no", "yes")).fit(pairs, t)
    plain = to_sklearn(model)
    assert plain.classes_.tolist() == ["no", "yes"]
    assert hasattr(plain, "predict_proba") == hasattr(model, "predict_proba")
    scores = model.decision_function(FAR)
    np.testing.assert_allclose(plain.decision_function(FAR), scores, atol=1e-9)
    assert check_sklearn(model, plain, FAR) < 1e-9
    assert check_onnx(model, to_onnx(model), plain, FAR) < 1e-5
