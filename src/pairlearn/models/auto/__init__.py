"""PairClassifier, the default that chooses features and regularisation itself."""

from pairlearn.models.auto.classifier import PairClassifier
from pairlearn.models.auto.table import Candidate, Candidates

__all__ = ["Candidate", "Candidates", "PairClassifier"]
