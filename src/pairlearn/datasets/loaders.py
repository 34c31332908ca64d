"""The data sets of the paper: ten tables, three sets of images, a citation network.

The classes of the tables are named +1 and -1 as the paper does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.data.checks import check_choice
from pairlearn.datasets.catalogue import catalogue
from pairlearn.datasets.files import is_there
from pairlearn.datasets.loading import load, loader

if TYPE_CHECKING:
    from typing import Unpack

    from pairlearn.datasets.loading import Options

__all__ = [
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
]

SUBSETS = ("train", "test", "all")


def _is_one(y: Any) -> Any:
    return y == 1


@loader
def load_adult(*, subset: str = "train", **options: Unpack[Options]) -> Any:
    """Load Adult: people who earn more than 50,000 dollars a year, or less.

    123 binary features, in the encoding of LIBSVM's a9a: a sparse matrix.
    +1: earns more (prior 0.24).

    Parameters
    ----------
    subset : {"train", "test", "all"}, default="train"
        32,561 points, the other 16,281, or both, training points first.
    return_X_y, data_home, verify, download
        As in :func:`load_dataset`.

    Returns
    -------
    Bunch with `data`, `target`, `prior`, `DESCR`; or (data, target)

    Examples
    --------
    >>> from pairlearn.datasets import load_adult
    >>> load_adult().data.shape  # doctest: +SKIP
    (32561, 123)
    """
    check_choice("subset", subset, SUBSETS)
    return load("adult", subset, _is_one, **options)


@loader
def load_banana(**options: Unpack[Options]) -> Any:
    """Load Banana: two interlocked shapes in the plane.

    5300 points with 2 features. +1: class 1 of the file (prior 0.45).

    Parameters
    ----------
    return_X_y, data_home, verify, download
        As in :func:`load_dataset`.

    Returns
    -------
    Bunch with `data`, `target`, `prior`, `DESCR`; or (data, target)

    Examples
    --------
    >>> from pairlearn.datasets import load_banana
    >>> load_banana().data.shape  # doctest: +SKIP
    (5300, 2)
    """
    return load("banana", positive=_is_one, **options)


@loader
def load_codrna(**options: Unpack[Options]) -> Any:
    """Load cod-RNA: sequences that are non-coding RNA, or not.

    59,535 points with 8 features, not scaled. +1: class 1 of the file (prior 0.33).

    Parameters
    ----------
    return_X_y, data_home, verify, download
        As in :func:`load_dataset`.

    Returns
    -------
    Bunch with `data`, `target`, `prior`, `DESCR`; or (data, target)

    Examples
    --------
    >>> from pairlearn.datasets import load_codrna
    >>> load_codrna().data.shape  # doctest: +SKIP
    (59535, 8)
    """
    return load("codrna", positive=_is_one, **options)


@loader
def load_ijcnn1(**options: Unpack[Options]) -> Any:
    """Load ijcnn1: the competition task of IJCNN 2001, a time series of an engine.

    49,990 points with 22 features, in the order of time: neighbouring rows overlap.
    +1: class 1 of the file (prior 0.10).

    Parameters
    ----------
    return_X_y, data_home, verify, download
        As in :func:`load_dataset`.

    Returns
    -------
    Bunch with `data`, `target`, `prior`, `DESCR`; or (data, target)

    Examples
    --------
    >>> from pairlearn.datasets import load_ijcnn1
    >>> load_ijcnn1().data.shape  # doctest: +SKIP
    (49990, 22)
    """
    return load("ijcnn1", positive=_is_one, **options)


@loader
def load_magic(**options: Unpack[Options]) -> Any:
    """Load MAGIC: showers of light made by a hadron or by a gamma ray.

    19,020 points with 10 features. +1: hadron (prior 0.35).

    Parameters
    ----------
    return_X_y, data_home, verify, download
        As in :func:`load_dataset`.

    Returns
    -------
    Bunch with `data`, `target`, `feature_names`, `prior`, `DESCR`; or (data, target)

    Examples
    --------
    >>> from pairlearn.datasets import load_magic
    >>> load_magic().feature_names[:2]  # doctest: +SKIP
    ['fLength', 'fWidth']
    """
    return load("magic", positive=lambda y: y == "h", **options)


@loader
def load_phishing(*, version: str = "onehot", **options: Unpack[Options]) -> Any:
    """Load Phishing Websites: web pages that are out to steal passwords, or not.

    11,055 points. +1: phishing (prior 0.44), which is class 0 of the LIBSVM file and
    class -1 of the original.

    Parameters
    ----------
    version : {"onehot", "original"}, default="onehot"
        "onehot": 68 columns, a sparse matrix, as LIBSVM has it and the paper uses;
        "original": the 30 attributes with their values -1, 0 and 1.
    return_X_y, data_home, verify, download
        As in :func:`load_dataset`.

    Returns
    -------
    Bunch with `data`, `target`, `prior`, `DESCR`, and with `feature_names` for the
    original; or (data, target)

    Examples
    --------
    >>> from pairlearn.datasets import load_phishing
    >>> load_phishing(version="original").data.shape  # doctest: +SKIP
    (11055, 30)
    """
    check_choice("version", version, ("onehot", "original"))
    return load("phishing", version, lambda y: y != 1, **options)


@loader
def load_phoneme(**options: Unpack[Options]) -> Any:
    """Load Phoneme: vowels, nasal or oral.

    5404 points with 5 features. +1: nasal, class 0 of the file (prior 0.71).

    Parameters
    ----------
    return_X_y, data_home, verify, download
        As in :func:`load_dataset`.

    Returns
    -------
    Bunch with `data`, `target`, `prior`, `DESCR`; or (data, target)

    Examples
    --------
    >>> from pairlearn.datasets import load_phoneme
    >>> load_phoneme().data.shape  # doctest: +SKIP
    (5404, 5)
    """
    return load("phoneme", positive=lambda y: y == 0, **options)


@loader
def load_spambase(**options: Unpack[Options]) -> Any:
    """Load Spambase: e-mails, spam or not.

    4601 points with 57 features. +1: spam (prior 0.39).

    Parameters
    ----------
    return_X_y, data_home, verify, download
        As in :func:`load_dataset`.

    Returns
    -------
    Bunch with `data`, `target`, `feature_names`, `prior`, `DESCR`; or (data, target)

    Examples
    --------
    >>> from pairlearn.datasets import load_spambase
    >>> load_spambase().feature_names[-1]  # doctest: +SKIP
    'capital_run_length_total'
    """
    return load("spambase", positive=_is_one, **options)


@loader
def load_w8a(**options: Unpack[Options]) -> Any:
    """Load w8a: web pages that belong to a category, or not.

    49,749 points with 300 binary features: a sparse matrix. +1: it does (prior 0.03).

    Parameters
    ----------
    return_X_y, data_home, verify, download
        As in :func:`load_dataset`.

    Returns
    -------
    Bunch with `data`, `target`, `prior`, `DESCR`; or (data, target)

    Examples
    --------
    >>> from pairlearn.datasets import load_w8a
    >>> load_w8a().data.shape  # doctest: +SKIP
    (49749, 300)
    """
    return load("w8a", positive=_is_one, **options)


@loader
def load_waveform(*, positive: int | None = 0, **options: Unpack[Options]) -> Any:
    """Load Waveform: noisy mixtures of two of three triangular waves.

    5000 points with 21 features, of three classes. +1: class 0 (prior 0.33); -1: the
    two others. :func:`make_waveform` draws more of them.

    Parameters
    ----------
    positive : {0, 1, 2} or None, default=0
        The class that is named +1, the others being -1. None: name them 0, 1, 2, as
        the file does; then there is no `prior`.
    return_X_y, data_home, verify, download
        As in :func:`load_dataset`.

    Returns
    -------
    Bunch with `data`, `target`, `prior`, `DESCR`; or (data, target)

    Examples
    --------
    >>> from pairlearn.datasets import load_waveform
    >>> load_waveform(positive=2).prior  # doctest: +SKIP
    0.3392
    """
    check_choice("positive", positive, (0, 1, 2, None))
    rule = None if positive is None else lambda y: y == positive
    return load("waveform", positive=rule, **options)


@loader
def load_mnist(*, subset: str = "train", **options: Unpack[Options]) -> Any:
    """Load MNIST: handwritten digits.

    Points are rows of 784 grey values from 0 to 255 (uint8), classes the digits 0 to
    9; :func:`even_odd` makes two classes of them, as the paper does.

    Parameters
    ----------
    subset : {"train", "test", "all"}, default="train"
        60,000 images, the other 10,000, or both, training images first.
    return_X_y, data_home, verify, download
        As in :func:`load_dataset`.

    Returns
    -------
    Bunch with `data`, `target`, `DESCR`; or (data, target)

    Examples
    --------
    >>> from pairlearn.datasets import load_mnist
    >>> load_mnist(subset="test").data.shape  # doctest: +SKIP
    (10000, 784)
    """
    check_choice("subset", subset, SUBSETS)
    return load("mnist", subset, **options)


@loader
def load_fashion_mnist(*, subset: str = "train", **options: Unpack[Options]) -> Any:
    """Load Fashion-MNIST: pictures of clothes, shoes and bags.

    Points are rows of 784 grey values from 0 to 255 (uint8), classes the numbers 0 to
    9; :func:`even_odd` makes two classes of them, as the paper does.

    Parameters
    ----------
    subset : {"train", "test", "all"}, default="train"
        60,000 images, the other 10,000, or both, training images first.
    return_X_y, data_home, verify, download
        As in :func:`load_dataset`.

    Returns
    -------
    Bunch with `data`, `target`, `DESCR`; or (data, target)

    Examples
    --------
    >>> from pairlearn.datasets import load_fashion_mnist
    >>> load_fashion_mnist(subset="test").data.shape  # doctest: +SKIP
    (10000, 784)
    """
    check_choice("subset", subset, SUBSETS)
    return load("fashion-mnist", subset, **options)


@loader
def load_kuzushiji_mnist(*, subset: str = "test", **options: Unpack[Options]) -> Any:
    """Load Kuzushiji-MNIST: cursive Japanese characters.

    Points are rows of 784 grey values from 0 to 255 (uint8), classes the numbers 0 to
    9; :func:`even_odd` makes two classes of them, as the paper does.

    Parameters
    ----------
    subset : {"train", "test", "all"}, default="test"
        60,000 images, the other 10,000, or both, training images first. Unlike in the
        other two sets the test part is the default: it is the one that our results
        were computed with, since no copy of the training part was at hand. For the
        same reason the training part is checked by the published checksum when it is
        downloaded, but a copy that you put into the data folder is only checked for
        its form.
    return_X_y, data_home, verify, download
        As in :func:`load_dataset`.

    Returns
    -------
    Bunch with `data`, `target`, `DESCR`; or (data, target)

    Examples
    --------
    >>> from pairlearn.datasets import load_kuzushiji_mnist
    >>> load_kuzushiji_mnist().data.shape  # doctest: +SKIP
    (10000, 784)
    """
    check_choice("subset", subset, SUBSETS)
    return load("kuzushiji-mnist", subset, **options)


@loader
def load_pubmed(**options: Unpack[Options]) -> Any:
    """Load PubMed-Diabetes: papers on diabetes and the citations between them.

    19,717 points with 500 features, a sparse matrix of TF/IDF weights; three classes,
    0 to 2, the kinds of diabetes. Two files hold the same: the data are read from
    pubmed/pubmed.npz where that exists, and else from the files of Planetoid, which
    are also what is downloaded. Those are pickles; nothing in them is run.

    Parameters
    ----------
    return_X_y, data_home, verify, download
        As in :func:`load_dataset`.

    Returns
    -------
    Bunch with `data`, `target`, `links`, `edges`, `DESCR`; or (data, target)
        `links` are the 44,338 citations as given, each as two row numbers u <= v,
        with repeats and 3 papers that cite themselves; `edges` are the 44,324
        distinct ones with u < v.

    See Also
    --------
    link_pairs : Pairs and answers from links.

    Examples
    --------
    >>> from pairlearn.datasets import load_pubmed
    >>> load_pubmed().edges.shape  # doctest: +SKIP
    (44324, 2)
    """
    npz = catalogue()["pubmed"].parts["npz"]
    part = "npz" if is_there(npz, options.get("data_home")) else "planetoid"
    found = load("pubmed", part, **options)
    if not options.get("return_X_y"):
        one, other = found.links.T
        found.edges = np.unique(found.links[one < other], axis=0)
    return found
