"""Certificates hold what they promise: the cells of benchmarks/trust, a few runs."""

import numpy as np
import pytest

cells = pytest.importorskip("benchmarks.trust.cells", reason="only in the repository")
grid = pytest.importorskip("benchmarks.trust.grid", reason="only in the repository")

QUICK = [name for name, cell in cells.NAMED.items() if not cell.slow]


@pytest.mark.parametrize("name", QUICK)
def test_named_cells(name):
    n_runs = 60 if name.startswith(("half of", "stops")) else 100
    held = np.mean([each.held for each in cells.simulate(name, n_runs)])
    assert held >= cells.floor(cells.NAMED[name].promised, n_runs)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in cells.NAMED if name not in QUICK])
def test_whole_fits(name):
    held = np.mean([each.held for each in cells.simulate(name, 60)])
    assert held >= cells.floor(0.95, 60)


@pytest.mark.parametrize("way", grid.WAYS)
@pytest.mark.parametrize("noise", grid.NOISE)
def test_the_corners_of_the_grid(way, noise):
    for error, n, prior in [(0.005, 20, 0.99), (0.45, 100, 0.5), (0.05, 100, 0.99)]:
        found = grid.simulate_cell((way, noise, error, n, prior), 100)
        assert np.mean([each.held for each in found]) >= cells.floor(0.95, 100)
