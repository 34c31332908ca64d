"""What was not run, or not run often enough, gives no final verdict."""

import pytest

from pairlearn.reproduce.experiment import Options
from pairlearn.reproduce.report import (
    class_assignment,
    methods,
    naive,
    prior,
    pubmed,
    sample_size,
    tabular,
)
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
from pairlearn.reproduce.runner import plan
from tests.support.report_rows import (
    as_frame,
    assignment_rows,
    check_of,
    method_rows,
    naive_rows,
    prior_rows,
    size_rows,
    tabular_rows,
    verdict,
)


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
    linear = {name + pubmed.LINEAR for name in PUBMED}
    assert {t.method for t in planned("table-pubmed")} <= {
        *PUBMED, *linear, pubmed.OURS
    }  # fmt: skip
    known = {*sample_size.METHODS, *sample_size.EXTRA, sample_size.OURS}
    assert {t.method for t in planned("fig-sample-size")} <= known
    grid = {t.settings["prior"] for t in planned("fig-naive-assignment")}
    assert grid == set(naive.PRIORS)
    assignments = sum(t.settings["repeats"] for t in planned("fig-assignment"))
    assert assignments == class_assignment.N_CELLS * class_assignment.N_TRIALS
    # Every experiment has its section, by the name of the command line.
    assert {t.experiment for t in planned("all")} == set(EXPERIMENTS)


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


def test_captions_count_the_trials_that_are_there():
    section = tabular.build(as_frame(tabular_rows(n=30)))
    assert "mean (standard error) over 30 trials." in section.blocks[0].text
    frame = as_frame(size_rows())
    (picture,) = sample_size.build(frame[frame["seed"] < 7]).pictures
    assert "mean over 7 trials," in picture.caption
    frame = as_frame(prior_rows())
    some = frame[(frame["seed"] < 4) | (frame["method"] == "SV")]
    assert "mean over 4 to 10 trials," in prior.build(some).pictures[0].caption
