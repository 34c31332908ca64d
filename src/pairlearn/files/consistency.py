"""Checks of estimators that hand their numbers to compiled code, or could do harm.

What is behind each is in :mod:`pairlearn.files.trusted_sklearn`. A check wants what
`fit` leaves behind, and what it does not understand it refuses.
"""

from __future__ import annotations

import inspect
import os
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from pairlearn.files.archive import ModelFileError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["check_sound", "parameters_of"]

# Each job is a process or a thread; more than this is no help on any machine.
_MOST_JOBS = max(64, os.cpu_count() or 1)
# The most numbers that a cell of a column of vectors may have.
_LONGEST_VECTOR = 100_000
# The most columns that fit into an index of 32 bits.
_MOST_COLUMNS = 2**31 - 1
_KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")


def check_sound(thing: Any, name: str) -> None:
    """Refuse an object whose attributes could make it do harm when it is used.

    Parameters
    ----------
    thing : object
        As it was built, of a type that is vouched for.
    name : str
        The full name of its type.

    Raises
    ------
    ModelFileError
        With the reason, and the way out for those who know the file.
    """
    own = getattr(thing, "__dict__", {})
    why = _shadowed(thing, own) or _at_large(own)
    check = _CHECKS.get(name)
    if why is None and check is not None and own:
        # Another part of the model may hold the same arrays, and write into them.
        own.update({key: _private(value) for key, value in own.items()})
        try:
            fits = check(own)
        except (AttributeError, KeyError, TypeError, ValueError):
            # Something is missing, or of another kind.
            fits = False
        why = None if fits else "holds arrays that do not fit together"
    if why is not None:
        raise ModelFileError(
            f"its {type(thing).__name__} {why}. If you know who made the file: "
            f"load(path, trusted=[{name!r}])"
        )


def _private(value: Any) -> Any:
    """Return a copy of arrays, also of those in a list or a dict."""
    if isinstance(value, np.ndarray) or sparse.issparse(value):
        return value.copy(order="K") if isinstance(value, np.ndarray) else value.copy()
    if type(value) is list:
        return [_private(item) for item in value]
    return dict(value) if type(value) is dict else value


def _shadowed(thing: Any, own: Mapping[str, Any]) -> str | None:
    """Tell whether the object brings what its class defines, such as a method."""
    cls = type(thing)
    # Fields of a dataclass have their defaults there, and some parameters too.
    fields = getattr(cls, "__dataclass_fields__", {})
    for key in own:
        if type(key) is not str:
            return "has an attribute whose name is no text"
        if key in fields or not hasattr(cls, key) or key in parameters_of(cls):
            continue
        # A property is asked before the attribute; it may be newer than the file.
        if not isinstance(inspect.getattr_static(cls, key), property):
            return f"brings its own {key[:60]!r}, which its class defines"
    return None


def parameters_of(cls: type) -> Mapping[str, inspect.Parameter]:
    """Return the arguments of a class."""
    return inspect.signature(cls).parameters


def _at_large(own: Mapping[str, Any]) -> str | None:
    """Tell what an estimator would do beyond its arrays."""
    for key in ("n_jobs", "_n_threads"):
        value = own.get(key)
        if value is None:
            continue
        least = 1 if key == "_n_threads" else -_MOST_JOBS
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if not whole or not least <= value <= _MOST_JOBS:
            return f"asks for {key}={repr(value)[:30]}, and {_MOST_JOBS} are the most"
    if own.get("memory") is not None:
        # What is in such a folder is unpickled, and so may run anything.
        return "keeps results in a folder; use memory=None in a model that is saved"
    return None


def _is_array(value: Any, kinds: str, *shape: int | None) -> bool:
    """Tell whether this is an array of some kinds of numbers, of a shape."""
    return (
        type(value) is np.ndarray
        and value.dtype.kind in kinds
        and value.dtype.isnative
        and len(value.shape) == len(shape)
        and all(n is None or n == m for n, m in zip(shape, value.shape, strict=True))
    )


def _is_count(value: Any, least: int, most: int) -> bool:
    return type(value) is int and least <= value <= most


def _fits_clusters(own: Mapping[str, Any]) -> bool:
    # Rows are read as long as those of the points, which n_features_in_ decides.
    if "cluster_centers_" not in own:
        return True
    centres = own["cluster_centers_"]
    return (
        _is_count(own["_n_threads"], 1, _MOST_JOBS)
        and _is_array(centres, "f", None, own["n_features_in_"])
        and type(own["n_features_in_"]) is int
        and centres.flags.c_contiguous
        and len(centres) > 0
    )


def _fits_words(own: Mapping[str, Any]) -> bool:
    # A word's number is the column of a sparse array, which nobody checks again.
    if own.get("input", "content") != "content":
        # It would open the files that the data name.
        return False
    words = own.get("vocabulary_")
    if words is None:
        return "vocabulary_" not in own
    columns = np.array(list(words.values()))
    return (
        type(words) is dict
        and (not words or _is_array(columns, "i", None))
        and bool(np.all(np.sort(columns) == np.arange(len(words))))
    )


def _fits_texts(own: Mapping[str, Any]) -> bool:
    # Words are numbered anew whenever they are used, and a word that is there twice is
    # refused then; but each needs a number, and no number may spoil all others.
    if own["part"] not in ("words", "characters"):
        return False
    if "words_" not in own:
        return "rarity_" not in own
    words = own["words_"].split("\n") if own["words_"] else []
    return (
        type(own["words_"]) is str
        and len(set(words)) == len(words)
        and _is_array(own["rarity_"], "f", len(words))
        and bool(np.all(np.isfinite(own["rarity_"])))
    )


def _fits_hashes(own: Mapping[str, Any]) -> bool:
    if own.get("input", "content") != "content":
        return False
    return _is_count(own["n_features"], 1, _MOST_COLUMNS)


def _fits_categories(own: Mapping[str, Any]) -> bool:
    # A category's number is a column, after rare ones are joined and one dropped.
    if "categories_" not in own:
        return True
    tables, dropped = own["categories_"], own["_drop_idx_after_grouping"]
    n_tables = len(tables)
    joined, maps = [None] * n_tables, [None] * n_tables
    if own["_infrequent_enabled"]:
        joined, maps = (
            own["_infrequent_indices"],
            own["_default_to_infrequent_mappings"],
        )
    if dropped is None:
        dropped = [None] * n_tables
    if type(tables) is not list or not n_tables == len(joined) == len(maps):
        return False
    widths = []
    for table, rare, mapped, place in zip(tables, joined, maps, dropped, strict=True):
        width = _width(table, rare, mapped)
        if width is None:
            return False
        if place is not None:
            if not 0 <= int(place) < width or int(place) != place:
                return False
            width -= 1
        widths.append(width)
    found = own["_n_features_outs"]
    return (
        type(found) is list
        and all(type(width) is int for width in found)
        and found == widths
        and own["n_features_in_"] == n_tables
    )


def _width(table: Any, rare: Any, mapped: Any) -> int | None:
    """Return the number of columns of a table of categories; None if it is forged."""
    if not _is_array(table, "biufOSUM", None) or not len(table):
        return None
    # Text and objects are looked up in a dict, and never searched for a number.
    if table.dtype.kind not in "OSU" and not _is_sorted(table):
        return None
    if (rare is None) != (mapped is None):
        return None
    if rare is None:
        return len(table)
    width = len(table) - len(rare) + 1
    fits = (
        _is_array(rare, "i", None)
        and len(rare) > 0
        and _is_array(mapped, "i", len(table))
        and bool(mapped.min() >= 0 and mapped.max() < width)
    )
    return width if fits else None


def _is_sorted(table: Any) -> bool:
    """Tell whether a search by halves for one of these ends at one of these."""
    there = table[table == table]
    return bool(
        np.all(there[1:] > there[:-1])
        and np.all(table[: len(there)] == there)
        and len(table) - len(there) <= 1
    )


def _fits_classes(own: Mapping[str, Any]) -> bool:
    # Support vectors are found by adding up how many each class has.
    if "_n_support" not in own:
        return not _is_fitted_machine(own)
    n_classes = len(own["classes_"])
    counts = own["_n_support"]
    return (
        n_classes >= 2
        and _is_array(counts, "i", n_classes)
        and bool(np.all(counts >= 0))
        # Each count is bounded before the sum, which could run over.
        and bool(np.all(counts <= len(own["support_"])))
        and int(counts.sum(dtype=np.int64)) == len(own["support_"])
        and _fits_vectors(own, n_classes, n_classes * (n_classes - 1) // 2)
    )


def _fits_one_function(own: Mapping[str, Any]) -> bool:
    # For a regression, or one class, the counts are there and not read.
    if "_n_support" not in own:
        return not _is_fitted_machine(own)
    return _is_array(own["_n_support"], "i", 2) and _fits_vectors(own, 2, 1)


def _is_fitted_machine(own: Mapping[str, Any]) -> bool:
    return "support_vectors_" in own or "fit_status_" in own


def _fits_vectors(own: Mapping[str, Any], n_classes: int, n_functions: int) -> bool:
    n_vectors, n_rows = len(own["support_"]), own["shape_fit_"][0]
    n_features = own["n_features_in_"]
    if own["kernel"] not in _KERNELS or not _is_count(n_features, 0, _MOST_COLUMNS):
        return False
    if not _is_count(n_rows, 1, _MOST_COLUMNS) or type(own["_sparse"]) is not bool:
        return False
    known = own["kernel"] == "precomputed"
    fits = (
        _is_array(own["support_"], "i", None)
        and bool(np.all(own["support_"] >= 0) and np.all(own["support_"] < n_rows))
        and (not known or n_features == n_rows)
        and _is_array(own["_intercept_"], "f", n_functions)
        and all(
            _is_array(own[name], "f", None) and len(own[name]) in (0, n_functions)
            for name in ("_probA", "_probB")
        )
        and len(own["_probA"]) == len(own["_probB"])
        # What tells to read these differs by version.
        and all(
            own.get(name, False) is False
            or isinstance(own[name], str)
            or (own[name] is True and len(own["_probA"]) == n_functions)
            for name in ("probability", "_effective_probability")
        )
    )
    vectors, weights = own["support_vectors_"], own["_dual_coef_"]
    of_vectors = (0, 0) if known else (n_vectors, n_features)
    of_weights = (n_classes - 1, n_vectors)
    if not own["_sparse"]:
        return (
            fits
            and _is_array(vectors, "f", *of_vectors)
            and _is_array(weights, "f", *of_weights)
        )
    return (
        fits
        and not known
        and _is_rows(vectors, of_vectors)
        and _is_rows(weights, of_weights)
        # Only its values are read, as many as a full array has.
        and weights.nnz == (n_classes - 1) * n_vectors
    )


def _is_rows(table: Any, shape: tuple[int, int]) -> bool:
    return bool(
        sparse.issparse(table) and table.format == "csr" and table.shape == shape
    )


def _fits_numbers(own: Mapping[str, Any]) -> bool:
    # As many numbers are made room for, for each point.
    if type(own.get("embed", "")) is not str:
        return False
    if "mean_" not in own and "n_numbers_" not in own:
        return True
    names = own["feature_names_in_"]
    return (
        _is_count(own["n_numbers_"], 1, _LONGEST_VECTOR)
        and _is_array(own["mean_"], "f", own["n_numbers_"])
        and bool(np.isfinite(own["mean_"]).all())
        and type(own["some_missing_"]) is bool
        and _is_array(names, "O", 1)
        and type(names[0]) is str
    )


_CHECKS: dict[str, Callable[[Mapping[str, Any]], bool]] = {
    f"sklearn.{name}": check
    for check, names in {
        _fits_clusters: "cluster._kmeans.KMeans cluster._kmeans.MiniBatchKMeans",
        _fits_words: "feature_extraction.text.CountVectorizer "
        "feature_extraction.text.TfidfVectorizer "
        "feature_extraction._dict_vectorizer.DictVectorizer",
        _fits_hashes: "feature_extraction._hash.FeatureHasher "
        "feature_extraction.text.HashingVectorizer",
        _fits_categories: "preprocessing._encoders.OneHotEncoder",
        _fits_classes: "svm._classes.NuSVC svm._classes.SVC",
        _fits_one_function: "svm._classes.NuSVR svm._classes.OneClassSVM "
        "svm._classes.SVR",
    }.items()
    for name in names.split()
}
_CHECKS["pairlearn.files.tables.encoders.texts.TextVectors"] = _fits_texts
_CHECKS |= {
    f"pairlearn.files.tables.encoders.{name}": _fits_numbers
    for name in (
        "embedding.EmbeddedColumn",
        "images.ImageColumn",
        "vectors.VectorColumn",
    )
}
