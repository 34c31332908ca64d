"""Names of groups that somebody has given before: on the page, or to an older model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.cli.judging import warnings_as_notes
from pairlearn.cli.naming import (
    letters,
    listed,
    name_by_labels,
    name_by_points,
    names_as_before,
    rename,
)
from pairlearn.files.tables.cells import shown
from pairlearn.files.tables.errors import TableError
from pairlearn.files.tables.stored import stored_names
from pairlearn.trust.assignment import match_classes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pairlearn.cli.fit import FitOptions
    from pairlearn.data.types import Ints
    from pairlearn.files.tables.points import Points

__all__ = ["Named", "name_groups_of", "names_like"]

# Points by which two models are compared.
_SOME = 2000
# If less of an old group has its name now, the name says little.
_MOSTLY = 0.6


@dataclass
class Named:
    """How the groups of a model got their names.

    Attributes
    ----------
    by_points : bool
        Whether points tell which group is which, so that the names mean something.
    notes : list of str
        What to tell.
    """

    by_points: bool = False
    notes: list[str] = field(default_factory=list)


def name_groups_of(
    model: Any,
    points: Points,
    options: FitOptions,
    files: Sequence[Path],
    reading: Mapping[str, Any],
) -> Named:
    """Name the groups of a new model by what is known of the points, or tell.

    By a table of points whose class is known (--labels); or else by an older model
    (--like); or else as people named them on the page of `pairlearn label`; or else as
    in the model that is replaced. Names that the user lists (--classes) stay, and it is
    told where an older model would have them the other way round.

    Parameters
    ----------
    model : Pipeline
        The model.
    points : Points
        The points.
    options : FitOptions
        What the user says about names.
    files : sequence of Path
        The tables of pairs.
    reading : dict
        How tables are read.

    Returns
    -------
    Named
    """
    free = options.classes is None
    named = Named()
    if options.labels is not None:
        named.by_points, free = True, False
        named.notes += name_by_labels(
            model, options.labels, points, reading.get("delimiter")
        )
    if options.like is not None:
        named.by_points = named.by_points or free
        named.notes += names_like(
            model, points.whole_frame, options.like, may_change=free
        )
        return named
    if not free:
        if options.labels is None:
            named.notes += names_as_before(
                model, points.whole_frame, options.before, may_change=False
            )
        return named
    known = stored_names(files)
    row_of = points.ids.rows_of(known)
    if row_of:
        ids = sorted(row_of, key=row_of.__getitem__)
        rows = np.array([row_of[name] for name in ids], dtype=np.intp)
        notes = name_by_points(model, points, rows, [known[name] for name in ids])
        named.by_points = True
        told = (
            "the groups have the names that were given to them on the page of "
            "pairlearn label; --classes or --labels give others"
        )
        named.notes += [told, *notes]
        return named
    named.notes += names_as_before(
        model, points.whole_frame, options.before, may_change=True
    )
    return named


def names_like(model: Any, frame: Any, like: Path, *, may_change: bool) -> list[str]:
    """Name the groups of a new model as an older one does, or tell where they differ.

    Parameters
    ----------
    model : Pipeline
        The new model.
    frame : pandas.DataFrame
        Points, with the columns of both models.
    like : Path
        The older model.
    may_change : bool
        Whether the names may be changed; else it is only told what differs.

    Returns
    -------
    list of str
        What to tell.

    Raises
    ------
    TableError
        If the older model cannot tell the groups of these points.
    """
    rows = np.linspace(0, len(frame) - 1, min(len(frame), _SOME)).astype(np.intp)
    some = frame.iloc[rows]
    old, said = _predicted_before(like, some)
    last = model[-1]
    names = [str(name) for name in last.classes_]
    now = [str(name) for name in model.predict(some)]
    table = np.zeros((max(len(old), len(names)),) * 2)
    for one, other in zip(said, now, strict=True):
        table[old.index(one), names.index(other)] += 1
    # Ties are broken in favour of the order that there is.
    matched = match_classes(table + 1e-6 * np.eye(len(table)))
    if not may_change:
        return _told_of_swaps(table, matched, old, names, like.name)
    met = [k for k in range(len(old)) if table[k, matched[k]] > 0]
    groups = [int(matched[k]) for k in met]
    rest = [g for g in range(len(names)) if g not in groups]
    order = np.array(groups + rest, dtype=np.intp)
    spare = [x for x in letters(len(names) + len(old)) if x not in old]
    if not np.array_equal(order, np.arange(len(names))):
        last._reorder(order)
    rename(model, tuple([old[k] for k in met] + spare[: len(rest)]))
    return _told_of_names(table, matched, old, spare[: len(rest)], like.name)


def _predicted_before(like: Path, some: Any) -> tuple[list[str], list[str]]:
    """Return the names of an older model's groups, and what it says of some points."""
    from pairlearn import load

    try:
        with warnings_as_notes([]):
            before = load(like)
            _check_columns(before, some)
            said = [str(name) for name in before.predict(some)]
            return [str(name) for name in before.classes_], said
    except (ValueError, TypeError, KeyError, AttributeError, OSError) as problem:
        why = str(problem).partition("\n")[0] or type(problem).__name__
        raise TableError(
            f"--like {like.name} cannot tell the groups of these points ({why}); it "
            "must be a model of pairlearn fit whose columns the points still have"
        ) from None


def _check_columns(before: Any, some: Any) -> None:
    """Refuse points without the columns of an older model."""
    wanted = getattr(before, "feature_names_in_", ())
    missing = [str(name) for name in wanted if name not in some.columns]
    if missing:
        some_names = ", ".join(map(shown, missing[:5])) + ", ..." * (len(missing) > 5)
        raise ValueError(f"they have no column {some_names}")


def _told_of_names(
    table: Any, matched: Ints, old: list[str], new: list[str], name: str
) -> list[str]:
    """Return how far the groups are those of an older model."""
    n_points = table.sum()
    kept = sum(table[k, matched[k]] for k in range(len(old)))
    told = (
        f"the groups have the names that they have in {name}; both models agree about "
        f"{kept / n_points:.1%} of the points"
    )
    notes = [told]
    for k, group in enumerate(old):
        total = table[k].sum()
        share = table[k, matched[k]] / total if total else 0.0
        if not total or share == 0:
            notes.append(f"no group is like {group!r} of {name}, so there is none")
        elif share < _MOSTLY:
            notes.append(
                f"only {share:.0%} of the points that {name} calls {group!r} are in "
                "the group of that name now: the groups have changed, and the names "
                "may mislead; check some points that you know"
            )
    if new:
        notes.append(
            f"{listed(tuple(new)) if len(new) > 1 else new[0]} is new: {name} has no "
            "group like it"
        )
    return notes


def _told_of_swaps(
    table: Any, matched: Ints, old: list[str], names: list[str], name: str
) -> list[str]:
    """Return which names an older model has for other groups."""
    notes = []
    for k, group in enumerate(old):
        g = int(matched[k])
        if g < len(names) and table[k, g] > 0 and names[g] != group and group in names:
            notes.append(
                f"the names are swapped: most of what {name} calls {group!r} is called "
                f"{names[g]!r} now. Leave out --classes, --majority and --labels to "
                "keep the names, or check some points that you know"
            )
    return notes
