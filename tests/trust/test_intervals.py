"""Intervals for a probability, for one look and for many."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta

from pairlearn.trust.intervals import clopper_pearson, confidence_sequence


def mixture(p, k, n, a, b):
    """M_n(p) by numerical integration, as its definition says."""

    def inside(x):
        return x**k * (1 - x) ** (n - k) * beta.pdf(x, a, b)

    mass = quad(inside, 0, p, epsabs=0, epsrel=1e-10)[0]
    return mass / beta.cdf(p, a, b) / (p**k * (1 - p) ** (n - k))


@pytest.mark.parametrize(("k", "n"), [(0, 5), (3, 40), (20, 40), (39, 40)])
def test_the_ends_solve_the_equation(k, n):
    low, high = confidence_sequence(k, n, 0.9)
    assert mixture(high, k, n, 1, 9) == pytest.approx(1 / 0.05, rel=1e-4)
    if k:
        assert mixture(1 - low, n - k, n, 9, 1) == pytest.approx(1 / 0.05, rel=1e-4)
    else:
        assert low == 0.0


@pytest.mark.parametrize("p", [0.02, 0.1, 0.5])
def test_looking_after_every_answer(p):
    """The sequence misses at some look in 5 % of runs at most; single looks do more."""
    rng, n_runs, n = np.random.default_rng(0), 200, 150
    looks = [*range(1, 20), *range(20, n + 1, 10)]
    missed = {clopper_pearson: 0, confidence_sequence: 0}
    for _ in range(n_runs):
        hits = np.cumsum(rng.random(n) < p)
        for ends, count in missed.items():
            found = [ends(int(hits[look - 1]), look) for look in looks]
            missed[ends] = count + any(not low <= p <= high for low, high in found)
    assert missed[confidence_sequence] / n_runs <= 0.05
    assert missed[clopper_pearson] / n_runs > 0.05


def test_the_sequence_costs_about_a_half():
    for k, n in [(2, 50), (10, 100), (100, 1000)]:
        (low, high), (wide_low, wide_high) = (
            clopper_pearson(k, n),
            (confidence_sequence(k, n)),
        )
        assert wide_low <= low <= high <= wide_high
        assert (wide_high - wide_low) / (high - low) < 1.7


def test_extremes():
    assert confidence_sequence(0, 1)[0] == 0.0
    assert confidence_sequence(1, 1)[1] == 1.0
    low, high = confidence_sequence(0, 10**9)
    assert 0.0 == low < high < 1e-7
    low, high = confidence_sequence(10**6, 10**7)
    assert 0.099 < low < 0.1 < high < 0.101
    for ends in (clopper_pearson, confidence_sequence):
        with pytest.raises(ValueError, match="5 hits in 3 trials"):
            ends(5, 3)
        with pytest.raises(ValueError, match="confidence"):
            ends(1, 3, 1.0)
