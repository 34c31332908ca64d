"""What is known of each data set without loading it; `catalogue.toml` says it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from pairlearn.datasets.files import Part, Source, is_there
from pairlearn.datasets.network import read_network, read_planetoid
from pairlearn.datasets.parsers import read_arff, read_csv, read_images, read_libsvm

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping
    from pathlib import Path

__all__ = ["DataSet", "catalogue"]

# How each format is read, given the paths of its files and the number of features.
_READERS: dict[str, Callable[[list[Path], int], tuple[Any, ...]]] = {
    "libsvm": lambda paths, n_features: read_libsvm(paths[0], n_features),
    "csv": lambda paths, n_features: read_csv(paths[0], n_features),
    "arff": lambda paths, _: read_arff(paths[0]),
    "idx": lambda paths, _: read_images(*paths),
    "npz": lambda paths, _: read_network(paths[0]),
    "planetoid": lambda paths, _: read_planetoid(paths),
}


@dataclass(frozen=True)
class DataSet:
    """What is known of a data set without loading it.

    Attributes
    ----------
    name : str
        Its name.
    n_points, n_features : int
        Its size.
    classes : tuple of str
        What the two classes are; the second is +1 of the library's loader.
    source : str
        Where it comes from.
    megabytes : float
        The size of the download; 0 for what ships with scikit-learn.
    about : str
        What it is, whose, and under which licence.
    columns : tuple of str
        Names of the features, where its files have none and they are known.
    also : str
        What a third array in its files is.
    dense : bool
        Whether to write out the zeros that its files leave out.
    default : str
        The part that is loaded if none is asked for. Empty: each part is the whole.
    parts : dict of Part
        Its files.
    """

    name: str
    n_points: int
    n_features: int
    classes: tuple[str, ...]
    source: str
    megabytes: float = 0.0
    about: str = ""
    columns: tuple[str, ...] = ()
    also: str = "feature_names"
    dense: bool = False
    default: str = ""
    parts: Mapping[str, Part] = field(default_factory=dict)

    def is_there(self, data_home: str | os.PathLike[str] | None = None) -> bool:
        """Tell whether it can be loaded without a download."""
        parts = [self.parts[self.default]] if self.default else self.parts.values()
        return not self.parts or any(is_there(part, data_home) for part in parts)


@cache
def catalogue() -> dict[str, DataSet]:
    """Return all data sets, by name.

    Examples
    --------
    >>> catalogue()["banana"].n_points
    5300
    """
    text = (files(__package__) / "catalogue.toml").read_text("utf-8")
    return {name: _data_set(name, **row) for name, row in tomllib.loads(text).items()}


def _data_set(
    name: str, *, parts: dict[str, Any], classes: list[str], **facts: Any
) -> DataSet:
    def part(*, format: str, files: list[Any], content: str | None = None) -> Part:  # noqa: A002 - the catalogue's word
        sources = tuple(Source(**file) for file in files)
        read, n_features = _READERS[format], facts["n_features"]
        return Part(sources, lambda paths: read(paths, n_features), content)

    made = {key: part(**row) for key, row in parts.items()}
    return DataSet(name, classes=tuple(classes), parts=made, **facts)
