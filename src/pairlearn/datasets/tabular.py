"""The ten tables of the paper: two classes, named +1 and -1 as the paper does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.data.checks import check_choice
from pairlearn.datasets.files import Part, Source, load_part
from pairlearn.datasets.parsers import read_arff, read_csv, read_libsvm

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from numpy.typing import NDArray

    DataHome = str | os.PathLike[str] | None

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
]

_LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary"
_UCI = "https://archive.ics.uci.edu/static/public"
_KEEL = "https://sci2s.ugr.es/keel/dataset/data/classification"


def _libsvm(name: str, url: str, n_features: int, fingerprint: str) -> Part:
    def parse(paths: list[Path]) -> tuple[Any, ...]:
        return read_libsvm(paths[0], n_features)

    return Part((Source(name, url),), parse, fingerprint)


def _csv(name: str, url: str, member: str, n_features: int, fingerprint: str) -> Part:
    def parse(paths: list[Path]) -> tuple[Any, ...]:
        return read_csv(paths[0], n_features)

    return Part((Source(name, url, member),), parse, fingerprint)


_ADULT = {
    "train": _libsvm(
        "adult/a9a",
        f"{_LIBSVM}/a9a",
        123,
        "f8d9ecd5fc8d9bcc6c0edcb82e98e3c54622e0f393a79db8b91ab2a5c6b922d0",
    ),
    "test": _libsvm(
        "adult/a9a.t",
        f"{_LIBSVM}/a9a.t",
        123,
        "9ae6ff50d488c5ed041ee10bce66b0b4ace22a3e3475398d16729da829d57425",
    ),
}
_BANANA = _csv(
    "banana/banana.dat",
    f"{_KEEL}/banana.zip",
    "banana.dat",
    2,
    "326f1308bfe236e523a94201b3cc8f53e94abc25bcb87a66ef96b5b1e4a0ee60",
)
_CODRNA = _libsvm(
    "cod-rna/cod-rna",
    f"{_LIBSVM}/cod-rna",
    8,
    "b83e7c95a16d3a5bb57526774dd49964210573d2711f894ec9a9f5e503414bd8",
)
_IJCNN1 = _libsvm(
    "ijcnn1/ijcnn1",
    f"{_LIBSVM}/ijcnn1.bz2",
    22,
    "61d7f68b265eff5f5a669cb4c2cd5879c9dda6c1258b4612b219199d8cb5c039",
)
_MAGIC = _csv(
    "magic/magic04.data",
    f"{_UCI}/159/magic+gamma+telescope.zip",
    "magic04.data",
    10,
    "bd020fc75edab565a16b925a11db445e77b4c9102a2fbd4edeaa48bfd635eb8c",
)
_PHISHING = {
    "onehot": _libsvm(
        "phishing/phishing",
        f"{_LIBSVM}/phishing",
        68,
        "585d09899ac62a3278c0d06e6d9dff12f816e9eb7daeb76771f1e8928bf9b799",
    ),
    "original": Part(
        (
            Source(
                "phishing/Training_Dataset.arff",
                f"{_UCI}/327/phishing+websites.zip",
                "Training Dataset.arff",
            ),
        ),
        lambda paths: read_arff(paths[0]),
        "c28d4debe9ee65d57ca00f6f8a4427ac9e3906b0ccbe17c9dd1051d290fa4b4e",
    ),
}
_PHONEME = _csv(
    "phoneme/phoneme.dat",
    f"{_KEEL}/phoneme.zip",
    "phoneme.dat",
    5,
    "96d2f3404e28ebdf29ed2fd361c830048f548e327c3251e9035498820dc12543",
)
_SPAMBASE = _csv(
    "spambase/spambase.data",
    f"{_UCI}/94/spambase.zip",
    "spambase.data",
    57,
    "9b9b446d82ce893e16b1c594186c37011b8121039cf2bd414320c7085dc7ddeb",
)
_W8A = _libsvm(
    "w8a/w8a",
    f"{_LIBSVM}/w8a",
    300,
    "df90e01ce9f23b4ceccc6206dc79e0c4e1d972cff5e72a196d9aa7f6314e0d05",
)
_WAVEFORM = _csv(
    "waveform/waveform.data",
    f"{_UCI}/107/waveform+database+generator+version+1.zip",
    "waveform.data.Z",
    21,
    "499f17b7c8baaf379811109811c2c2461c1c690c2d376adaeeb4f409a6a44beb",
)

_MAGIC_NAMES = [
    *("fLength", "fWidth", "fSize", "fConc", "fConc1", "fAsym"),
    *("fM3Long", "fM3Trans", "fAlpha", "fDist"),
]

_SPAM_WORDS = """
make address all 3d our over remove internet order mail receive will people report
addresses free business email you credit your font 000 money hp hpl george 650 lab labs
telnet 857 data 415 85 technology 1999 parts pm direct cs meeting original project re
edu table conference
"""
_SPAM_NAMES = [
    *(f"word_freq_{word}" for word in _SPAM_WORDS.split()),
    *(f"char_freq_{character}" for character in ";([!$#"),
    *(f"capital_run_length_{what}" for what in ("average", "longest", "total")),
]


def load_adult(
    *,
    subset: str = "train",
    return_X_y: bool = False,
    data_home: DataHome = None,
    verify: bool = True,
    download: bool = True,
) -> Any:
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
    from scipy import sparse

    check_choice("subset", subset, [*_ADULT, "all"])
    names = list(_ADULT) if subset == "all" else [subset]
    parts = [
        load_part(_ADULT[name], data_home=data_home, verify=verify, download=download)
        for name in names
    ]
    X = sparse.vstack([X for X, _ in parts], format="csr")
    y = np.concatenate([y for _, y in parts])
    return _bunch(
        X,
        y == 1,
        "Adult: census records of 1994, encoded as 123 binary features; +1 earns more "
        "than 50,000 dollars a year.\n"
        "Source: a9a and a9a.t of the LIBSVM data sets, encoding by J. Platt, 1998; "
        'from B. Becker, R. Kohavi, "Adult", UCI Machine Learning Repository, 1996.\n'
        "Licence: CC BY 4.0. Of the training rows, 6553 repeat an earlier one.",
        return_X_y,
    )


def load_banana(
    *,
    return_X_y: bool = False,
    data_home: DataHome = None,
    verify: bool = True,
    download: bool = True,
) -> Any:
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
    X, y = load_part(_BANANA, data_home=data_home, verify=verify, download=download)
    return _bunch(
        X,
        y == 1,
        "Banana: artificial points in the plane, two classes of the shape of a "
        "banana.\n"
        "Source: KEEL data-set repository (J. Alcala-Fdez et al., 2011); from G. "
        'Raetsch, T. Onoda, K.-R. Mueller, "Soft margins for AdaBoost", 2001.\n'
        "Licence: none stated.",
        return_X_y,
    )


def load_codrna(
    *,
    return_X_y: bool = False,
    data_home: DataHome = None,
    verify: bool = True,
    download: bool = True,
) -> Any:
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
    X, y = load_part(_CODRNA, data_home=data_home, verify=verify, download=download)
    return _bunch(
        X.toarray(),
        y == 1,
        "cod-RNA: free energy, length and base frequencies of two aligned sequences; "
        "are they non-coding RNA?\n"
        "Source: cod-rna of the LIBSVM data sets; from A. V. Uzilov, J. M. Keegan, D. "
        "H. Mathews, BMC Bioinformatics 7:173, 2006.\n"
        "Licence: none stated. 10069 rows repeat an earlier one.",
        return_X_y,
    )


def load_ijcnn1(
    *,
    return_X_y: bool = False,
    data_home: DataHome = None,
    verify: bool = True,
    download: bool = True,
) -> Any:
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
    X, y = load_part(_IJCNN1, data_home=data_home, verify=verify, download=download)
    return _bunch(
        X.toarray(),
        y == 1,
        "ijcnn1: signals of a combustion engine. Columns 1 to 10 are the phase of a "
        "signal of period 10, columns 13 to 22 a sliding window.\n"
        "Source: ijcnn1 of the LIBSVM data sets, training and validation part; from D. "
        "Prokhorov, IJCNN 2001 neural network competition; encoding by C.-C. Chang, "
        "C.-J. Lin, 2001.\n"
        "Licence: none stated.",
        return_X_y,
    )


def load_magic(
    *,
    return_X_y: bool = False,
    data_home: DataHome = None,
    verify: bool = True,
    download: bool = True,
) -> Any:
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
    X, y = load_part(_MAGIC, data_home=data_home, verify=verify, download=download)
    return _bunch(
        X,
        y == "h",
        "MAGIC Gamma Telescope: simulated images of showers, described by the ellipse "
        "that fits them; +1 hadron (background), -1 gamma ray.\n"
        'Source: R. Bock, "MAGIC Gamma Telescope", UCI Machine Learning Repository, '
        "2004.\n"
        "Licence: CC BY 4.0. 115 rows repeat an earlier one.",
        return_X_y,
        feature_names=list(_MAGIC_NAMES),
    )


def load_phishing(
    *,
    version: str = "onehot",
    return_X_y: bool = False,
    data_home: DataHome = None,
    verify: bool = True,
    download: bool = True,
) -> Any:
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
    check_choice("version", version, _PHISHING)
    X, y, *names = load_part(
        _PHISHING[version], data_home=data_home, verify=verify, download=download
    )
    return _bunch(
        X,
        y != 1,
        "Phishing Websites: 30 signs of fraud in the address and the text of a web "
        "page; the LIBSVM form has a column for each value, and rows of unit length.\n"
        'Source: R. Mohammad, L. McCluskey, "Phishing Websites", UCI Machine Learning '
        "Repository, 2012; phishing of the LIBSVM data sets.\n"
        "Licence: CC BY 4.0. 5206 rows repeat an earlier one. The paper prints "
        "dimension 44 and prior 0.68, which is 68 and 0.44 swapped.",
        return_X_y,
        **({"feature_names": list(names[0])} if names else {}),
    )


def load_phoneme(
    *,
    return_X_y: bool = False,
    data_home: DataHome = None,
    verify: bool = True,
    download: bool = True,
) -> Any:
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
    X, y = load_part(_PHONEME, data_home=data_home, verify=verify, download=download)
    return _bunch(
        X,
        y == 0,
        "Phoneme: amplitudes of the first five harmonics of French vowels; +1 nasal, "
        "-1 oral.\n"
        "Source: KEEL data-set repository (J. Alcala-Fdez et al., 2011); from the "
        "ELENA project (ROARS ESPRIT), 1993.\n"
        "Licence: none stated. 55 rows repeat an earlier one.",
        return_X_y,
    )


def load_spambase(
    *,
    return_X_y: bool = False,
    data_home: DataHome = None,
    verify: bool = True,
    download: bool = True,
) -> Any:
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
    X, y = load_part(_SPAMBASE, data_home=data_home, verify=verify, download=download)
    return _bunch(
        X,
        y == 1,
        "Spambase: frequencies of words and characters in e-mails, and the lengths of "
        "runs of capitals; +1 spam.\n"
        "Source: M. Hopkins, E. Reeber, G. Forman, J. Suermondt, "
        '"Spambase", UCI Machine Learning Repository, 1999.\n'
        "Licence: CC BY 4.0. 391 rows repeat an earlier one.",
        return_X_y,
        feature_names=list(_SPAM_NAMES),
    )


def load_w8a(
    *,
    return_X_y: bool = False,
    data_home: DataHome = None,
    verify: bool = True,
    download: bool = True,
) -> Any:
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
    X, y = load_part(_W8A, data_home=data_home, verify=verify, download=download)
    return _bunch(
        X,
        y == 1,
        "w8a: keywords in web pages; +1 belongs to the category in question.\n"
        'Source: w8a of the LIBSVM data sets; from J. Platt, "Fast training of support '
        'vector machines using sequential minimal optimization", 1998.\n'
        "Licence: none stated. 14969 rows repeat an earlier one; 4203 are all zero.",
        return_X_y,
    )


def load_waveform(
    *,
    positive: int | None = 0,
    return_X_y: bool = False,
    data_home: DataHome = None,
    verify: bool = True,
    download: bool = True,
) -> Any:
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
    X, y = load_part(_WAVEFORM, data_home=data_home, verify=verify, download=download)
    bunch = _bunch(
        X,
        y == positive,
        "Waveform: 21 noisy samples of a mixture of two out of three waves.\n"
        'Source: L. Breiman, C. Stone, "Waveform Database Generator (Version 1)", UCI '
        "Machine Learning Repository, 1988; from L. Breiman, J. Friedman, R. Olshen, "
        'C. Stone, "Classification and Regression Trees", 1984.\n'
        "Licence: CC BY 4.0.",
        return_X_y=False,
    )
    if positive is None:
        bunch.target = y.astype(np.intp)
        del bunch["prior"]
    return (bunch.data, bunch.target) if return_X_y else bunch


def _bunch(
    X: Any, positive: NDArray[np.bool_], descr: str, return_X_y: bool, **extra: Any
) -> Any:
    from sklearn.utils import Bunch

    target = np.where(positive, 1, -1)
    if return_X_y:
        return X, target
    prior = float(positive.mean())
    return Bunch(data=X, target=target, prior=prior, DESCR=descr, **extra)
