"""What the two figures on images share: a panel and rows of a table for each set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pairlearn.reproduce.report.blocks import Cell
from pairlearn.reproduce.report.figures import PANELS, new_figure, shared_legend
from pairlearn.reproduce.report.paper import IMAGES, SOLVER
from pairlearn.reproduce.report.progress import share_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pairlearn.reproduce.report.statistics import Means

__all__ = ["draw", "methods_of", "not_run", "row", "sets_of"]


def sets_of(means: Iterable[tuple[str, object, str]]) -> dict[str, str]:
    """Return the titles of the image sets that there are means of."""
    found = {dataset for dataset, _, _ in means}
    return {name: title for name, title in IMAGES.items() if name in found}


def not_run(means: Means) -> str:
    """Return the end of a caption that names the sets without trials."""
    shown = sets_of(means.run)
    names = [title for name, title in IMAGES.items() if name not in shown]
    return f" Not run yet, and left out: {', '.join(names)}." if names else ""


def methods_of(means: Means, methods: Iterable[str]) -> list[str]:
    """Return the paper's methods, and those with our solver that have been run."""
    found = {method for _, _, method in means.run}
    with_solver = [f"{method} {SOLVER}" for method in methods]
    return [*methods, *(method for method in with_solver if method in found)]


def row(
    means: Means, dataset: str, method: str, values: Iterable[Any], n_trials: int
) -> list[Cell]:
    """Return the means of a method by the number of pairs, or by the prior."""
    found = [means[dataset, value, method] for value in values]
    return [Cell(str(value), note=share_of(value, n_trials)) for value in found]


def draw(
    means: Means,
    curves: Callable[[Any, str], None],
    label: str,
    height: float,
    *,
    sharey: bool = False,
) -> Any:
    """Return a figure with a panel for each set, its curves drawn by a function."""
    shown = sets_of(means.run)
    figure = new_figure(PANELS[len(shown)], height)
    panels = figure.subplots(1, len(shown), sharey=sharey, squeeze=False)[0]
    for axes, (dataset, title) in zip(panels, shown.items(), strict=True):
        curves(axes, dataset)
        axes.set_title(title)
        axes.set_xlabel(label)
        axes.set_ylim(0, None)
    panels[0].set_ylabel("clustering error, %")
    shared_legend(figure, panels)
    return figure
