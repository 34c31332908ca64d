"""Certificates hold what they promise: the cells of benchmarks/trust.py, a few runs."""

import numpy as np
import pytest

trust = pytest.importorskip("benchmarks.trust", reason="only in the repository")

QUICK = [name for name, cell in trust.NAMED.items() if not cell.slow]


@pytest.mark.parametrize("name", QUICK)
def test_named_cells(name):
    n_runs = 60 if name.startswith(("half of", "stops")) else 100
    held = np.mean([each.held for each in trust.simulate(name, n_runs)])
    assert held >= trust.floor(trust.NAMED[name].promised, n_runs)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in trust.NAMED if name not in QUICK])
def test_whole_fits(name):
    held = np.mean([each.held for each in trust.simulate(name, 60)])
    assert held >= trust.floor(0.95, 60)


@pytest.mark.parametrize("way", trust.WAYS)
@pytest.mark.parametrize("noise", trust.NOISE)
def test_the_corners_of_the_grid(way, noise):
    for error, n, prior in [(0.005, 20, 0.99), (0.45, 100, 0.5), (0.05, 100, 0.99)]:
        found = trust.grid_cell((way, noise, error, n, prior), 100)
        assert found["held"] >= trust.floor(0.95, 100)
