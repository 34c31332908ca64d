"""The citation network of the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from pairlearn.datasets.files import Part, Source, is_there, load_part
from pairlearn.datasets.parsers import (
    PickledMatrix,
    damaged,
    read_bytes,
    read_npz,
    read_pickle,
)

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from numpy.typing import NDArray

    DataHome = str | os.PathLike[str] | None

__all__ = ["load_pubmed"]

_PLANETOID_URL = "https://raw.githubusercontent.com/kimiyoung/planetoid/master/data"
_PLANETOID_FILES = {
    "x": "fbe9cb5c47200d1b7769a26e579be3b7130b556831f9d850e77c4c74f2599b33",
    "y": "e6c807633307a07ed659249006536a147c7999c797f11a2560752990181b41b3",
    "tx": "4eb5f5d0f30f26497eb0ac6ac9719d09c67e284f1ed0385c93f3ef27a671da3d",
    "ty": "ee2e0d4819d9fbcc403689c3bf2e49face401b605932f093bc58ab6461130fdd",
    "allx": "508e538e2abdccdd54c4d3e9f49d638b4af7107d85845f66ddea5a5152658b7e",
    "ally": "0c37bbe3b5014ec365e9d393cf4791925e5ed94fb194305d74f064a8d7b50f0e",
    "graph": "5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9",
    "test.index": "b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5",
}
_NPZ_ARRAYS = ("x_data", "x_indices", "x_indptr", "x_shape", "labels", "links")


def _parse_npz(paths: list[Path]) -> tuple[Any, ...]:
    arrays = read_npz(paths[0], _NPZ_ARRAYS)
    try:
        csr = (arrays["x_data"], arrays["x_indices"], arrays["x_indptr"])
        X = sparse.csr_matrix(csr, shape=tuple(arrays["x_shape"]), dtype=float)
    except ValueError as error:
        raise damaged(paths[0], error) from error
    return X, arrays["labels"].astype(np.intp), arrays["links"].astype(np.intp)


def _parse_planetoid(paths: list[Path]) -> tuple[Any, ...]:
    # The points of the files allx and tx together are all the points; those of tx
    # belong to the places that test.index lists. x and y repeat a part of allx and
    # ally, and are kept only to have the folder complete.
    file = dict(zip(_PLANETOID_FILES, paths, strict=True))
    train_X, test_X = (_pickled(file[key], PickledMatrix) for key in ("allx", "tx"))
    train_y, test_y = (_pickled(file[key], np.ndarray) for key in ("ally", "ty"))
    neighbours = _pickled(file["graph"], dict)
    try:
        places = np.array(read_bytes(file["test.index"]).split(), dtype=np.intp)
        order = np.concatenate([np.arange(len(train_y)), places])
        n_points = len(order)
        if not np.array_equal(np.sort(order), np.arange(n_points)):
            raise ValueError("it does not list each place after the training points")
        back = np.argsort(order)
        X = sparse.vstack([train_X.tocsr(), test_X.tocsr()], format="csr")[back]
        y = np.concatenate([train_y, test_y]).argmax(axis=1)[back]
    except (ValueError, AttributeError) as error:
        raise damaged(file["test.index"], error) from error
    X = X.astype(float)
    X.sort_indices()
    return X, y.astype(np.intp), _links(file["graph"], neighbours, n_points)


def _pickled(path: Path, kind: type) -> Any:
    value = read_pickle(path)
    if not isinstance(value, kind):
        raise damaged(path, f"it holds a {type(value).__name__}")
    return value


def _links(path: Path, neighbours: dict[Any, Any], n_points: int) -> NDArray[np.intp]:
    try:
        ends = np.array(
            [(one, other) for one, others in neighbours.items() for other in others],
            dtype=np.intp,
        ).reshape(-1, 2)
    except (TypeError, ValueError) as error:
        raise damaged(path, error) from error
    if ends.size and not 0 <= ends.min() <= ends.max() < n_points:
        raise damaged(path, f"it links points outside 0 to {n_points - 1}")
    # Both ends list a link. A point that is linked to itself lists itself twice.
    between = ends[ends[:, 0] < ends[:, 1]]
    own = ends[ends[:, 0] == ends[:, 1]]
    links = np.concatenate([between, own[np.argsort(own[:, 0])][::2]])
    return links[np.lexsort((links[:, 1], links[:, 0]))]


# Both forms hold the same, so one checksum serves both.
_CONTENT = "4ea756538ba38527b6ef6d475b45336b3d97b5554135138b122f7b1b30cfb4a4"
_NPZ = Part((Source("pubmed/pubmed.npz", ""),), _parse_npz, _CONTENT)
_PLANETOID = Part(
    tuple(
        Source(
            f"pubmed/planetoid/ind.pubmed.{key}",
            f"{_PLANETOID_URL}/ind.pubmed.{key}",
            sha256=checksum,
        )
        for key, checksum in _PLANETOID_FILES.items()
    ),
    _parse_planetoid,
    _CONTENT,
)


def load_pubmed(
    *,
    return_X_y: bool = False,
    data_home: DataHome = None,
    verify: bool = True,
    download: bool = True,
) -> Any:
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
    from sklearn.utils import Bunch

    part = _NPZ if is_there(_NPZ, data_home) else _PLANETOID
    X, y, links = load_part(part, data_home=data_home, verify=verify, download=download)
    if return_X_y:
        return X, y
    edges = np.unique(links[links[:, 0] < links[:, 1]], axis=0)
    return Bunch(
        data=X,
        target=y,
        links=links,
        edges=edges,
        DESCR="PubMed-Diabetes: TF/IDF weights of 500 words in papers on diabetes, the "
        "kind of diabetes, and who cites whom (without the direction).\n"
        'Source: G. Namata et al., "Query-driven active surveying for collective '
        'classification", MLG 2012; P. Sen et al., "Collective classification in '
        'network data", 2008; in the form of Z. Yang, W. Cohen, R. Salakhutdinov, '
        '"Revisiting semi-supervised learning with graph embeddings", ICML 2016.\n'
        "Licence: none stated for the data.",
    )
