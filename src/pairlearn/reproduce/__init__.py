"""The paper's tables and figures, from one command."""

from pairlearn.reproduce.experiment import Options
from pairlearn.reproduce.runner import EXPERIMENTS, MissingDataError, reproduce
from pairlearn.reproduce.store import Store, StoreError, Trial

__all__ = [
    "EXPERIMENTS",
    "MissingDataError",
    "Options",
    "Store",
    "StoreError",
    "Trial",
    "reproduce",
]
