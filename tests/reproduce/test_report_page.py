"""The report as a page and as Markdown says all that the store holds."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest

from pairlearn.reproduce.report import TITLE, build, page, prior, write_report
from pairlearn.reproduce.report.markdown import demote, render
from pairlearn.reproduce.report.paper import METHODS
from pairlearn.reproduce.report.paper import tabular as printed
from tests.support.report_rows import as_frame, every_row, fill, prior_rows


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


def test_summary_counts_the_verdicts(full, markdown):
    summary, *sections = build(full[0])
    assert render(TITLE, [summary, *sections]) == markdown
    checks = [check for section in sections for check in section.checks]
    assert len(checks) == 24
    assert f"Of {len(checks)} checks" in summary.blocks[1].text
    n_partial = sum("so far" in check.label for check in checks)
    decided = sum(check.decided for check in checks)
    assert 0 < n_partial < decided
    assert (
        f"{n_partial} of the {decided} verdicts rest on part of the trials"
    ) in summary.blocks[1].text
    assert all(check.number and check.tested for check in checks)


def test_no_failures_no_mention(markdown):
    assert "**Failed" not in markdown
    assert not re.search(r"\d failed|that failed\W*$", markdown)


def test_assignments_are_counted_beside_trials(markdown):
    (line,) = [s for s in markdown.splitlines() if s.startswith("| `fig-assignment`")]
    assert "| 210 [1,050,000 assignments] |" in line


def test_legend_of_the_verdicts(markdown):
    assert "✓ holds: without any exception; ◐ holds with exceptions: " in markdown


def test_rows_of_our_own_are_set_off(html, markdown):
    rows = re.findall(r'<tr class="ours">.*?</tr>', html)
    assert len(rows) == 2
    assert "Noise-aware" in rows[0]
    assert "PairNet (ours, not linear)" in rows[1]
    # The cell of the set's name belongs to the row of the first method.
    assert "MNIST" not in rows[1]
    assert ".ours > *" in html
    assert "| Noise-aware | ours, not in the paper | 91.0 (0.3) | – | 19" in markdown
    assert "Noise-aware is ours; the paper has no such row." in markdown


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
