import math

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

from pairlearn import CIPSClassifier, Pairs, certify, make_pair_pipeline
from pairlearn.trust.theory import pair_error_from_error


class Threshold:
    """x > 0 on two Gaussians at -1 and +1: its error is known exactly."""

    error = norm.cdf(-1)

    def predict(self, X):
        return np.where(X[:, 0] > 0, 1, -1)


def gaussian_pairs(n_pairs, rng, prior=0.7, flip_rate=0.0):
    y = np.where(rng.random(2 * n_pairs) < prior, 1, -1)
    X = (rng.normal(size=2 * n_pairs) + y)[:, None]
    t = np.where(rng.random(n_pairs) < flip_rate, -1, 1) * y[::2] * y[1::2]
    return Pairs(X, np.arange(2 * n_pairs).reshape(-1, 2)), t


@pytest.mark.parametrize("flip_rate", [0.0, 0.1])
def test_coverage_of_two_thousand_certificates(flip_rate):
    rng = np.random.default_rng(0)
    truth, covered, covered_pair = Threshold.error, 0, 0
    for _ in range(2000):
        pairs, t = gaussian_pairs(150, rng, flip_rate=flip_rate)
        certificate = certify(Threshold(), pairs, t, flip_rate=flip_rate)
        low, high = certificate.clustering_interval
        covered += low <= truth <= high
        low, high = certificate.pair_interval
        covered_pair += low <= pair_error_from_error(truth) <= high
    floor = 0.95 - 3 * math.sqrt(0.95 * 0.05 / 2000)
    assert covered / 2000 >= floor
    assert covered_pair / 2000 >= floor
    assert covered / 2000 < 0.99  # an interval that is too wide is no use either


def test_estimate_converges_to_the_error():
    pairs, t = gaussian_pairs(100_000, np.random.default_rng(0))
    certificate = certify(Threshold(), pairs, t)
    assert certificate.clustering_error == pytest.approx(Threshold.error, abs=3e-3)
    low, high = certificate.clustering_interval
    assert low < certificate.clustering_error < high
    assert high - low < 0.01
    assert (certificate.n_pairs, certificate.confidence) == (100_000, 0.95)


def test_flip_rate_undoes_noise():
    rng = np.random.default_rng(0)
    pairs, t = gaussian_pairs(100_000, rng, flip_rate=0.2)
    aware = certify(Threshold(), pairs, t, flip_rate=0.2)
    naive = certify(Threshold(), pairs, t)
    assert aware.clustering_error == pytest.approx(Threshold.error, abs=6e-3)
    assert naive.clustering_error > Threshold.error + 0.05


def test_more_confidence_is_wider():
    pairs, t = gaussian_pairs(200, np.random.default_rng(0))
    a, b = (certify(Threshold(), pairs, t, confidence=c) for c in (0.8, 0.99))
    assert b.clustering_interval[0] < a.clustering_interval[0]
    assert b.clustering_interval[1] > a.clustering_interval[1]


def test_any_classifier_can_be_certified(blobs):
    X, y = blobs
    pairs, t = Pairs.sample(X, 150, y, random_state=1)
    models = [
        CIPSClassifier().fit(pairs, t),
        make_pair_pipeline(CIPSClassifier()).fit(pairs, t),
        LogisticRegression().fit(X, np.where(y > 0, "a", "b")),
    ]
    for model in models:
        assert 0 < certify(model, pairs, t).clustering_error < 0.2


def test_chance_and_worse_map_to_one_half():
    pairs, t = gaussian_pairs(50, np.random.default_rng(0))
    worst = certify(Threshold(), pairs, -t)
    assert worst.clustering_error == worst.clustering_interval[1] == 0.5


def test_shared_points_warn_and_the_way_out_works():
    rng = np.random.default_rng(0)
    pairs, t = gaussian_pairs(50, rng)
    twice = Pairs(pairs.X, np.concatenate([pairs.index, pairs.index[:, ::-1]]))
    t = np.concatenate([t, t])
    with pytest.warns(UserWarning, match=r"pairs.disjoint\(\)"):
        certify(Threshold(), twice, t)
    keep = twice.disjoint(random_state=0)
    assert certify(Threshold(), twice[keep], t[keep]).n_pairs == 50


def test_reprs():
    pairs, t = gaussian_pairs(200, np.random.default_rng(0))
    certificate = certify(Threshold(), pairs, t, flip_rate=0.01)
    low, high = certificate.clustering_interval
    for text in (repr(certificate), certificate._repr_html_()):
        for number in (certificate.clustering_error, low, high):
            assert f"{number:.1%}" in text
        assert "95%" in text
        assert "200 pairs" in text
        assert "1.0% wrong answers" in text
    assert certificate._repr_html_().count("<svg") == 2


def test_only_two_classes_are_certified():
    model = LogisticRegression().fit([[0.0], [1.0], [2.0]], [0, 1, 2])
    pairs = Pairs(np.array([[-9.0], [1.0], [9.0], [9.0]]), [[0, 1], [2, 3]])
    with pytest.raises(ValueError, match="two classes"):
        certify(model, pairs, [-1, 1])


def test_flip_rate_that_is_too_high_is_noticed():
    pairs, _ = gaussian_pairs(400, np.random.default_rng(0))
    agreed = Threshold().predict(pairs.X)[pairs.index].prod(axis=1)
    with pytest.warns(UserWarning, match="flip_rate seems too high"):
        certify(Threshold(), pairs, agreed, flip_rate=0.2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"t": [0.5, 1]}, "must be -1 or \\+1"),
        ({"confidence": 1.0}, "confidence"),
        ({"flip_rate": 0.5}, "flip_rate"),
        ({"flip_rate": -0.1}, "flip_rate"),
        ({"t": [1]}, "2 pairs but 1 answers"),
        ({"pairs": np.zeros((0, 2, 1)), "t": []}, "at least one pair"),
    ],
)
def test_wrong_input(change, message):
    arguments = {"pairs": np.zeros((2, 2, 1)), "t": [1, -1]} | change
    with pytest.raises(ValueError, match=message):
        certify(Threshold(), **arguments)
