"""What all loaders share: their options, and the form of what they return."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
from scipy import sparse

from pairlearn.datasets.catalogue import catalogue
from pairlearn.datasets.files import load_part

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    DataHome = str | os.PathLike[str] | None
    Loader = TypeVar("Loader", bound=Callable[..., Any])

__all__ = ["Options", "load", "loader"]


class Options(TypedDict, total=False):
    """What all loaders take; :func:`load_dataset` explains it."""

    return_X_y: bool
    data_home: DataHome
    verify: bool
    download: bool


def loader(function: Loader) -> Loader:
    """Show the options that all loaders take in the signature of one of them."""
    own, shared = inspect.signature(function), inspect.signature(load)
    function.__signature__ = own.replace(  # type: ignore[attr-defined]
        parameters=[
            parameter
            for signature in (own, shared)
            for parameter in signature.parameters.values()
            if parameter.kind is parameter.KEYWORD_ONLY
        ]
    )
    return function


def load(
    name: str,
    part: str = "all",
    positive: Callable[[Any], Any] | None = None,
    *,
    return_X_y: bool = False,
    data_home: DataHome = None,
    verify: bool = True,
    download: bool = True,
) -> Any:
    """Return a data set of the catalogue.

    Parameters
    ----------
    name : str
        Which.
    part : str
        A part of it; "all": all of them, one below the other.
    positive : callable, optional
        Classes in the file -> which are named +1, the others being -1. None: classes
        are numbered as in the file, and there is no prior.
    return_X_y, data_home, verify, download
        As in :func:`load_dataset`.

    Returns
    -------
    Bunch, or (data, target)
    """
    from sklearn.utils import Bunch

    data = catalogue()[name]
    parts = data.parts.values() if part == "all" else [data.parts[part]]
    X, y, *rest = _stacked(
        [
            load_part(one, data_home=data_home, verify=verify, download=download)
            for one in parts
        ]
    )
    X = X.toarray() if data.dense else X
    target = y.astype(np.intp) if positive is None else np.where(positive(y), 1, -1)
    if return_X_y:
        return X, target
    bunch = Bunch(data=X, target=target, DESCR=data.about)
    if positive is not None:
        bunch.prior = float((target == 1).mean())
    # Besides points and classes, a file may hold one thing more.
    for more in rest or filter(None, [data.columns]):
        bunch[data.also] = list(more) if data.also == "feature_names" else more
    return bunch


def _stacked(pieces: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Put the points of several parts one below the other."""
    if len(pieces) == 1:
        return pieces[0]
    X, y = zip(*pieces, strict=True)
    points = sparse.vstack(X, format="csr") if sparse.issparse(X[0]) else np.vstack(X)
    return points, np.concatenate(y)
