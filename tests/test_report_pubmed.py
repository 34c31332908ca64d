"""The section of PubMed, with and without networks."""

import pandas as pd

from pairlearn.reproduce.experiment import Options
from pairlearn.reproduce.report import pubmed
from pairlearn.reproduce.runner import plan
from tests.report_rows import as_frame, pubmed_rows, verdict


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
