"""COBRAS of cobras-ts, with k-means, and a querier that reads answers from labels.

Patched: ``np.int``, which NumPy 1.24 removed, is put back. The querier does not derive
from the package's own, which import Bokeh. Points beside the pool are clustered along
with it but never asked about (``train_indices``); that is the package's own option.
"""

import numpy as np
from asking import run

np.int = int  # noqa: NPY001 - cobras-ts 0.1.3 calls it

from cobras_ts.cobras_kmeans import COBRAS_kmeans  # noqa: E402


class FromLabels:
    """The part of a querier that COBRAS calls."""

    def __init__(self, task):
        self.query_points = task.same

    def continue_cluster_process(self):
        """Go on until the budget is spent."""
        return True

    def update_clustering(self, clustering):
        """Show nothing."""


def method(task):
    """Ask up to the largest budget; COBRAS keeps its clustering after each question."""
    # A range: its `in` takes no time, and COBRAS asks for every point.
    train = range(len(task.y))
    model = COBRAS_kmeans(task.X, FromLabels(task), task.budgets[-1], train)
    _, steps, _, _, _ = model.cluster()
    for budget in task.budgets:
        # Fewer steps if nothing is left to split.
        task.found(budget, np.array(steps[min(budget, len(steps)) - 1]))


run(method)
