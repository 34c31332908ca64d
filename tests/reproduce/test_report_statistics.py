"""Means, bold numbers, marks and slopes are what they are said to be."""

import numpy as np
import pandas as pd
import pytest

from pairlearn.reproduce.report import tabular
from pairlearn.reproduce.report.paper import tabular as printed
from pairlearn.reproduce.report.statistics import (
    Estimate,
    agreement,
    best_of,
    estimate,
    log_log_slope,
    paired_difference,
)


def test_estimates():
    value = estimate([1.0, 2.0, 3.0, 4.0])
    assert value.mean == 2.5
    assert value.error == pytest.approx(np.std([1, 2, 3, 4], ddof=1) / 2)
    assert str(estimate([])) == "–"
    assert str(estimate([2.0])) == "2.0 (–)"
    assert str(Estimate(-0.01, 0.1, 5)) == "0.0 (0.1)"


def test_bold_by_hand():
    best = Estimate(10.0, 0.5, 20)
    # One-sided, 38 degrees of freedom: the limit is 1.686 combined standard errors.
    limit = 1.686 * np.hypot(0.5, 0.5)
    others = {
        "near": Estimate(10 + limit - 0.01, 0.5, 20),
        "far": Estimate(10 + limit + 0.01, 0.5, 20),
    }
    assert best_of({"best": best, **others}) == {"best", "near"}
    # Without standard errors there is no test.
    assert best_of({"best": best, "one": Estimate(1.0, np.nan, 1)}) == set()
    tie = {"a": Estimate(1.0, 0.0, 20), "b": Estimate(1.0, 0.0, 20)}
    assert best_of(tie) == {"a", "b"}
    assert best_of(tie | {"c": Estimate(2.0, 0.0, 20)}) == {"a", "b"}


def test_bold_equals_scipy():
    from scipy.stats import ttest_ind

    rng = np.random.default_rng(0)
    for _ in range(50):
        one, two = rng.normal(0, 1, 20), rng.normal(0.7, 2, 15)
        if one.mean() > two.mean():
            continue
        p = ttest_ind(two, one, equal_var=False, alternative="greater").pvalue
        bold = best_of({"one": estimate(one), "two": estimate(two)})
        assert ("two" in bold) == (p > 0.05)


def test_bold_rule_gives_the_flags_of_the_paper():
    n_same, n_cells, different = tabular.paper_bold_rule()
    assert (n_same, n_cells) == (208, 210)
    # The rounding of the printed numbers explains the two others.
    assert different == [
        (("magic", 100, "MCL"), True), (("w8a", 500, "SSP"), True)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("mean", "mark"),
    [(10.0, "within"), (11.49, "within"), (11.51, "above"), (8.49, "below")],
)
def test_agreement_marks(mean, mark):
    paper = Estimate(10.0, 0.4, 20)
    assert agreement(Estimate(mean, 0.3, 20), paper) == mark
    assert agreement(Estimate(mean, np.nan, 1), paper) == ""
    assert agreement(Estimate(mean, 0.3, 20), None) == ""


def test_paired_difference_uses_common_seeds():
    one = pd.DataFrame({"seed": [0, 1, 2], "error": [3.0, 4.0, 99.0]})
    two = pd.DataFrame({"seed": [1, 0, 7], "error": [3.0, 1.0, 0.0]})
    gap = paired_difference(one, two, "error")
    assert (gap.mean, gap.n) == (1.5, 2)
    # A store has no column of results that no trial has.
    empty = pd.DataFrame(columns=["seed"])
    assert paired_difference(empty, two, "error").n == 0
    assert paired_difference(one, empty, "error").n == 0


def test_slope_and_its_error():
    m = np.array([16.0, 64.0, 256.0, 1024.0])
    noise = np.random.default_rng(0).uniform(0.7, 1.3, size=(200, 4))
    slope, error = log_log_slope(m**-0.5 * noise, m)
    assert slope == pytest.approx(-0.5, abs=4 * error)
    assert 0 < error < 0.02
    assert np.isnan(log_log_slope(m[None] ** -0.5, m)[1])


def test_phishing_is_printed_right():
    cell = printed()["phishing", 100, "SV"]
    assert (cell.n_features, cell.prior) == (68, 0.44)
