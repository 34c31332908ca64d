"""Problems that are hard to optimise, for tests and benchmarks."""

import numpy as np
from sklearn.datasets import make_classification

from pairlearn import Pairs


def random_problem(seed):
    """Pairs with much noise and few answers for their dimension."""
    rng = np.random.default_rng(seed)
    n_features, n_pairs = int(rng.integers(2, 25)), int(rng.integers(40, 200))
    if seed % 2:
        X, y = make_classification(
            2 * n_pairs,
            n_features,
            n_informative=max(2, n_features // 2),
            n_redundant=0,
            n_clusters_per_class=1,
            flip_y=0.2,
            class_sep=0.7,
            random_state=seed,
        )
    else:
        X = rng.normal(size=(2 * n_pairs, n_features))
        y = X[:, 0] + 1.5 * rng.normal(size=2 * n_pairs) > -0.3
    return Pairs.sample(X, n_pairs, y, random_state=seed)
