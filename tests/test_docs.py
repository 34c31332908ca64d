"""Every code block in the README and the documentation runs, and every link leads on.

Python blocks and `bash` blocks of a page run in their order, in one namespace and one
empty folder. A `bash` block holds commands of `pairlearn` alone; what is only to be
read (installing, make, torchrun) stands in a `text` block or in one without a language.
`pairlearn label` waits for people, so it stands in a `text` block, too; instead of a
person somebody who knows the kinds writes the file of answers.
"""

import re
import shlex
from pathlib import Path

import pandas as pd
import pytest

import pairlearn
from pairlearn import datasets, people, plot
from pairlearn.engine import losses
from pairlearn.files import saving
from pairlearn.models import neural
from pairlearn.trust import metrics, theory
from tests.support.stored import make_store

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
# Made by the build, or by `pairlearn report`.
MADE = {"_build", "gallery", "reproduction"}
PAGES = [
    ROOT / "README.md",
    *sorted(
        page
        for page in DOCS.rglob("*.md")
        if MADE.isdisjoint(page.relative_to(DOCS).parts)
    ),
]
BLOCK = re.compile(r"^```(python|bash|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
# Languages that are shown and not run, each with its reason.
SHOWN = {
    "": "commands around the library: make, pip",
    "text": "output, and commands of other programs",
    "py": "a file that several processes run",
    "{toctree}": "markup",
    "{math}": "a formula",
}
WITH_CODE = [
    page
    for page in PAGES
    if re.search(r"^```(python|bash)$", page.read_text(), re.MULTILINE)
]


def name(page):
    return str(page.relative_to(ROOT))


def commands(block):
    """Return the arguments of each line of a shell block, after `pairlearn`."""
    lines = block.replace("\\\n", " ").splitlines()
    found = [shlex.split(line, comments=True) for line in lines]
    found = [words for words in found if words]
    others = [words for words in found if words[0] != "pairlearn"]
    assert not others, f"a bash block runs pairlearn alone, not {others[0]}"
    return [words[1:] for words in found]


def run_command(arguments):
    """Run one command of the command line in this process."""
    testing = pytest.importorskip("typer.testing")
    from pairlearn.cli.app import app

    result = testing.CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, f"pairlearn {shlex.join(arguments)}\n{result.output}"


def play(block):
    """Answer on the page, where a block starts it on practice data."""
    for command in re.findall(r"^pairlearn label (\S+)$", block, re.MULTILINE):
        points = Path(command)
        kinds = pd.read_csv(points.with_name("labels.csv"), dtype=str)
        known = dict(zip(kinds["id"], kinds["label"], strict=True))
        make_store(points.with_name(f"{points.stem}.answers.sqlite"), known)


def test_pages_with_code_are_found():
    found = {name(page) for page in WITH_CODE}
    assert found >= {"README.md", "docs/start.md", "docs/guide/spreadsheet.md"}


@pytest.mark.parametrize("page", WITH_CODE, ids=name)
def test_code_blocks_run(page, tmp_path, monkeypatch, request):
    monkeypatch.chdir(tmp_path)
    text, namespace = page.read_text(), {}
    # The front page, and what pages assert of results, is true of the whole choice of a
    # classifier; to see that the blocks of the other pages run, a part of it will do.
    if page.name != "README.md" and not re.search(r"^ *assert ", text, re.MULTILINE):
        request.getfixturevalue("quick")
    for block in BLOCK.finditer(text):
        line = text[: block.start()].count("\n") + 1
        if block.group(1) == "bash":
            for arguments in commands(block.group(2)):
                run_command(arguments)
            continue
        if block.group(1) == "text":
            play(block.group(2))
            continue
        # The line number makes a failure point at the page.
        source = "\n" * line + block.group(2)
        exec(compile(source, str(page), "exec"), namespace)  # noqa: S102 - our own text


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_no_block_escapes_the_tests(page):
    for fence in FENCE.findall(page.read_text()):
        language = fence[3:].split("\n")[0].split(" ")[0]
        assert language in {"python", "bash", *SHOWN}, (
            f"{name(page)} has a block of {language!r}, which no test runs; call it "
            f"python or bash, or one of {sorted(SHOWN)}"
        )


def test_shell_blocks_are_read_as_a_shell_reads_them():
    block = "# a comment\npairlearn fit 'my points.csv' \\\n    pairs.csv  # why\n\n"
    assert commands(block) == [["fit", "my points.csv", "pairs.csv"]]
    with pytest.raises(AssertionError, match="pip"):
        commands("pip install pairlearn\n")


def anchors(page):
    """Return the anchors that the headings of a page get."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text()), re.MULTILINE)
    kept = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.replace(" ", "-") for heading in kept}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page):
    text = FENCE.sub("", page.read_text())
    for target, anchor in re.findall(r"\]\(([^)#:\s]*)(?:#([^)\s]*))?\)", text):
        file = page.parent / target if target else page
        assert file.exists(), f"{name(page)} links to {target}"
        if anchor:
            assert anchor in anchors(file), f"{name(page)} links to {target}#{anchor}"


def test_files_named_in_the_text_exist():
    for page in PAGES:
        text = page.read_text()
        for file in re.findall(r"`((?:benchmarks|examples)/[\w/.-]+)`", text):
            assert (ROOT / file).exists(), f"{name(page)} names {file}"


# Rows of the page on other libraries, and of the benchmark that they are from.
MEASURED = {
    "pairlearn, `CIPSClassifier`": "CIPS",
    "pairlearn, `MCLClassifier`": "MCL",
    "pairlearn, `ConstrainedKMeans`": "constrained k-means",
    "metric-learn, ITML + k-means": "metric-learn ITML + k-means",
    "metric-learn, MMC + k-means": "metric-learn MMC + k-means",
    "active-semi-supervised-clustering, COPKMeans": "COPKMeans",
    "active-semi-supervised-clustering, MPCKMeans": "MPCKMeans",
    "pytorch-metric-learning, contrastive network + k-means": (
        "contrastive network + k-means"
    ),
    "scikit-learn, k-means without answers": "k-means without answers",
    "scikit-learn, logistic regression with all labels": (
        "logistic regression with labels"
    ),
}


def rows(page):
    """Return the rows of all tables of a page, by their first cell."""
    lines = re.findall(r"^\|(.+)\|$", page.read_text(), re.MULTILINE)
    cells = [[cell.strip() for cell in line.split("|")] for line in lines]
    return {first: others for first, *others in cells}


def test_figures_about_others_are_those_of_the_benchmark():
    told = rows(DOCS / "comparison.md")
    measured = rows(ROOT / "benchmarks/results/methods.md")
    for ours, theirs in MEASURED.items():
        accuracy, _, seconds, _ = measured[theirs]
        assert told[ours][0] == f"{float(accuracy):.3f}", ours
        assert float(told[ours][1]) == pytest.approx(float(seconds), rel=0.15), ours


def test_the_overlap_to_plan_is_that_of_the_simulation():
    told = rows(DOCS / "guide" / "people.md")
    simulated = rows(ROOT / "benchmarks/results/agreement.md")
    for n_overlaps in ("20", "50", "100", "200", "1,000"):
        assert told[n_overlaps] == simulated[n_overlaps]


def documented():
    """Return the names that the reference holds, by their last part."""
    text = (DOCS / "api.rst").read_text()
    names = re.findall(r"^\.\. auto\w+:: ([\w.]+)", text, re.MULTILINE)
    for group in re.findall(r":members:((?:.+\n)(?:   +[^:\s].*\n)*)", text):
        names += re.findall(r"\w+", group)
    for module in (theory,):  # all of their members
        assert f".. automodule:: {module.__name__}\n   :members:\n" in text
        names += module.__all__
    return {full.rpartition(".")[2] for full in names}


@pytest.mark.parametrize(
    "module",
    [pairlearn, datasets, metrics, neural, losses, people, plot, saving, theory],
    ids=lambda module: module.__name__,
)
def test_the_reference_holds_every_public_name(module):
    # Neither __version__ nor constants.
    public = {n for n in module.__all__ if n[0].isalpha() and not n.isupper()}
    assert public - documented() == set()
