import math

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

from pairlearn import CIPSClassifier, Pairs, certify, make_pair_pipeline
from pairlearn.trust.certificate import (
    certificate_from_answers,
    certificate_from_counts,
    certificate_from_points,
)
from pairlearn.trust.certify import judge
from pairlearn.trust.kept_pairs import keep_aside
from pairlearn.trust.noise import Noise
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


@pytest.mark.filterwarnings("ignore:the pairs do not look random")
@pytest.mark.parametrize("flip_rate", [0.0, 0.1])
def test_coverage_of_two_thousand_certificates(flip_rate):
    rng = np.random.default_rng(0)
    truth, covered, covered_pair = Threshold.error, 0, 0
    for _ in range(2000):
        pairs, t = gaussian_pairs(150, rng, flip_rate=flip_rate)
        certificate = certify(Threshold(), pairs, t, flip_rates=flip_rate)
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
    aware = certify(Threshold(), pairs, t, flip_rates=0.2)
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
        CIPSClassifier().fit(pairs[:75], t[:75]),
        make_pair_pipeline(CIPSClassifier()).fit(pairs[:75], t[:75]),
        LogisticRegression().fit(X, np.where(y > 0, "a", "b")),
    ]
    for model, unseen in zip(models, (True, True, None), strict=True):
        found = certify(model, pairs[75:], t[75:])
        assert 0 < found.clustering_error < 0.2
        assert found.unseen is unseen


def test_chance_and_worse_map_to_one_half():
    pairs, t = gaussian_pairs(50, np.random.default_rng(0))
    t = np.where(np.arange(50) < 32, -t, t)
    worst = certify(Threshold(), pairs, t)
    assert worst.clustering_error == worst.clustering_interval[1] == 0.5


def test_of_pairs_that_share_points_some_are_counted():
    rng = np.random.default_rng(0)
    pairs, t = gaussian_pairs(50, rng)
    twice = Pairs(pairs.X, np.concatenate([pairs.index, pairs.index[:, ::-1]]))
    t = np.concatenate([t, t])
    with pytest.warns(UserWarning, match="50 of 100 pairs share a point with another"):
        found = certify(Threshold(), twice, t)
    assert found == certify(Threshold(), pairs, t[:50])


def test_reprs():
    pairs, t = gaussian_pairs(200, np.random.default_rng(0))
    certificate = certify(Threshold(), pairs, t, flip_rates=0.01)
    low, high = certificate.clustering_interval
    for text in (repr(certificate), certificate._repr_html_()):
        for number in (certificate.clustering_error, low, high):
            assert f"{number:.1%}" in text
        assert "95%" in text
        assert "200 pairs" in text
        assert "1.0% wrong answers" in text
    assert certificate._repr_html_().count("<svg") == 2


def test_theorem_1_is_for_two_classes():
    model = LogisticRegression().fit([[0.0], [1.0], [2.0]], [0, 1, 2])
    pairs = Pairs(np.array([[-9.0], [1.0], [9.0], [9.0]]), [[0, 1], [2, 3]])
    with pytest.raises(ValueError, match="two classes"):
        judge(model, pairs, np.array([-1.0, 1.0]), Noise())
    assert certify(model, pairs, [-1, 1]).interval == (0.0, 1.0)


def test_flip_rate_that_is_too_high_is_noticed():
    pairs, _ = gaussian_pairs(400, np.random.default_rng(0))
    agreed = Threshold().predict(pairs.X)[pairs.index].prod(axis=1)
    with pytest.warns(UserWarning, match="flip_rates seem too high"):
        certify(Threshold(), pairs, agreed, flip_rates=0.2)


def said_and_answered(n_pairs, rng, prior, error, rates):
    """What a classifier with some error says, and answers with some flip rates."""
    y = rng.random((n_pairs, 2)) < prior
    predicted = np.where(rng.random(y.shape) < error, ~y, y)
    truth, says = (np.where(c[:, 0] == c[:, 1], 1, -1) for c in (y, predicted))
    same = rng.random(n_pairs) < np.where(truth > 0, *rates)
    return says, np.where(same, 1, -1)


@pytest.mark.parametrize("rates", [(0.6, 0.0), (1.0, 0.2), (0.8, 0.05), (0.95, 0.3)])
@pytest.mark.parametrize(
    # In the last two, how often the classifier says "same" matters most.
    ("prior", "error"),
    [(0.5, 0.1), (0.9, 0.05), (0.95, 0.3), (1.0, 0.5)],
)
def test_coverage_with_two_flip_rates(prior, error, rates):
    rng = np.random.default_rng(0)
    truth, covered = 2 * error * (1 - error), 0
    for _ in range(300):
        says, t = said_and_answered(200, rng, prior, error, rates)
        low, high = certificate_from_answers(says, t, rates).pair_interval
        covered += low <= truth <= high
    assert covered / 300 >= 0.95


@pytest.mark.parametrize("rates", [(0.6, 0.0), (0.95, 0.3), (0.8, 0.2)])
def test_two_flip_rates_undo_noise(rates):
    rng = np.random.default_rng(0)
    says, t = said_and_answered(100_000, rng, 0.7, 0.1, rates)
    found = certificate_from_answers(says, t, rates)
    assert found.clustering_error == pytest.approx(0.1, abs=0.01)
    low, high = found.clustering_interval
    assert low < found.clustering_error < high < low + 0.05
    wrong = 0.58 * (1 - rates[0]) + 0.42 * rates[1]
    assert found.flip_rate == pytest.approx(wrong, abs=0.01)


def test_one_rate_and_two_that_are_alike_are_one_rule():
    pairs, t = gaussian_pairs(300, np.random.default_rng(0), flip_rate=0.1)
    said = Threshold().predict(pairs.X)[pairs.index].prod(axis=1)
    counted = certificate_from_counts(int(np.sum(said != t)), 300, 0.95, 0.1)
    for rates in (0.1, (0.9, 0.1), np.array([0.9, 0.1])):
        found = certify(Threshold(), pairs, t, flip_rates=rates)
        assert found.pair_error == pytest.approx(counted.pair_error)
        assert found.pair_interval == pytest.approx(counted.pair_interval)
        assert found.flip_rate == pytest.approx(0.1)


def test_auto_claims_nothing_from_below():
    pairs, t = gaussian_pairs(400, np.random.default_rng(0), flip_rate=0.2)
    clf = Threshold()
    plain = certify(clf, pairs, t)
    found = certify(clf, pairs, t, flip_rates="auto")
    assert found.clustering_interval == (0.0, plain.clustering_interval[1])
    assert found.bolder_interval == plain.clustering_interval
    assert found.noise == "unknown"
    assert f"at most {found.clustering_interval[1]:.1%}" in str(found)
    # Rates that the classifier has learned move the estimate, and nothing else.
    clf.flip_rates_ = (0.8, 0.25)
    known = certify(clf, pairs, t, flip_rates=(0.8, 0.25))
    guess = certify(clf, pairs, t, flip_rates="auto")
    assert guess.clustering_error == known.clustering_error < found.clustering_error
    assert guess.clustering_interval == found.clustering_interval
    clf.flip_rates_ = (0.3, 0.6)
    assert certify(clf, pairs, t, flip_rates="auto") == found


def test_rates_that_are_too_high_are_told():
    pairs, t = gaussian_pairs(800, np.random.default_rng(0), flip_rate=0.2)
    pipeline = make_pair_pipeline(CIPSClassifier(flip_rates=(0.7, 0.2)))
    pipeline.fit(pairs[:400], t[:400])
    pairs = pairs[400:]
    agreed = pairs.answers(pipeline.predict(pairs.X))[: len(pairs)]
    assert certify(pipeline, pairs, agreed, flip_rates="auto").flip_rate > 0.1
    with pytest.warns(UserWarning, match="calls same, fewer than the 30.0%"):
        certify(pipeline, pairs, agreed, flip_rates=(0.7, 0.0))
    with pytest.warns(UserWarning, match="calls different, fewer than the 20.0%"):
        certify(pipeline, pairs, agreed, flip_rates=(1.0, 0.2))


def test_pairs_are_kept_from_those_that_may_be():
    rng = np.random.RandomState(0)
    pairs = Pairs(np.zeros((200, 1)), rng.permutation(200).reshape(-1, 2))
    t, usable = rng.choice([-1.0, 1.0], 100), np.arange(100) % 4 == 0
    trained, kept = keep_aside(pairs, t, 0.24, rng, usable=usable)
    assert len(kept) == 24
    assert usable[kept].all()
    np.testing.assert_array_equal(np.union1d(trained, kept), np.arange(100))
    for size, least, n_kept in [(24, 20, 24), (40, 20, 25), (5, 20, 0), (5, 5, 5)]:
        _, kept = keep_aside(pairs, t, size, rng, usable=usable, least=least)
        assert len(kept) == n_kept


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"t": [0.5, 1]}, "must be -1 or \\+1"),
        ({"confidence": 1.0}, "confidence"),
        ({"flip_rates": 0.5}, "flip_rates"),
        ({"flip_rates": -0.1}, "flip_rates"),
        ({"flip_rates": (0.2, 0.8)}, "flip_rates"),
        ({"flip_rates": "symmetric"}, "one of None, 'auto'$"),
        ({"groups": ["a"]}, "one group for each of 4 points"),
        ({"flip_rates": (0.9, 0.0), "confidence": -0.5}, "confidence.* got -0.5"),
        ({"t": [1]}, "2 pairs but 1 answers"),
        ({"pairs": np.zeros((0, 2, 1)), "t": []}, "at least one pair"),
    ],
)
def test_wrong_input(change, message):
    points = np.arange(4.0).reshape(2, 2, 1)
    arguments = {"pairs": points, "t": [1, -1]} | change
    with pytest.raises(ValueError, match=message):
        certify(Threshold(), **arguments)


def test_all_unsure_or_same_is_no_riddle():
    pairs, _ = gaussian_pairs(40, np.random.default_rng(0))
    found = certify(Threshold(), pairs, np.zeros(40))
    assert found.clustering_interval == (0.0, 0.5)
    some = np.where(np.arange(40) < 30, 1, 0)
    assert certify(Threshold(), pairs, some).n_unsure == 10


def test_points_whose_side_is_open_count_both_ways():
    sure = certificate_from_points(5, 100, Noise("none"))
    found = certificate_from_points(5, 100, Noise("none"), n_unsure=10)
    worst = certificate_from_points(15, 100, Noise("none"))
    assert found.clustering_interval[0] == sure.clustering_interval[0]
    assert found.clustering_interval[1] == worst.clustering_interval[1]
    assert found.clustering_error == pytest.approx(0.1)
    # Where answers may be wrong, nothing is claimed from below.
    unknown = certificate_from_points(5, 100, Noise("unknown"))
    assert unknown.clustering_interval == (0.0, sure.clustering_interval[1])
