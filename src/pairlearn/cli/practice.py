"""Data sets to practise with: what there is, and two tables made of one of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.datasets import even_odd, load_dataset
from pairlearn.datasets.catalogue import DataSet, catalogue
from pairlearn.datasets.registry import find_name

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.random import RandomState
    from numpy.typing import NDArray

    from pairlearn.data.types import Ints

__all__ = ["DATA_SETS", "FILES", "Practice", "find", "make_practice"]

FILES = ("points.csv", "pairs.csv", "labels.csv")
SHIPPED = "scikit-learn"
# Of larger data sets so many points are written, unless more are asked for: a table to
# practise with should open in a spreadsheet.
MOST_POINTS = 5000


DATA_SETS = (
    DataSet("cancer", 569, 30, ("malignant", "benign"), SHIPPED),
    DataSet("wine", 178, 13, ("other", "cultivar 2"), SHIPPED),
    DataSet("digits", 1797, 64, ("odd", "even"), SHIPPED),
    *catalogue().values(),
)


@dataclass(frozen=True)
class Practice:
    """Tables to practise with.

    Attributes
    ----------
    points, pairs, labels : pandas.DataFrame
        The points with their ids; the pairs with their answers; the true classes.
    majority : str
        The class that holds more than half of the points.
    share : float
        Its share.
    """

    points: Any
    pairs: Any
    labels: Any
    majority: str
    share: float

    def files(self) -> dict[str, bytes]:
        """Return the content of each of the files."""
        tables = (self.points, self.pairs, self.labels)
        return {
            name: table.to_csv(index=False, lineterminator="\n").encode()
            for name, table in zip(FILES, tables, strict=True)
        }


def find(name: str) -> DataSet:
    """Return a data set by its name; capitals, hyphens and blanks do not matter.

    Examples
    --------
    >>> find("Cancer").n_points
    569
    """
    known = {data.name: data for data in DATA_SETS}
    found, close = find_name(name, known)
    if found is not None:
        return known[found]
    hint = f" Did you mean {close}?" if close else ""
    raise ValueError(
        f"there is no data set {name!r}.{hint} `pairlearn datasets` lists them all"
    )


def make_practice(
    data: DataSet,
    n_pairs: int,
    *,
    n_points: int | None = None,
    wrong: float = 0.0,
    seed: int = 0,
    data_home: Path | None = None,
) -> Practice:
    """Make tables of points and of answered pairs.

    The points are put in random order and get new ids, so that neither tells the
    class. The pairs are random and different from each other; they share no point if
    there are enough points for that.

    Parameters
    ----------
    data : DataSet
        Which.
    n_pairs : int
        How many pairs.
    n_points : int, optional
        How many points, at random. None: all, but no more than `MOST_POINTS`.
    wrong : float, default=0
        The share of answers that are turned round.
    seed : int, default=0
        Which points, pairs and wrong answers.
    data_home : Path, optional
        Folder of the data files.

    Returns
    -------
    Practice

    Examples
    --------
    >>> tables = make_practice(find("wine"), 50)
    >>> tables.pairs.columns.tolist(), len(tables.points)
    (['left', 'right', 'answer'], 178)
    """
    import pandas as pd
    from sklearn.utils import check_random_state

    if not 0 <= wrong < 0.5:
        raise ValueError(f"--wrong must be at least 0 and below 0.5; got {wrong:g}")
    if n_points is not None and not 2 <= n_points <= data.n_points:
        raise ValueError(
            f"--points must lie between 2 and {data.n_points}, all that {data.name} "
            f"has; got {n_points}"
        )
    size = min(data.n_points, MOST_POINTS) if n_points is None else n_points
    most = size * (size - 1) // 2
    if not 1 <= n_pairs <= most:
        raise ValueError(
            f"--pairs must lie between 1 and {most}, the pairs that {size} points "
            f"form; got {n_pairs}"
        )
    X, positive, names = _load(data, data_home)
    rng = check_random_state(seed)
    rows = rng.permutation(len(positive))[:size]
    table = X[rows].toarray() if hasattr(X, "toarray") else X[rows]
    labels = np.array(data.classes, dtype=object)[positive[rows].astype(int)]
    digits = max(4, len(str(size)))
    ids = np.array([f"p{k:0{digits}d}" for k in range(1, size + 1)], dtype=object)
    index = _distinct_pairs(size, n_pairs, rng)
    same = labels[index[:, 0]] == labels[index[:, 1]]
    turned = rng.permutation(n_pairs)[: round(wrong * n_pairs)]
    same[turned] = ~same[turned]
    points = pd.DataFrame(table, columns=names)
    points.insert(0, "id", ids)
    pairs = pd.DataFrame(
        {
            "left": ids[index[:, 0]],
            "right": ids[index[:, 1]],
            "answer": np.where(same, "same", "different"),
        }
    )
    share = float(np.mean(labels == data.classes[1]))
    return Practice(
        points=points,
        pairs=pairs,
        labels=pd.DataFrame({"id": ids, "label": labels}),
        majority=data.classes[int(share >= 0.5)],
        share=max(share, 1 - share),
    )


def _distinct_pairs(n_points: int, n_pairs: int, rng: RandomState) -> Ints:
    if 2 * n_pairs <= n_points:
        return rng.permutation(n_points)[: 2 * n_pairs].reshape(-1, 2)
    from sklearn.utils.random import sample_without_replacement

    # The number of the pair i < j in the list (0, 1), (0, 2), (1, 2), (0, 3), ...
    most = n_points * (n_points - 1) // 2
    number = rng.permutation(
        sample_without_replacement(most, n_pairs, random_state=rng)
    )
    j = ((1 + np.sqrt(1 + 8.0 * number)) // 2).astype(np.intp)
    # Rounding of the root may be off by one.
    j = np.where(j * (j - 1) // 2 > number, j - 1, j)
    i = number - j * (j - 1) // 2
    swapped = rng.uniform(size=n_pairs) < 0.5
    return np.where(swapped[:, None], np.stack([j, i], 1), np.stack([i, j], 1))


def _load(
    data: DataSet, data_home: Path | None
) -> tuple[Any, NDArray[np.bool_], list[str]]:
    """Return points, which of them are of the second class, and column names."""
    if data.source == SHIPPED:
        return _load_shipped(data.name)
    bunch = load_dataset(data.name, data_home=data_home)
    target = np.asarray(bunch.target)
    if data.n_features == 784:
        target = even_odd(target)
    numbered = [f"x{k}" for k in range(1, bunch.data.shape[1] + 1)]
    return bunch.data, target == 1, list(bunch.get("feature_names") or numbered)


def _load_shipped(name: str) -> tuple[Any, NDArray[np.bool_], list[str]]:
    from sklearn import datasets

    if name == "digits":
        bunch = datasets.load_digits()
        names = [f"pixel_{k // 8}_{k % 8}" for k in range(64)]
        return bunch.data.astype(int), bunch.target % 2 == 0, names
    bunch = datasets.load_wine() if name == "wine" else datasets.load_breast_cancer()
    return bunch.data, bunch.target == 1, list(bunch.feature_names)
