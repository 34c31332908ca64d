"""Where the numbers come from: settings, versions, seeds and time."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

import numpy as np

from pairlearn.reproduce.report.blocks import (
    Block,
    Bullets,
    Cell,
    Section,
    Table,
    Text,
)
from pairlearn.reproduce.report.paper import EXPERIMENTS

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

    from pairlearn.reproduce.store import Key

__all__ = ["build", "choose", "duration"]


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
    keys = sorted(keys)
    blocks: list[Block] = [
        Text("What was run:"),
        _experiments(stored),
        *_failures(failures),
        *_attention(left_out),
        Bullets(
            "Settings of each experiment, as they stand in the store", _settings(keys)
        ),
        *_versions(stored, frames, runs),
        Text(
            "To make this report again: the commands above, in their order and each "
            "with `--out DIR`, then `pairlearn report DIR`. For the full one: "
            "`pairlearn reproduce all --out DIR`. A run that is stopped goes on where "
            "it was; the same store gives the same report, byte for byte."
        ),
    ]
    return Section("settings", "Settings, versions, seeds and time", blocks)


def _experiments(stored: dict[str, pd.DataFrame]) -> Table:
    rows = []
    total = 0.0
    for name, experiment in EXPERIMENTS.items():
        frame = stored[name]
        seconds = float(frame["seconds"].sum())
        total += seconds
        rows.append(
            [
                Cell(f"`{name}`"),
                Cell(experiment.where),
                Cell(f"{len(frame):,}", note=_repeats(frame)),
                Cell(_ranges(frame["seed"])),
                Cell(f"{frame['method'].nunique()}"),
                Cell(duration(seconds)),
            ]
        )
    count = sum(len(frame) for frame in stored.values())
    blank = Cell("")
    last = [Cell("all"), blank, Cell(f"{count:,}"), blank, blank, Cell(duration(total))]
    return Table(
        head=["experiment", "in the paper", "trials", "seeds", "methods", "total time"],
        words=True,
        rows=[*rows, last],
        caption="Trials in the store, those that the report leaves out included; one "
        "of `fig-assignment` stands for many assignments. Total time: the sum over "
        "the trials, of one core each; runs in parallel take less.",
    )


def _repeats(frame: pd.DataFrame) -> str:
    if "repeats" not in frame:
        return ""
    return f"{int(frame['repeats'].sum()):,} assignments"


def _failures(failures: pd.DataFrame) -> list[Block]:
    if not len(failures):
        return []
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
    title = (
        f"**Failed:** {len(failures):,} trials, which are in no number; the next run "
        "tries them again"
    )
    return [Bullets(title, items)]


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
    frames: dict[str, pd.DataFrame], keys: Iterable[Key]
) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """Keep one setting for each number, so that no mean is taken over several.

    A quick run and a full one in the same store may differ in their settings. For each
    data set, method and m the setting with most trials is kept; if several have as
    many, that of the latest run.

    Parameters
    ----------
    frames : dict of DataFrame
        The trials of each experiment.
    keys : iterable of tuple
        The keys of all trials.

    Returns
    -------
    frames : dict of DataFrame
        The trials that are kept.
    left_out : list of str
        The others, in words.
    """
    counts: dict[tuple[str, str, str, int], Counter[str]] = defaultdict(Counter)
    names: dict[str, set[str]] = defaultdict(set)
    for experiment, dataset, method, settings, m, _ in keys:
        fixed = _fixed(settings)
        counts[experiment, dataset, method, m][json.dumps(fixed)] += 1
        names[experiment] |= set(fixed)
    frames, left_out = dict(frames), []
    for (experiment, dataset, method, m), found in sorted(counts.items()):
        if len(found) < 2 or experiment not in frames:
            continue
        frame = frames[experiment]
        here = (frame["dataset"] == dataset) & (frame["method"] == method)
        here &= frame["m"] == m
        rows = {
            text: here & _with(frame, json.loads(text), names[experiment])
            for text in found
        }
        latest = {text: int(frame[rows[text]]["run"].max()) for text in found}
        best, *others = sorted(
            found, key=lambda text: (-found[text], -latest[text], text)
        )
        frames[experiment] = frame[~here | rows[best]]
        for text in others:
            why = (
                "which are more"
                if found[text] < found[best]
                else f"which are as many, from a later run ({latest[best]}, not "
                f"{latest[text]})"
                if latest[text] < latest[best]
                else "which are as many, of the same run, and come first by name"
            )
            left_out.append(
                f"`{experiment}`, {dataset}, {method}, m = {m}: {found[text]} trials "
                f"with {_words(json.loads(text))}; shown: {found[best]} with "
                f"{_words(json.loads(best))}, {why}"
            )
    return frames, left_out


def _with(
    frame: pd.DataFrame, settings: dict[str, object], names: Iterable[str]
) -> pd.Series[bool]:
    """Return which trials have exactly these settings."""
    same = frame["run"].notna()
    for name in names:
        wanted = settings.get(name)
        if wanted is None:
            same &= frame[name].isna()
        else:
            # One by one: a setting may be a list, which pandas would spread out.
            same &= np.array([value == wanted for value in frame[name]], dtype=bool)
    return same


def _attention(left_out: list[str]) -> list[Block]:
    if not left_out:
        return []
    title = "**Left out,** so that no mean is taken over several settings"
    return [Bullets(title, left_out)]


def _versions(
    stored: dict[str, pd.DataFrame],
    frames: dict[str, pd.DataFrame],
    runs: pd.DataFrame,
) -> list[Block]:
    if not len(runs):
        return []
    names = [name for name in runs.columns if name not in ("run", "started", "command")]
    table = runs.fillna("–").astype(dict.fromkeys(names, str))
    version = {
        int(row["run"]): tuple(row[name] for name in names)
        for row in table.to_dict("records")
    }
    counts: dict[int, int] = defaultdict(int)
    for frame in stored.values():
        for run, count in frame["run"].value_counts().items():
            counts[int(run)] += int(count)
    rows = []
    for values in dict.fromkeys(version.values()):
        used = [run for run in version if version[run] == values]
        started = table[table["run"].isin(used)]["started"]
        span = f"{min(started)} to {max(started)}" if len(used) > 1 else min(started)
        n_trials = sum(counts[run] for run in used)
        rows.append(
            [
                Cell(_ranges(used)),
                *(Cell(value) for value in values),
                Cell(span),
                Cell(f"{n_trials:,}"),
            ]
        )
    commands = list(dict.fromkeys(f"`{command}`" for command in table["command"]))
    blocks: list[Block] = [
        Table(
            head=["runs", *names, "started", "trials"],
            words=True,
            rows=rows,
            caption="Runs with the same versions in one row." + _explained(names),
        ),
        Bullets("Commands of these runs", commands),
    ]
    several = _several(frames, version, names)
    if several:
        title = "Numbers that come from more than one version"
        blocks.append(Bullets(f"**{title}**", several))
    elif len(rows) > 1:
        blocks.append(Text("Each number comes from one version alone."))
    return blocks


def _explained(names: list[str]) -> str:
    meanings = {
        "source": "a digest of the code that the results come from, which changes "
        "whenever that code does",
        "commit": "that of the checkout it was run from, with “-dirty” if there were "
        "changes on top of it",
    }
    here = [f"“{name}” is {text}" for name, text in meanings.items() if name in names]
    return f" In the head, {'; '.join(here)}." if here else ""


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
