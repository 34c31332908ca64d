"""What the paper prints, and what its experiments consist of.

H. Bao, T. Shimada, L. Xu, I. Sato and M. Sugiyama, "Pairwise Supervision Can Provably
Elicit a Decision Boundary", AISTATS 2022. `paper_tabular.csv` holds the full table of
its appendix.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from pairlearn.reproduce import runner
from pairlearn.reproduce.images import PRIORS, SIZES
from pairlearn.reproduce.report.blocks import Block, Section
from pairlearn.reproduce.report.statistics import Estimate

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "EXPERIMENTS", "IMAGES", "METHODS", "PRIORS", "PUBMED", "RATES", "SIZES",
    "SOLVER", "TABULAR_SIZES", "Experiment", "Printed", "Rate", "image_sizes",
    "section", "tabular", "tabular_settings",
]  # fmt: skip

METHODS = ("CIPS", "MCL", "SD", "OVPC", "SSP", "CKM", "KM", "SV")
SOLVER = "(L-BFGS)"
TABULAR_SIZES = (100, 500, 1000)
N_TRIALS = 20
# The paper prints (44, 0.68): its two columns are swapped.
CORRECTED = {"phishing": (68, 0.44)}


@dataclass(frozen=True)
class Experiment:
    """Where the paper has an experiment, and what it shows, in a few words."""

    where: str
    title: str


EXPERIMENTS = {
    name: Experiment(where, runner.EXPERIMENTS[name].title)
    for name, where in {
        "table-tabular": "Table 2, appendix",
        "table-pubmed": "Table 3",
        "fig-sample-size": "Figure 1 left, appendix",
        "fig-prior": "Figure 1 right, appendix",
        "fig-assignment": "Figure 2, appendix",
        "fig-naive-assignment": "Appendix B",
        "table-methods": "Table 1",
    }.items()
}


def section(name: str, *blocks: Block | None, title: str = "") -> Section:
    """Return a section, by default of an experiment, without blocks that are None."""
    there = [block for block in blocks if block is not None]
    return Section(name, title or EXPERIMENTS[name].title, there)


IMAGES = {
    "mnist": "MNIST",
    "fashion-mnist": "Fashion-MNIST",
    "kuzushiji-mnist": "Kuzushiji-MNIST",
}

# Accuracies in percent, though the caption says clustering error.
PUBMED = {
    "CIPS": Estimate(86.9, 0.4, N_TRIALS),
    "MCL": Estimate(86.6, 0.4, N_TRIALS),
    "DML": Estimate(85.1, 0.2, N_TRIALS),
    "SV": Estimate(94.7, 0.1, N_TRIALS),
}


def image_sizes(dataset: str) -> tuple[int, ...]:
    """Return the numbers of pairs that the images at hand allow."""
    return SIZES[:3] if dataset == "kuzushiji-mnist" else SIZES


@dataclass(frozen=True)
class Printed:
    """A cell of the paper's full table, with the data set that it is about."""

    n_features: int
    prior: float
    value: Estimate
    bold: bool


def _rows(name: str) -> Iterator[dict[str, str]]:
    lines = (files(__package__) / name).read_text("utf-8").splitlines()
    return csv.DictReader(line for line in lines if not line.startswith("#"))


@cache
def tabular() -> dict[tuple[str, int, str], Printed]:
    """Return the printed cells by data set, number of pairs and method."""
    printed = {}
    for row in _rows("paper_tabular.csv"):
        mean, error = row["mean_clustering_error_pct"], row["standard_error_pct"]
        value = Estimate(float(mean), float(error), N_TRIALS)
        shape = (int(row["dim"]), float(row["prior"]))
        shape = CORRECTED.get(row["dataset"], shape)
        key = (row["dataset"], int(row["m"]), row["method"])
        printed[key] = Printed(*shape, value, row["bold"] == "1")
    return printed


def tabular_settings() -> list[tuple[str, int]]:
    """Return the data sets and numbers of pairs of that table."""
    return list(dict.fromkeys((dataset, m) for dataset, m, _ in tabular()))


@dataclass(frozen=True)
class Rate:
    """A row of the paper's Table 1.

    Attributes
    ----------
    at_half : str
        Whether the method makes sense at prior 1/2: yes or no.
    first, second : str
        How the error of step 1 and of step 2 falls with m.
    exponent : str
        That of step 1; empty if it is not known.
    comment : str
        What the second step is.
    """

    at_half: str
    first: str
    second: str
    exponent: str
    comment: str


RATES = {row.pop("method"): Rate(**row) for row in _rows("paper_methods.csv")}
