"""PairClassifier, the default that chooses features and regularisation itself."""

from pairlearn.auto.classifier import PairClassifier
from pairlearn.auto.table import Candidate, Candidates

__all__ = ["Candidate", "Candidates", "PairClassifier"]
