"""What PairNet says of wrong answers and of its own errors."""

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("skorch")

from pairlearn import Pairs, certify, clustering_error
from pairlearn.models.base import Answered
from pairlearn.models.neural import PairLikelihoodLoss
from pairlearn.trust.certify import judge
from tests.support.rings import PAIRS, T, X, error, few, fit, ring

# Many nets here are trained for a few epochs only: too few to leave the flat start.
pytestmark = pytest.mark.filterwarnings("ignore:the network puts all points")


def test_the_certificate_holds_the_truth():
    points, y = ring(4000, radius=0.85)
    pairs, t = Pairs.sample(points, 2000, y, random_state=0)
    net = fit(pairs, t, certificate_size=0.4, lr=0.003, max_epochs=4)
    assert net.certificate_.n_pairs == 800
    low, high = net.certificate_.clustering_interval
    X_big, y_big = ring(50_000, seed=2, radius=0.85)
    truth = clustering_error(y_big, net.predict(X_big))
    assert 0.01 < truth < 0.45
    assert low <= truth <= high
    assert few().certificate_ is None


def test_pairs_for_the_certificate_play_no_part_in_training(monkeypatch):
    kept_aside = []

    def recorded(net, pairs, t, noise):
        kept_aside.append((np.asarray(pairs), t))
        return judge(net, pairs, t, noise)

    monkeypatch.setattr("pairlearn.models.neural.net.judge", recorded)
    settings = {"certificate_size": 0.4, "max_epochs": 10}
    first = fit(**settings)
    used = {pair.tobytes() for pair in kept_aside[0][0]}
    kept = np.array([pair.tobytes() in used for pair in np.asarray(PAIRS)])
    assert kept.sum() == first.certificate_.n_pairs == 160
    # Lies about these pairs change the certificate, and nothing else.
    with pytest.warns(UserWarning, match="seem to be more than two kinds"):
        second = fit(t=np.where(kept, -T, T), **settings)
    np.testing.assert_array_equal(kept_aside[1][1], -kept_aside[0][1])
    assert second.certificate_ is None
    np.testing.assert_array_equal(
        first.decision_function(X), second.decision_function(X)
    )
    # The model was not trained on them, and does not remember them.
    assert certify(first, PAIRS[kept], T[kept]).unseen is True


def test_soft_answers_are_unsure_in_the_certificate():
    soft = np.where(np.arange(400) < 300, 0.9 * T, T)
    net = fit(t=soft, certificate_size=80, max_epochs=10)
    assert net.certificate_.n_pairs == 80
    assert net.certificate_.n_unsure > 40
    with pytest.raises(ValueError, match="certificate_size"):
        fit(t=0.9 * T, certificate_size=80)


def noisy(r1, r0, n=3000, seed=0):
    points, y = ring(2 * n, seed, radius=0.85)
    pairs, t = Pairs.sample(points, n, y, random_state=seed)
    u = np.random.default_rng(seed).random(n)
    return pairs, np.where(u < np.where(t > 0, r1, r0), 1.0, -1.0)


@pytest.mark.parametrize(
    ("asked", "truth"),
    [("auto", (0.8, 0.05)), ("symmetric", (0.78, 0.22))],
)
def test_flip_rates_are_learned(asked, truth):
    # They begin at (0.9, 0.3) and (0.9, 0.1), farther off than is allowed here.
    net = fit(*noisy(*truth), flip_rates=asked, batch_size=256, max_epochs=30)
    np.testing.assert_allclose(net.flip_rates_, truth, atol=0.06)
    if asked == "symmetric":
        assert net.flip_rates_[0] == pytest.approx(1 - net.flip_rates_[1])
    assert error(net) < 0.06


def test_given_flip_rates_are_used():
    pairs, t = noisy(0.9, 0.3, n=600)
    settings = {"max_epochs": 2, "validation_size": 0}
    net = fit(pairs, t, flip_rates=(0.9, 0.3), **settings)
    assert net.flip_rates_ == (0.9, 0.3)
    same = fit(pairs, t, loss=PairLikelihoodLoss((0.9, 0.3)), **settings)
    np.testing.assert_array_equal(net.decision_function(X), same.decision_function(X))
    plain = fit(pairs, t, **settings)
    assert plain.flip_rates_ == (1.0, 0.0)
    assert fit(pairs, t, loss="product", **settings).flip_rates_ is None
    assert net.history_[0]["train_loss"] != plain.history_[0]["train_loss"]


@pytest.mark.parametrize(
    ("asked", "truth"),
    [(0.2, (0.8, 0.2)), ((0.95, 0.3), (0.95, 0.3)), ("auto", (0.95, 0.3))],
    ids=["rate", "rates", "learned"],
)
def test_the_certificate_knows_of_wrong_answers(asked, truth):
    settings = {"certificate_size": 0.5, "batch_size": 256, "max_epochs": 20}
    net = fit(*noisy(*truth), flip_rates=asked, **settings)
    low, high = net.certificate_.clustering_interval
    assert low <= error(net) <= high
    # Wrong answers alone would make it look worse than this.
    assert low < 0.06
    assert net.certificate_.clustering_error < 0.12
    assert 0.1 < net.certificate_.flip_rate < 0.3
    assert not net.certificate_.cross_validated


def test_a_certificate_rests_on_points_that_training_did_not_see():
    # Sixty features and noise: a network knows such points by heart, and no others.
    rng = np.random.default_rng(0)
    points = rng.normal(size=(600, 60))
    y = np.where(points[:, 0] + rng.normal(size=600) > 0, 1, -1)
    couples = np.arange(600).reshape(-1, 2), rng.integers(200, size=(300, 2))
    index = np.concatenate(couples)
    pairs = Pairs(points, index[index[:, 0] != index[:, 1]])
    net = fit(pairs, pairs.answers(y), certificate_size=100, max_epochs=40, lr=0.01)
    given = Answered(pairs, pairs.answers(y), np.ones(len(pairs)))
    learned, judged = net._keep_for_certificate(given, np.random.RandomState(0))
    assert len(judged.t) == net.certificate_.n_pairs == 100
    # Points are told by their first feature: no two have the same.
    assert not set(learned.pairs.X[:, 0]) & set(judged.pairs.X[:, 0])
    low, high = net.certificate_.clustering_interval
    new = rng.normal(size=(4000, 60))
    truth = np.where(new[:, 0] + rng.normal(size=4000) > 0, 1, -1)
    assert low <= clustering_error(truth, net.predict(new)) <= high
    crowded, t = Pairs.sample(points[:120], 3000, y[:120], reuse=True, random_state=0)
    with pytest.raises(ValueError, match="lower certificate_size, or certify"):
        fit(crowded, t, certificate_size=60)
