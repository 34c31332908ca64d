"""The methods of the paper, with its settings."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from pairlearn import clustering_error
from pairlearn.reproduce.methods import METHODS, test_error
from pairlearn.reproduce.sample import draw_table

test_error.__test__ = False  # a function of the package, not a test


@pytest.mark.usefixtures("waves")
@pytest.mark.parametrize("method", sorted(METHODS))
def test_each_method_learns_the_waveform(method):
    sample = draw_table("waveform", 300, 0)
    found = test_error(method, METHODS[method].settings, sample, seed=0)
    # Clusters are not the classes here, and OVPC goes astray: the paper prints 39 %
    # to 47 % for these four.
    limit = dict.fromkeys(("KM", "CKM", "SSP", "OVPC"), 0.5) | {"SD": 0.3}
    limit["SD (L-BFGS)"] = 0.3
    assert found < limit.get(method, 0.2)
    assert found > (0.3 if method in ("KM", "CKM", "OVPC") else 0.1)
    assert found == test_error(method, METHODS[method].settings, sample, seed=0)


def test_the_settings_are_those_of_the_paper():
    for method in ("CIPS", "MCL", "SD", "SV"):
        settings = METHODS[method].settings
        assert settings["solver"] == "sgd"
        assert settings["max_iter"] == 500
        assert settings["batch_size"] == 64
        assert settings["learning_rate"] == 0.01
        assert settings["alpha"] == 1e-4
    assert METHODS["SD"].settings["loss"] == "logistic"


@pytest.mark.usefixtures("waves")
def test_the_supervised_column_is_logistic_regression():
    sample = draw_table("waveform", 200, 0)
    n = len(sample.y)
    reference = LogisticRegression(C=1 / (1e-4 * n), max_iter=5000, tol=1e-8)
    expected = reference.fit(sample.X, sample.y).predict(sample.X_test)
    method = METHODS["SV (L-BFGS)"]
    found = method.predict(sample, method.settings, 0)
    assert np.mean(found != expected) < 0.005
    by_sgd = METHODS["SV"].predict(sample, METHODS["SV"].settings, 0)
    assert clustering_error(sample.y_test, by_sgd) == pytest.approx(
        clustering_error(sample.y_test, expected), abs=0.03
    )
