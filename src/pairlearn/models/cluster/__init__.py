"""Clusterings that respect, or lean on, answers about pairs."""

from pairlearn.models.cluster.kmeans import ConstrainedKMeans
from pairlearn.models.cluster.spectral import ConstrainedSpectralClustering

__all__ = ["ConstrainedKMeans", "ConstrainedSpectralClustering"]
