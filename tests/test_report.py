"""The report says what the store holds, no more and no less."""

import os
import re
import subprocess
import sys
from fractions import Fraction
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from pairlearn.reproduce.experiment import Options
from pairlearn.reproduce.report import (
    build,
    class_assignment,
    methods,
    naive,
    page,
    prior,
    pubmed,
    sample_size,
    tabular,
    write_report,
)
from pairlearn.reproduce.report.markdown import demote
from pairlearn.reproduce.report.paper import (
    EXPERIMENTS,
    IMAGES,
    METHODS,
    PRIORS,
    PUBMED,
    RATES,
    image_sizes,
)
from pairlearn.reproduce.report.paper import tabular as printed
from pairlearn.reproduce.report.statistics import (
    Estimate,
    agreement,
    best_of,
    estimate,
    log_log_slope,
    paired_difference,
)
from pairlearn.reproduce.runner import plan
from pairlearn.reproduce.store import Store, StoreError, Trial
from pairlearn.theory import naive_assignment_is_right

SOLVED = ("CIPS", "MCL", "SD", "SV")


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
    yield from size_rows()
    yield from prior_rows()
    yield from assignment_rows()
    yield from naive_rows()
    yield from method_rows()


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    folder = tmp_path_factory.mktemp("full")
    fill(folder, every_row())
    (folder / "notes.md").write_text("# Why\n\nBecause **rounding**, <b>see</b>.\n")
    return folder, write_report(folder)


@pytest.fixture(scope="module")
def html(full):
    return (full[0] / "report.html").read_text()


@pytest.fixture(scope="module")
def markdown(full):
    return (full[0] / "report.md").read_text()


def check_of(section, claim):
    (found,) = [check for check in section.checks if check.claim.startswith(claim)]
    return found


def verdict(section, claim):
    return check_of(section, claim).verdict


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


class Tags(HTMLParser):
    VOID = ("meta", "br", "hr", "img", "link", "input", "wbr")

    def __init__(self):
        super().__init__()
        self.open, self.addresses, self.names, self.text = [], [], [], []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.addresses += [attrs[n] for n in attrs if re.search("href|src", n)]
        self.names += [attrs["id"]] if "id" in attrs else []
        assert tag not in ("script", "link", "img", "iframe")
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_page_is_self_contained(html):
    tags = Tags()
    tags.feed(html)
    tags.close()
    assert not tags.open
    assert all(address.startswith("#") for address in tags.addresses)
    assert {address[1:] for address in tags.addresses} <= set(tags.names)
    assert len(set(tags.names)) == len(tags.names)
    assert not re.search(r"@import|url\((?!#)", html)


def test_outputs(full, html, markdown):
    folder, paths = full
    assert paths[:2] == [folder / "report.html", folder / "report.md"]
    names = {"sample-size", "prior", "assignment", "naive-assignment", "methods"}
    figures = {f"{name}.{kind}" for name in names for kind in ("svg", "png")}
    assert {path.name for path in paths[2:]} == figures
    assert all(path.stat().st_size > 5000 for path in paths)
    assert html.count("<svg ") == 5
    assert all(f"(figures/{name}.svg)" in markdown for name in names)
    assert {path.name for path in folder.iterdir()} == {
        "trials.sqlite", "notes.md", "report.html", "report.md", "figures"
    }  # fmt: skip


def test_every_cell_is_there(html, markdown):
    for (dataset, m, method), cell in printed().items():
        (line,) = [
            line
            for line in markdown.splitlines()
            if line.startswith(f"| **{dataset}**") and f" | {m} | " in line
        ]
        shown = line.split(" | ")[2 + METHODS.index(method)]
        ours = f"{cell.value.mean:.1f} ({cell.value.error:.1f})"
        assert re.sub(r"\*", "", shown) == f"{ours} [3/20] ≈ / {ours}"
        assert shown.endswith("**") == cell.bold
        assert ours in html
    assert markdown.count("[0/20]") >= 30 * 4  # the columns of our own solver
    assert "[a] The paper prints (44, 0.68)" in markdown
    assert "[68, 0.44]" in markdown


def test_notes_are_included(html, markdown):
    assert "## What differs, and why\n\n### Why\n\nBecause **rounding**" in markdown
    assert "<h3>Why</h3>\n<p>Because <strong>rounding</strong>, &lt;b&gt;see" in html


def test_headings_of_notes_are_put_below():
    assert demote("Top\n===\n\n```\n# code\n```\n## Next ##") == (
        "### Top\n\n```\n# code\n```\n#### Next"
    )
    assert demote("### As it is") == "### As it is"


def test_same_store_gives_same_bytes(full, tmp_path):
    folder, paths = full
    before = {path.name: path.read_bytes() for path in paths}
    for name in ("trials.sqlite", "notes.md"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    code = "import sys; from pairlearn.reproduce.report import write_report as w; "
    # Another process hashes strings in another way.
    subprocess.run(
        [sys.executable, "-c", code + "w(sys.argv[1])", str(tmp_path)],
        env=os.environ | {"PYTHONHASHSEED": "123"},
        check=True,
    )
    made = [*tmp_path.glob("report.*"), *tmp_path.glob("figures/*")]
    assert {path.name: path.read_bytes() for path in made} == before


def test_partial_store(tmp_path):
    rows = [row for row in tabular_rows(n=2) if row[0].dataset == "banana"]
    # One trial alone has a mean and no standard error.
    fill(tmp_path, [row for row in rows if row[0].method != "KM" or not row[0].seed])
    assert len(write_report(tmp_path)) == 2
    text = (tmp_path / "report.md").read_text()
    assert "`pairlearn reproduce fig-prior --out DIR`" in text
    assert "1 of 7 experiments have results" in text
    assert "mean (standard error) over 1 to 2 trials." in text
    # Settings without any trial are counted, not shown.
    assert "| **adult**" not in text
    assert "27 of 30 settings (data set and m) have no trial yet and no row" in text
    assert "[a] The paper prints" not in text
    assert "by method: CIPS 3 of 3, MCL 3 of 3, SV 3 of 3;" in text
    (line,) = [line for line in text.splitlines() if "**banana**" in line
               and "| 500 |" in line]  # fmt: skip
    assert re.search(r"\(–\) \[1/20\] / 44\.4", line)
    assert "9 of 90 cells have been run; not all trials are there, 2 of" in text
    assert "holds, so far" in text


def test_no_results(tmp_path):
    with pytest.raises(StoreError, match="no results"):
        write_report(tmp_path)
    Store.create(tmp_path).close()
    with pytest.raises(StoreError, match=r"no finished trials in [^(]*:"):
        write_report(tmp_path)
    fill(tmp_path, [], failures=[(Trial("table-tabular", "a", "KM", 1, 0), "no")])
    with pytest.raises(StoreError, match=r"no finished trials in .* \(1 failed\)"):
        write_report(tmp_path)


def test_folder_that_cannot_be_written(tmp_path):
    fill(tmp_path, method_rows())
    (tmp_path / "figures").write_text("in the way")
    with pytest.raises(StoreError, match="cannot write the report"):
        write_report(tmp_path)
    assert not list(tmp_path.glob(".partial*"))


def test_versions(tmp_path):
    rows = list(tabular_rows(n=4))
    fill(tmp_path, [row for row in rows if row[0].seed < 2])
    later = [row for row in rows if row[0].dataset == "w8a"]
    fill(tmp_path, later, {"pairlearn": "1.0", "commit": "d"})
    write_report(tmp_path)
    text = (tmp_path / "report.md").read_text()
    assert "- `table-tabular`: commit abc and d: 24 numbers (w8a 100 CIPS, " in text
    assert "banana 100 " not in text
    assert "| 1 | 1.0 | abc | " in text
    assert "0 to 3" in text


def test_one_setting_for_each_number(tmp_path):
    full = list(size_rows())
    quick = [
        (
            Trial("fig-sample-size", t.dataset, t.method, t.m, t.seed, {"epochs": 5}),
            {"error": 0.5},
        )
        for t, _ in full
        if t.seed < 2 and t.method == "CIPS"
    ]
    fill(tmp_path, [*quick, *full])
    write_report(tmp_path)
    text = (tmp_path / "report.md").read_text()
    assert (
        "2 trials with `epochs = 5`; shown: 20 with no further settings, which are more"
    ) in text
    # All trials are counted: 1360 that are shown and 34 that are not.
    assert "| `fig-sample-size` | Figure 1 left, appendix | 1,394 | 0 to 19 |" in text
    assert "1,394 trials in the store" in text
    assert "| **MNIST** | CIPS | 19.5 (0.2) | 16.7 (0.2) |" in text


def test_summary_counts_the_verdicts(full):
    summary, *sections = build(full[0])
    checks = [check for section in sections for check in section.checks]
    assert len(checks) == 22
    assert f"Of {len(checks)} checks" in summary.blocks[1].text
    n_partial = sum("so far" in check.label for check in checks)
    decided = sum(check.decided for check in checks)
    assert 0 < n_partial < decided
    assert (
        f"{n_partial} of the {decided} verdicts rest on part of the trials"
    ) in summary.blocks[1].text
    assert all(check.number and check.tested for check in checks)


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


def test_pubmed_verdicts_flip():
    def section(**means):
        return pubmed.build(as_frame(pubmed_rows(**means)))

    reach, order = "The networks reach", "CIPS and MCL are"
    assert verdict(section(), reach) == "holds"
    assert verdict(section(CIPS=95.0), reach) == "holds"
    assert verdict(section(CIPS=80.0), reach) == "holds with exceptions"
    assert verdict(section(CIPS=80.0, MCL=80.0, SV=80.0), reach) == "does not hold"
    assert verdict(section(), order) == "holds"
    assert verdict(section(DML=90.0), order) == "does not hold"
    frame = as_frame(pubmed_rows())
    one = pubmed.build(frame[frame["seed"] == 0])
    assert verdict(one, order) == verdict(one, reach) == "too few trials"


def test_pubmed_of_the_methods_that_are_run():
    names = list(dict.fromkeys(t.method for t in plan(["table-pubmed"], Options())))
    assert names == ["CIPS (linear)", "MCL (linear)", "SV (linear)"]
    frame = as_frame(pubmed_rows(" (linear)", CIPS=80.0, SV=96.0))
    section = pubmed.build(frame[frame["method"].isin(names)])
    (check,) = section.checks
    assert check.claim.startswith("The linear models reach")
    assert check.verdict == "holds with exceptions"
    assert check.number.startswith("2 of 3 methods: CIPS (linear) -6.9 points")
    assert check.exceptions == [
        "CIPS (linear): 80.0 (0.4) against 86.9 (0.4), z = -12.2"
    ]
    (table,) = [block for block in section.blocks if hasattr(block, "rows")]
    other = "linear, not a network"
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["CIPS", other, "80.0 (0.4)", "86.9 (0.4)", "19,000"],
        ["MCL", other, "86.6 (0.4)", "86.6 (0.4)", "19,000"],
        ["DML", "network", "–", "85.1 (0.2)", "–"],
        ["(SV)", other, "96.0 (0.1)", "94.7 (0.1)", "19,000"],
    ]
    # A lower accuracy is a higher error.
    assert [row[2].mark for row in table.rows] == ["above", "within", "", "below"]
    assert table.rows[2][2].note == ""
    text = " ".join(block.text for block in section.blocks if hasattr(block, "text"))
    assert "networks are not part of `pairlearn reproduce` yet" in text
    assert "has 19,000 pairs on average; the paper says about 19,000." in text
    # What no command can run does not read as if one could.
    empty = pubmed.build(frame[:0])
    assert [check.claim for check in empty.checks] == [check.claim]
    assert empty.checks[0].verdict == "not run yet"


def test_pubmed_shows_accuracies():
    frame = as_frame(pubmed_rows())
    linear = frame[frame["method"] == "SV"].assign(method="noise-aware")
    (table,) = [
        block
        for block in pubmed.build(pd.concat([frame, linear])).blocks
        if hasattr(block, "rows")
    ]
    shown = {
        (row[0].text, row[1].text): [cell.text for cell in row[2:]]
        for row in table.rows
    }
    assert shown["CIPS", "network"] == ["86.9 (0.4)", "86.9 (0.4)", "19,000"]
    assert shown["noise-aware", "–"] == ["94.7 (0.1)", "–", "19,000"]
    assert [row[0].text for row in table.rows if row[2].bold] == ["CIPS", "MCL"]


def test_sample_size_verdict_flips():
    def section(rise):
        return sample_size.build(as_frame(size_rows(rise)))

    assert verdict(section(0.0), "CIPS:") == "holds"
    # From m = 2000 to 4000 the error falls by 1.96.
    assert verdict(section(2.1), "CIPS:") == "holds with exceptions"
    assert verdict(section(5.0), "CIPS:") == "does not hold"
    assert verdict(section(5.0), "CIPS (L-BFGS):") == "does not hold"


def test_sample_size_needs_two_trials():
    frame = as_frame(size_rows(5.0))
    alone = sample_size.build(frame[frame["seed"] == 0])
    assert verdict(alone, "CIPS:") == "too few trials"
    assert verdict(sample_size.build(frame[:0]), "CIPS:") == "not run yet"
    # The only rise has one trial on its upper side: neither noise nor a fact.
    some = check_of(
        sample_size.build(frame[(frame["m"] != 4000) | (frame["seed"] == 0)]), "CIPS:"
    )
    assert some.verdict == "holds"
    assert not some.exceptions
    assert some.missing.endswith("; 3 means not tested (one trial alone)")


def test_prior_verdicts_flip():
    def section(**slopes):
        return prior.build(as_frame(prior_rows(**slopes)))

    rises, flat, less = "SD: the error", "CIPS: the error does", "CIPS is less"
    like_sv = "CIPS: the error rises no more"
    good = section()
    assert {check.verdict for check in good.checks} == {"holds"}
    assert verdict(section(sd=0.0), rises) == "does not hold"
    assert verdict(section(cips=20.0), flat) == "does not hold"
    assert verdict(section(cips=20.0), less) == "holds"
    assert verdict(section(cips=20.0), like_sv) == "does not hold"
    assert verdict(section(cips=60.0), less) == "does not hold"


def test_prior_ignores_trials_with_fewer_pairs():
    rows = list(prior_rows())
    quick = [
        (
            Trial("fig-prior", t.dataset, t.method, 50, t.seed, t.settings),
            {"error": 0.5},
        )
        for t, _ in rows
    ]
    alone, mixed = (prior.build(as_frame(r)) for r in (rows, rows + quick))
    assert alone.checks == mixed.checks
    (left_out,) = [block for block in mixed.blocks if hasattr(block, "items")]
    assert len(left_out.items) == 3
    assert left_out.items[2].startswith("MNIST, m = 50: 360 trials (CIPS, CIPS (L-BF")
    assert left_out.items[2].endswith("; shown: m = 10000")
    assert not [block for block in alone.blocks if hasattr(block, "items")]


def test_prior_names_the_solver_beside():
    section = prior.build(as_frame(prior_rows()))
    plain = check_of(section, "CIPS: the error does not").number
    solver = check_of(section, "CIPS (L-BFGS): the error does not").number
    assert plain.count("(SV +") + plain.count("(SV -") == 3
    assert solver.count("(SV (L-BFGS) ") == 3
    assert "(SV +" not in solver
    assert "(SV -" not in solver


def test_extra_solver_appears_when_it_has_been_run():
    def claims(section):
        return [check.claim for check in section.checks]

    for module, rows in ((prior, prior_rows()), (sample_size, size_rows())):
        frame = as_frame(rows)
        plain = frame[~frame["method"].str.contains("L-BFGS")]
        assert any("L-BFGS" in claim for claim in claims(module.build(frame)))
        assert not any("L-BFGS" in claim for claim in claims(module.build(plain)))


def test_quick_run_has_fewer_priors():
    frame = as_frame(prior_rows())
    quick = frame[frame["prior"].isin(["1/7", "3/7", "5/7"])]
    assert verdict(prior.build(quick), "SD: the error") == "holds"
    assert verdict(prior.build(frame[frame["prior"] == "1/7"]), "SD: the") == (
        "not run yet"
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


def test_failures_are_shown(tmp_path):
    rows = list(tabular_rows())
    lost = [
        row for row in rows if row[0].key[1:3] == ("adult", "OVPC") and row[0].seed < 2
    ]
    kept = [row for row in rows if row not in lost]
    problem = "ValueError: all `answers`\nare the same"
    fill(tmp_path, kept, failures=[(trial, problem) for trial, _ in lost])
    sections = build(tmp_path)
    (section,) = [s for s in sections if s.name == "table-tabular"]
    check = check_of(section, "The other methods")
    assert check.label == "holds"
    assert check.number.endswith("; without 6 trials that failed")
    assert check_of(section, "CIPS, MCL and SV").number.count("failed") == 0
    write_report(tmp_path)
    text = (tmp_path / "report.md").read_text()
    assert text.count("[2 of 20 failed]") == 3
    assert "**Failed:** 6 trials, which are in no number here." in text
    assert (
        "- `table-tabular`, adult, OVPC: 6 (m = 100, 500, 1000; seeds 0 to 1): "
        "`ValueError: all 'answers' are the same`\n"
    ) in text


def test_failures_of_every_experiment_find_their_cell(tmp_path):
    rows = [row for row in every_row() if row[0].experiment != "table-tabular"]
    gone = (
        ("table-pubmed", "pubmed", "CIPS", 0),
        ("fig-sample-size", "mnist", "CIPS", 1000),
        ("fig-prior", "mnist", "CIPS", 10000),
        ("table-methods", "gaussians", "CIPS", 32),
        ("fig-assignment", "gaussians", "pairs", 8),
    )

    def fails(trial):
        key = (trial.experiment, trial.dataset, trial.method, trial.m)
        return key in gone and trial.seed == 0

    failures = [(trial, "no") for trial, _ in rows if fails(trial)]
    fill(tmp_path, [row for row in rows if not fails(row[0])], failures=failures)
    sections = {section.name: section for section in build(tmp_path)}
    notes = {
        name: [
            cell.note
            for block in section.blocks
            if hasattr(block, "rows")
            for row in block.rows
            for cell in row
            if "failed" in cell.note
        ]
        for name, section in sections.items()
    }
    assert notes["table-pubmed"] == ["1 of 20 failed"]
    assert notes["fig-sample-size"] == ["1 of 20 failed"]
    assert notes["fig-prior"] == ["6 failed"]
    assert notes["table-methods"] == ["7 seeds, 1 failed"]
    for name, *_ in gone:
        assert sections[name].blocks[0].text.startswith("**Failed:** ")
    assert check_of(sections["fig-prior"], "CIPS: the error does").missing == ""


def test_no_failures_no_mention(markdown):
    assert "**Failed" not in markdown
    assert not re.search(r"\d failed|that failed\W*$", markdown)


def test_latest_of_two_settings(tmp_path):
    def rows(epochs):
        return [
            (
                Trial("fig-sample-size", "mnist", "CIPS", 1000, s, {"epochs": epochs}),
                {"error": epochs / 100},
            )
            for s in range(2)
        ]

    # The later run comes first by its setting's name in one case, last in the other.
    for number, order in enumerate(((5, 6), (6, 5))):
        folder = tmp_path / str(number)
        for epochs in order:
            fill(folder, rows(epochs))
        *_, section = build(folder)
        (left_out,) = [
            block
            for block in section.blocks
            if getattr(block, "title", "").startswith("**Left out")
        ]
        assert left_out.items == [
            (
                "`fig-sample-size`, mnist, CIPS, m = 1000: 2 trials with `epochs = "
                f"{order[0]}`; shown: 2 with `epochs = {order[1]}`, which are as many, "
                "from a later run (2, not 1)"
            )
        ]
        (sizes,) = [s for s in build(folder) if s.name == "fig-sample-size"]
        (table,) = [block for block in sizes.blocks if hasattr(block, "rows")]
        assert table.rows[0][2].text == f"{order[1]}.0 (0.0)"


def test_assignments_are_counted_beside_trials(markdown):
    (line,) = [s for s in markdown.splitlines() if s.startswith("| `fig-assignment`")]
    assert "| 210 [1,050,000 assignments] |" in line


def test_report_reads_one_state_of_the_store(tmp_path, monkeypatch):
    fill(tmp_path, method_rows())
    late = Trial("fig-prior", "mnist", "CIPS", 10000, 0, {"prior": "1/7"})
    read = Store.keys

    def keys(store):
        # Another run, which may not wait for a minute in a test.
        other = Store(tmp_path)
        other._connection.execute("PRAGMA busy_timeout = 1")
        try:
            other.add(late, {"error": 0.1}, seconds=1, run=1)
        except StoreError:
            pass
        finally:
            other.close()
        return read(store)

    monkeypatch.setattr(Store, "keys", keys)
    *_, settings = build(tmp_path)
    text = " ".join(
        item for block in settings.blocks if hasattr(block, "items")
        for item in block.items
    )  # fmt: skip
    assert "fig-prior" not in text


def test_reports_at_once_use_files_of_their_own(tmp_path, monkeypatch):
    fill(tmp_path, method_rows())
    seen = []
    replace = type(tmp_path).replace

    def note(path, target):
        seen.append(path)
        return replace(path, target)

    monkeypatch.setattr(type(tmp_path), "replace", note)
    written = write_report(tmp_path) + write_report(tmp_path)
    assert len(set(seen)) == len(seen) == len(written)
    assert all(one.parent == two.parent for one, two in zip(seen, written, strict=True))
    assert not list(tmp_path.rglob(".partial*"))
    (tmp_path / "like any").touch()
    mode = (tmp_path / "like any").stat().st_mode
    assert {path.stat().st_mode for path in written} == {mode}


def test_notes_in_another_encoding(tmp_path):
    fill(tmp_path, method_rows())
    (tmp_path / "notes.md").write_bytes("Größe".encode("latin-1"))
    with pytest.raises(StoreError, match=r"notes\.md is not UTF-8 .* Save it as UTF-8"):
        write_report(tmp_path)


def test_versions_that_older_runs_have_not(tmp_path):
    fill(tmp_path, method_rows(), {"pairlearn": "1.0"})
    fill(tmp_path, pubmed_rows(), {"pairlearn": "1.0", "commit": "abc"})
    write_report(tmp_path)
    text = (tmp_path / "report.md").read_text()
    assert "| runs | pairlearn | commit | started | trials |" in text
    assert "| 1 | 1.0 | – | " in text
    assert "| 2 | 1.0 | abc | " in text


def test_legend_of_the_verdicts(markdown):
    assert "✓ holds: without any exception; ◐ holds with exceptions: " in markdown


def test_what_the_report_expects_is_what_is_planned():
    def planned(name):
        return plan([name], Options())

    sizes = {(t.dataset, t.m) for t in planned("fig-sample-size")}
    assert sizes == {(d, m) for d in IMAGES for m in image_sizes(d)}
    priors = planned("fig-prior")
    assert {t.dataset for t in priors} == set(IMAGES)
    assert {t.settings["prior"] for t in priors} == set(PRIORS)
    assert {t.seed for t in priors} == set(range(prior.N_TRIALS))
    assert {t.seed for t in planned("fig-sample-size")} == set(
        range(sample_size.N_TRIALS)
    )
    cells = {(t.dataset, t.m, t.method) for t in planned("table-tabular")}
    assert cells >= set(printed())
    assert {name for _, _, name in cells} == {*METHODS, *tabular.EXTRA}
    assert {t.seed for t in planned("table-tabular")} == set(range(tabular.N_TRIALS))
    assert {t.method for t in planned("table-methods")} == set(RATES)
    grid = {t.settings["prior"] for t in planned("fig-naive-assignment")}
    assert grid == set(naive.PRIORS)
    assignments = sum(t.settings["repeats"] for t in planned("fig-assignment"))
    assert assignments == class_assignment.N_CELLS * class_assignment.N_TRIALS
    # Every experiment has its section, by the name of the command line.
    assert {t.experiment for t in planned("all")} == set(EXPERIMENTS)


def test_how_to_make_a_partial_report_again(tmp_path):
    command = "pairlearn reproduce table-methods --quick"
    fill(tmp_path, method_rows(), command=command)
    write_report(tmp_path)
    text = (tmp_path / "report.md").read_text()
    assert f"- `{command}`\n\nTo make this report again: the commands above" in text
    assert "each with `--out DIR`, then `pairlearn report DIR`. For the full" in text


@pytest.mark.parametrize(
    ("module", "name", "missing"),
    [
        (
            naive,
            "fig-naive-assignment",
            "0 of the 450 points of the full grid have been run, and 72 others",
        ),
        (
            methods,
            "table-methods",
            (
                "15 of 21 cells (method and m) have been run; not all trials are "
                "there, 5 of 20 in some cells"
            ),
        ),
    ],
)
def test_quick_runs_are_not_final(module, name, missing):
    def section(options):
        results = {"right": False, "excess": 0.1}
        rows = [
            (t, results | {"excess": (1 + t.seed / 50) / t.m if t.m else 0.0})
            for t in plan([name], options)
        ]
        return module.build(as_frame(rows))

    (full,), (quick,) = (section(Options(quick=q)).checks for q in (False, True))
    assert full.missing == ""
    assert quick.label == f"{quick.verdict}, so far"
    assert quick.missing == missing


def test_failures_do_not_make_a_check_partial():
    trials = plan(["table-methods"], Options())
    rows = [(t, {"excess": (1 + t.seed / 50) / t.m}) for t in trials if t.seed]
    failed = {("gaussians", t.m, t.method): [0] for t in trials if not t.seed}
    (partial,), (done,) = (
        methods.build(as_frame(rows), lost).checks for lost in ({}, failed)
    )
    assert partial.missing == "not all trials are there, 19 of 20 in some cells"
    assert done.missing == ""


def test_rule_of_the_priors_is_true_of_one_set():
    frame = as_frame(prior_rows(cips=20.0))
    claim = "CIPS: the error does not rise"
    rule = (
        "If it fails on fewer than half of the sets that were run, it holds with "
        "exceptions; on half or more, it does not hold."
    )
    one = check_of(prior.build(frame[frame["dataset"] == "mnist"]), claim)
    assert one.label == "does not hold, so far"
    flat = as_frame(prior_rows())
    mixed = pd.concat(
        [frame[frame["dataset"] == "mnist"], flat[flat["dataset"] != "mnist"]]
    )
    some = check_of(prior.build(mixed), claim)
    assert some.verdict == "holds with exceptions"
    assert one.tested.endswith(rule)
    assert some.tested.endswith(rule)


def test_priors_that_were_not_run_are_missing():
    frame = as_frame(prior_rows())
    check = check_of(prior.build(frame[frame["prior"] != "6/7"]), "SD: the error")
    assert check.missing == "without prior 6/7 on some sets"


def test_too_few_for_a_verdict():
    def few(n):
        frame = as_frame(assignment_rows()).assign(wrong=0)
        frame = frame[frame["seed"] == 0].assign(repeats=n)
        return class_assignment.build(frame)

    for claim in ("No simulated", "The simulated error"):
        check = check_of(few(99), claim)
        assert check.label == "too few trials"
        assert check.number.startswith("0 of 105 cells have the 100 simulations")
        assert check_of(few(100), claim).decided
    assert "is counted in 99 simulations a cell" in few(99).blocks[0].text

    frame = as_frame(tabular_rows())
    cells = frame[(frame["dataset"] == "adult") & (frame["m"] == 100)]
    section = tabular.build(cells)
    assert {check.verdict for check in section.checks[:4]} == {"too few trials"}
    assert section.checks[1].number == (
        "5 of 150 cells have the two trials that a test needs; a verdict needs a tenth"
    )
    # One step of 14.
    frame = as_frame(size_rows())
    step = frame[(frame["dataset"] == "mnist") & frame["m"].isin([1000, 4000])]
    assert verdict(sample_size.build(step), "CIPS:") == "too few trials"
    frame = as_frame(method_rows())
    for n, expected in ((4, "too few trials"), (5, "holds")):
        section = methods.build(frame[frame["seed"] < n])
        assert section.checks[0].verdict == expected
    frame = as_frame(naive_rows())
    assert verdict(naive.build(frame[:20]), "The naive") == "too few trials"


@pytest.mark.parametrize(
    ("module", "rows"), [(sample_size, size_rows), (prior, prior_rows)]
)
def test_image_sets_without_trials_are_left_out(module, rows):
    frame = as_frame(rows())
    section = module.build(frame[frame["dataset"] == "mnist"])
    (picture,) = section.pictures
    left_out = "Not run yet, and left out: Fashion-MNIST, Kuzushiji-MNIST."
    assert picture.caption.endswith(left_out)
    assert [axes.get_title(loc="left") or axes.get_title() for axes in
            picture.draw().axes] == ["MNIST"]  # fmt: skip
    tables = [block for block in section.blocks if hasattr(block, "rows")]
    assert {row[0].text for table in tables for row in table.rows} == {"**MNIST**"}
    whole = module.build(frame)
    assert "left out" not in whole.pictures[0].caption
    assert len(whole.pictures[0].draw().axes) == 3
    # Nothing was run: neither figure nor table.
    empty = module.build(frame[:0])
    assert not [b for b in empty.blocks if hasattr(b, "rows") or hasattr(b, "draw")]


def test_captions_count_the_trials_that_are_there():
    section = tabular.build(as_frame(tabular_rows(n=30)))
    assert "mean (standard error) over 30 trials." in section.blocks[0].text
    frame = as_frame(size_rows())
    (picture,) = sample_size.build(frame[frame["seed"] < 7]).pictures
    assert "mean over 7 trials," in picture.caption
    frame = as_frame(prior_rows())
    some = frame[(frame["seed"] < 4) | (frame["method"] == "SV")]
    assert "mean over 4 to 10 trials," in prior.build(some).pictures[0].caption


def test_exceptions_are_counted_where_methods_were_compared():
    frame = as_frame(tabular_rows(lambda _d, _m, name, x: x + 50 * (name == "SV")))
    some = frame[frame["dataset"].isin(["adult", "magic"])]
    check = check_of(tabular.build(some), "SV is best")
    assert "exceptions: 42, in 6 of 6 settings, " in check.number
    assert "the paper's own means have 0 such exceptions" in check.number


def test_note_on_kuzushiji_stands_once():
    frame = as_frame(size_rows())
    section = sample_size.build(frame)
    texts = [
        text
        for block in section.blocks
        for text in (getattr(block, "caption", ""), *getattr(block, "footnotes", ()))
    ]
    assert sum(sample_size.KUZUSHIJI in text for text in texts) == 1


def test_page_fits_a_narrow_screen(html):
    # A figure has a largest width and no least one; a wide table says that it scrolls.
    assert 'style="max-width: 1063px"' in html
    assert "min-width: 640px" not in html
    assert html.count('<figure class="table widest">') == 1
    # The rises of three methods fit; with those of our own solver they do not.
    assert re.search(r'<figure class="table wide">\n<figcaption>Rise', html)
    plain = prior.build(as_frame(r for r in prior_rows() if "(" not in r[0].method))
    assert '<figure class="table">\n<figcaption>Rise' in page.render(
        "", [plain], {"prior": "<svg>"}
    )
    assert re.search(r'<figure class="table wide">\n<figcaption>Accuracy', html)
    assert ".wide figcaption::after" in html


def test_words(markdown):
    prose = re.sub(r"`[^`]*`", "", markdown)
    assert not re.search(r"\bdatasets?\b", prose)
