"""Fixtures that several tests of the reproduction share."""

import numpy as np
import pytest
from sklearn.utils import Bunch

from pairlearn.datasets import make_waveform


@pytest.fixture
def waves(monkeypatch):
    """Every data set is Breiman's waveform, as wide as a table of numbers."""
    X, y = make_waveform(5000, random_state=0)
    target = np.where(y == y[0], 1, -1)
    data = Bunch(data=X, target=target, prior=float(np.mean(target > 0)))
    monkeypatch.setattr("pairlearn.reproduce.sample.load_cached", lambda *_, **__: data)
    return data
