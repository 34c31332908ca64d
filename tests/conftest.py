"""Data that several tests share."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from pairlearn import Pairs


def common_task():
    """The common task: 2000 training and 1000 test points of 20 features."""
    X, y = make_classification(
        3000,
        20,
        n_informative=10,
        n_redundant=2,
        n_clusters_per_class=1,
        weights=[0.35, 0.65],
        class_sep=1.0,
        flip_y=0.02,
        random_state=0,
    )
    X = (X - X[:2000].mean(axis=0)) / X[:2000].std(axis=0)
    return X[:2000], y[:2000], X[2000:], y[2000:]


@pytest.fixture(scope="session")
def common():
    return common_task()


@pytest.fixture
def blobs():
    """Two overlapping groups, 300 points, prior 0.7; labels -1 and +1."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(300) % 10 < 7, 1, -1)
    X = rng.normal(size=(300, 4)) + np.outer(y, [1.0, -0.5, 0.5, 0.0])
    return X, y


@pytest.fixture
def blob_pairs(blobs):
    X, y = blobs
    return Pairs.sample(X, 120, y, random_state=0)
