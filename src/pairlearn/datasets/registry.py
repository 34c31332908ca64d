"""Data sets by name."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

from pairlearn.datasets import loaders
from pairlearn.datasets.catalogue import catalogue

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["dataset_names", "find_name", "load_dataset"]

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
    return tuple(catalogue())


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
    names = {known: known for known in dataset_names()} | _ALSO
    found, close = find_name(str(name), names)
    if found is None:
        hint = f" Did you mean {names[close]!r}?" if close else ""
        raise ValueError(
            f"there is no data set {name!r}.{hint} "
            f"The known ones are {', '.join(dataset_names())}"
        )
    return getattr(loaders, f"load_{names[found].replace('-', '_')}")(**options)


def find_name(name: str, known: Iterable[str]) -> tuple[str | None, str | None]:
    """Return the known name that is meant, and else one that is close to it.

    Parameters
    ----------
    name : str
        As it was typed: letters and digits count, and capitals do not.
    known : iterable of str
        The names there are.

    Returns
    -------
    found, close : str or None
        At most one of them is a name.

    Examples
    --------
    >>> find_name("Cod RNA", ["adult", "codrna"]), find_name("adlt", ["adult"])
    (('codrna', None), (None, 'adult'))
    """
    by_letters = {_letters(one): one for one in known}
    letters = _letters(name)
    if letters in by_letters:
        return by_letters[letters], None
    close = difflib.get_close_matches(letters, by_letters, n=1)
    return None, by_letters[close[0]] if close else None


def _letters(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())
