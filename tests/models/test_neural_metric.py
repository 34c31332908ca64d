"""DeepMetricClassifier: the embedding, its clusters, and their names."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

torch = pytest.importorskip("torch")
pytest.importorskip("skorch")

from pairlearn import Pairs, clustering_error  # noqa: E402
from pairlearn.models.neural import MLP, DeepMetricClassifier  # noqa: E402
from pairlearn.models.neural.training import outputs  # noqa: E402

SMALL = {"hidden": (32,), "lr": 0.02, "batch_size": 64, "n_dimensions": 3}
SMALL |= {"max_epochs": 40, "device": "cpu", "random_state": 0}


def ring(n, seed):
    X = np.random.default_rng(seed).normal(size=(n, 2))
    return X, np.where((X**2).sum(axis=1) > 0.85**2, 1, -1)


X, Y = ring(1200, 0)
PAIRS, T = Pairs.sample(X, 600, Y, random_state=0)
X_NEW, Y_NEW = ring(1000, 1)


def fit(pairs=PAIRS, t=T, unlabeled=None, **settings):
    model = DeepMetricClassifier(**{**SMALL, **settings})
    return model.fit(pairs, t, unlabeled=unlabeled)


def nearest(model, points):
    embedded = outputs(model.module_, points)
    gaps = embedded[:, None] - model.cluster_centers_[None]
    return (gaps**2).sum(axis=2)


@pytest.mark.parametrize(
    ("form", "norm"), [("chopra", None), ("chopra", 2), ("hadsell", None)]
)
def test_a_circle_becomes_two_clusters(form, norm):
    model = fit(form=form, norm=norm)
    assert clustering_error(Y_NEW, model.predict(X_NEW)) < 0.06
    assert model.cluster_centers_.shape == (2, 3)


def test_prediction_is_the_nearest_centre():
    model = fit(max_epochs=5, classes=("in", "out"))
    squares = nearest(model, X_NEW)
    expected = np.array(["in", "out"])[squares.argmin(axis=1)]
    np.testing.assert_array_equal(model.predict(X_NEW), expected)
    np.testing.assert_allclose(
        model.decision_function(X_NEW), squares[:, 0] - squares[:, 1], atol=1e-6
    )
    # k-means has ended, so the labels of the fitted points are those of predict.
    np.testing.assert_array_equal(model.labels_, model.predict(X[model.rows_]))


@pytest.mark.parametrize("majority", [1, -1])
def test_turning_round_turns_everything(majority):
    model = fit(majority=majority)
    assert np.mean(model.predict(X_NEW) == majority * Y_NEW) > 0.93
    np.testing.assert_array_equal(model.labels_, model.predict(X[model.rows_]))
    assert np.mean(model.labels_ == majority * Y[model.rows_]) > 0.93
    closest = nearest(model, X_NEW).argmin(axis=1)
    np.testing.assert_array_equal(model.classes_[closest], model.predict(X_NEW))
    labels = model.labels_
    model.assign_from_points(X_NEW[:50], -majority * Y_NEW[:50])
    np.testing.assert_array_equal(model.labels_, -labels)
    np.testing.assert_array_equal(model.labels_, model.predict(X[model.rows_]))


def test_three_clusters():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=600)
    angle = 2 * np.pi * (y + rng.uniform(0.05, 0.95, 600)) / 3
    points = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    points *= rng.uniform(0.5, 3, (600, 1))
    pairs, t = Pairs.sample(points, 300, y, random_state=0)
    model = fit(pairs, t, n_clusters=3)
    assert adjusted_rand_score(y, model.predict(points)) > 0.8
    assert model.classes_.tolist() == [0, 1, 2]
    assert np.mean(model.predict_pairs(pairs) == t) > 0.9
    with pytest.raises(ValueError, match=r"n_clusters=3 there is no score"):
        model.decision_function(points)


def test_a_module_of_ones_own():
    torch.manual_seed(0)
    model = fit(module=MLP(2, (32,), 5))
    assert model.cluster_centers_.shape == (2, 5)
    assert clustering_error(Y_NEW, model.predict(X_NEW)) < 0.06
    with pytest.raises(ValueError, match=r"embeddings of shape \(n, k\).*\(2,\)"):
        fit(module=torch.nn.Sequential(MLP(2, (4,)), torch.nn.Flatten(0)))


def test_unlabeled_points_join_the_clusters_and_not_the_training():
    few = PAIRS[:50]
    settings = {"max_epochs": 8, "module": MLP(2, (8,), 3)}
    plain = fit(few, T[:50], **settings)
    joined = fit(few, T[:50], unlabeled=X_NEW + 0.5, **settings)
    assert len(plain.labels_) == 100
    assert len(joined.labels_) == 100 + len(X_NEW)
    np.testing.assert_array_equal(joined.labels_[100:], joined.predict(X_NEW + 0.5))
    assert [e["train_loss"] for e in plain.history_] == [
        e["train_loss"] for e in joined.history_
    ]
    assert np.abs(plain.cluster_centers_ - joined.cluster_centers_).max() > 1e-3


def test_the_same_seed_gives_the_same_clusters():
    a, b, c = (fit(max_epochs=3, random_state=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(a.cluster_centers_, b.cluster_centers_)
    assert np.abs(a.cluster_centers_ - c.cluster_centers_).max() > 1e-3


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"form": "chopin"}, "unknown form 'chopin'"),
        ({"scale": 0}, "scale must be a number above 0"),
        ({"scale": "wide"}, "scale must be a number above 0"),
        ({"norm": 3}, "unknown norm 3"),
        ({"n_dimensions": 0}, "n_dimensions"),
        ({"n_dimensions": 2.5}, "n_dimensions"),
        ({"n_clusters": 1}, "n_clusters"),
        ({"n_init": 0}, "n_init"),
        ({"n_clusters": 3, "majority": 1}, "majority"),
        ({"lr": -1}, "lr"),
        ({"hidden": 5}, "hidden"),
        ({"classes": (1, 2, 3)}, "classes"),
    ],
    ids=str,
)
def test_parameters(parameters, message):
    model = DeepMetricClassifier(**{**SMALL, **parameters})
    with pytest.raises(ValueError, match=message):
        model.fit(PAIRS, T)
    assert not hasattr(model, "module_")
