"""Worlds in which the truth is known, and what certificates say in them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pairlearn import Pairs, certify
from pairlearn.cli.judging import assumed_noise, judged
from pairlearn.trust.noise import Noise, rates_of
from pairlearn.trust.sample_checks import MoreKindsError

if TYPE_CHECKING:
    from pairlearn.trust.certificate import Certificate

NOISE = {
    "none": (1.0, 0.0),
    "symmetric .1": (0.9, 0.1),
    "symmetric .3": (0.7, 0.3),
    "'same' missed .3": (0.7, 0.0),
    "'different' missed .3": (1.0, 0.3),
}


class Outcome(NamedTuple):
    """Whether an interval held the truth, its width, and whether there was one."""

    held: bool
    width: float = math.nan
    given: bool = True


class FirstColumn:
    """A classifier that says what the first column says."""

    def predict(self, X: Any) -> Any:
        """Return the first column."""
        return np.asarray(X)[:, 0]


@dataclass(frozen=True)
class World:
    """Random pairs of two kinds, a classifier that errs at a rate, and answers."""

    n_pairs: int
    prior: float
    error: float
    rates: tuple[float, float] = (1.0, 0.0)

    def draw(self, rng: np.random.Generator) -> tuple[Pairs, Any, Any]:
        """Return pairs of what the classifier says, the truth, and the answers."""
        y = rng.random((self.n_pairs, 2)) < self.prior
        says = y ^ (rng.random(y.shape) < self.error)
        truth = np.where(y[:, 0] == y[:, 1], 1.0, -1.0)
        same = rng.random(self.n_pairs) < np.where(truth > 0, *self.rates)
        return as_pairs(says, rng), truth, np.where(same, 1.0, -1.0)

    @property
    def target(self) -> float:
        """The clustering error."""
        return min(self.error, 1 - self.error)


def as_pairs(says: Any, rng: np.random.Generator) -> Pairs:
    """Return pairs of points that differ, with what a classifier says of them."""
    flat = says.ravel().astype(float)
    X = np.stack([flat, rng.random(len(flat))], axis=1)
    return Pairs(X, np.arange(len(flat)).reshape(-1, 2))


def outcome(certificate: Certificate | None, truth: float) -> Outcome:
    """Return whether a certificate held the truth; none claims nothing."""
    if certificate is None:
        return Outcome(held=True, given=False)
    low, high = certificate.clustering_interval
    return Outcome(low <= truth <= high, high - low)


def by_command(
    pairs: Pairs, t: Any, said: Any = "auto", n_answers: int = 1
) -> Certificate | None:
    """Return the certificate that `pairlearn certify --noise SAID` gives.

    For answers that are the mean of so many about each pair.
    """
    clf = FirstColumn()
    answered: Any = SimpleNamespace(
        flip_rate_at=lambda _: None,
        notes=[],
        n_repeated=len(t) * (n_answers > 1),
        lines=[range(n_answers)] * len(t),
    )
    known = assumed_noise(answered, said)[1]
    noise = Noise("unknown", rates_of(clf)) if known is None else known
    return judged(clf, pairs, t, noise, [])


def in_python(pairs: Pairs, t: Any, **options: Any) -> Certificate | None:
    """Return the certificate that `certify` gives; None if it refuses."""
    try:
        return certify(FirstColumn(), pairs, t, **options)
    except MoreKindsError:
        return None
