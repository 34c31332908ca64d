"""Where the numbers come from: settings, versions, seeds and time."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from pairlearn.reproduce.report.blocks import Bullets, Cell, Table, Text
from pairlearn.reproduce.report.paper import EXPERIMENTS, section
from pairlearn.reproduce.report.words import say

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

    from pairlearn.reproduce.report.blocks import Block, Section
    from pairlearn.reproduce.store import Key

__all__ = ["build", "choose", "duration"]

NAME = "settings"


def build(
    stored: dict[str, pd.DataFrame],
    frames: dict[str, pd.DataFrame],
    keys: Iterable[Key],
    runs: pd.DataFrame,
    failures: pd.DataFrame,
    left_out: list[str],
) -> Section:
    """Return the closing section.

    Parameters
    ----------
    stored : dict of DataFrame
        All trials of each experiment.
    frames : dict of DataFrame
        Those behind the numbers of the report.
    keys : iterable of tuple
        The keys of all trials, from which the settings are read.
    runs : DataFrame
        The runs, with their versions.
    failures : DataFrame
        The trials that failed.
    left_out : list of str
        Trials that are in the store and not in the report.

    Returns
    -------
    Section
    """
    items = _settings(sorted(keys))
    return section(
        NAME,
        Text("What was run:"),
        _experiments(stored),
        _failures(failures) if len(failures) else None,
        Bullets(say(NAME, "left_out"), left_out) if left_out else None,
        Bullets("Settings of each experiment, as they stand in the store", items),
        *(_versions(stored, frames, runs) if len(runs) else []),
        Text(say(NAME, "again")),
        title="Settings, versions, seeds and time",
    )


def _experiments(stored: dict[str, pd.DataFrame]) -> Table:
    rows = []
    for name, experiment in EXPERIMENTS.items():
        frame = stored[name]
        row = [
            f"`{name}`",
            experiment.where,
            f"{len(frame):,}",
            _ranges(frame["seed"]),
            f"{frame['method'].nunique()}",
            duration(float(frame["seconds"].sum())),
        ]
        rows.append([Cell(text) for text in row])
        if "repeats" in frame:
            note = f"{int(frame['repeats'].sum()):,} assignments"
            rows[-1][2] = Cell(row[2], note=note)
    count = sum(len(frame) for frame in stored.values())
    total = sum(float(frame["seconds"].sum()) for frame in stored.values())
    last = ["all", "", f"{count:,}", "", "", duration(total)]
    return Table(
        head=["experiment", "in the paper", "trials", "seeds", "methods", "total time"],
        words=True,
        rows=[*rows, [Cell(text) for text in last]],
        caption=say(NAME, "experiments"),
    )


def _failures(failures: pd.DataFrame) -> Bullets:
    items = []
    for key, group in failures.groupby(["experiment", "dataset", "method"]):
        experiment, dataset, method = key
        problems = group["problem"].unique()
        # A message may have any number of lines, and be no Markdown.
        problem = " ".join(str(problems[0]).replace("`", "'").split())
        more = f" and {len(problems) - 1} other messages" if len(problems) > 1 else ""
        items.append(
            f"`{experiment}`, {dataset}, {method}: {len(group):,} (m = "
            f"{_ranges(group['m'])}; seeds {_ranges(group['seed'])}): "
            f"`{problem}`{more}"
        )
    return Bullets(say(NAME, "failed", n_failed=len(failures)), items)


def duration(seconds: float) -> str:
    """Return a time span in words.

    Examples
    --------
    >>> duration(7260), duration(75), duration(0.4)
    ('2 h 1 min', '1 min 15 s', '0.4 s')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def _ranges(numbers: Iterable[int]) -> str:
    parts: list[list[int]] = []
    for number in sorted({int(value) for value in numbers}):
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    shown = [f"{a}" if a == b else f"{a} to {b}" for a, b in parts[:8]]
    more = [f"and {len(parts) - 8} more ranges"] if len(parts) > 8 else []
    return ", ".join(shown + more) or "–"


_NAMED = 20  # so many numbers are named, the others counted

# Settings that are an axis of a figure: they differ within an experiment by design.
_AXES = ("prior", "threshold", "repeats", "false_negative", "false_positive")


def _fixed(settings: str) -> dict[str, object]:
    values = json.loads(settings)
    return {name: values[name] for name in sorted(values) if name not in _AXES}


def _words(settings: dict[str, object]) -> str:
    if not settings:
        return "no further settings"
    return ", ".join(f"`{name} = {json.dumps(v)}`" for name, v in settings.items())


def _settings(keys: list[Key]) -> list[str]:
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    axes: dict[str, dict[str, set[object]]] = defaultdict(lambda: defaultdict(set))
    for experiment, _, method, settings, _, _ in keys:
        found[experiment, _words(_fixed(settings))].add(method)
        for name, value in json.loads(settings).items():
            if name in _AXES:
                axes[experiment][name].add(value)
    items = [
        f"`{experiment}`: {', '.join(sorted(methods))}: {words}"
        for (experiment, words), methods in sorted(found.items())
    ]
    for experiment, names in sorted(axes.items()):
        for name, values in sorted(names.items()):
            ordered = sorted(values, key=lambda value: (isinstance(value, str), value))
            shown = ", ".join(map(str, ordered[:8]))
            if len(ordered) > 8:
                shown += f", … ({len(ordered)} values up to {ordered[-1]})"
            items.append(f"`{experiment}`: {name} in {shown}")
    return items


def choose(
    frames: dict[str, pd.DataFrame],
) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """Keep one setting for each number, so that no mean is taken over several.

    A quick run and a full one in the same store may differ in their settings. For each
    data set, method and m the setting with most trials is kept; if several have as
    many, that of the latest run.

    Parameters
    ----------
    frames : dict of DataFrame
        The trials of each experiment.

    Returns
    -------
    frames : dict of DataFrame
        The trials that are kept.
    left_out : list of str
        The others, in words.
    """
    kept, left_out = dict(frames), []
    for experiment, frame in sorted(frames.items()):
        if not len(frame):
            continue
        words = {text: json.dumps(_fixed(text)) for text in frame["settings"].unique()}
        fixed = frame["settings"].map(words)
        cells = ["dataset", "method", "m"]
        n_settings = fixed.groupby([frame[name] for name in cells]).transform("nunique")
        for key, group in frame[n_settings > 1].groupby(cells):
            runs = group.groupby(fixed[group.index])["run"].agg(["size", "max"])
            best, *others = sorted(
                runs.itertuples(), key=lambda row: (-row.size, -row.max, row.Index)
            )
            for other in others:
                rows = group.index[fixed[group.index] == other.Index]
                kept[experiment] = kept[experiment].drop(rows)
                shown, hidden = (_words(json.loads(r.Index)) for r in (best, other))
                left_out.append(
                    f"`{experiment}`, {key[0]}, {key[1]}, m = {key[2]}: {other.size} "
                    f"trials with {hidden}; shown: {best.size} with {shown}, "
                    f"{_why(best, other)}"
                )
    return kept, left_out


def _why(best: Any, other: Any) -> str:
    """Return why the trials of one setting are shown, and not those of another."""
    if other.size < best.size:
        return "which are more"
    if other.max < best.max:
        return f"which are as many, from a later run ({best.max}, not {other.max})"
    return "which are as many, of the same run, and come first by name"


def _versions(
    stored: dict[str, pd.DataFrame], frames: dict[str, pd.DataFrame], runs: pd.DataFrame
) -> list[Block]:
    names = [name for name in runs.columns if name not in ("run", "started", "command")]
    table = runs.fillna("–").astype(dict.fromkeys(names, str))
    version = {
        int(row["run"]): tuple(row[name] for name in names)
        for row in table.to_dict("records")
    }
    counts = Counter(int(run) for frame in stored.values() for run in frame["run"])
    rows = []
    for values in dict.fromkeys(version.values()):
        used = [run for run in version if version[run] == values]
        started = table[table["run"].isin(used)]["started"]
        span = f"{min(started)} to {max(started)}" if len(used) > 1 else min(started)
        n_trials = sum(counts[run] for run in used)
        row = [_ranges(used), *values, span, f"{n_trials:,}"]
        rows.append([Cell(text) for text in row])
    explained = [say(NAME, name) for name in ("source", "commit") if name in names]
    head = f" In the head, {'; '.join(explained)}." if explained else ""
    commands = list(dict.fromkeys(f"`{command}`" for command in table["command"]))
    blocks: list[Block] = [
        Table(
            head=["runs", *names, "started", "trials"],
            words=True,
            rows=rows,
            caption="Runs with the same versions in one row." + head,
        ),
        Bullets("Commands of these runs", commands),
    ]
    several = _several(frames, version, names)
    if several:
        blocks.append(Bullets(say(NAME, "several"), several))
    elif len(rows) > 1:
        blocks.append(Text("Each number comes from one version alone."))
    return blocks


def _several(
    frames: dict[str, pd.DataFrame],
    version: dict[int, tuple[str, ...]],
    names: list[str],
) -> list[str]:
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for experiment, frame in frames.items():
        if not len(frame):
            continue
        by = ["dataset", "m", "method"]
        by += [name for name in ("prior", "threshold") if name in frame]
        for key, group in frame.groupby(by, dropna=False):
            used = sorted({version[int(run)] for run in group["run"]})
            differ = [
                f"{name} " + " and ".join(dict.fromkeys(values[i] for values in used))
                for i, name in enumerate(names)
                if len({values[i] for values in used}) > 1
            ]
            if differ:
                # nan, which differs from itself: not a setting of this method.
                where = " ".join(f"{value}" for value in key if value == value)
                found[experiment, "; ".join(differ)].append(where)
    return [
        f"`{experiment}`: {differ}: {len(where)} numbers ({', '.join(where[:_NAMED])}"
        + (", …)" if len(where) > _NAMED else ")")
        for (experiment, differ), where in found.items()
    ]
