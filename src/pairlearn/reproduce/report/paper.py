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
from pairlearn.reproduce.report.statistics import Estimate

if TYPE_CHECKING:
    from collections.abc import Iterable

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
    "images_not_run",
    "run_images",
    "tabular",
]

METHODS = ("CIPS", "MCL", "SD", "OVPC", "SSP", "CKM", "KM", "SV")
SOLVER = "(L-BFGS)"
TABULAR_SIZES = (100, 500, 1000)
N_TRIALS = 20
# The paper prints (44, 0.68): its two columns are swapped.
CORRECTED = {"phishing": (68, 0.44)}


@dataclass(frozen=True)
class Experiment:
    """An experiment of the paper.

    Attributes
    ----------
    name, where : str
        Its id, and where the paper has it.
    """

    name: str
    where: str

    @property
    def title(self) -> str:
        """What it shows, in the words of the command line."""
        return runner.EXPERIMENTS[self.name].title


EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        Experiment("table-tabular", "Table 2, appendix"),
        Experiment("table-pubmed", "Table 3"),
        Experiment("fig-sample-size", "Figure 1 left, appendix"),
        Experiment("fig-prior", "Figure 1 right, appendix"),
        Experiment("fig-assignment", "Figure 2, appendix"),
        Experiment("fig-naive-assignment", "Appendix B"),
        Experiment("table-methods", "Table 1"),
    )
}

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


def run_images(keys: Iterable[tuple[str, object, str]]) -> dict[str, str]:
    """Return the titles of the image sets with trials, from the keys of their means."""
    found = {dataset for dataset, _, _ in keys}
    return {name: title for name, title in IMAGES.items() if name in found}


def images_not_run(shown: Iterable[str]) -> str:
    """Return the end of a caption that names the sets without trials.

    Examples
    --------
    >>> images_not_run(["mnist", "kuzushiji-mnist"])
    ' Not run yet, and left out: Fashion-MNIST.'
    """
    names = [title for name, title in IMAGES.items() if name not in set(shown)]
    return f" Not run yet, and left out: {', '.join(names)}." if names else ""


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
        value = Estimate(
            float(row["mean_clustering_error_pct"]),
            float(row["standard_error_pct"]),
            N_TRIALS,
        )
        key = (row["dataset"], int(row["m"]), row["method"])
        shape = (int(row["dim"]), float(row["prior"]))
        n_features, prior = CORRECTED.get(row["dataset"], shape)
        printed[key] = Printed(
            row["dataset"],
            n_features,
            prior,
            int(row["m"]),
            row["method"],
            value,
            row["bold"] == "1",
        )
    return printed


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
