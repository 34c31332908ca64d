"""The sections on class assignment, the naive rule and the rates."""

import numpy as np
import pytest

from pairlearn.reproduce.report import class_assignment, methods, naive
from tests.support.report_rows import (
    as_frame,
    assignment_rows,
    check_of,
    method_rows,
    naive_rows,
    verdict,
)


def test_assignment_verdicts_flip():
    def section(rate=class_assignment.exact_failure):
        return class_assignment.build(as_frame(assignment_rows(rate)))

    below, exact = "No simulated error", "The simulated error agrees"
    good = section()
    assert verdict(good, below) == "holds"
    assert verdict(good, exact) == "holds"
    bad = section(lambda *_: 0.5)
    assert verdict(bad, below) == "does not hold"
    assert verdict(bad, exact) == "does not hold"

    def one_off(p, threshold, m):
        off = 0.05 * ((p, threshold, m) == (0.4, 0, 8))
        return class_assignment.exact_failure(p, threshold, m) + off

    assert verdict(section(one_off), below) == "holds"
    assert verdict(section(one_off), exact) == "does not hold"

    # 3.5 standard errors: too far for three, not for one cell of 105.
    def slightly_off(p, threshold, m):
        rate = class_assignment.exact_failure(p, threshold, m)
        error = np.sqrt(rate * (1 - rate) / 10_000)
        return rate + 3.5 * error * ((p, threshold, m) == (0.4, 0, 8))

    check = check_of(section(slightly_off), exact)
    assert check.verdict == "holds with exceptions"
    assert check.number.startswith("104 of 105 cells agree; ")
    assert check.number.endswith("refutes 0 of the 1 others")
    assert check.exceptions[0].startswith("prior 0.4, threshold 0, m = 8: ")


def test_bound_is_tested_at_the_bound():
    # Wald's standard error of a rate of 0 or 1 is zero, and tests nothing.
    point = class_assignment.Point(0.4, 0, 8, wrong=4, n=4)
    assert point.bound**4 == pytest.approx(point.chance_above_bound)
    frame = as_frame(assignment_rows())
    frame = frame[frame["seed"] == 0].assign(repeats=10_000)
    cell = (frame["prior"] == 0.4) & (frame["threshold"] == 0) & (frame["m"] == 8)
    limit = point.bound
    for n_errors, expected in ((2.5, "holds"), (3.5, "does not hold")):
        wrong = 10_000 * limit + n_errors * np.sqrt(10_000 * limit * (1 - limit))
        frame.loc[cell, "wrong"] = round(wrong)
        check = check_of(class_assignment.build(frame), "No simulated")
        assert check.verdict == expected
        assert len(check.exceptions) == (expected != "holds")


def test_naive_verdict_flips():
    def section(turned):
        return naive.build(as_frame(naive_rows(turned)))

    claim = "The naive rule fails"
    assert verdict(section(0), claim) == "holds"
    assert verdict(section(1), claim) == "holds with exceptions"
    assert verdict(section(30), claim) == "does not hold"


def test_methods_verdict_flips():
    def section(**exponents):
        return methods.build(as_frame(method_rows(**exponents)))

    claim = "The excess error"
    assert verdict(section(), claim) == "holds"
    assert verdict(section(SD=-0.3), claim) == "holds with exceptions"
    assert verdict(section(SD=-0.3, CIPS=-0.1), claim) == "does not hold"
    (table,) = [block for block in section().blocks if hasattr(block, "rows")]
    assert table.rows[0][4].text.startswith("-0.6")
