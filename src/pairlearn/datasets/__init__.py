"""The data sets of the paper, data made by formulas, and pairs made of them."""

from pairlearn.datasets.files import DataUnavailableError
from pairlearn.datasets.generators import make_gaussians, make_waveform
from pairlearn.datasets.loaders import (
    load_adult,
    load_banana,
    load_codrna,
    load_fashion_mnist,
    load_ijcnn1,
    load_kuzushiji_mnist,
    load_magic,
    load_mnist,
    load_phishing,
    load_phoneme,
    load_pubmed,
    load_spambase,
    load_w8a,
    load_waveform,
)
from pairlearn.datasets.pairing import even_odd, link_pairs, with_prior
from pairlearn.datasets.parsers import DataFileError
from pairlearn.datasets.registry import dataset_names, load_dataset

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
    "make_waveform",
    "make_gaussians",
    "even_odd",
    "with_prior",
    "link_pairs",
    "DataFileError",
    "DataUnavailableError",
]
