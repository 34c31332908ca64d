"""Pictures of pairs, scores, boundaries and certificates, in matplotlib.

Each function draws into the axes `ax`, or into those of a new figure, and returns the
axes. None of them shows or saves anything. Colours differ in brightness too, and
classes in their markers as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from pairlearn.data.checks import check_answers, check_integer
from pairlearn.data.containers import check_table, on_host
from pairlearn.data.pairs import Pairs, as_pairs
from pairlearn.trust.certificate import Certificate
from pairlearn.trust.kinds_certificate import KindsCertificate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from pairlearn.data.types import Bools, Floats, PairsLike, PointsLike

__all__ = ["plot_certificate", "plot_decision_boundary", "plot_pairs", "plot_scores"]

AnyCertificate = Certificate | KindsCertificate

COLOURS = ("#e69f00", "#0072b2", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
MARKERS = ("s", "o", "^", "D", "v", "P")
SAME, DIFFERENT = "#2b7a5f", "#b3366b"
_GREY = "#8a8a8a"
# Points of the grid on which a boundary is looked for, each way.
_GRID = 120
# Names of classes and columns may come from a file. They are words, not formulas
# between dollar signs, nor a program for TeX; and long ones are cut.
_PLAIN: dict[str, Any] = {"parse_math": False, "usetex": False}
_LONGEST = 60


def plot_decision_boundary(
    clf: Any,
    X: PointsLike,
    *,
    pairs: PairsLike | None = None,
    t: ArrayLike | None = None,
    y: ArrayLike | None = None,
    ax: Any = None,
) -> Any:
    """Draw where a classifier's classes lie in the plane, and the line between them.

    Parameters
    ----------
    clf : object
        Fitted, with `decision_function` or `predict` for points of two features.
    X : array-like or data frame of shape (n_points, 2)
        Points to draw; they set what is in sight.
    pairs : Pairs or array-like of shape (n_pairs, 2, 2), optional
        Pairs to draw as segments, together with `t`.
    t : array-like of shape (n_pairs,), optional
        Their answers: same is a solid line, different a dashed one.
    y : array-like of shape (n_points,), optional
        Classes of the points. None: the predicted ones.
    ax : matplotlib axes, optional
        Where to draw.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import numpy as np
    >>> from pairlearn import CIPSClassifier, Pairs
    >>> from pairlearn.plot import plot_decision_boundary
    >>> X = np.random.default_rng(0).normal(size=(80, 2))
    >>> pairs, t = Pairs.sample(X, 40, X[:, 0] > 0, random_state=0)
    >>> clf = CIPSClassifier().fit(pairs, t)
    >>> ax = plot_decision_boundary(clf, X, pairs=pairs, t=t)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('feature 0', 'feature 1')
    """
    if (pairs is None) != (t is None):
        raise ValueError("pairs and t go together: give both, or neither")
    table = check_table(on_host(X))
    if table.shape[1] != 2:
        raise ValueError(
            f"a boundary is drawn in the plane, but the points have {table.shape[1]} "
            "features; for these draw plot_scores(clf, X), or fit a classifier to two "
            "of the columns"
        )
    points = _numbers(table)
    given = None
    if pairs is not None and t is not None:
        asked = as_pairs(pairs)
        if asked.n_features != 2:
            raise ValueError(
                f"the pairs have {asked.n_features} features, the points 2"
            )
        given = (asked, check_answers(t, len(asked), asked.index))
    names, groups = _groups(clf, y if y is not None else clf.predict(X), len(points))
    ax = _axes(ax)
    known = list(getattr(clf, "classes_", names))
    turned = y is not None and _is_turned(clf, X, groups)
    _draw_regions(ax, clf, table, points, known, turned=turned)
    if given is not None:
        _draw_segments(ax, _numbers(given[0].X), *given, most=500)
    _draw_points(ax, points, names, groups, _word(y))
    _label_features(ax, table)
    _legend(ax)
    return ax


def plot_pairs(
    pairs: PairsLike,
    t: ArrayLike,
    *,
    max_pairs: int = 500,
    y: ArrayLike | None = None,
    ax: Any = None,
) -> Any:
    """Draw points and the answers about their pairs.

    Points of more than two features are drawn by their two principal components.

    Parameters
    ----------
    pairs : Pairs or array-like of shape (n_pairs, 2, n_features)
        Pairs.
    t : array-like of shape (n_pairs,)
        Answers: same is a solid line, different a dashed one; the surer, the darker.
    max_pairs : int, default=500
        The most pairs that are drawn; of more, so many at random.
    y : array-like of shape (n_points,), optional
        Classes of the points.
    ax : matplotlib axes, optional
        Where to draw.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from pairlearn import Pairs
    >>> from pairlearn.plot import plot_pairs
    >>> pairs = Pairs([[0.0, 1.0], [1.0, 1.0], [3.0, 0.0]], [[0, 1], [1, 2]])
    >>> ax = plot_pairs(pairs, [1, -1])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['same', 'different']
    """
    given = as_pairs(pairs)
    check_integer("max_pairs", max_pairs)
    if given.n_features < 2:
        raise ValueError("points need two features to be drawn in the plane; got one")
    answers = check_answers(t, len(given), given.index)
    points = _numbers(given.X)
    names, groups = _groups(None, y, len(points))
    ax = _axes(ax)
    plane, shares = _in_plane(points)
    _draw_segments(ax, plane, given, answers, most=max_pairs)
    used = np.zeros(len(points), dtype=bool)
    used[given.index] = True
    _draw_points(ax, plane, names, [group & used for group in groups], _word(y))
    if shares is None:
        _label_features(ax, given.X)
    else:
        for k, write in enumerate((ax.set_xlabel, ax.set_ylabel)):
            write(f"principal component {k + 1} ({shares[k]:.0%} of the variance)")
    _legend(ax)
    return ax


def plot_scores(
    clf: Any, X: PointsLike, *, y: ArrayLike | None = None, ax: Any = None
) -> Any:
    """Draw how the scores of points are spread on both sides of the boundary.

    The outermost 1 % of the scores are counted in the first and the last bar.

    Parameters
    ----------
    clf : object
        Fitted, with `decision_function`, for two classes.
    X : array-like, sparse or data frame of shape (n_points, n_features)
        Points.
    y : array-like of shape (n_points,), optional
        Classes of the points. None: the predicted ones.
    ax : matplotlib axes, optional
        Where to draw.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import numpy as np
    >>> from pairlearn import CIPSClassifier, Pairs
    >>> from pairlearn.plot import plot_scores
    >>> X = np.random.default_rng(0).normal(size=(80, 4))
    >>> pairs, t = Pairs.sample(X, 40, X[:, 0] > 0, random_state=0)
    >>> ax = plot_scores(CIPSClassifier().fit(pairs, t), X, y=X[:, 0] > 0)
    >>> ax.get_xlabel(), [text.get_text() for text in ax.get_legend().get_texts()]
    ('score f(x)', ['class False', 'class True',
    'boundary'])
    """
    scores = np.asarray(on_host(clf.decision_function(X)), dtype=float)
    if scores.ndim != 1:
        raise ValueError(
            f"scores of {scores.shape[-1]} classes do not lie on one line; "
            "plot_scores is for classifiers into two classes"
        )
    names, groups = _groups(clf, y if y is not None else clf.predict(X), len(scores))
    ax = _axes(ax)
    reach = max(float(np.quantile(np.abs(scores), 0.99)), 1e-12)
    n_bars = int(np.clip(2 * np.sqrt(len(scores)), 10, 60)) // 2 * 2
    # Zero lies between two bars, so that no bar is on both sides.
    edges = np.linspace(-reach, reach, n_bars + 1)
    shown = np.clip(scores, -reach, reach)
    for k, (name, group) in enumerate(zip(names, groups, strict=True)):
        colour = COLOURS[k % len(COLOURS)]
        ax.hist(
            shown[group], edges, histtype="stepfilled", linewidth=1.4,
            facecolor=(colour, 0.4), edgecolor=colour,
            label=f"{_word(y)} {_name(name)}",
        )  # fmt: skip
    ax.axvline(0, color="black", linewidth=1.2, linestyle="--", label="boundary")
    ax.set_xlabel("score f(x)")
    ax.set_ylabel("points")
    _legend(ax)
    return ax


def plot_certificate(
    certificates: AnyCertificate | Sequence[AnyCertificate],
    *,
    truth: float | Sequence[float] | None = None,
    labels: Sequence[str] | None = None,
    ax: Any = None,
) -> Any:
    """Draw certificates as intervals for the error.

    Parameters
    ----------
    certificates : Certificate, KindsCertificate or a sequence of them
        One, or several to compare, from top to bottom.
    truth : float or sequence of float, optional
        The true error, where it is known: one for all, or one for each.
    labels : sequence of str, optional
        What each certificate is of. None: on how many pairs it rests.
    ax : matplotlib axes, optional
        Where to draw.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from pairlearn.trust.certificate import certificate_from_counts
    >>> from pairlearn.plot import plot_certificate
    >>> found = [certificate_from_counts(n // 10, n) for n in (50, 500)]
    >>> ax = plot_certificate(found, truth=0.05)
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['50 pairs', '500 pairs']
    """
    found = _listed(certificates)
    counted = [getattr(c, "n_judged", f"{c.n_pairs} pairs") for c in found]
    names = counted if labels is None else list(labels)
    if len(names) != len(found):
        raise ValueError(f"there are {len(found)} certificates, {len(names)} labels")
    truths = None if truth is None else _truths(truth, len(found))
    ax = _axes(ax, height=1.5 + 0.45 * len(found))
    middle, low, high = 100 * np.array([_error_and_ends(c) for c in found]).T
    rows = np.arange(len(found))
    levels = {f"{100 * c.confidence:g}%" for c in found}
    ax.hlines(
        rows, low, high, color=COLOURS[1], linewidth=8, alpha=0.35,
        label=f"interval, {' or '.join(sorted(levels))} confidence",
    )  # fmt: skip
    guess = np.array([getattr(c, "cross_validated", False) for c in found])
    for part, fill, word in (
        (~guess, COLOURS[1], "estimate"),
        (guess, "white", "estimate, cross-validated"),
    ):
        if part.any():
            ax.plot(
                middle[part], rows[part], "o", color=COLOURS[1], markersize=7,
                markerfacecolor=fill, markeredgewidth=1.6, label=word,
            )  # fmt: skip
    if truths is not None:
        # A stroke across each interval: it hides neither the estimate nor an end.
        ax.vlines(
            100 * truths, rows - 0.28, rows + 0.28, color="black", linewidth=2,
            label="true error",
        )  # fmt: skip
    ax.set_yticks(rows, names)
    ax.set_ylim(len(found) - 0.5, -0.5)
    furthest = max(high.max(), 0 if truths is None else 100 * truths.max())
    two = all(isinstance(c, Certificate) for c in found)
    ax.set_xlim(0, min(max(1.12 * furthest, 5), 52 if two else 104))
    ax.set_xlabel("error up to swapping the classes, %" if two else "error, %")
    ax.grid(axis="x", color="#dddddd", linewidth=0.8)
    ax.set_axisbelow(True)
    _legend(ax, above=True)
    return ax


def _axes(ax: Any, height: float = 4.2) -> Any:
    """Return axes to draw into, of a new figure if there are none."""
    try:
        from matplotlib import pyplot as plt
    except ImportError:
        raise ModuleNotFoundError(
            "pictures need matplotlib, which is not installed: "
            "pip install 'pairlearn[cli]'",
            name="matplotlib",
        ) from None
    if ax is None:
        _, ax = plt.subplots(figsize=(6.4, height), layout="constrained")
    elif not hasattr(ax, "scatter"):
        raise TypeError(f"ax must be matplotlib axes; got {type(ax).__name__}")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _numbers(X: PointsLike) -> Floats:
    """Return points as an array of finite numbers."""
    X = on_host(X)
    try:
        points = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(
            "only points of numbers have a place in the plane; leave out the columns "
            "that hold text, or draw plot_scores(clf, X)"
        ) from None
    if not np.isfinite(points).all():
        raise ValueError("the points hold NaN or infinity; fill or drop these rows")
    return points


def _groups(
    clf: Any, labels: ArrayLike | None, n_points: int
) -> tuple[list[Any], list[Bools]]:
    """Return the classes, in the order of the classifier, and who is in each."""
    if labels is None:
        return [None], [np.ones(n_points, dtype=bool)]
    array: NDArray[Any] = np.asarray(on_host(labels))
    if array.shape != (n_points,):
        raise ValueError(
            f"there are {n_points} points, but classes of shape {array.shape}"
        )
    known = list(getattr(clf, "classes_", []))
    there = array.tolist()
    if not known or not set(there) <= set(known):
        known = sorted(set(there), key=lambda name: (str(type(name)), name))
    if len(known) > len(COLOURS):
        raise ValueError(
            f"there are {len(known)} classes in y, more than colours ({len(COLOURS)}); "
            "are these classes?"
        )
    return known, [np.array([item == name for item in there]) for name in known]


def _word(y: ArrayLike | None) -> str:
    return "predicted" if y is None else "class"


def _is_turned(clf: Any, X: Any, groups: list[Bools]) -> bool:
    """Tell whether two classes that nobody has assigned fit better when swapped.

    Without an assignment the names of the two sides are arbitrary, and their colours
    should not make a good model look wrong.
    """
    model = clf[-1] if hasattr(clf, "steps") else clf
    names: Any = getattr(model, "classes_", [])
    assigned = getattr(model, "assignment_", None) is not None
    if assigned or len(names) != 2 or len(groups) != 2:
        return False
    second = np.asarray(on_host(clf.predict(X))) == names[1]
    return bool(np.mean(second == groups[1]) < 1 / 2)


def _draw_regions(
    ax: Any, clf: Any, table: Any, points: Floats, known: list[Any], *, turned: bool
) -> None:
    low, high = points.min(axis=0), points.max(axis=0)
    margin = np.where(high > low, 0.06 * (high - low), 0.5)
    sides = [np.linspace(*ends, _GRID) for ends in zip(
        low - margin, high + margin, strict=True
    )]  # fmt: skip
    grid = np.stack([part.ravel() for part in np.meshgrid(*sides)], axis=1)
    if hasattr(table, "columns"):
        # Pipelines know the columns of a frame by their names.
        grid = type(table)({c: grid[:, k] for k, c in enumerate(table.columns)})
    margins = _margins(clf, grid, known)[:: -1 if turned else 1]
    drawn = False
    for k, margin in enumerate(margins):
        field = margin.reshape(_GRID, _GRID)
        if field.max() <= 0:
            continue
        colour = COLOURS[k % len(COLOURS)]
        ax.contourf(*sides, field, [0, field.max()], colors=[colour], alpha=0.18)
        # The last class has its lines with the others.
        if field.min() < 0 and k < len(margins) - 1:
            ax.contour(*sides, field, [0], colors="black", linewidths=1.6, zorder=3.5)
            drawn = True
    if drawn:
        ax.plot([], [], color="black", linewidth=1.6, label="boundary")


def _margins(clf: Any, grid: Any, known: list[Any]) -> Floats:
    """Return for each class by how much it is ahead of the others at each point."""
    if hasattr(clf, "decision_function"):
        scores = np.asarray(on_host(clf.decision_function(grid)), dtype=float)
        if scores.ndim == 1:
            return np.array([-scores, scores])
        others = [np.delete(scores, k, axis=1).max(axis=1) for k in range(len(known))]
        return np.asarray(scores.T - np.array(others))
    predicted = np.asarray(on_host(clf.predict(grid))).tolist()
    return np.array([[2.0 * (x == name) - 1 for x in predicted] for name in known])


def _draw_points(
    ax: Any, points: Floats, names: list[Any], groups: list[Bools], word: str
) -> None:
    size = float(np.clip(4000 / max(len(points), 1), 9, 36))
    for k, (name, group) in enumerate(zip(names, groups, strict=True)):
        ax.scatter(
            *points[group].T, s=size, zorder=3, linewidths=0.5, edgecolors="white",
            color=_GREY if name is None else COLOURS[k],
            marker="o" if name is None else MARKERS[k],
            label=None if name is None else f"{word} {_name(name)}",
        )  # fmt: skip


def _draw_segments(
    ax: Any, points: Floats, pairs: Pairs, answers: Floats, *, most: int
) -> None:
    from matplotlib.collections import LineCollection

    rows = np.arange(len(pairs))
    if len(rows) > most:
        rows = np.sort(np.random.RandomState(0).permutation(rows)[:most])
        ax.set_title(f"{most} of {len(pairs)} pairs", fontsize="medium", loc="left")
    # Many lines would hide what is under them.
    faint = float(np.clip(80 / max(len(rows), 1), 0.45, 0.9))
    for kind, colour, style, word in (
        (1, SAME, "solid", "same"),
        (-1, DIFFERENT, (0, (4, 2.5)), "different"),
    ):
        part = rows[np.sign(answers[rows]) == kind]
        if len(part):
            lines = LineCollection(
                list(points[pairs.index[part]]), colors=colour, linestyles=style,
                linewidths=1.1, alpha=faint * np.abs(answers[part]), zorder=2,
                label=word,
            )  # fmt: skip
            ax.add_collection(lines)
    ax.autoscale_view()


def _in_plane(points: Floats) -> tuple[Floats, Floats | None]:
    """Return points in the plane, and the shares of variance if they are projected."""
    if points.shape[1] == 2:
        return points, None
    centred = points - points.mean(axis=0)
    variance, axes = np.linalg.eigh(centred.T @ centred)
    leading = axes[:, ::-1][:, :2]
    # The sign of an axis is arbitrary: its largest entry is positive.
    largest = np.abs(leading).argmax(axis=0)
    leading = leading * np.where(leading[largest, [0, 1]] < 0, -1, 1)
    total = max(float(variance.sum()), 1e-300)
    return centred @ leading, variance[::-1][:2] / total


def _label_features(ax: Any, X: Any) -> None:
    names = getattr(X, "columns", ["feature 0", "feature 1"])
    ax.set_xlabel(_name(names[0]), **_PLAIN)
    ax.set_ylabel(_name(names[1]), **_PLAIN)


def _name(name: Any) -> str:
    """Return the name of a class or a column so that it can be drawn."""
    text = str(name)
    text = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def _legend(ax: Any, *, above: bool = False) -> None:
    handles, labels = ax.get_legend_handles_labels()
    if not handles:
        return
    place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
    if above:
        place = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "ncols": 2}
    legend = ax.legend(handles, labels, frameon=False, fontsize="small", **place)
    for text in legend.get_texts():
        text.set(**_PLAIN)
    for handle, label in zip(legend.legend_handles, labels, strict=True):
        # As faint as among hundreds, one line would hardly be seen.
        if label in ("same", "different"):
            handle.set_alpha(1.0)


def _error_and_ends(certificate: AnyCertificate) -> tuple[float, float, float]:
    if isinstance(certificate, KindsCertificate):
        return certificate.error, *certificate.interval
    return certificate.clustering_error, *certificate.clustering_interval


def _listed(certificates: Any) -> list[AnyCertificate]:
    if isinstance(certificates, AnyCertificate):
        return [certificates]
    found = list(certificates) if np.iterable(certificates) else [certificates]
    if not found:
        raise ValueError("there is no certificate to draw")
    for item in found:
        if not isinstance(item, AnyCertificate):
            raise TypeError(
                "plot_certificate wants what certify(clf, pairs, t) returns, one or "
                f"several; got {type(item).__name__}"
            )
    return found


def _truths(truth: Any, n_certificates: int) -> Floats:
    values = np.asarray(truth, dtype=float)
    if values.ndim and values.shape != (n_certificates,):
        raise ValueError(
            f"there are {n_certificates} certificates, but true errors of shape "
            f"{values.shape}"
        )
    if not ((values >= 0) & (values <= 1)).all():
        raise ValueError(f"a true error lies between 0 and 1; got {truth}")
    return np.asarray(np.broadcast_to(values, n_certificates))
