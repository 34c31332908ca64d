"""Machine code on disk saves time, and cannot do harm when it is damaged."""

import importlib.util
import os
import subprocess
import sys
from contextlib import contextmanager

import numpy as np
import pytest

pytest.importorskip("numba")

from numba.core import config

from pairlearn.engine.backends.numba.compiling import compiled

SOURCE = """
def total(x, factor):
    value = 0.0
    for i in range(len(x)):
        value += factor * x[i]
    return value
"""
NUMBERS = np.arange(5.0)
# A fit; with the folder of the machine code, all of it is then damaged, and another fit
# finds it as the one of a new process would.
FIT = """
import sys
from pathlib import Path

import numpy as np

def fit():
    for name in [name for name in sys.modules if name.startswith("pairlearn")]:
        del sys.modules[name]
    from pairlearn import CIPSClassifier, Pairs
    from pairlearn.engine.backends import numba as fast
    X = np.random.default_rng(0).normal(size=(60, 3))
    pairs, t = Pairs.sample(X, 60, X[:, 0] > 0, reuse=True, random_state=0)
    clf = CIPSClassifier(solver="sgd", max_iter=3, random_state=0).fit(pairs, t)
    print(clf.coef_.tobytes().hex(), sum(fast.pair_epoch.stats.cache_hits.values()))

fit()
for folder in sys.argv[1:]:
    for path in filter(Path.is_file, Path(folder).rglob("*")):
        content = path.read_bytes()
        path.write_bytes(content[:-50] + bytes(20) + content[-30:])
    fit()
"""


@pytest.fixture
def function(tmp_path, monkeypatch):
    """A function of a file of its own, whose machine code is in tmp_path/kept."""
    path = tmp_path / "summing.py"
    path.write_text(SOURCE)
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "kept"))
    spec = importlib.util.spec_from_file_location("summing", path)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "summing", module)
    spec.loader.exec_module(module)
    return module.total


def use(function, numbers=NUMBERS, factor=2.0):
    """Compile as a new process would, call it, and tell whether the code was kept."""
    dispatcher = compiled(function)
    assert dispatcher(numbers, factor) == 20.0
    return sum(dispatcher.stats.cache_hits.values()) == 1


def kept(folder):
    return sorted(path for path in (folder / "kept").rglob("*") if path.is_file())


def test_code_is_kept_and_used_again(function, tmp_path):
    assert not use(function)
    assert [path.suffix for path in kept(tmp_path)] == [".nbc", ".nbi"]
    assert use(function)
    assert not use(function, np.arange(5, dtype=np.float32))
    assert use(function, np.arange(5, dtype=np.float32))
    assert use(function)


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
@pytest.mark.parametrize(
    "damage",
    [
        lambda _: b"",
        lambda content: content[: len(content) // 2],
        lambda content: content[:-1],
        lambda content: content[:-32],  # as numba alone writes it
        lambda content: content + b"\0",
        lambda _: bytes(range(256)) * 4,
        lambda _: b"cos\nsystem\n(S'exit 1'\ntR.",
    ],
)
def test_a_damaged_file_is_made_again(function, tmp_path, suffix, damage):
    use(function)
    (path,) = [path for path in kept(tmp_path) if path.suffix == suffix]
    path.write_bytes(damage(path.read_bytes()))
    assert not use(function)
    assert use(function)


def test_no_changed_byte_is_used(function, tmp_path):
    use(function)
    rng = np.random.default_rng(0)
    whole = {path: path.read_bytes() for path in kept(tmp_path)}
    for path, content in whole.items():
        for place in rng.integers(len(content), size=5).tolist():
            changed = bytearray(content)
            changed[place] ^= 1 << int(rng.integers(8))
            path.write_bytes(changed)
            assert not use(function)
            for each, before in whole.items():
                each.write_bytes(before)
    assert use(function)


def test_the_code_of_another_signature_is_not_used(function, tmp_path):
    """Two processes that begin at once may write two functions to one file."""
    use(function)
    (first,) = [path for path in kept(tmp_path) if path.suffix == ".nbc"]
    use(function, np.arange(5, dtype=np.float32))
    (second,) = {path for path in kept(tmp_path) if path.suffix == ".nbc"} - {first}
    first.write_bytes(second.read_bytes())
    assert not use(function)
    assert use(function)


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
def test_a_folder_in_the_place_of_a_file(function, tmp_path, suffix):
    use(function)
    (path,) = [path for path in kept(tmp_path) if path.suffix == suffix]
    path.unlink()
    path.mkdir()
    assert not use(function)
    assert not use(function)


@contextmanager
def no_room():
    """Files may not grow, as on a disk that is full."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk(function, tmp_path):
    with no_room():
        assert not use(function)
        assert not use(function)
    assert [path for path in kept(tmp_path) if path.stat().st_size] == []
    assert not use(function)
    assert use(function)


def test_no_folder_at_all(function, tmp_path, monkeypatch):
    def refuse(**_):
        raise PermissionError

    # By which numba finds out whether a folder can be written to.
    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    assert not use(function)
    assert not use(function)
    assert kept(tmp_path) == []


@pytest.mark.skipif(sys.platform == "win32", reason="permissions")
@pytest.mark.skipif(not hasattr(os, "geteuid") or not os.geteuid(), reason="root")
def test_a_folder_that_cannot_be_written_to(function, tmp_path):
    use(function)
    (folder,) = {path.parent for path in kept(tmp_path)}
    for path in kept(tmp_path):
        path.write_bytes(b"damaged")
    folder.chmod(0o500)
    try:
        assert not use(function)
    finally:
        folder.chmod(0o700)


def test_a_fit_with_every_file_damaged(tmp_path):
    def fit(*folders):
        result = subprocess.run(
            [sys.executable, "-W", "error", "-c", FIT, *folders], capture_output=True,
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kept")}, timeout=300,
            check=False, text=True,
        )  # fmt: skip
        assert (result.returncode, result.stderr) == (0, "")
        return [line.split() for line in result.stdout.splitlines()]

    (coefficients, hits), after = fit(tmp_path / "kept")
    assert hits == "0"
    assert after == [coefficients, "0"]
    assert fit() == [[coefficients, "1"]]
