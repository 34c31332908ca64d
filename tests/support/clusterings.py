"""Answers that a clustering satisfies, and those that it gives."""

import numpy as np


def random_answers(rng, n_points, n_pairs, n_clusters):
    """Random pairs with answers that some clustering, unrelated to X, satisfies."""
    y = rng.integers(n_clusters, size=n_points)
    first = rng.integers(n_points, size=n_pairs)
    second = (first + rng.integers(1, n_points, size=n_pairs)) % n_points
    index = np.stack([first, second], axis=1)
    return index, np.where(y[first] == y[second], 1.0, -1.0)


def answers_of(labels, index):
    return np.where(labels[index[:, 0]] == labels[index[:, 1]], 1.0, -1.0)
