"""Clusterings that respect, or lean on, answers about pairs."""

from pairlearn.cluster.kmeans import ConstrainedKMeans
from pairlearn.cluster.spectral import ConstrainedSpectralClustering

__all__ = ["ConstrainedKMeans", "ConstrainedSpectralClustering"]
