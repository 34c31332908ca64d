"""Few answers, and many points that nobody was asked about."""

from pairlearn.models.pool.classifier import PoolClassifier

__all__ = ["PoolClassifier"]
