"""The demo: breast cancer tissue, told apart by pairs alone."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state

from pairlearn import CIPSClassifier, Pairs, certify, make_pair_pipeline
from pairlearn.plot import plot_scores
from pairlearn.system.writing import replacing

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from pairlearn.data.types import Floats
    from pairlearn.trust.certificate import Certificate

__all__ = ["FORMATS", "DemoResult", "draw", "run", "show"]

FORMATS = (".png", ".svg", ".pdf")

N_TRAIN_POINTS = 300
N_TRAIN_PAIRS = 400
CLASSES = ("malignant", "benign")


@dataclass(frozen=True)
class DemoResult:
    """What the demo found."""

    n_train_pairs: int
    seconds: float
    assignment_p_value: float
    certificates: list[Certificate]  # from ever more pairs; the last is the result
    true_error: float
    classifier: Any
    X: Floats  # unseen points, and their classes
    y: NDArray[Any]


def run(seed: int = 0) -> DemoResult:
    """Train on random pairs of some points, and certify on pairs of the others."""
    data = load_breast_cancer()
    X, y = data.data, data.target_names[data.target]
    order = check_random_state(seed).permutation(len(y))
    train, rest = order[:N_TRAIN_POINTS], order[N_TRAIN_POINTS:]

    asked, t = Pairs.sample(
        X[train], N_TRAIN_PAIRS, y[train], reuse=True, random_state=seed
    )
    clf = make_pair_pipeline(
        StandardScaler(),
        CIPSClassifier(
            alpha=0.01,
            majority="benign",  # all that is known of the classes
            assignment_size=0.25,
            classes=CLASSES,
            random_state=seed,
        ),
    )
    start = time.perf_counter()
    clf.fit(asked, t)
    seconds = time.perf_counter() - start

    fresh, t_fresh = Pairs.sample(X[rest], len(rest) // 2, y[rest], random_state=seed)
    steps = [*range(10, len(fresh), 4), len(fresh)]
    return DemoResult(
        n_train_pairs=len(asked),
        seconds=seconds,
        assignment_p_value=clf[-1].assignment_.p_value,
        certificates=[
            cast("Certificate", certify(clf, fresh[:m], t_fresh[:m])) for m in steps
        ],
        true_error=float(np.mean(clf.predict(X[rest]) != y[rest])),
        classifier=clf,
        X=X[rest],
        y=y[rest],
    )


def show(result: DemoResult) -> None:
    """Print the outcome as a compact table."""
    from rich.console import Console
    from rich.table import Table

    certificate = result.certificates[-1]
    low, high = certificate.clustering_interval
    settled = f"p-value {max(result.assignment_p_value, 1e-4):.1g}"
    table = Table(title="Breast cancer, learned from pairs alone", title_justify="left")
    table.add_column("training pairs", justify="right")
    table.add_column("fit seconds", justify="right")
    table.add_column("certified error", style="bold")
    table.add_column("true error")
    table.add_row(
        f"{result.n_train_pairs}",
        f"{result.seconds:.2f}",
        f"{certificate.clustering_error:.1%}, between {low:.1%} and {high:.1%}",
        f"{result.true_error:.1%}",
    )
    table.caption = (
        f"Certificate: {certificate.confidence:.0%} confidence, from "
        f"{certificate.n_pairs} fresh pairs. True error: {len(result.y)} points.\n"
        "Labels were used only to answer for the pairs, and for the true\n"
        "error. Which side is benign was decided by pairs, knowing that\n"
        f"it is the majority ({settled})."
    )
    table.caption_justify = "left"
    Console().print(table)


def draw(result: DemoResult, path: Path) -> None:
    """Write the figure: scores of the two classes, and certificate against truth."""
    # A figure of its own, without pyplot: no window and no global state.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2, gridspec_kw={"width_ratios": [1.1, 1]})
    _draw_scores(left, result)
    _draw_certificates(right, result)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    with replacing(path) as partial:
        figure.savefig(partial, dpi=160)


def _draw_scores(axes: Any, result: DemoResult) -> None:
    plot_scores(result.classifier, result.X, y=result.y, ax=axes)
    axes.legend(frameon=False, loc="upper left", title="true class of each point")
    axes.set_xlabel("score f(x) of unseen points")
    axes.set_title(
        f"The boundary, from {result.n_train_pairs} answers\n“same or different?”",
        fontsize=11,
        loc="left",
    )


def _draw_certificates(axes: Any, result: DemoResult) -> None:
    n_pairs = [c.n_pairs for c in result.certificates]
    low, high = np.array([c.clustering_interval for c in result.certificates]).T
    estimate = [c.clustering_error for c in result.certificates]
    axes.fill_between(
        n_pairs, 100 * low, 100 * high, color="#55a868", alpha=0.25, linewidth=0,
        label="certificate, 95% confidence",
    )  # fmt: skip
    axes.plot(n_pairs, 100 * np.array(estimate), color="#2f7d46", label="its estimate")
    axes.axhline(
        100 * result.true_error, color="black", linewidth=1.2, linestyle="--",
        label=f"true error, {result.true_error:.1%}",
    )  # fmt: skip
    axes.set_ylim(0, None)
    axes.set_xlim(n_pairs[0], n_pairs[-1])
    axes.set_xlabel("fresh pairs")
    axes.set_ylabel("error, %")
    axes.set_title(
        "Its error, certified by fresh pairs\nwithout a class label",
        fontsize=11,
        loc="left",
    )
    axes.legend(frameon=False, loc="upper right")
