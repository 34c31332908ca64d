"""What one trial learns from, and is judged by."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from pairlearn.data.pairs import Pairs
from pairlearn.datasets import even_odd, load_dataset, with_prior

if TYPE_CHECKING:
    from numpy.random import RandomState

    from pairlearn.data.types import Floats, Ints

__all__ = [
    "SMALL", "Sample", "draw_images", "draw_images_with_prior", "draw_table",
    "generator", "load_cached", "load_images",
]  # fmt: skip

# 10,000 of its images are at hand, not 70,000.
SMALL = "kuzushiji-mnist"


@dataclass(frozen=True)
class Sample:
    """Training points, coupled in order, and test points; columns standardised.

    Attributes
    ----------
    X, y : ndarray
        2m training points and their classes; rows 2k and 2k + 1 are pair k.
    X_test, y_test : ndarray
        Other points.
    prior : float
        P(y = +1), which SD is told.
    """

    X: Floats
    y: Ints
    X_test: Floats
    y_test: Ints
    prior: float

    @property
    def pairs(self) -> Pairs:
        """The pairs; random, since the points are in random order."""
        return Pairs(self.X, np.arange(len(self.X)).reshape(-1, 2))

    @property
    def t(self) -> Ints:
        """Their answers."""
        return self.y[0::2] * self.y[1::2]


def generator(*key: object) -> RandomState:
    """Return a random generator that depends on the key alone.

    It does not depend on the method, so all methods see the same sample.
    """
    return np.random.RandomState(zlib.crc32(repr(key).encode()))


def draw_table(
    dataset: str, m: int, seed: int, *, n_test: int = 1000, data_home: Any = None
) -> Sample:
    """Draw 2m points to train on and others to test, from a tabular data set."""
    data = load_cached(dataset, None, data_home)
    rows = generator(dataset, m, seed).permutation(len(data.target))
    rows = rows[: 2 * m + n_test]
    X, y = data.data[rows], data.target[rows]
    X = X.toarray() if hasattr(X, "toarray") else X
    return _standardise(X, y, 2 * m, data.prior)


def load_images(dataset: str, data_home: Any) -> list[Any]:
    """Return the parts of an image set that are at hand."""
    parts = ("test",) if dataset == SMALL else ("train", "test")
    return [load_cached(dataset, part, data_home) for part in parts]


def draw_images(
    dataset: str, m: int, seed: int, *, pixels: str = "0 to 1", data_home: Any = None
) -> Sample:
    """Draw 2m images to train on; test on the official test part.

    Of Kuzushiji-MNIST only that part is at hand: it is split, and 2,000 images test.
    Pixels lie between 0 and 1, or are "standardised".
    """
    rng = generator(dataset, m, seed)
    part, *rest = load_images(dataset, data_home)
    if not rest:
        rows = rng.permutation(len(part.target))[: 2 * m + 2000]
        X, digits = part.data[rows], part.target[rows]
    else:
        (test,) = rest
        rows = rng.permutation(len(part.target))[: 2 * m]
        X = np.concatenate([part.data[rows], test.data])
        digits = np.concatenate([part.target[rows], test.target])
    X, y, n = X.astype(np.float32), even_odd(digits), 2 * m
    if pixels == "standardised":
        return _standardise(X, y, n, 0.5)
    X /= 255
    return Sample(X[:n], y[:n], X[n:], y[n:], 0.5)


def draw_images_with_prior(
    dataset: str, m: int, prior: float, seed: int, *, n_test: int, data_home: Any = None
) -> Sample:
    """Draw images such that a given share is even, in training and in testing."""
    loaded = load_images(dataset, data_home)
    y = even_odd(np.concatenate([part.target for part in loaded]))
    pixels = np.concatenate([part.data for part in loaded])
    rng = generator(dataset, m, prior, seed)
    train = with_prior(y, 2 * m, prior, random_state=rng)
    rest = np.setdiff1d(np.arange(len(y)), train)
    test = rest[with_prior(y[rest], n_test, prior, random_state=rng)]
    rows = np.concatenate([train, test])
    return _standardise(pixels[rows].astype(np.float32), y[rows], 2 * m, prior)


@lru_cache(maxsize=16)
def load_cached(dataset: str, subset: str | None, data_home: Any) -> Any:
    """Return a data set; the second time from memory."""
    options = {} if subset is None else {"subset": subset}
    return load_dataset(dataset, data_home=data_home, **options)


def _standardise(X: Floats, y: Ints, n_train: int, prior: float) -> Sample:
    scaler = StandardScaler(copy=False).fit(X[:n_train])
    X = scaler.transform(X)
    return Sample(X[:n_train], y[:n_train], X[n_train:], y[n_train:], prior)
