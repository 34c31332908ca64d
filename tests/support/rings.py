"""A circle that networks learn from pairs."""

import numpy as np
import pytest

from pairlearn import Pairs, clustering_error

pytest.importorskip("torch")
pytest.importorskip("skorch")

from pairlearn.models.neural import PairNet

SMALL = {"hidden": (16,), "lr": 0.03, "batch_size": 64, "device": "cpu"}
SMALL["random_state"] = 0


def ring(n=800, seed=0, radius=1.1):
    """Points inside a circle (30 to 45 of a hundred) and outside of it."""
    X = np.random.default_rng(seed).normal(size=(n, 2))
    return X, np.where((X**2).sum(axis=1) > radius**2, 1, -1)


X, Y = ring(radius=0.85)
PAIRS, T = Pairs.sample(X, 400, Y, random_state=0)
X_NEW, Y_NEW = ring(2000, seed=1, radius=0.85)


def fit(pairs=PAIRS, t=T, sample_weight=None, **settings):
    return PairNet(**{**SMALL, **settings}).fit(pairs, t, sample_weight)


def error(model):
    return clustering_error(Y_NEW, model.predict(X_NEW))


def few(**settings):
    """A net that has seen little: for tests that ask for more than a good boundary."""
    return fit(PAIRS[:60], T[:60], **{"max_epochs": 4, "hidden": (6,), **settings})
