"""Made-up trials of every experiment, and what a report says of them."""

from fractions import Fraction

import numpy as np
import pandas as pd

from pairlearn.reproduce.report import (
    TITLE,
    build,
    class_assignment,
    markdown,
    pubmed,
    sample_size,
)
from pairlearn.reproduce.report.paper import (
    IMAGES,
    PRIORS,
    PUBMED,
    RATES,
    SIZES,
    image_sizes,
)
from pairlearn.reproduce.report.paper import tabular as printed
from pairlearn.reproduce.store import Store, Trial
from pairlearn.trust.theory import naive_assignment_is_right


def spread_out(mean, error, n):
    """Return n values with exactly this mean and standard error."""
    values = np.linspace(-1, 1, n)
    return mean + error * np.sqrt(n) * values / values.std(ddof=1)


def tabular_rows(change=lambda _dataset, _m, _method, mean: mean, n=20):
    for (dataset, m, method), cell in printed().items():
        mean = change(dataset, m, method, cell.value.mean)
        for seed, error in enumerate(spread_out(mean, cell.value.error, n)):
            yield (
                Trial("table-tabular", dataset, method, m, seed),
                {"error": error / 100},
            )


def pubmed_rows(model="", **accuracies):
    for method, cell in PUBMED.items():
        mean = accuracies.get(method, cell.mean)
        for seed, value in enumerate(spread_out(mean, cell.error, 20)):
            yield (
                Trial("table-pubmed", "pubmed", method + model, 0, seed),
                {
                    "error": 1 - value / 100,
                    "n_pairs": 19000,
                },
            )


def noise_aware_rows(mean=91.0, n=20):
    """Return trials of our own row of PubMed."""
    for seed, value in enumerate(spread_out(mean, 0.3, n)):
        trial = Trial("table-pubmed", "pubmed", pubmed.OURS, 0, seed)
        yield trial, {"error": 1 - value / 100, "n_pairs": 19000}


def size_rows(rise=0.0):
    for dataset in IMAGES:
        for m in image_sizes(dataset):
            mean = 10 + 300 / np.sqrt(m) + rise * (m == 4000)
            for method in ("CIPS", "SV", "CIPS (L-BFGS)", "SV (L-BFGS)"):
                for seed, error in enumerate(spread_out(mean, 0.2, 20)):
                    yield (
                        Trial("fig-sample-size", dataset, method, m, seed),
                        {"error": error / 100},
                    )


def pair_net_rows(last=1.5, n=20):
    """Return trials of our network on MNIST, the last of them with this mean."""
    for m in SIZES:
        for seed, error in enumerate(spread_out(last * np.sqrt(SIZES[-1] / m), 0.1, n)):
            yield (
                Trial("fig-sample-size", "mnist", sample_size.OURS, m, seed),
                {"error": error / 100},
            )


def prior_rows(sd=40.0, cips=0.0):
    slope = {"SD": sd, "CIPS": cips, "SV": 0.0}
    rng = np.random.default_rng(0)
    for dataset in IMAGES:
        for p in PRIORS:
            middle = 0.5 - abs(float(Fraction(p)) - 0.5)
            for method, steep in slope.items():
                for extra in ("", " (L-BFGS)"):
                    for seed in range(10):
                        error = 10 + steep * middle + rng.normal(0, 0.1)
                        yield Trial(
                            "fig-prior", dataset, method + extra, 10000, seed,
                            {"prior": p},
                        ), {"error": error / 100}  # fmt: skip


def assignment_rows(rate=class_assignment.exact_failure):
    for p in class_assignment.PRIORS:
        for threshold in class_assignment.THRESHOLDS:
            for m in class_assignment.SIZES:
                settings = {"prior": p, "threshold": threshold, "repeats": 5000}
                wrong = round(5000 * rate(p, threshold, m))
                for seed in range(2):
                    yield (
                        Trial(
                            "fig-assignment", "gaussians", "pairs", m, seed, settings
                        ),
                        {"wrong": wrong},
                    )


def naive_rows(turned=0):
    for p in (0.7, 0.3):
        for plus in np.linspace(0.02, 0.98, 12) * p:
            for minus in np.linspace(0.02, 0.98, 12) * (1 - p):
                right = bool(naive_assignment_is_right(p, plus, minus))
                at_border = min(
                    abs(-2 * plus + 2 * minus + 2 * p - 1),
                    abs(1 - 2 * plus - 2 * minus),
                )
                if turned and at_border > 0.1:
                    right, turned = not right, turned - 1
                settings = {
                    "prior": p, "false_negative": plus, "false_positive": minus
                }  # fmt: skip
                yield (
                    Trial("fig-naive-assignment", "grid", "naive", 0, 0, settings),
                    {"right": right},
                )


def method_rows(**exponents):
    rng = np.random.default_rng(1)
    for method in RATES:
        for m in (32, 128, 512):
            for seed in range(8):
                mean = m ** exponents.get(method, -0.6)
                yield (
                    Trial("table-methods", "gaussians", method, m, seed),
                    {"excess": mean * rng.uniform(0.8, 1.2)},
                )


def as_frame(rows):
    return pd.DataFrame(
        [
            {"dataset": t.dataset, "method": t.method, "m": t.m, "seed": t.seed}
            | dict(t.settings)
            | results
            for t, results in rows
        ]
    )


def fill(folder, rows, versions=None, command="pairlearn reproduce all", failures=()):
    with Store.create(folder) as store:
        # A test's store need not survive a crash.
        store._connection.execute("PRAGMA synchronous = OFF")
        run = store.begin(command, versions or {"pairlearn": "1.0", "commit": "abc"})
        for trial, results in rows:
            store.add(trial, results, seconds=0.5, run=run)
        for trial, problem in failures:
            store.add_failure(trial, problem, run=run)


def every_row():
    yield from tabular_rows(n=3)
    yield from pubmed_rows()
    yield from (row for row in pubmed_rows(" (linear)") if row[0].method[:3] != "DML")
    yield from noise_aware_rows()
    yield from size_rows()
    yield from pair_net_rows()
    yield from prior_rows()
    yield from assignment_rows()
    yield from naive_rows()
    yield from method_rows()


def markdown_of(folder):
    """Return the report as Markdown, as it is written, without drawing any figure."""
    return markdown.render(TITLE, build(folder))


def check_of(section, claim):
    (found,) = [check for check in section.checks if check.claim.startswith(claim)]
    return found


def verdict(section, claim):
    return check_of(section, claim).verdict
