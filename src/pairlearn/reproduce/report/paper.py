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

from pairlearn.reproduce import runner
from pairlearn.reproduce.images import PRIORS, SIZES
from pairlearn.reproduce.report.blocks import Block, Section
from pairlearn.reproduce.report.statistics import Estimate

__all__ = [
    "EXPERIMENTS",
    "IMAGES",
    "METHODS",
    "PRIORS",
    "PUBMED",
    "RATES",
    "SIZES",
    "SOLVER",
    "TABULAR_SIZES",
    "Experiment",
    "Printed",
    "Rate",
    "image_sizes",
    "section",
    "tabular",
    "tabular_settings",
]

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


def section(name: str, *blocks: Block | None) -> Section:
    """Return the section of an experiment, without blocks that are None."""
    return Section(name, EXPERIMENTS[name].title, [b for b in blocks if b is not None])


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
PUBMED_BOLD = ("CIPS", "MCL")
PUBMED_PAIRS = "about 19,000"


def image_sizes(dataset: str) -> tuple[int, ...]:
    """Return the numbers of pairs that the images at hand allow."""
    return SIZES[:3] if dataset == "kuzushiji-mnist" else SIZES


@dataclass(frozen=True)
class Printed:
    """A row of the paper's full table."""

    dataset: str
    n_features: int
    prior: float
    m: int
    method: str
    value: Estimate
    bold: bool


@cache
def tabular() -> dict[tuple[str, int, str], Printed]:
    """Return the printed cells by data set, number of pairs and method."""
    lines = (files(__package__) / "paper_tabular.csv").read_text("utf-8").splitlines()
    printed = {}
    for row in csv.DictReader(line for line in lines if not line.startswith("#")):
        mean, error = row["mean_clustering_error_pct"], row["standard_error_pct"]
        value = Estimate(float(mean), float(error), N_TRIALS)
        dataset, m, method = row["dataset"], int(row["m"]), row["method"]
        shape = CORRECTED.get(dataset, (int(row["dim"]), float(row["prior"])))
        bold = row["bold"] == "1"
        printed[dataset, m, method] = Printed(dataset, *shape, m, method, value, bold)
    return printed


def tabular_settings() -> list[tuple[str, int]]:
    """Return the data sets and numbers of pairs of that table."""
    return list(dict.fromkeys((dataset, m) for dataset, m, _ in tabular()))


@dataclass(frozen=True)
class Rate:
    """A row of the paper's Table 1.

    Attributes
    ----------
    half : bool
        Whether the method makes sense at prior 1/2.
    first, second : str
        How the error of step 1 and of step 2 falls with m.
    exponent : float or None
        That of step 1.
    comment : str
        What the second step is.
    """

    half: bool
    first: str
    second: str
    exponent: float | None
    comment: str


_UNKNOWN = "not known"
RATES = {
    "CIPS": Rate(True, "m^(-1/4)", "exp(-m)", -0.25, "step 2 is class assignment"),
    "OVPC": Rate(
        True, _UNKNOWN, "exp(-m)", None,
        "step 2 is class assignment; step 1 is consistent, at an unknown rate",
    ),
    "SLLC": Rate(
        True, "m^(-1/4)", "m^(-1/2)", -0.25,
        "step 2 trains a support vector machine on labelled points",
    ),
    "MCL": Rate(
        True, _UNKNOWN, _UNKNOWN, None,
        "step 1 fits the inner product of both points' class probabilities",
    ),
    "SD": Rate(
        False, "m^(-1/2)", "not needed", -0.5,
        "step 1 gives the classifier at once, and needs the prior",
    ),
}  # fmt: skip
