"""Data sets by name."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

from pairlearn.datasets import graph, images, tabular

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["dataset_names", "load_dataset"]

_LOADERS: dict[str, Callable[..., Any]] = {
    "adult": tabular.load_adult,
    "banana": tabular.load_banana,
    "codrna": tabular.load_codrna,
    "ijcnn1": tabular.load_ijcnn1,
    "magic": tabular.load_magic,
    "phishing": tabular.load_phishing,
    "phoneme": tabular.load_phoneme,
    "spambase": tabular.load_spambase,
    "w8a": tabular.load_w8a,
    "waveform": tabular.load_waveform,
    "mnist": images.load_mnist,
    "fashion-mnist": images.load_fashion_mnist,
    "kuzushiji-mnist": images.load_kuzushiji_mnist,
    "pubmed": graph.load_pubmed,
}
_ALSO = {"kmnist": "kuzushiji-mnist", "pubmeddiabetes": "pubmed", "a9a": "adult"}


def dataset_names() -> tuple[str, ...]:
    """Return the names that :func:`load_dataset` knows.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> from pairlearn.datasets import dataset_names
    >>> dataset_names()[:3]
    ('adult', 'banana', 'codrna')
    """
    return tuple(_LOADERS)


def load_dataset(name: str, **options: Any) -> Any:
    """Load a data set by its name.

    Parameters
    ----------
    name : str
        One of :func:`dataset_names`; capitals, hyphens, spaces and underscores do not
        matter.
    **options
        Passed to the loader of that name. All of them take

        ``return_X_y`` : bool, default=False
            Return (data, target) instead of a Bunch.
        ``data_home`` : path, optional
            The folder to look in, and to download to. None: look in the folder that
            the environment variable PAIRLEARN_DATA names, then in the user's cache,
            and download to the latter.
        ``verify`` : bool, default=True
            Compare what was read with its checksum. False: take another version of a
            file as it is.
        ``download`` : bool, default=True
            Fetch missing files from their public homes, which needs
            ``pip install 'pairlearn[cli]'``.

    Returns
    -------
    Bunch
        With `data`, the points; `target`, their classes; `DESCR`, what the data are,
        whose, and under which licence; and more that the loaders describe. Or
        (data, target).

    Raises
    ------
    DataUnavailableError
        A file is missing and cannot be fetched. The message says where to get it and
        where to put it.
    DataFileError
        A file is damaged, or holds something else than it should.

    Examples
    --------
    >>> from pairlearn.datasets import load_dataset
    >>> X, y = load_dataset("cod-RNA", return_X_y=True)  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (59535, 8)
    """
    names = {_plain(known): known for known in _LOADERS} | _ALSO
    plain = _plain(str(name))
    if plain not in names:
        close = difflib.get_close_matches(plain, names, n=1)
        hint = f" Did you mean {names[close[0]]!r}?" if close else ""
        raise ValueError(
            f"there is no data set {name!r}.{hint} "
            f"The known ones are {', '.join(_LOADERS)}"
        )
    return _LOADERS[names[plain]](**options)


def _plain(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())
