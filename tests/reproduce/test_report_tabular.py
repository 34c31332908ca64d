"""The checks of the full table: agreement and order."""

from pairlearn.reproduce.report import tabular
from pairlearn.reproduce.report.paper import tabular as printed
from tests.support.report_rows import as_frame, check_of, tabular_rows, verdict


def test_agreement_verdict_flips():
    claim = "CIPS, MCL and SV reach"

    def worse(*datasets):
        def change(dataset, _m, method, mean):
            return mean + 20 * (dataset in datasets and method == "CIPS")

        return tabular.build(as_frame(tabular_rows(change)))

    assert verdict(worse(), claim) == "holds"
    section = worse("adult", "w8a")
    assert verdict(section, claim) == "holds with exceptions"
    check = section.checks[0]
    assert check.number.startswith(
        "84 of 90 cells (93 %), so the floor of 80 % is met; "
    )
    assert len(check.exceptions) == 6
    assert check.exceptions[0].startswith(
        "adult, m = 100, CIPS: 59.8 (1.6) against 39.8 (1.6), z = +8.8"
    )
    assert verdict(section, "The other methods") == "holds"
    everywhere = {dataset for dataset, _, _ in printed()}
    bad = check_of(worse(*everywhere), claim)
    assert bad.verdict == "does not hold"
    assert "the floor of 80 % is not met" in bad.number
    other = tabular.build(
        as_frame(tabular_rows(lambda _d, _m, name, x: x + 20 * (name == "KM")))
    )
    assert verdict(other, claim) == "holds"
    assert verdict(other, "The other methods") == "holds with exceptions"


ORDERED = {"SV": 1, "CIPS": 2, "MCL": 3, "SD": 30}


def test_order_verdicts_flip():
    def section(**means):
        levels = ORDERED | means
        return tabular.build(
            as_frame(tabular_rows(lambda _d, _m, name, _x: levels.get(name, 35.0)))
        )

    good = section()
    assert verdict(good, "SV is best") == "holds"
    assert verdict(good, "CIPS and MCL come next") == "holds"
    assert verdict(good, "SD is behind") == "holds"
    assert verdict(section(SV=33.0), "SV is best") == "holds with exceptions"
    assert verdict(section(SV=60.0), "SV is best") == "does not hold"
    assert verdict(section(MCL=60.0), "CIPS and MCL") == "does not hold"
    assert verdict(section(SD=0.5), "SD is behind") == "does not hold"
    # SD may well be ahead where the prior is far from 1/2.
    far = tabular_rows(
        lambda d, _m, name, _x: (
            0.5 if (d, name) == ("adult", "SD") else ORDERED.get(name, 35.0)
        )
    )
    assert verdict(tabular.build(as_frame(far)), "SD is behind") == "holds"


def test_exceptions_within_noise_are_named():
    def change(dataset, m, name, _mean):
        return 1.001 if (dataset, m, name) == ("adult", 100, "SV") else (
            1.0 if name == "CIPS" else ORDERED.get(name, 35.0) - (name == "SV") * 0.5
        )  # fmt: skip

    frame = as_frame(tabular_rows(change))
    # Seeds in another order, so that the paired difference is noisy.
    turned = (frame["method"] == "SV") & (frame["dataset"] == "adult")
    frame.loc[turned, "seed"] = 19 - frame.loc[turned, "seed"]
    check = check_of(tabular.build(frame), "SV is best")
    assert check.verdict == "holds with exceptions"
    assert len(check.exceptions) == 1
    assert check.exceptions[0].endswith("(not so in the paper): within noise")


def test_order_needs_common_trials():
    def ordered(n):
        rows = tabular_rows(lambda _d, _m, name, _x: ORDERED.get(name, 35.0), n)
        return as_frame(rows)

    frame = ordered(2)
    frame = frame[frame["seed"] == 0]
    alone = check_of(tabular.build(frame), "SV is best")
    assert alone.verdict == "too few trials"
    assert alone.number.startswith("0 of 210 comparisons")
    assert verdict(tabular.build(frame[:0]), "SV is best") == "not run yet"
    # One cell above all others, without a seed in common with any of them.
    frame = ordered(4)
    cell = (frame["dataset"] == "adult") & (frame["m"] == 100)
    cell &= frame["method"] == "SV"
    frame.loc[cell, "seed"] += 100
    frame.loc[cell, "error"] = 0.9
    some = check_of(tabular.build(frame), "SV is best")
    assert some.verdict == "holds"
    assert not some.exceptions
    assert some.number.startswith("203 of 203 comparisons in order")
    assert some.missing.endswith("; 7 not tested (too few common trials)")


def test_exceptions_are_counted_where_methods_were_compared():
    frame = as_frame(tabular_rows(lambda _d, _m, name, x: x + 50 * (name == "SV")))
    some = frame[frame["dataset"].isin(["adult", "magic"])]
    check = check_of(tabular.build(some), "SV is best")
    assert "exceptions: 42, in 6 of 6 settings, " in check.number
    assert "the paper's own means have 0 such exceptions" in check.number
