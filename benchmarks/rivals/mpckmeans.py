"""MPCKMeans of active-semi-supervised-clustering.

It has no predict: a test point gets the nearest centre of the final clusters under the
last metric. One start, as it offers no more.
"""

import numpy as np
from active_semi_clustering.semi_supervised.pairwise_constraints import MPCKMeans
from adapter import links, nearest, print_broken, run


class KeepsMetric(MPCKMeans):
    """MPCKMeans forgets its metric, which the test points need."""

    def _update_metrics(self, *args):
        self.metric_ = super()._update_metrics(*args)
        return self.metric_


def fit(X, index, t, _seed):
    """Fit with every answer as a link."""
    model = KeepsMetric(n_clusters=2)
    model.fit(X, **links(index, t))
    print_broken(model.labels_, index, t)
    return nearest(model.cluster_centers_, np.diag(model.metric_))


run(fit)
