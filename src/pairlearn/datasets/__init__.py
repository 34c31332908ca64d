"""The data sets of the paper, data made by formulas, and pairs made of them."""

from pairlearn.datasets.files import DataUnavailableError
from pairlearn.datasets.graph import load_pubmed
from pairlearn.datasets.images import (
    load_fashion_mnist,
    load_kuzushiji_mnist,
    load_mnist,
)
from pairlearn.datasets.parsers import DataFileError
from pairlearn.datasets.registry import dataset_names, load_dataset
from pairlearn.datasets.tabular import (
    load_adult,
    load_banana,
    load_codrna,
    load_ijcnn1,
    load_magic,
    load_phishing,
    load_phoneme,
    load_spambase,
    load_w8a,
    load_waveform,
)

__all__ = [
    "load_dataset",
    "dataset_names",
    "load_adult",
    "load_banana",
    "load_codrna",
    "load_ijcnn1",
    "load_magic",
    "load_phishing",
    "load_phoneme",
    "load_spambase",
    "load_w8a",
    "load_waveform",
    "load_mnist",
    "load_fashion_mnist",
    "load_kuzushiji_mnist",
    "load_pubmed",
    "DataFileError",
    "DataUnavailableError",
]
