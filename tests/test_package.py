"""What importing, installing and the command line promise."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import pairlearn
from pairlearn.cli import main

EXTRAS = [
    "typer", "rich", "matplotlib", "pandas", "polars", "torch", "triton", "numba",
    "pooch", "dask", "distributed", "skops",
]  # fmt: skip


def run(*arguments, cwd=None):
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)


def test_import_loads_nothing_heavy():
    code = "import sys, pairlearn; print(*sys.modules)"
    loaded = {name.partition(".")[0] for name in run("-c", code).stdout.split()}
    assert not loaded & {"sklearn", "scipy", "numpy", *EXTRAS}


def test_every_extra_that_is_mentioned_exists():
    root = Path(__file__).parents[1]
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    texts = [path.read_text() for path in (root / "src").rglob("*.py")]
    texts += [path.read_text() for path in (root / "docs").glob("*.md")]
    texts += [(root / "README.md").read_text(), *map(str, extras.values())]
    named = {
        name.strip()
        for text in texts
        for names in re.findall(r"(?:pairlearn|'\.)\[([a-z, ]+)\]", text)
        for name in names.split(",")
    }
    assert named >= {"cli", "fast", "polars"}
    assert named <= set(extras)


def test_everything_but_the_command_line_works_without_extras(tmp_path):
    """Hide every extra and run the whole path from pairs to certificate."""
    for name in EXTRAS:
        (tmp_path / f"{name}.py").write_text(
            f"raise ModuleNotFoundError(name={name!r})"
        )
    code = """
import sys; sys.path.insert(0, sys.argv[1])
import numpy as np, pairlearn
y = np.arange(80) % 3 > 0
X = np.random.default_rng(0).normal(size=(80, 2)) + 3 * y[:, None]
pairs, t = pairlearn.Pairs.sample(X, 40, y, random_state=0)
for name in pairlearn.__all__: getattr(pairlearn, name)
clf = pairlearn.CIPSClassifier(majority=1, random_state=0).fit(pairs[:30], t[:30])
print(pairlearn.certify(clf, pairs[30:], t[30:]))
from pairlearn.cli import main
main()
"""
    result = run("-c", code, str(tmp_path))
    assert "95% confidence, 10 pairs" in result.stdout
    assert result.returncode == 1
    assert "needs typer" in result.stderr
    assert "pip install 'pairlearn[cli]'" in result.stderr


def test_public_names():
    for name in pairlearn.__all__:
        assert getattr(pairlearn, name) is not None
    assert set(dir(pairlearn)) == set(pairlearn.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Pear'"):
        _ = pairlearn.Pear


def test_public_names_have_examples():
    for name in pairlearn.__all__:
        value = getattr(pairlearn, name)
        if callable(value) and name != "Certificate":
            assert ">>>" in value.__doc__, f"{name} has no example"


def test_package_is_typed():
    assert (Path(pairlearn.__file__).parent / "py.typed").exists()


def test_demo_writes_its_figure_and_nothing_else(tmp_path):
    result = run("-m", "pairlearn", "demo", "--out", "demo.png", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    assert [path.name for path in tmp_path.iterdir()] == ["demo.png"]
    assert (tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")
    for word in ("training pairs", "fit seconds", "certified error", "true error"):
        assert word in result.stdout


@pytest.mark.parametrize(
    ("out", "code", "message"),
    [("no/such/a.png", 1, "no folder"), ("a.foo", 2, "must end in .png")],
)
def test_demo_that_cannot_write(tmp_path, monkeypatch, capsys, out, code, message):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["pairlearn", "demo", "--out", out])
    # Any other error would be a traceback.
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == code
    complaints = capsys.readouterr().err
    assert message in complaints
    assert "Traceback" not in complaints
    assert list(tmp_path.iterdir()) == []


@pytest.mark.filterwarnings("ignore:the pairs do not look random")
def test_demo_certificates_hold_the_truth_and_the_right_sign():
    from pairlearn.cli.demo import run as run_demo

    for seed in range(8):
        result = run_demo(seed)
        low, high = result.certificates[-1].clustering_interval
        assert low <= result.true_error <= high
        assert result.true_error < 0.1


def test_version():
    result = run("-m", "pairlearn", "--version")
    assert result.stdout.strip() == f"pairlearn {pairlearn.__version__}"
