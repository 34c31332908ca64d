"""Samples of the data sets: split, scaled, and the same for the same key."""

import numpy as np
import pytest
from sklearn.utils import Bunch

from pairlearn.reproduce.sample import draw_images, draw_images_with_prior, draw_table


def test_a_sample_is_standardised_on_its_training_points(waves):
    sample = draw_table("waveform", 200, 3)
    assert sample.X.shape == (400, 21)
    assert sample.X_test.shape == (1000, 21)
    np.testing.assert_allclose(sample.X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(sample.X.std(axis=0), 1)
    assert np.abs(sample.X_test.mean(axis=0)).max() > 1e-3
    np.testing.assert_array_equal(sample.t, sample.y[::2] * sample.y[1::2])
    assert sample.prior == waves.prior
    # Points are distinct, those to train and those to test.
    table = np.concatenate([sample.X, sample.X_test])
    assert len(np.unique(table, axis=0)) == 1400


@pytest.mark.usefixtures("waves")
def test_a_sample_depends_on_its_key_alone():
    first = draw_table("waveform", 50, 0)
    np.testing.assert_array_equal(first.X, draw_table("waveform", 50, 0).X)
    for other in (draw_table("waveform", 50, 1), draw_table("banana", 50, 0)):
        assert not np.array_equal(first.X, other.X)


def test_images_with_a_prior(monkeypatch):
    rng = np.random.default_rng(0)
    parts = {
        name: Bunch(
            data=rng.integers(256, size=(n, 784), dtype=np.uint8),
            target=rng.integers(10, size=n),
        )
        for name, n in (("train", 500), ("test", 200))
    }
    monkeypatch.setattr(
        "pairlearn.reproduce.sample.load_cached", lambda _, subset, __: parts[subset]
    )
    sample = draw_images_with_prior("mnist", 70, 2 / 7, 0, n_test=210)
    assert np.mean(sample.y > 0) == pytest.approx(2 / 7)
    assert np.mean(sample.y_test > 0) == pytest.approx(2 / 7)
    table = np.concatenate([sample.X, sample.X_test])
    assert len(np.unique(table, axis=0)) == 350
    assert sample.X.dtype == np.float32


def test_images_are_split_and_scaled(monkeypatch):
    rng = np.random.default_rng(0)
    parts = {
        name: Bunch(
            data=rng.integers(256, size=(n, 784), dtype=np.uint8),
            target=rng.integers(10, size=n),
        )
        for name, n in (("train", 300), ("test", 2200))
    }
    monkeypatch.setattr(
        "pairlearn.reproduce.sample.load_cached", lambda _, subset, __: parts[subset]
    )
    sample = draw_images("mnist", 100, 0)
    assert sample.X.shape == (200, 784)
    np.testing.assert_allclose(sample.X_test, parts["test"].data / 255, rtol=1e-6)
    assert (sample.X.min(), sample.X.max()) == (0, 1)
    np.testing.assert_array_equal(sample.y_test > 0, parts["test"].target % 2 == 0)
    # Of Kuzushiji-MNIST the test part serves for both.
    split = draw_images("kuzushiji-mnist", 100, 0)
    assert (len(split.X), len(split.X_test)) == (200, 2000)
    assert len(np.unique(np.concatenate([split.X, split.X_test]), axis=0)) == 2200
    scaled = draw_images("mnist", 100, 0, pixels="standardised")
    np.testing.assert_allclose(scaled.X.mean(axis=0), 0, atol=1e-4)
