"""The report says what the store holds, no more and no less."""

import re

import pytest

from pairlearn.reproduce.report import build, write_report
from pairlearn.reproduce.store import Store, StoreError, Trial
from tests.support.report_rows import (
    check_of,
    every_row,
    fill,
    markdown_of,
    method_rows,
    pubmed_rows,
    size_rows,
    tabular_rows,
)


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
    text = markdown_of(tmp_path)
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
    text = markdown_of(tmp_path)
    assert (
        "2 trials with `epochs = 5`; shown: 20 with no further settings, which are more"
    ) in text
    # All trials are counted: 1360 that are shown and 34 that are not.
    assert "| `fig-sample-size` | Figure 1 left, appendix | 1,394 | 0 to 19 |" in text
    assert "1,394 trials in the store" in text
    assert "| **MNIST** | CIPS | 19.5 (0.2) | 16.7 (0.2) |" in text


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
    text = markdown_of(tmp_path)
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


def test_settings_that_are_lists(tmp_path):
    def rows(alphas, n):
        return [
            (
                Trial("table-pubmed", "pubmed", "CIPS", 0, s, {"alphas": alphas}),
                {"error": 0.1 * len(alphas)},
            )
            for s in range(n)
        ]

    # As long as there are trials, which pandas would compare one by one.
    fill(tmp_path, [*rows([0.1], 2), *rows([0.1, 1.0, 10.0], 3)])
    sections = build(tmp_path)
    (section,) = [s for s in sections if s.name == "table-pubmed"]
    (table,) = [block for block in section.blocks if hasattr(block, "rows")]
    assert table.rows[0][2].text == "70.0 (0.0)"
    (left_out,) = [
        block
        for block in sections[-1].blocks
        if getattr(block, "title", "").startswith("**Left out")
    ]
    assert left_out.items == [
        (
            "`table-pubmed`, pubmed, CIPS, m = 0: 2 trials with `alphas = [0.1]`; "
            "shown: 3 with `alphas = [0.1, 1.0, 10.0]`, which are more"
        )
    ]


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
    text = markdown_of(tmp_path)
    assert "| runs | pairlearn | commit | started | trials |" in text
    assert "| 1 | 1.0 | – | " in text
    assert "| 2 | 1.0 | abc | " in text


def test_how_to_make_a_partial_report_again(tmp_path):
    command = "pairlearn reproduce table-methods --quick"
    fill(tmp_path, method_rows(), command=command)
    text = markdown_of(tmp_path)
    assert f"- `{command}`\n\nTo make this report again: the commands above" in text
    assert "each with `--out DIR`, then `pairlearn report DIR`. For the full" in text
