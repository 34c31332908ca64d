"""The three image sets of the paper: 28 x 28 grey images of ten classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.data.checks import check_choice
from pairlearn.datasets.files import Part, Source, load_part
from pairlearn.datasets.parsers import DataFileError, read_idx

if TYPE_CHECKING:
    import os
    from pathlib import Path

    DataHome = str | os.PathLike[str] | None

__all__ = ["load_fashion_mnist", "load_kuzushiji_mnist", "load_mnist"]

_PREFIX = {"train": "train", "test": "t10k"}


def _parse(paths: list[Path]) -> tuple[Any, ...]:
    images, labels = read_idx(paths[0], 3), read_idx(paths[1], 1)
    if images.shape[1:] != (28, 28) or len(images) != len(labels):
        raise DataFileError(
            f"{paths[0]} and {paths[1]} do not belong together: images of shape "
            f"{images.shape}, {len(labels)} labels. Delete both and load again"
        )
    return images.reshape(len(images), 784), labels


def _part(
    folder: str, url: str, subset: str, sha256: tuple[str, str], fingerprint: str | None
) -> Part:
    names = [
        f"{_PREFIX[subset]}-{kind}-ubyte" for kind in ("images-idx3", "labels-idx1")
    ]
    sources = tuple(
        Source(f"{folder}/{name}", f"{url}/{name}.gz", sha256=checksum)
        for name, checksum in zip(names, sha256, strict=True)
    )
    return Part(sources, _parse, fingerprint)


_MNIST_URL = "https://ossci-datasets.s3.amazonaws.com/mnist"
_MNIST = {
    "train": _part(
        "mnist",
        _MNIST_URL,
        "train",
        (
            "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
            "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
        ),
        "2eeecb80f3b5e1e589c38dae7e47d63066da0b2d61ff1e40ff0e262ed9fcc0e2",
    ),
    "test": _part(
        "mnist",
        _MNIST_URL,
        "test",
        (
            "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
            "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
        ),
        "b3817024ac0a11ebf685d69c36ec150e480dcc62a198dd7953ffec8bb4c39654",
    ),
}
_FASHION_URL = "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion"
_FASHION = {
    "train": _part(
        "fashion-mnist",
        _FASHION_URL,
        "train",
        (
            "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
            "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
        ),
        "0377bd0ae84992403d98a1b6e26abade994228b0f5c8c2bdaf627784b6d5a2e1",
    ),
    "test": _part(
        "fashion-mnist",
        _FASHION_URL,
        "test",
        (
            "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
            "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
        ),
        "07d48190dba94b7413d3b967b47150c2a49c7a9d2e26694907d84598fa9de842",
    ),
}
_KUZUSHIJI_URL = "https://codh.rois.ac.jp/kmnist/dataset/kmnist"
_KUZUSHIJI = {
    # We have never seen these files: their published checksums alone vouch for them.
    "train": _part(
        "kuzushiji-mnist",
        _KUZUSHIJI_URL,
        "train",
        (
            "51467d22d8cc72929e2a028a0428f2086b092bb31cfb79c69cc0a90ce135fde4",
            "e38f9ebcd0f3ebcdec7fc8eabdcdaef93bb0df8ea12bee65224341c8183d8e17",
        ),
        None,
    ),
    "test": _part(
        "kuzushiji-mnist",
        _KUZUSHIJI_URL,
        "test",
        (
            "edd7a857845ad6bb1d0ba43fe7e794d164fe2dce499a1694695a792adfac43c5",
            "20bb9a0ef54c7db3efc55a92eef5582c109615df22683c380526788f98e42a1c",
        ),
        "755bfc2a14985559562231cae15442f92ec0db2d3bcbdaef14388eb2d0442e79",
    ),
}


def load_mnist(
    *,
    subset: str = "train",
    return_X_y: bool = False,
    data_home: DataHome = None,
    verify: bool = True,
    download: bool = True,
) -> Any:
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
    return _load(
        _MNIST,
        subset,
        "MNIST: handwritten digits 0 to 9, 28 x 28 grey values.\n"
        "Source: Y. LeCun, C. Cortes, C. J. C. Burges; LeCun et al., "
        '"Gradient-based learning applied to document recognition", 1998.\n'
        "Licence: CC BY-SA 3.0, as commonly stated.",
        return_X_y,
        data_home=data_home,
        verify=verify,
        download=download,
    )


def load_fashion_mnist(
    *,
    subset: str = "train",
    return_X_y: bool = False,
    data_home: DataHome = None,
    verify: bool = True,
    download: bool = True,
) -> Any:
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
    return _load(
        _FASHION,
        subset,
        "Fashion-MNIST: ten kinds of clothes, shoes and bags, 28 x 28 grey values.\n"
        "Source: H. Xiao, K. Rasul, R. Vollgraf, arXiv:1708.07747, 2017.\n"
        "Licence: MIT.",
        return_X_y,
        data_home=data_home,
        verify=verify,
        download=download,
    )


def load_kuzushiji_mnist(
    *,
    subset: str = "test",
    return_X_y: bool = False,
    data_home: DataHome = None,
    verify: bool = True,
    download: bool = True,
) -> Any:
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
    return _load(
        _KUZUSHIJI,
        subset,
        "Kuzushiji-MNIST: ten cursive Japanese characters, 28 x 28 grey values.\n"
        "Source: T. Clanuwat et al., "
        '"Deep Learning for Classical Japanese Literature", arXiv:1812.01718, 2018; '
        "Center for Open Data in the Humanities.\n"
        "Licence: CC BY-SA 4.0.",
        return_X_y,
        data_home=data_home,
        verify=verify,
        download=download,
    )


def _load(
    parts: dict[str, Part], subset: str, descr: str, return_X_y: bool, **options: Any
) -> Any:
    from sklearn.utils import Bunch

    check_choice("subset", subset, [*parts, "all"])
    names = list(parts) if subset == "all" else [subset]
    loaded = [load_part(parts[name], **options) for name in names]
    X = np.concatenate([images for images, _ in loaded])
    y = np.concatenate([labels for _, labels in loaded]).astype(np.intp)
    return (X, y) if return_X_y else Bunch(data=X, target=y, DESCR=descr)
