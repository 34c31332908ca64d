"""What a notebook shows: pairs, and what a fitted model has learned."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from pairlearn.data.containers import is_dask, is_tensor, on_host, take_rows

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pairlearn.data.pairs import Pairs
    from pairlearn.trust.assignment import Assignment

__all__ = ["NotebookMixin", "learned", "learned_html", "pairs_html", "plain_table"]

# How much is shown: pairs, features, candidates, classes, letters of a text.
_PAIRS, _FEATURES, _CANDIDATES, _CLASSES, _LETTERS = 4, 6, 4, 12, 28
_CELL = "text-align:left;vertical-align:top"


class NotebookMixin:
    """Put a table of what was learned below scikit-learn's diagram of an estimator."""

    def _repr_html_inner(self) -> str:
        diagram: str = super()._repr_html_inner()  # type: ignore[misc]
        return diagram + learned_html(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            # The diagram may or may not have come by the method above.
            bundle["text/html"] = self._repr_html_inner()
        return bundle


def plain_table(
    caption: str, head: Iterable[str], rows: Iterable[Iterable[str]]
) -> str:
    """Return a table whose cells are HTML already."""
    names = "".join(f"<th>{name}</th>" for name in head)
    lines = ("".join(f"<td>{cell}</td>" for cell in row) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return (
        f"<table><caption>{escape(caption)}</caption><thead><tr>{names}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )


def pairs_html(pairs: Pairs) -> str:
    """Return a table of the first few pairs, each with its two points.

    Parameters
    ----------
    pairs : Pairs
        The pairs.

    Returns
    -------
    str
    """
    X, index = pairs.X, pairs.index[:_PAIRS]
    caption = (
        f"{_count(len(pairs), 'pair')} of {_count(pairs.n_points, 'point')} with "
        f"{_count(pairs.n_features, 'feature')} ({_kind(X)})"
    )
    names = [str(name) for name in getattr(X, "columns", range(pairs.n_features))]
    shown = [] if is_dask(X) else names[:_FEATURES]
    more = ["…"] * (len(shown) < len(names))
    values = _values(X, index.ravel(), len(shown)) if shown else [[]] * index.size
    rows = []
    for k, point in enumerate(index.ravel()):
        pair = [f'<th rowspan="2" style="{_CELL}">{k // 2}</th>'] * (k % 2 == 0)
        rows.append([*pair, *_cells([point, *values[k], *more])])
    if len(pairs) > _PAIRS:
        n_columns = 2 + len(shown) + len(more)
        rows.append([f'<td colspan="{n_columns}" style="{_CELL}">…</td>'])
    head = ["pair", "point", *shown, *more]
    return _table(caption, rows, [_short(name) for name in head])


def learned_html(model: Any) -> str:
    """Return a table of what a fitted model has learned; nothing if it is not fitted.

    Parameters
    ----------
    model : estimator
        A classifier of this package.

    Returns
    -------
    str
    """
    rows = learned(model)
    body = [
        [f'<th style="{_CELL}">{escape(name)}</th>', *_cells([text], letters=400)]
        for name, text in rows
    ]
    return _table("What was learned", body, []) if rows else ""


def learned(model: Any) -> list[tuple[str, str]]:
    """Return what a fitted model has learned: names and sentences.

    Parameters
    ----------
    model : estimator
        A classifier of this package.

    Returns
    -------
    list of tuple
        Empty if the model is not fitted.

    Examples
    --------
    >>> from pairlearn import CIPSClassifier, Pairs
    >>> pairs = Pairs([[-1.0], [-2.0], [3.0]], [[0, 1], [1, 2]])
    >>> for name, text in learned(CIPSClassifier().fit(pairs, [1, -1])):
    ...     print(f"{name}: {text}")
    classes: -1, 1
    features: 1
    pairs: 2
    class assignment: none, so the two classes may be swapped
    iterations: 4
    """
    try:
        check_is_fitted(model)
    except NotFittedError:
        return []
    found = [
        ("classes", _listed(map(str, model.classes_.tolist()), _CLASSES)),
        ("features", _number(getattr(model, "n_features_in_", None))),
        ("pairs", _number(getattr(model, "_n_pairs", None))),
        ("class assignment", _assignments(model)),
        ("certificate", str(getattr(model, "certificate_", None) or "")),
        ("wrong answers", _flips(getattr(model, "flip_rates_", None))),
        ("candidates", _candidates(getattr(model, "candidates_", None))),
        ("answers not followed", _dropped(getattr(model, "dropped_", None))),
        ("iterations", _number(getattr(model, "n_iter_", None))),
    ]
    return [(name, text) for name, text in found if text]


def _assignments(model: Any) -> str:
    several = getattr(model, "assignments_", None)
    if several is not None:
        return "; ".join(dict.fromkeys(_assignment(outcome) for outcome in several))
    if not hasattr(model, "assignment_"):
        return ""
    if model.assignment_ is None:
        two = len(model.classes_) == 2
        return f"none, so the {'two ' * two}classes may be swapped"
    return _assignment(model.assignment_)


def _assignment(outcome: Assignment) -> str:
    # What a file holds is put in as it is; it never says how anything is formatted.
    text = {
        "pairs": f"by {outcome.n_pairs} pairs and the majority",
        "points": f"by {outcome.n_points} labelled points",
        "exclusion": "by exclusion: each point is of one class",
        "naive": "by the naive rule, without a guarantee",
    }.get(str(outcome.method), str(outcome.method))
    p = outcome.p_value
    if p is not None:
        text += f" (p-value {f'{p:.2g}' if p >= 1e-4 else 'below 0.0001'})"
    return text


def _flips(rates: Any) -> str:
    if rates is None or tuple(rates) == (1.0, 0.0):
        return ""
    return (
        f"of pairs that are the same {1 - rates[0]:.1%}, of pairs that are different "
        f"{rates[1]:.1%}"
    )


def _candidates(table: Any) -> str:
    if not table:
        return ""
    best = [
        f"{row.kernel}{f' on {row.columns} columns' * bool(row.columns)} "
        f"{row.weight:.0%}"
        for row in table
        if row.weight >= 0.005
    ]
    return f"{_listed(best, _CANDIDATES)}, of {len(table)} tried"


def _dropped(rows: Any) -> str:
    return "" if rows is None or not len(rows) else f"{len(rows):,}"


def _count(n: int, thing: str) -> str:
    return f"{n:,} {thing}{'s' * (n != 1)}"


def _number(value: Any) -> str:
    return "" if value is None else f"{value:,}"


def _listed(texts: Iterable[str], most: int) -> str:
    texts = list(texts)
    return ", ".join(texts[:most]) + ", …" * (len(texts) > most)


def _kind(X: Any) -> str:
    """Return in words what holds the points."""
    if is_tensor(X):
        return f"torch tensor of {str(X.dtype).removeprefix('torch.')} on {X.device}"
    if isinstance(X, np.ndarray):
        return f"NumPy array of {X.dtype}"
    if sparse.issparse(X):
        share = X.nnz / max(1, X.shape[0] * X.shape[1])
        return f"sparse {X.format}, {share:.1%} filled"
    return f"{type(X).__module__.partition('.')[0]} {type(X).__name__}"


def _values(X: Any, rows: Any, n_features: int) -> list[list[Any]]:
    """Return the first features of some points."""
    table = on_host(take_rows(X, rows))
    if sparse.issparse(table):
        table = table.tocsr()[:, :n_features].toarray()
    elif hasattr(table, "columns"):
        # Column by column: a table of numbers and text has no type in common.
        columns = [table[name] for name in list(table.columns)[:n_features]]
        return [list(row) for row in zip(*columns, strict=True)]
    return [list(row) for row in np.asarray(table)[:, :n_features]]


def _cells(values: Iterable[Any], letters: int = _LETTERS) -> list[str]:
    return [f'<td style="{_CELL}">{_short(value, letters)}</td>' for value in values]


def _short(value: Any, letters: int = _LETTERS) -> str:
    if isinstance(value, float | np.floating):
        return f"{value:.4g}"
    text = str(value)
    return escape(text if len(text) <= letters else f"{text[: letters - 1]}…")


def _table(caption: str, rows: list[list[str]], head: list[str]) -> str:
    names = "".join(f'<th style="{_CELL}">{name}</th>' for name in head)
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    return (
        '<table class="pairlearn" style="margin-top:0.6em">'
        '<caption style="text-align:left;font-weight:bold">'
        f"{escape(caption)}</caption>"
        + (f"<thead><tr>{names}</tr></thead>" if head else "")
        + f"<tbody>{body}</tbody></table>"
    )
