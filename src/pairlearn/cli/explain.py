"""`pairlearn explain`: which columns a model goes by, and which words."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from pairlearn.files.tables.encoders.texts import texts_of
from pairlearn.trust.telling_words import telling_words

__all__ = ["changes_of_side", "stored_words", "text_columns"]
__all__ += ["weights_of", "words_of_groups"]

# Points that are looked at in all; a model scores about ten thousand in a second.
_BUDGET = 20_000
_MOST_POINTS = 500
_MOST_COLUMNS = 400
_BATCH = 5000
# Points whose words are looked at, and words of each group.
_TEXTS, _WORDS = 1000, 12


def changes_of_side(
    model: Any, frame: Any, random_state: int = 0
) -> list[tuple[str, float]] | None:
    """Return for each column how many points change sides when it is shuffled.

    The values of one column are shuffled among the points, and the share of points
    that the model then puts into the other class is its importance: 0 for a column
    that the model does not use. No answers are needed. Columns that tell the same
    stand in for each other, and then none of them seems important.

    Parameters
    ----------
    model : Pipeline
        A fitted model of points in a frame.
    frame : pandas.DataFrame
        Points.
    random_state : int
        Seed.

    Returns
    -------
    list of tuple, or None
        (column, share), the largest first. None if there are too many columns.
    """
    import pandas as pd

    names = list(frame.columns)
    if len(names) > _MOST_COLUMNS or len(frame) < 2:
        return None
    rng = check_random_state(random_state)
    n_rows = min(_MOST_POINTS, len(frame), max(50, _BUDGET // max(1, len(names))))
    points = frame.iloc[np.sort(rng.permutation(len(frame))[:n_rows])]
    points = points.reset_index(drop=True)
    changed: list[float] = []
    at_a_time = max(1, _BATCH // n_rows)
    before = model.predict(points)
    for begin in range(0, len(names), at_a_time):
        copies = []
        for name in names[begin : begin + at_a_time]:
            copy = points.copy()
            # From all points, so that few points still show the column's values.
            drawn = frame[name].iloc[rng.permutation(len(frame))[:n_rows]]
            copy[name] = drawn.array
            copies.append(copy)
        after = model.predict(pd.concat(copies, ignore_index=True))
        moved = after.reshape(len(copies), n_rows) != before
        changed += moved.mean(axis=1).tolist()
    order = np.argsort(-np.array(changed), kind="stable")
    return [(str(names[k]), changed[k]) for k in order]


def words_of_groups(
    model: Any, frame: Any, columns: list[str], random_state: int = 0
) -> dict[str, list[tuple[str, float, float]]]:
    """Return the words by which the texts of each group differ from the others.

    Parameters
    ----------
    model : Pipeline
        A fitted model of points in a frame.
    frame : pandas.DataFrame
        Points.
    columns : list of str
        The columns that hold texts.
    random_state : int
        Seed of the points that are looked at.

    Returns
    -------
    dict
        By group, ("column: word", share of its texts that hold the word, share of the
        others), the most telling first. Empty if there are no texts.
    """
    if not columns or len(frame) < 2:
        return {}
    rng = check_random_state(random_state)
    points = frame.iloc[np.sort(rng.permutation(len(frame))[:_TEXTS])]
    classes = model.classes_.tolist()
    predicted = np.asarray(model.predict(points))
    group = np.array([classes.index(name) for name in predicted.tolist()])
    found: dict[str, list[tuple[float, str, float, float]]] = {
        str(name): [] for name in classes
    }
    for column in columns:
        words = telling_words(texts_of(points[column]), group, len(classes), _WORDS)
        for name, some in zip(found, words, strict=True):
            found[name] += [
                (each.strength, f"{column}: {each.word}", each.inside, each.outside)
                for each in some
            ]
    return {
        name: [row[1:] for row in sorted(some, key=lambda row: -row[0])[:_WORDS]]
        for name, some in found.items()
    }


def text_columns(about: dict[str, Any]) -> list[str]:
    """Return the columns of free text, by what is stored beside a model."""
    return [name for name, kind, *_ in about.get("columns") or () if kind == "text"]


def stored_words(about: dict[str, Any]) -> dict[str, list[tuple[str, float, float]]]:
    """Return the words of each group, by what is stored beside a model."""
    return {
        str(group): [(str(name), float(p), float(q)) for name, p, q in rows]
        for group, rows in (about.get("words") or {}).items()
    }


def weights_of(model: Any) -> list[tuple[str, float]] | None:
    """Return the weight of each encoded column of a linear model, or None.

    Parameters
    ----------
    model : estimator
        A classifier, or a pipeline that ends in one.

    Returns
    -------
    list of tuple, or None
        (feature, weight), the largest first by its size.
    """
    last = model[-1] if hasattr(model, "steps") else model
    weights = getattr(last, "coef_", None)
    if weights is None or np.ndim(weights) == 0:
        return None
    weights = np.asarray(weights, dtype=float)
    if weights.ndim == 2 and weights.shape[0] == 1:
        weights = weights[0]
    if weights.ndim != 1:
        return None
    names = _feature_names(model, len(weights))
    order = np.argsort(-np.abs(weights), kind="stable")
    return [(names[k], float(weights[k])) for k in order]


def _feature_names(model: Any, n_features: int) -> list[str]:
    try:
        before = model[:-1] if hasattr(model, "steps") and len(model) > 1 else None
        names = (
            model.feature_names_in_
            if before is None
            else before.get_feature_names_out()
        )
    except (AttributeError, ValueError, TypeError):
        names = ()
    if len(names) != n_features:
        return [f"feature {k}" for k in range(n_features)]
    return [str(name) for name in names]
