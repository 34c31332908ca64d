"""What the groups of a model are called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.cli.judging import warnings_as_notes
from pairlearn.trust.assignment import match_classes

if TYPE_CHECKING:
    from pathlib import Path

    from pairlearn.data.types import Ints
    from pairlearn.files.tables.points import Points

__all__ = ["letters", "listed", "name_by_labels", "name_groups", "names_as_before"]
__all__ += ["name_by_points", "rename"]

# Points by which two models are compared.
_SOME = 2000


def letters(n_groups: int) -> tuple[str, ...]:
    """Return names for groups that nobody has named.

    Examples
    --------
    >>> letters(3)
    ('A', 'B', 'C')
    >>> letters(28)[-2:]
    ('A2', 'B2')
    """
    return tuple(
        chr(ord("A") + k % 26) + (str(k // 26 + 1) if k >= 26 else "")
        for k in range(n_groups)
    )


def listed(names: tuple[str, ...]) -> str:
    """Return names as one phrase.

    Examples
    --------
    >>> listed(("A", "B", "C"))
    'A, B and C'
    """
    return ", ".join(names[:-1]) + f" and {names[-1]}"


def name_groups(
    groups: Ints, known: list[str], unnamed: tuple[str, ...]
) -> tuple[tuple[str, ...], list[str]]:
    """Return the names of groups, from some points whose class is known.

    Groups and classes are matched one to one, so that the fewest points disagree.

    Parameters
    ----------
    groups : ndarray of shape (n_known,)
        The group of each point, as a number.
    known : list of str
        Its class.
    unnamed : tuple of str
        What groups are called that get no class.

    Returns
    -------
    names : tuple of str
        One for each group.
    notes : list of str
        What to tell.

    Examples
    --------
    >>> name_groups(np.array([1, 1, 0]), ["x", "x", "y"], ("A", "B", "C"))[0]
    ('y', 'x', 'C')
    """
    classes = sorted(set(known))
    size = max(len(classes), len(unnamed))
    table = np.zeros((size, size))
    for name, group in zip(known, groups.tolist(), strict=True):
        table[classes.index(name), group] += 1
    matched, given, notes = match_classes(table), {}, []
    for c, name in enumerate(classes):
        if table[c, matched[c]]:
            given[int(matched[c])] = name
        else:
            notes.append(
                f"no group of the model is mostly {name!r}: its points are in groups "
                "that others name"
            )
    # A letter may be the name of a class, too.
    spare = [x if x not in classes else f"group {k + 1}" for k, x in enumerate(unnamed)]
    names = [given.get(k, spare[k]) for k in range(len(unnamed))]
    left = [names[k] for k in range(len(names)) if k not in given]
    if left:
        notes.append(f"no labelled point names {', '.join(left)}")
    right = sum(names[g] == name for g, name in zip(groups, known, strict=True))
    notes.append(
        f"{len(known)} labelled point(s) name the groups; {len(known) - right} of "
        "them are in a group of another name"
    )
    return tuple(names), notes


def _as_before(said: Any, now: Any, names: tuple[str, ...]) -> Ints:
    """Return for each name the group that a model called so before, one to one.

    `said` and `now` are what the old and the new model call the same points.
    """
    number = {name: k for k, name in enumerate(names)}
    table = np.zeros((len(names), len(names)))
    for old, new in zip(said, now, strict=True):
        table[number[old], number[new]] += 1
    # Ties are broken in favour of the names that there are.
    return match_classes(table + 1e-6 * np.eye(len(names)))


def name_by_labels(
    model: Any, labels: Path, points: Points, delimiter: str | None = None
) -> list[str]:
    """Name the groups of a model after the classes of a few points; return notes."""
    from pairlearn.files.tables.labels import read_labels

    rows, known = read_labels(labels, points, delimiter)
    return name_by_points(model, points, rows, known)


def name_by_points(
    model: Any, points: Points, rows: Ints, known: list[str]
) -> list[str]:
    """Name the groups of a model after the classes of some rows; return notes."""
    last = model[-1]
    predicted = model.predict(points.frame.iloc[rows])
    number = {name: k for k, name in enumerate(last.classes_.tolist())}
    groups = np.array([number[name] for name in predicted.tolist()])
    names, notes = name_groups(groups, known, letters(len(number)))
    rename(model, names)
    return notes


def rename(model: Any, names: tuple[str, ...]) -> None:
    """Give the classes of the last step of a model other names."""
    last = model[-1]
    last.set_params(classes=names)
    last.classes_ = np.array(names)


def names_as_before(
    model: Any, frame: Any, before: Path | None, *, may_change: bool
) -> list[str]:
    """Give groups without names those of the model that is replaced, or tell.

    Which group is called A is arbitrary, and more answers may turn it round.

    Parameters
    ----------
    model : Pipeline
        The new model.
    frame : pandas.DataFrame
        Points.
    before : Path or None
        The model that is replaced, if there is one.
    may_change : bool
        Whether nobody has asked for the names, so that they may be changed.

    Returns
    -------
    list of str
        What to tell.
    """
    if before is None or not before.is_file():
        return []
    from pairlearn import load

    some = frame.iloc[:_SOME]
    try:
        with warnings_as_notes([]):
            said = np.asarray(load(before).predict(some))
    except (ValueError, TypeError, KeyError, AttributeError, OSError):
        # Not a model, or one of other columns: there are no names to keep.
        return []
    names = tuple(model[-1].classes_.tolist())
    if not set(said.tolist()) <= set(names):
        return []
    now = model.predict(some)
    if len(names) > 2:
        if may_change:
            model[-1]._reorder(_as_before(said, now, names))
        return []
    if np.mean(said == now) >= 0.5:
        return []
    if may_change:
        # The last step settles the names, and nobody has asked for others.
        model[-1]._flip()
        return []
    note = (
        f"the names of the two groups are swapped: what {before.name}, which "
        f"this model replaces, called {names[0]} is now called "
        f"{names[1]}; check some points that you know"
    )
    return [note]
