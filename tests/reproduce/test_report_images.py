"""The two figures on images: the number of pairs, and the prior."""

from dataclasses import replace

import pandas as pd
import pytest

from pairlearn.reproduce.report import prior, sample_size
from pairlearn.reproduce.store import Trial
from tests.support.report_rows import (
    as_frame,
    check_of,
    pair_net_rows,
    prior_rows,
    size_rows,
    verdict,
)


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


def test_pair_net_stands_on_its_own_set_alone():
    paper = as_frame(size_rows())
    frame = pd.concat([paper, as_frame(pair_net_rows())])
    section = sample_size.build(frame)
    table = next(block for block in section.blocks if hasattr(block, "rows"))
    (number,) = table.ours
    assert [cell.text for cell in table.rows[number]] == [
        "**MNIST**", "PairNet (ours, not linear)", "6.7 (0.1)", "4.7 (0.1)",
        "3.4 (0.1)", "2.4 (0.1)", "1.9 (0.1)", "1.7 (0.1)", "1.5 (0.1)",
    ]  # fmt: skip
    assert sum("PairNet" in row[1].text for row in table.rows) == 1
    text = " ".join(block.text for block in section.blocks if hasattr(block, "text"))
    assert "PairNet is ours, and not linear" in text
    assert "on MNIST alone" in text
    (picture,) = section.pictures
    assert "PairNet is not in the paper." in picture.caption
    figure = picture.draw()
    curves = [
        [line for line in axes.lines if line.get_label().startswith("PairNet")]
        for axes in figure.axes
    ]
    assert [len(lines) for lines in curves] == [1, 0, 0]
    ((line,), _, _) = curves
    others = [other for other in figure.axes[0].lines if other is not line]
    for look in ("get_color", "get_marker", "get_linestyle"):
        looks = {getattr(other, look)() for other in others}
        assert getattr(line, look)() not in looks
    (legend,) = figure.legends
    names = [entry.get_text() for entry in legend.get_texts()]
    assert names[-1] == "PairNet (ours, not linear)"
    # The verdicts on the paper's methods are what they are without it.
    plain = sample_size.build(paper)
    assert section.checks[:2] == plain.checks[:2]
    text = " ".join(block.text for block in plain.blocks if hasattr(block, "text"))
    assert "PairNet" not in text + plain.pictures[0].caption


def test_sizes_of_pair_net_are_not_those_of_cips():
    paper, net = as_frame(size_rows()), as_frame(pair_net_rows())
    for more in (net.assign(m=net["m"] + 1), net[net["m"] == 20000]):
        section = sample_size.build(pd.concat([paper, more]))
        assert section.checks[:2] == sample_size.build(paper).checks[:2]
    # Without any other method.
    section = sample_size.build(net)
    assert verdict(section, "CIPS:") == "not run yet"
    assert verdict(section, NET) == "holds"


NET = "PairNet from 20,000 pairs and no label: error at most 2.0 % on MNIST"


def test_pair_net_verdict_flips():
    def check(last, n=20, linear=True):
        rows = [*(size_rows() if linear else ()), *pair_net_rows(last, n)]
        return check_of(sample_size.build(as_frame(rows)), NET)

    good = check(1.5)
    assert good.claim == NET
    assert good.label == "holds"
    assert good.number == (
        "1.50 ± 0.10 % over 20 trials, which lie between 0.78 and 2.22 %; linear, "
        "on as many pairs: CIPS 12.12 % and SV 12.12 %"
    )
    assert check(2.0).verdict == "holds"
    # Shown as 2.0 in the table, and above all the same.
    bad = check(2.01, linear=False)
    assert bad.verdict == "does not hold"
    assert bad.number.startswith("2.01 ± 0.10 % over 20 trials")
    assert "linear" not in bad.number
    assert check(1.5, 2).label == "holds, so far"


def test_pair_net_of_part_of_the_trials(monkeypatch):
    paper, net = as_frame(size_rows()), as_frame(pair_net_rows())
    frame = pd.concat([paper, net])
    one = sample_size.build(frame[frame["seed"] == 0])
    assert verdict(one, NET) == "too few trials"
    # A quick run has no such size.
    quick = frame[frame["m"].isin([1000, 4000]) & (frame["seed"] < 2)]
    section = sample_size.build(quick[quick["dataset"] == "mnist"])
    assert verdict(section, NET) == "not run yet"
    table = next(block for block in section.blocks if hasattr(block, "rows"))
    (number,) = table.ours
    notes = [cell.note for cell in table.rows[number][2:]]
    assert notes == ["2/20", "0/20", "2/20", "0/20", "0/20", "0/20", "0/20"]
    # Failures show, too.
    lost = {("mnist", 20000, sample_size.OURS): [0]}
    section = sample_size.build(frame[frame["seed"] > 0], lost)
    assert check_of(section, NET).label == "holds"
    assert check_of(section, NET).number.endswith("; without 1 trial that failed")
    # It is named as soon as a command can run it, or as there are trials.
    for methods, n_checks in ((("CIPS", "SV"), 2), (("CIPS", "SV", "PairNet"), 3)):
        known = replace(sample_size.EXPERIMENT, methods=methods)
        monkeypatch.setattr(sample_size, "EXPERIMENT", known)
        assert len(sample_size.build(paper).checks) == n_checks
        assert len(sample_size.build(frame).checks) == 3


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


def test_note_on_kuzushiji_stands_once():
    frame = as_frame(size_rows())
    section = sample_size.build(frame)
    texts = [
        text
        for block in section.blocks
        for text in (getattr(block, "caption", ""), *getattr(block, "footnotes", ()))
    ]
    assert sum(sample_size.KUZUSHIJI in text for text in texts) == 1
