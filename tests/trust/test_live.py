"""The certificate of a model that goes on learning."""

import math

import numpy as np
import pytest

from pairlearn.trust.live import live_confidence

audits = pytest.importorskip("benchmarks.audits", reason="only in the repository")


def test_the_risks_of_all_versions_add_up():
    risks = [1 - live_confidence(0.9, version) for version in range(1, 1000)]
    assert sum(risks) == pytest.approx(0.1 * (1 - 10 / 1009))
    assert risks == sorted(risks, reverse=True)


@pytest.mark.parametrize("version", [0, -1, 1.5])
def test_versions_are_counted_from_one(version):
    with pytest.raises((TypeError, ValueError), match="version"):
        live_confidence(0.95, version)


def test_confidence_is_checked():
    with pytest.raises(ValueError, match="confidence"):
        live_confidence(1.0, 1)


@pytest.mark.parametrize("nested", [True, False])
def test_simulated_interviews(nested):
    n_runs = 150
    seen = audits.interviews(n_runs, np.random.default_rng(0), nested=nested)
    found = audits.look(seen, "live")
    most = 0.05 + 3 * math.sqrt(0.05 * 0.95 / n_runs)
    assert found["some look"] <= most
    assert all(found[f"stop {x}"] <= most for x in audits.TARGETS)
    # What the same interviews do to an interval for one look.
    assert audits.look(seen, "Clopper-Pearson")["some look"] > 0.15
