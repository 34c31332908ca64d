"""Data that several tests share."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from pairlearn import CIPSClassifier, Pairs, save
from pairlearn.models.auto import choose, classifier
from pairlearn.models.auto.kernels import Kernel
from tests.support.cli_files import write


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


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    """The file of a small model, the model, and points for it."""
    X = np.random.default_rng(0).normal(size=(60, 2))
    pairs, t = Pairs.sample(X, 30, X[:, 0] > 0, random_state=0)
    model = CIPSClassifier(classes=("no", "yes"), random_state=0).fit(pairs, t)
    path = tmp_path_factory.mktemp("small") / "model.skops"
    save(model, path, about={"who": "me"})
    return path, model, X


@pytest.fixture
def quick(monkeypatch):
    """`PairClassifier` with few candidates, for tests of anything but accuracy."""
    make_quick(monkeypatch)


def make_quick(monkeypatch):
    """Do what `quick` does: for fixtures that make something for several tests."""
    kernels = {
        "standard": (Kernel("linear"),),
        "power": (Kernel("rbf", 1.0), Kernel("laplacian", 4.0)),
    }
    monkeypatch.setattr(choose, "KERNELS", kernels)
    monkeypatch.setattr(choose, "SCALES", (1.0, 4.0))
    monkeypatch.setattr(classifier, "MOST_DEALS", 1)
    # The command line makes ten models to see whether dates help, which takes longer
    # than all the rest. Those of these tables do not; TestDates shows how it is seen.
    monkeypatch.setattr("pairlearn.cli.dates._help", lambda *_: False)


@pytest.fixture
def read(tmp_path):
    """Write a table, and read it as the command line does."""
    from pairlearn.files.tables.reading import read_table

    def go(content, name="points.csv"):
        return read_table(write(tmp_path, name, content))

    return go
